"""Compound files, in which older Office programs and Outlook store their documents ([MS-CFB])."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wenyuan.errors import FileMalformed
from wenyuan.parsers.office.summary_information import summary_properties
from wenyuan.parsers.source_file import opened

if TYPE_CHECKING:
    from olefile import OleFileIO  # type: ignore[import-untyped]  # it has no types

_SUMMARY = "\x05SummaryInformation"
_DAMAGED = (OSError, ValueError, IndexError, MemoryError, RecursionError)
"""What the library raises for storages that are damaged, whose directories may lead round in circles."""


class OleStorage:
    """The streams of one compound file, by their paths with `/` between the parts."""

    def __init__(self, ole: OleFileIO, name: str, format_name: str) -> None:
        self.name = name
        self.format_name = format_name
        self._ole = ole

    def __contains__(self, stream: str) -> bool:
        try:
            return bool(self._ole.exists(stream))
        except _DAMAGED:
            return False

    @property
    def streams(self) -> list[str]:
        """Raises `FileMalformed`."""
        try:
            return ["/".join(path) for path in self._ole.listdir()]
        except _DAMAGED as error:
            raise self.malformed("its directory is damaged") from error

    def read(self, stream: str) -> bytes:
        """One stream, whole. Raises `FileMalformed`."""
        try:
            with self._ole.openstream(stream) as file:
                content: bytes = file.read()
        except _DAMAGED as error:
            raise self.malformed(f"its part {stream} is damaged ({error})") from error
        return content

    def properties(self) -> dict[str, str]:
        """What the document says of itself, under the names that all readers use; dates in ISO 8601."""
        if _SUMMARY not in self:
            return {}
        try:
            return summary_properties(self.read(_SUMMARY))
        except FileMalformed:
            return {}

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
        except _DAMAGED as error:
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
        except _DAMAGED:
            return set()
