"""Documents of a server, named by their ids."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from urllib.parse import quote

from wenyuan.client.connection import Connection
from wenyuan.client.knowledge_bases import base_path
from wenyuan.runtime.document_contents import DocumentText
from wenyuan.runtime.documents import DocumentView, Place, StoredPassage


@dataclass(frozen=True, slots=True)
class _Page:
    documents: list[DocumentView]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class _Passages:
    passages: list[StoredPassage]


@dataclass(frozen=True, slots=True)
class _Switched:
    passages: int


class RemoteDocuments:
    """As `Library.documents`. Each is named by its id: a name could tell of documents that the key is not granted."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        kb: str | None = None,
        after: str = "",
        limit: int = 1000,
        *,
        state: str = "",
        failed: bool = False,
        blocked: bool = False,
        disabled: bool = False,
    ) -> builtins.list[DocumentView]:
        """Documents of a knowledge base (the default one if none is named) by id, the page after `after`."""
        page = self._connection.get(
            _Page,
            f"{base_path(kb)}/documents",
            cursor=after or None,
            limit=limit,
            state=state or None,
            failed=failed,
            blocked=blocked,
            disabled=disabled,
        )
        return page.documents

    def show(self, document: str) -> DocumentView:
        """Raises `DocumentNotFound`."""
        return self._connection.get(DocumentView, _path(document))

    def text(self, document: str, start: int = 0, limit: int = 100_000) -> DocumentText:
        """At most `limit` characters of its text, from `start` on."""
        return self._connection.get(DocumentText, f"{_path(document)}/text", start=start, limit=limit)

    def original(self, document: str) -> bytes:
        """The bytes of the file it was made of."""
        return self._connection.get_bytes(f"{_path(document)}/original")

    def passages(self, document: str, first: int = 0, limit: int = 100) -> builtins.list[StoredPassage]:
        return self._connection.get(_Passages, f"{_path(document)}/chunks", cursor=first, limit=limit).passages

    def switch(self, document: str, *, enabled: bool) -> DocumentView:
        """Let a document be found, or not, until switched again."""
        return self._changed(document, "enable" if enabled else "disable")

    def switch_passage(self, document: str, number: int, *, enabled: bool) -> int:
        """Let a passage be found, or not; how many of the document have the same words."""
        path = f"{_path(document)}/chunks/{number}/{'enable' if enabled else 'disable'}"
        return self._connection.change(_Switched, "POST", path).passages

    def retry(self, document: str) -> DocumentView:
        """Put a failed or cancelled document back to work. Raises `NothingToRetry`."""
        return self._changed(document, "retry")

    def cancel(self, document: str) -> DocumentView:
        """Stop the work on a document. Raises `NothingToCancel`."""
        return self._changed(document, "cancel")

    def move(self, documents: builtins.list[str], to: str) -> builtins.list[DocumentView]:
        """Move documents to another knowledge base, one after the other."""
        return [
            self._connection.change(DocumentView, "POST", f"{_path(one)}/move", {"knowledge_base": to})
            for one in documents
        ]

    def delete(self, *documents: str) -> None:
        """Delete documents, one after the other."""
        for one in documents:
            self._connection.delete(_path(one))

    def open(self, citation: str) -> Place:
        """The place that a citation leads to. Raises `CitationNotFound`."""
        return self._connection.get(Place, f"/citations/{quote(citation, safe='')}")

    def _changed(self, document: str, what: str) -> DocumentView:
        return self._connection.change(DocumentView, "POST", f"{_path(document)}/{what}")


def _path(document: str) -> str:
    return f"/documents/{quote(document, safe='')}"
