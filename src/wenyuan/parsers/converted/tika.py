"""What Apache Tika makes of a file: XHTML, with a `div` for each page or slide and metadata in its head."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from wenyuan.parsers.converted.answer import Conversion, opened_answer
from wenyuan.parsers.converted.places import Places
from wenyuan.parsers.html.blocks import STRUCTURAL_TAGS, HtmlBlocks
from wenyuan.parsers.html.tokens import Token, attributes, html_tokens
from wenyuan.types import Block, Facts, ReadEvent

_PIECE_BYTES = 1 << 16
_PAGES = frozenset({"page", "slide-content", "slide"})
_METADATA = {
    "dc:creator": "author",
    "dcterms:created": "created",
    "dcterms:modified": "modified",
    "dc:subject": "subject",
    "meta:keyword": "keywords",
}
_LONGEST_FACT = 1_000


class TikaParser:
    """Reads such a page; its blocks have the pages that it tells apart, or else are counted."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        del name
        with opened_answer(path) as (conversion, file):
            yield from _Reading(conversion).events(_decoded(file))


def _decoded(file: BinaryIO) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while data := file.read(_PIECE_BYTES):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


class _Reading:
    def __init__(self, conversion: Conversion) -> None:
        self._reader = conversion.reader
        self._places = Places(conversion)
        self._builder = HtmlBlocks()
        self._page: int | None = None
        self._metadata: dict[str, str] = {}
        self._language = ""
        self._tables = 0

    def events(self, pieces: Iterator[str]) -> Iterator[ReadEvent]:
        has_title = False
        for token in html_tokens(pieces, STRUCTURAL_TAGS):
            self._builder.take(token)
            if self._builder.title and not has_title:
                has_title = True
                # Told at once, so that it can stand above the passages that follow.
                yield self._facts()
            # What is ready ended before this tag, and so on the page before the one that it may begin.
            yield from self._ready()
            if token.kind == "start":
                self._note(token)
        self._builder.close()
        yield from self._ready()
        yield self._facts()

    def _ready(self) -> Iterator[Block]:
        for block in self._builder.ready:
            self._tables += block.kind == "table" and block.joiner == "\n\n"
            yield replace(block, anchor=self._places.at(self._page))
        self._builder.ready.clear()

    def _note(self, token: Token) -> None:
        if token.value == "div" and attributes(token.attributes).get("class") in _PAGES:
            self._page = (self._page or 0) + 1
        elif token.value == "meta":
            self._note_metadata(attributes(token.attributes))

    def _note_metadata(self, said: Mapping[str, str]) -> None:
        name, content = said.get("name", ""), said.get("content", "").strip()[:_LONGEST_FACT]
        if name == "dc:language":
            self._language = content[:20]
        elif content and name in _METADATA:
            key = _METADATA[name]
            known = self._metadata.get(key)
            self._metadata[key] = f"{known}, {content}" if known and key == "author" else known or content

    def _facts(self) -> Facts:
        quality: dict[str, int | str] = {"reader": self._reader, **self._places.counted()}
        quality |= {"tables": self._tables} if self._tables else {}
        title = self._builder.title or self._builder.top_heading
        return Facts("", "", title, self._language, dict(self._metadata), quality)
