"""The trace of one question: what each stage read, found, dropped and decided.

It holds ids, ranks, scores and the question itself; never a document's text, never a secret.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace

from wenyuan.errors import StorageError, TraceNotFound
from wenyuan.flows.journey import Journey
from wenyuan.flows.recall import Recall
from wenyuan.flows.weigh import Weighed
from wenyuan.language.dates.mentions import OPEN_YEAR
from wenyuan.language.words import decode_token
from wenyuan.rules.explanations import EmptyReason
from wenyuan.rules.observer import Observer
from wenyuan.rules.ranking.selection import EXACTNESS
from wenyuan.store import journal
from wenyuan.store.database import Database, Reading
from wenyuan.types import Grounding, Hit, JsonObject, KnowledgeBase, Nearness, Plan, Scope, SearchResult

_TRACE_SECONDS = 2.0
_LISTED = 20
"""How many candidates of each list, and of those that were weighed, a trace names."""


def keep_trace(database: Database, scope: Scope, result: SearchResult, body: JsonObject) -> SearchResult:
    """Store a trace, and return the result; one that cannot be stored now is named as done without.

    A search is worth more than its record, so it waits for other writers only briefly.
    """
    try:
        with database.traces.write(durable=False, lock_seconds=_TRACE_SECONDS) as tx:
            journal.keep_trace(tx, result.trace_id, scope.principal, result.question, result.why_empty, body)
    except StorageError as error:
        return _untraced(result, error)
    return result


def keep_made(
    database: Database,
    scope: Scope,
    trace_id: str,
    question: str,
    bases: Sequence[KnowledgeBase],
    made: JsonObject,
    degraded: Sequence[str],
) -> str | None:
    """Add what was made of a question to its trace, which is begun where nothing was searched for it.

    Returns the name of what was done without, where it cannot be stored now.
    """
    try:
        with database.traces.write(durable=False, lock_seconds=_TRACE_SECONDS) as tx:
            body = _begun(tx, scope, trace_id, question, bases)
            body = {**body, "degraded": list(degraded), "answer": made}
            why_empty = (body["why_empty"] or {}).get("code")
            journal.keep_trace(tx, trace_id, scope.principal, question, why_empty, body)
    except StorageError as error:
        return f"trace: {error.code}"
    return None


def _begun(tx: Reading, scope: Scope, trace_id: str, question: str, bases: Sequence[KnowledgeBase]) -> JsonObject:
    """The trace of the search, or one of a question for which nothing was searched."""
    try:
        return journal.trace(tx, scope.principal, trace_id)
    except TraceNotFound:
        return {
            "id": trace_id,
            "at": _now(),
            "question": question,
            "scope": scope,
            "knowledge_bases": [_base(base) for base in bases],
            "plan": _plan(Plan(question, question, (), ())),
            "rewritten": None,
            "total_ms": 0.0,
            "stages": [],
            "counters": {},
            "revisions": {},
            "candidates": [],
            "weighed": [],
            "hits": [],
            "grounding": Grounding(0.0, "unlikely"),
            "why_empty": None,
            "explanation": "",
        }


def _untraced(result: SearchResult, error: StorageError) -> SearchResult:
    return replace(result, degraded=tuple(dict.fromkeys((*result.degraded, f"trace: {error.code}"))))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _base(base: KnowledgeBase) -> JsonObject:
    return {"id": base.id, "name": base.name, "state": base.state}


def trace_body(result: SearchResult, observe: Observer, journey: Journey, reason: EmptyReason | None) -> JsonObject:
    """What is kept; the values in it that are dataclasses become objects when it is written."""
    found, rewritten = journey.found, journey.asked.rewritten
    stages = observe.stages()
    return {
        "id": result.trace_id,
        "at": _now(),
        "question": result.question,
        "scope": journey.scope,
        "knowledge_bases": [_base(base) for base in journey.bases],
        "plan": _plan(result.plan),
        "rewritten": rewritten.question if rewritten is not None else None,
        "total_ms": round(observe.elapsed_ms(), 2),
        "stages": stages,
        "counters": {
            "structured_hits": sum(len(one.structured) for one in found),
            "keyword_hits_raw": sum(len(one.keyword) for one in found),
            "keyword_hits_rewrite": sum(len(one.keyword_rewrite) for one in found),
            "vector_hits": sum(len(one.vector) for one in found),
            "fused": len(journey.evidence.passages),
            "reranked": journey.rerank.reranked,
            "retry_count": 0,
            "embedding_error": next((name for name in result.degraded if name.startswith("embed:")), None),
        },
        "degraded": list(result.degraded),
        "revisions": _revisions(result, journey.evidence),
        "candidates": [_candidates(one, journey.evidence) for one in found],
        "weighed": _weighed(journey.evidence),
        "hits": [_hit(hit) for hit in result.hits],
        "rerank": journey.rerank,
        "grounding": result.grounding,
        "why_empty": reason,
        "explanation": result.explanation,
    }


def _revisions(result: SearchResult, evidence: Weighed) -> JsonObject:
    """Which document each revision belongs to that the trace names, so that a deleted one's name can be erased."""
    passages = (*evidence.passages.values(), *(hit.passage for hit in result.hits))
    return {passage.revision_id: passage.document_id for passage in passages}


def _plan(plan: Plan) -> JsonObject:
    return {
        "tokens": [decode_token(token) for token in plan.tokens],
        "aliases": [decode_token(token) for token in plan.aliases],
        "dates": [
            {
                "text": date.text,
                "first": _day(date.first_day),
                "last": _day(date.last_day),
                "reading": date.reading,
            }
            for date in plan.dates
        ],
        "versions": list(plan.versions),
        "codes": list(plan.codes),
        "names": list(plan.names),
        "as_of": _day(plan.as_of) if plan.as_of is not None else None,
        "phrases": list(plan.phrases),
        "excluded": list(plan.excluded),
        "notes": list(plan.notes),
        "language": plan.language,
    }


def _day(ordinal: int) -> str:
    """A day in ISO 8601; one of an open year as `--04-14`."""
    day = datetime.date.fromordinal(ordinal)
    return f"--{day:%m-%d}" if day.year == OPEN_YEAR else day.isoformat()


def _candidates(found: Recall, evidence: Weighed) -> JsonObject:
    names = {key: passage.chunk_id for key, passage in evidence.passages.items()}
    scored = {"keyword": found.keyword, "keyword_rewrite": found.keyword_rewrite}
    return {
        "knowledge_base": found.knowledge_base.name,
        "documents": {passage.chunk_id: passage.document_name for passage in evidence.passages.values()},
        "structured": [
            {
                "key": m.chunk_key,
                "chunk": names.get(m.chunk_key),
                "kind": m.kind,
                "strength": m.strength,
                "exact": m.exact,
            }
            for m in found.structured[:_LISTED]
        ],
        **{
            arm: [{"key": k, "chunk": names.get(k), "bm25": round(score, 4)} for k, score in scores[:_LISTED]]
            for arm, scores in scored.items()
        },
        "vector": [
            {
                "key": k,
                "chunk": names.get(k),
                "cosine": round(near.passage, 4),
                "sentence_cosine": _rounded(near.sentence),
            }
            for k, near in found.vector[:_LISTED]
        ],
        "best_similarity": found.best_similarity,
        "frequency": {decode_token(token): count for token, count in found.frequency.items()},
        "size": found.size,
    }


def _weighed(evidence: Weighed) -> list[JsonObject]:
    """What the best candidates are worth, and why, in the order of their scores."""
    best = sorted(evidence.scores, key=lambda key: (-evidence.scores[key], key))[:_LISTED]
    return [
        {
            "chunk": evidence.passages[key].chunk_id,
            "score": round(evidence.scores[key], 4),
            "exactness": EXACTNESS[evidence.tiers.get(key, 2)],
            "language": evidence.evidence[key].language,
            "covered": round(evidence.evidence[key].covered, 3),
            "sentence": round(evidence.evidence[key].sentence, 3),
            "cosine": _rounded(evidence.evidence[key].similarity),
            "sentence_cosine": _sentence_cosine(evidence.evidence[key].nearness),
        }
        for key in best
    ]


def _sentence_cosine(nearness: Nearness | None) -> float | None:
    return None if nearness is None else _rounded(nearness.sentence)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _hit(hit: Hit) -> JsonObject:
    return {
        "chunk": hit.passage.chunk_id,
        "document": hit.passage.document_name,
        "anchor": hit.passage.chunk.anchor,
        "score": round(hit.score, 6),
        "ranks": dict(hit.ranks),
        "match_type": hit.match_type,
        "exactness": hit.exactness,
        "highlights": len(hit.highlights),
        "coverage": round(hit.coverage, 3),
        "cosine": _rounded(hit.similarity),
        "rerank_score": _rounded(hit.rerank_score),
        "matched": list(hit.matched),
    }
