"""Whether a source says what a sentence asserts; decided by words and values alone, the same way every time.

In this order: what stands in the source word for word is supported. A number, date, time, code or name that stands
nowhere in it makes a sentence unsupported, and so do, where a sentence of the source says nearly the same, a value in
the place of another one, a name in the place of another, and a denial more or less. What remains is a matter of
degree: how much of what the sentence's words say the source says too, in one place. Two languages are compared by what
everyday words translate, and by values, which need no translation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from wenyuan.language.assertions import VALUES, Reading, Unit, read_assertions
from wenyuan.language.translation import Translation
from wenyuan.rules.citations.alignment import Difference, differences
from wenyuan.rules.citations.missing_values import missing_values
from wenyuan.rules.citations.source_reading import (
    SourceReading,
    holds_verbatim,
    in_plain_spaces,
    speaks_east_asian,
)
from wenyuan.types import Support

Reason = Literal[
    "verbatim",
    "said",
    "nothing-said",
    "no-source",
    "missing",
    "another-value",
    "another-name",
    "another-word",
    "denied",
    "elsewhere",
    "partly-said",
    "little-said",
]

_SUPPORTED, _WEAK = 0.6, 0.35
"""The shares of its words from which on a sentence is supported, and weakly so, where nothing speaks against it."""
_TRANSLATED_SUPPORTED, _TRANSLATED_WEAK = 0.5, 0.15
_NEARLY_THE_SAME = 0.6
_NEARLY_AS_NEAR = 0.9
_MOST_NEAR = 4
_VALUE_WEIGHT = 2.0
_CHARACTER_WEIGHT = 0.5
_LEAST_WEIGHT = 2.0
_NEIGHBOURS = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """How well a sentence is supported, what of it stands in no source, and why, by name.

    `share` is how much of what its words say, from 0 to 1, stands in one place of a source.
    """

    support: Support
    missing: tuple[str, ...]
    reason: Reason
    share: float


def judge(sentence: str, sources: Sequence[SourceReading]) -> Judgement:
    """Judge one sentence, without its citation markers, by the sources that it rests on."""
    said = read_assertions(sentence)
    if not said.units:
        return Judgement("supported", (), "nothing-said", 1.0)
    if not sources:
        return Judgement("unsupported", (), "no-source", 0.0)
    plain = in_plain_spaces(said.folded.text)
    if any(holds_verbatim(source.plain, plain) for source in sources):
        return Judgement("supported", (), "verbatim", 1.0)
    east_asian = speaks_east_asian(said)
    alike = [source for source in sources if source.is_east_asian == east_asian or source.is_mixed]
    foreign = [source for source in sources if source.is_east_asian != east_asian]
    share = _share(said, alike) if alike else 0.0
    is_translated = bool(foreign) and share < _WEAK
    if is_translated:
        share = max(share, _translated(said, foreign))
    missing = tuple(dict.fromkeys(missing_values(said, sentence, sources)))
    if missing:
        return Judgement("unsupported", missing, "missing", share)
    if against := _against(said, alike):
        return Judgement("weak" if against == "another-word" else "unsupported", (), against, share)
    return _by_degree(said, alike, share, is_translated=is_translated)


def _by_degree(said: Reading, sources: Sequence[SourceReading], share: float, *, is_translated: bool) -> Judgement:
    has_values = any(unit.kind in VALUES for unit in said.units)
    if sum(said.tokens.values()) < _LEAST_WEIGHT and not has_values:
        return Judgement("supported", (), "nothing-said", share)
    high, low = (_TRANSLATED_SUPPORTED, _TRANSLATED_WEAK) if is_translated else (_SUPPORTED, _WEAK)
    if share < low:
        return Judgement("unsupported", (), "little-said", share)
    if share < high:
        return Judgement("weak", (), "partly-said", share)
    if not is_translated and not _in_context(said, sources):
        return Judgement("weak", (), "elsewhere", share)
    return Judgement("supported", (), "said", share)


def _share(said: Reading, sources: Sequence[SourceReading]) -> float:
    """The share of what a sentence says that two neighbouring sentences of a source say, with what stands above it.

    A value counts as a word does, and a character that stands there alone as half of a pair: 年假 is a part of 年休假.
    """
    weights = _weights(said)
    total = sum(weights.values())
    best = 0.0
    for source in sources:
        above = {token: weight for token, weight in weights.items() if token in source.head.tokens}
        held: dict[int, dict[str, float]] = defaultdict(dict)
        for token, weight in weights.items():
            for number in source.sentences_with.get(token, ()):
                held[number][token] = weight
        best = max(best, sum(above.values()))
        for number, tokens in held.items():
            best = max(best, sum((tokens | held.get(number + 1, {}) | above).values()))
    return min(1.0, best / total) if total else 1.0


def _weights(said: Reading) -> dict[str, float]:
    weights = dict(said.tokens)
    for unit in said.units:
        if unit.kind in VALUES:
            weights[unit.key] = _VALUE_WEIGHT
        elif unit.kind == "character":
            weights[unit.key] = _CHARACTER_WEIGHT
    return weights


def _translated(said: Reading, sources: Sequence[SourceReading]) -> float:
    language = "zh" if speaks_east_asian(said) else "en"
    weights = {token: weight for token, weight in said.tokens.items() if weight >= 1.0}
    translation = Translation(said.folded.text, language, weights)
    return max(translation.covered(source.plain) for source in sources)


# --- What speaks against it ----------------------------------------------------------------------


_AGAINST: Mapping[Difference, Reason] = {
    "denial": "denied",
    "value": "another-value",
    "name": "another-name",
    "word": "another-word",
}
"""What a difference is called; the gravest first."""


def _against(said: Reading, sources: Sequence[SourceReading]) -> Reason | None:
    """What in a sentence differs from every sentence of the sources that says nearly the same, the least of it."""
    reasons = list(_AGAINST.values())
    least = -1
    for source, number in _nearest(said, sources):
        found = {_AGAINST[one] for one in differences(said, source.body, *source.sentences[number])}
        least = max(least, min((reasons.index(one) for one in found), default=len(reasons)))
    return reasons[least] if 0 <= least < len(reasons) else None


def _nearest(said: Reading, sources: Sequence[SourceReading]) -> list[tuple[SourceReading, int]]:
    """The sentences of the sources that say nearly the same, the nearest first; values count for which they are."""
    values = {unit.key: _VALUE_WEIGHT for unit in said.units if unit.kind in VALUES}
    # A row of figures has no words to be known by.
    words = {token: weight for token, weight in said.tokens.items() if weight >= 0.5} or values
    least = _NEARLY_THE_SAME * sum(words.values())
    scored: list[tuple[float, int, int]] = []
    for place, source in enumerate(sources):
        held: dict[int, float] = defaultdict(float)
        both: dict[int, float] = defaultdict(float)
        for token, weight in (words | values).items():
            for number in source.sentences_with.get(token, ()):
                both[number] += weight
                held[number] += weight if token in words else 0.0
        scored += [(both[number], place, number) for number, weight in held.items() if weight >= least > 0]
    scored.sort(key=lambda one: (-one[0], one[1], one[2]))
    near = [one for one in scored[:_MOST_NEAR] if one[0] >= _NEARLY_AS_NEAR * scored[0][0]]
    return [(sources[place], number) for _, place, number in near]


def _in_context(said: Reading, sources: Sequence[SourceReading]) -> bool:
    """Whether each number stands in a source beside something that it stands beside in the sentence."""
    values = {number.start: number.value for number in said.numbers}
    for place, unit in enumerate(said.units):
        if unit.kind != "number":
            continue
        around = _around(said.units, place)
        held = ((source, at) for source in sources for _, at in source.numbers.get(values[unit.start], ()))
        if around and not any(at < 0 or around & _around(source.body.units, at) for source, at in held):
            return False
    return True


def _around(units: Sequence[Unit], place: int) -> set[str]:
    """The keys of the nearest units on both sides that say something."""
    before = reversed(units[max(0, place - 2 * _NEIGHBOURS) : place])
    behind = units[place + 1 : place + 1 + 2 * _NEIGHBOURS]
    telling = (
        [unit.key for unit in side if unit.kind not in ("filler", "number")][:_NEIGHBOURS] for side in (before, behind)
    )
    return set(chain.from_iterable(telling))
