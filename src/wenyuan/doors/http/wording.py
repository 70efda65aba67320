"""Answers in the language that is preferred: what went wrong is stored in English, and told in Chinese where asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from wenyuan.doors.http.problems import Worded
from wenyuan.types import Problem


def reworded(value: Any, worded: Worded) -> Any:
    """The same value, every problem in it put into other words; what has none is returned as it is."""
    match value:
        case Problem():
            return worded(value)
        case tuple() | list():
            items = [reworded(one, worded) for one in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            return items if isinstance(value, list) else tuple(items)
        case Mapping():
            changed = {key: reworded(one, worded) for key, one in value.items()}
            return value if all(changed[key] is one for key, one in value.items()) else changed
        case _ if is_dataclass(value) and not isinstance(value, type):
            new = {field.name: reworded(getattr(value, field.name), worded) for field in fields(value)}
            changes = {name: one for name, one in new.items() if one is not getattr(value, name)}
            return replace(value, **changes) if changes else value
        case _:
            return value
