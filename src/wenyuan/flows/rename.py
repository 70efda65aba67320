"""Giving a document another source and name: it keeps its id, its text and its vectors."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.flows.priorities import PRIORITY_INGEST, PRIORITY_REREAD
from wenyuan.store import documents, knowledge_bases, members, queue, sources
from wenyuan.store.database import Writing
from wenyuan.store.documents import DocumentRecord

_RENAMED = "renamed"


def rename(tx: Writing, new_id: Callable[[str], str], record: DocumentRecord, source: str, name: str) -> bool:
    """Rename a live document; False where another one has that source, or this one is just being read.

    Its name and path are among what it is found by: a job reads its passages again, and until then it
    is found by the old ones. The documents of files inside of it follow.
    """
    if not _rename(tx, new_id, record, source, name):
        return False
    former = record.document
    for inner in documents.by_ids(tx, [one for one, _ in members.below(tx, former.id)]):
        document = inner.document
        its_source = source + document.source[len(former.source) :]
        its_name = name + document.name[len(former.name) :]
        if not _rename(tx, new_id, inner, its_source, its_name):
            _begin_anew(tx, new_id, inner, its_source, its_name)
    return True


def _begin_anew(tx: Writing, new_id: Callable[[str], str], record: DocumentRecord, source: str, name: str) -> None:
    """Rename a document that is just being read under its old name: it is read once more."""
    document, latest = record.document, record.latest
    for unfinished in documents.unfinished_revisions(tx, document.id):
        queue.cancel(tx, "revision", unfinished)
        documents.set_state(tx, unfinished, "cancelled")
    if documents.rename(tx, document, source, name):
        chunking = knowledge_bases.by_id(tx, document.knowledge_base_id).chunking
        revision_id = new_id("rev")
        documents.add_revision(tx, revision_id, document, latest.blob_sha256, latest.size, chunking, latest.given)
        base, owner = document.knowledge_base_id, document.owner
        queue.enqueue(tx, new_id("job"), "ingest", "revision", revision_id, base, owner, PRIORITY_INGEST, latest.size)


def _rename(tx: Writing, new_id: Callable[[str], str], record: DocumentRecord, source: str, name: str) -> bool:
    document, latest = record.document, record.latest
    if not documents.rename(tx, document, source, name):
        return False
    if latest.state in ("failed", "cancelled") and latest.staged_by:
        # What was staged under the old name is not continued.
        documents.set_staged_by(tx, latest.id, _RENAMED)
    if document.serving_revision_id is not None:
        sources.expire_reading(tx, document.serving_revision_id)
        queue.enqueue(
            tx,
            new_id("job"),
            "reread",
            "revision",
            document.serving_revision_id,
            document.knowledge_base_id,
            document.owner,
            PRIORITY_REREAD,
        )
    return True
