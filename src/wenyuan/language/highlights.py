"""Highlights: where a text says what was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from wenyuan.language.dates import find_dates
from wenyuan.language.folding import FoldedText, fold_with_offsets
from wenyuan.language.identifiers import located_identifiers
from wenyuan.language.plain_numbers import located_numbers
from wenyuan.language.words import located_words, term_of_token
from wenyuan.types import DateSpan, Plan, TextSpan


def highlights(text: str, plan: Plan) -> tuple[TextSpan, ...]:
    """The spans of `text` that match the plan's words, aliases and dates, in order, none touching another."""
    folded = fold_with_offsets(text)
    wanted = frozenset((*plan.tokens, *plan.aliases))
    spans = [folded.source_span(start, end) for start, end in located_words(folded.text, wanted)]
    spans += [folded.source_span(start, end) for word, start, end in located_numbers(folded.text) if word in wanted]
    spans += _terms(folded, plan.tokens)
    spans += _identifiers(text, frozenset(plan.aliases))
    if plan.dates:
        spans += _dates(text, plan.dates)
    return _merged(spans)


def _terms(folded: FoldedText, tokens: Iterable[str]) -> Iterator[TextSpan]:
    for term in filter(None, map(term_of_token, tokens)):
        for match in re.finditer(r"\s+".join(map(re.escape, term.split())), folded.text):
            yield folded.source_span(match.start(), match.end())


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
