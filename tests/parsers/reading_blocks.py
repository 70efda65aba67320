"""Reads a file in this process and shows what tests look at."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from wenyuan.parsers.reading import read_file
from wenyuan.types import Block, Facts, Notice, ReadEvent

FIXTURES = Path(__file__).parents[1] / "fixtures" / "files"

Kind = TypeVar("Kind")


def events_of(source: bytes | str, folder: Path | None = None, name: str = "") -> list[ReadEvent]:
    """What is in a fixture, or in these bytes written to `folder`."""
    if isinstance(source, str):
        return list(read_file(FIXTURES / source, source))
    assert folder is not None
    path = folder / "file"
    path.write_bytes(source)
    return list(read_file(path, name))


def of(kind: type[Kind], events: list[ReadEvent]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def shown(events: list[ReadEvent]) -> list[tuple[str, str]]:
    """The kind and the text of every block."""
    return [(block.kind, block.text) for block in of(Block, events)]


def texts(events: list[ReadEvent]) -> list[str]:
    return [block.text for block in of(Block, events)]


def facts(events: list[ReadEvent]) -> Facts:
    return of(Facts, events)[-1]


def codes(events: list[ReadEvent]) -> set[str]:
    return {notice.code for notice in of(Notice, events)}
