"""The lists that look for candidates side by side: structured, keyword, vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import IndexIncompatible, IndexMissing
from wenyuan.flows.embed import fingerprint
from wenyuan.language.words import lonely_characters
from wenyuan.ports import Embedder
from wenyuan.rules.observer import Observer
from wenyuan.rules.ranking.selection import precise_dates
from wenyuan.store import chunks, indexes, vectors
from wenyuan.store.chunks import KeyMatch
from wenyuan.store.database import Database, Reading
from wenyuan.store.scopes import ScopeCache
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import ArmName, IndexGeneration, KeyKind, KnowledgeBase, Nearness, Plan, Scope

_LEAST_DEPTH = 30
_SPARE_DEPTH = 10
# So many more are looked at by their sentences, which may be nearer than the whole.
_DEEPER = 20
_SENTENCE_SHARE = 0.5
# Indexes are switched by a person, now and then.
_MOST_SWITCHES = 3
# Any candidate of the other lists may hold a key that was asked for.
_STRUCTURED_DEPTH = 1000


@dataclass(frozen=True, slots=True)
class Recalling:
    """What recall needs."""

    database: Database
    vectors: VectorCache
    scopes: ScopeCache
    embedder_for: Callable[[str], Embedder]
    model_of: Callable[[IndexGeneration], str]
    threads: Executor
    embed_seconds: float


@dataclass(frozen=True, slots=True)
class Asked:
    """The question as it was put and, where history made a better one of it, as it was rewritten."""

    raw: Plan
    rewritten: Plan | None
    whole: Plan
    """What both say together, in the words of every knowledge base."""
    own: Mapping[str, Asked] = field(default_factory=dict)
    """The question as it is read by those knowledge bases that have a vocabulary of their own."""

    def within(self, knowledge_base_id: str) -> Asked:
        return self.own.get(knowledge_base_id, self)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question embedded by one model."""

    model: str
    fingerprint: str
    vector: NDArray[np.float32]
    similarity_floor: float | None


@dataclass(frozen=True, slots=True)
class Recall:
    """What each list found in one knowledge base, best first.

    `frequency` is in how many of its `size` chunks each token stands; `lonely` are characters that were
    searched for alone since no pair holds them that stands anywhere; `best_similarity` is the best the
    vector list saw, shown or not. `query` and `model_key` are set where its vectors can be used.
    """

    knowledge_base: KnowledgeBase
    structured: tuple[KeyMatch, ...] = ()
    keyword: tuple[tuple[int, float], ...] = ()
    keyword_rewrite: tuple[tuple[int, float], ...] = ()
    vector: tuple[tuple[int, Nearness], ...] = ()
    frequency: Counter[str] = field(default_factory=Counter)
    size: int = 0
    lonely: tuple[str, ...] = ()
    best_similarity: float | None = None
    query: QueryVector | None = None
    model_key: int | None = None

    @property
    def similarity_floor(self) -> float | None:
        return self.query.similarity_floor if self.query is not None else None

    def lists(self) -> dict[ArmName, list[int]]:
        """The chunk keys of each list, best first; a chunk that holds two kinds of keys counts once."""
        return {
            "structured": list(dict.fromkeys(match.chunk_key for match in self.structured)),
            "keyword": [key for key, _ in self.keyword],
            "keyword_rewrite": [key for key, _ in self.keyword_rewrite],
            "vector": [key for key, _ in self.vector],
        }


def recall(
    tools: Recalling,
    observe: Observer,
    asked: Asked,
    bases: Sequence[KnowledgeBase],
    scope: Scope,
    arms: frozenset[ArmName],
    wanted: int,
) -> list[Recall]:
    """Ask every list of every knowledge base for its best live chunks, of which `wanted` shall remain."""
    depth = max(_LEAST_DEPTH, wanted + _SPARE_DEPTH)
    if scope.documents == () and not scope.attachments:
        return [Recall(base) for base in bases]
    scopes = _narrowed(tools, observe, bases, scope)
    lexical = [
        tools.threads.submit(_lexical, tools, observe, asked.within(base.id), base, within, arms, depth)
        for base, within in zip(bases, scopes, strict=True)
    ]
    embedded: dict[str, QueryVector | None] = {}
    near: list[_Near] = []
    for base, within in zip(bases, scopes, strict=True):
        near.append(_Near())
        if "vector" in arms and base.embedding_model and within.documents != ():
            near[-1] = observe.or_keep(
                near[-1], "embed", _nearest, tools, observe, asked, base, embedded, within, depth
            )
    return [_joined(base, future, found) for base, future, found in zip(bases, lexical, near, strict=True)]


def _narrowed(tools: Recalling, observe: Observer, bases: Sequence[KnowledgeBase], scope: Scope) -> list[Scope]:
    """The scope within each knowledge base, its conditions resolved to the documents that meet them."""
    own = [replace(scope, documents=scope.attachments) if base.session_id else scope for base in bases]
    if not scope.conditions:
        return own
    with observe.stage("filter") as stage, tools.database.read() as tx:
        scopes = [tools.scopes.narrowed(tx, base.id, within) for base, within in zip(bases, own, strict=True)]
        for base, within in zip(bases, scopes, strict=True):
            # So that not every list has to ask for them at once.
            tools.scopes.served_chunks(tx, base.id, within.documents or (), however_many=False)
        stage.count = sum(len(within.documents or ()) for within in scopes)
        return scopes


@dataclass(slots=True)
class _Lexical:
    structured: list[KeyMatch] = field(default_factory=list)
    keyword: list[tuple[int, float]] = field(default_factory=list)
    keyword_rewrite: list[tuple[int, float]] = field(default_factory=list)
    frequency: Counter[str] = field(default_factory=Counter)
    size: int = 0
    lonely: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Near:
    found: Sequence[tuple[int, Nearness]] = ()
    query: QueryVector | None = None
    model_key: int | None = None


def _joined(base: KnowledgeBase, future: Future[_Lexical], near: _Near) -> Recall:
    lexical = future.result()
    floor = near.query.similarity_floor if near.query is not None else None
    return Recall(
        knowledge_base=base,
        structured=tuple(lexical.structured),
        keyword=tuple(lexical.keyword),
        keyword_rewrite=tuple(lexical.keyword_rewrite),
        vector=tuple(one for one in near.found if floor is None or one[1].nearest >= floor),
        frequency=lexical.frequency,
        size=lexical.size,
        lonely=tuple(lexical.lonely),
        best_similarity=max((one.nearest for _, one in near.found), default=None),
        query=near.query,
        model_key=near.model_key,
    )


def _lexical(
    tools: Recalling,
    observe: Observer,
    asked: Asked,
    base: KnowledgeBase,
    scope: Scope,
    arms: frozenset[ArmName],
    depth: int,
) -> _Lexical:
    found = _Lexical()
    if scope.documents == ():
        return found
    dates, values = precise_dates(asked.whole), _values(asked.whole)
    if "structured" in arms and (dates or values):
        with observe.stage("structured") as stage, tools.database.read() as tx:
            found.structured = chunks.structured(tx, base.id, scope, dates, values, _STRUCTURED_DEPTH)
            stage.count = len(found.structured)
    with observe.stage("keyword") as stage, tools.database.read() as tx:
        generation = indexes.active(tx, base.id, "lexical")
        if generation is not None:
            _keyword(tools, tx, found, generation, asked, base, scope, arms, depth)
        stage.count = len(found.keyword)
    return found


def _keyword(
    tools: Recalling,
    tx: Reading,
    found: _Lexical,
    generation: IndexGeneration,
    asked: Asked,
    base: KnowledgeBase,
    scope: Scope,
    arms: frozenset[ArmName],
    depth: int,
) -> None:
    found.size = tx.lexical.size(tx, generation.number)
    found.frequency.update(tx.lexical.document_frequency(tx, generation.number, _tokens(asked.whole)))
    found.lonely = lonely_characters(asked.whole.tokens, found.frequency)
    found.frequency.update(tx.lexical.document_frequency(tx, generation.number, found.lonely))
    if "keyword" not in arms:
        return

    def listed(plan: Plan) -> list[tuple[int, float]]:
        tokens = (*_tokens(plan), *found.lonely)
        excluded = asked.whole.excluded
        served = tools.scopes.served_chunks
        return chunks.keyword(tx, base.id, generation.number, scope, tokens, excluded, depth, found.frequency, served)

    found.keyword = listed(asked.raw)
    if asked.rewritten is not None:
        found.keyword_rewrite = listed(asked.rewritten)


def _tokens(plan: Plan) -> tuple[str, ...]:
    return (*plan.tokens, *plan.aliases)


def _values(plan: Plan) -> list[tuple[KeyKind, str]]:
    kinds: tuple[tuple[KeyKind, tuple[str, ...]], ...] = (
        ("version", plan.versions),
        ("code", plan.codes),
        ("name", plan.names),
    )
    return [(kind, value) for kind, values in kinds for value in values]


def _embed(tools: Recalling, observe: Observer, model: str, asked: Asked) -> QueryVector:
    with observe.stage("embed") as stage:
        embedder = tools.embedder_for(model)
        identity = embedder.identity
        stage.details.update(provider=identity.provider, model=identity.model, dimensions=identity.dimensions)
        question = (asked.rewritten or asked.raw).asked
        vector = embedder.embed([question], "query", tools.embed_seconds)[0]
        return QueryVector(model, fingerprint(identity), vector, embedder.similarity_floor)


def _nearest(
    tools: Recalling,
    observe: Observer,
    asked: Asked,
    base: KnowledgeBase,
    embedded: dict[str, QueryVector | None],
    scope: Scope,
    depth: int,
) -> _Near:
    """What the index that answers now finds, with the question embedded by the model that made it."""
    for _ in range(_MOST_SWITCHES):
        with tools.database.read() as tx:
            generation = indexes.active(tx, base.id, "vector")
            if generation is None:
                if indexes.has_live_documents(tx, base.id):
                    raise IndexMissing(name=base.name)
                return _Near()
        model = tools.model_of(generation)
        if model not in embedded:
            embedded[model] = observe.or_keep(None, "embed", _embed, tools, observe, model, asked)
        query = embedded[model]
        near = _vector(tools, observe, generation, query, scope, depth) if query is not None else _Near()
        if near is not None:
            return near
    raise IndexIncompatible(indexed=base.embedding_model, configured=base.embedding_model)


def _vector(
    tools: Recalling, observe: Observer, expected: IndexGeneration, query: QueryVector, scope: Scope, depth: int
) -> _Near | None:
    """None where another index has taken the place of the expected one while the question was embedded."""
    with observe.stage("vector") as stage, tools.database.read() as tx:
        generation = indexes.active(tx, expected.knowledge_base_id, "vector")
        if generation is None or generation.id != expected.id:
            return None
        model = vectors.known_model_key(tx, generation.fingerprint)
        found: list[tuple[int, Nearness]] = []
        if model is not None:
            served = tools.scopes.served_chunks
            nearest = tools.vectors.search(
                tx, generation, model, query.vector, scope.documents, depth + _DEEPER, served
            )
            found = sorted(nearest, key=lambda one: (-one[1].together(_SENTENCE_SHARE), one[0]))[:depth]
        seen, all_live = tools.vectors.coverage(tx, generation)
        if seen < all_live:
            observe.degrade(f"vector-partial: {seen} of {all_live} documents")
            if early := indexes.count_without_vectors(tx, generation.knowledge_base_id):
                observe.degrade(f"published-without-vectors: {early} documents")
        stage.count = len(found)
        return _Near(found, query, model)
