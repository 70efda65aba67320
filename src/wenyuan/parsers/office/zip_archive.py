"""ZIP archives from strangers: opened within bounds, read member by member, never unpacked to disk."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from wenyuan.errors import FileEncrypted, FileMalformed, FileOverLimit, PasswordWrong
from wenyuan.parsers.source_file import opened

MOST_MEMBERS = 10_000
MOST_BYTES = 300_000_000
"""All members of an archive together may inflate to so much. What its directory says is not believed:
bytes are counted as they come."""
MOST_INFLATED = 250
"""How many times its size a member may inflate to, once it is past `_FREE_BYTES`. Office parts stay below 100."""

_FREE_BYTES = 32_000_000
_PIECE_BYTES = 1 << 18
_ENCRYPTED = 0x1
_PASSWORD_ENCODINGS = ("utf-8", "gb18030", "big5", "cp932")
_LARGEST_DIRECTORY = 4_000_000
# End of central directory (APPNOTE 4.3.16): the entries of this disk and of all, and the directory's size.
_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_LONGEST_COMMENT = 65_535
_IN_ZIP64_RECORD = 0xFFFFFFFF


class ZipArchive:
    """The members of one archive, by name; names are always written with `/`."""

    def __init__(self, archive: zipfile.ZipFile, name: str, format_name: str) -> None:
        self.name = name
        self.format_name = format_name
        self.entries = {
            member.filename.replace("\\", "/"): member
            for member in archive.infolist()
            # A damaged one may have no name at all.
            if member.filename and not member.is_dir()
        }
        self._archive = archive
        self._left = MOST_BYTES
        self._by_folded_name = {name.casefold(): name for name in self.entries}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.entries)

    def __contains__(self, member: str) -> bool:
        return self._found(member) is not None

    def read(self, member: str) -> bytes:
        """One member, whole. Raises what `open` does, and what reading from that does."""
        with self.open(member) as file:
            return file.readall()

    def open(self, member: str) -> MemberFile:
        """One member as a file to be read piece by piece, which counts against the archive's bounds.

        Capitals in its name do not matter (ECMA-376 part 2, 6.2.2.3). Raises `FileMalformed` where it is
        missing or damaged, `FileEncrypted`, `PasswordWrong`, and while it is read also `FileOverLimit`.
        """
        found = self._found(member)
        if found is None:
            raise self.malformed(f"its part {member} is missing")
        # More than the directory promises is never inflated, so that this can be said before anything is.
        if found.file_size > max(_FREE_BYTES, MOST_INFLATED * found.compress_size):
            what = f"a part that unpacks to more than {MOST_INFLATED} times its size"
            raise FileOverLimit(name=self.name, what=what)
        try:
            return MemberFile(self, found, self._archive.open(found))
        except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, ValueError, zlib.error) as error:
            if found.flag_bits & _ENCRYPTED:
                raise FileEncrypted(name=self.name) from error
            raise self.malformed(f"its part {member} is damaged ({error})") from error
        except RuntimeError as error:
            given = self._archive.pwd is not None
            raise (PasswordWrong if given else FileEncrypted)(name=self.name) from error

    def spend(self, size: int) -> None:
        """Count bytes that were inflated. Raises `FileOverLimit`."""
        self._left -= size
        if self._left < 0:
            raise FileOverLimit(name=self.name, what=f"more than {MOST_BYTES // 1_000_000} MB when unpacked")

    def malformed(self, reason: str) -> FileMalformed:
        """The error that says this about the archive."""
        return FileMalformed(name=self.name, format=self.format_name, reason=reason)

    def _found(self, member: str) -> zipfile.ZipInfo | None:
        return self.entries.get(member) or self.entries.get(self._by_folded_name.get(member.casefold(), ""))


class MemberFile(io.RawIOBase):
    """The inflated bytes of one member."""

    def __init__(self, archive: ZipArchive, member: zipfile.ZipInfo, file: IO[bytes]) -> None:
        super().__init__()
        self._archive = archive
        self._member = member
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # any buffer, says typeshed
        """Fill the buffer or a part of it; 0 at the end. Raises `FileMalformed` and `FileOverLimit`."""
        try:
            piece = self._file.read(min(len(buffer), _PIECE_BYTES))
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise self._archive.malformed(f"its part {self._member.filename} is damaged ({error})") from error
        self._archive.spend(len(piece))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def opened_archive(path: Path, name: str, format_name: str, password: str = "") -> Iterator[ZipArchive]:
    """Open an archive, called `name`, after a look at its directory.

    Raises `FileMalformed` for what is none or names members outside of itself, and `FileOverLimit`.
    """
    with opened(path) as file:
        _check_directory(file, name)
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError) as error:
            raise FileMalformed(name=name, format=format_name, reason=f"it is no whole archive ({error})") from error
        with archive:
            for member in archive.infolist():
                if _leads_outside(member.filename):
                    reason = f"its part {member.filename!r} would lie outside of it"
                    raise FileMalformed(name=name, format=format_name, reason=reason)
            if password:
                archive.setpassword(_fitting(archive, password))
            yield ZipArchive(archive, name, format_name)


def _fitting(archive: zipfile.ZipFile, password: str) -> bytes:
    """The password in the encoding in which it was typed: APPNOTE names none, and programs take the system's.

    Tried on the smallest encrypted member; in UTF-8 where none fits.
    """
    typed = list(dict.fromkeys(filter(None, (_encoded(password, name) for name in _PASSWORD_ENCODINGS))))
    locked = [member for member in archive.infolist() if member.flag_bits & _ENCRYPTED and member.file_size]
    if len(typed) > 1 and locked:
        smallest = min(locked, key=lambda member: member.file_size)
        typed = [one for one in typed if _opens(archive, smallest, one)] or typed
    return typed[0]


def _encoded(password: str, encoding: str) -> bytes:
    """The password in an encoding; empty where that lacks one of its characters."""
    try:
        return password.encode(encoding)
    except UnicodeEncodeError:
        return b""


def _opens(archive: zipfile.ZipFile, member: zipfile.ZipInfo, password: bytes) -> bool:
    """Whether a member's first bytes inflate with a password, and to its checksum where they are all of it."""
    try:
        with archive.open(member, pwd=password) as file:
            file.read(_PIECE_BYTES)
    except (RuntimeError, zipfile.BadZipFile, NotImplementedError, zlib.error, EOFError, OSError, ValueError):
        return False
    return True


def _check_directory(file: BinaryIO, name: str) -> None:
    """Look at the size of the directory before it is read: a list of millions of members costs memory.

    Raises `FileOverLimit`.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END.size - _LONGEST_COMMENT))
    tail = file.read(_END.size + _LONGEST_COMMENT)
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        return
    _, _, _, _, members, directory_bytes, _, _ = _END.unpack_from(tail, at)
    if members > MOST_MEMBERS:
        raise FileOverLimit(name=name, what=f"{members:,} parts (the most is {MOST_MEMBERS:,})")
    if directory_bytes > _LARGEST_DIRECTORY and directory_bytes != _IN_ZIP64_RECORD:
        raise FileOverLimit(name=name, what=f"a directory of {directory_bytes:,} bytes")


def _leads_outside(member: str) -> bool:
    member = member.replace("\\", "/")
    path = posixpath.normpath(member)
    return path.startswith("/") or path[1:2] == ":" or ".." in member.split("/")
