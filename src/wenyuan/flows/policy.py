"""What the policy of a knowledge base says of one document, and how a person is told.

It is asked when a file arrives, again when its type is known for certain, and for all documents when
the policy changes. What it keeps out is kept, but found by no search, until the policy allows it.
"""

from __future__ import annotations

from wenyuan.errors import SizeBlocked, TypeBlocked
from wenyuan.parsers.detection import type_by_name
from wenyuan.rules.policy import forbidden
from wenyuan.store import knowledge_bases, policies
from wenyuan.store.database import Writing
from wenyuan.types import Document, KnowledgeBase, Revision

_PREFIX = "policy: "
_SIZE = f"{_PREFIX}size"


def verdict(knowledge_base: KnowledgeBase, name: str, media_type: str, size: int) -> str:
    """Why a file may not be found in a knowledge base, `policy: type` or `policy: size`; empty where it may.

    Where the `media_type` is not known, its name tells.
    """
    why = forbidden(knowledge_base.policy, name, media_type or type_by_name(name), size)
    return f"{_PREFIX}{why}" if why is not None else ""


def is_by_policy(reason: str) -> bool:
    """Whether a document stands under its policy alone; what is blocked for another reason stays blocked."""
    return not reason or reason.startswith(_PREFIX)


def why_blocked(
    knowledge_base: KnowledgeBase, document: Document, revision: Revision
) -> SizeBlocked | TypeBlocked | None:
    """The error that says why a document is blocked, None where it is not."""
    if not document.blocked_reason:
        return None
    media_type = revision.given.media_type or revision.media_type or type_by_name(document.name)
    return refusal(knowledge_base, document.blocked_reason, document.name, media_type, revision.size)


def refusal(
    knowledge_base: KnowledgeBase, reason: str, name: str, media_type: str, size: int
) -> SizeBlocked | TypeBlocked:
    """The error that says why a file may not be found and what to do."""
    if reason == _SIZE:
        limit = knowledge_base.policy.max_file_bytes
        return SizeBlocked(knowledge_base=knowledge_base.name, name=name, size=size, limit=limit)
    return TypeBlocked(knowledge_base=knowledge_base.name, name=name, media_type=media_type or "?")


def judge_published(tx: Writing, document_id: str) -> None:
    """Let the policy decide again on a document whose file has been read: its content may not be what its name said."""
    found = policies.standing(tx, document_id)
    if found is None:
        return
    base = knowledge_bases.by_id(tx, found.knowledge_base_id)
    reason = verdict(base, found.name, found.media_type, found.size)
    if reason != found.blocked_reason and is_by_policy(found.blocked_reason):
        policies.set_blocked(tx, base.id, [(document_id, reason)])
