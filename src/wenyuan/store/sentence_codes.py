"""The vectors of a passage's sentences, as codes of 4 bits, by which the passages that were found are compared.

A passage is about several things, and its vector about their mean; the sentence that answers a question
lies nearer to it (late interaction, as in Khattab and Zaharia, "ColBERT", arXiv:2004.12832, with sentences
for tokens). They only put candidates in order, so that nobody scans them and a coarse code is enough: on
four evaluation sets 4 bits rank as float32 does, 2 bits nearly, 1 bit loses a fifth of the gain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wenyuan.rules.embedding_input import MOST_SENTENCES

_LEVELS = 16
_MIDDLE = (_LEVELS - 1) / 2
_STEPS_PER_DEVIATION = 8 / 2.8
"""Values beyond 2.8 standard deviations, one in two hundred, are cut off; that errs least for a bell curve."""


def encode(vectors: NDArray[np.float32]) -> bytes:
    """The codes of some vectors, shape (sentences, dimensions), one after the other; nothing for none.

    A vector's length is not kept: cosine similarity does not depend on it.
    """
    deviation = np.sqrt(np.mean(np.square(vectors), axis=1, keepdims=True))
    steps = np.floor(vectors * (_STEPS_PER_DEVIATION / np.maximum(deviation, 1e-12)))
    levels = (np.clip(steps, -_LEVELS // 2, _LEVELS // 2 - 1) + _LEVELS // 2).astype(np.uint8)
    if levels.shape[1] % 2:
        levels = np.pad(levels, ((0, 0), (0, 1)))
    packed: NDArray[np.uint8] = levels[:, 0::2] | levels[:, 1::2] << 4
    return packed.tobytes()


def row_bytes(dimensions: int) -> int:
    """How many bytes the codes of one sentence have."""
    return -(-dimensions // 2)


def are_possible(codes: bytes, dimensions: int) -> bool:
    """Whether these can be the codes of the sentences of one passage, or of none."""
    count, rest = divmod(len(codes), row_bytes(dimensions))
    return not rest and count <= MOST_SENTENCES


def best_similarities(codes: Sequence[bytes], query: NDArray[np.float32]) -> list[float]:
    """Of the sentences of each passage the best cosine similarity to a unit query; every passage has some."""
    if not codes:
        return []
    scores = similarities(b"".join(codes), query)
    counts = [len(one) // row_bytes(len(query)) for one in codes]
    starts = np.cumsum([0, *counts[:-1]])
    best: list[float] = np.maximum.reduceat(scores, starts).tolist()
    return best


def similarities(codes: bytes, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine similarity of each of some sentences to a unit query."""
    packed = np.frombuffer(codes, dtype=np.uint8).reshape(-1, row_bytes(len(query)))
    halves = (packed & (_LEVELS - 1)).astype(np.float32), (packed >> 4).astype(np.float32)
    dots, squares = np.zeros(len(packed), np.float32), np.zeros(len(packed), np.float32)
    # Row by row, so that equal sentences have equal scores: a product of matrices treats the last rows otherwise.
    for values, part in zip(halves, (query[0::2], query[1::2]), strict=True):
        values = values[:, : len(part)]
        values -= np.float32(_MIDDLE)
        dots += np.einsum("ij,j->i", values, np.ascontiguousarray(part))
        squares += np.einsum("ij,ij->i", values, values)
    dots /= np.sqrt(squares)
    return dots
