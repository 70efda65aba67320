"""Four bits a number are enough to tell which sentence is nearest, and nothing but a vector's direction counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.store.library_builder import unit_rows
from wenyuan.store.sentence_codes import are_possible, best_similarities, encode, row_bytes

_ERROR = 0.1
"""How far a cosine similarity may be off in 64 or more dimensions; in 384 it is .01 on average."""


@given(st.integers(0, 2**32), st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(64, 129))
def test_the_best_similarity_of_each_passage_is_nearly_that_of_its_vectors(
    seed: int, counts: list[int], dimensions: int
) -> None:
    random = np.random.default_rng(seed)
    passages = [unit_rows(random, count, dimensions) for count in counts]
    query = unit_rows(random, 1, dimensions)[0]
    found = best_similarities([encode(one) for one in passages], query)
    assert found == pytest.approx([float((one @ query).max()) for one in passages], abs=_ERROR)


@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 40))
def test_codes_take_half_a_byte_a_number_and_equal_ones_score_alike(seed: int, count: int, dimensions: int) -> None:
    rows: NDArray[np.float32] = np.repeat(unit_rows(np.random.default_rng(seed), 1, dimensions), count, axis=0)
    codes = encode(rows)
    assert len(codes) == count * row_bytes(dimensions) == count * ((dimensions + 1) // 2)
    assert are_possible(codes, dimensions)
    assert len(set(best_similarities([codes[: row_bytes(dimensions)]] * 3, rows[0]))) == 1


def test_the_length_of_a_vector_says_nothing() -> None:
    rows = unit_rows(np.random.default_rng(1), 3, 384)
    assert encode(rows) == encode(rows * np.float32(0.125))


def test_nothing_is_the_code_of_no_sentences() -> None:
    assert encode(np.empty((0, 384), np.float32)) == b""
    assert best_similarities([], np.ones(384, np.float32)) == []
    assert are_possible(b"", 384)
    assert not are_possible(b"x" * 191, 384)
    assert are_possible(b"x" * 192 * 16, 384)
    assert not are_possible(b"x" * 192 * 17, 384)
