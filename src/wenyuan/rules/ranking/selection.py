"""Choosing the evidence: what was asked for exactly comes first, the same words come once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wenyuan.language.questions.named_things import named_as_written
from wenyuan.types import DateSpan, Exactness, Plan

EXACTNESS: Sequence[Exactness] = ("about", "mentions", "none")
"""What each tier means."""

_ABOUT, _MENTIONS, _NONE = range(3)
_HEADING_STRENGTH = 2
_PRECISE_DAYS = 31
_ABOUT_AS_GOOD = 0.7


@dataclass(frozen=True, slots=True)
class Ranked:
    """A weighed candidate. Tier 0 is about what was asked for exactly, 1 mentions it, 2 holds none of it.

    `rerank_score` is what a reranking model gave it.
    """

    chunk_key: int
    score: float
    tier: int
    rerank_score: float | None = None


def precise_dates(plan: Plan) -> tuple[DateSpan, ...]:
    """The dates a question asks for exactly: days, and ranges up to a month.

    What lies in a whole quarter or year is too much to outrank everything else; see `long_dates`.
    """
    if plan.as_of is not None:
        return ()
    return tuple(date for date in plan.dates if date.last_day - date.first_day < _PRECISE_DAYS)


def long_dates(plan: Plan) -> tuple[DateSpan, ...]:
    """The longer stretches of time a question names: a passage with a date in one says more of what was asked."""
    if plan.as_of is not None:
        return ()
    return tuple(date for date in plan.dates if date.last_day - date.first_day >= _PRECISE_DAYS)


def asks_exactly(plan: Plan) -> bool:
    """Whether a question names a day, a month, a version or a code, which an answer must hold."""
    return bool(precise_dates(plan) or plan.versions or plan.codes)


def missing(plan: Plan, held: bool) -> tuple[str, ...]:
    """What was asked for exactly, in the question's words, where no candidate holds it."""
    if held:
        return ()
    asked = (*(date.text for date in precise_dates(plan)), *plan.versions, *plan.codes)
    written = named_as_written(plan)
    return tuple(dict.fromkeys(written.get(one, one) for one in asked))


def tier_of(strengths: Sequence[int], *, complete: bool) -> int:
    """The tier of a candidate by where what was asked for exactly stands in it.

    0 is metadata or file name, 1 title, 2 heading, 3 body. One that is not `complete`, since it
    holds a date but not the version that was asked for with it, cannot be about both.
    """
    if not strengths:
        return _NONE
    return _ABOUT if complete and max(strengths) <= _HEADING_STRENGTH else _MENTIONS


def exact_first(scores: Mapping[int, float], tiers: Mapping[int, int]) -> list[Ranked]:
    """Order candidates by tier, then by score; ties go to the smaller chunk key."""
    ranked = [Ranked(key, score, tiers.get(key, _NONE)) for key, score in scores.items()]
    return sorted(ranked, key=lambda one: (one.tier, -one.score, one.chunk_key))


def newest_first(ranked: Sequence[Ranked], newest: Mapping[int, int | None], later: frozenset[int]) -> list[Ranked]:
    """For a question about what was valid on a day: among the candidates that fit about as well, the newest first.

    `newest` holds by chunk key the newest day of its document that is not after the day asked for;
    documents that are `later` altogether come last.
    """
    best = max((one.score for one in ranked if one.chunk_key not in later), default=0.0)

    def order(one: Ranked) -> tuple[bool, int, float, int]:
        day = newest.get(one.chunk_key)
        fits = one.score >= _ABOUT_AS_GOOD * best and day is not None
        return one.chunk_key in later, -(day or 0) if fits else 0, -one.score, one.chunk_key

    return sorted(ranked, key=order)


def without_duplicates(
    ranked: Sequence[Ranked], says: Callable[[int], tuple[str, str]], wanted: int
) -> tuple[list[Ranked], list[tuple[int, int]]]:
    """Keep the first of passages that say the same, until `wanted` are kept.

    `says` gives a passage's document, and its words without what does not change what they say. Also
    dropped is what a better passage of the same document holds whole. Passages that differ in a word
    or a number may differ in what matters, however alike they are, so both stay. Also returns
    (dropped, kept instead) chunk keys.
    """
    kept: list[tuple[Ranked, str, str]] = []
    dropped: list[tuple[int, int]] = []
    for one in ranked:
        if len(kept) == wanted:
            break
        document, words = says(one.chunk_key)
        same = next(
            (other for other, of, others in kept if words == others or (of == document and words in others)), None
        )
        if same is None:
            kept.append((one, document, words))
        else:
            dropped.append((one.chunk_key, same.chunk_key))
    return [one for one, _, _ in kept], dropped
