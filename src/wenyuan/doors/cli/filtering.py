"""`--filter`, as it is typed, becomes the filters of a search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from wenyuan.errors import InvalidFilter

FilterOption = Annotated[list[str] | None, Parameter(name="--filter", negative="")]

_range = re.compile(r"([-+0-9./:年月日TZ]*?)\.\.([-+0-9./:年月日TZ]*)")
_LONGEST_SHOWN = 60


def filters_of(options: Iterable[str] | None) -> Mapping[str, Any]:
    """`field=a,b`, `field=2020..2024`, `field=prefix*`, or a JSON object; the same field twice asks for both.

    Raises `InvalidFilter`.
    """
    asked: dict[str, list[Any]] = {}
    for option in options or ():
        for field, wanted in _fields(option):
            asked.setdefault(field, []).append(wanted)
    return {field: parts[0] if len(parts) == 1 else {"all": parts} for field, parts in asked.items()}


def _fields(option: str) -> Iterable[tuple[str, Any]]:
    if option.lstrip().startswith("{"):
        try:
            wanted = json.loads(option)
        except (ValueError, RecursionError) as error:
            raise InvalidFilter(field=option[:_LONGEST_SHOWN], reason="it is no JSON object") from error
        return list(wanted.items())
    field, separator, text = option.partition("=")
    if not separator:
        raise InvalidFilter(field=option[:_LONGEST_SHOWN], reason="it is written FIELD=VALUE")
    return [(field.strip(), _wanted(text.strip()))]


def _wanted(text: str) -> Any:
    found = _range.fullmatch(text)
    if found is not None:
        return {name: bound for name, bound in zip(("from", "to"), found.groups(), strict=True) if bound}
    items = [_item(item.strip()) for item in re.split("[,，]", text)]
    return items[0] if len(items) == 1 else items


def _item(text: str) -> str | Mapping[str, str]:
    return {"prefix": text[:-1]} if len(text) > 1 and text.endswith("*") else text
