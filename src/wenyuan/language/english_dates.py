"""Dates as they are written in English: April 14, 2026, 14th of April, between 3 and 5 May 1990."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from wenyuan.language.date_mentions import FIRST_YEAR, LAST_YEAR, DateMention, PartialDate, single

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ALSO_VERBS = ("may", "march")

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_ORDINAL = "(?:st|nd|rd|th)"
_GAP = r"(?:,\s{0,2}|[\s/-]{1,2})"
_TO = r"\s?(?:-{1,4}|~|\b(?:to|through|until|till)\b)\s?"
_YEAR = "[12][0-9]{3}"
# 1663/64: until 1752 the English year began on 25 March, and both counts were written.
_DUAL = r"(?:[-/](?P<second_year>[0-9]{1,2})(?![0-9-]))?"
_NO_MORE = r"(?![0-9a-z:%]|[.,][0-9])"

_month_first = re.compile(
    rf"""
    (?<![a-z0-9]){_MONTH}
    (?:
        {_GAP}?(?P<day>[0-9]{{1,2}})(?P<ordinal>{_ORDINAL})?{_NO_MORE}
        (?:{_TO}(?P<last_day>[0-9]{{1,2}}){_ORDINAL}?{_NO_MORE})?
        (?:{_GAP}(?P<year>{_YEAR})(?![0-9]){_DUAL})?
      | {_GAP}(?:of\s)?(?P<month_year>{_YEAR})(?![0-9]){_DUAL.replace("second_year", "second_month_year")}
    )
    """,
    re.VERBOSE,
)
_day_first = re.compile(
    rf"""
    (?P<day>[0-9](?<![0-9a-z.:/$#-].)[0-9]?)(?P<ordinal>{_ORDINAL})?
    (?:(?:(?P<to>{_TO})|\sand\s)(?P<last_day>[0-9]{{1,2}}){_ORDINAL}?)?
    (?:\sof)?{_GAP}?{_MONTH}
    (?:(?:{_GAP}(?:of\s)?)?(?P<year>{_YEAR})(?![0-9]){_DUAL})?
    """,
    re.VERBOSE,
)
_quarter = re.compile(
    rf"(?<![a-z0-9])(?:q(?P<quarter>[1-4])[\s/-]{{0,2}}(?P<year>{_YEAR})"
    rf"|(?P<year_first>{_YEAR})[\s/-]{{0,2}}q(?P<quarter_last>[1-4]))(?![0-9a-z])"
)
_year = re.compile(
    rf"(?<![a-z0-9])(?:in|during|since|until|year|from|between|by)\s(?P<year>{_YEAR})"
    rf"(?:\s?(?:-{{1,2}}|to|and|until|through)\s?(?P<last_year>{_YEAR}))?(?![0-9a-z%-]|[.,:/][0-9])(?P<rest>\s?[a-z0-9])?"
)
_PARTS = {
    "early": (1, 10),
    "mid": (11, 20),
    "late": (21, None),
    "first week of": (1, 7),
    "second week of": (8, 14),
    "third week of": (15, 21),
}


def english_mentions(folded: str, capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    """Every date in English writing, those that do not exist included.

    `capital_at` tells whether the character at a position of the folded text was a capital: where
    neither a year nor an ordinal helps, `May 4` is a date and `may 4` is not.
    """
    for match in _month_first.finditer(folded):
        if match["month_year"]:
            yield from _read_month(match, capital_at)
        else:
            yield from _read_days(match, capital_at)
    for match in _day_first.finditer(folded):
        yield from _read_days(match, capital_at)
    for match in _quarter.finditer(folded):
        first_month = 3 * int(match["quarter"] or match["quarter_last"]) - 2
        year = int(match["year"] or match["year_first"])
        first, last = PartialDate(year, first_month), PartialDate(year, first_month + 2)
        yield DateMention(match.start(), match.end(), "quarter", first, last)
    for match in _year.finditer(folded):
        yield from _read_years(match)


def _month_number(match: re.Match[str]) -> int:
    return _MONTHS.index(match["month"][:3]) + 1


def _is_verb(match: re.Match[str], capital_at: Callable[[int], bool]) -> bool:
    return match["month"] in _ALSO_VERBS and not capital_at(match.start("month"))


def _read_days(match: re.Match[str], capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    month, day = _month_number(match), int(match["day"])
    last_day = int(match["last_day"] or day)
    if not match["year"] and not match["ordinal"] and _is_verb(match, capital_at):
        return
    for year in _both_counts(match["year"], match["second_year"], month):
        first, last = PartialDate(year, month, day), PartialDate(year, month, last_day)
        if not match["last_day"]:
            yield single(match.start(), match.end(), "month-name", first)
        elif match["last_day"] and ("to" not in match.re.groupindex or match["to"] or _after_between(match)):
            yield DateMention(match.start(), match.end(), "range", first, last)
        else:
            yield single(match.start(), match.end("day"), "month-name", first)
            yield single(match.start("last_day"), match.end(), "month-name", last)


def _after_between(match: re.Match[str]) -> bool:
    return match.string[max(0, match.start() - 12) : match.start()].rstrip().endswith("between")


def _read_month(match: re.Match[str], capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    if _is_verb(match, capital_at):
        return
    month = _month_number(match)
    before = match.string[max(0, match.start() - 16) : match.start()].rstrip(" -")
    days = next((days for words, days in _PARTS.items() if before.endswith(words)), None)
    for year in _both_counts(match["month_year"], match["second_month_year"], month):
        if days is None:
            yield single(match.start(), match.end(), "month-name", PartialDate(year, month))
        else:
            first, last = PartialDate(year, month, days[0]), PartialDate(year, month, days[1])
            yield DateMention(match.start(), match.end(), "range", first, last)


def _both_counts(year: str | None, second: str | None, month: int) -> tuple[int | None, ...]:
    """The years a mention can mean; two where it is written in both counts, as January 1663/64."""
    if year is None:
        return (None,)
    if second and month <= 3 and str(int(year) + 1).endswith(second):
        return (int(year), int(year) + 1)
    return (int(year),)


def _read_years(match: re.Match[str]) -> Iterator[DateMention]:
    first, last = int(match["year"]), int(match["last_year"] or match["year"])
    # "in 2000 cases" counts, "in 1998 he left" does not.
    counts = match["rest"] and first % 100 == 0
    if FIRST_YEAR <= first <= last <= LAST_YEAR and not counts:
        end = match.end("last_year") if match["last_year"] else match.end("year")
        reading = "range" if match["last_year"] else "year"
        yield DateMention(match.start("year"), end, reading, PartialDate(first), PartialDate(last))
