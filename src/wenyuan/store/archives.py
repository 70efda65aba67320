"""Tar files that are written and read front to back, and nothing in them believed.

Of what tar can say only plain files are used, with names of at most a hundred characters (POSIX
1003.1-1988 ustar; sizes above 8 GiB in base 256, as GNU tar writes them). The last two members tell
whether everything before them is as it was written: `SHA256SUMS`, as `sha256sum -c` reads it, and
`manifest.json`, which holds the digest of that file. Nothing is compressed, so that nothing can be
larger than the file itself; no name ever becomes a path.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from wenyuan.errors import WenyuanError

SUMS, MANIFEST = "SHA256SUMS", "manifest.json"

_BLOCK = 512
_PIECE_BYTES = 1 << 20
_SPOOLED_BYTES = 4 << 20
_LARGEST_MANIFEST = 16 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_REGULAR = (b"0", b"\0")

Invalid = Callable[[str], WenyuanError]
"""Makes the error that says why a file is refused."""


class ArchiveWriter:
    """Writes one archive; without `close` it is not complete, and no reader takes it for that."""

    def __init__(self, file: BinaryIO, made_at: int) -> None:
        self._file = file
        self._seconds = made_at // 1000
        self._sums = tempfile.SpooledTemporaryFile(max_size=_SPOOLED_BYTES)  # noqa: SIM115

    def add(self, name: str, content: bytes) -> None:
        self._file.write(self._header(name, len(content)))
        self._file.write(content)
        self._finish(name, hashlib.sha256(content).hexdigest(), len(content))

    def add_file(self, name: str, source: Path, expected: str | None = None) -> bool:
        """Add a file's bytes; False, and nothing is added, where they are not the expected ones.

        Raises `FileNotFoundError` where there is no such file.
        """
        start = self._file.tell()
        digest = hashlib.sha256()
        with source.open("rb") as content:
            size = content.seek(0, 2)
            content.seek(0)
            self._file.write(self._header(name, size))
            left = size
            while piece := content.read(min(left, _PIECE_BYTES)):
                digest.update(piece)
                self._file.write(piece)
                left -= len(piece)
        if left or expected not in (None, digest.hexdigest()):
            self._file.seek(start)
            self._file.truncate()
            return False
        self._finish(name, digest.hexdigest(), size)
        return True

    def close(self, manifest: Mapping[str, Any]) -> None:
        """Write what makes the archive complete."""
        self._sums.seek(0)
        digest = hashlib.file_digest(self._sums, "sha256").hexdigest()
        size = self._sums.tell()
        self._sums.seek(0)
        self._file.write(self._header(SUMS, size))
        while piece := self._sums.read(_PIECE_BYTES):
            self._file.write(piece)
        self._pad(size)
        self._sums.close()
        told = json.dumps({**manifest, "sums": digest}, ensure_ascii=False, indent=1).encode()
        self._file.write(self._header(MANIFEST, len(told)))
        self._file.write(told)
        self._pad(len(told))
        self._file.write(bytes(2 * _BLOCK))

    def _header(self, name: str, size: int) -> bytes:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime = size, self._seconds
        return entry.tobuf(tarfile.GNU_FORMAT)

    def _finish(self, name: str, sha256: str, size: int) -> None:
        self._pad(size)
        self._sums.write(sum_line(sha256, name))

    def _pad(self, size: int) -> None:
        self._file.write(bytes(-size % _BLOCK))


class Member:
    """One file in an archive, to be read before the next one is asked for."""

    def __init__(self, name: str, size: int, file: BinaryIO, invalid: Invalid) -> None:
        self.name = name
        self.size = size
        self._file = file
        self._invalid = invalid
        self._left = size
        self._digest = hashlib.sha256()

    def pieces(self) -> Iterator[bytes]:
        """What is left of the content, a piece at a time."""
        while self._left:
            piece = self._file.read(min(self._left, _PIECE_BYTES))
            if not piece:
                raise self._invalid(f"it ends in the middle of {self.name}")
            self._left -= len(piece)
            self._digest.update(piece)
            yield piece

    def read(self, most: int) -> bytes:
        """The whole content, which may not be more than so many bytes."""
        if self.size > most:
            raise self._invalid(f"{self.name} has {self.size} bytes, more than {most}")
        return b"".join(self.pieces())

    def sha256(self) -> str:
        """The digest of the whole content, the rest of which is read for it."""
        for _ in self.pieces():
            pass
        return self._digest.hexdigest()


class ArchiveReader:
    """The members of an archive in their order, without the last two.

    When the last was given, everything is known to be as it was written, and `manifest` is there.
    Until then what was read may be thrown away; the reader of an archive keeps it aside so long.
    """

    def __init__(self, file: BinaryIO, invalid: Invalid) -> None:
        self._file = file
        self._invalid = invalid
        self._sums = hashlib.sha256()
        self.manifest: Mapping[str, Any] = {}

    def __iter__(self) -> Iterator[Member]:
        seen: set[bytes] = set()
        while (member := self._next()).name != SUMS:
            short = hashlib.blake2b(member.name.encode(), digest_size=16).digest()
            if short in seen:
                raise self._invalid(f"{member.name} is in it twice")
            seen.add(short)
            yield member
            self._sums.update(sum_line(member.sha256(), member.name))
            self._skip_padding(member)
        self._end(member)

    def _next(self) -> Member:
        block = self._file.read(_BLOCK)
        if len(block) < _BLOCK or not any(block):
            raise self._invalid("it is not complete")
        try:
            entry = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, ValueError) as error:
            raise self._invalid(f"it is not a tar file as Wenyuan writes them ({error})") from error
        if entry.type not in _REGULAR or entry.linkname or entry.size < 0:
            raise self._invalid(f"{entry.name[:100]!r} in it is not a plain file")
        if not _NAME.fullmatch(entry.name):
            raise self._invalid(f"it holds a file of the name {entry.name[:100]!r}")
        return Member(entry.name, entry.size, self._file, self._invalid)

    def _end(self, sums: Member) -> None:
        """Check everything that was read against what was written last."""
        if sums.sha256() != self._sums.hexdigest():
            raise self._invalid("something in it was changed or is missing")
        self._skip_padding(sums)
        last = self._next()
        if last.name != MANIFEST:
            raise self._invalid(f"{last.name} stands where its manifest should")
        manifest = parsed(last.read(_LARGEST_MANIFEST), MANIFEST, self._invalid)
        if not isinstance(manifest, dict) or manifest.get("sums") != self._sums.hexdigest():
            raise self._invalid("its manifest is that of another archive")
        self._skip_padding(last)
        while piece := self._file.read(_PIECE_BYTES):
            if any(piece):
                raise self._invalid("more follows behind its end")
        self.manifest = manifest

    def _skip_padding(self, member: Member) -> None:
        padding = -member.size % _BLOCK
        if len(self._file.read(padding)) < padding:
            raise self._invalid(f"it ends behind {member.name}")


def sum_line(sha256: str, name: str) -> bytes:
    """A line as `sha256sum` writes it."""
    return f"{sha256}  {name}\n".encode()


def parsed(content: bytes, name: str, invalid: Invalid) -> Any:
    """The JSON value (RFC 8259) that stands in a file."""
    try:
        return json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise invalid(f"{name} does not hold JSON that can be read") from error


def _no_number(text: str) -> Any:
    raise ValueError(text)
