"""The paragraphs and tables of a PDF page in the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from wenyuan.parsers.pdf.columns import columns
from wenyuan.parsers.pdf.frame import PageFrame, Rectangle
from wenyuan.parsers.pdf.letters import Divides, always_divides, is_wide
from wenyuan.parsers.pdf.lines import Fragment
from wenyuan.parsers.pdf.page import PageContent
from wenyuan.parsers.pdf.paragraphs import Paragraph, paragraphs
from wenyuan.parsers.pdf.rulings import Ruling
from wenyuan.parsers.pdf.running_heads import Edges, page_edges, running
from wenyuan.parsers.pdf.tables import Row, Table, ruled_tables

_SIDE_SHARE = 0.1


class Item(NamedTuple):
    """A paragraph or table; `column` tells in which column of its page, from 0, in reading order."""

    part: Paragraph | Table
    turn: int
    column: int


def edges_of(content: PageContent) -> Edges:
    """What might be headers or footers of a page."""
    pieces = [
        (id(fragment), fragment.said, content.frame.from_level(fragment.rectangle, turn))
        for turn, fragments in content.fragments.items()
        for fragment in fragments
    ]
    return page_edges(content.number, content.frame.height, pieces)


def without_running_heads(content: PageContent, edges: Edges, neighbours: Iterable[Edges]) -> int:
    """Take the headers and footers out of a page; returns how many there were."""
    heads = running(edges, neighbours)
    if heads:
        for turn, fragments in content.fragments.items():
            content.fragments[turn] = [fragment for fragment in fragments if id(fragment) not in heads]
    return len(heads)


def page_items(content: PageContent, divides: Divides = always_divides) -> list[Item]:
    """Lay a page out. Text that is turned otherwise than most of it goes to its place, or to the end."""
    main = content.main_turn
    items: list[Item] = []
    for turn in sorted(content.fragments, key=lambda turn: turn != main):
        rulings = [level_ruling(ruling, content.frame, turn) for ruling in content.rulings] if turn == main else []
        found = list(_laid_out(content.fragments[turn], rulings, divides, turn, len(items)))
        if turn != main and found and _belongs_between(content, turn):
            at = _place(found, items, content.frame)
            items[at:at] = found
        else:
            items += found
    return items


def _laid_out(
    fragments: Sequence[Fragment], rulings: Sequence[Ruling], divides: Divides, turn: int, start: int
) -> Iterator[Item]:
    tables, rest = ruled_tables(rulings, fragments)
    placed: list[Fragment | Table] = [*rest, *tables]
    for column, pieces in enumerate(columns(placed), start):
        for part in paragraphs(pieces, divides):
            yield Item(part, turn, column)


def _belongs_between(content: PageContent, turn: int) -> bool:
    """Whether turned text is a part of what is read, not a stamp or an axis along the edge."""
    words = [word.text for fragment in content.fragments[turn] for word in fragment.words]
    everything = sum(len(word.text) for found in content.fragments.values() for f in found for word in f.words)
    return any(is_wide(word[0]) for word in words) or sum(map(len, words)) > _SIDE_SHARE * everything


def _place(found: Sequence[Item], items: Sequence[Item], frame: PageFrame) -> int:
    """Before which item of the page others belong: the first that begins lower."""
    top = min(shown_rectangle(item, frame).top for item in found)
    return next((at for at, item in enumerate(items) if shown_rectangle(item, frame).top > top), len(items))


def shown_rectangle(item: Item, frame: PageFrame, row: Row | None = None) -> Rectangle:
    """Where an item, or a row of it, is on the page as shown."""
    return frame.from_level(row.rectangle if row is not None else item.part.rectangle, item.turn)


def level_ruling(ruling: Ruling, frame: PageFrame, turn: int) -> Ruling:
    """The same line in the level frame of a turn."""
    if not turn:
        return ruling
    across = (ruling.start, ruling.at, ruling.end, ruling.at)
    upright = (ruling.at, ruling.start, ruling.at, ruling.end)
    level = frame.level(Rectangle(*(across if ruling.is_level else upright)), turn)
    if ruling.is_level == (turn == 2):
        return Ruling(True, level.top, level.left, level.right)
    return Ruling(False, level.left, level.top, level.bottom)
