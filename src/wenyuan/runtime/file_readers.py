"""Who reads files: the child processes are shared by every open library of this program."""

from __future__ import annotations

from typing import Final

from wenyuan.config import Settings
from wenyuan.parsers.idle_children import IdleChildren
from wenyuan.parsers.sandbox import Child, SandboxedReader

IDLE: Final = IdleChildren[Child]()
"""What an open library holds, so that adding one more file starts no process."""


def reader_for(settings: Settings) -> SandboxedReader:
    return SandboxedReader(settings.limits, settings.reading, IDLE)
