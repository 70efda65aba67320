"""How a reading travels from the child process to its parent: JSON lines, many events to a line.

A line from the child is one of `["events", [...]]`, `["done"]` and `["error", code, details]`; a
line to the child is `["read", path, name]`. The parent trusts none of it: whatever does not have
the agreed shape raises `WireError`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from wenyuan.errors import DocumentError
from wenyuan.types import Anchor, Block, BlockKind, Facts, Notice, ReadEvent


class WireError(Exception):
    """What came over the wire is not what was agreed."""


class Done:
    """The file was read to its end."""


Message = list[ReadEvent] | Done | DocumentError

_BLOCK_KINDS = frozenset(get_args(BlockKind))
_ANCHOR_KINDS = frozenset({"lines", "page", "slide", "cells", "paragraph", "chapter"})
_BLOCK_SHAPE = (str, str, int, int, str, list, str, str)


def encode_events(events: Sequence[ReadEvent]) -> bytes:
    """Return the line that carries `events`; lone surrogates in their text become U+FFFD."""
    return _line(["events", [_packed(event) for event in events]])


def encode_done() -> bytes:
    return _line(["done"])


def encode_error(error: DocumentError) -> bytes:
    details = {key: value if isinstance(value, int | float) else str(value) for key, value in error.details.items()}
    return _line(["error", error.code, details])


def encode_request(path: str, name: str) -> bytes:
    """Return the line that asks for a file; `path` may hold the surrogates of an undecodable name."""
    return json.dumps(["read", path, name]).encode("ascii") + b"\n"


def decode_request(line: bytes) -> tuple[str, str]:
    verb, path, name = json.loads(line)
    if verb != "read":
        raise WireError(f"unknown request {verb!r}")
    return path, name


def decode_message(line: bytes) -> Message:
    """Return what a line from the child says. Raises `WireError`."""
    try:
        match json.loads(line):
            case ["events", [*events]]:
                return [_unpacked(event) for event in events]
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


def _packed(event: ReadEvent) -> list[Any]:
    match event:
        case Block(kind, text, anchor, heading_path, context, joiner):
            return [kind, text, anchor.kind, anchor.first, anchor.last, anchor.name, heading_path, context, joiner]
        case Notice(code, message):
            return ["notice", code, message]
        case Facts(media_type, encoding, title, language, metadata):
            return ["facts", media_type, encoding, title, language, metadata]


def _unpacked(event: list[Any]) -> ReadEvent:
    kind, *values = event
    shape = tuple(map(type, values))
    if kind in _BLOCK_KINDS and shape == _BLOCK_SHAPE:
        text, place, first, last, name, path, context, joiner = values
        "".join(path)
        if place in _ANCHOR_KINDS:
            return Block(kind, text, Anchor(place, first, last, name), tuple(path), context, joiner)
    elif kind == "notice" and shape == (str, str):
        return Notice(*values)
    elif kind == "facts" and shape == (str, str, str, str, dict):
        return Facts(*values)
    raise WireError(f"unknown event {str(event)[:80]}")


def _error_kinds() -> dict[str, type[DocumentError]]:
    return {kind.code: kind for kind in DocumentError.__subclasses__()}
