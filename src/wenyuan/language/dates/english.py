"""Dates as they are written in English: April 14, 2026, 14th of April, between 3 and 5 May 1990, Q2 2026."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from wenyuan.language.dates.mentions import FIRST_YEAR, LAST_YEAR, DateMention, PartialDate, part_of_month, single

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
_QUARTER = "(?:q(?P<quarter>[1-4])|h(?P<half>[12]))"
_quarter = re.compile(rf"{_QUARTER}(?:[\s/-]{{0,2}}|\sof\s)(?P<year>{_YEAR})(?![0-9a-z])")
_year_then_quarter = re.compile(rf"(?P<year>{_YEAR})[\s/-]{{0,2}}{_QUARTER}(?![0-9a-z])")
_quarter_before = re.compile(r"(?<![a-z0-9])(?P<which>[a-z0-9]{3,6})\s(?P<unit>quarter|half)(?:\sof)?\s$")
_years = re.compile(
    rf"(?P<year>{_YEAR})(?:\s?(?:-{{1,2}}|to|and|until|through)\s?(?P<last_year>{_YEAR}))?"
    r"(?![0-9a-z%-]|[.,:/][0-9])(?P<rest>\s?[a-z0-9])?"
)
_year_alone = re.compile(rf"{_YEAR}(?![0-9a-z%]|[.,:/-][0-9])")
_word_before = re.compile(r"(?<![a-z0-9])(?P<word>[a-z]{1,9})\.?,?[\s/-]{0,2}(?:of\s)?$")
_code_before = re.compile(r"[0-9a-z.:/$#-]$")
# "May 5 people attend?" asks leave for five; after a preposition or an article it is a date, and after
# `to` or `and` where another date goes before.
_counted_after = re.compile(r"\s(?:people|men|women|children|(?!was|is|this|us|his|as|its|has|does)[a-z]{2,20}s)\b")
_month_before = re.compile(
    rf"(?:\b(?:on|by|since|until|till|before|after|from|of|the|between)|(?:[0-9]{_ORDINAL}?|\b{_ANY_MONTH})\s(?:to|and))"
    r"\s{1,2}$"
)
_between_before = re.compile(r"between\s{1,2}$")

_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_PART_WORDS = {
    "early": "first third",
    "beginning": "first third",
    "start": "first third",
    "mid": "second third",
    "middle": "second third",
    "late": "last third",
    "end": "last third",
}
_part_before = re.compile(
    r"(?<![a-z0-9])(?:(?P<word>early|mid|late)[\s-]|(?P<side>beginning|start|middle|end)\sof\s"
    r"|(?P<which>first|second|third|fourth|last|1st|2nd|3rd|4th)\s(?P<unit>week|half)\sof\s)$"
)


def english_mentions(
    folded: str, found: Iterable[re.Match[str]], capital_at: Callable[[int], bool]
) -> Iterator[DateMention]:
    """Every date in English writing around the numbers found, those that do not exist included.

    `capital_at` tells whether the character at a position of the folded text was a capital: where
    neither a year nor an ordinal helps, `May 4` is a date and `may 4` is not.
    """
    read_to = 0
    for number in found:
        start, end = number.span()
        # Between Han characters (all beyond z) no English date begins, and most numbers stand there.
        if start >= read_to and (folded[start - 1 : start] <= "z" or folded[end : end + 1] <= "z"):
            for mention in _around(folded, start, end, capital_at):
                read_to = max(read_to, mention.end)
                yield mention


def _around(folded: str, start: int, end: int, capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    """The date around the number from `start` to `end`, by the word before it or else by what follows."""
    previous = folded[start - 1 : start]
    before = _word_before.search(folded, max(0, start - 16), start) if _joins(previous) else None
    word = before["word"] if before else ""
    if before and word in MONTH_NAMES:
        if match := _month_then_day.match(folded, before.start()):
            yield from _read_days(match, capital_at)
        elif match := _month_then_year.match(folded, before.start()):
            yield from _read_month(match, capital_at)
    elif before and word in ("q", "h") and (match := _quarter.match(folded, before.start())):
        yield from _read_quarter(match)
    elif word in ("quarter", "half") and (which := _quarter_before.search(folded, max(0, start - 20), start)):
        yield from _quarter_of(which, start)
    elif word in _YEAR_WORDS and (match := _years.match(folded, start)):
        yield from _read_years(match)
    elif end - start > 5 or not _joins(folded[end : end + 1]):
        return
    elif match := _year_then_quarter.match(folded, start):
        yield from _read_quarter(match)
    elif (match := _day_then_month.match(folded, start)) and not _code_before.search(previous):
        yield from _read_days(match, capital_at)


def _joins(character: str) -> bool:
    """Whether a number belongs together with what stands beyond the character next to it."""
    return character in " ,./-" or "a" <= character <= "z" or character.isspace()


def _is_verb(match: re.Match[str], capital_at: Callable[[int], bool]) -> bool:
    """Whether `may` or `march` is no month: it lacks its capital, or stands before so many people."""
    if match["month"] not in _ALSO_VERBS:
        return False
    if not capital_at(match.start("month")):
        return True
    if "day" not in match.re.groupindex or not _counted_after.match(match.string, match.end()):
        return False
    return not _month_before.search(match.string[max(0, match.start() - 16) : match.start()])


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


def part_before(folded: str, start: int) -> tuple[int, str] | None:
    """The part of a month that is named right before it (`early`, `first week of`): where that begins, and which."""
    match = _part_before.search(folded, max(0, start - 16), start)
    if not match:
        return None
    if word := match["word"] or match["side"]:
        return match.start(), _PART_WORDS[word]
    number = _ORDINALS.get(match["which"])
    if match["unit"] == "week":
        return match.start(), f"week {number}" if number else "last week"
    return (match.start(), "first half" if number == 1 else "second half") if number in (1, 2) else None


def _read_month(match: re.Match[str], capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    if _is_verb(match, capital_at):
        return
    month = MONTH_NAMES[match["month"]]
    whole = PartialDate(_year(match, month), month)
    if part := part_before(match.string, match.start()):
        yield part_of_month(part[0], match.end(), whole, part[1])
    else:
        yield single(match.start(), match.end(), "month-name", whole)


def _year(match: re.Match[str], month: int) -> int | None:
    """The year of a mention as it is counted today: January 1663/64 lies in 1664."""
    if match["year"] is None:
        return None
    year, second = int(match["year"]), match["second_year"]
    return year + 1 if second and month <= 3 and str(year + 1).endswith(second) else year


def _read_quarter(match: re.Match[str]) -> Iterator[DateMention]:
    number, months = (match["quarter"], 3) if match["quarter"] else (match["half"], 6)
    yield months_of_year(match.start(), match.end(), int(match["year"]), int(number), months)


def _quarter_of(which: re.Match[str], start: int) -> Iterator[DateMention]:
    """The quarter or half whose words stand before the year at `start`."""
    year = _year_alone.match(which.string, start)
    months = 3 if which["unit"] == "quarter" else 6
    number = 12 // months if which["which"] == "last" else _ORDINALS.get(which["which"])
    if year and number and number * months <= 12:
        yield months_of_year(which.start(), year.end(), int(year[0]), number, months)


def months_of_year(start: int, end: int, year: int | None, number: int, months: int) -> DateMention:
    """The quarter (three months) or half (six) of that number."""
    first, last = PartialDate(year, (number - 1) * months + 1), PartialDate(year, number * months)
    return DateMention(start, end, "quarter" if months == 3 else "half-year", first, last)


def _read_years(match: re.Match[str]) -> Iterator[DateMention]:
    first, last = int(match["year"]), int(match["last_year"] or match["year"])
    # "in 2000 cases" counts, "in 1998 he left" does not.
    counts = match["rest"] and first % 100 == 0
    if FIRST_YEAR <= first <= last <= LAST_YEAR and not counts:
        end = match.end("last_year") if match["last_year"] else match.end("year")
        reading = "range" if match["last_year"] else "year"
        yield DateMention(match.start(), end, reading, PartialDate(first), PartialDate(last))
