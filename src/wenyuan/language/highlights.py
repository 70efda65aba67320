"""Highlights: where a text says what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from wenyuan.language.aliases import identifier_tokens
from wenyuan.language.dates import find_dates
from wenyuan.language.folding import fold_with_offsets
from wenyuan.language.identifiers import located_identifiers
from wenyuan.language.words import located_tokens
from wenyuan.types import DateSpan, Plan, TextSpan


def highlights(text: str, plan: Plan) -> tuple[TextSpan, ...]:
    """The spans of `text` that match the plan's words, aliases and dates, in order, none touching another."""
    spans = [*_words(text, {*plan.tokens, *plan.aliases}), *_identifiers(text, frozenset(plan.aliases))]
    if plan.dates:
        spans += _dates(text, plan.dates)
    return _merged(spans)


def _words(text: str, wanted: set[str]) -> Iterator[TextSpan]:
    folded = fold_with_offsets(text)
    for token, start, end in located_tokens(folded.text):
        if token in wanted:
            yield folded.source_span(start, end)


def _identifiers(text: str, wanted: frozenset[str]) -> Iterator[TextSpan]:
    for identifier, start, end in located_identifiers(text):
        canonical = next(identifier_tokens(identifier))
        if canonical in wanted:
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
