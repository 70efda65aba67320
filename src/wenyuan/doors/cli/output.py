"""What a command writes: styled text on terminals, plain lines into pipes, one JSON document on request."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, TextIO

from wenyuan.doors.cli.wrapping import breaks

if TYPE_CHECKING:
    from rich.console import Console

Part = str | tuple[str, str]
"""A piece of a line: plain text, or text and its style, as rich names styles."""

# A document's words are not trusted: an escape sequence in them must never reach the terminal, and
# no override of the writing direction may make them read differently. Tab and line feed stay.
_CONTROL = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNSAFE = dict.fromkeys(_CONTROL, "\ufffd")


@dataclass(frozen=True, slots=True)
class Column:
    """A table's column. `whole` ones are never broken, so that what they hold can be copied."""

    title: str
    align: Literal["left", "right"] = "left"
    whole: bool = False


class Output:
    """A stream people read. Into a pipe nothing is coloured, drawn, wrapped or cut."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console: Console | None = None
        self.is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def console(self) -> Console:
        """The terminal as rich knows it; made when first used, since rich takes time to load."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self._stream, highlight=False, markup=False, emoji=False)
        return self._console

    def line(self, *parts: Part, indent: int = 0, whole: bool = False) -> None:
        """Write one paragraph; a `whole` one is left to the terminal to break, so that paths can be clicked."""
        pairs = [(part, "") if isinstance(part, str) else part for part in parts]
        pieces = [(printable(text), style) for text, style in pairs]
        if not self.is_terminal:
            text = "".join(text for text, _ in pieces)
            self._plain("\n".join(f"{' ' * indent}{line}".rstrip() for line in text.split("\n")))
            return
        from rich.text import Text

        for paragraph in Text.assemble(*pieces).split("\n", allow_blank=True):
            places = [] if whole else breaks(paragraph.plain, max(20, self.console.width - indent))
            for line in paragraph.divide(places):
                line.rstrip()
                self.console.print(Text(" " * indent if line else "") + line, soft_wrap=True)

    def piece(self, text: str) -> None:
        """Write a piece of a text as it comes, at once."""
        self._stream.write(printable(text))
        self._stream.flush()

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Part]]) -> None:
        cells = [[_cell(part) for part in row] for row in rows]
        if self.is_terminal:
            self._drawn(columns, cells)
        else:
            self._aligned(columns, [[text for text, _ in row] for row in cells])

    def _drawn(self, columns: Sequence[Column], cells: Sequence[Sequence[tuple[str, str]]]) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column in columns:
            table.add_column(Text(column.title), justify=column.align, no_wrap=column.whole, overflow="fold")
        for row in cells:
            table.add_row(*(Text(text, style) for text, style in row))
        self.console.print(table)

    def _aligned(self, columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> None:
        from rich.cells import cell_len

        rows = [[column.title for column in columns], *cells]
        widths = [max(cell_len(row[place]) for row in rows) for place in range(len(columns))]
        for row in rows:
            padded = []
            for text, column, width in zip(row, columns, widths, strict=True):
                space = " " * (width - cell_len(text))
                padded.append(space + text if column.align == "right" else text + space)
            self._plain("  ".join(padded).rstrip())

    def _plain(self, text: str) -> None:
        self._stream.write(f"{text}\n")


def printable(text: str) -> str:
    """The same text without what would steer a terminal."""
    return text.translate(_UNSAFE)


def one_line(text: str) -> str:
    """The same text on one line: even a file's name may hold a line break."""
    return text.replace("\n", " ").replace("\t", " ")


def _cell(part: Part) -> tuple[str, str]:
    text, style = (part, "") if isinstance(part, str) else part
    return one_line(printable(text)), style


def write_json(value: Any) -> None:
    """Write one JSON document in UTF-8 (RFC 8259), whatever the locale."""
    text = json.dumps(as_json(value), ensure_ascii=False, indent=2)
    # A lone surrogate, as in a path that is not UTF-8, becomes its JSON escape.
    sys.stdout.buffer.write(f"{text}\n".encode("utf-8", errors="backslashreplace"))
    sys.stdout.buffer.flush()


def json_line(value: Any) -> str:
    """One value as a line of JSON Lines."""
    text = json.dumps(as_json(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="backslashreplace").decode() + "\n"


def as_json(value: Any) -> Any:
    """The same value of objects, arrays and numbers: a dataclass becomes an object of its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: as_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    return value
