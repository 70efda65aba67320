"""Dates: every day, month, year and range that a text names, as intervals of days.

Each way of writing has its module (`numeric`, `chinese`, `english`, `lunar`); here their readings are
sorted out and ranges are joined. A question means more than a document can: see `questions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from wenyuan.language.dates.chinese import UNKNOWN, chinese_mentions
from wenyuan.language.dates.english import english_mentions
from wenyuan.language.dates.lunar import lunar_mentions
from wenyuan.language.dates.mentions import DateMention, joined
from wenyuan.language.dates.numeric import numbers, numeric_mentions
from wenyuan.language.folding import fold_with_offsets
from wenyuan.types import DateSpan

_range_mark = re.compile(r"\s{0,2}(?:到|至|-{1,4}|~|to|through|until|till)\s{0,2}")
_and = re.compile(r"\s{0,2}(?:and|和|与)\s{0,2}")
_range_opening = re.compile(r"(?:between|介于|从|在)\s{0,2}$")
# Of three numbers that could as well be a version, nobody needs to hear that they are no date.
_UNREMARKABLE = ("year-first", "compact", UNKNOWN)


def find_dates(text: str) -> tuple[DateSpan, ...]:
    """Read every date in `text`, in order; an ambiguous one (03/04/2026) gives a span for each reading.

    A date without a year gives a span in `OPEN_YEAR`, which meets other dates without a year. Spans
    count characters of the text as given.
    """
    folded = fold_with_offsets(text)
    found, _ = resolved(folded.text, Capitals(text, folded.offsets))
    spans: list[DateSpan] = []
    for mention in found:
        days = mention.days()
        if days is not None:
            source = folded.source_span(mention.start, mention.end)
            words = text[source.start : source.end]
            spans.append(DateSpan(*days, words, source.start, source.end, mention.reading))
    return tuple(spans)


def date_mentions(text: str, folded: str) -> list[DateMention]:
    """The dates in `text` that exist, by position in its folded form, ranges joined."""
    return resolved(folded, Capitals(text))[0]


class Capitals:
    """Tells which characters of a folded text were capitals.

    In a text without any capital the case says nothing, and every letter counts as one, as do those
    of words that the text was given in the place of others.
    """

    def __init__(self, text: str, offsets: Sequence[int] | None = None, replaced: frozenset[int] = frozenset()) -> None:
        self._text = text
        self._known_offsets = offsets
        self._replaced = replaced

    def __call__(self, position: int) -> bool:
        if not self._has_capitals or position in self._replaced:
            return True
        return self._text[self._offsets[position]].isupper()

    @cached_property
    def _has_capitals(self) -> bool:
        return self._text != self._text.lower()

    @cached_property
    def _offsets(self) -> Sequence[int]:
        return self._known_offsets or fold_with_offsets(self._text).offsets


def resolved(
    folded: str, capital_at: Capitals, lunar_years: Sequence[int] = (), more: Iterable[DateMention] = ()
) -> tuple[list[DateMention], list[DateMention]]:
    """The mentions that exist, ranges joined, and those that do not exist but look as if meant.

    `more` are mentions that were read otherwise; where they overlap with others, the longest stands.
    """
    digits = numbers(folded)
    mentions = [*more, *numeric_mentions(folded, digits), *english_mentions(folded, digits, capital_at)]
    if not folded.isascii():
        mentions += chinese_mentions(folded)
        mentions += lunar_mentions(folded, lunar_years)
    if not mentions:
        return [], []
    existing: list[DateMention] = []
    impossible: list[DateMention] = []
    for mention in _without_overlaps(mentions):
        if mention.days() is not None:
            existing.append(mention)
        elif not mention.exists and mention.reading not in _UNREMARKABLE:
            impossible.append(mention)
    return (_with_ranges(existing, folded) if len(existing) > 1 else existing), impossible


def _without_overlaps(mentions: list[DateMention]) -> list[DateMention]:
    """Of overlapping mentions the longest; of the same words every reading, each once."""
    if len(mentions) == 1:
        return mentions
    kept: list[DateMention] = []
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
        elif (mention.start, mention.end) == (kept[-1].start, kept[-1].end):
            if (mention.first, mention.last) != (kept[-1].first, kept[-1].last):
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
