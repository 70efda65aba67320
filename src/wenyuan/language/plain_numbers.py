"""Plain numbers: numbers that are not written as plain digits, as plain digits.

12万, 3万5千, 一千二百三十四点五, 1.2e5, 1,234.50 and 1.2 million are read; the digits are a word like
any other, which `1234.5` or `120000` in another text is too. Left out is what would be found
everywhere or by mistake: small numbers (三, 一两), numbers about which nobody is sure (十几万,
二三十, 三百余), times (三点五十), numbers inside versions, codes and dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from wenyuan.language.dates.mentions import DateMention
from wenyuan.language.numerals import NUMERAL, parse_number

_LONGEST = 32

_written = re.compile(
    rf"[0-9{NUMERAL}](?=[0-9{NUMERAL}万亿兆点.,e\s])(?<![0-9a-z_].)(?<![0-9a-z_][-.,/:].)"
    rf"(?![0-9]*+(?![{NUMERAL}万亿兆点.,e]|\s?[tmb]))"
    rf"(?:[0-9{NUMERAL}万亿兆]|[.点](?=[0-9{NUMERAL}])|,(?=[0-9]{{3}}(?![0-9])))*+"
    r"(?:e[+-]?[0-9]{1,2}(?![0-9a-z.])|\s?(?:thousand|million|billion|trillion)\b)?"
    r"(?![-_./:]?[0-9]|[几多余来])"
)
_vague_before = frozenset("几数上")
_time_behind = frozenset("分半钟时")

_two_digits_before_unit = re.compile("[一二三四五六七八九两]{2}[十拾百佰千仟万亿兆]")
_time = re.compile("[0-9]点|点[0-9]|点[^万亿兆]*[十拾百佰千仟廿卅卌]")
_unit = re.compile("[十拾百佰千仟万亿兆廿卄卅卌]")
_english = re.compile(r"([0-9.,]+)\s?([a-z]{4,})")
_ENGLISH = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_like_a_version = re.compile(r"[0-9]{1,2}\.|[12][0-9]{3}\.[0-9]{1,2}$")


def number_words(folded: str, dates: Sequence[DateMention]) -> list[str]:
    """The plain digits of every number in a folded text that is written otherwise and is in no date."""
    return [
        word
        for word, start, end in located_numbers(folded)
        if not any(date.start < end and start < date.end for date in dates)
    ]


def located_numbers(folded: str) -> Iterator[tuple[str, int, int]]:
    """The plain digits of every number that is written otherwise, with its start and end."""
    for match in _written.finditer(folded):
        written = match[0]
        if len(written) < 2 or len(written) > _LONGEST or (written.isascii() and written.isdigit()):
            continue
        start, end = match.span()
        if folded[start - 1 : start] in _vague_before or ("点" in written and folded[end : end + 1] in _time_behind):
            continue
        if word := _plain(written):
            yield word, start, end


@lru_cache(maxsize=1 << 14)
def _plain(written: str) -> str:
    """The plain digits, or "" if it is no such number or has them already."""
    if named := _english.fullmatch(written):
        number = parse_number(named[1])
        return _digits(f"{number * _ENGLISH[named[2]]:f}") if number is not None else ""
    if written.isascii():
        return _rewritten(written)
    if _two_digits_before_unit.search(written) or _time.search(written):
        return ""
    number = parse_number(written)
    if number is None:
        return ""
    if not _unit.search(written):
        # Read digit by digit, 一二 may be "one or two", and the zeros of 〇〇七 count.
        return f"{number:f}".zfill(len(written)) if len(written) > 2 else ""
    return _digits(f"{number:f}")


def _rewritten(written: str) -> str:
    """Of a number in digits, point and comma."""
    is_marked = "," in written or "e" in written
    if not is_marked and (written[-1] != "0" or _like_a_version.match(written)):
        return ""
    number = parse_number(written)
    if number is None:
        return ""
    plain = _digits(f"{number:f}")
    return plain if plain != written.replace(",", "") else ""


def _digits(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number
