"""What a text asserts that can be checked: its numbers, times, dates and codes, and its words in order.

The same reading is made of an answer's sentence and of its source. A sentence is read strictly, for what it surely
says; a source generously, for all that it may mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

from wenyuan.language.dates.clock_times import ClockTime, clock_times
from wenyuan.language.dates.mentions import DateMention
from wenyuan.language.dates.resolving import Capitals, resolved
from wenyuan.language.folding import FoldedText, fold_with_offsets
from wenyuan.language.identifiers import Identifier, located_identifiers
from wenyuan.language.quantities import Quantity, quantities
from wenyuan.language.scripts import HAN, HANGUL, KANA
from wenyuan.language.stemming import stem

UnitKind = Literal["word", "character", "filler", "number", "date", "time", "code", "negation"]
VALUES = frozenset(("number", "date", "time", "code"))
"""The kinds of units whose key is a value, however it is written."""


class Unit(NamedTuple):
    """A word, a character without spaces around it, or what stands for a value, at one place of a folded text."""

    key: str
    kind: UnitKind
    start: int
    end: int


class Code(NamedTuple):
    """A version, a code, an option or a compound name."""

    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it was read; places count characters of `folded.text`."""

    text: str
    folded: FoldedText
    units: Sequence[Unit]
    dates: Sequence[DateMention]
    impossible: Sequence[DateMention]
    """Dates that look as if meant and do not exist, such as 二月三十号."""
    times: Sequence[ClockTime]
    codes: Sequence[Code]
    numbers: Sequence[Quantity]
    tokens: dict[str, float] = field(default_factory=dict)
    """The words and pairs of characters that say something, with what each is worth."""

    def written(self, start: int, end: int) -> str:
        """What stands at a place of the folded text, as it is written."""
        span = self.folded.source_span(start, end)
        return self.text[span.start : span.end].strip()

    def is_capitalised(self, unit: Unit) -> bool:
        """Whether a unit is a word that is written with a capital."""
        return unit.kind == "word" and self.text[self.folded.offsets[unit.start]].isupper()


FILLERS = frozenset(
    """
    a about above after all also am an and any are as at be because been before being both but by can could did do
    does doing done down during each for from further had has have having he her here hers him his how i if in into
    is it its itself just may me might more most must my of off on once only or other our out over own per same
    shall she should so some such than that the their them then there these they this those through to too under
    until up us very was we were what when where which while who whom whose why will with would you your according
    mentioned states stated says said document documents source sources text based information provided following
    """.split()
)
_FILLER_CHARACTERS = frozenset("的了是在和与及或也都就而被把从到对于为以之其这那该此所着过地得等有将于由则并且但又")
_NEGATIONS = frozenset("not no never without cannot neither nor none nobody nothing hardly".split())
# Words that deny what follows them, as much as `not` does.
_denying = re.compile(
    "exclud(?:es?|ed|ing)|prohibit(?:s|ed)?|forbid(?:s|den)?|banned|avoid(?:s|ed)?|refus(?:es?|ed)|unable"
)
_contracted = re.compile(r"(?:n't|n‘t)$")
# Words first that only look like one; 无 and 非 alone make names of kinds (无线, 非金属) more often than they deny.
_chinese_negation = re.compile(
    "不得不|不但|不仅|不只|不过|不论|不管|不断|不同|不少|不久|不禁|不料|不锈|不丹|不列颠|不动产|不可思议|差不多|未来|未必不|没收"
    "|(?P<question>(.)不\\2)"
    "|(?P<negation>并非|绝非|不会|不能|不可|不得|不是|不再|不应|不许|不准|没有|并未|尚未|从未|未曾|未能|未经|禁止|严禁|切勿"
    "|无需|无须|无法|无权|并无|毫无|避免|拒绝|排除|除外|不|没|未|勿)"
)
_piece = re.compile(
    rf"[a-z\u00c0-\u024f]+(?:['’][a-z]+)?|[{HAN}]|[{KANA}{HANGUL}]|[^\W\d_{HAN}{KANA}{HANGUL}a-z\u00c0-\u024f]+|[0-9]+"
)
# mid-1930s and under-16 are words with a number behind them.
_word_with_number = re.compile("[a-z]{3,}-[0-9]+s?")
_east_asian = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_HALF_DAY = 12 * 60
_WORD_WORTH, _PAIR_WORTH, _FILLER_WORTH = 2.0, 1.0, 0.1


def read_assertions(text: str) -> Reading:
    """Read a text; linear in its length."""
    folded = fold_with_offsets(text)
    dates, impossible = resolved(folded.text, Capitals(text, folded.offsets))
    codes = list(_codes(text, folded))
    times = list(clock_times(folded.text))
    numbers = list(quantities(folded.text))
    units = list(_units(folded.text, list(_values(dates, codes, times, numbers))))
    return Reading(text, folded, units, dates, impossible, times, codes, numbers, dict(_tokens(units)))


def is_east_asian(key: str) -> bool:
    return _east_asian.match(key) is not None


def _codes(text: str, folded: FoldedText) -> Iterator[Code]:
    """Codes by places in the folded text; what is only a word with a hyphen, or one number, is none."""
    starts = _Places(folded)
    for found, start, end in located_identifiers(text):
        written = text[start:end]
        if found.kind in ("version", "option") or _is_code(found, written) or _is_compound_name(found, written):
            yield Code(found.value, starts(start), starts(end))


def _is_code(found: Identifier, written: str) -> bool:
    return found.kind == "code" and not _word_with_number.fullmatch(written)


def _is_compound_name(found: Identifier, written: str) -> bool:
    humps = any(first.islower() and second.isupper() for first, second in pairwise(written))
    return found.kind == "name" and ("_" in written or humps)


class _Places:
    """Places of a text in its folded form; asked for in any order."""

    def __init__(self, folded: FoldedText) -> None:
        self._at: dict[int, int] = {}
        self._length = len(folded.text)
        if isinstance(folded.offsets, range):
            return
        for place, source in enumerate(folded.offsets):
            self._at.setdefault(source, place)

    def __call__(self, source: int) -> int:
        if not self._at:
            return min(source, self._length)
        while source not in self._at and source > 0:
            source -= 1
        return self._at.get(source, 0)


def _values(
    dates: Sequence[DateMention], codes: Sequence[Code], times: Sequence[ClockTime], numbers: Sequence[Quantity]
) -> Iterator[Unit]:
    for date in dates:
        yield Unit(f"§d{date.first}{date.last}", "date", date.start, date.end)
    for code in codes:
        yield Unit(f"§c{code.value}", "code", code.start, code.end)
    for time in times:
        # Where one says whether it is morning and the other does not, they are the same.
        yield Unit(f"§t{min(time.minutes) % _HALF_DAY}", "time", time.start, time.end)
    for number in numbers:
        yield Unit(f"§n{number.value.normalize()}", "number", number.start, number.end)


def _units(folded: str, values: list[Unit]) -> Iterator[Unit]:
    values.sort(key=lambda unit: (unit.start, -unit.end))
    negations = _negated_places(folded)
    position = 0
    for value in values:
        if value.start < position:
            continue
        yield from _words(folded, position, value.start, negations)
        yield value
        position = value.end
    yield from _words(folded, position, len(folded), negations)


def _negated_places(folded: str) -> dict[int, UnitKind]:
    """Where the characters of a Chinese negation stand: the first counts, the others say nothing more."""
    places: dict[int, UnitKind] = {}
    for match in _chinese_negation.finditer(folded):
        if match["negation"]:
            places.update(dict.fromkeys(range(match.start() + 1, match.end()), "filler"))
            places[match.start()] = "negation"
    return places


def _words(folded: str, start: int, end: int, negations: Mapping[int, UnitKind]) -> Iterator[Unit]:
    for match in _piece.finditer(folded, start, end):
        word = match[0]
        kind = negations.get(match.start()) or _kind(word)
        if word == "no" and folded.startswith(".", match.end()):
            # As in `part no. 5`.
            kind = "filler"
        yield Unit(_key(word), kind, match.start(), match.end())


def _key(word: str) -> str:
    return stem(word.replace("’", "'").removesuffix("'s")) if word[0] < "\u2e80" else word


def _kind(word: str) -> UnitKind:
    if _east_asian.match(word):
        return "filler" if word in _FILLER_CHARACTERS else "character"
    if word in _NEGATIONS or _contracted.search(word) or _denying.fullmatch(word):
        return "negation"
    return "filler" if word in FILLERS else "word"


def _tokens(units: Sequence[Unit]) -> Iterator[tuple[str, float]]:
    previous: Unit | None = None
    for unit in units:
        if unit.kind == "word":
            yield unit.key, _WORD_WORTH
        elif is_east_asian(unit.key):
            if previous is not None and previous.end == unit.start and is_east_asian(previous.key):
                fillers = (previous.kind == "filler") + (unit.kind == "filler")
                yield previous.key + unit.key, (_PAIR_WORTH, 0.5, _FILLER_WORTH)[fillers]
        elif unit.kind == "filler":
            yield unit.key, _FILLER_WORTH
        previous = unit
