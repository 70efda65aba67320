"""Why nothing was found: asked of the store, from the outermost reason inwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wenyuan.flows.recall import Recall
from wenyuan.language.words import decode_token
from wenyuan.rules.explanations import EmptyReason
from wenyuan.store import indexes, knowledge_bases
from wenyuan.store.database import Reading
from wenyuan.types import KnowledgeBase, Plan, Scope

_UNFINISHED = ("pending", "processing")


def why_empty(
    tx: Reading, plan: Plan, bases: Sequence[KnowledgeBase], scope: Scope, found: Sequence[Recall]
) -> EmptyReason:
    """The first reason that holds, with its numbers."""
    if bases and not found:
        return EmptyReason("kb-archived")
    if scope.documents == () or scope.knowledge_bases == ():
        return EmptyReason("filters-excluded-all")
    active = [one.knowledge_base for one in found]
    counts: Counter[str] = Counter()
    for base in active:
        counts.update(knowledge_bases.document_counts(tx, base.id))
    if not counts:
        return EmptyReason("kb-empty")
    if not counts["ready"]:
        processing = sum(counts[state] for state in _UNFINISHED)
        failed = counts["failed"] + counts["cancelled"]
        if counts["disabled"] and not processing and not failed:
            return EmptyReason("all-disabled", {"disabled": counts["disabled"]})
        return EmptyReason("none-ready", {"processing": processing, "failed": failed})
    return _unmatched(tx, plan, active, found)


def _unmatched(tx: Reading, plan: Plan, active: Sequence[KnowledgeBase], found: Sequence[Recall]) -> EmptyReason:
    missing = total = 0
    for base in active:
        generation = indexes.active(tx, base.id, "vector")
        if generation is not None:
            seen, all_live = indexes.coverage(tx, generation)
            missing, total = missing + all_live - seen, total + all_live
    if missing:
        return EmptyReason("index-building", {"missing": missing, "total": total})
    scored = [one for one in found if one.best_similarity is not None and one.similarity_floor is not None]
    if scored:
        best = max(scored, key=lambda one: one.best_similarity or 0.0)
        return EmptyReason("below-threshold", {"best": f"{best.best_similarity:.3f}", "floor": best.similarity_floor})
    return EmptyReason("no-match", {"tokens": _frequencies(tx, plan, active)})


def _frequencies(tx: Reading, plan: Plan, active: Sequence[KnowledgeBase]) -> str:
    tokens = (*plan.tokens, *plan.aliases)
    counts: Counter[str] = Counter()
    for base in active:
        generation = indexes.active(tx, base.id, "lexical")
        if generation is not None:
            counts.update(tx.lexical.document_frequency(tx, generation.number, tokens))
    return ", ".join(f"{decode_token(token)} ({counts[token]})" for token in tokens) or "-"
