"""Nothing that is not live surfaces in any list, whatever happened before in whatever order.

Random histories are told to the store and to a model in plain Python, and both must give the same.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule
from numpy.typing import NDArray

from tests.store.library_builder import DIMENSIONS, Added, Draft, LibraryBuilder, build_library, unit_rows
from wenyuan.store import chunks, documents, indexes, purging
from wenyuan.store.checking import check_library
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import LOCAL_PRINCIPAL, DateSpan, Key, KnowledgeBase, Scope

_WORDS = ("heron", "苍鹭", "wren")
_DAYS = (100, 105, 110)
_TEXTS = st.lists(st.sampled_from([*_WORDS, "heron wren", "苍鹭 heron", "filler"]), min_size=1, max_size=3)
_MOSTLY = st.sampled_from([True, True, False])
_EVERY = 10_000


@dataclass
class _Chunk:
    key: int
    words: frozenset[str]
    day: int
    vector: NDArray[np.float32]
    enabled: bool = True


@dataclass
class _Revision:
    added: Added
    number: int
    chunks: list[_Chunk]
    superseded: bool = False
    embedded: bool = False


@dataclass
class _Document:
    knowledge_base: KnowledgeBase
    enabled: bool = True
    deleted: bool = False
    serving: _Revision | None = None
    revisions: list[_Revision] = field(default_factory=list)


class Histories(RuleBasedStateMachine):
    revisions = Bundle("revisions")

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp())
        self._library: LibraryBuilder = build_library(self._folder)
        self._bases: list[KnowledgeBase] = []
        self._documents: dict[str, _Document] = {}
        self._cache = VectorCache()
        self._step = 0

    def teardown(self) -> None:
        found = {one.code for one in check_library(self._library.database, self._library.blobs)}
        self._library.database.close()
        shutil.rmtree(self._folder)
        # No jobs are made here, so that nobody is going to finish or to purge anything.
        assert found <= {"work-lost", "purge-lost", "embedding-lost"}

    @initialize()
    def make_knowledge_bases(self) -> None:
        self._bases = [self._library.knowledge_base(name, embedding_model="m") for name in ("one", "two")]
        self._lexical = {base.id: self._library.lexical(base.id) for base in self._bases}
        self._vector = {base.id: self._library.vector(base.id) for base in self._bases}
        self._model = self._library.model_key()

    # --- What happens ----------------------------------------------------------------------------

    @rule(target=revisions, base=st.integers(0, 1), texts=_TEXTS, ready=_MOSTLY)
    def add(self, base: int, texts: list[str], ready: bool) -> _Revision:
        added = self._library.add(self._bases[base], f"/{self._library.new_id('file')}.md")
        self._documents[added.document.id] = _Document(self._bases[base])
        return self._stage(added, texts, ready=ready)

    @rule(target=revisions, revision=revisions, texts=_TEXTS, ready=_MOSTLY)
    def revise(self, revision: _Revision, texts: list[str], ready: bool) -> object:
        if self._of(revision).deleted:
            return multiple()
        return self._stage(self._library.revise(revision.added.document, b"new"), texts, ready=ready)

    @rule(revision=revisions)
    def publish(self, revision: _Revision) -> None:
        document = self._of(revision)
        self._library.publish(revision.added)
        if document.deleted or (document.serving is not None and document.serving.number > revision.number):
            revision.superseded = True
            return
        document.serving = revision
        for older in document.revisions:
            older.superseded = older.superseded or older.number < revision.number

    @rule(revision=revisions)
    def embed(self, revision: _Revision) -> None:
        if not revision.superseded and not self._of(revision).deleted:
            self._library.embed(revision.added, np.stack([chunk.vector for chunk in revision.chunks]))
            revision.embedded = True

    @rule(revision=revisions, enabled=st.booleans())
    def switch(self, revision: _Revision, enabled: bool) -> None:
        document = self._of(revision)
        if not document.deleted:
            with self._library.database.write() as tx:
                documents.switch(tx, revision.added.document, enabled=enabled)
            document.enabled = enabled

    @rule(revision=revisions, position=st.integers(0, 2), enabled=st.booleans())
    def switch_chunk(self, revision: _Revision, position: int, enabled: bool) -> None:
        chunk = revision.chunks[position % len(revision.chunks)]
        with self._library.database.write() as tx:
            tx.run("UPDATE chunks SET enabled = :to WHERE key = :key", {"to": int(enabled), "key": chunk.key})
        chunk.enabled = enabled

    @rule(revision=revisions)
    def hide(self, revision: _Revision) -> None:
        document = self._of(revision)
        if not document.deleted:
            with self._library.database.write() as tx:
                documents.hide(tx, revision.added.document.id, document.knowledge_base.id)
            document.deleted, document.serving = True, None

    @rule(revision=revisions)
    def purge(self, revision: _Revision) -> None:
        """Take a revision's index away, as its job does once it is superseded or its document hidden."""
        if revision.superseded or self._of(revision).deleted:
            with self._library.database.write() as tx:
                purging.unindex_batch(tx, revision.added.revision_id, -1)
                purging.forget_index_rows(tx, revision.added.revision_id)

    @rule()
    def forget_the_arrays(self) -> None:
        self._cache = VectorCache()

    # --- What may be seen ------------------------------------------------------------------------

    @rule(base=st.integers(0, 1), word=st.sampled_from(_WORDS), day=st.sampled_from(_DAYS), data=st.data())
    def search(self, base: int, word: str, day: int, data: st.DataObject) -> None:
        known = sorted(self._documents)
        ids = data.draw(st.lists(st.sampled_from(known), max_size=3)) if known else []
        self._compare(self._bases[base], word, day, tuple(ids))

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        self._step += 1
        word, day = _WORDS[self._step % len(_WORDS)], _DAYS[self._step % len(_DAYS)]
        for base in self._bases:
            self._compare(base, word, day, None)
            self._compare(base, word, day, tuple(self._documents)[:1])

    def _compare(self, base: KnowledgeBase, word: str, day: int, ids: tuple[str, ...] | None) -> None:
        scope = Scope(LOCAL_PRINCIPAL, None, ids)
        live = self._live(base, ids)
        every = [chunk.key for d in self._documents.values() for r in d.revisions for chunk in r.chunks]
        span = DateSpan(day, day, "", 0, 0, "iso")
        with self._library.database.read() as tx:
            found = chunks.keyword(tx, base.id, self._lexical[base.id].number, scope, [word], [], _EVERY)
            assert {key for key, _ in found} == {c.key for c in live if word in c.words}
            matches = chunks.structured(tx, base.id, scope, [span], [], _EVERY)
            assert {match.chunk_key for match in matches} == {c.key for c in live if c.day == day}
            assert set(chunks.passages(tx, base.id, scope, every)) == {c.key for c in live}
            query = _vector(word)
            nearest = self._cache.search(tx, self._vector[base.id], self._model, query, ids, _EVERY)
            counted = indexes.coverage(tx, self._vector[base.id])
            assert self._cache.coverage(tx, self._vector[base.id]) == counted
        expected = {chunk.key: float(chunk.vector @ query) for chunk in self._live(base, ids, embedded=True)}
        assert dict(nearest).keys() == expected.keys()
        assert len(nearest) == len(expected)
        assert all(abs(near.passage - expected[key]) < 1e-2 for key, near in nearest)

    def _live(self, base: KnowledgeBase, ids: tuple[str, ...] | None, *, embedded: bool = False) -> list[_Chunk]:
        return [
            chunk
            for document_id, document in self._documents.items()
            if document.knowledge_base.id == base.id and document.enabled and (ids is None or document_id in ids)
            if document.serving is not None and (document.serving.embedded or not embedded)
            for chunk in document.serving.chunks
            if chunk.enabled
        ]

    def _of(self, revision: _Revision) -> _Document:
        return self._documents[revision.added.document.id]

    def _stage(self, added: Added, texts: list[str], *, ready: bool) -> _Revision:
        serial = self._library.new_id("t")
        written = [f"{text} {serial} {position}" for position, text in enumerate(texts)]
        days = [_DAYS[len(text) % len(_DAYS)] for text in written]
        drafts = [
            Draft(text, keys=(Key("date", text, "body", None, day, day),))
            for text, day in zip(written, days, strict=True)
        ]
        staged = self._library.stage(added, *drafts)
        made = [
            _Chunk(key, frozenset(text.split()), day, _vector(text))
            for key, text, day in zip(staged.chunk_keys, written, days, strict=True)
        ]
        document = self._documents[added.document.id]
        revision = _Revision(staged, len(document.revisions) + 1, made)
        document.revisions.append(revision)
        if ready:
            self.embed(revision)
            self.publish(revision)
        return revision


def _vector(text: str) -> NDArray[np.float32]:
    """Always the same random vector for the same text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    row: NDArray[np.float32] = unit_rows(np.random.default_rng(seed), 1, DIMENSIONS)[0]
    return row


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=12, stateful_step_count=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
