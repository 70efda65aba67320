"""Waiting for what another thread or process does, never longer than it may take."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wenyuan.errors import LibraryLocked
from wenyuan.runtime.library import Library


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


def is_stopped(process: subprocess.Popen[Any], library: Library, when: Callable[[], object]) -> bool:
    """Stop a worker (SIGSTOP) if something holds, which goes on to hold then; not within a transaction.

    Its lock would stop everybody else. While the lock is ours, it has none; but a server may have given it to
    who waited for it when we let it go.
    """
    if not when():
        return False
    with library._database.write():
        if not when():
            return False
        process.send_signal(signal.SIGSTOP)
        until(lambda: process.poll() is not None or _states(process.pid) <= {"T", "t"}, glance_seconds=0.001)
    try:
        with library._database.write(lock_seconds=0.5):
            return True
    except LibraryLocked:
        process.send_signal(signal.SIGCONT)
        return False


def _states(process_id: int) -> set[str]:
    """What the threads of a process are doing; see proc(5)."""
    found = set()
    for task in Path(f"/proc/{process_id}/task").glob("*/stat"):
        try:
            found.add(task.read_text("utf-8", "replace").rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
