"""Blocks from the pieces that remote readers make: headings that stand above others, lists, tables row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from wenyuan.parsers.converted.places import Places, Share
from wenyuan.parsers.html.blocks import STRUCTURAL_TAGS, HtmlBlocks
from wenyuan.parsers.html.tokens import html_tokens
from wenyuan.types import Anchor, Block, BlockKind, Facts, JsonObject

_LONGEST_HEADING = 200
_DEEPEST_HEADING = 9
_DEEPEST_LIST = 20
_RULE = re.compile(r"\|?[\s:|-]*-[\s:|-]*")


class ConvertedBlocks:
    """Takes pieces in reading order and makes blocks of them. What is not text counts as none."""

    def __init__(self, places: Places, reader: str) -> None:
        self.title = ""
        """Text of the first heading of the highest level so far."""
        self._places = places
        self._reader = reader
        self._headings: list[tuple[int, str]] = []
        self._title_level = _DEEPEST_HEADING + 1
        self._after_item = False
        self._tables = 0
        self._headers = 0

    def heading(self, text: object, level: object, page: object, share: Share | None = None) -> Iterator[Block]:
        words = " ".join(_text(text).split())
        if not words:
            return
        depth = min(max(level, 1), _DEEPEST_HEADING) if type(level) is int else 1
        while self._headings and self._headings[-1][0] >= depth:
            self._headings.pop()
        self._headings.append((depth, words[:_LONGEST_HEADING]))
        if depth < self._title_level:
            self.title, self._title_level = words[:_LONGEST_HEADING], depth
        yield self._block("heading", words, self._places.at(page, share))

    def text(self, kind: BlockKind, text: object, page: object, share: Share | None = None) -> Iterator[Block]:
        content = _text(text).strip("\n").rstrip()
        if content.strip():
            yield self._block(kind, content, self._places.at(page, share))

    def item(self, text: object, depth: object, page: object, share: Share | None = None) -> Iterator[Block]:
        """A list's item; its marker is given here, unless it has one."""
        words = " ".join(_text(text).split())
        if not words:
            return
        indentation = "  " * (min(max(depth, 0), _DEEPEST_LIST) if type(depth) is int else 0)
        joiner = "\n" if self._after_item else "\n\n"
        yield self._block("list", f"{indentation}- {words}", self._places.at(page, share), joiner)
        self._after_item = True

    def table(self, content: object, plain: object, page: object, share: Share | None = None) -> Iterator[Block]:
        """A table in HTML or Markdown, each row a block below its header; else as the plain text that it has."""
        source = _text(content)
        anchor = self._places.at(page, share)
        rows = _html_rows(source) if "<t" in source.lower() else _markdown_rows(source)
        placed = [replace(row, anchor=anchor, heading_path=self._path) for row in rows]
        if placed:
            self._tables += 1
            self._after_item = False
            yield from placed
        elif _text(plain).strip():
            yield self._block("table", _text(plain).strip(), anchor)

    def left_out(self) -> None:
        """Count a running head or foot, which is no part of the text it stands in."""
        self._headers += 1

    def facts(self, language: str = "", metadata: JsonObject | None = None) -> Facts:
        """What is known at the end."""
        quality: dict[str, int | str] = {"reader": self._reader, **self._places.counted()}
        quality |= {"tables": self._tables} if self._tables else {}
        quality |= {"headers_removed": self._headers} if self._headers else {}
        return Facts("", "", self.title, language, metadata or {}, quality)

    @property
    def _path(self) -> tuple[str, ...]:
        return tuple(words for _, words in self._headings)

    def _block(self, kind: BlockKind, text: str, anchor: Anchor, joiner: str = "\n\n") -> Block:
        self._after_item = False
        return Block(kind, text, anchor, self._path, "", joiner)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _html_rows(source: str) -> list[Block]:
    builder = HtmlBlocks()
    for token in html_tokens([source], STRUCTURAL_TAGS):
        builder.take(token)
    builder.close()
    return builder.ready


def _markdown_rows(source: str) -> list[Block]:
    lines = [line.strip() for line in source.split("\n") if line.strip().startswith("|")]
    has_header = len(lines) > 1 and _RULE.fullmatch(lines[1]) is not None
    header = lines[0] if has_header else ""
    rows = [line for number, line in enumerate(lines) if not (has_header and number == 1)]
    place = Anchor("lines", 1, 1)
    return [
        Block("table", row, place, context=header if number else "", joiner="\n" if number else "\n\n")
        for number, row in enumerate(rows)
    ]
