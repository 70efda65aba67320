"""HTML pages: the text a reader sees, as paragraphs, headings, list items and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from wenyuan.parsers.html.blocks import STRUCTURAL_TAGS, HtmlBlocks
from wenyuan.parsers.html.tokens import html_tokens
from wenyuan.parsers.source_file import head
from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.types import Facts, ReadEvent

# WHATWG: a page declares its encoding within its first 1,024 bytes. Many do so a little later.
_DECLARATION_WITHIN = 4096
_DECLARATIONS = (
    re.compile(r"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.I),
    re.compile(r"\s*<\?xml\b[^>]{0,100}?\bencoding\s*=\s*[\"']([\w.:-]+)", re.I),
)


class HtmlParser:
    """Reads HTML; the title, the language and a few `meta` elements become facts."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name, declared_encoding(head(path, _DECLARATION_WITHIN)))
        yield from encoding.notices
        builder = HtmlBlocks()
        title = ""
        for token in html_tokens(decoded_pieces(path, encoding), STRUCTURAL_TAGS):
            builder.take(token)
            if builder.title and not title:
                title = builder.title
                # Told at once, so that it can stand above the passages that follow.
                yield Facts("text/html", encoding.codec, title)
            if builder.ready:
                yield from builder.ready
                builder.ready.clear()
        builder.close()
        yield from builder.ready
        yield Facts("text/html", encoding.codec, title or builder.top_heading, builder.language, builder.metadata)


def declared_encoding(start: bytes) -> str:
    """Return the encoding that the beginning of a page declares, or ""."""
    text = start.decode("ascii", "ignore")
    for declaration in _DECLARATIONS:
        found = declaration.search(text)
        if found:
            return found[1]
    return ""
