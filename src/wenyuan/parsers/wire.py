"""How a reading travels from the child process to its parent: JSON lines, many events to a line.

A line to the child is `["read", path, name, type, stage, arguments]`. A line from it is one of
`["events", [...]]`, `["made", ...]` for what a stage made of the events, `["done"]` and
`["error", code, details]`. The parent trusts none of it: whatever does not have the agreed shape
raises `WireError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from wenyuan.errors import DocumentError
from wenyuan.types import Anchor, Block, BlockKind, Facts, Notice, ReadEvent

SECONDS_PER_BYTE_MADE = 1e-5
"""How much more time a file gets for each byte that a stage hands over: the work then grows with its text."""


class WireError(Exception):
    """What came over the wire is not what was agreed."""


class Request(NamedTuple):
    """One file to be read, as a type or, if that is empty, as what it looks like.

    `stage` names a function as `module:function`; it is given an iterator of the file's events and
    the arguments, and what it yields is handed over instead of the events.
    """

    path: str
    name: str
    media_type: str = ""
    stage: str = ""
    arguments: Any = None


@dataclass(frozen=True, slots=True)
class Made:
    """Something that a stage made, not checked by anyone yet."""

    value: Any


class Done:
    """The file was read to its end."""


Message = list[ReadEvent] | Made | Done | DocumentError

_BLOCK_KINDS = frozenset(get_args(BlockKind))
ANCHOR_KINDS = frozenset({"lines", "page", "slide", "cells", "paragraph", "chapter"})
# Half a surrogate pair, written as an escape: text that could not be stored.
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
_BLOCK_SHAPE = (str, str, int, int, str, list, str, str)


def encode_events(events: Sequence[ReadEvent]) -> bytes:
    """Return the line that carries `events`; lone surrogates in their text become U+FFFD."""
    return _line(["events", [packed(event) for event in events]])


def encode_done() -> bytes:
    return _line(["done"])


def encode_error(error: DocumentError) -> bytes:
    details = {key: value if isinstance(value, int | float) else str(value) for key, value in error.details.items()}
    return _line(["error", error.code, details])


def encode_made(value: Any) -> bytes:
    """Return the line that carries what a stage made; its text must hold no lone surrogates."""
    return _line(["made", value])


def encode_request(request: Request) -> bytes:
    """Return the line that asks for a file; its path may hold the surrogates of an undecodable name."""
    return json.dumps(["read", *request]).encode("ascii") + b"\n"


def decode_request(line: bytes) -> Request:
    verb, *request = json.loads(line)
    if verb != "read":
        raise WireError(f"unknown request {verb!r}")
    return Request(*request)


def decode_message(line: bytes) -> Message:
    """Return what a line from the child says. Raises `WireError`."""
    if (b"\\ud" in line or b"\\uD" in line) and _SURROGATE.search(line):
        raise WireError("half a character")
    try:
        match json.loads(line, parse_constant=str):
            case ["events", [*events]]:
                return [unpacked(event) for event in events]
            case ["made", value]:
                return Made(value)
            case ["done"]:
                return Done()
            case ["error", str(code), dict(details)]:
                return _error_kinds()[code](**details)
            case other:
                raise WireError(f"unknown message {str(other)[:80]}")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise WireError(str(error)) from error


def _line(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode() + b"\n"


def packed(event: ReadEvent) -> list[Any]:
    """The event as JSON can hold it."""
    match event:
        case Block(kind, text, anchor, heading_path, context, joiner):
            return [kind, text, anchor.kind, anchor.first, anchor.last, anchor.name, heading_path, context, joiner]
        case Notice(code, message):
            return ["notice", code, message]
        case Facts(media_type, encoding, title, language, metadata):
            return ["facts", media_type, encoding, title, language, metadata]


def unpacked(event: list[Any]) -> ReadEvent:
    """The event that `packed` packed. Raises `WireError` or `TypeError` for anything else."""
    kind, *values = event
    shape = tuple(map(type, values))
    if kind in _BLOCK_KINDS and shape == _BLOCK_SHAPE:
        text, place, first, last, name, path, context, joiner = values
        "".join(path)
        if place in ANCHOR_KINDS:
            return Block(kind, text, Anchor(place, first, last, name), tuple(path), context, joiner)
    elif kind == "notice" and shape == (str, str):
        return Notice(*values)
    elif kind == "facts" and shape == (str, str, str, str, dict):
        return Facts(*values)
    raise WireError(f"unknown event {str(event)[:80]}")


def _error_kinds() -> dict[str, type[DocumentError]]:
    return {kind.code: kind for kind in DocumentError.__subclasses__()}
