"""Whether a difference between two systems is more than the luck of the questions that were asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_SAMPLES = 20_000
_EXACT_BELOW = 15
_BITS_AT_ONCE = 1 << 20


def randomisation_test(differences: Sequence[float], seed: int = 0) -> float:
    """The two-sided p-value of a mean difference, question by question, under Fisher's randomisation test.

    If two systems were the same, each difference could as well have had the other sign. The p-value
    is the share of all assignments of signs whose sum is at least as far from zero as the one that
    was seen; with 15 or more differences that are not zero, of 20,000 assignments drawn under the
    seed, the one that was seen counted among them. Fisher 1935; for retrieval Smucker, Allan &
    Carterette, CIKM 2007. The same differences and seed always give the same value.
    """
    moved = np.array([one for one in differences if one != 0.0], dtype=np.float64)
    if not len(moved):
        return 1.0
    # Sums of the same numbers in another order differ in their last bits.
    bound = abs(float(moved.sum())) - 1e-9 * float(np.abs(moved).sum())
    exact = len(moved) < _EXACT_BELOW
    extreme = total = 0
    for chosen in _all_signs(len(moved)) if exact else _drawn_signs(len(moved), seed):
        sums = 2.0 * (chosen @ moved) - moved.sum()
        extreme += int(np.count_nonzero(np.abs(sums) >= bound))
        total += len(sums)
    return extreme / total if exact else (extreme + 1) / (total + 1)


def _all_signs(count: int) -> Iterator[NDArray[np.float64]]:
    numbers = np.arange(1 << count, dtype=np.int64)
    yield ((numbers[:, None] >> np.arange(count)) & 1).astype(np.float64)


def _drawn_signs(count: int, seed: int) -> Iterator[NDArray[np.float64]]:
    # The raw output of PCG64 is the same in every version of numpy; what is made of it need not be.
    source = np.random.PCG64(seed)
    rows = max(1, _BITS_AT_ONCE // count)
    for begin in range(0, _SAMPLES, rows):
        wanted = min(rows, _SAMPLES - begin) * count
        words = source.random_raw(-(-wanted // 64)).astype("<u8")
        yield np.unpackbits(words.view(np.uint8), count=wanted).reshape(-1, count).astype(np.float64)
