"""The network that runs, in 8-bit integers, against the network as it is defined, in NumPy and float32."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.providers.test_e5_embedder import ANSWERS, QUESTIONS
from wenyuan.providers.e5.blocks import dequantise
from wenyuan.providers.e5.convert import converted_folder
from wenyuan.providers.e5.model import LONGEST_INPUT, PREFIXES, E5Embedder
from wenyuan.providers.e5.tokenizer import Tokenizer
from wenyuan.providers.e5.weights import find_weights, open_weights

Matrix = NDArray[np.float32]

_erf = np.vectorize(math.erf, otypes=[np.float32])


class ExactNetwork:
    """BERT as Devlin et al. describe it, with the weights as they are stored."""

    def __init__(self, cache_directory: Path) -> None:
        self._weights = open_weights(find_weights())
        self._tokenizer = Tokenizer(converted_folder(cache_directory, lambda _: None))

    def vector(self, text: str) -> Matrix:
        shape, weights = self._weights.shape, self._weights
        tokens = self._tokenizer.encode(text, LONGEST_INPUT)
        words = dequantise(weights.blocks("emb.word", shape.vocabulary, shape.hidden)[tokens])
        positions = weights.vector("emb.pos", shape.positions * shape.hidden).reshape(-1, shape.hidden)
        types = weights.vector("emb.type", shape.token_types * shape.hidden).reshape(-1, shape.hidden)
        x = self._normalised(words + positions[: len(tokens)] + types[0], "emb.ln")
        for layer in range(shape.layers):
            x = self._layer(x, f"l{layer}.")
        mean: Matrix = x.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def _layer(self, x: Matrix, layer: str) -> Matrix:
        hidden, wide, heads = self._weights.shape.hidden, self._weights.shape.feed_forward, self._weights.shape.heads
        query, key, value = (
            self._linear(x, layer + part, hidden).reshape(len(x), heads, -1).transpose(1, 0, 2) for part in "qkv"
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(hidden // heads)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        context = (shares @ value).transpose(1, 0, 2).reshape(len(x), hidden)
        x = self._normalised(x + self._linear(context, layer + "ao", hidden), layer + "aln")
        inner = self._linear(x, layer + "fi", wide)
        active = inner * (1 + _erf(inner / math.sqrt(2))) / 2
        return self._normalised(x + self._linear(active, layer + "fo", hidden), layer + "oln")

    def _linear(self, x: Matrix, name: str, outputs: int) -> Matrix:
        return x @ self._weights.matrix(name + ".w", outputs, x.shape[1]).T + self._weights.vector(name + ".b", outputs)

    def _normalised(self, x: Matrix, name: str) -> Matrix:
        hidden = self._weights.shape.hidden
        deviation = x - x.mean(axis=-1, keepdims=True)
        variance = (deviation**2).mean(axis=-1, keepdims=True)
        standard = deviation / np.sqrt(variance + self._weights.shape.epsilon)
        return np.asarray(
            standard * self._weights.vector(name + ".w", hidden) + self._weights.vector(name + ".b", hidden), np.float32
        )


@pytest.fixture(scope="module")
def exact(cache_directory: Path) -> ExactNetwork:
    return ExactNetwork(cache_directory)


@pytest.fixture(scope="module")
def embedder(cache_directory: Path) -> E5Embedder:
    return E5Embedder(cache_directory)


@pytest.mark.parametrize("text", [QUESTIONS[0], ANSWERS[3], "梵語研究" * 12, "x"])
def test_integers_change_a_vector_by_very_little(exact: ExactNetwork, embedder: E5Embedder, text: str) -> None:
    found = embedder.embed_uncentred([text], "passage")[0]
    assert float(found @ exact.vector(PREFIXES["passage"] + text)) > 0.997
