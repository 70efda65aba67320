"""One question's way to evidence: one stage, one line."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from wenyuan.errors import EmptyQuestion, InvalidValue
from wenyuan.flows.empty import why_empty
from wenyuan.flows.recall import Recall, Recalling, recall
from wenyuan.flows.tracing import keep_trace, trace_body
from wenyuan.language.highlights import highlights
from wenyuan.language.postings import read_chunk
from wenyuan.language.questions import read_question
from wenyuan.ports import Embedder
from wenyuan.rules.explanations import explain_empty, explain_found
from wenyuan.rules.fusion import reciprocal_rank_fusion
from wenyuan.rules.observer import Observer
from wenyuan.rules.selection import EXACTNESS, Ranked, exact_first, without_duplicates
from wenyuan.store import chunks, knowledge_bases
from wenyuan.store.database import Database
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import ArmName, Hit, KnowledgeBase, Passage, Plan, Scope, SearchResult

_LONGEST_QUESTION = 4000
_MOST_HITS = 200
# With depth 10 per list, reciprocal rank fusion beat depth 100 on every evaluation set measured.
_LEAST_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Retrieving:
    """What retrieval needs; `threads` runs the recall lists side by side."""

    database: Database
    vectors: VectorCache
    embedder_for: Callable[[str], Embedder]
    threads: Executor
    today: Callable[[], datetime.date]
    clock: Callable[[], float]
    new_id: Callable[[str], str]
    embed_seconds: float


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How many hits are wanted, and which lists may look for them."""

    top_k: int = 8
    arms: frozenset[ArmName] = field(default_factory=lambda: frozenset(("structured", "keyword", "vector")))


def retrieve(tools: Retrieving, question: str, scope: Scope, options: SearchOptions) -> SearchResult:
    """Find the passages that answer a question, and keep a trace of how.

    What can be lived without may fail and is then named in `degraded`. Raises `EmptyQuestion`,
    `InvalidValue` or `KnowledgeBaseNotFound`.
    """
    question = _checked(question, options)
    observe = Observer(tools.clock)
    plan = _read(observe, question, tools.today())
    bases = _bases(tools, observe, scope)
    found = _recall(tools, observe, plan, bases, scope, options)
    fused = _fuse(observe, found)
    ordered = _exact_first(observe, fused, found)
    passages = _passages(tools, observe, found, scope, ordered)
    hits = _select(observe, plan, found, passages, ordered, options)
    return _conclude(tools, observe, plan, bases, scope, found, passages, hits)


def _checked(question: str, options: SearchOptions) -> str:
    # A lone surrogate is no character and could not be stored.
    question = question.encode("utf-8", "replace").decode("utf-8").strip()
    if not question:
        raise EmptyQuestion()
    if len(question) > _LONGEST_QUESTION:
        reason = f"it may have {_LONGEST_QUESTION} characters at most"
        raise InvalidValue(what="A question", value=f"{question[:40]}…", reason=reason)
    if not 1 <= options.top_k <= _MOST_HITS:
        raise InvalidValue(what="The number of hits", value=options.top_k, reason=f"it must be 1 to {_MOST_HITS}")
    return question


def _read(observe: Observer, question: str, today: datetime.date) -> Plan:
    with observe.stage("read") as stage:
        plan = read_question(question, today)
        stage.count = len(plan.tokens) + len(plan.aliases)
        return plan


def _bases(tools: Retrieving, observe: Observer, scope: Scope) -> list[KnowledgeBase]:
    with observe.stage("scope") as stage, tools.database.read() as tx:
        permitted = knowledge_bases.permitted(tx, scope)
        stage.count = sum(base.state == "active" for base in permitted)
        return permitted


def _recall(
    tools: Retrieving,
    observe: Observer,
    plan: Plan,
    bases: Sequence[KnowledgeBase],
    scope: Scope,
    options: SearchOptions,
) -> list[Recall]:
    recalling = Recalling(tools.database, tools.vectors, tools.embedder_for, tools.threads, tools.embed_seconds)
    active = [base for base in bases if base.state == "active"]
    return recall(recalling, observe, plan, active, scope, options.arms, max(_LEAST_DEPTH, options.top_k))


def _fuse(observe: Observer, found: Sequence[Recall]) -> list[tuple[int, float]]:
    """Fuse the structured and keyword lists into one, then that with the vector lists."""
    with observe.stage("fuse") as stage:
        lexical = reciprocal_rank_fusion(
            (1.0, keys)
            for one in found
            for keys in ([match.chunk_key for match in one.structured], [key for key, _ in one.keyword])
        )
        lists = [[key for key, _ in lexical], *([key for key, _ in one.vector] for one in found)]
        fused = reciprocal_rank_fusion((1.0, keys) for keys in lists if keys)
        stage.count = len(fused)
        return fused


def _exact_first(observe: Observer, fused: Sequence[tuple[int, float]], found: Sequence[Recall]) -> list[Ranked]:
    with observe.stage("exact") as stage:
        strengths = {match.chunk_key: match.strength for one in found for match in one.structured if match.exact}
        ordered = exact_first(fused, strengths)
        stage.count = sum(ranked.tier == 0 for ranked in ordered)
        return ordered


def _passages(
    tools: Retrieving, observe: Observer, found: Sequence[Recall], scope: Scope, ordered: Sequence[Ranked]
) -> dict[int, Passage]:
    """Read the candidates' words in one transaction, which has the last say on what may be shown."""
    with observe.stage("words") as stage:
        keys = [ranked.chunk_key for ranked in ordered]
        passages: dict[int, Passage] = {}
        with tools.database.read() as tx:
            for one in found:
                passages.update(chunks.passages(tx, one.knowledge_base.id, scope, keys))
        stage.count = len(passages)
        return passages


def _select(
    observe: Observer,
    plan: Plan,
    found: Sequence[Recall],
    passages: Mapping[int, Passage],
    ordered: Sequence[Ranked],
    options: SearchOptions,
) -> list[Hit]:
    with observe.stage("select") as stage:
        shown = [ranked for ranked in ordered if ranked.chunk_key in passages]
        excluded = {one.chunk_key for one in shown if _is_excluded(plan, passages[one.chunk_key])}
        kept, dropped = without_duplicates([one for one in shown if one.chunk_key not in excluded], passages)
        stage.count = min(len(kept), options.top_k)
        stage.details["dropped"] = [
            *({"chunk": passages[key].chunk_id, "reason": "holds an excluded word"} for key in sorted(excluded)),
            *(
                {"chunk": passages[key].chunk_id, "reason": f"same text as {passages[other].chunk_id}"}
                for key, other in dropped
            ),
        ]
        ranks = _ranks(found)
        return [_hit(plan, passages[one.chunk_key], one, ranks, found) for one in kept[: options.top_k]]


def _is_excluded(plan: Plan, passage: Passage) -> bool:
    """Whether a passage holds a word the question excludes; the keyword list alone would not have shown it."""
    if not plan.excluded:
        return False
    posting, _ = read_chunk(passage.document_name, passage.chunk)
    tokens = f"{posting.name} {posting.heading} {posting.body} {posting.alias}".split()
    return not set(plan.excluded).isdisjoint(tokens)


def _ranks(found: Sequence[Recall]) -> dict[int, dict[ArmName, int]]:
    ranks: dict[int, dict[ArmName, int]] = {}
    for one in found:
        lists: Mapping[ArmName, list[int]] = {
            "structured": [match.chunk_key for match in one.structured],
            "keyword": [key for key, _ in one.keyword],
            "vector": [key for key, _ in one.vector],
        }
        for arm, keys in lists.items():
            for rank, key in enumerate(keys, start=1):
                ranks.setdefault(key, {})[arm] = rank
    return ranks


def _hit(
    plan: Plan,
    passage: Passage,
    ranked: Ranked,
    ranks: Mapping[int, Mapping[ArmName, int]],
    found: Sequence[Recall],
) -> Hit:
    mine = ranks[passage.chunk_key]
    modes = tuple(mine)
    similarity = next((score for one in found for key, score in one.vector if key == passage.chunk_key), None)
    return Hit(
        passage=passage,
        score=ranked.score,
        score_kind="rrf",
        ranks=mine,
        hit_modes=modes,
        match_type=modes[0] if len(modes) == 1 else "hybrid",
        highlights=highlights(passage.chunk.text, plan),
        neighbours=_neighbours(passage),
        exactness=EXACTNESS[ranked.tier],
        similarity=similarity,
    )


def _neighbours(passage: Passage) -> tuple[int, ...]:
    seq = passage.chunk.seq
    return tuple(near for near in (seq - 1, seq + 1) if 0 <= near < passage.chunk_count)


def _conclude(
    tools: Retrieving,
    observe: Observer,
    plan: Plan,
    bases: Sequence[KnowledgeBase],
    scope: Scope,
    found: Sequence[Recall],
    passages: Mapping[int, Passage],
    hits: Sequence[Hit],
) -> SearchResult:
    """Say what was found, or why nothing was, and keep the trace."""
    reason = None
    if hits:
        explanation = explain_found(len(hits), len({hit.passage.document_id for hit in hits}), plan.language)
    else:
        with tools.database.read() as tx:
            reason = why_empty(tx, plan, bases, scope, found)
        explanation = explain_empty(reason, plan.language)
    result = SearchResult(
        question=plan.question,
        hits=tuple(hits),
        trace_id=tools.new_id("trace"),
        degraded=observe.degraded,
        why_empty=reason.code if reason is not None else None,
        explanation=explanation,
        plan=plan,
    )
    return keep_trace(tools.database, scope, result, trace_body(result, observe, bases, scope, found, passages, reason))
