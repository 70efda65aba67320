"""Reading one file in this process: recognise its type, choose the parser, check what it gives.

Use `sandbox` for files that are not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from wenyuan.errors import FileUnreadable, FileVanished, NoText, UnsupportedType
from wenyuan.parsers.detection import Detected, detect
from wenyuan.parsers.members import MemberGate
from wenyuan.parsers.passwords import given_password
from wenyuan.parsers.pictures.recognition import Recognition, recognition_allowed
from wenyuan.parsers.pictures.recognition_notices import NOTHING_TO_READ
from wenyuan.parsers.registry import parser_for
from wenyuan.parsers.text.decoding import delivered_as, without_surrogates
from wenyuan.rules.cutting import Cutter
from wenyuan.types import Block, Facts, Member, Notice, ReadEvent, TableRows

LONGEST_BLOCK = 64_000
"""Widest block that is handed on, in columns; a wider one comes in parts that join to it again."""


def read_file(
    path: Path, name: str, media_type: str = "", password: str = "", recognition: Recognition | None = None
) -> Iterator[ReadEvent]:
    """Yield what is in the file at `path`, called `name`, of the given type or else of that it is found to have.

    The type may have a charset as in HTTP, `text/html; charset=gbk` or `; charset=gbk` alone, which is
    evidence of the encoding. A `password` opens the file; the `recognition` is what it may use of that. Raises
    `DocumentError`: what the parser raises, and `UnsupportedType`, `FileBinary`, `NoText`, `FileOverLimit`.
    """
    media_type, _, parameters = media_type.partition(";")
    token, secret = delivered_as.set(parameters.partition("charset=")[2]), given_password.set(password)
    allowed = recognition_allowed.set(recognition or Recognition())
    try:
        yield from _read(path, name, media_type)
    finally:
        delivered_as.reset(token)
        given_password.reset(secret)
        recognition_allowed.reset(allowed)


def _read(path: Path, name: str, media_type: str) -> Iterator[ReadEvent]:
    detected = Detected(media_type, media_type) if media_type else detect(path, name)
    parser = parser_for(detected.media_type)
    if parser is None:
        raise UnsupportedType(name=name, media_type=detected.description)
    yield from detected.notices
    try:
        yield from _checked(parser.read(path, name), detected.media_type, name)
    except FileNotFoundError as error:
        raise FileVanished(path=str(path)) from error
    except OSError as error:
        raise FileUnreadable(path=str(path), reason=error.strerror or str(error)) from error


def _checked(events: Iterable[ReadEvent], media_type: str, name: str) -> Iterator[ReadEvent]:
    has_text = has_nothing = False
    members = MemberGate(name)
    for event in events:
        if isinstance(event, Member):
            yield from members.passed(event)
            continue
        if isinstance(event, Facts):
            yield replace(event, media_type=media_type)
            continue
        if isinstance(event, Notice | TableRows):
            has_nothing = has_nothing or (isinstance(event, Notice) and event.code == NOTHING_TO_READ)
            yield event
            continue
        event = _clean(event)
        has_text = has_text or not (not event.text or event.text.isspace())
        if 2 * len(event.text) > LONGEST_BLOCK:
            yield from _parts(event)
        else:
            yield event
    yield from members.notices()
    if not (has_text or has_nothing or members.has_passed):
        raise NoText(name=name)


def _clean(block: Block) -> Block:
    """The same block, its words such that they can be written and counted alike everywhere."""
    words = (block.text, block.context, *block.heading_path)
    if all(map(str.isascii, words)):
        return block
    text, context, *path = map(without_surrogates, words)
    return (
        replace(block, text=text, context=context, heading_path=tuple(path))
        if (text, context, *path) != words
        else block
    )


def _parts(block: Block) -> Iterator[Block]:
    """Cut a huge block; where its lines are the file's, every part keeps its own."""
    text, anchor, joiner = block.text, block.anchor, block.joiner
    line_exact = anchor.kind == "lines" and text.count("\n") == anchor.last - anchor.first
    cutter = Cutter(text, at_lines=block.kind != "paragraph")
    start, line = 0, anchor.first
    while start < len(text):
        end = following = cutter.cut(start, LONGEST_BLOCK, natural=False)
        if text[end - 1] == "\n" and start < end - 1 and end < len(text):
            end -= 1
        elif text[end : end + 1] == "\n" and end + 1 < len(text):
            following += 1
        part = text[start:end]
        if line_exact:
            anchor = replace(block.anchor, first=line, last=line + part.count("\n"))
            line = anchor.last + (following > end)
        yield replace(block, text=part, anchor=anchor, joiner=joiner)
        start, joiner = following, text[end:following]
