"""From the paragraphs, lists and tables of an office document to blocks, the same for every format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wenyuan.parsers.forms import is_form
from wenyuan.types import Anchor, Block, BlockKind

TITLE_LEVEL = 0
"""The level of a document's title, which stands over its first headings."""

_DEEPEST_HEADING = 9
_LONGEST_HEADING = 200
_DEEPEST_LIST = 20
WIDEST_ROW = 1_000
"""Cells of a row that are read."""

_NUMBER = re.compile(r"[-+]?[\d.,]*\d%?")
# Soft hyphens show only where a line was broken; object marks and control characters show nothing.
_UNSEEN = dict.fromkeys([0xAD, 0xFFFC, 0x200B, 0xFEFF, *(code for code in range(0x20) if code not in (9, 10))])
_SEEN_AS_OTHER = {0x2011: "-", 0x2028: "\n", 0x0B: "\n"}
_TRANSLATION = {**_UNSEEN, **_SEEN_AS_OTHER}
_TO_TRANSLATE = re.compile(f"[{re.escape(''.join(map(chr, _TRANSLATION)))}]")


class Cell(NamedTuple):
    """A cell of a table: its text, how many columns it spans, and whether it goes on with the one above."""

    text: str
    columns: int = 1
    goes_on: bool = False


class OfficeBlocks:
    """Takes the parts of a document in their order and makes blocks of them; what is finished waits in `ready`.

    Paragraphs are counted from 1: those that have text, and each row of a table as one. With a `place`,
    that is the anchor of everything, and nothing is counted.
    """

    def __init__(self) -> None:
        self.ready: list[Block] = []
        self.place: Anchor | None = None
        self.top_heading = ""
        self.tables = 0
        self._count = 0
        self._top_level = _DEEPEST_HEADING + 1
        self._headings: list[tuple[int, str]] = []
        self._last_kind: BlockKind | None = None
        self._open_tables: list[_Table] = []
        self._last_table: _Table | None = None

    def heading(self, text: str, level: int) -> None:
        """A heading; `level` 1 is the topmost, `TITLE_LEVEL` the document's title."""
        text = " ".join(visible(text).split())
        if not text:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, text[:_LONGEST_HEADING]))
        if level < self._top_level:
            self.top_heading, self._top_level = text[:_LONGEST_HEADING], level
        self._give("heading", text)

    def leave_headings(self) -> None:
        """What follows belongs to none of the headings so far."""
        self._headings = []

    def paragraph(self, text: str, kind: BlockKind = "paragraph") -> None:
        """A paragraph, or something of another `kind`; lines of code are given one by one."""
        text = visible(text)
        text = text.rstrip() if kind == "code" else text.strip()
        if text.strip():
            self._give(kind, text)

    def item(self, text: str, depth: int, label: str) -> None:
        """An item of a list; `depth` counts from 0, `label` is its number or bullet as it is shown, if it has one."""
        text = visible(text).strip()
        if text:
            indentation = "  " * min(max(depth, 0), _DEEPEST_LIST)
            self._give("list", f"{indentation}{marker(label)}{text}")

    def begin_table(self) -> None:
        """The rows from here on are of another table, which may stand within the one before."""
        self._open_tables.append(_Table())
        self.tables += 1

    def row(self, cells: Iterable[Cell], is_header: bool = False) -> None:
        """The next row of the table; of its first row `is_header` says whether it is marked as its header."""
        table = self._open_tables[-1]
        values = table.values(cells)
        if any(values):
            table.look_back(values)
            text = f"| {' | '.join(values)} |"
            self._give("table", text, table.header, "\n" if table is self._last_table else "\n\n")
            self._last_table = table
            table.note(values, text, is_header)

    def end_table(self) -> None:
        """The table that was begun last has no more rows."""
        self._open_tables.pop()

    def chart(self, titles: Iterable[str], rows: Iterable[Sequence[str]]) -> None:
        """What a chart says: its titles as a caption, its numbers as a table, whose first row names the series."""
        self.paragraph(" · ".join(filter(None, titles)), "caption")
        self._open_tables.append(_Table())
        for number, row in enumerate(rows):
            self.row(map(Cell, row), is_header=number == 0)
        self.end_table()

    def take(self) -> list[Block]:
        """The blocks that are finished, which are then forgotten."""
        ready, self.ready = self.ready, []
        return ready

    def _give(self, kind: BlockKind, text: str, context: str = "", joiner: str = "") -> None:
        if not joiner:
            joiner = "\n" if kind == self._last_kind and kind in ("list", "code") else "\n\n"
        self._count += 1
        anchor = self.place or Anchor("paragraph", self._count, self._count)
        path = tuple(text for _, text in self._headings)
        self.ready.append(Block(kind, text, anchor, path, context, joiner))
        self._last_kind = kind
        self._last_table = None


class _Table:
    """What has to be remembered of the rows so far."""

    def __init__(self) -> None:
        self.header = ""
        self.has_rows = False
        self._above: list[str] = []
        self._guessed: Sequence[str] = ()
        """The first row, where it is the header only by its looks, until the second is known."""

    def values(self, cells: Iterable[Cell]) -> list[str]:
        """A cell that spans columns is followed by empty ones; one that spans rows is repeated in each."""
        values: list[str] = []
        for cell in cells:
            if len(values) >= WIDEST_ROW:
                break
            text = " ".join(visible(cell.text).split()).replace("|", "\\|")
            if cell.goes_on and not text and len(values) < len(self._above):
                text = self._above[len(values)]
            empty = min(cell.columns, WIDEST_ROW - len(values)) - 1
            values.extend([text, *([""] * empty)])
        self._above = values
        return values

    def note(self, values: Sequence[str], text: str, is_header: bool) -> None:
        if not self.has_rows and (is_header or looks_like_header(values)) and len(values) > 1:
            self.header = text
            self._guessed = () if is_header else values
        self.has_rows = True

    def look_back(self, values: Sequence[str]) -> None:
        """See from the second row whether the first is not a header but the first row of a form."""
        if self._guessed and is_form(self._guessed, values):
            self.header = ""
        self._guessed = ()


def looks_like_header(values: Sequence[str]) -> bool:
    """Whether a table's first row names its columns: each has a name, and none is a number."""
    return len(values) > 1 and all(values) and not any(map(_NUMBER.fullmatch, values))


def marker(label: str) -> str:
    """What stands before an item: its number, or a dash for any kind of bullet."""
    label = " ".join(visible(label).split())
    if not label:
        return ""
    return f"{label} " if any(map(str.isalnum, label)) and not _is_private(label) else "- "


def visible(text: str) -> str:
    """The text without characters that show nothing."""
    return text.translate(_TRANSLATION) if _TO_TRANSLATE.search(text) else text


def _is_private(label: str) -> bool:
    return len(label) == 1 and "\ue000" <= label <= "\uf8ff"
