"""Dates as they are written in English: April 14, 2026, 14th of April, between 3 and 5 May 1990."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from wenyuan.language.date_mentions import FIRST_YEAR, LAST_YEAR, DateMention, PartialDate, single

MONTH_NAMES = {
    word: number
    for number, words in enumerate(
        "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|sep sept september|oct october"
        "|nov november|dec december".split("|"),
        start=1,
    )
    for word in words.split()
}
_ALSO_VERBS = ("may", "march")
_YEAR_WORDS = frozenset(("in", "during", "since", "until", "year", "from", "between", "by"))

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTH_NAMES, reverse=True))})(?![a-z])\.?"
_ANY_MONTH = rf"(?:{'|'.join(MONTH_NAMES)})(?![a-z])"
_ORDINAL = "(?:st|nd|rd|th)"
_GAP = r"(?:,\s{0,2}|[\s/-]{1,2})"
_TO = r"\s?(?:-{1,4}|~|\b(?:to|through|until|till)\b)\s?"
_YEAR = "[12][0-9]{3}"
# 1663/64: until 1752 the English year began on 25 March; the second year is that of today's count.
_DUAL_YEAR = rf"(?P<year>{_YEAR})(?![0-9])(?:[-/](?P<second_year>[0-9]{{1,2}})(?![0-9-]))?"
_DAY_ENDS = r"(?![0-9a-z:%]|\.[0-9]|,[0-9]{3}(?![0-9]))"

_month_then_day = re.compile(
    rf"""
    {_MONTH}{_GAP}?(?P<day>[0-9]{{1,2}})(?P<ordinal>{_ORDINAL})?{_DAY_ENDS}
    (?:(?P<to>{_TO})(?P<last_day>[0-9]{{1,2}}){_ORDINAL}?{_DAY_ENDS}(?!\s?{_ANY_MONTH}))?
    (?:{_GAP}{_DUAL_YEAR})?
    """,
    re.VERBOSE,
)
_month_then_year = re.compile(rf"{_MONTH}{_GAP}(?:of\s)?{_DUAL_YEAR}", re.VERBOSE)
_day_then_month = re.compile(
    rf"""
    (?P<day>[0-9]{{1,2}})(?P<ordinal>{_ORDINAL})?
    (?:(?:(?P<to>{_TO})|\sand\s)(?P<last_day>[0-9]{{1,2}}){_ORDINAL}?)?
    (?:\sof)?{_GAP}?{_MONTH}
    (?:(?:{_GAP}(?:of\s)?)?{_DUAL_YEAR})?
    """,
    re.VERBOSE,
)
_quarter = re.compile(rf"q(?P<quarter>[1-4])[\s/-]{{0,2}}(?P<year>{_YEAR})(?![0-9a-z])")
_year_then_quarter = re.compile(rf"(?P<year>{_YEAR})[\s/-]{{0,2}}q(?P<quarter>[1-4])(?![0-9a-z])")
_years = re.compile(
    rf"(?P<year>{_YEAR})(?:\s?(?:-{{1,2}}|to|and|until|through)\s?(?P<last_year>{_YEAR}))?"
    r"(?![0-9a-z%-]|[.,:/][0-9])(?P<rest>\s?[a-z0-9])?"
)
_word_before = re.compile(r"(?<![a-z0-9])(?P<word>[a-z]{1,9})\.?,?[\s/-]{0,2}(?:of\s)?$")
_code_before = re.compile(r"[0-9a-z.:/$#-]$")
_between_before = re.compile(r"between\s{1,2}$")

_PARTS_OF_MONTH = {
    "early": (1, 10),
    "mid": (11, 20),
    "late": (21, None),
    "first week of": (1, 7),
    "second week of": (8, 14),
    "third week of": (15, 21),
}


def english_mentions(
    folded: str, found: Iterable[re.Match[str]], capital_at: Callable[[int], bool]
) -> Iterator[DateMention]:
    """Every date in English writing around the numbers found, those that do not exist included.

    `capital_at` tells whether the character at a position of the folded text was a capital: where
    neither a year nor an ordinal helps, `May 4` is a date and `may 4` is not.
    """
    read_to = 0
    for number in found:
        start = number.start()
        # Between Han characters (all beyond z) no English date begins, and most numbers stand there.
        if start >= read_to and (folded[start - 1 : start] <= "z" or folded[number.end() : number.end() + 1] <= "z"):
            for mention in _around(folded, start, capital_at):
                read_to = max(read_to, mention.end)
                yield mention


def _around(folded: str, start: int, capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    before = _word_before.search(folded, max(0, start - 16), start)
    word = before["word"] if before else ""
    if before and word in MONTH_NAMES:
        if match := _month_then_day.match(folded, before.start()):
            yield from _read_days(match, capital_at)
        elif match := _month_then_year.match(folded, before.start()):
            yield from _read_month(match, capital_at)
    elif before and word == "q" and (match := _quarter.match(folded, before.start())):
        yield _read_quarter(match)
    elif word in _YEAR_WORDS and (match := _years.match(folded, start)):
        yield from _read_years(match)
    elif match := _year_then_quarter.match(folded, start):
        yield _read_quarter(match)
    elif (match := _day_then_month.match(folded, start)) and not _code_before.search(folded, max(0, start - 1), start):
        yield from _read_days(match, capital_at)


def _is_verb(match: re.Match[str], capital_at: Callable[[int], bool]) -> bool:
    return match["month"] in _ALSO_VERBS and not capital_at(match.start("month"))


def _read_days(match: re.Match[str], capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    month, day = MONTH_NAMES[match["month"]], int(match["day"])
    last_day = int(match["last_day"] or day)
    if not match["year"] and not match["ordinal"] and _is_verb(match, capital_at):
        return
    year = _year(match, month)
    first, last = PartialDate(year, month, day), PartialDate(year, month, last_day)
    if not match["last_day"]:
        yield single(match.start(), match.end(), "month-name", first)
    elif match["to"] or _between_before.search(match.string, max(0, match.start() - 9), match.start()):
        yield DateMention(match.start(), match.end(), "range", first, last)
    else:
        yield single(match.start(), match.end("day"), "month-name", first)
        yield single(match.start("last_day"), match.end(), "month-name", last)


def _read_month(match: re.Match[str], capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    if _is_verb(match, capital_at):
        return
    month = MONTH_NAMES[match["month"]]
    before = match.string[max(0, match.start() - 16) : match.start()].rstrip(" -")
    days = next((days for words, days in _PARTS_OF_MONTH.items() if before.endswith(words)), None)
    whole = PartialDate(_year(match, month), month)
    if days is None:
        yield single(match.start(), match.end(), "month-name", whole)
    else:
        first, last = replace(whole, day=days[0]), replace(whole, day=days[1])
        yield DateMention(match.start(), match.end(), "range", first, last)


def _year(match: re.Match[str], month: int) -> int | None:
    """The year of a mention as it is counted today: January 1663/64 lies in 1664."""
    if match["year"] is None:
        return None
    year, second = int(match["year"]), match["second_year"]
    return year + 1 if second and month <= 3 and str(year + 1).endswith(second) else year


def _read_quarter(match: re.Match[str]) -> DateMention:
    year, last_month = int(match["year"]), 3 * int(match["quarter"])
    first, last = PartialDate(year, last_month - 2), PartialDate(year, last_month)
    return DateMention(match.start(), match.end(), "quarter", first, last)


def _read_years(match: re.Match[str]) -> Iterator[DateMention]:
    first, last = int(match["year"]), int(match["last_year"] or match["year"])
    # "in 2000 cases" counts, "in 1998 he left" does not.
    counts = match["rest"] and first % 100 == 0
    if FIRST_YEAR <= first <= last <= LAST_YEAR and not counts:
        end = match.end("last_year") if match["last_year"] else match.end("year")
        reading = "range" if match["last_year"] else "year"
        yield DateMention(match.start(), end, reading, PartialDate(first), PartialDate(last))
