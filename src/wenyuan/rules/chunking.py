"""Cutting a stream of blocks into passages with exact offsets, anchors and heading paths.

Blocks are packed within one heading section up to the target size. A block that does not fit is
cut at its own lines (tables, lists, code) or sentences, failing that at clauses, words and at last
characters. Nothing is held but the passage that is being filled and the one before it, so a text
of any length streams through in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from wenyuan.errors import InvalidValue
from wenyuan.rules.columns import columns, fitting
from wenyuan.rules.cutting import Cutter
from wenyuan.rules.sentences import split_sentences
from wenyuan.types import Anchor, Block, Box, Chunk, ChunkingConfig

SMALLEST_TARGET = 16

_CUT_AT_LINES = frozenset({"table", "list", "code"})
# What has columns or boxes; the text formats are spared the look.
_WITH_EXTENT = frozenset({"cells", "page", "slide"})
_MOST_BOXES = 32
# A table of thousands of columns has a header as long as a chapter, which each of its passages would repeat.
_LONGEST_CONTEXT = 2_000


class Fed(NamedTuple):
    """What one block added: its piece of the revision's text, and the chunks now complete."""

    text: str
    chunks: list[Chunk]


def text_piece(block: Block, first: bool) -> str:
    """Return what `block` adds to its revision's complete text."""
    return block.text if first else block.joiner + block.text


def chunk_blocks(blocks: Iterable[Block], config: ChunkingConfig) -> Iterator[Chunk]:
    """Yield the chunks of a document. The same as feeding a `Chunker` block by block."""
    chunker = Chunker(config)
    for block in blocks:
        yield from chunker.feed(block).chunks
    yield from chunker.finish()


class Chunker:
    """Cuts one document, block by block.

    The pieces of text that `feed` returns, in order, are the revision's complete text; every chunk
    satisfies `text[start:end] == chunk.text` in it. Chunks come in order, are at most
    `target_columns` wide, neither begin nor end with white space (code keeps its indentation), and
    together hold everything visible; they overlap by at most `overlap_columns`.

    A chunk's `heading_path` is that of its first block which is not a heading itself. Its
    `context` is that of its first block, unless the chunk begins with those very words.
    Raises `InvalidValue` for sizes that cannot work.
    """

    def __init__(self, config: ChunkingConfig) -> None:
        target, overlap = config.target_columns, config.overlap_columns
        if target < SMALLEST_TARGET:
            raise InvalidValue(what="target_columns", value=target, reason=f"the least is {SMALLEST_TARGET}")
        if not 0 <= overlap <= target // 2:
            raise InvalidValue(what="overlap_columns", value=overlap, reason="it must be from 0 to half the target")
        self._overlap = overlap
        self._budget = target - overlap
        self._small = self._budget // 4
        self._tiny = self._budget // 16
        self._length = 0
        self._started = False
        self._seq = 0
        self._section: tuple[str, ...] = ()
        self._full: list[_Piece] = []
        self._open: list[_Piece] = []
        self._open_columns = 0
        self._emitted: list[_Piece] = []
        self._emitted_start = 0
        self._ready: list[Chunk] = []

    @property
    def text_length(self) -> int:
        """Number of code points of the revision's text so far."""
        return self._length

    @property
    def settled(self) -> int:
        """Offset in the revision's text before which no chunk to come begins."""
        if self._overlap and self._emitted:
            return self._emitted_start
        waiting = self._full or self._open
        return waiting[0].start if waiting else self._length

    def feed(self, block: Block) -> Fed:
        """Take the next block."""
        added = text_piece(block, first=not self._started)
        lead = block.joiner if self._started else ""
        self._started = True
        source = _Source(block, self._length + len(lead))
        self._length += len(added)
        blank = not block.text or block.text.isspace()
        if blank and not self._open and not self._full:
            return Fed(added, [])
        if not blank:
            self._enter_section(block)
        width = columns(block.text)
        if blank or width <= self._room(lead):
            self._add(_Piece(source, lead, block.text, source.start, width))
        else:
            self._add_in_pieces(source, lead, width)
        return Fed(added, self._taken())

    def finish(self) -> list[Chunk]:
        """Return the chunks that were still being filled; the chunker is used up then."""
        self._close_section()
        return self._taken()

    def _taken(self) -> list[Chunk]:
        ready, self._ready = self._ready, []
        return ready

    # --- Sections ---

    def _enter_section(self, block: Block) -> None:
        """Close the open section if `block` must not be packed with it."""
        path = block.heading_path
        if self._open:
            last = self._open[-1].source.block.anchor
            elsewhere = (last.kind, last.name) != (block.anchor.kind, block.anchor.name)
            # A citation opens one slide, however little stands on it.
            elsewhere = elsewhere or (last.kind == "slide" and last.last != block.anchor.first)
            if elsewhere or (path != self._section and not self._leads_into(path)):
                self._close_section()
        self._section = path

    def _leads_into(self, path: tuple[str, ...]) -> bool:
        """Say whether what is open is no more than an opening of the section at `path`.

        Headings without a body belong to what follows, and so do a few words before a subsection.
        """
        if self._full:
            return False
        if _all_headings(self._open):
            return self._open_columns <= self._budget // 2
        return self._open_columns <= self._tiny and path[: len(self._section)] == self._section

    def _close_section(self) -> None:
        if self._full and 0 < self._open_columns < self._small:
            self._balance()
        self._emit(self._full)
        self._emit(self._open)
        self._full, self._open, self._open_columns, self._emitted = [], [], 0, []

    # --- Packing ---

    def _room(self, lead: str) -> int:
        return self._budget - self._open_columns - columns(lead) if self._open_columns else self._budget

    def _add(self, piece: _Piece) -> None:
        if self._open_columns:
            self._open_columns += columns(piece.lead) + piece.width
        elif not piece.is_blank:
            # White space before the first word is cut off in the end, so it takes no room.
            self._open_columns = piece.width
        self._open.append(piece)

    def _turn(self) -> None:
        """Begin another passage; headings at the end of this one go with it."""
        moved: list[_Piece] = []
        while len(self._open) > 1 and self._open[-1].is_heading:
            moved.insert(0, self._open.pop())
        self._emit(self._full)
        self._full, self._open, self._open_columns = self._open, moved, _width(moved)

    def _add_in_pieces(self, source: _Source, lead: str, width: int) -> None:
        """Add a block that does not fit into what is open, cutting it only where that helps.

        It goes whole into a new passage if it fits there, unless that would leave a small one
        behind or the block goes on with the one before; a heading is never parted from its body.
        """
        goes_on = lead in ("", "\n")
        if self._open_columns >= self._small and not goes_on and not _all_headings(self._open):
            self._turn()
        cutter = Cutter(source.block.text, source.block.kind in _CUT_AT_LINES)
        start = 0
        while width > (room := self._room(lead)):
            limit = room if width - room >= self._small else min(room, (width + 1) // 2)
            natural = bool(self._open_columns) and not (_all_headings(self._open) and room >= self._small)
            end = cutter.cut(start, limit, natural) if limit > 1 else start
            if end > start:
                piece = source.piece(lead, start, end)
                self._add(piece)
                start, lead, width = end, "", width - piece.width
            self._turn()
        self._add(source.piece(lead, start, len(source.block.text)))

    def _balance(self) -> None:
        """Share the last two passages of a section anew, so that the last is not a mere remnant."""
        pieces = self._full + self._open
        half = _width(pieces) // 2
        left, filled = 0, 0
        while left < len(pieces) - 1 and filled + pieces[left].width <= half:
            filled += pieces[left].width
            left += 1
        if half - filled > self._small:
            pieces[left : left + 1] = _divided(pieces[left], half - filled)
            left += 1
        while left and pieces[left - 1].is_heading:
            left -= 1
        if left and max(_width(pieces[:left]), _width(pieces[left:])) <= self._budget:
            self._full, self._open = pieces[:left], pieces[left:]

    # --- Chunks ---

    def _emit(self, pieces: list[_Piece]) -> None:
        raw = _joined(pieces)
        visible = raw.rstrip()
        if not visible:
            return
        origin = pieces[0].start
        end = origin + len(visible)
        opening = _piece_at(pieces, end - len(visible.lstrip()))
        start = origin + _blank_start(visible, opening)
        text = visible[start - origin :]
        if self._overlap and self._emitted and self._emitted[-1].end + len(pieces[0].lead) == origin:
            repeated = self._repeated(_joined(self._emitted) + pieces[0].lead + raw[: start - origin], start)
            if repeated:
                start, text = start - len(repeated), repeated + text
                opening = _piece_at([*self._emitted, *pieces], start)
        anchor = _merged_anchor(opening.source, start, _piece_at(pieces, end - 1).source, end)
        if anchor.kind in _WITH_EXTENT:
            anchor = _with_extent(anchor, self._sources(opening.source, pieces))
        context = opening.source.block.context
        if context and text.startswith(context):
            context = ""
        context = context[:_LONGEST_CONTEXT]
        self._ready.append(Chunk(self._seq, text, start, end, anchor, _heading_path(pieces), context))
        self._seq += 1
        self._emitted, self._emitted_start = pieces, start

    def _sources(self, opening: _Source, pieces: list[_Piece]) -> list[_Source]:
        """The blocks that a passage is made of, in their order; `opening` may be one of the passage before."""
        found = {id(piece.source): piece.source for piece in [*self._emitted, *pieces] if not piece.is_blank}
        return [source for source in found.values() if source.start >= opening.start]

    def _repeated(self, earlier: str, start: int) -> str:
        """Return the end of the passage before, to begin a chunk at `start` with.

        Never all of that passage; whole sentences, or else as many words as fit.
        """
        tail = earlier[-self._overlap :]
        excess = columns(tail) - self._overlap
        least = fitting(tail, 0, excess)
        if columns(tail[:least]) < excess:
            least += 1
        is_part = len(tail) < len(earlier)
        sentence_starts = [first for first, _ in split_sentences(tail) if first >= least and (first or is_part)]
        if sentence_starts:
            tail = tail[sentence_starts[0] :]
        elif is_part:
            tail = tail[max(tail.find(" ", least), least) :]
        else:
            return ""
        tail = tail.lstrip()
        return tail if start - len(tail) > self._emitted_start else ""


class _Source:
    """A block at its place in the revision's text."""

    __slots__ = ("_counted_line", "_counted_to", "_line_exact", "block", "start")

    def __init__(self, block: Block, start: int) -> None:
        self.block = block
        self.start = start
        self._line_exact: bool | None = None
        self._counted_to = 0
        self._counted_line = block.anchor.first

    def piece(self, lead: str, start: int, end: int) -> _Piece:
        text = self.block.text[start:end]
        return _Piece(self, lead, text, self.start + start, columns(text))

    def place_of(self, offset: int, otherwise: int) -> int:
        """Return the line that holds the character at `offset`, or `otherwise` if it is not known."""
        anchor = self.block.anchor
        if anchor.first == anchor.last or anchor.kind != "lines":
            return otherwise
        text = self.block.text
        if self._line_exact is None:
            self._line_exact = text.count("\n") == anchor.last - anchor.first
        if not self._line_exact:
            return otherwise
        within = offset - self.start
        if within < self._counted_to:
            return anchor.first + text.count("\n", 0, within)
        self._counted_line += text.count("\n", self._counted_to, within)
        self._counted_to = within
        return self._counted_line


class _Piece(NamedTuple):
    """A block, or a part of one, and what joins it to the piece before."""

    source: _Source
    lead: str
    text: str
    start: int
    width: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def is_heading(self) -> bool:
        return self.source.block.kind == "heading"


def _all_headings(pieces: list[_Piece]) -> bool:
    return all(piece.is_heading for piece in pieces)


def _width(pieces: list[_Piece]) -> int:
    return sum(piece.width for piece in pieces) + sum(columns(piece.lead) for piece in pieces[1:])


def _joined(pieces: list[_Piece]) -> str:
    if len(pieces) == 1:
        return pieces[0].text
    return "".join([text for piece in pieces for text in (piece.lead, piece.text)][1:])


def _divided(piece: _Piece, width: int) -> list[_Piece]:
    """Cut `piece` once, so that its first part is at most `width` wide; or leave it whole."""
    source = piece.source
    cut = Cutter(piece.text, source.block.kind in _CUT_AT_LINES).cut(0, width, natural=True)
    if not 0 < cut < len(piece.text):
        return [piece]
    middle = piece.start - source.start + cut
    first = source.piece(piece.lead, piece.start - source.start, middle)
    return [first, source.piece("", middle, piece.end - source.start)]


def _piece_at(pieces: list[_Piece], offset: int) -> _Piece:
    """Return the piece that holds the character at `offset`."""
    return next(piece for piece in reversed(pieces) if piece.start <= offset and piece.text)


def _blank_start(text: str, opening: _Piece) -> int:
    """Return how much white space at the start of `text` is not shown; code keeps its indentation."""
    blank = len(text) - len(text.lstrip())
    if opening.source.block.kind == "code":
        return text.rfind("\n", 0, blank) + 1
    return blank


def _heading_path(pieces: list[_Piece]) -> tuple[str, ...]:
    for piece in pieces:
        if not piece.is_heading and not piece.is_blank:
            return piece.source.block.heading_path
    return pieces[-1].source.block.heading_path


def _merged_anchor(opening: _Source, start: int, closing: _Source, end: int) -> Anchor:
    first_anchor, last_anchor = opening.block.anchor, closing.block.anchor
    first = opening.place_of(start, first_anchor.first)
    last = closing.place_of(end - 1, last_anchor.last)
    return Anchor(first_anchor.kind, first, max(first, last), first_anchor.name)


def _with_extent(anchor: Anchor, sources: list[_Source]) -> Anchor:
    """The anchor with the columns and boxes of everything the passage is made of."""
    anchors = [source.block.anchor for source in sources]
    columns_seen = [found.columns for found in anchors if found.columns is not None]
    boxes = tuple(dict.fromkeys(box for found in anchors for box in found.boxes))
    if not columns_seen and not boxes:
        return anchor
    if anchor.kind == "cells":
        # A comment or a table beside another is read after it and may stand above where that ends.
        first, last = min(found.first for found in anchors), max(found.last for found in anchors)
        anchor = replace(anchor, first=first, last=last)
    spread = (min(first for first, _ in columns_seen), max(last for _, last in columns_seen)) if columns_seen else None
    return replace(anchor, columns=spread, boxes=boxes if len(boxes) <= _MOST_BOXES else _one_a_page(boxes))


def _one_a_page(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """The rectangle around all boxes of each page."""
    pages: dict[int, Box] = {}
    for box in boxes:
        known = pages.get(box.page, box)
        pages[box.page] = Box(
            box.page,
            min(known.left, box.left),
            min(known.top, box.top),
            max(known.right, box.right),
            max(known.bottom, box.bottom),
        )
    return tuple(pages.values())
