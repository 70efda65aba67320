"""Tar archives, compressed or not, and single compressed files: what is in them becomes documents of its own."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, cast

from wenyuan.errors import FileMalformed, FileOverLimit
from wenyuan.parsers.members import MOST_BYTES, MOST_MEMBERS, in_pieces, is_junk, listing, member_path
from wenyuan.parsers.source_file import opened
from wenyuan.types import Facts, Member, ReadEvent

_PIECE_BYTES = 1 << 18
_MARK_AT, _MARK = 257, b"ustar"
_SUFFIXES = {".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar"}
_DAMAGED = (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


class TarParser:
    """Reads an archive front to back, so that nothing in it has to be held."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield the files, then their names. Raises `FileMalformed` and `FileOverLimit`."""
        with opened(path) as file:
            yield from _archive(file, name, "application/x-tar")


class CompressedParser:
    """A file compressed by gzip, bzip2 or xz: an archive, or one file."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield what is in it. Raises `FileMalformed` and `FileOverLimit`."""
        try:
            with _plain(path) as file:
                start = file.read(_MARK_AT + len(_MARK))
            with _plain(path) as file:
                if start[_MARK_AT:] == _MARK:
                    yield from _archive(file, name, "application/gzip")
                    return
                inner = _inner_name(name)
                yield Facts("application/gzip", quality={"files": 1})
                yield from listing([inner])
                yield from in_pieces(inner, _bounded(file, name))
        except _DAMAGED as error:
            raise _malformed(name, error) from error


def _plain(path: Path) -> IO[bytes]:
    """The file without its compression, to be read front to back."""
    with opened(path) as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(path))
    return cast("IO[bytes]", lzma.open(path) if start.startswith(b"\xfd7zXZ") else bz2.open(path))


def _archive(file: IO[bytes], name: str, media_type: str) -> Iterator[ReadEvent]:
    names: list[str] = []
    yield Facts(media_type)
    try:
        with tarfile.open(fileobj=_Bounded(file, name), mode="r|") as archive:
            for entry in archive:
                if not entry.isreg() or is_junk(member_path(entry.name)):
                    continue
                if len(names) >= MOST_MEMBERS:
                    raise FileOverLimit(name=name, what=f"more than {MOST_MEMBERS:,} files")
                names.append(_readable(entry.name))
                yield from _member(archive, entry, names[-1])
    except _DAMAGED as error:
        raise _malformed(name, error) from error
    yield Facts(media_type, quality={"files": len(names)})
    yield from listing(names)


def _member(archive: tarfile.TarFile, entry: tarfile.TarInfo, shown: str) -> Iterator[Member]:
    content = archive.extractfile(entry)
    if content is not None:
        yield from in_pieces(shown, iter(lambda: content.read(_PIECE_BYTES), b""))


def _readable(path: str) -> str:
    """A path whose bytes may be in GB18030, as `tarfile` hands them on."""
    raw = path.encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("gb18030", "replace")


def _inner_name(name: str) -> str:
    path = PurePosixPath(name.rpartition(" › ")[2].rpartition("/")[2])
    return path.stem + _SUFFIXES.get(path.suffix.lower(), "") or "content"


def _bounded(file: IO[bytes], name: str) -> Iterator[bytes]:
    bounded = _Bounded(file, name)
    return iter(lambda: bounded.read(_PIECE_BYTES), b"")


class _Bounded(io.RawIOBase):
    """Counts what comes out of a compressed file."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        super().__init__()
        self._file = file
        self._name = name
        # Headers and padding come on top of the files.
        self._left = MOST_BYTES + MOST_BYTES // 10

    def read(self, size: int = -1, /) -> bytes:
        piece = self._file.read(size)
        self._left -= len(piece)
        if self._left < 0:
            what = f"more than {MOST_BYTES // 1_000_000} MB when unpacked"
            raise FileOverLimit(name=self._name, what=what)
        return piece


def _malformed(name: str, error: Exception) -> FileMalformed:
    return FileMalformed(name=name, format="an archive", reason=f"it cannot be unpacked ({error})")
