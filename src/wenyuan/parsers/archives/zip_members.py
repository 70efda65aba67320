"""ZIP archives: each file in one becomes a document of its own, and the list of their names makes the archive found."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from wenyuan.errors import FileMalformed, PasswordWrong, UnsupportedType
from wenyuan.parsers.members import in_pieces, is_junk, listing, member_path
from wenyuan.parsers.office.zip_archive import ZipArchive, opened_archive
from wenyuan.parsers.passwords import given_password
from wenyuan.types import Facts, Member, Notice, ReadEvent

_ZIP = "application/zip"
_READ_WHOLE_BYTES = 1 << 26
_PIECE_BYTES = 1 << 18
_ENCRYPTED, _UTF8_NAME = 0x1, 0x800
# APPNOTE 7.2 and WinZip's AE-2: what stands for encryption by AES in place of a compression method.
_AES = 99


class ZipParser:
    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield the names, then the files. Raises `FileEncrypted`, `PasswordWrong`, `FileMalformed`, `FileOverLimit`,

        and `UnsupportedType` for archives that are encrypted by AES.
        """
        with opened_archive(path, name, "ZIP", given_password.get()) as archive:
            entries = {entry: _name_of(info, entry) for entry, info in archive.entries.items()}
            wanted = {entry: shown for entry, shown in entries.items() if not is_junk(member_path(shown))}
            yield Facts(_ZIP, quality={"files": len(wanted)})
            if any(archive.entries[entry].compress_type == _AES for entry in wanted):
                raise UnsupportedType(name=name, media_type="a ZIP archive that is encrypted by AES")
            yield from listing(wanted.values())
            damaged = []
            for entry, shown in wanted.items():
                try:
                    yield from _member(archive, entry, shown)
                except FileMalformed as error:
                    # Of wrong passwords one in 256 is only found out by what it makes of the file.
                    if archive.entries[entry].flag_bits & _ENCRYPTED:
                        raise PasswordWrong(name=name) from error
                    damaged.append(shown)
            if damaged:
                names = ", ".join(damaged[:10])
                yield Notice("members-damaged", f"{len(damaged)} files inside are damaged and were left out: {names}.")


def _member(archive: ZipArchive, entry: str, shown: str) -> Iterator[Member]:
    """A file; whole before its first piece is handed on, unless it is huge, so that a damaged one leaves no trace."""
    if archive.entries[entry].file_size <= _READ_WHOLE_BYTES:
        yield from in_pieces(shown, archive.read(entry))
        return
    with archive.open(entry) as file:
        yield from in_pieces(shown, iter(lambda: file.read(_PIECE_BYTES), b""))


def _name_of(info: zipfile.ZipInfo, entry: str) -> str:
    """A member's path. Where it is not marked as UTF-8 it was taken for code page 437, which few are in."""
    if info.flag_bits & _UTF8_NAME or entry.isascii():
        return entry
    raw = entry.encode("cp437", "replace")
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return entry
