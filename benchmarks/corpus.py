"""Text to measure on: real sentences of this repository and of Python's documentation, real vectors.

Passages are drawn from these sentences and from a vocabulary with a Zipf distribution, so that
tokens have the document frequencies of real collections at any size. Vectors are those of the
built-in model for real passages, repeated with noise: synthetic clusters flatter coarse codes.
"""

from __future__ import annotations

import inspect
import pkgutil
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wenyuan.rules.sentences import split_sentences

ROOT = Path(__file__).resolve().parent.parent
_LIBRARY = ROOT / "examples" / "library"
_VOCABULARY = 60_000
_NOISE = 0.35


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages of about `characters` characters, alternating Chinese and English."""

    chinese: Sequence[str]
    english: Sequence[str]

    def passages(self, count: int, seed: int) -> Iterator[str]:
        randomness = random.Random(seed)
        words = _Vocabulary(randomness)
        for number in range(count):
            chinese = number % 2 == 0
            parts = randomness.choices(self.chinese if chinese else self.english, k=3 if chinese else 2)
            rare = words.draw(24 if chinese else 30, chinese=chinese)
            yield ("。".join(parts) + "。" + "".join(rare)) if chinese else (" ".join(parts) + " " + " ".join(rare))


class _Vocabulary:
    """Words of two Han characters or of letters, the k-th drawn with probability about 1/k."""

    def __init__(self, randomness: random.Random) -> None:
        self._randomness = randomness
        self._chinese = [
            "".join(chr(randomness.randrange(0x4E00, 0x5E00)) for _ in range(2)) for _ in range(_VOCABULARY)
        ]
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        self._english = [
            "".join(randomness.choices(letters, weights=range(26, 0, -1), k=randomness.randint(3, 9)))
            for _ in range(_VOCABULARY)
        ]

    def draw(self, count: int, *, chinese: bool) -> list[str]:
        words = self._chinese if chinese else self._english
        return [words[int(_VOCABULARY ** self._randomness.random()) - 1] for _ in range(count)]


def load_corpus() -> Corpus:
    chinese: list[str] = []
    for path in sorted(_LIBRARY.rglob("*.md")):
        text = path.read_text("utf-8")
        sentences = [text[start:end].strip() for start, end in split_sentences(text)]
        chinese += [one for one in sentences if sum("一" <= c <= "鿿" for c in one) > 8]
    return Corpus(chinese, list(_python_sentences()))


def _python_sentences() -> Iterator[str]:
    for name in sorted(module.name for module in pkgutil.iter_modules() if module.name in _MODULES):
        for value in vars(import_module(name)).values():
            text = inspect.getdoc(value) if inspect.isroutine(value) or inspect.isclass(value) else None
            for start, end in split_sentences(text or ""):
                sentence = " ".join((text or "")[start:end].split())
                if 20 < len(sentence) < 200:
                    yield sentence


_MODULES = frozenset(
    "argparse asyncio calendar collections csv datetime decimal difflib email functools heapq html http inspect json "
    "logging os pathlib random re shutil socket statistics string subprocess tarfile tempfile textwrap threading "
    "unittest urllib uuid zipfile".split()
)


def perturbed(vectors: NDArray[np.float32], count: int, seed: int) -> NDArray[np.float32]:
    """`count` unit vectors made from the given ones, repeated with Gaussian noise of a third of their length."""
    generator = np.random.default_rng(seed)
    rows = vectors[generator.integers(0, len(vectors), count)]
    noise = generator.standard_normal(rows.shape, dtype=np.float32) * (_NOISE / np.sqrt(rows.shape[1]))
    made = rows + noise
    unit: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit
