"""How values are written in columns: the JSON of anchors, notices, problems and chunking."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from wenyuan.types import Notice, Problem

Value = TypeVar("Value")


def to_json(value: Any) -> str:
    """Compact JSON of a dataclass, or of mappings, sequences and scalars."""
    return _ENCODER.encode(value)


def from_json(kind: type[Value], text: str) -> Value:
    """The dataclass that `to_json` wrote; fields a newer program added are ignored."""
    stored: Mapping[str, Any] = json.loads(text)
    # What `dataclasses.fields` makes its list of; a passage has three such values, and a search dozens of passages.
    known = vars(kind)["__dataclass_fields__"]
    return kind(**{name: value for name, value in stored.items() if name in known})


def problem_from(text: str | None) -> Problem | None:
    return from_json(Problem, text) if text is not None else None


def notices_from(text: str) -> tuple[Notice, ...]:
    return tuple(Notice(**notice) for notice in json.loads(text))


def _plain(value: Any) -> Any:
    """What JSON does not know as what it knows; of a dataclass one level, the encoder asks for the next."""
    names = getattr(type(value), "__dataclass_fields__", None)
    return str(value) if names is None else {name: getattr(value, name) for name in names}


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
