"""A source, read once for all the sentences of an answer that rest on it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain, pairwise

from wenyuan.language.assertions import VALUES, Reading, Unit, is_east_asian, read_assertions
from wenyuan.language.identifiers import identifiers
from wenyuan.language.proper_names import without_punctuation
from wenyuan.language.quantities import Quantity
from wenyuan.language.stemming import stem
from wenyuan.rules.sentences import split_sentences

ROOT_LETTERS = 4
"""How many letters at least two words of one root begin with."""

_MOST_PLACES = 64
_LEAST_OF_EACH = 12

_spaces = re.compile(r"\s+")
_latin_word = re.compile(r"[a-z\u00c0-\u024f]+")


class SourceReading:
    """A source, read once for all the sentences that rest on it; `about` stands above its text."""

    def __init__(self, text: str, about: str = "") -> None:
        self._text, self._about = text, about

    @cached_property
    def body(self) -> Reading:
        return read_assertions(self._text)

    @cached_property
    def head(self) -> Reading:
        return read_assertions(self._about)

    @cached_property
    def plain(self) -> str:
        return _spaces.sub(" ", f"{self.head.folded.text}\n{self.body.folded.text}")

    @cached_property
    def bare(self) -> str:
        """Without spaces and signs."""
        return without_punctuation(self.plain)

    @cached_property
    def codes(self) -> frozenset[str]:
        return frozenset(found.value for found in identifiers(f"{self._about}\n{self._text}", any_case=True))

    @cached_property
    def numbers(self) -> Mapping[Decimal, Sequence[tuple[Quantity, int]]]:
        """Every number with where it stands among the units of the body, -1 being above it."""
        places: dict[Decimal, list[tuple[Quantity, int]]] = defaultdict(list)
        starts = [unit.start for unit in self.body.units]
        for number in self.body.numbers:
            if len(places[number.value]) < _MOST_PLACES:
                places[number.value].append((number, max(0, bisect_right(starts, number.start) - 1)))
        for number in self.head.numbers:
            places[number.value].append((number, -1))
        return places

    @cached_property
    def dates(self) -> Sequence[tuple[int, int]]:
        """First and last day of every date, in order."""
        every = (date.days() for date in (*self.body.dates, *self.head.dates))
        return sorted(days for days in every if days is not None)

    @cached_property
    def days_of_year(self) -> frozenset[tuple[int, int]]:
        """The days within a year, in the open year, whether their year is named or not."""
        dates = (*self.body.dates, *self.head.dates)
        return frozenset(days for date in dates if date.is_within_a_year and (days := date.without_year().days()))

    @cached_property
    def open_days(self) -> frozenset[tuple[int, int]]:
        """Those of them whose year is not named."""
        dates = (*self.body.dates, *self.head.dates)
        return frozenset(days for date in dates if date.is_open and (days := date.days()))

    @cached_property
    def minutes(self) -> frozenset[int]:
        """Every time of day, in minutes."""
        return frozenset(chain.from_iterable(time.minutes for time in (*self.body.times, *self.head.times)))

    @cached_property
    def words_by_root(self) -> Mapping[str, Sequence[str]]:
        """The Latin words by the letters that they begin with."""
        found: dict[str, list[str]] = defaultdict(list)
        for word in self.words:
            found[word[:ROOT_LETTERS]].append(word)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Latin words, as they are written and stemmed."""
        found = set(_latin_word.findall(self.plain))
        return frozenset(found | set(map(stem, found)))

    @cached_property
    def is_east_asian(self) -> bool:
        return speaks_east_asian(self.body)

    @cached_property
    def is_mixed(self) -> bool:
        """Whether it has sentences in both writings, East Asian and Latin."""
        east_asian = sum(is_east_asian(unit.key) for unit in self.body.units)
        return min(east_asian, len(self.words)) >= _LEAST_OF_EACH

    @cached_property
    def sentences(self) -> Sequence[tuple[int, int]]:
        """The body's sentences as ranges of its units."""
        starts = [self.body.folded.offsets[unit.start] for unit in self.body.units]
        bounds = [bisect_left(starts, end) for _, end in split_sentences(self._text)]
        return [(first, last) for first, last in pairwise((0, *bounds)) if first < last]

    @cached_property
    def sentences_with(self) -> Mapping[str, Sequence[int]]:
        """The sentences that hold each token or value: the first few."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, (first, last) in enumerate(self.sentences):
            units = self.body.units[first:last]
            alone = (unit.key for unit in units if unit.kind in VALUES or unit.kind == "character")
            for token in dict.fromkeys((*tokens_of(units), *alone)):
                if len(found[token]) < _MOST_PLACES:
                    found[token].append(number)
        return found


def tokens_of(units: Sequence[Unit]) -> Iterator[str]:
    """The words and pairs of characters of some units; a word or pair comes as often as it stands there."""
    previous: Unit | None = None
    for unit in units:
        if unit.kind == "word":
            yield unit.key
        elif previous is not None and is_east_asian(unit.key) and _touch(previous, unit):
            yield previous.key + unit.key
        previous = unit


def _touch(one: Unit, next_one: Unit) -> bool:
    return one.end == next_one.start and is_east_asian(one.key)


def speaks_east_asian(reading: Reading) -> bool:
    """Whether a text is written in Han characters, kana or Hangul rather than in letters."""
    return sum(is_east_asian(unit.key) for unit in reading.units) * 4 > len(reading.units)


def in_plain_spaces(folded: str) -> str:
    """With one space for each stretch of white space, and none at the ends."""
    return _spaces.sub(" ", folded).strip()


def holds_verbatim(source: str, sentence: str) -> bool:
    """Whether a sentence stands in a source and neither begins nor ends within a word or number."""
    core = sentence.strip(" .。!！?？;；,，:：\"'“”‘’*_#>|-")
    place = source.find(core) if core else -1
    for _ in range(_MOST_PLACES):
        if place < 0:
            return False
        before, behind = source[max(0, place - 2) : place], source[place + len(core) : place + len(core) + 2]
        if not _joined(before[::-1], core[0]) and not _joined(behind, core[-1]):
            return True
        place = source.find(core, place + 1)
    return False


def _joined(outside: str, inside: str) -> bool:
    """Whether what stands outside, nearest first, goes on with the word or number that ends inside."""
    if not outside or not inside.isalnum() or is_east_asian(inside):
        return False
    if outside[0].isalnum() and not is_east_asian(outside[0]):
        return True
    return inside.isdigit() and outside[0] in ".,:-/" and outside[1:2].isdigit()
