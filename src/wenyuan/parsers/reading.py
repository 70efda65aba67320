"""Reading one file in this process: recognise its type, choose the parser, check what it gives.

Use `sandbox` for files that are not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from wenyuan.errors import FileUnreadable, NoText, UnsupportedType
from wenyuan.parsers.detection import detect
from wenyuan.parsers.registry import parser_for
from wenyuan.rules.cutting import Cutter
from wenyuan.types import Anchor, Block, ReadEvent

LONGEST_BLOCK = 64_000
"""No block handed on is longer, in characters; one that is comes in parts that join again."""


def read_file(path: Path, name: str) -> Iterator[ReadEvent]:
    """Yield what is in the file at `path`, called `name`.

    Raises `DocumentError`: what the parser raises, and `UnsupportedType`, `FileBinary`, `NoText`.
    """
    detected = detect(path, name)
    parser = parser_for(detected.media_type)
    if parser is None:
        raise UnsupportedType(name=name, media_type=detected.description)
    yield from detected.notices
    try:
        yield from _checked(parser.read(path, name), name)
    except OSError as error:
        raise FileUnreadable(path=str(path), reason=error.strerror or str(error)) from error


def _checked(events: Iterable[ReadEvent], name: str) -> Iterator[ReadEvent]:
    has_text = False
    for event in events:
        if not isinstance(event, Block):
            yield event
            continue
        has_text = has_text or not (not event.text or event.text.isspace())
        if len(event.text) > LONGEST_BLOCK:
            yield from _parts(event)
        else:
            yield event
    if not has_text:
        raise NoText(name=name)


def _parts(block: Block) -> Iterator[Block]:
    """Cut a huge block; where its lines are the file's, every part keeps its own."""
    cutter = Cutter(block.text, at_lines=block.kind != "paragraph")
    anchor = block.anchor
    line_exact = anchor.kind == "lines" and block.text.count("\n") == anchor.last - anchor.first
    start, joiner, line = 0, block.joiner, anchor.first
    while start < len(block.text):
        end = cutter.cut(start, LONGEST_BLOCK, natural=False)
        text = block.text[start:end]
        if line_exact:
            last = line + text.removesuffix("\n").count("\n")
            anchor = Anchor("lines", line, last, block.anchor.name)
            line += text.count("\n")
            ...
        yield replace(block, text=text, joiner=joiner, anchor=anchor)
        start, joiner = end, ""
