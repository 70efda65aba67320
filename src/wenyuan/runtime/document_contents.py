"""What a document holds, as a door hands it on: its words, and the bytes it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wenyuan.errors import FileVanished
from wenyuan.store import chunks, documents
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database
from wenyuan.store.documents import DocumentRecord

_OCTETS = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class DocumentText:
    """Part of the text of the revision a document serves: `end` is where it ends, of `length` characters."""

    document_id: str
    revision_id: str
    start: int
    end: int
    length: int
    text: str


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The file that a document's newest revision was made of. `path` is where it lies in the library."""

    path: Path
    name: str
    size: int
    media_type: str
    sha256: str


class DocumentContents:
    def __init__(self, database: Database, blobs: BlobDirectory, principal: str) -> None:
        self._database = database
        self._blobs = blobs
        self._principal = principal

    def text(self, reference: str, start: int, limit: int) -> DocumentText:
        """At most `limit` characters from `start` on; nothing of a document that serves no revision yet.

        Raises `DocumentNotFound`.
        """
        with self._database.read() as tx:
            document = documents.find(tx, self._principal, reference).document
            serving = document.serving_revision_id
            found = documents.revision(tx, serving) if serving is not None else None
            if serving is None or found is None:
                return DocumentText(document.id, "", 0, 0, 0, "")
            text = chunks.revision_text(tx, serving, start, start + limit)
        return DocumentText(document.id, serving, start, start + len(text), found[1].text_length, text)

    def original(self, record: DocumentRecord) -> OriginalFile:
        """Raises `FileVanished` where the library has lost the bytes."""
        latest = record.latest
        path = self._blobs.path(latest.blob_sha256)
        if not path.is_file():
            raise FileVanished(path=path)
        return OriginalFile(path, record.document.name, latest.size, latest.media_type or _OCTETS, latest.blob_sha256)
