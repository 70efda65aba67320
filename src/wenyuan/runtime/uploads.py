"""Files that come piece by piece: written to the library as they come, and kept only when they are whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from wenyuan.flows.given import checked_given, checked_name
from wenyuan.flows.priorities import PRIORITY_INGEST_NOW
from wenyuan.flows.receive import Received, Receiving, receive_staged
from wenyuan.store.blobs import StagedBlob
from wenyuan.types import KnowledgeBase

_SOURCE = "upload"


class Upload:
    """One file on its way in. Nothing of it is in the library until `finish`; `discard` it otherwise."""

    def __init__(self, receiving: Receiving, base: Callable[[], KnowledgeBase]) -> None:
        self._receiving = replace(receiving, priority=PRIORITY_INGEST_NOW)
        self._base = base
        self._writer = receiving.blobs.writer("The file", receiving.file_bytes)
        self._staged: StagedBlob | None = None

    def write(self, piece: bytes) -> None:
        """Raises `FileTooLarge`, `DiskFull` or `LibraryReadOnly`."""
        self._writer.write(piece)

    def sha256(self) -> str:
        """Of the whole file; nothing can be written afterwards."""
        return self._whole().sha256

    def finish(self, name: str, title: str = "", metadata: Mapping[str, Any] | None = None) -> Received:
        """Store the file with its job. The same name again replaces what it held.

        Without a title or metadata, what was given earlier stays. Raises `InvalidValue` for a name or metadata
        that cannot be stored, `KnowledgeBaseNotFound` or `KnowledgeBaseArchived`.
        """
        name = checked_name(name)
        given = checked_given(title, metadata or {}) if title or metadata is not None else None
        return receive_staged(self._receiving, self._base(), f"{_SOURCE}:{name}", name, self._whole(), given)

    def discard(self) -> None:
        self._writer.discard()

    def _whole(self) -> StagedBlob:
        if self._staged is None:
            self._staged = self._writer.finish()
        return self._staged
