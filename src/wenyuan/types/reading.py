"""What a reader finds in a file, and how a text is cut; text offsets count Unicode code points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from wenyuan.types.tables import TableRows

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something failed, in the words a person is shown."""

    code: str
    message: str
    hint: str
    stage: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know about a document that was nevertheless read."""

    code: str
    message: str


class Box(NamedTuple):
    """A rectangle on a page, slide or picture, as it is shown: turned the way its file says.

    The page counts from 1. Distances are from its top left corner: points (1/72 inch) on pages and
    slides, pixels on pictures.
    """

    page: int
    left: int
    top: int
    right: int
    bottom: int


AnchorKind = Literal["lines", "page", "slide", "cells", "paragraph", "chapter", "message", "cell"]
"""What an anchor counts: `cells` are rows of a sheet, a `cell` is one of a notebook, a `message` one of a mailbox."""

ANCHOR_KINDS: tuple[AnchorKind, ...] = get_args(AnchorKind)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The way back to the place: where a passage stands in its source file.

    `first` and `last` are 1-based and inclusive and count what `kind` names; `name` holds a
    sheet, chapter or message part where the format has one. `columns` are the first and last column
    of `cells`, and `boxes` where on its pages, slides or pictures the passage is seen.
    """

    kind: AnchorKind
    first: int
    last: int
    name: str = ""
    columns: tuple[int, int] | None = None
    boxes: tuple[Box, ...] = ()


BlockKind = Literal["heading", "paragraph", "list", "table", "code", "caption", "page-break"]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document as its reader understood it.

    A revision's complete text is `joiner + text` of every block in order (the first block's
    joiner dropped). Where the anchor counts lines and the block has exactly that many of them,
    the block's lines are the file's lines, one to one.
    """

    kind: BlockKind
    text: str
    anchor: Anchor
    heading_path: tuple[str, ...] = ()
    context: str = ""
    """What a passage needs to be understood alone, e.g. a table's header row; embedded and
    searched with it, shown apart, never part of its text."""
    joiner: str = "\n\n"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reader found out about a whole file.

    `metadata` is what the file says of itself (author, dates, subject) and is searched. `quality` is
    what its reader has counted (pages, pages without text, sheets), from which a person sees
    whether it was read well.
    """

    media_type: str
    encoding: str = ""
    title: str = ""
    language: str = ""
    metadata: JsonObject = field(default_factory=dict)
    quality: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A piece of a file inside of the file being read: what a message carries, what an archive holds.

    The pieces of one file come one after the other, with no event between them; `is_last` ends it.
    `path` is its path inside, parts separated by `/`; `media_type` is what its container says it is,
    empty where that says nothing. The file becomes a document of its own.
    """

    path: str
    data: bytes
    media_type: str = ""
    is_last: bool = True


ReadEvent = Block | Facts | Notice | Member | TableRows
"""What a parser yields, in any order; of several Facts the last one stands. Rows of tables are in blocks as well."""


@dataclass(frozen=True, slots=True)
class Given:
    """What whoever added a file says of it; it goes before what a reader finds.

    A `media_type` is the file's for certain: nothing is guessed from its content. A `charset` is
    evidence of its encoding.
    """

    title: str = ""
    metadata: JsonObject = field(default_factory=dict)
    media_type: str = ""
    charset: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is searched, cited and embedded as one.

    `text == revision_text[start:end]`, exactly.
    """

    seq: int
    text: str
    start: int
    end: int
    anchor: Anchor
    heading_path: tuple[str, ...] = ()
    context: str = ""
