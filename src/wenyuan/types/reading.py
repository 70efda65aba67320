"""What a reader finds in a file, and how a text is cut; text offsets count Unicode code points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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


@dataclass(frozen=True, slots=True)
class Anchor:
    """The way back to the place: where a passage stands in its source file.

    `first` and `last` are 1-based and inclusive and count what `kind` names; `name` holds a
    sheet, chapter or message part where the format has one.
    """

    kind: Literal["lines", "page", "slide", "cells", "paragraph", "chapter"]
    first: int
    last: int
    name: str = ""


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
    """What a reader found out about a whole file."""

    media_type: str
    encoding: str = ""
    title: str = ""
    language: str = ""
    metadata: JsonObject = field(default_factory=dict)


ReadEvent = Block | Facts | Notice
"""What a parser yields, in any order; of several Facts the last one stands."""


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
