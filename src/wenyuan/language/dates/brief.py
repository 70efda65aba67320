"""Dates in the short forms people ask with: 四月的会, 四月十四开了什么会, in April, Q2 results, 4-14 会议纪要.

In a document such words are too uncertain to be dates. In a question they are read where what stands
around them leaves no doubt; the year is open, and so are the readings of what can be two days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from wenyuan.language.dates.chinese import NO_DAY_BEFORE, chinese_number
from wenyuan.language.dates.english import MONTH_NAMES, months_of_year, part_before
from wenyuan.language.dates.mentions import DateMention, PartialDate, part_of_month, single

_NUMERAL = "〇零一二三四五六七八九十廿卅"
# What can follow the name of a month or day that stands alone; 二月花 and 三月三 are none.
_FOLLOWS = (
    r"(?=$|[\s,.?!;:()的、]|那[天日次]|当[天日晚]|[上中下]午|[早晚夜]上?|会议|例会|周会|晨会|开[了会过的]|发[布生了]|"
    r"[有是做干写在到至]|我们?|之?[前后])"
)
_NOT_WITHIN = rf"(?<![{_NUMERAL}0-9.年个第半])"
# What happens in a month of every year, or in one of a year told elsewhere, is no month of this year or the last.
_in_another_year = re.compile(
    "每|历年|通常|平均|一般|[隔翌次同当那某]年"
    r"|\b(?:every|each|usually|typically|average|annual(?:ly)?|days\sin|(?:the\s)?(?:following|same|that)\syear)\b"
)
_month_in_chinese = re.compile(
    rf"{_NOT_WITHIN}(?:(?P<first_number>[0-9]{{1,2}})\ ?月?\ ?[到至~-]\ ?)?(?:"
    rf"(?P<number>[0-9]{{1,2}})\ ?月(?:份|(?![龄大期嫂个内后间末子卡费租薪经刊号]|\ ?[{_NUMERAL}0-9]))"
    rf"|(?P<numeral>[{_NUMERAL}]{{1,2}})月(?:份|{_FOLLOWS}))",
    re.VERBOSE,
)
_day_in_chinese = re.compile(
    rf"(?P<month>{_NOT_WITHIN}(?:[0-9]{{1,2}}|[{_NUMERAL}]{{1,2}}))\ ?月\ ?"
    rf"(?P<day>[0-9]{{1,2}}|[{_NUMERAL}]{{2,3}})(?!{NO_DAY_BEFORE}){_FOLLOWS}",
    re.VERBOSE,
)
_quarter_in_chinese = re.compile(rf"(?<![每上下{_NUMERAL}0-9年度.])第?(?P<quarter>[一二三四1-4])季度(?![{_NUMERAL}])")
_half_in_chinese = re.compile(r"(?<![每年度])(?P<half>[上下])半年(?!级)")

# What happens on a day: only beside it are two numbers a date.
_OCCASION = (
    r"\s?(?:的会(?![员计话])|的?\s?(?:会议[纪记]|例会|周会|晨会|早会|日报|日记|开会|[那当][天日次])"
    r"|(?:meeting|minutes|stand-?up|diary|journal)(?![a-z]))"
)
_PAIR = r"(?P<one>[0-9]{1,2})(?P<mark>[-./])(?P<two>[0-9]{1,2})"
_day_in_digits = re.compile(rf"(?<![0-9a-z.#$¥€£/:-]){_PAIR}(?={_OCCASION})")
_LAST_PAIR = r"(?P<last_one>[0-9]{1,2})(?P=mark)(?P<last_two>[0-9]{1,2})"
_range_in_digits = re.compile(
    rf"(?<![0-9a-z.#$¥€£/:-])(?P<before>(?:从|自|在|from|between|during)\s?)?{_PAIR}"
    rf"\s?(?:-{{1,2}}|~|到|至|to|and)\s?{_LAST_PAIR}(?![0-9./:-])(?P<after>\s?(?:期间|之间)|{_OCCASION})?"
)

# Short forms are names too (by Jan van Eyck), as are some whole ones before a capital (by June Carter).
_MONTH = rf"(?P<month>{'|'.join(word for word in MONTH_NAMES if len(word) > 4 or word in ('may', 'june', 'july'))})"
_month_in_english = re.compile(
    rf"(?<![a-z0-9'-])(?:(?P<before>in|during|of|since|until|by|for)\s)?(?P<the>the\s)?(?:(?:early|mid|late)[\s-])?{_MONTH}"
    r"(?![a-z0-9]|\.?,?\s?[0-9])(?P<after>\s(?:meeting|minutes|release|report|notes|newsletter|issue|updates?)(?![a-z]))?"
)
_quarter_in_english = re.compile(
    r"(?<![a-z0-9-])(?P<before>(?:in|during|for|of|since|until|by)\s)?"
    r"(?:q(?P<quarter>[1-4])|(?P<which>first|second|third|fourth)\squarter)(?![a-z0-9_-])(?!\s(?:of|[0-9]))"
    r"(?P<after>\s(?:results?|reports?|earnings|revenue|okrs?|review|plan|goals|targets)(?![a-z]))?"
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def brief_mentions(folded: str, capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    """Months, days and quarters that are named without a year and without the usual signs of a date."""
    yield from _in_digits(folded)
    is_in_another_year = _in_another_year.search(folded)
    if not is_in_another_year:
        yield from _months_in_english(folded, capital_at)
        yield from _quarters_in_english(folded)
    if not folded.isascii():
        yield from _days_in_chinese(folded)
        if not is_in_another_year:
            yield from _months_in_chinese(folded)


def _months_in_chinese(folded: str) -> Iterator[DateMention]:
    for match in _month_in_chinese.finditer(folded):
        last = PartialDate(None, chinese_number(match["number"] or match["numeral"]))
        first = PartialDate(None, int(match["first_number"])) if match["first_number"] else last
        if first.exists and last.exists:
            yield DateMention(*match.span(), "month", first, last)
    for match in _quarter_in_chinese.finditer(folded):
        yield months_of_year(*match.span(), None, chinese_number(match["quarter"]) or 1, 3)
    for match in _half_in_chinese.finditer(folded):
        yield months_of_year(*match.span(), None, 1 if match["half"] == "上" else 2, 6)


def _days_in_chinese(folded: str) -> Iterator[DateMention]:
    for match in _day_in_chinese.finditer(folded):
        yield single(
            *match.span(), "month-day", PartialDate(None, chinese_number(match["month"]), chinese_number(match["day"]))
        )


def _in_digits(folded: str) -> Iterator[DateMention]:
    for match in _day_in_digits.finditer(folded):
        for reading, (month, day) in _orders(match, "one", "two").items():
            date = PartialDate(None, month, day)
            if date.exists:
                yield single(*match.span(), reading, date)
    for match in _range_in_digits.finditer(folded):
        if match["before"] or match["after"]:
            lasts = _orders(match, "last_one", "last_two")
            for reading, first in _orders(match, "one", "two").items():
                dates = PartialDate(None, *first), PartialDate(None, *lasts[reading])
                if all(date.exists for date in dates):
                    yield DateMention(match.start("one"), match.end("last_two"), "range", *dates)


def _orders(match: re.Match[str], one: str, two: str) -> dict[str, tuple[int, int]]:
    """Month and day in both orders where a slash leaves that open; else the month comes first."""
    first, second = int(match[one]), int(match[two])
    orders = {"month-day": (first, second)}
    if match["mark"] == "/" and first != second:
        orders["day-month"] = (second, first)
    return orders


def _months_in_english(folded: str, capital_at: Callable[[int], bool]) -> Iterator[DateMention]:
    for match in _month_in_english.finditer(folded):
        start, end = match.span("month")
        month = PartialDate(None, MONTH_NAMES[match["month"]])
        part = part_before(folded, start)
        if part:
            yield part_of_month(part[0], end, month, part[1])
        elif _is_month(match, capital_at):
            yield single(start, end, "month", month)


def _is_month(match: re.Match[str], capital_at: Callable[[int], bool]) -> bool:
    """Whether a name that stands alone is a month: in April, since April, the April report; not the April Theses."""
    if match["the"]:
        return match["after"] is not None and capital_at(match.start("month"))
    if match["before"] in ("in", "during"):
        return True
    end = match.end("month")
    goes_on = match.string[end : end + 1] == " " and end + 1 < len(match.string) and capital_at(end + 1)
    return match["before"] is not None and capital_at(match.start("month")) and not goes_on


def _quarters_in_english(folded: str) -> Iterator[DateMention]:
    for match in _quarter_in_english.finditer(folded):
        # A match has a fourth quarter too, but no report on it.
        if match["after"] or (match["quarter"] and match["before"]):
            number = int(match["quarter"]) if match["quarter"] else _ORDINALS[match["which"]]
            yield months_of_year(*match.span(), None, number, 3)
