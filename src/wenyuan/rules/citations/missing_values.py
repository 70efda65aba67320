"""What a sentence says that its sources must hold, and do not: numbers, dates, times, codes and names."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice

from wenyuan.language.assertions import Reading, is_east_asian
from wenyuan.language.dates.mentions import DateMention
from wenyuan.language.proper_names import names_said, without_punctuation
from wenyuan.language.quantities import Quantity
from wenyuan.language.stemming import stem
from wenyuan.rules.citations.source_reading import (
    ROOT_LETTERS,
    SourceReading,
    holds_verbatim,
    in_plain_spaces,
    speaks_east_asian,
)

_FIRST_TELLING = 13
_YEARS = range(1000, 3000)


def missing_values(said: Reading, sentence: str, sources: Sequence[SourceReading]) -> Iterator[str]:
    """What a sentence says that no source has, as it is written; one thing may come more than once."""
    text, taken = said.folded.text, _Places()
    for group in _by_place(said.dates):
        taken.add(group[0].start, group[0].end)
        if not any(_has_date(source, date) for date in group for source in sources):
            yield from _unless_verbatim(said, group[0].start, group[0].end, sources)
    for date in said.impossible:
        if taken.add(date.start, date.end):
            yield from _unless_verbatim(said, date.start, date.end, sources)
    for code in said.codes:
        if taken.add(code.start, code.end) and not any(_has_code(source, code.value) for source in sources):
            yield from _unless_verbatim(said, code.start, code.end, sources)
    for time in said.times:
        # In words alone, 两点 may as well be two points.
        is_claim = any(map(str.isdigit, text[time.start : time.end])) and taken.add(time.start, time.end)
        if is_claim and not any(time.minutes & source.minutes for source in sources):
            yield from _unless_verbatim(said, time.start, time.end, sources)
    for number in said.numbers:
        if taken.holds(number.start, number.end):
            continue
        if _is_claim(text, number) and not any(_has_number(source, number) for source in sources):
            yield said.written(number.start, number.end)
    yield from _missing_names(said, sentence, sources)


def _missing_names(said: Reading, sentence: str, sources: Sequence[SourceReading]) -> Iterator[str]:
    in_east_asian = speaks_east_asian(said)
    for name in names_said(sentence):
        # What may be translated need not stand there, but a Latin name in Chinese is left as it is.
        kept = is_east_asian(name.folded) or not in_east_asian
        able = [source for source in sources if source.is_east_asian == in_east_asian or (not kept and source.words)]
        holds = _has_quotation if name.is_quotation else _has_name
        if able and not any(holds(source, name.folded) for source in sources):
            yield name.written


class _Places:
    """Places of a text that are spoken for, none overlapping another."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> bool:
        free = not self.holds(start, end)
        if free:
            insort(self._taken, (start, end))
        return free

    def holds(self, start: int, end: int) -> bool:
        """Whether a place overlaps one of them."""
        before = bisect_left(self._taken, (end, 0)) - 1
        return before >= 0 and self._taken[before][1] > start


def _unless_verbatim(said: Reading, start: int, end: int, sources: Sequence[SourceReading]) -> Iterator[str]:
    written = in_plain_spaces(said.folded.text[start:end])
    if not any(holds_verbatim(source.plain, written) for source in sources):
        yield said.written(start, end)


def _by_place(dates: Iterable[DateMention]) -> Iterator[list[DateMention]]:
    """The readings of one place together."""
    groups: dict[tuple[int, int], list[DateMention]] = defaultdict(list)
    for date in dates:
        groups[date.start, date.end].append(date)
    yield from groups.values()


def _has_date(source: SourceReading, date: DateMention) -> bool:
    """Whether a source names the date, or one within it; or its day, and its year somewhere."""
    days = date.days()
    if days is None:
        return False
    for first, last in islice(source.dates, bisect_left(source.dates, (days[0], 0)), None):
        if first > days[1]:
            break
        if last <= days[1]:
            return True
    if date.is_within_a_year:
        of_year = date.without_year().days() or days
        if date.is_open and of_year in source.days_of_year:
            return True
        if of_year in source.open_days and Decimal(date.first.year or 0) in source.numbers:
            return True
    if date.first == date.last:
        return date.first.month is None and Decimal(date.first.year or 0) in source.numbers
    ends = (date._replace(last=date.first), date._replace(first=date.last))
    return all(_has_date(source, end) for end in ends)


def _is_claim(text: str, number: Quantity) -> bool:
    """Whether a number is meant: small ones in words often are not (两个方面, the two of them)."""
    if number.is_digits:
        return True
    if text[max(0, number.start - 1) : number.start] == "第":
        return number.value >= _FIRST_TELLING
    return number.value > 1 and (number.value >= _FIRST_TELLING or number.unit not in ("", "time"))


def _has_number(source: SourceReading, number: Quantity) -> bool:
    if number.unit in ("decade", "century") and any(_lies_in(value, number) for value in source.numbers):
        return True
    found = source.numbers.get(number.value, ())
    return any(not number.unit or not other.unit or number.unit == other.unit for other, _ in found)


def _lies_in(year: Decimal, period: Quantity) -> bool:
    """Whether a number is a year of a decade, which may leave its century open, or of a century."""
    if year not in _YEARS:
        return False
    return year % 100 // 10 * 10 == period.value if period.unit == "decade" else (year - 1) // 100 + 1 == period.value


def _has_code(source: SourceReading, value: str) -> bool:
    if value in source.codes:
        return True
    # PlayStation3 and PlayStation 3; what begins with a digit might be a part of a longer number.
    bare = without_punctuation(value)
    place = source.bare.find(bare) if bare[:1].isalpha() else -1
    return place >= 0 and not (bare[-1].isdigit() and source.bare[place + len(bare) :][:1].isdigit())


def _has_quotation(source: SourceReading, quotation: str) -> bool:
    return quotation in source.bare


def _has_name(source: SourceReading, name: str) -> bool:
    if name in source.words or stem(name) in source.words or without_punctuation(name) in source.bare:
        return True
    return any(_same_root(name, word) for word in source.words_by_root.get(name[:ROOT_LETTERS], ()))


def _same_root(name: str, word: str) -> bool:
    """Norman and Normandy."""
    shared = min(len(name), len(word))
    return shared > ROOT_LETTERS and abs(len(name) - len(word)) <= 3 and name[: shared - 1] == word[: shared - 1]
