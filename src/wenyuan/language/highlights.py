"""Highlights: where a text says what was asked for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wenyuan.language.dates.resolving import find_dates
from wenyuan.language.folding import fold_with_offsets
from wenyuan.language.identifiers import located_identifiers
from wenyuan.language.plain_numbers import located_numbers
from wenyuan.language.scripts import HAN
from wenyuan.language.words import decode_token, located_words, term_of_token
from wenyuan.types import DateSpan, Plan, TextSpan

_LONGEST_BEGINNING = 40

_in_han = re.compile(f"[{HAN}]+")
_thousands = re.compile("[0-9],[0-9]{3}")


def highlights(text: str, plan: Plan) -> tuple[TextSpan, ...]:
    """The spans of `text` that match the plan's words, aliases and dates, in order, none touching another."""
    folded = fold_with_offsets(text)
    asked = _asked(plan.tokens, plan.aliases)
    places = [*_words(folded.text, asked), *_terms(folded.text, asked)]
    if asked.has_numbers:
        places += [(start, end) for word, start, end in located_numbers(folded.text) if word in asked.tokens]
    spans = [folded.source_span(start, end) for start, end in places]
    spans += _identifiers(text, asked.identifiers)
    if plan.dates:
        spans += _dates(text, plan.dates)
    return _merged(spans)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a plan asks for, sorted by how it is looked for.

    `in_han` are pairs and characters, which stand wherever their characters do; `words` are the other
    tokens, and `beginnings` what every writing of them begins with; `identifiers` are those aliases
    that an identifier may have.
    """

    tokens: frozenset[str]
    in_han: tuple[str, ...]
    words: frozenset[str]
    beginnings: tuple[str, ...]
    terms: tuple[re.Pattern[str], ...]
    identifiers: frozenset[str]
    has_numbers: bool


# The hits of one search ask for the same.
@lru_cache(maxsize=64)
def _asked(tokens: tuple[str, ...], aliases: tuple[str, ...]) -> _Asked:
    wanted = frozenset((*tokens, *aliases))
    in_han = {token for token in wanted if _in_han.fullmatch(token)}
    words = {token for token in wanted - in_han if not token.startswith("§")}
    terms = filter(None, map(term_of_token, tokens))
    return _Asked(
        tokens=wanted,
        in_han=tuple(sorted(in_han)),
        words=frozenset(words),
        beginnings=tuple(sorted(set(map(_beginning, words)))),
        terms=tuple(re.compile(r"\s+".join(map(re.escape, term.split()))) for term in terms),
        identifiers=frozenset(token for token in aliases if token[:2] in ("§c", "§v") or not token.startswith("§")),
        has_numbers=any(token[:1].isdigit() for token in wanted),
    )


def _beginning(token: str) -> str:
    """A stem may write as i or y what its word writes otherwise, and the end of a long token is a digest."""
    beginning = decode_token(token)[:_LONGEST_BEGINNING]
    return beginning[:-1] if beginning.endswith(("i", "y")) and len(beginning) > 1 else beginning


def _words(folded: str, asked: _Asked) -> Iterator[tuple[int, int]]:
    """Where a folded text holds one of the tokens, in no order."""
    for token in asked.in_han:
        yield from _places(token, folded)
    if asked.words:
        stretches = _stretches(folded, asked.beginnings)
        starts, position = [], 0
        for start, end in stretches:
            starts.append(position)
            position += end - start + 1
        for start, end in located_words(" ".join(folded[start:end] for start, end in stretches), asked.words):
            number = bisect_right(starts, start) - 1
            moved = stretches[number][0] - starts[number]
            yield start + moved, end + moved


def _stretches(folded: str, beginnings: Iterable[str]) -> list[tuple[int, int]]:
    """The stretches between spaces that may hold one of the words.

    No word goes over a space, and to find where words begin and end costs far more than to find some
    characters.
    """
    text = folded.replace("\\", "/").lower()
    if len(text) != len(folded):
        return [(0, len(folded))]
    places = [start for beginning in beginnings for start, _ in _places(beginning, text)]
    # What has thousands separators is found by its digits alone.
    if "," in text:
        places += [match.start() for match in _thousands.finditer(text)]
    stretches: list[tuple[int, int]] = []
    end = 0
    for place in sorted(places):
        if place >= end:
            start = text.rfind(" ", end, place) + 1
            end = text.find(" ", place)
            end = end if end >= 0 else len(text)
            stretches.append((start, end))
    return stretches


def _places(written: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(written)
    while start >= 0:
        yield start, start + len(written)
        start = text.find(written, start + 1)


def _terms(folded: str, asked: _Asked) -> Iterator[tuple[int, int]]:
    for term in asked.terms:
        yield from (match.span() for match in term.finditer(folded))


def _identifiers(text: str, wanted: frozenset[str]) -> Iterator[TextSpan]:
    for identifier, start, end in located_identifiers(text) if wanted else ():
        said = identifier.tokens if identifier.kind == "option" else identifier.tokens[:1]
        if not wanted.isdisjoint(said):
            yield TextSpan(start, end)


def _dates(text: str, wanted: Sequence[DateSpan]) -> Iterator[TextSpan]:
    """Dates that lie within what was asked for, or are it."""
    for date in find_dates(text):
        if any(asked.first_day <= date.first_day and date.last_day <= asked.last_day for asked in wanted):
            yield TextSpan(date.start, date.end)


def _merged(spans: Iterable[TextSpan]) -> tuple[TextSpan, ...]:
    merged: list[TextSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if merged and span.start <= merged[-1].end:
            merged[-1] = TextSpan(merged[-1].start, max(merged[-1].end, span.end))
        elif span.start < span.end:
            merged.append(span)
    return tuple(merged)
