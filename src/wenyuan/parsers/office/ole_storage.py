"""Compound files, in which older Office programs and Outlook store their documents ([MS-CFB])."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wenyuan.errors import FileMalformed
from wenyuan.parsers.source_file import opened

if TYPE_CHECKING:
    from olefile import OleFileIO  # type: ignore[import-untyped]  # it has no types

_PROPERTIES = {
    "title": "title",
    "author": "author",
    "subject": "subject",
    "keywords": "keywords",
    "comments": "description",
    "create_time": "created",
    "last_saved_time": "modified",
}
_LONGEST_PROPERTY = 1_000
_FIRST_YEAR = 1980
_UTF_16 = 1200


class OleStorage:
    """The streams of one compound file, by their paths with `/` between the parts."""

    def __init__(self, ole: OleFileIO, name: str, format_name: str) -> None:
        self.name = name
        self.format_name = format_name
        self._ole = ole

    def __contains__(self, stream: str) -> bool:
        return bool(self._ole.exists(stream))

    @property
    def streams(self) -> list[str]:
        return ["/".join(path) for path in self._ole.listdir()]

    def read(self, stream: str) -> bytes:
        """One stream, whole. Raises `FileMalformed`."""
        try:
            with self._ole.openstream(stream) as file:
                content: bytes = file.read()
        except (OSError, ValueError, IndexError) as error:
            raise self.malformed(f"its part {stream} is damaged ({error})") from error
        return content

    def properties(self) -> dict[str, str]:
        """What the document says of itself, under the names that all readers use; dates in ISO 8601."""
        try:
            found = self._ole.get_metadata()
        except (OSError, ValueError, IndexError, TypeError):
            return {}
        codec = codec_of(found.codepage)
        values = {key: _property(getattr(found, attribute), codec) for attribute, key in _PROPERTIES.items()}
        return {key: value for key, value in values.items() if value}

    def malformed(self, reason: str) -> FileMalformed:
        """The error that says this about the file."""
        return FileMalformed(name=self.name, format=self.format_name, reason=reason)


@contextmanager
def opened_storage(path: Path, name: str, format_name: str) -> Iterator[OleStorage]:
    """Open a compound file called `name`. Raises `FileMalformed` for what is none."""
    from olefile import OleFileIO

    with opened(path) as file:
        try:
            ole = OleFileIO(file)
        except (OSError, ValueError, IndexError, MemoryError) as error:
            raise FileMalformed(name=name, format=format_name, reason=f"its storage is damaged ({error})") from error
        with ole:
            yield OleStorage(ole, name, format_name)


def root_names(path: Path) -> set[str]:
    """What lies in the root of a compound file; nothing if it is damaged."""
    from olefile import OleFileIO

    with opened(path) as file:
        try:
            with OleFileIO(file) as ole:
                return {entry[0] for entry in ole.listdir(streams=True, storages=True)}
        except (OSError, ValueError, IndexError):
            return set()


def codec_of(code_page: Any) -> str:
    """Python's codec for a Windows code page; Western where there is none."""
    if not isinstance(code_page, int):
        return "cp1252"
    # Negative numbers are what becomes of 65001 in 16 bits.
    number = code_page & 0xFFFF
    known = {
        936: "gb18030",
        54936: "gb18030",
        950: "big5hkscs",
        65001: "utf-8",
        _UTF_16: "utf-16-le",
        10000: "mac_roman",
    }
    if number in known:
        return known[number]
    name = f"cp{number}"
    try:
        b"".decode(name)
    except LookupError:
        return "cp1252"
    return name


def _property(value: Any, codec: str) -> str:
    if isinstance(value, datetime):
        return value.replace(microsecond=0).isoformat() if value.year >= _FIRST_YEAR else ""
    if isinstance(value, bytes):
        value = value.decode(codec, "replace")
    return " ".join(value.split("\0")[0].split())[:_LONGEST_PROPERTY] if isinstance(value, str) else ""
