"""What a question names exactly, and what a text says besides it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wenyuan.language.dates.resolving import find_dates
from wenyuan.language.identifiers import located_identifiers
from wenyuan.types import Plan

_WORD = re.compile(r"\w+")


def named_as_written(plan: Plan) -> dict[str, str]:
    """The versions and codes that a question names, by their values, as they stand in it."""
    named = {*plan.versions, *plan.codes}
    found: dict[str, str] = {}
    for identifier, start, end in located_identifiers(plan.asked):
        if identifier.value in named:
            found.setdefault(identifier.value, plan.asked[start:end])
    return found


def said_besides(text: str, plan: Plan) -> str:
    """A text without the dates, versions and codes that a question names, in whatever writing."""
    spans = sorted(_named_spans(text, plan))
    left, end = [], 0
    for start, stop in spans:
        left.append(text[end : max(end, start)])
        end = max(end, stop)
    return " ".join([*left, text[end:]])


def only_repeats(text: str, plan: Plan, most_letters: int) -> bool:
    """Whether a text hardly says more than what the question names, as `Date: 7 May 2026` does."""
    spans = sorted(_named_spans(text, plan))
    if not spans or _WORD.search(text, max(stop for _, stop in spans)):
        return False
    besides = "".join(_WORD.findall(said_besides(text, plan)))
    return len(besides) <= most_letters and not any(map(str.isdigit, besides))


def names_others(text: str, plan: Plan) -> bool:
    """Whether a text names other things of the kind that a question names: other codes and versions, or other dates."""
    named = {*plan.versions, *plan.codes}
    if named:
        kinds = {"code"} if plan.codes else {"version"}
        return any(one.kind in kinds and one.value not in named for one, _, _ in located_identifiers(text))
    return any(
        not any(one.first_day <= date.first_day and date.last_day <= one.last_day for one in plan.dates)
        for date in find_dates(text)
    )


def _named_spans(text: str, plan: Plan) -> Iterator[tuple[int, int]]:
    named = {*plan.versions, *plan.codes}
    if named:
        yield from ((start, end) for identifier, start, end in located_identifiers(text) if identifier.value in named)
    for date in find_dates(text) if plan.dates else ():
        if any(one.first_day <= date.first_day and date.last_day <= one.last_day for one in plan.dates):
            yield date.start, date.end
