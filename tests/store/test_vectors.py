"""Vectors: stored once for each text, packed for scanning, and found again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.store.library_builder import (
    DIMENSIONS,
    FINGERPRINT,
    IDENTITY,
    Added,
    Draft,
    LibraryBuilder,
    in_threads,
    unit_rows,
)
from wenyuan.errors import LibraryDamaged
from wenyuan.flows.embed import Made
from wenyuan.store import documents, indexes, purging, sentence_codes, vectors
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import KnowledgeBase

_RANDOM = np.random.default_rng(20260414)


def _embedded(library: LibraryBuilder, base: KnowledgeBase, count: int, dimensions: int = DIMENSIONS) -> Added:
    added = library.published(base, library.new_id("/file"), *(library.new_id("text") for _ in range(count)))
    library.embed(added, unit_rows(_RANDOM, count, dimensions))
    return added


def _search(
    library: LibraryBuilder,
    cache: VectorCache,
    base: KnowledgeBase,
    query: NDArray[np.float32],
    depth: int = 1000,
    only: tuple[str, ...] | None = None,
) -> list[tuple[int, float]]:
    generation, model = library.vector(base.id), library.model_key()
    with library.database.read() as tx:
        found = cache.search(tx, generation, model, query, only, depth)
    return [(key, near.passage) for key, near in found]


def _stored(library: LibraryBuilder, keys: Sequence[int]) -> NDArray[np.float32]:
    """The stored vectors of chunks, as unit rows in the order of their keys."""
    with library.database.read() as tx:
        rows = tx.all(
            "SELECT v.vector FROM chunks AS c JOIN vectors AS v ON v.input_hash = c.input_hash "
            "WHERE c.key BETWEEN :first AND :last ORDER BY c.key",
            {"first": min(keys), "last": max(keys)},
        )
    stored = np.frombuffer(b"".join(row[0] for row in rows), dtype=np.float16).reshape(len(rows), -1)
    wide = stored.astype(np.float32)
    units: NDArray[np.float32] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return units


# --- Codes ---------------------------------------------------------------------------------------


@given(
    values=st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4).filter(lambda row: max(map(abs, row)) > 0.01),
    scale=st.floats(0.01, 100),
)
def test_a_code_keeps_the_direction_and_forgets_the_length(values: list[float], scale: float) -> None:
    row = np.array([values], dtype=np.float32)
    code = vectors.quantize(row)
    assert code.dtype == np.int8
    assert np.abs(code).max() == 127
    assert np.abs(code / 127 - row / np.abs(row).max()).max() <= 0.5 / 127 + 1e-6
    assert np.abs(vectors.quantize(row * np.float32(scale)).astype(int) - code).max() <= 1


def test_a_row_of_zeros_has_a_code_too() -> None:
    assert not vectors.quantize(np.zeros((2, 5), dtype=np.float32)).any()


# --- Storing -------------------------------------------------------------------------------------


def test_a_model_has_one_number_however_often_it_is_asked_for(library: LibraryBuilder) -> None:
    with library.database.write() as tx:
        first = vectors.model_key(tx, FINGERPRINT, IDENTITY, "{}")
        second = vectors.model_key(tx, "another", IDENTITY, "{}")
        assert first != second
        assert vectors.model_key(tx, FINGERPRINT, IDENTITY, "{}") == first
        assert vectors.known_model_key(tx, "another") == second
        assert vectors.known_model_key(tx, "unknown") is None


def test_what_has_no_vector_is_known_in_order(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    added = library.published(base, "/a.md", Draft("one", ("h",), "c"), "two", "three", "two")
    model = library.model_key()
    with library.database.write() as tx:
        assert vectors.count_missing(tx, model, added.revision_id) == 4
        everything = vectors.missing(tx, model, added.revision_id, -1, 10, sentences=False)
        assert [(seq, item.text) for seq, item in everything] == [(0, "one"), (1, "two"), (2, "three"), (3, "two")]
        assert (everything[0][1].heading_path, everything[0][1].context) == (("h",), "c")
        assert vectors.missing(tx, model, added.revision_id, -1, 2, sentences=False) == everything[:2]
        assert vectors.missing(tx, model, added.revision_id, 1, 10, sentences=False) == everything[2:]
        vectors.save(tx, model, [everything[1][1].input_hash], unit_rows(_RANDOM, 1))
        assert [seq for seq, _ in vectors.missing(tx, model, added.revision_id, -1, 10, sentences=False)] == [0, 2]
        assert vectors.count_missing(tx, model, added.revision_id) == 2


def test_the_same_text_is_embedded_once_wherever_it_stands(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    first = library.published(base, "/a.md", "same", "other")
    library.embed(first, unit_rows(_RANDOM, 2))
    copy = library.published(library.knowledge_base("b", embedding_model="m"), "/b.md", "same", "new")
    model = library.model_key()
    with library.database.read() as tx:
        assert [item.text for _, item in vectors.missing(tx, model, copy.revision_id, -1, 10, sentences=False)] == [
            "new"
        ]
        # Another model has another vector for it.
        assert vectors.count_missing(tx, model + 1, copy.revision_id) == 2


def test_a_vector_that_is_there_stays_as_it_is(library: LibraryBuilder) -> None:
    model = library.model_key()
    first, second = unit_rows(_RANDOM, 1), unit_rows(_RANDOM, 1)
    with library.database.write() as tx:
        vectors.save(tx, model, [b"h" * 16], first)
        vectors.save(tx, model, [b"h" * 16], second)
        assert tx.all("SELECT vector FROM vectors") == [(first.astype(np.float16).tobytes(),)]


@pytest.mark.parametrize("count", [1, 4, 5, 9])
def test_a_revision_is_packed_in_segments(library: LibraryBuilder, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(vectors, "SEGMENT_CHUNKS", 4)
    base = library.knowledge_base(embedding_model="m")
    added = _embedded(library, base, count)
    generation, model = library.vector(base.id), library.model_key()
    with library.database.write() as tx:
        # Packing again replaces.
        assert vectors.pack(tx, generation.id, model, added.revision_id, DIMENSIONS) == count
        live = vectors.live_documents(tx, generation.id, base.id, None)
        rows = vectors.packed_codes(tx, generation.id, [added.revision_id])
    assert live == [vectors.LiveDocument(added.document.id, added.revision_id, count)]
    packed = [(one, np.frombuffer(keys, np.int64), np.frombuffer(codes, np.int8)) for one, keys, codes in rows]
    packed.sort(key=lambda one: int(one[1][0]))
    sizes = [4] * (count // 4) + [count % 4] * (count % 4 > 0)
    assert [(revision_id, len(keys)) for revision_id, keys, _ in packed] == [(added.revision_id, n) for n in sizes]
    assert np.concatenate([keys for _, keys, _ in packed]).tolist() == list(added.chunk_keys)
    codes = np.concatenate([codes for _, _, codes in packed]).reshape(-1, DIMENSIONS)
    expected = vectors.quantize(_stored(library, added.chunk_keys))
    assert np.abs(codes.astype(int) - expected).max() <= 1
    assert len(_search(library, VectorCache(), base, unit_rows(_RANDOM, 1)[0])) == count


def test_exact_similarity_is_cosine(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    added = _embedded(library, base, 30)
    query = unit_rows(_RANDOM, 1)[0]
    with library.database.read() as tx:
        found = vectors.nearness(tx, library.model_key(), added.chunk_keys, query)
        assert vectors.nearness(tx, library.model_key(), [], query) == []
        assert vectors.nearness(tx, library.model_key(), [99_999], query) == []
    assert all(near.sentence is None for _, near in found)
    scored = [(key, near.passage) for key, near in found]
    expected = _stored(library, added.chunk_keys) @ query
    assert [key for key, _ in scored] == [added.chunk_keys[i] for i in np.argsort(-expected, kind="stable")]
    assert dict(scored) == pytest.approx(dict(zip(added.chunk_keys, expected.tolist(), strict=True)), abs=1e-6)


def test_of_several_sentences_the_nearest_counts(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    added = library.published(base, "/a.md", "three sentences", "one sentence", "not known", "damaged")
    rows = unit_rows(_RANDOM, 4)
    sentences, query = unit_rows(_RANDOM, 3), unit_rows(_RANDOM, 1)[0]
    model = library.model_key()
    with library.database.write() as tx:
        missing = vectors.missing(tx, model, added.revision_id, -1, 9, sentences=True)
        assert [item.has_vector for _, item in missing] == [False] * 4
        hashes = [item.input_hash for _, item in missing]
        vectors.save(tx, model, hashes, rows)
        assert [
            item.has_vector for _, item in vectors.missing(tx, model, added.revision_id, -1, 9, sentences=True)
        ] == [True] * 4
        codes = {hashes[0]: sentence_codes.encode(sentences), hashes[1]: b"", hashes[3]: b"x"}
        vectors.save_sentences(tx, model, codes)
        found = dict(vectors.nearness(tx, model, added.chunk_keys, query))
        assert vectors.sentences_of(tx, model, added.chunk_keys, len(query)) == dict(
            zip(added.chunk_keys[:2], (codes[hashes[0]], b""), strict=True)
        )
        assert [seq for seq, _ in vectors.missing(tx, model, added.revision_id, -1, 9, sentences=True)] == [2]
        assert not vectors.missing(tx, model, added.revision_id, -1, 9, sentences=False)
    first, second, third, fourth = (found[key] for key in added.chunk_keys)
    assert first.sentence == pytest.approx(float((sentences @ query).max()), abs=0.1)
    assert second.sentence == second.passage
    assert third.sentence is fourth.sentence is None


def test_sentences_that_are_there_stay_as_they_are(library: LibraryBuilder) -> None:
    model, rows = library.model_key(), unit_rows(_RANDOM, 1)
    with library.database.write() as tx:
        vectors.save(tx, model, [b"h" * 16], rows)
        for codes in (b"first", b"second"):
            vectors.save_sentences(tx, model, {b"h" * 16: codes})
        assert tx.all("SELECT vector, sentences FROM vectors") == [(rows.astype(np.float16).tobytes(), b"first")]


def test_a_knowledge_base_knows_whether_sentences_are_missing(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    added = library.published(base, "/a.md", "one", "two")
    library.embed(added, unit_rows(_RANDOM, 2))
    generation, model = library.vector(base.id), library.model_key()
    with library.database.write() as tx:
        assert not vectors.lack_sentences(tx, base.id, None)
        for _, item in vectors.missing(tx, model, added.revision_id, -1, 9, sentences=True):
            assert vectors.lack_sentences(tx, base.id, generation)
            vectors.save_sentences(tx, model, {item.input_hash: b""})
        assert not vectors.lack_sentences(tx, base.id, generation)


def test_equal_similarities_are_ordered_by_chunk_key(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    added = library.published(base, "/a.md", *["same"] * 6)
    library.embed(added, np.repeat(unit_rows(_RANDOM, 1), 6, axis=0))
    found = _search(library, VectorCache(), base, unit_rows(_RANDOM, 1)[0])
    assert [key for key, _ in found] == list(added.chunk_keys)


# --- Searching -----------------------------------------------------------------------------------


@pytest.mark.only_sqlite
def test_the_nearest_of_many_are_found(library: LibraryBuilder) -> None:
    dimensions, per_document, topics = 384, 400, 30
    base = library.knowledge_base(embedding_model="m", dimensions=dimensions)
    # Texts of one topic lie close together and far from zero, as those of real models do.
    centres = unit_rows(_RANDOM, topics, dimensions)
    common = unit_rows(_RANDOM, 1, dimensions)
    keys: list[int] = []
    for _ in range(5):
        added = library.published(base, library.new_id("/f"), *(library.new_id("t") for _ in range(per_document)))
        rows = common + centres[_RANDOM.integers(topics, size=per_document)]
        rows = rows + 0.8 * unit_rows(_RANDOM, per_document, dimensions)
        library.embed(added, rows / np.linalg.norm(rows, axis=1, keepdims=True))
        keys += added.chunk_keys
    stored, cache, agreed = _stored(library, keys), VectorCache(), 0
    for number in range(50):
        query = common[0] + centres[number % topics] + 0.8 * unit_rows(_RANDOM, 1, dimensions)[0]
        query /= np.linalg.norm(query)
        best = {keys[row] for row in np.argsort(-(stored @ query))[:10]}
        agreed += len(best & {key for key, _ in _search(library, cache, base, query, depth=10)})
    assert agreed / 500 >= 0.99


def test_a_document_is_seen_once_its_vectors_are_complete(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    cache, query = VectorCache(), unit_rows(_RANDOM, 1)[0]
    added = library.published(base, "/a.md", "one", "two")
    generation = library.vector(base.id)
    assert _search(library, cache, base, query) == []
    with library.database.read() as tx:
        assert cache.coverage(tx, generation) == indexes.coverage(tx, generation) == (0, 1)
    library.embed(added, unit_rows(_RANDOM, 2))
    assert {key for key, _ in _search(library, cache, base, query)} == set(added.chunk_keys)
    with library.database.read() as tx:
        assert cache.coverage(tx, generation) == indexes.coverage(tx, generation) == (1, 1)


def test_a_document_that_is_named_twice_is_searched_once(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    one, other = _embedded(library, base, 3), _embedded(library, base, 3)
    query = unit_rows(_RANDOM, 1)[0]
    found = _search(library, VectorCache(), base, query, only=(one.document.id, one.document.id, "none"))
    assert sorted(key for key, _ in found) == list(one.chunk_keys)
    assert _search(library, VectorCache(), base, query, only=()) == []
    assert len(_search(library, VectorCache(), base, query, only=(other.document.id, one.document.id))) == 6


def test_the_best_come_first_and_no_more_than_were_asked_for(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    _embedded(library, base, 80)
    query = unit_rows(_RANDOM, 1)[0]
    everything = _search(library, VectorCache(), base, query)
    assert [score for _, score in everything] == sorted((score for _, score in everything), reverse=True)
    assert _search(library, VectorCache(), base, query, depth=7) == everything[:7]
    assert _search(library, VectorCache(), base, query, depth=0) == []


def test_an_older_transaction_is_shown_nothing_it_cannot_see(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    cache, query = VectorCache(), unit_rows(_RANDOM, 1)[0]
    old, gone = _embedded(library, base, 2), _embedded(library, base, 2)
    generation, model = library.vector(base.id), library.model_key()
    with library.database.read() as before:
        assert len(cache.search(before, generation, model, query, None, 10)) == 4
        new = _embedded(library, base, 3)
        with library.database.write() as tx:
            documents.hide(tx, gone.document.id, base.id)
        assert {key for key, _ in _search(library, cache, base, query)} == {*old.chunk_keys, *new.chunk_keys}
        late = {key for key, _ in cache.search(before, generation, model, query, None, 10)}
        assert late <= {*old.chunk_keys, *gone.chunk_keys}
    assert {key for key, _ in _search(library, cache, base, query)} == {*old.chunk_keys, *new.chunk_keys}


def test_the_arrays_shrink_when_most_of_them_is_dead(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    cache, query = VectorCache(), unit_rows(_RANDOM, 1)[0]
    kept = [_embedded(library, base, 5) for _ in range(8)]
    _search(library, cache, base, query)
    full = cache.memory_bytes()
    for added in kept[3:]:
        with library.database.write() as tx:
            documents.hide(tx, added.document.id, base.id)
        _search(library, cache, base, query)
    assert len(_search(library, cache, base, query)) == 15
    assert cache.memory_bytes() < full * 0.6


def test_what_an_error_interrupts_is_loaded_anew(library: LibraryBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    base = library.knowledge_base(embedding_model="m")
    cache, query, generation = VectorCache(), unit_rows(_RANDOM, 1)[0], library.vector(base.id)
    made = [_embedded(library, base, 2)]
    _search(library, cache, base, query)
    made += [_embedded(library, base, 2), _embedded(library, base, 3)]

    def damaged(*_: object) -> None:
        raise LibraryDamaged(path="wenyuan.db", reason="a page is not what it was")

    with monkeypatch.context() as patch:
        patch.setattr(vectors, "packed_codes", damaged)
        with pytest.raises(LibraryDamaged):
            _search(library, cache, base, query)
    assert {key for key, _ in _search(library, cache, base, query)} == {k for one in made for k in one.chunk_keys}
    with library.database.read() as tx:
        assert cache.coverage(tx, generation) == indexes.coverage(tx, generation) == (3, 3)


def test_threads_search_while_documents_come_and_go(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    cache = VectorCache()
    stays = _embedded(library, base, 5)
    comes = [_embedded(library, base, 5) for _ in range(4)]
    generation, model = library.vector(base.id), library.model_key()

    def work(number: int) -> None:
        query = unit_rows(np.random.default_rng(number), 1)[0]
        for step in range(15):
            if number == 0:
                with library.database.write() as tx:
                    documents.switch(tx, comes[step % 4].document, enabled=step % 3 == 0)
            else:
                with library.database.read() as tx:
                    found = [key for key, _ in cache.search(tx, generation, model, query, None, 100)]
                assert set(stays.chunk_keys) <= set(found)
                assert len(found) == len(set(found))

    in_threads(4, work)


# --- Leaving -------------------------------------------------------------------------------------


def test_a_vector_leaves_with_the_last_chunk_that_needs_it(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    first = library.published(base, "/a.md", "shared", "own")
    library.embed(first, unit_rows(_RANDOM, 2))
    second = library.published(base, "/b.md", "shared")
    library.embed(second, unit_rows(_RANDOM, 1))

    def purge(added: Added) -> int:
        with library.database.write() as tx:
            documents.hide(tx, added.document.id, base.id)
            purging.forget_index_rows(tx, added.revision_id)
            while purging.delete_text_batch(tx, added.revision_id):
                pass
            return len(tx.all("SELECT 1 FROM vectors"))

    assert purge(first) == 1
    assert len(_search(library, VectorCache(), base, unit_rows(_RANDOM, 1)[0])) == 1
    assert purge(second) == 0


def test_codes_of_a_deleted_knowledge_base_are_let_go_of(library: LibraryBuilder) -> None:
    cache, query = VectorCache(), unit_rows(_RANDOM, 1)[0]
    for name in ("one", "two"):
        base = library.knowledge_base(name, embedding_model="m")
        _embedded(library, base, 20)
        _search(library, cache, base, query)
    held = cache.memory_bytes()
    with library.database.write() as tx:
        tx.run("UPDATE knowledge_bases SET deleted_at = 1 WHERE name IN ('one', 'two')")
    base = library.knowledge_base("three", embedding_model="m")
    _embedded(library, base, 20)
    assert len(_search(library, cache, base, query)) == 20
    assert cache.memory_bytes() == held // 2


def test_a_vector_of_what_was_purged_meanwhile_is_not_kept(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    added, model = _embedded(library, base, 1), library.model_key()
    with library.database.write() as tx:
        tx.run("DELETE FROM vectors")
        (used,) = tx.all("SELECT input_hash FROM chunks WHERE key = :key", {"key": added.chunk_keys[0]})
        Made([b"gone", used[0]], unit_rows(_RANDOM, 2)).save(tx, model)
        assert [row[0] for row in tx.all("SELECT input_hash FROM vectors")] == [used[0]]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vectors SET vector = substr(vector, 1, 7)",
        "UPDATE vector_codes SET codes = substr(codes, 1, 7)",
        "UPDATE vector_codes SET chunk_keys = substr(chunk_keys, 1, 7)",
    ],
)
def test_incomplete_vectors_are_a_damage_that_is_told(library: LibraryBuilder, damage: str) -> None:
    base = library.knowledge_base(embedding_model="m")
    _embedded(library, base, 3)
    with library.database.write() as tx:
        tx.run(damage)
    with pytest.raises(LibraryDamaged):
        _search(library, VectorCache(), base, unit_rows(_RANDOM, 1)[0])
