"""How a document stands, as a door shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wenyuan.errors import JobCancelled
from wenyuan.flows.policy import why_blocked
from wenyuan.rules.quality import Doubt as Doubt
from wenyuan.rules.quality import doubts
from wenyuan.store import disabled_passages, indexes, knowledge_bases, members, moves, queue
from wenyuan.store.database import Reading
from wenyuan.store.documents import DocumentRecord
from wenyuan.types import Document, Problem, Revision, SemanticState

_HELD_SHOWN = 1000

Availability = Literal["allowed", "disabled", "blocked"]


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
    `availability` says whether a person (`disabled`) or the knowledge base's policy (`blocked`, for the
    reason in `blocked`) keeps it out of every search. `moving_to` is the name of the knowledge base it
    is moving to, and `disabled_passages` counts the passages it serves that are switched off. Files lie in
    files: `lies_in` are the documents around it, the nearest first, and `holds` those right inside of it,
    up to a bound, each as (id, name). `doubts` say why a person should look at how it was read.
    """

    document: Document
    knowledge_base: str
    latest: Revision
    searchable: bool
    updating: bool
    semantic: Semantic
    waiting: Problem | None = None
    availability: Availability = "allowed"
    blocked: Problem | None = None
    moving_to: str = ""
    disabled_passages: int = 0
    lies_in: tuple[tuple[str, str], ...] = ()
    holds: tuple[tuple[str, str], ...] = ()
    doubts: tuple[Doubt, ...] = ()


def view_of(tx: Reading, record: DocumentRecord) -> DocumentView:
    document, latest = record.document, record.latest
    knowledge_base = knowledge_bases.by_id(tx, document.knowledge_base_id)
    jobs = queue.of_subject(tx, "revision", latest.id)
    waiting = next((job.problem for job in jobs if job.state == "waiting" and job.problem is not None), None)
    serving, target = document.serving_revision_id, moves.destination(tx, document.id)
    blocked = why_blocked(knowledge_base, document, latest)
    is_allowed = document.enabled and blocked is None
    return DocumentView(
        document=document,
        knowledge_base=knowledge_base.name,
        latest=latest,
        searchable=serving is not None and is_allowed and knowledge_base.state == "active",
        updating=serving is not None and serving != latest.id,
        semantic=_semantic(tx, document, bool(knowledge_base.embedding_model)),
        waiting=waiting,
        availability="allowed" if is_allowed else "disabled" if blocked is None else "blocked",
        blocked=blocked.problem() if blocked is not None else None,
        moving_to=knowledge_bases.by_id(tx, target).name if target is not None else "",
        disabled_passages=disabled_passages.count(tx, document.id, serving) if serving is not None else 0,
        lies_in=tuple(members.above(tx, document.id)) if document.parent_id else (),
        holds=tuple(members.children(tx, document.id, _HELD_SHOWN)),
        doubts=doubts(latest.quality, latest.notices),
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
    known = reached.problem if reached is not None and reached.state == "failed" else None
    last = embedding[-1] if embedding else None
    if last is not None and last.state in ("failed", "cancelled"):
        return Semantic("failed", done, total, known or last.problem or JobCancelled().problem())
    # A rebuild may have found out that the model refuses the text.
    if known is not None and (last is None or last.finished_at is not None):
        return Semantic("failed", done, total, known)
    return Semantic("pending", done, total)
