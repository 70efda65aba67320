"""Blocks with anchors from the laid-out pages of a PDF; paragraphs that run over a column or page are joined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from wenyuan.parsers.pdf.fields import Remark
from wenyuan.parsers.pdf.frame import PageFrame
from wenyuan.parsers.pdf.headings import Headings
from wenyuan.parsers.pdf.layout import Item, shown_rectangle
from wenyuan.parsers.pdf.letters import Divides, always_divides, joined_lines
from wenyuan.parsers.pdf.paragraphs import Paragraph, finished, goes_on
from wenyuan.parsers.pdf.tables import Table
from wenyuan.types import Anchor, Block, BlockKind, Box

_ROUNDED = 2
"""Points by which edges of the same columns differ where each is rounded."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(slots=True)
class _Held:
    """A paragraph that may go on."""

    paragraph: Paragraph
    boxes: list[Box]
    place: tuple[int, int]
    joiner: str


class BlockMaker:
    """Makes blocks of items, page by page."""

    def __init__(self, headings: Headings, divides: Divides = always_divides) -> None:
        self.tables = 0
        self._headings = headings
        self._divides = divides
        self._held: _Held | None = None
        self._last_kind: BlockKind | None = None
        self._table: Table | None = None
        self._header = ""

    def page(self, number: int, frame: PageFrame, items: Sequence[Item]) -> Iterator[Block]:
        """Yield the blocks that are complete with this page."""
        for item in items:
            if isinstance(item.part, Table):
                yield from self.rest()
                yield from self._table_rows(number, frame, item, item.part)
            else:
                yield from self._paragraph(
                    item.part, (number, item.column), frame.box(number, shown_rectangle(item, frame))
                )

    def recognised(self, blocks: Sequence[Block]) -> Iterator[Block]:
        """Yield what text recognition made of a page, under the headings that are open."""
        yield from self.rest()
        self._table, self._last_kind = None, None
        for block in blocks:
            yield replace(block, heading_path=block.heading_path or self._headings.path)

    def remarks(self, number: int, frame: PageFrame, remarks: Sequence[Remark]) -> Iterator[Block]:
        """Yield the form fields and notes of a page."""
        for remark in remarks:
            yield from self.rest()
            anchor = Anchor("page", number, number, boxes=(frame.box(number, remark.rectangle),))
            kind: BlockKind = "list" if remark.is_field else "paragraph"
            yield self._block(kind, remark.text, anchor, "\n" if self._last_kind == kind == "list" else "\n\n")

    def rest(self) -> Iterator[Block]:
        """Yield the paragraph that waits for its continuation, if there is one."""
        held, self._held = self._held, None
        if held is not None:
            pages = [box.page for box in held.boxes]
            anchor = Anchor("page", min(pages), max(pages), boxes=tuple(held.boxes))
            kind: BlockKind = "list" if held.paragraph.is_item else "paragraph"
            joiner = "\n" if self._last_kind == kind == "list" else held.joiner
            yield self._block(kind, finished(held.paragraph.text), anchor, joiner)

    def _paragraph(self, paragraph: Paragraph, place: tuple[int, int], box: Box) -> Iterator[Block]:
        self._table = None
        held = self._held
        if held is not None and held.place != place and goes_on(held.paragraph, paragraph):
            joined = joined_lines(held.paragraph.text, paragraph.text, self._divides)
            count = held.paragraph.line_count + paragraph.line_count
            held.paragraph = replace(held.paragraph, text=joined, line_count=count, fills=paragraph.fills)
            held.boxes.append(box)
            held.place = place
            return
        same_place = held is not None and held.place == place
        yield from self.rest()
        if self._headings.take(paragraph, place[0]):
            anchor = Anchor("page", place[0], place[0], boxes=(box,))
            yield self._block("heading", finished(paragraph.text), anchor, "\n\n")
            return
        joiner = "\n" if same_place and not paragraph.is_apart else "\n\n"
        self._held = _Held(paragraph, [box], place, joiner)

    def _table_rows(self, number: int, frame: PageFrame, item: Item, table: Table) -> Iterator[Block]:
        """Yield a block for each row; a table that goes on over a page keeps its header."""
        rows = table.rows
        before = self._table
        if before is not None and _goes_on(before, table, rows[0].markdown == self._header):
            if rows[0].markdown == self._header:
                rows = rows[1:]
        else:
            self.tables += 1
            self._header = table.rows[0].markdown if table.has_header else ""
            before = None
        for row in rows:
            anchor = Anchor("page", number, number, boxes=(frame.box(number, shown_rectangle(item, frame, row)),))
            is_first = before is None and row is rows[0]
            context = "" if is_first else self._header
            yield self._block("table", row.markdown, anchor, "\n\n" if is_first else "\n", context)
        self._table = table

    def _block(self, kind: BlockKind, text: str, anchor: Anchor, joiner: str, context: str = "") -> Block:
        self._last_kind = kind
        path = self._headings.path
        return Block(kind, _CONTROL.sub("", text), anchor, path, _CONTROL.sub("", context), joiner)


def _goes_on(before: Table, table: Table, has_its_header: bool) -> bool:
    """Whether a table is the rest of the one before: at the same place on the next page, or in the next column."""
    if before.edges == table.edges:
        return True
    if not has_its_header or len(before.edges) != len(table.edges):
        return False
    shifts = [there - here for here, there in zip(before.edges, table.edges, strict=True)]
    return not shifts or max(shifts) - min(shifts) <= _ROUNDED
