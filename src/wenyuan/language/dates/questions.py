"""The dates of a question: everything a document is read for, and what only a question can mean on its day."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wenyuan.language.dates import calendar_units, festivals, lunar, relative
from wenyuan.language.dates.as_of import as_of
from wenyuan.language.dates.brief import brief_mentions
from wenyuan.language.dates.lunar_calendar import lunar_year_of
from wenyuan.language.dates.mentions import DateMention, PartialDate, single
from wenyuan.language.dates.relative import DatedQuestion
from wenyuan.language.dates.resolving import Capitals, resolved
from wenyuan.language.folding import FoldedText, fold_with_offsets
from wenyuan.types import DateSpan

ANY_YEAR = "any-year"
"""How a day with its year is read where it may stand without it; such a place only mentions the day."""

_LONGEST_EXACT_DAYS = 31
_MOST_MONTHS = 12
_COUNTED = (calendar_units.READING, festivals.READING, lunar.READING)
_WORDS_THAT_STAY = (lunar.READING, festivals.READING, "month")


@dataclass(frozen=True, slots=True)
class QuestionDates:
    """What a question says about days.

    `mentions` are the dates in the form that documents are indexed by: years filled in where a day
    does not stand for itself, long stretches as months or years. `spans` are the intervals as read.
    `answered` are the places whose words need not be searched for, since every writing of the same
    date meets them elsewhere. `impossible` holds the words of dates that do not exist.
    """

    mentions: tuple[DateMention, ...]
    spans: tuple[DateSpan, ...]
    answered: tuple[tuple[int, int], ...]
    impossible: tuple[str, ...]
    as_of: int | None


def question_dates(question: str, now: datetime.date) -> QuestionDates:
    """Read the dates of a question that is asked on the day `now`.

    A date without a year is one of the year that the question names otherwise, or else of this year
    and the last, and one in `OPEN_YEAR`, which meets documents that name no year either; a day with
    its year meets those too. Spans count characters of the question as given.
    """
    lunar_year = lunar_year_of(now)
    dated = relative.with_absolute_dates(fold_with_offsets(question), now)
    folded = dated.folded
    capitals = Capitals(question, folded.offsets, dated.replaced)
    more = [
        *dated.mentions,
        *relative.relative_mentions(folded.text, now),
        *brief_mentions(folded.text, capitals),
        *festivals.festival_mentions(folded.text, now),
    ]
    found, impossible = resolved(folded.text, capitals, (lunar_year, lunar_year - 1), more)
    years = _years_named(found) or (now.year, now.year - 1)
    mentions = [m._replace(reading=calendar_units.READING) if dated.is_relative(m) else m for m in found]
    return QuestionDates(
        mentions=tuple(_as_indexed(mentions, years)),
        spans=tuple(_spans(question, folded, mentions, years)),
        answered=tuple(_answered(folded, found, dated)),
        impossible=tuple(_words(question, folded, mention) for mention in impossible),
        as_of=as_of(folded.text, mentions, years, now.toordinal()),
    )


def _years_named(found: Iterable[DateMention]) -> tuple[int, ...]:
    """The year, or the two, that a question names: in June/July 1754, June is one of 1754 too."""
    named = [
        mention for mention in found if mention.first.year == mention.last.year and mention.reading not in _COUNTED
    ]
    years = dict.fromkeys(m.first.year for m in named if m.first.year is not None)
    return tuple(years) if len(years) <= 2 else ()


def _as_indexed(mentions: Iterable[DateMention], years: Sequence[int]) -> Iterator[DateMention]:
    for mention in mentions:
        days = mention.days()
        if days is None:
            continue
        if mention.is_open and mention.first.day is None:
            for year in years:
                first, last = mention.first._replace(year=year), mention.last._replace(year=year)
                yield mention._replace(first=first, last=last)
        elif mention.is_open or mention.first.day is None or days[1] - days[0] < _LONGEST_EXACT_DAYS:
            yield mention
        else:
            yield from _in_months(mention, *map(datetime.date.fromordinal, days))


def _in_months(mention: DateMention, first: datetime.date, last: datetime.date) -> Iterator[DateMention]:
    """The months that a stretch of time touches, or its years where these are too many."""
    months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    if len(months) > _MOST_MONTHS:
        dates = [PartialDate(year) for year in range(first.year, last.year + 1)]
    else:
        dates = [PartialDate(month // 12, month % 12 + 1) for month in months]
    for date in dates[:_MOST_MONTHS]:
        yield single(mention.start, mention.end, mention.reading, date)


def _spans(
    question: str, folded: FoldedText, mentions: Iterable[DateMention], years: Sequence[int]
) -> Iterator[DateSpan]:
    for mention in mentions:
        source = folded.source_span(mention.start, mention.end)
        words = question[source.start : source.end]
        intervals = [mention.days(year) for year in years] if mention.is_open else [mention.days()]
        readings = [(days, mention.reading) for days in intervals]
        if mention.is_open or mention.is_within_a_year:
            readings.append((mention.without_year().days(), mention.reading if mention.is_open else ANY_YEAR))
        for days, reading in readings:
            if days is not None:
                yield DateSpan(*days, words, source.start, source.end, reading)


def _answered(folded: FoldedText, found: Iterable[DateMention], dated: DatedQuestion) -> Iterator[tuple[int, int]]:
    """The places of days and of relative dates; not of what documents say in the same words."""
    for mention in found:
        if mention.reading in _WORDS_THAT_STAY:
            continue
        days = mention.days()
        is_short = days is not None and days[1] - days[0] < _LONGEST_EXACT_DAYS
        if is_short or mention.first.day or mention.reading == calendar_units.READING or dated.is_relative(mention):
            source = folded.source_span(mention.start, mention.end)
            yield source.start, source.end


def _words(question: str, folded: FoldedText, mention: DateMention) -> str:
    source = folded.source_span(mention.start, mention.end)
    return question[source.start : source.end]
