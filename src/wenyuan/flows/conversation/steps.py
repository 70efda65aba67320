"""The steps of which a conversation tells, as they are taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wenyuan.errors import StorageError, TraceNotFound
from wenyuan.flows.conversation.sources import Source
from wenyuan.flows.retrieve import Retrieving
from wenyuan.store import journal
from wenyuan.types import JsonObject, Scope, SearchResult

Prefer = Literal["auto", "knowledge", "chat"]
StepName = Literal[
    "router.decision",
    "rag.rewrite",
    "rag.embed",
    "tool.call.start",
    "tool.call.end",
    "rag.sources",
    "assistant.delta",
    "assistant.message",
]
RETRIEVE = "rag.retrieve"
_COUNTERS = ("vector_hits", "keyword_hits_raw", "keyword_hits_rewrite", "structured_hits", "retry_count")
_READ = ("tokens", "aliases", "dates", "versions", "codes", "excluded")


@dataclass(frozen=True, slots=True)
class Step:
    """One step; the last one is an `assistant.message`, unless an error is raised before."""

    name: StepName
    trace_id: str
    data: JsonObject


@dataclass(frozen=True, slots=True)
class Telling:
    """Makes the steps of one conversation."""

    trace_id: str

    def __call__(self, step: StepName, /, **data: Any) -> Step:
        return Step(step, self.trace_id, data)


def retrieval_steps(
    tell: Telling,
    found: SearchResult,
    sources: Sequence[Source],
    trace: JsonObject,
    *,
    number: int,
    top_k: int,
    milliseconds: float,
) -> list[Step]:
    """What one search did, from the rewriting of its question to its sources; `number` is that of its round."""
    counters, plan = trace.get("counters", {}), trace.get("plan", {})
    error = counters.get("embedding_error")
    embedded = _milliseconds(trace, "embed")
    bases = [base["name"] for base in trace.get("knowledge_bases", [])]
    return [
        tell(
            "rag.rewrite",
            round=number,
            question=found.question,
            rewritten=trace.get("rewritten"),
            language=found.plan.language,
            **{name: plan.get(name, []) for name in _READ},
        ),
        tell("rag.embed", round=number, done=embedded is not None and error is None, error=error, ms=embedded),
        tell("tool.call.start", round=number, name=RETRIEVE, knowledge_bases=bases, top_k=top_k),
        tell(
            "tool.call.end",
            round=number,
            name=RETRIEVE,
            **{name: counters.get(name, 0) for name in _COUNTERS},
            embedding_error=error,
            rerank=trace.get("rerank"),
            why_empty=found.why_empty,
            degraded=found.degraded,
            ms=milliseconds,
        ),
        tell(
            "rag.sources",
            round=number,
            sources=tuple(source.evidence for source in sources),
            explanation=found.explanation,
        ),
    ]


def _milliseconds(trace: JsonObject, stage: str) -> float | None:
    stages: Sequence[Mapping[str, Any]] = trace.get("stages", [])
    return next((one["ms"] for one in stages if one["name"] == stage), None)


def trace_of(tools: Retrieving, scope: Scope, trace_id: str) -> JsonObject:
    """What was recorded of a search; nothing where it could not be, which its `degraded` says."""
    try:
        with tools.database.traces.read() as tx:
            return journal.trace(tx, scope.principal, trace_id)
    except (TraceNotFound, StorageError):
        return {}
