"""Documents, as a door sees them: how they stand, their words, and the way back to the place."""

from __future__ import annotations

import builtins
import os
import re
from dataclasses import dataclass

from wenyuan.errors import (
    CitationNotFound,
    DocumentNotFound,
    FileVanished,
    JobCancelled,
    NothingToCancel,
    NothingToRetry,
)
from wenyuan.flows.receive import retry
from wenyuan.flows.remove import cancel_revision, hide_document
from wenyuan.identifiers import new_id
from wenyuan.store import chunks, documents, indexes, knowledge_bases, queue
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Reading
from wenyuan.store.documents import DocumentRecord
from wenyuan.types import Anchor, Chunk, Document, Job, Problem, Revision, SemanticState

_CONTEXT_CHARACTERS = 400
_SEQUENCE_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Semantic:
    """How far a document's vectors are."""

    state: SemanticState
    done: int
    total: int
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document and how it stands.

    `searchable` says whether a search may find it now. `latest` is its newest revision; where an
    older one is served meanwhile, `updating` is true and `latest` tells how the update stands.
    """

    document: Document
    knowledge_base: str
    latest: Revision
    searchable: bool
    updating: bool
    semantic: Semantic
    waiting: Problem | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A cited passage where it stands, with the text around it.

    `changed_since` tells that the document serves a newer revision than the one cited.
    """

    document: Document
    revision: Revision
    anchor: Anchor
    heading_path: tuple[str, ...]
    before: str
    passage: str
    after: str
    changed_since: bool


class Documents:
    def __init__(self, database: Database, blobs: BlobDirectory, principal: str) -> None:
        self._database = database
        self._blobs = blobs
        self._principal = principal

    def list(self, kb: str | None = None, after: str = "", limit: int = 1000) -> builtins.list[DocumentView]:
        """Documents of a knowledge base (the default one if none is named) by id, the page after `after`."""
        with self._database.read() as tx:
            found = (
                knowledge_bases.find(tx, self._principal, kb)
                if kb is not None
                else knowledge_bases.default(tx, self._principal)
            )
            if found is None:
                return []
            return [_view(tx, record) for record in documents.listed(tx, found.id, after, limit)]

    def find(self, reference: str) -> DocumentRecord:
        """The document with this id, path or unique name. Raises `DocumentNotFound` or `DocumentAmbiguous`."""
        with self._database.read() as tx:
            return self._find(tx, reference)

    def show(self, reference: str) -> DocumentView:
        with self._database.read() as tx:
            return _view(tx, self._find(tx, reference))

    def chunks(self, reference: str, first: int = 0, limit: int = 100) -> builtins.list[Chunk]:
        """The chunks of the revision a document serves."""
        with self._database.read() as tx:
            record = self._find(tx, reference)
            serving = record.document.serving_revision_id
            return chunks.of_revision(tx, serving, first, limit) if serving is not None else []

    def jobs(self, reference: str) -> builtins.list[Job]:
        """Everything that was ever done for a document's newest revision."""
        with self._database.read() as tx:
            return queue.of_subject(tx, "revision", self._find(tx, reference).latest.id)

    def switch(self, reference: str, *, enabled: bool) -> DocumentView:
        """Let a document be found, or not, until switched again."""
        with self._database.write() as tx:
            record = self._find(tx, reference)
            documents.switch(tx, record.document, enabled=enabled)
            return _view(tx, documents.find(tx, self._principal, record.document.id))

    def retry(self, reference: str) -> DocumentView:
        """Put a failed or cancelled document, or its failed vectors, back to work. Raises `NothingToRetry`."""
        with self._database.write() as tx:
            record = self._find(tx, reference)
            view = _view(tx, record)
            if record.latest.state not in ("failed", "cancelled") and view.semantic.state != "failed":
                raise NothingToRetry(document=record.document.name)
            retry(tx, new_id, record)
            return _view(tx, documents.find(tx, self._principal, record.document.id))

    def cancel(self, reference: str) -> DocumentView:
        """Stop the work on a document's newest revision; what it served before goes on serving.

        Raises `NothingToCancel` where no work is being done or waits.
        """
        with self._database.write() as tx:
            record = self._find(tx, reference)
            jobs = queue.of_subject(tx, "revision", record.latest.id)
            if all(job.finished_at is not None or job.kind == "purge" for job in jobs):
                raise NothingToCancel(document=record.document.name)
            cancel_revision(tx, record.latest.id)
            return _view(tx, documents.find(tx, self._principal, record.document.id))

    def delete(self, reference: str) -> None:
        """Delete a document: hidden at once, in whatever state it is; purged by a job."""
        with self._database.write() as tx:
            document = self._find(tx, reference).document
            hide_document(tx, new_id, document.id, document.knowledge_base_id, document.owner)

    def open(self, citation: str) -> Place:
        """The place a citation (`REVISION.CHUNK`) leads to. Raises `CitationNotFound`."""
        revision_id, _, seq = citation.rpartition(".")
        with self._database.read() as tx:
            found = documents.revision(tx, revision_id) if _SEQUENCE_NUMBER.fullmatch(seq) else None
            if found is None or found[0].owner != self._principal:
                raise CitationNotFound(citation=citation)
            document, revision, _ = found
            cited = chunks.of_revision(tx, revision_id, int(seq), 1)
            if not cited or cited[0].seq != int(seq):
                raise CitationNotFound(citation=citation)
            chunk = cited[0]
            start = max(0, chunk.start - _CONTEXT_CHARACTERS)
            text = chunks.revision_text(tx, revision_id, start, chunk.end + _CONTEXT_CHARACTERS)
        return Place(
            document,
            revision,
            chunk.anchor,
            chunk.heading_path,
            text[: chunk.start - start],
            text[chunk.start - start : chunk.end - start],
            text[chunk.end - start :],
            document.serving_revision_id != revision_id,
        )

    def _find(self, tx: Reading, reference: str) -> DocumentRecord:
        """A path may be given as it is written from the current folder."""
        try:
            return documents.find(tx, self._principal, reference)
        except DocumentNotFound:
            if not os.path.lexists(reference):
                raise
            return documents.find(tx, self._principal, os.path.abspath(reference))

    def original(self, reference: str) -> bytes:
        """The bytes of a document's newest revision, as they were added. Raises `FileVanished` where they are gone."""
        path = self._blobs.path(self.find(reference).latest.blob_sha256)
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise FileVanished(path=path) from error


def _view(tx: Reading, record: DocumentRecord) -> DocumentView:
    document, latest = record.document, record.latest
    knowledge_base = knowledge_bases.by_id(tx, document.knowledge_base_id)
    jobs = queue.of_subject(tx, "revision", latest.id)
    waiting = next((job.problem for job in jobs if job.state == "waiting"), None)
    return DocumentView(
        document=document,
        knowledge_base=knowledge_base.name,
        latest=latest,
        searchable=document.serving_revision_id is not None and document.enabled and knowledge_base.state == "active",
        updating=document.serving_revision_id is not None and document.serving_revision_id != latest.id,
        semantic=_semantic(tx, document, bool(knowledge_base.embedding_model)),
        waiting=waiting,
    )


def _semantic(tx: Reading, document: Document, embeds: bool) -> Semantic:
    """How far the vectors of what is served are; cancelled ones have failed until they are retried."""
    serving = document.serving_revision_id
    if not embeds or serving is None:
        return Semantic("none", 0, 0)
    reached = indexes.progress(tx, serving, "vector")
    done, total = (reached.done, reached.total) if reached is not None else (0, 0)
    if reached is not None and reached.state == "ready":
        return Semantic("ready", done, total)
    embedding = [job for job in queue.of_subject(tx, "revision", serving) if job.kind == "embed"]
    if embedding and embedding[-1].state in ("failed", "cancelled"):
        known = reached.problem if reached is not None else None
        return Semantic("failed", done, total, known or embedding[-1].problem or JobCancelled().problem())
    return Semantic("pending", done, total)
