"""Random histories are told to SQLite and to PostgreSQL, and each answer of the one is that of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.postgres_server import library_database
from tests.store.library_builder import EVERYTHING, Added, Draft, LibraryBuilder, build_library, unit_rows
from tests.store.test_portable_sql import timeless
from wenyuan.rules.filters import read_filters
from wenyuan.store import (
    chunks,
    disabled_passages,
    documents,
    fields,
    indexes,
    job_changes,
    knowledge_bases,
    purging,
    queue,
    vectors,
)
from wenyuan.store.checking import check_library
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import LOCAL_PRINCIPAL, DateSpan, JobKind, Key, KnowledgeBase, Lease

_WORDS = ("heron", "苍鹭", "wren", "量产", "d:2026-04", "a'b", 'q"', "\\", "\ufffd", "😀")
_TEXT = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5).map(" ".join)
_DRAFT = st.builds(
    Draft,
    _TEXT,
    st.lists(st.sampled_from(_WORDS[:4]), max_size=2).map(tuple),
    st.just(""),
    st.lists(
        st.builds(lambda day: Key("date", str(day), "body", None, day, day + day % 3), st.integers(100, 110)),
        max_size=2,
    ).map(tuple),
)
_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "author": st.lists(st.sampled_from(["Li", "王伟", "li "]), max_size=2),
        "year": st.sampled_from([2025, 2026, 2.5, "2026"]),
        "note": st.sampled_from(["", "a\x00b", "\\u0000", "50%"]),
    },
)
_KINDS: tuple[JobKind, ...] = ("ingest", "embed", "purge")


class Told:
    """One of the two, and what it was told so far."""

    def __init__(self, library: LibraryBuilder) -> None:
        self.library = library
        self.base: KnowledgeBase = library.knowledge_base(library.new_id("name"), embedding_model="m")
        self.added: list[Added] = []
        self.leases: list[Lease] = []
        self.cache = VectorCache()

    def _one(self, which: int) -> Added | None:
        return self.added[which % len(self.added)] if self.added else None

    # --- What happens ----------------------------------------------------------------------------

    def add(self, drafts: list[Draft], metadata: dict[str, Any], publish: bool, embed: bool, seed: int) -> Any:
        one = self.library.stage(self.library.add(self.base, self.library.new_id("/source")), *drafts)
        return self._bring(one, metadata, publish, embed, seed)

    def revise(self, which: int, drafts: list[Draft], publish: bool, embed: bool, seed: int) -> Any:
        old = self._one(which)
        with self.library.database.read() as tx:
            if old is None or not documents.by_ids(tx, [old.document.id]):
                return None
        one = self.library.stage(self.library.revise(old.document, self.library.new_id("x").encode()), *drafts)
        return self._bring(one, {}, publish, embed, seed)

    def _bring(self, one: Added, metadata: dict[str, Any], publish: bool, embed: bool, seed: int) -> Any:
        self.added.append(one)
        if embed:
            self.library.embed(one, unit_rows(np.random.default_rng(seed), len(one.chunk_keys)))
        return sorted(self.library.publish(one, metadata)) if publish else one

    def switch(self, which: int, enabled: bool) -> None:
        one = self._one(which)
        if one is not None:
            with self.library.database.write() as tx:
                documents.switch(tx, one.document, enabled=enabled)

    def hide(self, which: int) -> Any:
        one = self._one(which)
        if one is None:
            return None
        with self.library.database.write() as tx:
            return sorted(documents.hide(tx, one.document.id, self.base.id))

    def purge(self, which: int) -> Any:
        one = self._one(which)
        if one is None:
            return None
        with self.library.database.write() as tx:
            if not purging.is_to_go(tx, one.revision_id, 0):
                return "stays"
            seen = [purging.unindex_batch(tx, one.revision_id, -1)]
            purging.forget_index_rows(tx, one.revision_id)
            seen.append(purging.delete_text_batch(tx, one.revision_id))
            deleted = purging.delete_revision(tx, one.revision_id)
            purging.delete_document(tx, one.document.id)
            return [seen, deleted]

    def enqueue(self, kind: JobKind, which: int, priority: int) -> None:
        self.library.enqueue(kind, f"subject {which}", self.base.id, priority)

    def claim(self, most: int) -> Any:
        found = queue.claim(self.library.database, "one", 60_000, _KINDS, most)
        self.leases += found
        return found

    def end(self, which: int, how: str) -> Any:
        if not self.leases:
            return None
        lease = self.leases.pop(which % len(self.leases))
        with self.library.database.write() as tx:
            queue.hold(tx, lease, 60_000)
            queue.progress(tx, lease, "reading", which, 9)
            {"finish": queue.finish, "release": queue.release, "cancelled": queue.cancelled}[how](tx, lease)
        return how

    # --- What is asked ---------------------------------------------------------------------------

    def answers(self, tokens: list[str], excluded: list[str], day: int, seed: int) -> Iterator[Any]:
        base, library = self.base.id, self.library
        number, generation, model = library.lexical(base).number, library.vector(base), library.model_key()
        everything = [key for one in self.added for key in one.chunk_keys]
        with library.database.read() as tx:
            yield _rounded(tx.lexical.search(tx, number, tokens, excluded, 1000))
            yield _rounded(chunks.keyword(tx, base, number, EVERYTHING, tokens, excluded, 4))
            yield tx.lexical.document_frequency(tx, number, tokens), tx.lexical.size(tx, number)
            yield chunks.structured(tx, base, EVERYTHING, [DateSpan(day, day + 2, "", 0, 0, "iso")], [], 50)
            nearest = self.cache.search(tx, generation, model, unit_rows(np.random.default_rng(seed), 1)[0], None, 5)
            yield _rounded([(key, near.passage) for key, near in nearest])
            yield chunks.passages(tx, base, EVERYTHING, everything)
            yield documents.listed(tx, base)
            yield knowledge_bases.document_counts(tx, base), indexes.coverage(tx, generation)
            for asked in ({"author": ["li"]}, {"year": {"from": 2, "to": 2025}}, {"note": {"prefix": "a"}}):
                conditions = read_filters(asked)
                narrowed = fields.narrowed(tx, base, replace(EVERYTHING, conditions=conditions))
                yield sorted(narrowed.documents or ())
            yield [vectors.count_missing(tx, model, one.revision_id) for one in self.added]
            yield queue.listed(tx, LOCAL_PRINCIPAL, only_live=True, limit=99), queue.counts(tx)
            yield job_changes.last_change(tx)
            yield [disabled_passages.listed(tx, one.revision_id, 0, 9) for one in self.added[:2]]


def _rounded(found: list[tuple[int, float]]) -> list[tuple[float, int]]:
    # The two add the same numbers in another order.
    return sorted((-round(score, 5), key) for key, score in found)


_INDEX = st.integers(0, 9)
_SEED = st.integers(0, 5)
_HAPPENING: st.SearchStrategy[Callable[[Told], Any]] = st.one_of(
    st.builds(
        partial,
        st.just(Told.add),
        drafts=st.lists(_DRAFT, min_size=1, max_size=3),
        metadata=_METADATA,
        publish=st.booleans(),
        embed=st.booleans(),
        seed=_SEED,
    ),
    st.builds(
        partial,
        st.just(Told.revise),
        which=_INDEX,
        drafts=st.lists(_DRAFT, min_size=1, max_size=3),
        publish=st.booleans(),
        embed=st.booleans(),
        seed=_SEED,
    ),
    st.builds(partial, st.just(Told.switch), which=_INDEX, enabled=st.booleans()),
    st.builds(partial, st.just(Told.hide), which=_INDEX),
    st.builds(partial, st.just(Told.purge), which=_INDEX),
    st.builds(
        partial, st.just(Told.enqueue), kind=st.sampled_from(_KINDS), which=_INDEX, priority=st.sampled_from([0, 10])
    ),
    st.builds(partial, st.just(Told.claim), most=st.integers(1, 3)),
    st.builds(partial, st.just(Told.end), which=_INDEX, how=st.sampled_from(["finish", "release", "cancelled"])),
)
_HISTORY = st.lists(_HAPPENING, min_size=3, max_size=14)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[LibraryBuilder]]:
    with library_database() as address:
        made = [build_library(tmp_path_factory.mktemp(kind), url=url) for kind, url in (("a", ""), ("b", address))]
        yield made
        for one in made:
            one.database.close()


def _compare(both: list[LibraryBuilder], history: list[Any], tokens: list[str], excluded: list[str], seed: int) -> None:
    _begin_alike(both)
    ours, theirs = (Told(library) for library in both)
    for happening in history:
        assert timeless(happening(ours)) == timeless(happening(theirs)), happening
    for one, other in zip(
        ours.answers(tokens, excluded, 104, seed), theirs.answers(tokens, excluded, 104, seed), strict=True
    ):
        assert timeless(one) == timeless(other)


def _begin_alike(both: list[LibraryBuilder]) -> None:
    """Ids and numbers go on from the same ones, also where a history before this one ended in a difference."""
    first = max(next(library._serial) for library in both)
    numbers = {"chunk": 1000 * first, "generation": 10 * first, "job": 1000 * first}
    for library in both:
        library._serial = count(first)
        with library.database.write() as tx:
            tx.run("DELETE FROM jobs")
            tx.run("DELETE FROM queue_turns")
            for name, value in numbers.items():
                tx.run("UPDATE counters SET value = :value WHERE name = :name", {"name": name, "value": value})


_TOKENS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4, unique=True)


# Shrinking takes minutes, and histories are short as they are.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)


@settings(max_examples=15, phases=_PHASES)
@given(history=_HISTORY, tokens=_TOKENS, excluded=_TOKENS | st.just([]), seed=_SEED)
def test_both_answer_alike(
    both: list[LibraryBuilder], history: list[Any], tokens: list[str], excluded: list[str], seed: int
) -> None:
    _compare(both, history, tokens, excluded, seed)


@pytest.mark.soak
@settings(max_examples=1500, phases=_PHASES)
@given(history=_HISTORY, tokens=_TOKENS, excluded=_TOKENS | st.just([]), seed=_SEED)
def test_both_answer_alike_for_long(
    both: list[LibraryBuilder], history: list[Any], tokens: list[str], excluded: list[str], seed: int
) -> None:
    _compare(both, history, tokens, excluded, seed)


def test_in_the_end_everything_holds_in_both(both: list[LibraryBuilder]) -> None:
    found = [sorted({one.code for one in check_library(library.database, None)}) for library in both]
    assert found[0] == found[1]
