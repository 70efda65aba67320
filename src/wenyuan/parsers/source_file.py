"""Reading the bytes of a file, with the errors a person is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from wenyuan.errors import FileUnreadable, FileVanished

PIECE_BYTES = 1 << 18


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open `path` for reading. Raises `FileVanished` or `FileUnreadable`, also while it is read."""
    try:
        with path.open("rb", buffering=0) as file:
            yield file
    except FileNotFoundError as error:
        raise FileVanished(path=str(path)) from error
    except OSError as error:
        raise FileUnreadable(path=str(path), reason=error.strerror or str(error)) from error


def byte_pieces(path: Path, skip: int = 0) -> Iterator[bytes]:
    """Yield the bytes of `path` after the first `skip`, a quarter of a megabyte at a time."""
    with opened(path) as file:
        file.seek(skip)
        while piece := file.read(PIECE_BYTES):
            yield piece


def head(path: Path, size: int) -> bytes:
    """Return the first `size` bytes of `path`, or all of a shorter file."""
    with opened(path) as file:
        return file.read(size)
