"""Plain text: paragraphs are runs of lines between blank ones."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.lines import BLOCK_CHARACTERS
from wenyuan.rules.cutting import Cutter
from wenyuan.types import Anchor, Block, Facts, ReadEvent


class TextParser:
    """Reads plain text in any encoding that can be recognised; a file of any size in little memory."""

    media_type = "text/plain"

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield Facts(self.media_type, encoding.codec)
        yield from encoding.notices
        yield from paragraphs(decoded_pieces(path, encoding))


def paragraphs(pieces: Iterable[str]) -> Iterator[Block]:
    """Yield the paragraphs of a text that comes in pieces, their lines one to one with the file's.

    A paragraph of more than `BLOCK_CHARACTERS` comes in several blocks that join to it again, and
    so does a line of more than twice as many.
    """
    builder = _Paragraphs()
    unfinished = ""
    for piece in pieces:
        *lines, unfinished = (unfinished + piece).split("\n")
        for line in lines:
            rest = line
            if len(line) > 2 * BLOCK_CHARACTERS:
                rest = yield from _cut_down(line, builder)
            block = builder.line(rest)
            if block:
                yield block
        unfinished = yield from _cut_down(unfinished, builder)
    block = builder.line(unfinished) or builder.line("")
    if block:
        yield block


def _cut_down(line: str, builder: _Paragraphs) -> Generator[Block, None, str]:
    """Yield the beginning of a long line in blocks, and return the rest of it."""
    while len(line) > 2 * BLOCK_CHARACTERS:
        end = Cutter(line, at_lines=False).cut(0, BLOCK_CHARACTERS, natural=False)
        yield from builder.part_of_line(line[:end])
        line = line[end:]
    return line


class _Paragraphs:
    """The paragraph that is being read."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._first = 1
        self._number = 1
        self._joiner = "\n\n"
        self._within_line = False

    def line(self, line: str) -> Block | None:
        """Take a whole line or the last part of one; return a paragraph if that completes it."""
        block = None
        if line and not line.isspace():
            if not self._lines:
                self._first = self._number
            self._lines.append(line)
            self._size += len(line)
            if self._size >= BLOCK_CHARACTERS:
                block = self._taken(next_joiner="\n")
        elif self._within_line:
            self._joiner = "\n"
        else:
            block = self._taken(next_joiner="\n\n")
        self._within_line = False
        self._number += 1
        return block

    def part_of_line(self, text: str) -> Iterator[Block]:
        """Take the beginning of a line, or more of it; the rest comes later."""
        if self._lines:
            before = self._taken(next_joiner="\n")
            if before:
                yield before
        yield Block("paragraph", text, Anchor("lines", self._number, self._number), joiner=self._joiner)
        self._joiner = ""
        self._within_line = True

    def _taken(self, next_joiner: str) -> Block | None:
        lines, self._lines, self._size = self._lines, [], 0
        joiner, self._joiner = self._joiner, next_joiner
        if not lines:
            return None
        anchor = Anchor("lines", self._first, self._first + len(lines) - 1)
        return Block("paragraph", "\n".join(lines), anchor, joiner=joiner)
