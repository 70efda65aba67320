"""Putting ranked lists together by rank, never by score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

RRF_K = 60


def reciprocal_rank_fusion(lists: Iterable[tuple[float, Sequence[int]]], k: int = RRF_K) -> list[tuple[int, float]]:
    """Fuse weighted lists of chunk keys, best first, into (chunk key, score), best first.

    A chunk's score is the sum over the lists that hold it of weight / (k + rank), ranks from 1
    (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009).
    Ties go to the smaller chunk key, so that the same lists always give the same order.
    """
    scores: dict[int, float] = {}
    for weight, keys in lists:
        for rank, key in enumerate(keys, start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
