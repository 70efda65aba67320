"""One question's way to evidence: one stage, one line."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from wenyuan.errors import EmptyQuestion, InvalidValue, StorageError
from wenyuan.flows.absence import absent_names, holds_names
from wenyuan.flows.empty import why_empty
from wenyuan.flows.journey import Journey
from wenyuan.flows.recall import Asked, Recall, Recalling, recall
from wenyuan.flows.rerank import Reranked, Reranking, rerank
from wenyuan.flows.reread import question_vocabulary
from wenyuan.flows.rewriting import Rewriter, read_asked
from wenyuan.flows.select import Selecting, selected
from wenyuan.flows.tracing import keep_trace, trace_body
from wenyuan.flows.weigh import Weighed, weighed
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.ports import Embedder
from wenyuan.rules.explanations import explain_empty, explain_found
from wenyuan.rules.observer import Observer
from wenyuan.rules.ranking.grounding import estimate
from wenyuan.rules.ranking.selection import EXACTNESS, Ranked, asks_exactly, exact_first, missing, newest_first
from wenyuan.store import document_dates, indexes, knowledge_bases
from wenyuan.store.database import Database
from wenyuan.store.replica import ReplicaFirst
from wenyuan.store.scopes import ScopeCache
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import ArmName, Grounding, Hit, IndexGeneration, JsonObject, KnowledgeBase, Scope, SearchResult

_LONGEST_QUESTION = 4000
_BEST = 3
_MOST_HITS = 200
_MOST_NEIGHBOURS = 10


@dataclass(frozen=True, slots=True)
class Retrieving:
    """What retrieval needs; `threads` runs the recall lists side by side."""

    database: Database
    vectors: VectorCache
    embedder_for: Callable[[str], Embedder]
    model_of: Callable[[IndexGeneration], str]
    threads: Executor
    today: Callable[[], datetime.date]
    clock: Callable[[], float]
    new_id: Callable[[str], str]
    embed_seconds: float
    rewriter: Rewriter | None = None
    reranking: Callable[[], Reranking] = Reranking
    scopes: ScopeCache = field(default_factory=ScopeCache)
    reading: ReplicaFirst | None = None
    """A copy of the database, which is read instead as long as it answers."""
    told: Callable[[JsonObject], None] = lambda _: None
    """Is told the trace of each search."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How many hits are wanted, and which lists may look for them.

    Hits that score below `least_score` (0 to 1) are left out; `neighbours` is how many chunks are
    read before and after each hit; `history` the messages before the question, oldest first. A model that
    reranks does so only if it is to `rerank`.
    """

    top_k: int = 8
    arms: frozenset[ArmName] = field(default_factory=lambda: frozenset(("structured", "keyword", "vector")))
    least_score: float = 0.0
    neighbours: int = 0
    history: tuple[str, ...] = ()
    rerank: bool = True


def retrieve(tools: Retrieving, question: str, scope: Scope, options: SearchOptions) -> SearchResult:
    """Find the passages that answer a question, and keep a trace of how.

    What can be lived without may fail and is then named in `degraded`. Raises `EmptyQuestion`,
    `InvalidValue` or `KnowledgeBaseNotFound`.
    """
    question = _checked(question, options)
    if scope.documents is not None:
        scope = replace(scope, documents=scope.documents + scope.attachments)
    # What was just attached to a conversation must be found.
    if tools.reading is None or scope.attachments:
        return _retrieved(tools, question, scope, options, None)
    missed: list[StorageError] = []

    def ask(database: Database) -> SearchResult:
        return _retrieved(replace(tools, database=database), question, scope, options, next(iter(missed), None))

    return tools.reading.ask(ask, missed.append)


def _retrieved(
    tools: Retrieving, question: str, scope: Scope, options: SearchOptions, missed: StorageError | None
) -> SearchResult:
    """The same, from one database; `missed` is why it is not the copy."""
    observe = Observer(tools.clock)
    if missed is not None:
        observe.degrade(f"replica: {missed.code}", missed.message)
    bases, vocabularies = _bases(tools, observe, scope)
    asked = read_asked(observe, question, options.history, tools.rewriter, tools.today(), vocabularies)
    found, evidence = _evidence(tools, observe, asked, bases, scope, options)
    ordered = _order(tools, observe, asked, evidence)
    grounding = _ground(observe, asked, found, evidence, ordered)
    best = _rerank(tools, observe, asked, evidence, ordered, options)
    hits = _select(tools, observe, asked, found, evidence, best, options)
    journey = Journey(asked, scope, bases, found, evidence, options.least_score, options.arms, best.record)
    return _conclude(tools, observe, journey, grounding, hits)


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
    if not 0 <= options.neighbours <= _MOST_NEIGHBOURS:
        reason = f"it must be 0 to {_MOST_NEIGHBOURS}"
        raise InvalidValue(what="The number of neighbours", value=options.neighbours, reason=reason)
    if not 0.0 <= options.least_score <= 1.0:
        raise InvalidValue(what="The least score", value=options.least_score, reason="it must be 0 to 1")
    return question


def _bases(tools: Retrieving, observe: Observer, scope: Scope) -> tuple[list[KnowledgeBase], dict[str, Vocabulary]]:
    """The knowledge bases that may be asked, and the vocabularies of those that have one."""
    with observe.stage("scope") as stage, tools.database.read() as tx:
        permitted = knowledge_bases.permitted(tx, scope)
        stage.count = sum(base.state == "active" for base in permitted)
        read = {base.id: question_vocabulary(tx, base.id) for base in permitted}
        return permitted, {base: vocabulary for base, vocabulary in read.items() if vocabulary}


def _evidence(
    tools: Retrieving,
    observe: Observer,
    asked: Asked,
    bases: Sequence[KnowledgeBase],
    scope: Scope,
    options: SearchOptions,
) -> tuple[list[Recall], Weighed]:
    """What the lists find and what that is worth; anew where indexes were switched meanwhile."""
    answering = _answering(tools, bases)
    while True:
        found = _recall(tools, observe, asked, bases, scope, options)
        evidence = _weigh(tools, observe, asked, scope, found, options)
        before, answering = answering, _answering(tools, bases)
        if answering == before:
            return found, evidence


def _answering(tools: Retrieving, bases: Sequence[KnowledgeBase]) -> list[str]:
    """The ids of the lexical indexes that answer now; passages that are cut anew have another."""
    with tools.database.read() as tx:
        answering = [indexes.active(tx, base.id, "lexical") for base in bases]
    return [generation.id if generation is not None else "" for generation in answering]


def _recall(
    tools: Retrieving,
    observe: Observer,
    asked: Asked,
    bases: Sequence[KnowledgeBase],
    scope: Scope,
    options: SearchOptions,
) -> list[Recall]:
    recalling = Recalling(
        tools.database,
        tools.vectors,
        tools.scopes,
        tools.embedder_for,
        tools.model_of,
        tools.threads,
        tools.embed_seconds,
    )
    active = [base for base in bases if base.state == "active"]
    return recall(recalling, observe, asked, active, scope, options.arms, tools.reranking().wanted(options.top_k))


def _weigh(
    tools: Retrieving,
    observe: Observer,
    asked: Asked,
    scope: Scope,
    found: Sequence[Recall],
    options: SearchOptions,
) -> Weighed:
    with observe.stage("weigh") as stage, tools.database.read() as tx:
        evidence = weighed(tx, asked, scope, found, tools.reranking().wanted(options.top_k))
        stage.count = len(evidence.passages)
        return evidence


def _order(tools: Retrieving, observe: Observer, asked: Asked, evidence: Weighed) -> list[Ranked]:
    """What holds exactly what was asked for comes first; of what was valid on a day, the newest."""
    with observe.stage("exact") as stage:
        ordered = exact_first(evidence.scores, evidence.tiers)
        stage.count = sum(ranked.tier == 0 for ranked in ordered)
    if asked.whole.as_of is None:
        return ordered
    with observe.stage("as-of") as stage, tools.database.read() as tx:
        revisions = {key: passage.revision_id for key, passage in evidence.passages.items()}
        days = document_dates.newest_until(tx, set(revisions.values()), asked.whole.as_of)
        newest = {key: days[revision].newest for key, revision in revisions.items() if revision in days}
        later = frozenset(key for key, rev in revisions.items() if rev in days and days[rev].newest is None)
        stage.count = len(newest)
        return newest_first(ordered, newest, later)


def _ground(
    observe: Observer, asked: Asked, found: Sequence[Recall], evidence: Weighed, ordered: Sequence[Ranked]
) -> Grounding:
    with observe.stage("ground") as stage:
        plan = asked.whole
        held = any(one.tier < 2 for one in ordered)
        best = (evidence.passages[one.chunk_key] for one in ordered[:_BEST])
        exactness = EXACTNESS[min((one.tier for one in ordered), default=2)] if asks_exactly(plan) else "none"
        if exactness == "none" and holds_names(asked, best):
            exactness = "mentions"
        grounding = estimate(
            [evidence.evidence[one.chunk_key] for one in ordered],
            missing(plan, held) or (() if held else absent_names(asked, found, evidence)),
            exactness,
        )
        stage.details.update(value=grounding.value, verdict=grounding.verdict, missing=list(grounding.missing))
        return grounding


def _rerank(
    tools: Retrieving,
    observe: Observer,
    asked: Asked,
    evidence: Weighed,
    ordered: Sequence[Ranked],
    options: SearchOptions,
) -> Reranked:
    """By a model's scores, where there is one; what was valid on a day is in the order of days already."""
    not_wanted = "not-asked-for" if not options.rerank else "as-of" if asked.whole.as_of is not None else ""
    question = (asked.rewritten or asked.raw).asked
    return rerank(tools.reranking(), observe, question, evidence.passages, ordered, not_wanted)


def _select(
    tools: Retrieving,
    observe: Observer,
    asked: Asked,
    found: Sequence[Recall],
    evidence: Weighed,
    best: Reranked,
    options: SearchOptions,
) -> list[Hit]:
    most = options.top_k if best.most is None else min(best.most, options.top_k)
    wanted = Selecting(most, options.least_score, options.neighbours)
    with observe.stage("select") as stage, tools.database.read() as tx:
        return selected(tx, stage, asked.whole, found, evidence, best.ordered, wanted)


def _conclude(
    tools: Retrieving, observe: Observer, journey: Journey, grounding: Grounding, hits: Sequence[Hit]
) -> SearchResult:
    """Say what was found, or why nothing was, and keep the trace."""
    plan, reason = journey.asked.whole, None
    if hits:
        explanation = explain_found(len(hits), len({hit.passage.document_id for hit in hits}), plan.language)
    else:
        with tools.database.read() as tx:
            reason = why_empty(tx, journey)
        explanation = explain_empty(reason, plan.language)
    result = SearchResult(
        question=plan.question,
        hits=tuple(hits),
        trace_id=tools.new_id("trace"),
        degraded=observe.degraded,
        why_empty=reason.code if reason is not None else None,
        explanation=explanation,
        plan=plan,
        grounding=grounding,
        rerank=journey.rerank,
    )
    body = trace_body(result, observe, journey, reason)
    tools.told(body)
    return keep_trace(tools.database, journey.scope, result, body)
