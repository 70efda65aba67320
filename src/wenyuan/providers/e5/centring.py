"""Takes the language out of a vector.

Vectors of two languages lie in two narrow cones, so that in an index of both nearly every
neighbour of a question is in the question's own language. Subtracting the mean vector of each
language, and of each side, lets a question meet its answer in the other language (the common
components of Mu & Viswanath, "All-but-the-Top", arXiv:1702.01417, taken per language).
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from wenyuan.language.scripts import language_of
from wenyuan.types import Side

LANGUAGES = ("zh", "en")
SIDES: tuple[Side, ...] = ("query", "passage")
MEANS_FILE = "means.npy"

_RULE = "language-of-1"
"""Names the rule that gives a text its language; it is part of the model's identity."""


@cache
def means_identity() -> str:
    """Return what tells one set of means, and one way of choosing among them, from another."""
    content = resources.files(__package__).joinpath(MEANS_FILE).read_bytes()
    return f"{_RULE}/sha256:{hashlib.sha256(content).hexdigest()[:16]}"


@cache
def _means() -> NDArray[np.float32]:
    """The means, shape (languages + 1, sides, dimensions); the last language is all others."""
    with resources.files(__package__).joinpath(MEANS_FILE).open("rb") as file:
        means: NDArray[np.float32] = np.load(file, allow_pickle=False)
    return np.concatenate([means, means.mean(axis=0, keepdims=True)])


def mean_of(text: str, side: Side) -> NDArray[np.float32]:
    """Return the mean vector of the text's language on its side of a search.

    A language without a mean of its own gets the one between those that there are.
    """
    language = language_of(text)
    row = LANGUAGES.index(language) if language in LANGUAGES else len(LANGUAGES)
    mean: NDArray[np.float32] = _means()[row, SIDES.index(side)]
    return mean


def centred(vector: NDArray[np.float32], text: str, side: Side) -> NDArray[np.float32]:
    """Return the unit vector that is left of a unit vector without its language's mean."""
    moved = vector - mean_of(text, side)
    return np.asarray(moved / np.linalg.norm(moved), np.float32)
