"""Deleting: out of everyone's sight in one transaction, purged afterwards by jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wenyuan.flows.erase import enqueue_erasing
from wenyuan.flows.priorities import PRIORITY_PURGE
from wenyuan.store import documents, erasures, members, moves, policies, queue
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
    hide_documents(tx, new_id, [document_id], knowledge_base_id, owner)


def hide_documents(
    tx: Writing, new_id: Callable[[str], str], document_ids: Sequence[str], knowledge_base_id: str, owner: str
) -> None:
    """Hide documents of one knowledge base, with those of the files inside of them; what they are called is erased

    from traces by one job for all.
    """
    homes = dict.fromkeys(document_ids, knowledge_base_id)
    for document_id in document_ids:
        homes |= {inner: home for inner, home in members.below(tx, document_id) if inner not in homes}
    for document_id, home in homes.items():
        moves.abandon(tx, document_id)
        policies.forget_former_sources(tx, document_id)
        for revision_id in documents.hide(tx, document_id, home):
            queue.cancel(tx, "revision", revision_id)
            queue.enqueue(tx, new_id("job"), "purge", "revision", revision_id, home, owner, PRIORITY_PURGE)
    erasures.remember(tx, list(homes))
    if document_ids:
        enqueue_erasing(tx, new_id, knowledge_base_id, owner)
