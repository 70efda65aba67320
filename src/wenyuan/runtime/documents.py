"""Documents, as a door sees them: how they stand, their words, and the way back to the place."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import get_args

from wenyuan.errors import (
    DocumentNotFound,
    FileVanished,
    InvalidValue,
    KnowledgeBaseArchived,
    NothingToCancel,
    NothingToRetry,
    PartOfDocument,
    PassageNotFound,
)
from wenyuan.flows.move import move
from wenyuan.flows.policy import why_blocked
from wenyuan.flows.receive import retry
from wenyuan.flows.remove import cancel_revision, hide_document
from wenyuan.identifiers import new_id
from wenyuan.parsers.sandbox import ReadLimits
from wenyuan.runtime.document_views import DocumentView as DocumentView
from wenyuan.runtime.document_views import Doubt as Doubt
from wenyuan.runtime.document_views import view_of
from wenyuan.runtime.places import Place as Place
from wenyuan.runtime.places import PlacePicture as PlacePicture
from wenyuan.runtime.places import Places
from wenyuan.store import (
    chunks,
    disabled_passages,
    documents,
    file_passwords,
    knowledge_bases,
    listings,
    members,
    queue,
)
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Reading
from wenyuan.store.disabled_passages import StoredPassage as StoredPassage
from wenyuan.store.documents import DocumentRecord
from wenyuan.store.listings import Standing
from wenyuan.types import Chunk, Document, Job, KnowledgeBase, RevisionState

_RETRIED_AT_ONCE = 500


class Documents:
    def __init__(self, database: Database, blobs: BlobDirectory, principal: str, limits: ReadLimits) -> None:
        self._database = database
        self._blobs = blobs
        self._principal = principal
        self._places = Places(database, blobs, principal, limits)

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
        doubtful: bool = False,
    ) -> builtins.list[DocumentView]:
        """Documents of a knowledge base (the default one if none is named) by id, the page after `after`.

        Only those whose newest revision is in a `state`, if one is given; that have `failed`, or whose
        vectors have; that are `blocked` by a policy, or `disabled` by a person; that were not read well
        (`doubtful`).
        """
        if state and state not in get_args(RevisionState):
            reason = f"it must be one of {', '.join(get_args(RevisionState))}"
            raise InvalidValue(what="The state of a document", value=state, reason=reason)
        standing = Standing(state, failed, blocked, disabled, doubtful)
        with self._database.read() as tx:
            found = self._knowledge_base(tx, kb)
            if found is None:
                return []
            if standing.is_any:
                records = documents.listed(tx, found.id, after, limit)
            else:
                records = documents.by_ids(tx, listings.page(tx, found.id, standing, after, limit))
            return [view_of(tx, record) for record in records]

    def _knowledge_base(self, tx: Reading, name: str | None) -> KnowledgeBase | None:
        if name is None:
            return knowledge_bases.default(tx, self._principal)
        return knowledge_bases.find(tx, self._principal, name)

    def find(self, reference: str) -> DocumentRecord:
        """The document with this id, path or unique name. Raises `DocumentNotFound` or `DocumentAmbiguous`."""
        with self._database.read() as tx:
            return self._find(tx, reference)

    def with_members(self, references: Sequence[str]) -> tuple[str, ...]:
        """The ids of documents, with those of the files inside of them, at any depth; each once.

        Whoever asks an archive or a message means what is in it. Raises what `find` raises.
        """
        found: dict[str, None] = {}
        with self._database.read() as tx:
            for reference in references:
                document_id = self._find(tx, reference).document.id
                found |= dict.fromkeys((document_id, *(inner for inner, _ in members.below(tx, document_id))))
        return tuple(found)

    def show(self, reference: str) -> DocumentView:
        with self._database.read() as tx:
            return view_of(tx, self._find(tx, reference))

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

    def passages(self, reference: str, first: int = 0, limit: int = 100) -> builtins.list[StoredPassage]:
        """The chunks of the revision a document serves, and which of them may be found."""
        with self._database.read() as tx:
            serving = self._find(tx, reference).document.serving_revision_id
            return disabled_passages.listed(tx, serving, first, limit) if serving is not None else []

    def switch(self, reference: str, *, enabled: bool) -> DocumentView:
        """Let a document be found, or not, until switched again, with those of the files inside of it."""
        with self._database.write() as tx:
            record = self._find_to_change(tx, reference)
            inner = documents.by_ids(tx, [one for one, _ in members.below(tx, record.document.id)])
            for document in (record.document, *(one.document for one in inner)):
                documents.switch(tx, document, enabled=enabled)
            return self._view_again(tx, record)

    def switch_passage(self, reference: str, number: int, *, enabled: bool) -> int:
        """Let a passage of a document be found, or not, in every revision that has its words, and return how many

        passages with these words there are in what it serves. Raises `PassageNotFound`.
        """
        with self._database.write() as tx:
            document = self._find_to_change(tx, reference).document
            serving = document.serving_revision_id
            found = chunks.of_revision(tx, serving, max(number, 0), 1) if serving is not None else []
            if not found or found[0].seq != number:
                raise PassageNotFound(document=document.name, number=number)
            return disabled_passages.switch(tx, document, found[0].text, enabled=enabled)

    def retry(self, reference: str, *, password: str = "") -> DocumentView:
        """Put a failed or cancelled document, or its failed vectors, back to work; a `password` opens its file.

        Raises `NothingToRetry`, or `TypeBlocked` or `SizeBlocked` where a policy keeps it out.
        """
        with self._database.write() as tx:
            record = self._find_to_change(tx, reference)
            base = knowledge_bases.by_id(tx, record.document.knowledge_base_id)
            if (blocked := why_blocked(base, record.document, record.latest)) is not None:
                raise blocked
            if not self._has_failed(tx, record):
                raise NothingToRetry(document=record.document.name)
            if password:
                file_passwords.keep(tx, record.document.id, password)
            retry(tx, new_id, record)
            return self._view_again(tx, record)

    def retry_failed(self, kb: str | None = None) -> builtins.list[str]:
        """Put everything that has failed in a knowledge base back to work, and return the documents' ids.

        Raises `KnowledgeBaseNotFound` or `KnowledgeBaseArchived`.
        """
        retried: builtins.list[str] = []
        after = ""
        while True:
            with self._database.write() as tx:
                base = self._knowledge_base(tx, kb)
                if base is None:
                    return retried
                _refuse_archived(base)
                page = listings.page(tx, base.id, Standing(failed=True), after, _RETRIED_AT_ONCE)
                for record in documents.by_ids(tx, page):
                    if not record.document.blocked_reason:
                        retry(tx, new_id, record)
                        retried.append(record.document.id)
            if not page:
                return retried
            after = page[-1]

    def move(self, references: Sequence[str], to: str) -> builtins.list[DocumentView]:
        """Move documents to another knowledge base, all of them or none.

        Each goes on being found where it is until it is ready there; what was stored is read and
        embedded again only where chunking or model differ. Moving one to where it is calls off a move
        that is not done. Documents of files inside of one go with it, and not without it (`PartOfDocument`).
        Raises `KnowledgeBaseNotFound`, `KnowledgeBaseArchived`, `SourceTaken`, or `TypeBlocked`,
        `SizeBlocked` or `KnowledgeBaseFull`.
        """
        with self._database.write() as tx:
            target = knowledge_bases.find(tx, self._principal, to)
            records = [self._find(tx, reference) for reference in references]
            for record in records:
                _refuse_part(tx, record.document)
                inner = documents.by_ids(tx, [one for one, _ in members.below(tx, record.document.id)])
                for one in (record, *inner):
                    move(tx, new_id, one, target)
            return [self._view_again(tx, record) for record in records]

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
            return self._view_again(tx, record)

    def delete(self, *references: str) -> None:
        """Delete documents, all of them or none: hidden at once, in whatever state they are; purged by jobs."""
        with self._database.write() as tx:
            found = {record.document.id: record.document for record in (self._find(tx, one) for one in references)}
            for document in found.values():
                hide_document(tx, new_id, document.id, document.knowledge_base_id, document.owner)

    def open(self, citation: str) -> Place:
        """The place a citation (`REVISION.CHUNK`) leads to. Raises `CitationNotFound`."""
        return self._places.open(citation)

    def picture(self, citation: str, scale: float = 2.0, page: int | None = None) -> PlacePicture:
        """The page a passage begins on as PNG, or another `page`, with the passage lit. See `Places.picture`."""
        return self._places.picture(citation, scale, page)

    def page(self, document_id: str, page: int, scale: float = 2.0) -> PlacePicture:
        """A page of a document as PNG. See `Places.page`."""
        return self._places.page(document_id, page, scale)

    def _has_failed(self, tx: Reading, record: DocumentRecord) -> bool:
        serving = record.document.serving_revision_id
        return (
            record.latest.state in ("failed", "cancelled")
            or view_of(tx, record).semantic.state == "failed"
            or (serving is not None and members.has_stopped(tx, serving))
        )

    def _view_again(self, tx: Reading, record: DocumentRecord) -> DocumentView:
        return view_of(tx, documents.find(tx, self._principal, record.document.id))

    def _find_to_change(self, tx: Reading, reference: str) -> DocumentRecord:
        """A document that may be changed. Raises `KnowledgeBaseArchived` as well."""
        record = self._find(tx, reference)
        _refuse_archived(knowledge_bases.by_id(tx, record.document.knowledge_base_id))
        return record

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


def _refuse_archived(knowledge_base: KnowledgeBase) -> None:
    if knowledge_base.state == "archived":
        raise KnowledgeBaseArchived(name=knowledge_base.name)


def _refuse_part(tx: Reading, document: Document) -> None:
    if document.parent_id:
        raise PartOfDocument(document=document.name, parent=members.above(tx, document.id)[0][1])
