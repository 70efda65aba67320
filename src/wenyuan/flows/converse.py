"""A question is answered step by step, and each step is told of as it is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from wenyuan.errors import EmptyQuestion, TraceNotFound
from wenyuan.flows.answer import answer_from
from wenyuan.flows.evidence import evidence_of
from wenyuan.flows.retrieve import Retrieving, SearchOptions, retrieve
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
_TOOL = "rag.retrieve"
_ROUND = 1
_COUNTERS = ("vector_hits", "keyword_hits_raw", "keyword_hits_rewrite", "structured_hits", "retry_count")


@dataclass(frozen=True, slots=True)
class Step:
    """One step; the last one is an `assistant.message`, unless an error is raised before."""

    name: StepName
    trace_id: str
    data: JsonObject


def converse(
    tools: Retrieving, question: str, scope: Scope, options: SearchOptions, prefer: Prefer, unread: Sequence[str] = ()
) -> Iterator[Step]:
    """Tell how a question is routed, put, looked up and answered, in this order; `unread` is what could not be read.

    Closed early, it does nothing more. Raises what `retrieve` raises, an empty question before the first step.
    """
    if not question.strip():
        raise EmptyQuestion()
    return _steps(tools, question, scope, options, prefer, unread)


def _steps(
    tools: Retrieving, question: str, scope: Scope, options: SearchOptions, prefer: Prefer, unread: Sequence[str]
) -> Iterator[Step]:
    began = tools.clock()
    trace_id = tools.new_id("trace")
    tell = _Telling(trace_id)
    yield tell("router.decision", route="knowledge", reason=_reason(prefer), prefer=prefer)
    found = retrieve(replace(tools, new_id=_named(tools.new_id, trace_id)), question, scope, options)
    trace = _trace(tools, scope, trace_id)
    yield from _retrieval(tell, found, trace, options, round((tools.clock() - began) * 1000, 1))
    made = answer_from(tools, scope, found)
    for piece in _pieces(made.text):
        yield tell("assistant.delta", text=piece)
    yield tell(
        "assistant.message",
        text=made.text,
        citations=made.citations,
        grounded=made.grounded,
        finish_reason=made.finish_reason,
        degraded=made.search.degraded,
        unread=tuple(unread),
        latency_ms=round((tools.clock() - began) * 1000, 1),
    )


@dataclass(frozen=True, slots=True)
class _Telling:
    trace_id: str

    def __call__(self, step: StepName, /, **data: Any) -> Step:
        return Step(step, self.trace_id, data)


def _reason(prefer: Prefer) -> str:
    """Without a model that writes there is one route; who prefers a chat is told why there is none."""
    return {"auto": "documents", "knowledge": "preferred", "chat": "no-generation-model"}[prefer]


def _named(new_id: Callable[[str], str], trace_id: str) -> Callable[[str], str]:
    """Ids as before, but for the trace, which has its id already."""
    return lambda kind: trace_id if kind == "trace" else new_id(kind)


def _retrieval(
    tell: _Telling, found: SearchResult, trace: JsonObject, options: SearchOptions, milliseconds: float
) -> Iterator[Step]:
    counters, plan = trace.get("counters", {}), trace.get("plan", {})
    rewrite = {name: plan.get(name, []) for name in ("tokens", "aliases", "dates", "versions", "codes", "excluded")}
    yield tell(
        "rag.rewrite",
        round=_ROUND,
        question=found.question,
        rewritten=trace.get("rewritten"),
        language=found.plan.language,
        **rewrite,
    )
    error = counters.get("embedding_error")
    embedded = _milliseconds(trace, "embed")
    yield tell("rag.embed", round=_ROUND, done=embedded is not None and error is None, error=error, ms=embedded)
    bases = [base["name"] for base in trace.get("knowledge_bases", [])]
    yield tell("tool.call.start", round=_ROUND, name=_TOOL, knowledge_bases=bases, top_k=options.top_k)
    yield tell(
        "tool.call.end",
        round=_ROUND,
        name=_TOOL,
        **{name: counters.get(name, 0) for name in _COUNTERS},
        embedding_error=error,
        rerank=None,
        why_empty=found.why_empty,
        degraded=found.degraded,
        ms=milliseconds,
    )
    yield tell("rag.sources", round=_ROUND, sources=evidence_of(found.hits), explanation=found.explanation)


def _milliseconds(trace: JsonObject, stage: str) -> float | None:
    stages: Sequence[Mapping[str, Any]] = trace.get("stages", [])
    return next((one["ms"] for one in stages if one["name"] == stage), None)


def _trace(tools: Retrieving, scope: Scope, trace_id: str) -> JsonObject:
    """What was recorded of the search; nothing where it could not be, which its `degraded` says."""
    try:
        with tools.database.traces.read() as tx:
            return journal.trace(tx, scope.principal, trace_id)
    except TraceNotFound:
        return {}


def _pieces(text: str) -> Iterator[str]:
    """A text in the pieces in which it was put together, whose sum it is."""
    lines = text.split("\n")
    yield from (f"{line}\n" for line in lines[:-1])
    if lines[-1]:
        yield lines[-1]


def last(steps: Sequence[Step]) -> JsonObject:
    """What a whole conversation came to: its message, with the sources and the route."""
    by_name = {step.name: step.data for step in steps}
    sources = by_name.get("rag.sources", {})
    return {
        "trace_id": steps[-1].trace_id,
        "route": by_name["router.decision"]["route"],
        **by_name["assistant.message"],
        "sources": sources.get("sources", ()),
        "explanation": sources.get("explanation", ""),
    }
