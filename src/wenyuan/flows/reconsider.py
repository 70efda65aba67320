"""A changed policy is applied to every document of a knowledge base, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wenyuan.flows.policy import is_by_policy, verdict
from wenyuan.flows.receive import enqueue_ingest
from wenyuan.store import documents, knowledge_bases, moves, policies, queue
from wenyuan.store.database import Writing
from wenyuan.types import DocumentPolicy, KnowledgeBase

_DOCUMENTS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Reconsidered:
    """How many documents may not be found any more by a new policy, and how many may again."""

    blocked: int
    allowed: int


def apply_policy(
    tx: Writing, new_id: Callable[[str], str], knowledge_base: KnowledgeBase, policy: DocumentPolicy
) -> Reconsidered:
    """Set the policy of a knowledge base; what may be found from now on and was never read is queued to be.

    Documents over a lower number of them stay: the number is asked when a file arrives.
    """
    knowledge_bases.set_policy(tx, knowledge_base.id, policy)
    current = knowledge_bases.by_id(tx, knowledge_base.id)
    blocked: list[str] = []
    allowed: list[str] = []
    after = ""
    while page := policies.standings(tx, current.id, after, _DOCUMENTS_AT_ONCE):
        after = page[-1].source
        changed = [(one.document_id, reason) for one, reason in _verdicts(current, page) if reason is not None]
        policies.set_blocked(tx, current.id, changed)
        blocked += [document_id for document_id, reason in changed if reason]
        allowed += [document_id for document_id, reason in changed if not reason]
        _hold_back(tx, [document_id for document_id, reason in changed if reason])
        _let_in(tx, new_id, current, [document_id for document_id, reason in changed if not reason])
    return Reconsidered(len(blocked), len(allowed))


def _verdicts(
    knowledge_base: KnowledgeBase, page: Sequence[policies.Standing]
) -> Sequence[tuple[policies.Standing, str | None]]:
    """What is decided of each document; None where that does not change anything."""
    decided: list[tuple[policies.Standing, str | None]] = []
    for one in page:
        reason = verdict(knowledge_base, one.name, one.media_type, one.size)
        is_new = is_by_policy(one.blocked_reason) and reason != one.blocked_reason
        decided.append((one, reason if is_new else None))
    return decided


def _hold_back(tx: Writing, document_ids: Sequence[str]) -> None:
    """Take what nobody has begun out of the queue; what is being read is read to its end, and found by nobody."""
    for revision_id, _, _ in policies.held_back(tx, document_ids):
        if moves.destination_of_revision(tx, revision_id) is None:
            for job in queue.of_subject(tx, "revision", revision_id):
                if job.state in ("queued", "waiting"):
                    queue.cancel_job(tx, job)
            documents.set_state(tx, revision_id, "pending", "blocked")


def _let_in(
    tx: Writing, new_id: Callable[[str], str], knowledge_base: KnowledgeBase, document_ids: Sequence[str]
) -> None:
    for revision_id, owner, size in policies.held_back(tx, document_ids):
        if moves.destination_of_revision(tx, revision_id) is None:
            documents.set_state(tx, revision_id, "pending", "queued")
            enqueue_ingest(tx, new_id, revision_id, knowledge_base.id, owner, size)
