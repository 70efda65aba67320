"""What every embedder keeps, whatever is behind it. An adapter's tests subclass it and provide `embedder`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wenyuan.errors import ProviderUnavailable
from wenyuan.ports import Embedder, Vectors
from wenyuan.types import Side

SIDES: tuple[Side, ...] = ("query", "passage")
AWKWARD_TEXTS = [
    "The library opens at nine.",
    "图书馆九点开门。",
    "圖書館九點開門。",
    "図書館は九時に開く。",
    "a",
    " ",
    "\ufdfa \ufdfa\ufdfa",
    "half of a pair: \ud83d",
    "null \x00 and bell \x07",
    "<s> </s> <mask> <unk>",
    "😀👩‍👩‍👧‍👦" * 20,
    "e\u0301" * 50,
    "12345 67.89",
    "word " * 4_000,
    "长" * 5_000,
]


class EmbedderContract:
    @pytest.fixture
    def embedder(self) -> Embedder:
        raise NotImplementedError

    @pytest.mark.parametrize("side", SIDES)
    def test_every_text_gets_one_unit_row(self, embedder: Embedder, side: Side) -> None:
        vectors = embedder.embed(AWKWARD_TEXTS, side, 60.0)
        assert vectors.shape == (len(AWKWARD_TEXTS), embedder.identity.dimensions)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        vectors = embedder.embed([], "passage", 60.0)
        assert vectors.shape == (0, embedder.identity.dimensions)
        assert vectors.dtype == np.float32

    def test_a_vector_depends_on_its_text_alone(self, embedder: Embedder) -> None:
        together = embedder.embed(AWKWARD_TEXTS, "passage", 60.0)
        backwards = embedder.embed(AWKWARD_TEXTS[::-1], "passage", 60.0)
        alone = np.concatenate([embedder.embed([text], "passage", 60.0) for text in AWKWARD_TEXTS])
        assert np.array_equal(together, backwards[::-1])
        assert np.array_equal(together, alone)

    def test_different_texts_get_different_vectors(self, embedder: Embedder) -> None:
        vectors = embedder.embed(["The cat sleeps.", "A parliament was elected in 1949."], "passage", 60.0)
        assert float(vectors[0] @ vectors[1]) < 0.95

    def test_threads_may_share_it(self, embedder: Embedder) -> None:
        texts = [f"{text} {number}" for number, text in enumerate(AWKWARD_TEXTS[:8])]
        expected = embedder.embed(texts, "query", 60.0)

        def embed(number: int) -> Vectors:
            return embedder.embed(texts[number : number + 1], "query", 60.0)

        with ThreadPoolExecutor(4) as pool:
            found = np.concatenate(list(pool.map(embed, range(len(texts)))))
        assert np.array_equal(found, expected)

    def test_it_says_what_it_is_before_anything_is_loaded(self, embedder: Embedder) -> None:
        identity = embedder.identity
        assert identity.provider
        assert identity.model
        assert identity.dimensions > 0
        assert identity == embedder.identity
        assert embedder.max_batch_texts >= 1
        assert embedder.max_batch_characters >= 1
        floor = embedder.similarity_floor
        assert floor is None or 0 < floor < 1

    def test_no_time_at_all_is_worth_trying_again_later(self, embedder: Embedder) -> None:
        with pytest.raises(ProviderUnavailable):
            embedder.embed(["one", "two", "three"], "passage", 0.0)

    # Every adapter's class runs this one test, and examples may share an embedder.
    @settings(
        max_examples=15,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(texts=st.lists(st.text(alphabet=st.characters(), max_size=60), min_size=1, max_size=3))
    def test_any_text_can_be_embedded(self, embedder: Embedder, texts: list[str]) -> None:
        vectors = embedder.embed(texts, "passage", 60.0)
        assert vectors.shape == (len(texts), embedder.identity.dimensions)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
