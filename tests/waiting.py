"""Waiting for what another thread or process does, never longer than it may take."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any


def until(
    holds: Callable[[], object],
    seconds: float = 120.0,
    *,
    process: subprocess.Popen[Any] | None = None,
    glance_seconds: float = 0.01,
) -> None:
    """Look every `glance_seconds` until something holds; fail after `seconds`, or once the `process` has ended."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        assert process is None or process.poll() is None, process.communicate() if process else ""
        time.sleep(glance_seconds)
