"""The lexical index: a token matches itself and nothing else, and the score is BM25 of our weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.library_builder import ONE_LIBRARY, LibraryBuilder
from wenyuan.store import fts5
from wenyuan.store.database import LibraryDatabase
from wenyuan.types import Posting

_NUMBERS = count(100)
_WEIGHTS = dict(zip(("name", "heading", "body", "alias"), map(float, fts5._WEIGHTS.split(",")), strict=True))
_K1, _B = 1.2, 0.75

# Everything a token may hold, with what the query language of FTS5 could trip over.
_TRAPS = ("and", "or", "not", "near", '"', "'", "*", "^", "-", "a-b", "a", "b", "v:1.2", "v:1", ":", "(", ")")
_SYMBOLS = st.characters(min_codepoint=33, exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp", "Lu"))
_ANY_TOKEN = st.one_of(st.sampled_from(_TRAPS), st.text(_SYMBOLS, min_size=1, max_size=6))
_WORDS = st.lists(st.sampled_from(["苍鹭", "量产", "heron", "h2", "d:2026-04"]), max_size=6)
_POSTING = st.builds(Posting, *(_WORDS.map(" ".join) for _ in range(4)))


def _indexed(database: LibraryDatabase, postings: Mapping[int, Posting]) -> int:
    number = next(_NUMBERS)
    with database.write() as tx:
        tx.lexical.create(tx, number)
        tx.lexical.add(tx, number, postings.items())
    return number


def _search(
    database: LibraryDatabase, number: int, tokens: Sequence[str], excluded: Sequence[str] = (), limit: int = 1000
) -> list[tuple[int, float]]:
    with database.read() as tx:
        return tx.lexical.search(tx, number, tokens, excluded, limit)


def _drop(database: LibraryDatabase, number: int) -> None:
    with database.write() as tx:
        tx.lexical.drop(tx, number)


@ONE_LIBRARY
@given(indexed=st.lists(_ANY_TOKEN, min_size=1, max_size=6, unique=True), asked=_ANY_TOKEN)
def test_a_token_matches_itself_and_nothing_else(database: LibraryDatabase, indexed: list[str], asked: str) -> None:
    number = _indexed(database, {key: Posting("", "", token, "") for key, token in enumerate(indexed)})
    for token in (*indexed, asked):
        expected = [indexed.index(token)] if token in indexed else []
        assert [key for key, _ in _search(database, number, [token])] == expected
    with database.read() as tx:
        counted = tx.lexical.document_frequency(tx, number, [*indexed, asked])
    assert counted == {**dict.fromkeys(indexed, 1), asked: int(asked in indexed)}
    _drop(database, number)


@ONE_LIBRARY
@given(postings=st.lists(_POSTING, max_size=8), tokens=_WORDS, excluded=_WORDS)
def test_what_holds_any_token_and_none_excluded_is_found(
    database: LibraryDatabase, postings: list[Posting], tokens: list[str], excluded: list[str]
) -> None:
    number = _indexed(database, dict(enumerate(postings)))
    expected = {
        key
        for key, posting in enumerate(postings)
        if _words(posting) & set(tokens) and not _words(posting) & set(excluded)
    }
    assert {key for key, _ in _search(database, number, tokens, excluded)} == expected
    _drop(database, number)


def _words(posting: Posting) -> set[str]:
    return set(f"{posting.name} {posting.heading} {posting.body} {posting.alias}".split())


@ONE_LIBRARY
@given(postings=st.lists(_POSTING, min_size=1, max_size=10), removed=st.sets(st.integers(0, 9)), tokens=_WORDS)
def test_the_score_is_bm25_of_what_is_there(
    database: LibraryDatabase, postings: list[Posting], removed: set[int], tokens: list[str]
) -> None:
    number = _indexed(database, dict(enumerate(postings)))
    with database.write() as tx:
        tx.lexical.remove(tx, number, removed)
    with database.read() as tx:
        assert tx.lexical.size(tx, number) == len(set(range(len(postings))) - removed)
    left = {key: posting for key, posting in enumerate(postings) if key not in removed}
    found = _search(database, number, list(dict.fromkeys(tokens)))
    expected = _bm25(left, list(dict.fromkeys(tokens)))
    assert [key for key, _ in found] == sorted(dict(found), key=lambda key: (-dict(found)[key], key))
    assert dict(found) == pytest.approx(expected)
    _drop(database, number)


def _bm25(postings: Mapping[int, Posting], tokens: Sequence[str]) -> dict[int, float]:
    """Robertson & Zaragoza 2009 with weighted fields, and a floor for what stands in most documents."""
    fields = {key: {name: getattr(p, name).split() for name in _WEIGHTS} for key, p in postings.items()}
    lengths = {key: sum(map(len, by_name.values())) for key, by_name in fields.items()}
    average = sum(lengths.values()) / max(len(lengths), 1)
    scores: Counter[int] = Counter()
    for token in tokens:
        holding = [key for key in postings if token in _words(postings[key])]
        idf = max(math.log((len(postings) - len(holding) + 0.5) / (len(holding) + 0.5)), 1e-6)
        for key in holding:
            frequency = sum(weight * fields[key][name].count(token) for name, weight in _WEIGHTS.items())
            scores[key] += idf * frequency * (_K1 + 1) / (frequency + _K1 * (1 - _B + _B * lengths[key] / average))
    return dict(scores)


def test_the_best_come_first_and_no_more_than_were_asked_for(database: LibraryDatabase) -> None:
    postings = {
        1: Posting("", "", "heron " + "filler " * 50, ""),
        2: Posting("heron", "", "filler " * 50, ""),
        3: Posting("", "heron", "filler " * 50, ""),
        **{key: Posting("", "", "filler", "") for key in range(4, 20)},
    }
    number = _indexed(database, postings)
    assert [key for key, _ in _search(database, number, ["heron"])] == [2, 3, 1]
    assert [key for key, _ in _search(database, number, ["heron"], limit=2)] == [2, 3]
    assert _search(database, number, ["heron"], limit=0) == []
    assert _search(database, number, []) == []


def test_equal_scores_are_ordered_by_chunk_key(database: LibraryDatabase) -> None:
    keys = [9, 3, 7, 1]
    number = _indexed(database, {key: Posting("", "", "same", "") for key in keys})
    assert [key for key, _ in _search(database, number, ["same"])] == sorted(keys)


def test_adding_again_replaces(database: LibraryDatabase) -> None:
    number = _indexed(database, {1: Posting("", "", "old", "")})
    with database.write() as tx:
        tx.lexical.add(tx, number, [(1, Posting("", "", "new", ""))])
        assert tx.lexical.size(tx, number) == 1
    assert _search(database, number, ["old"]) == []
    assert [key for key, _ in _search(database, number, ["new"])] == [1]


def test_removing_what_is_not_there_does_no_harm(database: LibraryDatabase) -> None:
    number = _indexed(database, {1: Posting("", "", "word", "")})
    with database.write() as tx:
        tx.lexical.remove(tx, number, [2, 3])
        tx.lexical.remove(tx, number, [])
    assert [key for key, _ in _search(database, number, ["word"])] == [1]


def test_indexes_know_nothing_of_each_other(database: LibraryDatabase) -> None:
    first = _indexed(database, {1: Posting("", "", "word", "")})
    second = _indexed(database, {2: Posting("", "", "word", "")})
    assert [key for key, _ in _search(database, first, ["word"])] == [1]
    with database.read() as tx:
        assert tx.lexical.document_frequency(tx, second, ["word", "none"]) == {"word": 1, "none": 0}
    _drop(database, first)
    assert [key for key, _ in _search(database, second, ["word"])] == [2]


def test_a_failed_transaction_leaves_no_postings(database: LibraryDatabase) -> None:
    number = _indexed(database, {1: Posting("", "", "word", "")})
    with pytest.raises(KeyboardInterrupt), database.write() as tx:  # noqa: PT012
        tx.lexical.add(tx, number, [(2, Posting("", "", "word", ""))])
        tx.lexical.remove(tx, number, [1])
        raise KeyboardInterrupt
    assert [key for key, _ in _search(database, number, ["word"])] == [1]


def test_in_a_large_index_rare_tokens_choose_and_frequent_ones_help_to_rank(database: LibraryDatabase) -> None:
    common = {key: Posting("", "", "pump " + "filler " * 5, "") for key in range(100, 6100)}
    rare = {key: Posting("", "", f"seal {'pump' if key == 7 else 'valve'} " + "filler " * 4, "") for key in range(30)}
    number = _indexed(
        database, {**common, **rare, **{key: Posting("", "", "filler", "") for key in range(7000, 14000)}}
    )
    found = _search(database, number, ["pump", "seal"], limit=10)
    assert found[0][0] == 7
    assert {key for key, _ in found} <= set(rare)
    # Where the rare tokens give too few, frequent ones choose as well.
    assert len(_search(database, number, ["pump", "seal"], limit=50)) == 50
    assert _search(database, number, ["pump"], limit=3)[0][0] == 7


@ONE_LIBRARY
@given(
    postings=st.lists(_POSTING, max_size=8),
    tokens=_WORDS,
    places=st.sets(st.integers(0, 9)),
    apart=st.sampled_from((1, 3, 1 << 25)),
)
def test_among_some_chunks_the_same_is_found_with_the_same_scores(
    database: LibraryDatabase, postings: list[Posting], tokens: list[str], places: set[int], apart: int
) -> None:
    number = _indexed(database, {place * apart: posting for place, posting in enumerate(postings)})
    everywhere = _search(database, number, tokens)
    among = np.array(sorted(places), np.int64) * apart
    with database.read() as tx:
        found = tx.lexical.search(tx, number, tokens, [], 1000, None, among)
    assert found == [scored for scored in everywhere if scored[0] in among]
    _drop(database, number)


def test_among_some_chunks_frequent_tokens_choose_as_well(database: LibraryDatabase) -> None:
    common = {key: Posting("", "", "pump " + "filler " * 5, "") for key in range(100, 6100)}
    rare = {key: Posting("", "", "seal", "") for key in range(30)}
    number = _indexed(database, {**common, **rare})
    with database.read() as tx:
        found = tx.lexical.search(tx, number, ["pump", "seal"], [], 10, None, np.array([5, 200, 300, 7000]))
    assert [key for key, _ in found] == [5, 200, 300]


def test_what_rare_words_do_not_find_frequent_ones_do(database: LibraryDatabase) -> None:
    """The rare ones stand elsewhere, with what is excluded, or all in the same few chunks."""
    plain = {key: Posting("", "", "pump " + "filler " * 5, "") for key in range(6000)}
    rare = {key: Posting("", "", "alpha bravo charlie delta seal", "") for key in range(7000, 7060)}
    number = _indexed(database, {**plain, **rare})
    words = ["alpha", "bravo", "charlie", "delta", "pump"]
    with database.read() as tx:
        elsewhere = tx.lexical.search(tx, number, words, [], 10, None, np.arange(6000))
        excluded = tx.lexical.search(tx, number, words, ["seal"], 10)
        few = tx.lexical.search(tx, number, words, [], 80)
    assert [key for key, _ in elsewhere] == [key for key, _ in excluded] == list(range(10))
    assert len(few) == 80


def test_remembered_counts_are_those_of_the_index_as_it_is(
    library: LibraryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fts5, "_WORTH_REMEMBERING", 1)
    database = library.database
    number = _indexed(database, {1: Posting("", "", "word word", ""), 2: Posting("", "", "word", "")})
    other = library.opened_again()

    def counted(*tokens: str) -> list[int]:
        with database.read() as tx:
            first = tx.lexical.document_frequency(tx, number, tokens)
            assert tx.lexical.document_frequency(tx, number, tokens) == first
        return [first[token] for token in tokens]

    assert counted("word", "none") == [2, 0]
    with other.write() as tx:
        tx.lexical.add(tx, number, [(3, Posting("", "", "none", ""))])
    assert counted("word", "none") == [2, 1]
    with database.write() as tx:
        tx.lexical.add(tx, number, [(3, Posting("", "", "word", ""))])
    assert counted("word", "none") == [3, 0]
    with other.write() as tx:
        tx.lexical.remove(tx, number, [1])
    assert counted("word", "none") == [2, 0]
    with database.read() as before:
        assert before.lexical.size(before, number) == 2
        with other.write() as tx:
            tx.lexical.add(tx, number, [(4, Posting("", "", "word", ""))])
        assert before.lexical.document_frequency(before, number, ["word"]) == {"word": 2}
        assert counted("word") == [3]
        assert before.lexical.document_frequency(before, number, ["word"]) == {"word": 2}
    other.close()
