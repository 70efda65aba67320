"""Choosing the evidence: what was asked for exactly comes first, the same text comes once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wenyuan.types import DateSpan, Exactness, Passage, Plan

_HEADING_STRENGTH = 2


EXACTNESS: Sequence[Exactness] = ("about", "mentions", "none")
"""What each tier means."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A fused candidate. Tier 0 is about what was asked for exactly, 1 mentions it, 2 holds none of it."""

    chunk_key: int
    score: float
    tier: int


_PRECISE_DAYS = 31


def precise_dates(plan: Plan) -> tuple[DateSpan, ...]:
    """The dates a question asks for exactly: days, and ranges up to a month.

    What lies in a whole quarter or year is too much to outrank everything else; its words find it.
    """
    return tuple(date for date in plan.dates if date.last_day - date.first_day < _PRECISE_DAYS)


def asks_exactly(plan: Plan) -> bool:
    """Whether a question names a day, a month, a version or a code, which an answer must hold."""
    return bool(precise_dates(plan) or plan.versions or plan.codes)


def exact_first(fused: Sequence[tuple[int, float]], strengths: Mapping[int, int]) -> list[Ranked]:
    """Order candidates by tier, then by fused score.

    `strengths` holds, for chunks with a key that was asked for, where the key stands: 0 metadata or
    file name, 1 title, 2 heading, 3 body.
    """
    ranked = [Ranked(key, score, _tier(strengths.get(key))) for key, score in fused]
    return sorted(ranked, key=lambda one: (one.tier, -one.score, one.chunk_key))


def _tier(strength: int | None) -> int:
    if strength is None:
        return 2
    return 0 if strength <= _HEADING_STRENGTH else 1


def without_duplicates(
    ranked: Sequence[Ranked], passages: Mapping[int, Passage]
) -> tuple[list[Ranked], list[tuple[int, int]]]:
    """Keep the first of passages with the same words; also return (dropped, kept instead) chunk keys."""
    first: dict[str, int] = {}
    kept: list[Ranked] = []
    dropped: list[tuple[int, int]] = []
    for one in ranked:
        words = " ".join(passages[one.chunk_key].chunk.text.split())
        if words in first:
            dropped.append((one.chunk_key, first[words]))
        else:
            first[words] = one.chunk_key
            kept.append(one)
    return kept, dropped
