"""The text of a message's parts as blocks, by whatever means it was written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from wenyuan.parsers.html.blocks import STRUCTURAL_TAGS, HtmlBlocks
from wenyuan.parsers.html.page import declared_encoding
from wenyuan.parsers.html.tokens import html_tokens
from wenyuan.parsers.mail.headers import parameter
from wenyuan.parsers.mail.parts import MailPart
from wenyuan.parsers.text.decoding import REPLACEMENT, decoded_bytes, without_controls
from wenyuan.parsers.text.plain import paragraphs
from wenyuan.types import Anchor, Block

_QUOTED = re.compile(r"(>*) ?")
_TAG = re.compile(r"<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>", re.S | re.I)
_STUB_CHARACTERS = 300
_STUB_SHARE = 4
_DECLARATION_WITHIN = 4096
_PIECE = 1 << 18


def part_text(part: MailPart, is_transcoded: bool = False) -> str:
    """The characters of a part of text. With `is_transcoded` its bytes are UTF-8, whatever it declares."""
    content = part.content()
    declared = parameter(part.headers, "Content-Type", "charset")
    encoding = str(part.headers.get("Content-Transfer-Encoding", "")).strip().lower()
    if is_transcoded and encoding not in ("base64", "quoted-printable"):
        declared = ""
    if not declared and part.content_type == "text/html":
        declared = declared_encoding(content[:_DECLARATION_WITHIN])
    text, _ = decoded_bytes(content, declared)
    text = without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))
    if parameter(part.headers, "Content-Type", "format").lower() == "flowed":
        return unflowed(text, parameter(part.headers, "Content-Type", "delsp").lower() == "yes")
    return text


def has_damage(text: str) -> bool:
    return REPLACEMENT in text


def unflowed(text: str, delete_space: bool = False) -> str:
    """Lines that were broken to fit a window, whole again (RFC 3676)."""
    lines: list[str] = []
    open_depth = -1
    for line in text.split("\n"):
        quoted = _QUOTED.match(line)
        assert quoted is not None, "the pattern matches anything"
        depth = len(quoted[1])
        words = line[quoted.end() :] if depth else line.removeprefix(" ")
        if open_depth == depth and words != "-- ":
            lines[-1] += words
        else:
            lines.append(f"{'>' * depth} {words}" if depth else words)
        is_flowed = words.endswith(" ") and words != "-- "
        if is_flowed and delete_space:
            lines[-1] = lines[-1][:-1]
        open_depth = depth if is_flowed else -1
    return "\n".join(lines)


def is_stub(plain: str, markup: str) -> bool:
    """Whether a plain text only says that the page beside it should be looked at."""
    words = len(plain.strip())
    if words > _STUB_CHARACTERS:
        return False
    return words == 0 or len(" ".join(_TAG.sub(" ", markup).split())) > _STUB_SHARE * max(words, 60)


class Numbered:
    """Gives the blocks of a message their places: its paragraphs, counted from 1."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def placed(self, blocks: Iterable[Block], path: tuple[str, ...]) -> Iterator[Block]:
        for block in blocks:
            number = next(self._numbers)
            place = Anchor("paragraph", number, number)
            yield replace(block, anchor=place, heading_path=(*path, *block.heading_path))


def plain_blocks(text: str) -> Iterator[Block]:
    return paragraphs(text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def html_text_blocks(markup: str) -> Iterator[Block]:
    """The blocks of a page in a message."""
    builder = HtmlBlocks()
    for token in html_tokens([markup], STRUCTURAL_TAGS):
        builder.take(token)
        if builder.ready:
            yield from builder.ready
            builder.ready.clear()
    builder.close()
    yield from builder.ready
