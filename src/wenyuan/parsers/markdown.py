"""Markdown (CommonMark with GitHub's tables): its blocks, line by line, in one pass.

Only the block structure is parsed, and only at the top level: a list item or a quotation is one
block with all that is in it. That needs no tree and no look further than one line ahead, so a file
of any size streams through; the text of a block is its source, one to one with the file's lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from wenyuan.parsers.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.front_matter import FrontMatter, take_front_matter
from wenyuan.parsers.lines import BLOCK_CHARACTERS, LineReader, text_lines
from wenyuan.parsers.markdown_lines import (
    CODE_INDENTATION,
    closes_fence,
    delimiter_columns,
    header_columns,
    heading_level,
    heading_text,
    html_start,
    indentation,
    is_blank,
    is_break,
    is_quote,
    list_item,
    opening_fence,
    starts_block,
    underline_level,
)
from wenyuan.types import Anchor, Block, BlockKind, Facts, Notice, ReadEvent

_LONGEST_HEADING = 200
_HAS_MARKUP = re.compile(r"[*_`\[\]<>\\&!~]")

GoesOn = Callable[[str], bool]


class MarkdownParser:
    """Reads Markdown; front matter becomes metadata, the first top heading the title."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield from encoding.notices
        reader = LineReader(text_lines(decoded_pieces(path, encoding)))
        front = take_front_matter(reader) or FrontMatter({}, "", [])
        if front.problem:
            yield Notice("front-matter-invalid", f"The front matter could not be read: {front.problem}.")
            yield Block("code", "\n".join(front.lines), Anchor("lines", 1, len(front.lines)))
        scanner = MarkdownScanner(reader)
        yield from scanner.blocks()
        metadata = front.metadata
        title = str(metadata.get("title") or "") or scanner.title
        language = str(metadata.get("lang") or metadata.get("language") or "")
        yield Facts("text/markdown", encoding.codec, title, language, metadata)


class MarkdownScanner:
    """Takes lines off a reader and makes blocks of them."""

    def __init__(self, reader: LineReader) -> None:
        self._reader = reader
        self._headings: list[tuple[int, str]] = []
        self._path: tuple[str, ...] = ()
        self._follows_item = False
        self._inline = MarkdownIt("commonmark")
        self.title = ""
        """Text of the first heading of the highest level so far."""
        self._title_level = 7

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the document."""
        while (line := self._reader.current) is not None:
            if is_blank(line):
                self._reader.take()
                self._follows_item = False
                continue
            is_item = False
            if indentation(line) >= CODE_INDENTATION:
                yield from self._run("code", _is_indented)
            elif opening_fence(line):
                yield from self._run("code", _within_fence(opening_fence(line)))
            elif is_quote(line):
                yield from self._run("paragraph", _within_quote())
            elif is_break(line):
                self._reader.take()
            elif item := list_item(line):
                joiner = "\n" if self._follows_item else "\n\n"
                is_item = True
                yield from self._run("list", _within_item(line, item.offset, item.is_empty), joiner=joiner)
            elif html := html_start(line):
                is_comment = line.lstrip().startswith("<!--")
                blocks = self._run("paragraph", _within_html(line, html.end))
                yield from () if is_comment and not any(True for _ in blocks) else blocks
            elif level := heading_level(line):
                first = self._reader.number
                yield self._heading(level, heading_text(line), [self._reader.take()], first)
            else:
                yield from self._paragraph()
            self._follows_item = is_item and not self._ended_blank
