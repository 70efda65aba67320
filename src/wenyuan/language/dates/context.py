"""Dates in their context: what a heading says about the days under it.

Diaries, minutes and change logs name the month once, in the file's name or a heading, and then only
the day: `2026年4月` … `14日 上午开会`, `January 1660` … `2nd. At the office`. Under such a heading a day
at the beginning of a line is one of that month, and a date without a year (4月14日) has the heading's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wenyuan.language.dates.chinese import DAY_NUMBER, chinese_number
from wenyuan.language.dates.english import MONTH_NAMES
from wenyuan.language.dates.mentions import DateMention, PartialDate, single
from wenyuan.language.dates.resolving import date_mentions
from wenyuan.language.folding import fold

Context = tuple[PartialDate, ...]
"""The year, or the year and month, that stands above a text; more than one where it is ambiguous."""

_MOST_MONTHS_AWAY = 2

_day_at_line_start = re.compile(
    rf"^[\s#>*•-]{{0,8}}(?:(?P<day>{DAY_NUMBER})(?P<mark>\ ?[日号](?=[\s,.:;。、(晴雨阴昙雪星周上下早晚]|$)"
    r"|(?<=[0-9])(?:st|nd|rd|th)\b))",
    re.MULTILINE,
)
_month_alone = re.compile(rf"\s*(?:(?P<number>{DAY_NUMBER})\ ?月份?|(?P<name>[a-z]{{3,9}})\.?)\s*")


@dataclass(frozen=True, slots=True)
class DatedHeadings:
    """The dates in each of a text's headings, outermost first, and what they say about the text below."""

    mentions: tuple[tuple[DateMention, ...], ...]
    context: Context


def dates_of_headings(headings: Sequence[str]) -> DatedHeadings:
    """Read headings, outermost first; the mentions' positions count from the start of the heading each stands in."""
    context: Context = ()
    in_headings: list[tuple[DateMention, ...]] = []
    for heading in headings:
        mentions, context = _read_heading(heading, context)
        in_headings.append(mentions)
    return DatedHeadings(tuple(in_headings), context)


def dates_below(context: Context, text: str, folded: str) -> Sequence[DateMention]:
    """The dates of a text under headings that make this context; `folded` is the folded text."""
    return _in_context(date_mentions(text, folded), folded, context)


# The outer headings stand above many others.
@lru_cache(maxsize=4096)
def _read_heading(heading: str, above: Context) -> tuple[tuple[DateMention, ...], Context]:
    """The dates in a heading that stands below others, and the context it makes with them."""
    folded = fold(heading)
    mentions = date_mentions(heading, folded)
    context = _narrowed(above, mentions, folded)
    return tuple(_in_context(mentions, folded, context)), context


def _in_context(mentions: Sequence[DateMention], folded: str, context: Context) -> Sequence[DateMention]:
    """The mentions with their years, where the context gives them, and the days that stand alone."""
    if not context:
        return mentions
    completed = [dated for mention in mentions for dated in _completed(mention, context)]
    days = [day for above in context if above.month for day in _days_alone(folded, above)]
    return [*completed, *(day for day in days if day.exists)]


def _completed(mention: DateMention, context: Context) -> list[DateMention]:
    if not mention.is_open or mention.first.position > mention.last.position:
        return [mention]
    dated = []
    for above in context:
        away = abs((mention.first.month or 1) - above.month) if above.month else 0
        first, last = mention.first._replace(year=above.year), mention.last._replace(year=above.year)
        if away <= _MOST_MONTHS_AWAY and first.exists and last.exists:
            dated.append(mention._replace(reading="in-context", first=first, last=last))
    return dated or [mention]


def _days_alone(folded: str, above: PartialDate) -> Iterable[DateMention]:
    for match in _day_at_line_start.finditer(folded):
        day = chinese_number(match["day"])
        if day is not None:
            yield single(match.start("day"), match.end("mark"), "in-context", above._replace(day=day))


def _narrowed(context: Context, mentions: Sequence[DateMention], folded_heading: str) -> Context:
    """The context below a heading."""
    named = {_common_part(mention) for mention in mentions if not mention.is_open} - {None}
    if named:
        return tuple(part for part in named if part is not None) if len(named) <= 2 else ()
    match = _month_alone.fullmatch(folded_heading)
    if match and context:
        month = MONTH_NAMES.get(match["name"]) if match["name"] else chinese_number(match["number"])
        if month is not None and 1 <= month <= 12:
            return tuple(PartialDate(above.year, month) for above in context)
    return context


def _common_part(mention: DateMention) -> PartialDate | None:
    """The month a mention lies in, else the year, else nothing."""
    first, last = mention.first, mention.last
    if first.year != last.year:
        return None
    return PartialDate(first.year, first.month if first.month == last.month else None)
