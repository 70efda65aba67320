"""One case as it is written in a file, checked field by field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol

from wenyuan.errors import EvaluationSetInvalid
from wenyuan.rules.evaluation.cases import Case, Expected, digest_of
from wenyuan.types import ANCHOR_KINDS, Anchor

NOTHING = "nothing"

_MOST_CASES = 100_000
_LONGEST_QUERY = 4000
_LONGEST_WORD = 200
_HIGHEST_GRADE = 1000
_FIELDS = ("id", "query", "expect", "filters", "tags", "language", "knowledge_bases", "within", "note")
PLACES = ANCHOR_KINDS
"""The ways in which a place is named, as the kinds of `Anchor`."""

_SPAN = re.compile(r"(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of one case, and the lines on which they stand, counted from 1."""

    line: int
    fields: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SetFile:
    """Where rows come from, for errors: its path as it was given, and what holds for every case in it."""

    path: str
    knowledge_bases: tuple[str, ...] = ()

    def refuse(self, line: int, reason: str) -> NoReturn:
        raise EvaluationSetInvalid(path=self.path, line=line, reason=reason)


class Refuse(Protocol):
    def __call__(self, name: str, reason: str) -> NoReturn: ...


def cases_of(file: SetFile, rows: Iterable[Row]) -> tuple[Case, ...]:
    """The cases in their order. Raises `EvaluationSetInvalid`, naming the file and the line."""
    cases: dict[str, Case] = {}
    first: dict[str, int] = {}
    for row in rows:
        case = _case(file, row)
        if case.id in cases:
            reason = f"the id {case.id!r} stands on line {first[case.id]} already; give each case an id of its own"
            file.refuse(row.lines.get("id", row.line), reason)
        if len(cases) == _MOST_CASES:
            file.refuse(row.line, f"a set may have {_MOST_CASES:,} cases at most")
        cases[case.id] = case
        first[case.id] = row.line
    if not cases:
        file.refuse(1, "there are no cases in it")
    return tuple(cases.values())


def _case(file: SetFile, row: Row) -> Case:
    def refuse(name: str, reason: str) -> NoReturn:
        file.refuse(row.lines.get(name, row.line), reason)

    for name in row.fields:
        if name not in _FIELDS:
            refuse(name, f"{name!r} is not a field of a case; these are: {', '.join(_FIELDS)}")
    query = _text(refuse, "query", row.fields.get("query"), _LONGEST_QUERY)
    if "expect" not in row.fields:
        refuse("query", f"the case has no `expect`; if nothing should be found, write `expect: {NOTHING}`")
    bases = _words(refuse, "knowledge_bases", row.fields.get("knowledge_bases")) or file.knowledge_bases
    filters = row.fields.get("filters") or {}
    if not isinstance(filters, Mapping) or not all(isinstance(name, str) for name in filters):
        refuse("filters", "`filters` must give a value for each field")
    case = Case(
        id="",
        query=query,
        expected=tuple(_expected(refuse, row.fields["expect"])),
        filters=dict(filters),
        tags=_words(refuse, "tags", row.fields.get("tags")),
        language=_text(refuse, "language", row.fields["language"]) if "language" in row.fields else "",
        knowledge_bases=bases,
        within=_number(refuse, "within", row.fields["within"], 1, 100) if "within" in row.fields else 0,
    )
    # Without an id of its own, a case is known by what it asks, so that its place in the file may change.
    known = _text(refuse, "id", row.fields["id"]) if "id" in row.fields else digest_of([query, filters, bases])[:8]
    return replace(case, id=known)


def _expected(refuse: Refuse, value: Any) -> Iterator[Expected]:
    if value == NOTHING:
        return
    wanted = value if isinstance(value, list) else [value]
    seen: set[str] = set()
    for one in wanted:
        found = _one_expected(refuse, one)
        if found.name in seen:
            refuse("expect", f"{found.name!r} is expected twice")
        seen.add(found.name)
        yield found
    if not wanted:
        refuse("expect", f"`expect` is empty; if nothing should be found, write `expect: {NOTHING}`")


def _one_expected(refuse: Refuse, value: Any) -> Expected:
    if value == NOTHING:
        refuse("expect", f"{NOTHING!r} stands alone; a document of that name is `document: {NOTHING}`")
    if isinstance(value, str):
        return Expected(_text(refuse, "expect", value, _LONGEST_QUERY))
    if not isinstance(value, Mapping):
        refuse("expect", f"`expect` must be {NOTHING!r}, a document, or a list of documents and places")
    known = ("document", "chunk", "text", "grade", "part", *PLACES)
    for name in value:
        if name not in known:
            refuse("expect", f"{name!r} is not a part of what can be expected; these are: {', '.join(known)}")
    if ("document" in value) == ("chunk" in value):
        refuse("expect", "what is expected must name a `document` or a `chunk`, and not both")
    places = [name for name in PLACES if name in value]
    if len(places) > 1 or ("part" in value and not places):
        refuse("expect", f"a place is one of {', '.join(PLACES)}, with a `part` where the document has parts")
    if "chunk" in value and (places or "text" in value):
        refuse("expect", "a `chunk` is a place already; leave out the others")
    return Expected(
        document=_text(refuse, "expect", value["document"], _LONGEST_QUERY) if "document" in value else "",
        chunk=_text(refuse, "expect", value["chunk"]) if "chunk" in value else "",
        anchor=_anchor(refuse, places[0], value) if places else None,
        text=_text(refuse, "expect", value["text"], _LONGEST_QUERY) if "text" in value else "",
        grade=_number(refuse, "expect", value.get("grade", 1), 1, _HIGHEST_GRADE),
    )


def _anchor(refuse: Refuse, kind: Any, value: Mapping[str, Any]) -> Anchor:
    match = _SPAN.fullmatch(str(value[kind]).strip())
    if match is None or int(match[1]) < 1:
        refuse("expect", f"`{kind}` must be a number from 1, or two with a hyphen between them")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        refuse("expect", f"`{kind}` ends before it begins")
    return Anchor(kind, first, last, _text(refuse, "expect", value["part"]) if "part" in value else "")


def _text(refuse: Refuse, name: str, value: Any, longest: int = _LONGEST_WORD) -> str:
    if not isinstance(value, str) or not value.strip():
        refuse(name, f"`{name}` must be a text that is not empty")
    if len(value) > longest:
        refuse(name, f"a text of `{name}` may have {longest} characters at most")
    return value.strip()


def _words(refuse: Refuse, name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    listed = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(_text(refuse, name, one) for one in listed))


def _number(refuse: Refuse, name: str, value: Any, least: int, most: int) -> int:
    digits = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    number = int(digits) if re.fullmatch(r"\d{1,9}", digits) else -1
    if not least <= number <= most:
        refuse(name, f"a number in `{name}` must be a whole one from {least} to {most}")
    return number
