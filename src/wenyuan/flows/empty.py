"""Why nothing was found: asked of the store, from the outermost reason inwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wenyuan.flows.journey import Journey
from wenyuan.flows.recall import Recall
from wenyuan.language.questions.exclusions import without_exclusions
from wenyuan.language.words import decode_token
from wenyuan.rules.explanations import EmptyReason
from wenyuan.store import chunks, fields, indexes, knowledge_bases
from wenyuan.store.database import Reading
from wenyuan.types import KnowledgeBase, Plan

_MOST_COUNTED = 1000
_UNFINISHED = ("pending", "processing")


def why_empty(tx: Reading, journey: Journey) -> EmptyReason:
    """The first reason that holds, with its numbers."""
    plan, bases, found = journey.asked.whole, journey.bases, journey.found
    if not bases:
        return EmptyReason("kb-unbound")
    if not found:
        return EmptyReason("kb-archived")
    active = [one.knowledge_base for one in found]
    counts: Counter[str] = Counter()
    for base in active:
        counts.update(knowledge_bases.document_counts(tx, base.id))
    if not counts and active:
        return EmptyReason("kb-empty")
    if active and not counts["ready"]:
        processing = sum(counts[state] for state in _UNFINISHED)
        failed = counts["failed"] + counts["cancelled"]
        if counts["disabled"] and not processing and not failed:
            return EmptyReason("all-disabled", {"disabled": counts["disabled"]})
        if counts["blocked"] > failed and not processing:
            return EmptyReason("all-blocked", {"blocked": counts["blocked"]})
        return EmptyReason("none-ready", {"processing": processing, "failed": failed})
    if all(fields.narrowed(tx, base.id, journey.scope).documents == () for base in active):
        return EmptyReason("filters-excluded-all", {"documents": counts["ready"]})
    if scores := journey.evidence.scores:
        best = max(scores.values())
        if best < journey.least_score:
            return EmptyReason("below-threshold", {"best": f"{best:.3f}", "floor": journey.least_score})
        threshold = journey.rerank.parameters.get("score_threshold", 0.0)
        if journey.rerank.best_score is not None and journey.rerank.best_score < threshold:
            return EmptyReason("below-threshold", {"best": f"{journey.rerank.best_score:.3f}", "floor": threshold})
        return EmptyReason("all-excluded", {"passages": len(scores), "words": _excluded_terms(journey)})
    if unseen := _left_out(tx, journey):
        return EmptyReason("all-excluded", {"passages": unseen, "words": _excluded_terms(journey)})
    return _unmatched(tx, plan, active, found)


def _left_out(tx: Reading, journey: Journey) -> int:
    """How many passages the keyword list would have found if the question excluded nothing."""
    if not journey.asked.whole.excluded or "keyword" not in journey.arms:
        return 0
    passages = 0
    for one in journey.found:
        base = one.knowledge_base
        generation, scope = indexes.active(tx, base.id, "lexical"), fields.narrowed(tx, base.id, journey.scope)
        if generation is not None and scope.documents != ():
            plan = journey.asked.within(base.id).whole
            tokens = (*plan.tokens, *plan.aliases, *one.lonely)
            found = chunks.keyword(tx, base.id, generation.number, scope, tokens, (), _MOST_COUNTED, one.frequency)
            passages += len(found)
    return passages


def _excluded_terms(journey: Journey) -> str:
    """The terms as they were written, joined so that a hyphen stands before each but the first."""
    questions = filter(None, (journey.asked.raw, journey.asked.rewritten))
    terms = [term for plan in questions for term in without_exclusions(plan.question)[1]]
    return " -".join(dict.fromkeys(terms))


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
