"""The files in `tests/files` that hold one of its texts, and what their readers must find in them.

Most hold one of the texts in `tests/files/sources`, which are Markdown of the plainest kind; what a program did to its
text is said with its file, so that everything else must be found exactly as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

FILES = Path(__file__).parents[1] / "files"

_NUMBERED = re.compile(r"\d+\. ")


class Part(NamedTuple):
    """A block as it should be found: its kind, its text and the headings over it."""

    kind: str
    text: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A file, and what the program that wrote it made of the text.

    `items` says what became of the items of lists: still items with `-` or their number, with `•`, or plain paragraphs;
    `headings` what became of headings; `levels` how many of their levels were left. `changed` are texts that the
    program wrote otherwise, `left_out` those that it lost, `extra` those that it added, such as notes, wherever they
    stand. With `is_ordered` false the order of a slide is by place.
    """

    name: str
    bullets: Literal["- ", "• ", "", "paragraph"] = "- "
    numbers: Literal["1. ", "- ", "• ", "paragraph"] = "1. "
    headings: Literal["heading", "paragraph"] = "heading"
    levels: int = 3
    has_paths: bool = True
    is_ordered: bool = True
    changed: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The name of the text in it."""
        return next(source for source in SOURCES if self.name.startswith(f"{source}-"))


SOURCES = ("waterworks", "tea", "reading-room", "workshop", "observatory", "bakery")
CHINESE = frozenset({"waterworks", "tea", "reading-room"})


def source_parts(source: str) -> Iterator[tuple[str, str, int]]:
    """The kind, text and level of everything in a source text, in its order."""
    for line in (FILES / "sources" / f"{source}.md").read_text("utf-8").splitlines():
        if line.startswith("#"):
            title = line.lstrip("#")
            yield "heading", title.strip(), len(line) - len(title)
        elif line.startswith("- "):
            yield "bullet", line[2:], 0
        elif _NUMBERED.match(line):
            yield "number", line, 0
        elif line.startswith("|"):
            if not line.startswith("|--"):
                yield "table", line, 0
        elif line:
            yield "paragraph", line, 0


def expected_parts(file: ProgramFile) -> list[Part]:
    """What must be found in a file, in its order, without what its program added."""
    parts: list[Part] = []
    open_headings: list[tuple[int, str]] = []
    for kind, written, level in source_parts(file.source):
        text = file.changed.get(written, written)
        if kind == "heading":
            kind = file.headings
            open_headings = [one for one in open_headings if one[0] < min(level, file.levels)]
            open_headings.append((min(level, file.levels), text))
        elif kind == "bullet":
            kind, text = _item(text, file.bullets)
        elif kind == "number":
            marker = "" if file.numbers == "1. " else file.numbers
            kind, text = ("list", text) if not marker else _item(text.partition(". ")[2], marker)
        if written not in file.left_out:
            path = tuple(title for _, title in open_headings) if file.headings == "heading" else ()
            parts.append(Part(kind, text, path if file.has_paths else ()))
    return parts


def _item(text: str, marker: str) -> tuple[str, str]:
    return ("paragraph", text) if marker == "paragraph" else ("list", marker + text)
