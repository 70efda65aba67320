"""Server-sent events as they come (HTML Living Standard, 9.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One event; whoever loses the connection goes on behind its `id`."""

    id: str
    name: str
    data: Any


def events_of(lines: Iterator[str]) -> Iterator[Event]:
    """The events in these lines; comments, which are signs of life, are passed over. Raises `ValueError`."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line:
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and "data" in fields else value
        elif "data" in fields:
            yield Event(fields.get("id", ""), fields.get("event", "message"), json.loads(fields["data"]))
            fields = {}
        else:
            fields = {}
