"""What Word 97 and PowerPoint 97 files have in common: streams in a compound file, whose structures may be damaged."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wenyuan.parsers.office.ole_storage import OleStorage, opened_storage


class Damaged(ValueError):
    """A structure is not what it should be; `opened_legacy` makes `FileMalformed` of it."""


@contextmanager
def opened_legacy(path: Path, name: str, format_name: str) -> Iterator[OleStorage]:
    """Open a file, called `name`. Whatever is damaged within it becomes `FileMalformed`."""
    with opened_storage(path, name, format_name) as storage:
        try:
            yield storage
        except (Damaged, struct.error, IndexError) as error:
            raise storage.malformed(f"its structures are damaged ({error})") from error


def stream(storage: OleStorage, name: str) -> bytes:
    """One stream, whole; empty where there is none."""
    return storage.read(name) if name in storage else b""
