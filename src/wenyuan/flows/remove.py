"""Deleting: out of everyone's sight in one transaction, purged afterwards by jobs."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.flows.receive import PRIORITY_PURGE
from wenyuan.store import documents, queue
from wenyuan.store.database import Writing


def cancel_revision(tx: Writing, revision_id: str) -> None:
    """Stop the work on a revision: at once where none is being done, else within one batch."""
    queue.cancel(tx, "revision", revision_id)
    if not any(job.state == "running" for job in queue.of_subject(tx, "revision", revision_id)):
        documents.set_state(tx, revision_id, "cancelled")


def hide_document(
    tx: Writing, new_id: Callable[[str], str], document_id: str, knowledge_base_id: str, owner: str
) -> None:
    """Hide a document, stop the work on it in whatever state, and queue the purge of its revisions."""
    for revision_id in documents.hide(tx, document_id, knowledge_base_id):
        queue.cancel(tx, "revision", revision_id)
        queue.enqueue(tx, new_id("job"), "purge", "revision", revision_id, knowledge_base_id, owner, PRIORITY_PURGE)
