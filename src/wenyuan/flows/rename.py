"""Giving a document another source and name: it keeps its id, its text and its vectors."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.flows.priorities import PRIORITY_REREAD
from wenyuan.store import documents, queue, sources
from wenyuan.store.database import Writing
from wenyuan.store.documents import DocumentRecord

_RENAMED = "renamed"


def rename(tx: Writing, new_id: Callable[[str], str], record: DocumentRecord, source: str, name: str) -> bool:
    """Rename a live document; False where another one has that source, or this one is just being read.

    Its name and path are among what it is found by: a job reads its passages again, and until then it
    is found by the old ones.
    """
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
