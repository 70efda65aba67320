"""The fields of documents by which a search can be narrowed, and which documents meet a filter.

They are the metadata of a published revision, and under names of their own what else is known of
it: `tag`, `path`, `name`, `media_type`, `language`, `date`. A field may have several values.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from wenyuan.language.dates.mentions import FIRST_YEAR
from wenyuan.language.dates.resolving import find_dates
from wenyuan.language.folding import fold
from wenyuan.language.scripts import language_of
from wenyuan.rules.filters import DATE_FIELD, value_days, value_number, value_text
from wenyuan.store.database import Reading, Writing
from wenyuan.types import Condition, Document, Facts, Key, Scope

_TAGS = frozenset({"tag", "tags", "keyword", "keywords", "标签", "关键词", "关键字"})
_OPENING_CHUNKS = 4
_MOST_VALUES = 300
_MOST_ITEMS = 100
_LONGEST_VALUE = 200
_DEEPEST = 3
_HIGHEST = "\U0010ffff"
_LARGEST = 1.7e308
_FIRST_DAY = datetime.date(FIRST_YEAR, 1, 1).toordinal()
_LONGEST_DATE = 40

_between_tags = re.compile(r"[,;、，；]")

_WANTED = (
    "wanted AS (SELECT CAST(json(j.value) ->> 0 AS BIGINT) AS condition, json(j.value) ->> 1 AS kind, "
    "json(j.value) ->> 2 AS field, json(j.value) ->> 3 AS first, json(j.value) ->> 4 AS last "
    "FROM json_each(:wanted) AS j)"
)
_TEXT = "w.kind = 'text' AND f.value BETWEEN w.first AND w.last"
_NUMBER = (
    "w.kind = 'number' AND f.number BETWEEN CAST(w.first AS DOUBLE PRECISION) AND CAST(w.last AS DOUBLE PRECISION)"
)
_DAYS = "w.kind = 'days' AND f.first_day <= CAST(w.last AS BIGINT) AND f.last_day >= CAST(w.first AS BIGINT)"


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    value: str
    number: float | None = None
    first_day: int | None = None
    last_day: int | None = None


def stage(tx: Writing, document: Document, revision_id: str, facts: Facts, keys: Iterable[Key]) -> None:
    """Store the fields of a revision that is being published; `keys` are those of the document as a whole."""
    language = facts.language or language_of(_opening(tx, revision_id))
    fields = dict.fromkeys(_fields(document, facts, language, keys))
    tx.run_many(
        "INSERT INTO document_fields (knowledge_base_id, document_id, revision_id, field, value, number, first_day, "
        "last_day) VALUES (:knowledge_base_id, :document_id, :revision_id, :field, :value, :number, :first_day, "
        ":last_day)",
        (
            {
                "knowledge_base_id": document.knowledge_base_id,
                "document_id": document.id,
                "revision_id": revision_id,
                "field": field.name,
                "value": field.value,
                "number": field.number,
                "first_day": field.first_day,
                "last_day": field.last_day,
            }
            for field in islice(fields, _MOST_VALUES)
        ),
    )


def _opening(tx: Reading, revision_id: str) -> str:
    rows = tx.all(
        "SELECT text FROM chunks WHERE revision_id = :id AND seq < :opening ORDER BY seq",
        {"id": revision_id, "opening": _OPENING_CHUNKS},
    )
    return " ".join(str(row[0]) for row in rows)


def forget(tx: Writing, revision_id: str) -> None:
    tx.run("DELETE FROM document_fields WHERE revision_id = :id", {"id": revision_id})


def narrowed(tx: Reading, knowledge_base_id: str, scope: Scope) -> Scope:
    """The scope with the documents of one knowledge base that meet its conditions, live ones alone.

    Without conditions it is returned as it is.
    """
    if not scope.conditions:
        return scope
    rows = tx.all(
        f"WITH {_WANTED}, met AS ("
        "SELECT w.condition, f.revision_id FROM wanted AS w CROSS JOIN document_fields AS f "
        f"WHERE f.knowledge_base_id = :knowledge_base_id AND f.field = w.field AND {_TEXT} UNION ALL "
        "SELECT w.condition, f.revision_id FROM wanted AS w CROSS JOIN document_fields AS f "
        f"WHERE f.knowledge_base_id = :knowledge_base_id AND f.field = w.field AND {_NUMBER} UNION ALL "
        "SELECT w.condition, f.revision_id FROM wanted AS w CROSS JOIN document_fields AS f "
        f"WHERE f.knowledge_base_id = :knowledge_base_id AND f.field = w.field AND {_DAYS}), "
        "meeting AS (SELECT m.revision_id FROM met AS m GROUP BY m.revision_id "
        "HAVING count(DISTINCT m.condition) = :conditions) "
        "SELECT d.id FROM meeting AS m CROSS JOIN documents AS d WHERE d.serving_revision_id = m.revision_id "
        "AND d.knowledge_base_id = :knowledge_base_id AND d.enabled = 1 AND d.blocked_reason = '' "
        "AND d.deleted_at IS NULL ORDER BY d.id",
        {"knowledge_base_id": knowledge_base_id, **_parameters(scope.conditions)},
    )
    meeting = (str(row[0]) for row in rows)
    within = None if scope.documents is None else set(scope.documents)
    return replace(scope, documents=tuple(one for one in meeting if within is None or one in within))


def meeting(tx: Reading, conditions: Sequence[Condition], revision_ids: Iterable[str]) -> set[str]:
    """Those of the given revisions that meet every condition."""
    rows = tx.all(
        f"WITH {_WANTED} SELECT f.revision_id FROM wanted AS w CROSS JOIN json_each(:revisions) AS r "
        "CROSS JOIN document_fields AS f "
        f"WHERE f.revision_id = r.value AND f.field = w.field AND (({_TEXT}) OR ({_NUMBER}) OR ({_DAYS})) "
        "GROUP BY f.revision_id HAVING count(DISTINCT w.condition) = :conditions",
        {"revisions": json.dumps(sorted(set(revision_ids))), **_parameters(conditions)},
    )
    return {str(row[0]) for row in rows}


def _parameters(conditions: Sequence[Condition]) -> dict[str, object]:
    wanted = [[number, *one] for number, condition in enumerate(conditions) for one in _alternatives(condition)]
    return {"wanted": json.dumps(wanted, ensure_ascii=False), "conditions": len(conditions)}


def _alternatives(condition: Condition) -> Iterator[tuple[str, str, str | float, str | float]]:
    """What a condition accepts, each as (kind, field, first, last), closed ranges all."""
    name = _comparable(condition.field)
    for text in condition.texts:
        value = _value(name, text)
        yield "text", name, value, value
    for prefix in condition.prefixes:
        value = _value(name, prefix)
        yield "text", name, value, value + _HIGHEST
    for lower, upper in condition.numbers:
        yield "number", name, -_LARGEST if lower is None else lower, _LARGEST if upper is None else upper
    for first, last in condition.days:
        yield "days", name, first, last


def _fields(document: Document, facts: Facts, language: str, keys: Iterable[Key]) -> Iterator[_Field]:
    known = [
        ("path", document.source),
        ("name", document.name),
        ("media_type", facts.media_type),
        ("language", language),
        # What is in American English is in English.
        ("language", language.partition("-")[0]),
    ]
    yield from (_Field(name, _value(name, text)) for name, text in known if text)
    for key in keys:
        # A day of no year in particular lies in no range.
        if key.kind == "date" and key.first_day >= _FIRST_DAY:
            yield _Field(DATE_FIELD, key.value[:_LONGEST_VALUE], None, key.first_day, key.last_day)
    for name, text in _metadata(facts.metadata, "", _DEEPEST):
        yield _described(name, text)
        if name in _TAGS:
            yield from (_Field("tag", _comparable(tag).lstrip("#")) for tag in _between_tags.split(text) if tag.strip())


def _metadata(metadata: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    """The metadata's single values with the folded names of their fields, those within others joined by dots."""
    for field, value in metadata.items():
        name = prefix + _comparable(str(field))
        if isinstance(value, Mapping):
            if depth > 1:
                yield from _metadata(value, f"{name}.", depth - 1)
            continue
        for item in value[:_MOST_ITEMS] if isinstance(value, list | tuple) else [value]:
            text = value_text(item)
            if text is not None and text.strip():
                yield name, text


def _described(name: str, text: str) -> _Field:
    value = _value(name, text)
    first_day, last_day = value_days(value) or _days(value) or (None, None)
    return _Field(name, value, value_number(value), first_day, last_day)


def _days(value: str) -> tuple[int, int] | None:
    """The days of a value that is a date in words, and nothing besides."""
    if len(value) > _LONGEST_DATE:
        return None
    spans = (span for span in find_dates(value) if (span.start, span.end) == (0, len(value)))
    return next(((span.first_day, span.last_day) for span in spans if span.first_day >= _FIRST_DAY), None)


def _value(name: str, text: str) -> str:
    # Two paths may differ in their capitals alone.
    return _storable(text)[:_LONGEST_VALUE] if name == "path" else _comparable(text)


def _comparable(text: str) -> str:
    return " ".join(fold(_storable(text[: 2 * _LONGEST_VALUE])).split())[:_LONGEST_VALUE]


def _storable(text: str) -> str:
    """Without what no database stores: a lone surrogate and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
