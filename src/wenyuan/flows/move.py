"""Moving a document to another knowledge base: at every moment it answers in exactly one of the two.

A document that is found goes on being found where it is, until a revision of it is complete in the
other; the transaction that serves that one moves the document. One that is not found yet moves at once.
"""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.errors import KnowledgeBaseArchived, KnowledgeBaseFull
from wenyuan.flows.policy import is_by_policy, refusal, verdict
from wenyuan.flows.priorities import PRIORITY_PURGE
from wenyuan.flows.receive import enqueue_ingest, stop_unfinished
from wenyuan.store import documents, knowledge_bases, moves, policies, queue
from wenyuan.store.database import Writing
from wenyuan.store.documents import DocumentRecord
from wenyuan.types import Document, KnowledgeBase, Revision

NewId = Callable[[str], str]


def move(tx: Writing, new_id: NewId, record: DocumentRecord, target: KnowledgeBase) -> bool:
    """Begin to move a document, and say whether there is anything to do.

    Moving to where it is calls an unfinished move off. Raises `KnowledgeBaseArchived` for either
    side, `SourceTaken`, and `TypeBlocked`, `SizeBlocked` or `KnowledgeBaseFull` where the policy of the
    other knowledge base does not take it.
    """
    document, latest = record.document, record.latest
    home = knowledge_bases.by_id(tx, document.knowledge_base_id)
    for base in (home, target):
        if base.state == "archived":
            raise KnowledgeBaseArchived(name=base.name)
    if target.id == home.id:
        return call_off(tx, new_id, document, latest)
    if moves.destination(tx, document.id) == target.id and latest.state in ("pending", "processing"):
        return False
    _refuse(tx, document, latest, target)
    call_off(tx, new_id, document, latest)
    stop_unfinished(tx, document.id)
    source = _to_be_moved(tx, document, latest)
    revision_id = new_id("rev")
    if document.serving_revision_id is None:
        _move_now(tx, new_id, document, target)
    documents.add_revision(tx, revision_id, document, source.blob_sha256, source.size, target.chunking, source.given)
    if document.serving_revision_id is not None:
        moves.begin(tx, revision_id, document.id, target.id)
    enqueue_ingest(tx, new_id, revision_id, target.id, document.owner, source.size)
    return True


def call_off(tx: Writing, new_id: NewId, document: Document, latest: Revision) -> bool:
    """Let a document that is moving stay where it is; False where it was not moving."""
    if moves.destination_of_revision(tx, latest.id) is None:
        return False
    moves.abandon(tx, document.id)
    queue.cancel(tx, "revision", latest.id)
    documents.set_state(tx, latest.id, "cancelled")
    moves.let_go(tx, latest.id)
    _enqueue_purge(tx, new_id, document, latest.id)
    return True


def _refuse(tx: Writing, document: Document, latest: Revision, target: KnowledgeBase) -> None:
    moves.refuse_taken(tx, target.id, document.id, document.source)
    media_type = latest.given.media_type or latest.media_type
    reason = verdict(target, document.name, media_type, latest.size)
    if reason:
        raise refusal(target, reason, document.name, media_type, latest.size)
    most = target.policy.max_documents
    if most is not None and policies.count_documents(tx, target.id) >= most:
        raise KnowledgeBaseFull(knowledge_base=target.name, name=document.name, limit=most)


def _to_be_moved(tx: Writing, document: Document, latest: Revision) -> Revision:
    """The revision whose file is to be found in the other knowledge base.

    That is the newest; where it came to nothing, the one that is served, so that the move does not as well.
    """
    serving = document.serving_revision_id
    found = documents.revision(tx, serving) if serving is not None and latest.state in ("failed", "cancelled") else None
    return found[1] if found is not None else latest


def _move_now(tx: Writing, new_id: NewId, document: Document, target: KnowledgeBase) -> None:
    moves.arrive(tx, document.id, document.knowledge_base_id, target.id)
    if is_by_policy(document.blocked_reason) and document.blocked_reason:
        policies.set_blocked(tx, target.id, [(document.id, "")])
    for old in moves.supersede_all(tx, document.id):
        queue.cancel(tx, "revision", old)
        _enqueue_purge(tx, new_id, document, old)


def _enqueue_purge(tx: Writing, new_id: NewId, document: Document, revision_id: str) -> None:
    base, owner = document.knowledge_base_id, document.owner
    queue.enqueue(tx, new_id("job"), "purge", "revision", revision_id, base, owner, PRIORITY_PURGE)
