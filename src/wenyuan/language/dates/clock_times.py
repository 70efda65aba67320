"""Times of day: 14:30, 2:30 pm, 下午两点半 and 14时30分 are the same minute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from wenyuan.language.numerals import NUMERAL, parse_integer


class ClockTime(NamedTuple):
    """A time of day at one place of a folded text, in minutes from midnight: each one that it may mean."""

    start: int
    end: int
    minutes: frozenset[int]


_HALF_DAY = 12 * 60
_DAY = 2 * _HALF_DAY
_LATER = frozenset(("下午", "晚上", "傍晚", "晚", "pm", "p.m."))
_EARLIER = frozenset(("上午", "早上", "凌晨", "清晨", "早", "am", "a.m."))

_with_colon = re.compile(
    r"(?:(?P<before>上午|下午|早上|晚上|凌晨|清晨|傍晚|中午)\s?)?(?<![0-9:.])(?P<hour>[0-9]{1,2}):(?P<minute>[0-5][0-9])(?::[0-5][0-9])?(?![0-9:])"
    r"(?:\s?(?P<behind>[ap]\.?m\b\.?))?"
)
_english = re.compile(r"(?<![0-9:.])(?P<hour>[0-9]{1,2})(?:\.(?P<minute>[0-5][0-9]))?\s?(?P<behind>[ap]\.?m\b\.?)")
_chinese = re.compile(
    r"(?:(?P<before>上午|下午|早上|晚上|凌晨|清晨|傍晚|中午|早|晚)\s?)?"
    rf"(?P<hour>[0-9{NUMERAL}]{{1,3}})\s?[点时](?![间候期数])(?:(?P<half>半)|(?P<quarter>[一三]刻)|整|钟|\s?(?P<minute>[0-9{NUMERAL}]{{1,3}})\s?分?(?!之))?"
)


def clock_times(folded: str) -> Iterator[ClockTime]:
    """Every time of day in a folded text; where morning or afternoon is left open, both are meant."""
    patterns = [_with_colon] if ":" in folded else []
    patterns += [_english] if re.search("[ap].?m", folded) else []
    patterns += [_chinese] if "点" in folded or "时" in folded else []
    for pattern in patterns:
        for match in pattern.finditer(folded):
            if minutes := _minutes(match.groupdict()):
                yield ClockTime(match.start(), match.end(), minutes)


def _minutes(parts: dict[str, str | None]) -> frozenset[int]:
    hour, minute = parse_integer(parts["hour"] or ""), 0
    if parts.get("half"):
        minute = 30
    elif parts.get("quarter"):
        minute = 15 if parts["quarter"] == "一刻" else 45
    elif parts.get("minute"):
        minute = parse_integer(parts["minute"] or "") or 0
    if hour is None or hour > 24 or minute > 59:
        return frozenset()
    half = (parts.get("before") or parts.get("behind") or "").replace("pm.", "pm").replace("am.", "am")
    at = (hour * 60 + minute) % _DAY
    if half in _LATER and hour < 12:
        return frozenset((at + _HALF_DAY,))
    if half in _EARLIER and hour == 12:
        return frozenset((at - _HALF_DAY,))
    if half in _LATER or half in _EARLIER or hour >= 12 or (parts["hour"] or "").startswith("0"):
        return frozenset((at,))
    return frozenset((at, at + _HALF_DAY))
