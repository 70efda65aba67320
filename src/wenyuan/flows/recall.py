"""The three lists that look for candidates side by side: structured, keyword, vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import IndexIncompatible, IndexMissing
from wenyuan.flows.embed import fingerprint
from wenyuan.ports import Embedder
from wenyuan.rules.observer import Observer
from wenyuan.rules.selection import precise_dates
from wenyuan.store import chunks, indexes, vectors
from wenyuan.store.chunks import KeyMatch
from wenyuan.store.database import Database
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import ArmName, KeyKind, KnowledgeBase, Plan, Scope


@dataclass(frozen=True, slots=True)
class Recalling:
    """What recall needs."""

    database: Database
    vectors: VectorCache
    embedder_for: Callable[[str], Embedder]
    threads: Executor
    embed_seconds: float


@dataclass(frozen=True, slots=True)
class Recall:
    """What each list found in one knowledge base, best first.

    `best_similarity` is the best the vector list saw, shown or not.
    """

    knowledge_base: KnowledgeBase
    structured: tuple[KeyMatch, ...] = ()
    keyword: tuple[tuple[int, float], ...] = ()
    vector: tuple[tuple[int, float], ...] = ()
    best_similarity: float | None = None
    similarity_floor: float | None = None


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question embedded by one model."""

    model: str
    fingerprint: str
    vector: NDArray[np.float32]
    similarity_floor: float | None


def recall(
    tools: Recalling,
    observe: Observer,
    plan: Plan,
    bases: Sequence[KnowledgeBase],
    scope: Scope,
    arms: frozenset[ArmName],
    depth: int,
) -> list[Recall]:
    """Ask every list of every knowledge base for its `depth` best live chunks."""
    if scope.documents == ():
        return [Recall(base) for base in bases]
    lexical = [tools.threads.submit(_lexical, tools, observe, plan, base, scope, arms, depth) for base in bases]
    embedded: dict[str, QueryVector | None] = {}
    near: list[list[tuple[int, float]]] = []
    for base in bases:
        near.append([])
        if "vector" in arms and base.embedding_model:
            if base.embedding_model not in embedded:
                embedded[base.embedding_model] = observe.or_keep(
                    None, "embed", _embed, tools, observe, base.embedding_model, plan.asked
                )
            query = embedded[base.embedding_model]
            if query is not None:
                near[-1] = observe.or_keep([], "embed", _vector, tools, observe, base, query, scope, depth)
    return [
        _joined(base, future, found, embedded.get(base.embedding_model))
        for base, future, found in zip(bases, lexical, near, strict=True)
    ]


Lexical = tuple[list[KeyMatch], list[tuple[int, float]]]


def _joined(
    base: KnowledgeBase,
    lexical: Future[Lexical],
    near: list[tuple[int, float]],
    query: QueryVector | None,
) -> Recall:
    structured, keyword = lexical.result()
    floor = query.similarity_floor if query is not None else None
    shown = near if floor is None else [found for found in near if found[1] >= floor]
    best = near[0][1] if near else None
    return Recall(base, tuple(structured), tuple(keyword), tuple(shown), best, floor)


def _lexical(
    tools: Recalling,
    observe: Observer,
    plan: Plan,
    base: KnowledgeBase,
    scope: Scope,
    arms: frozenset[ArmName],
    depth: int,
) -> Lexical:
    structured: list[KeyMatch] = []
    keyword: list[tuple[int, float]] = []
    dates = precise_dates(plan)
    if "structured" in arms and (dates or _values(plan)):
        with observe.stage("structured") as stage, tools.database.read() as tx:
            structured = chunks.structured(tx, base.id, scope, dates, _values(plan), depth)
            stage.count = len(structured)
    if "keyword" in arms:
        with observe.stage("keyword") as stage, tools.database.read() as tx:
            generation = indexes.active(tx, base.id, "lexical")
            if generation is not None:
                tokens = (*plan.tokens, *plan.aliases)
                keyword = chunks.keyword(tx, base.id, generation.number, scope, tokens, plan.excluded, depth)
            stage.count = len(keyword)
    return structured, keyword


def _values(plan: Plan) -> list[tuple[KeyKind, str]]:
    kinds: tuple[tuple[KeyKind, tuple[str, ...]], ...] = (
        ("version", plan.versions),
        ("code", plan.codes),
        ("name", plan.names),
    )
    return [(kind, value) for kind, values in kinds for value in values]


def _embed(tools: Recalling, observe: Observer, model: str, question: str) -> QueryVector:
    with observe.stage("embed") as stage:
        embedder = tools.embedder_for(model)
        identity = embedder.identity
        stage.details.update(provider=identity.provider, model=identity.model, dimensions=identity.dimensions)
        vector = embedder.embed([question], "query", tools.embed_seconds)[0]
        return QueryVector(model, fingerprint(identity), vector, embedder.similarity_floor)


def _vector(
    tools: Recalling, observe: Observer, base: KnowledgeBase, query: QueryVector, scope: Scope, depth: int
) -> list[tuple[int, float]]:
    with observe.stage("vector") as stage, tools.database.read() as tx:
        generation = indexes.active(tx, base.id, "vector")
        if generation is None:
            if indexes.has_live_documents(tx, base.id):
                raise IndexMissing(name=base.name)
            return []
        if generation.fingerprint != query.fingerprint:
            raise IndexIncompatible(indexed=generation.recipe.get("model"), configured=query.model)
        model = vectors.known_model_key(tx, query.fingerprint)
        found: list[tuple[int, float]] = []
        if model is not None:
            found = tools.vectors.search(tx, generation, model, query.vector, scope.documents, depth)
        seen, all_live = tools.vectors.coverage(tx, generation)
        if seen < all_live:
            observe.degrade(f"vector-partial: {seen} of {all_live} documents")
        stage.count = len(found)
        return found
