"""What whoever adds a file says of it: checked, bounded, and put before what a reader finds."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wenyuan.errors import InvalidValue
from wenyuan.parsers.text.decoding import without_surrogates
from wenyuan.store.rows import to_json
from wenyuan.types import Facts, Given

LONGEST_NAME = 1_000
LONGEST_TITLE = 1_000
MOST_FIELDS = 100
LONGEST_FIELD_NAME = 200
MOST_CHARACTERS = 65_536
DEEPEST = 8

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class TextToAdd:
    """A text to be taken in under a name of its adder's own; the same name again replaces it.

    Metadata is what JSON can hold, and days and times.
    """

    text: str
    name: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def checked_given(title: str, metadata: Mapping[str, Any], media_type: str = "") -> Given:
    """A title and metadata as they can be stored; days and times become ISO 8601.

    Raises `InvalidValue` for what JSON cannot hold, and for more than the bounds of this module.
    """
    if len(title) > LONGEST_TITLE:
        raise InvalidValue(what="A title", value=_shown(title), reason=f"the longest is {LONGEST_TITLE} characters")
    if len(metadata) > MOST_FIELDS:
        reason = f"a document has at most {MOST_FIELDS} fields"
        raise InvalidValue(what="The number of metadata fields", value=len(metadata), reason=reason)
    plain = _plain_fields(metadata, DEEPEST)
    size = len(to_json(plain))
    if size > MOST_CHARACTERS:
        reason = f"a document has at most {MOST_CHARACTERS} characters of it as JSON"
        raise InvalidValue(what="The size of metadata", value=size, reason=reason)
    return Given(" ".join(without_surrogates(title).split()), plain, media_type)


def checked_name(name: str) -> str:
    """A document's name as it can be stored. Raises `InvalidValue` for an empty or very long one."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InvalidValue(
            what="The name of a text", value=_shown(name), reason=f"it must be 1 to {LONGEST_NAME} characters"
        )
    return without_surrogates(name)


def merged(facts: Facts, given: Given) -> Facts:
    """The facts of a file; what was given of it goes before what was read."""
    return replace(facts, title=given.title or facts.title, metadata={**facts.metadata, **given.metadata})


def _plain_fields(fields: Mapping[str, Any], depth: int) -> dict[str, Any]:
    for name in fields:
        if not isinstance(name, str) or not name or len(name) > LONGEST_FIELD_NAME:
            reason = f"it must be a text of 1 to {LONGEST_FIELD_NAME} characters"
            raise InvalidValue(what="The name of a metadata field", value=_shown(name), reason=reason)
    return {without_surrogates(name): _plain(name, value, depth) for name, value in fields.items()}


def _plain(name: str, value: Any, depth: int) -> Any:
    match value:
        case bool() | int() | None:
            return value
        case float() if math.isfinite(value):
            return value
        case str():
            return without_surrogates(value)
        case datetime.date() | datetime.time():
            return value.isoformat()
        case Mapping() if depth:
            return _plain_fields(value, depth - 1)
        case Sequence() if depth and not isinstance(value, bytes | bytearray):
            return [_plain(name, item, depth - 1) for item in value]
    reason = f"JSON cannot hold it, or only deeper than {DEEPEST} levels"
    raise InvalidValue(what=f"The metadata field {name!r}", value=_shown(value), reason=reason)


def _shown(value: object) -> str:
    return str(value)[:_SHOWN]
