"""How values are written in columns, and a document in its row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from wenyuan.store.database import Row
from wenyuan.types import Anchor, Box, Document, Notice, Problem

Value = TypeVar("Value")

DOCUMENT_COLUMNS = (
    "d.id, d.knowledge_base_id, d.owner, d.source, d.name, d.enabled, d.serving_revision_id, d.created_at, "
    "d.updated_at, d.source_id, d.blocked_reason, d.parent_id"
)
"""What `document_from` reads, of a table of documents called `d`."""


def to_json(value: Any) -> str:
    """Compact JSON of a dataclass, or of mappings, sequences and scalars."""
    return _ENCODER.encode(value)


def from_json(kind: type[Value], text: str) -> Value:
    """The dataclass that `to_json` wrote; fields a newer program added are ignored."""
    stored: Mapping[str, Any] = json.loads(text)
    # What `dataclasses.fields` makes its list of; a passage has three such values, and a search dozens of passages.
    known = vars(kind)["__dataclass_fields__"]
    return kind(**{name: value for name, value in stored.items() if name in known})


def anchor_to_json(anchor: Anchor) -> str:
    """An anchor as `to_json` writes it, without what most anchors have none of."""
    value: dict[str, Any] = {"kind": anchor.kind, "first": anchor.first, "last": anchor.last, "name": anchor.name}
    if anchor.columns is not None:
        value["columns"] = anchor.columns
    if anchor.boxes:
        value["boxes"] = anchor.boxes
    return _ENCODER.encode(value)


def anchor_from(text: str) -> Anchor:
    stored: Mapping[str, Any] = json.loads(text)
    columns, boxes = stored.get("columns"), stored.get("boxes", ())
    return Anchor(
        stored["kind"],
        stored["first"],
        stored["last"],
        stored["name"],
        (columns[0], columns[1]) if columns is not None else None,
        tuple(Box(*box) for box in boxes) if boxes else (),
    )


def problem_from(text: str | None) -> Problem | None:
    return from_json(Problem, text) if text is not None else None


def notices_from(text: str) -> tuple[Notice, ...]:
    return tuple(Notice(**notice) for notice in json.loads(text))


def document_from(row: Row) -> Document:
    return Document(
        id=row[0],
        knowledge_base_id=row[1],
        owner=row[2],
        source=row[3],
        name=row[4],
        enabled=bool(row[5]),
        serving_revision_id=row[6],
        created_at=row[7],
        updated_at=row[8],
        source_id=row[9],
        blocked_reason=row[10],
        parent_id=row[11],
    )


def _plain(value: Any) -> Any:
    """What JSON does not know as what it knows; of a dataclass one level, the encoder asks for the next."""
    names = getattr(type(value), "__dataclass_fields__", None)
    return str(value) if names is None else {name: getattr(value, name) for name in names}


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
