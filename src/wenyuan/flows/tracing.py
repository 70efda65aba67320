"""The trace of one question: what each stage read, found, dropped and decided.

It holds ids, ranks, scores and the question itself; never a document's text, never a secret.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from wenyuan.errors import StorageError
from wenyuan.flows.recall import Recall
from wenyuan.language.date_mentions import OPEN_YEAR
from wenyuan.language.words import decode_token
from wenyuan.rules.explanations import EmptyReason
from wenyuan.rules.observer import Observer
from wenyuan.store import journal
from wenyuan.store.database import Database
from wenyuan.types import Answer, Hit, JsonObject, KnowledgeBase, Passage, Plan, Scope, SearchResult

_TRACE_SECONDS = 2.0


def keep_trace(database: Database, scope: Scope, result: SearchResult, body: JsonObject) -> SearchResult:
    """Store a trace, and return the result; one that cannot be stored now is named as done without.

    A search is worth more than its record, so it waits for other writers only briefly.
    """
    try:
        with database.write(durable=False, lock_seconds=_TRACE_SECONDS) as tx:
            journal.keep_trace(tx, result.trace_id, scope.principal, result.question, result.why_empty, body)
    except StorageError as error:
        return replace(result, degraded=(*result.degraded, f"trace: {error.code}"))
    return result


def with_answer(body: JsonObject, answer: Answer) -> JsonObject:
    """A search's trace with what was made of it: how it was judged, and what was cited."""
    cited = [{"chunk": one.chunk_id, "start": one.start, "end": one.end} for one in answer.citations]
    made = {"grounded": answer.grounded, "finish_reason": answer.finish_reason, "citations": cited}
    return {**body, "degraded": list(answer.search.degraded), "answer": made}


def trace_body(
    result: SearchResult,
    observe: Observer,
    bases: Sequence[KnowledgeBase],
    scope: Scope,
    found: Sequence[Recall],
    passages: Mapping[int, Passage],
    reason: EmptyReason | None,
) -> JsonObject:
    stages = observe.stages()
    return {
        "id": result.trace_id,
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        "question": result.question,
        "scope": asdict(scope),
        "knowledge_bases": [{"id": base.id, "name": base.name, "state": base.state} for base in bases],
        "plan": _plan(result.plan),
        "total_ms": round(observe.elapsed_ms(), 2),
        "stages": stages,
        "counters": {
            "structured_hits": sum(len(one.structured) for one in found),
            "keyword_hits_raw": sum(len(one.keyword) for one in found),
            "keyword_hits_rewrite": 0,
            "vector_hits": sum(len(one.vector) for one in found),
            "fused": next((stage["count"] for stage in stages if stage["name"] == "fuse"), 0),
            "reranked": 0,
            "retry_count": 0,
            "embedding_error": next((name for name in result.degraded if name.startswith("embed:")), None),
        },
        "degraded": list(result.degraded),
        "candidates": [_candidates(one, passages) for one in found],
        "hits": [_hit(hit) for hit in result.hits],
        "why_empty": asdict(reason) if reason is not None else None,
        "explanation": result.explanation,
    }


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
        "phrases": list(plan.phrases),
        "excluded": list(plan.excluded),
        "notes": list(plan.notes),
        "language": plan.language,
    }


def _day(ordinal: int) -> str:
    """A day in ISO 8601; one of an open year as `--04-14`."""
    day = datetime.date.fromordinal(ordinal)
    return f"--{day:%m-%d}" if day.year == OPEN_YEAR else day.isoformat()


def _candidates(found: Recall, passages: Mapping[int, Passage]) -> JsonObject:
    names = {key: passage.chunk_id for key, passage in passages.items()}
    return {
        "knowledge_base": found.knowledge_base.name,
        "documents": {passage.chunk_id: passage.document_name for passage in passages.values()},
        "structured": [
            {"key": m.chunk_key, "chunk": names.get(m.chunk_key), "strength": m.strength, "exact": m.exact}
            for m in found.structured
        ],
        "keyword": [{"key": k, "chunk": names.get(k), "bm25": round(score, 4)} for k, score in found.keyword],
        "vector": [{"key": k, "chunk": names.get(k), "cosine": round(score, 4)} for k, score in found.vector],
        "best_similarity": found.best_similarity,
    }


def _hit(hit: Hit) -> JsonObject:
    return {
        "chunk": hit.passage.chunk_id,
        "document": hit.passage.document_name,
        "anchor": asdict(hit.passage.chunk.anchor),
        "score": round(hit.score, 6),
        "ranks": dict(hit.ranks),
        "match_type": hit.match_type,
        "exactness": hit.exactness,
        "highlights": len(hit.highlights),
    }
