"""Dates: every day, month, year and range that a text names, as intervals of days.

Each way of writing has its module (`numeric_dates`, `chinese_dates`, `english_dates`); here their
readings are sorted out, ranges are joined and open years filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from wenyuan.language.chinese_dates import chinese_mentions
from wenyuan.language.date_mentions import DateMention, joined
from wenyuan.language.english_dates import english_mentions
from wenyuan.language.folding import fold_with_offsets
from wenyuan.language.numeric_dates import numbers, numeric_mentions
from wenyuan.types import DateSpan

_range_mark = re.compile(r"\s{0,2}(?:到|至|-{1,4}|~|to|through|until|till)\s{0,2}")
_and = re.compile(r"\s{0,2}(?:and|和|与)\s{0,2}")
_range_opening = re.compile(r"(?:between|介于|从|在)\s{0,2}$")
# Of three numbers that could as well be a version, nobody needs to hear that they are no date.
_UNREMARKABLE = ("year-first", "compact")


@dataclass(frozen=True, slots=True)
class DateReading:
    """The dates in a text, and the words of those that do not exist, such as 2月30日."""

    spans: tuple[DateSpan, ...]
    impossible: tuple[str, ...]


def find_dates(text: str, years: Sequence[int] = ()) -> tuple[DateSpan, ...]:
    """The dates in `text`; see `read_dates`."""
    return read_dates(text, years).spans


def read_dates(text: str, years: Sequence[int] = (), *, asked: bool = False) -> DateReading:
    """Read every date in `text`, in order; an ambiguous one (03/04/2026) gives a span for each reading.

    A date without a year gives a span in `OPEN_YEAR`, which meets other dates without a year, and
    one in each of `years`. Documents are read without `years`, since nobody knows which was meant;
    a question is read with those it can mean and with `asked`, so that a day with a year gives a
    span in `OPEN_YEAR` too. Spans count characters of the text as given.
    """
    folded = fold_with_offsets(text)
    spans: list[DateSpan] = []
    existing, impossible = _sorted_out(folded.text, _Capitals(text, folded.offsets))
    for mention in existing:
        source = folded.source_span(mention.start, mention.end)
        for days in _intervals(mention, years, asked):
            words = text[source.start : source.end]
            spans.append(DateSpan(*days, words, source.start, source.end, mention.reading))
    sources = (folded.source_span(mention.start, mention.end) for mention in impossible)
    return DateReading(tuple(spans), tuple(text[source.start : source.end] for source in sources))


def date_mentions(text: str, folded: str) -> list[DateMention]:
    """The dates in `text` that exist, by position in its folded form, ranges joined."""
    return _sorted_out(folded, _Capitals(text))[0]


class _Capitals:
    """Tells which characters of a folded text were capitals.

    In a text without any capital the case says nothing, and every letter counts as one.
    """

    def __init__(self, text: str, offsets: Sequence[int] | None = None) -> None:
        self._text = text
        self._known_offsets = offsets

    def __call__(self, position: int) -> bool:
        return not self._has_capitals or self._text[self._offsets[position]].isupper()

    @cached_property
    def _has_capitals(self) -> bool:
        return self._text != self._text.lower()

    @cached_property
    def _offsets(self) -> Sequence[int]:
        return self._known_offsets or fold_with_offsets(self._text).offsets


def _intervals(mention: DateMention, years: Sequence[int], asked: bool) -> Iterator[tuple[int, int]]:
    candidates = [mention.days(year) for year in years] if mention.is_open else [mention.days()]
    if mention.is_open or (asked and mention.is_within_a_year):
        candidates.append(mention.without_year().days())
    yield from (days for days in candidates if days is not None)


def _sorted_out(folded: str, capital_at: _Capitals) -> tuple[list[DateMention], list[DateMention]]:
    """The mentions that exist, ranges joined, and those that do not exist but look as if meant."""
    digits = numbers(folded)
    found = _without_overlaps(
        [
            *numeric_mentions(folded, digits),
            *english_mentions(folded, digits, capital_at),
            *chinese_mentions(folded),
        ]
    )
    existing = [mention for mention in found if mention.exists and mention.days() is not None]
    impossible = [m for m in found if not m.exists and m.reading not in _UNREMARKABLE]
    return _with_ranges(existing, folded), impossible


def _without_overlaps(mentions: Iterable[DateMention]) -> list[DateMention]:
    """Of overlapping mentions the longest; of the same words every reading."""
    kept: list[DateMention] = []
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end or (mention.start, mention.end) == (kept[-1].start, kept[-1].end):
            kept.append(mention)
        elif mention.end - mention.start > kept[-1].end - kept[-1].start:
            shorter = (kept[-1].start, kept[-1].end)
            while kept and (kept[-1].start, kept[-1].end) == shorter:
                kept.pop()
            kept.append(mention)
    return kept


def _with_ranges(mentions: list[DateMention], folded: str) -> list[DateMention]:
    result: list[DateMention] = []
    for mention in mentions:
        if result and result[-1].reading != "range" and mention.reading != "range":
            earlier = result[-1]
            gap = folded[earlier.end : mention.start] if mention.start - earlier.end < 12 else ""
            opened = _and.fullmatch(gap) and _range_opening.search(folded[max(0, earlier.start - 10) : earlier.start])
            if (opened or _range_mark.fullmatch(gap)) and (whole := joined(earlier, mention)):
                result[-1] = whole
                continue
        result.append(mention)
    return result
