"""How a reading travels from the child process to its parent: JSON lines, many events to a line.

A line to the child is `["read", path, name, type, stage, arguments, password]`. A line from it is one of
`["events", [...]]`, `["made", ...]` for what a stage made of the events, `["page"]` before a page is
recognised, `["done"]` and `["error", code, details]`. The parent trusts none of it: whatever does not
have the agreed shape raises `WireError`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from wenyuan.errors import DocumentError
from wenyuan.rules.tables.pages import decoded, encoded
from wenyuan.types import (
    ANCHOR_KINDS,
    Anchor,
    AnchorKind,
    Block,
    BlockKind,
    Box,
    Facts,
    Member,
    Notice,
    ReadEvent,
    TableRows,
)

SECONDS_PER_BYTE_MADE = 1e-5
"""How much more time a file gets for each byte that a stage hands over: the work then grows with its text."""


class WireError(Exception):
    """What came over the wire is not what was agreed."""


class Request(NamedTuple):
    """One file to be read, as a type or, if that is empty, as what it looks like.

    `stage` names a function as `module:function`; it is given an iterator of the file's events and
    the arguments, and what it yields is handed over instead of the events. The `password` is for the
    reader alone: nothing that shows a request shows it.
    """

    path: str
    name: str
    media_type: str = ""
    stage: str = ""
    arguments: Any = None
    password: str = ""

    def __repr__(self) -> str:
        return f"Request({self.path!r}, {self.name!r})"


@dataclass(frozen=True, slots=True)
class Made:
    """Something that a stage made, not checked by anyone yet."""

    value: Any


class PageBegun:
    """The text of a page, or of a picture, is about to be recognised, which gives the file more time."""


class Done:
    """The file was read to its end."""


Message = list[ReadEvent] | Made | PageBegun | Done | DocumentError

_BLOCK_KINDS = frozenset(get_args(BlockKind))
_ANCHOR_KINDS = frozenset(ANCHOR_KINDS)
# Half a surrogate pair, written as an escape: text that could not be stored.
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
_BLOCK_SHAPE = (str, str, int, int, str, list, list, str, str)
_FACTS_SHAPE = (str, str, str, str, dict, dict)
_MEMBER_SHAPE = (str, str, str, bool)
_BOX_SIZE = 5
_LARGEST_NUMBER = 1 << 53


def encode_events(events: Sequence[ReadEvent]) -> bytes:
    """Return the line that carries `events`; lone surrogates in their text become U+FFFD."""
    return _line(["events", [packed(event) for event in events]])


def encode_page_begun() -> bytes:
    return _line(["page"])


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
            case ["page"]:
                return PageBegun()
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
            place = (anchor.kind, anchor.first, anchor.last, anchor.name, extent(anchor))
            return [kind, text, *place, heading_path, context, joiner]
        case Notice(code, message):
            return ["notice", code, message]
        case Facts(media_type, encoding, title, language, metadata, quality):
            return ["facts", media_type, encoding, title, language, metadata, quality]
        case Member(path, data, media_type, is_last):
            return ["member", path, base64.b64encode(data).decode("ascii"), media_type, is_last]
        case TableRows():
            return ["rows", encoded(event)]


def extent(anchor: Anchor) -> list[int]:
    """Where on a sheet or page: nothing, or the first and last column (or two zeros) and five numbers for each box."""
    if anchor.columns is None and not anchor.boxes:
        return []
    return [*(anchor.columns or (0, 0)), *(number for box in anchor.boxes for number in box)]


def placed(kind: AnchorKind, first: int, last: int, name: str, numbers: Sequence[int]) -> Anchor:
    """The anchor with that extent. Raises `WireError` for what is none."""
    if kind not in _ANCHOR_KINDS:
        raise WireError(f"unknown anchor {kind!r}")
    if not numbers:
        return Anchor(kind, first, last, name)
    known = all(type(number) is int and 0 <= number < _LARGEST_NUMBER for number in numbers)
    if not known or (len(numbers) - 2) % _BOX_SIZE:
        raise WireError(f"unknown extent {str(numbers)[:80]}")
    columns = (numbers[0], numbers[1]) if numbers[0] else None
    boxes = tuple(Box(*numbers[at : at + _BOX_SIZE]) for at in range(2, len(numbers), _BOX_SIZE))
    return Anchor(kind, first, last, name, columns, boxes)


def unpacked(event: list[Any]) -> ReadEvent:
    """The event that `packed` packed. Raises `WireError`, `TypeError` or `ValueError` for anything else."""
    kind, *values = event
    shape = tuple(map(type, values))
    if kind in _BLOCK_KINDS and shape == _BLOCK_SHAPE:
        text, place, first, last, name, numbers, path, context, joiner = values
        "".join(path)
        return Block(kind, text, placed(place, first, last, name, numbers), tuple(path), context, joiner)
    elif kind == "notice" and shape == (str, str):
        return Notice(*values)
    elif kind == "facts" and shape == _FACTS_SHAPE:
        return Facts(*values)
    elif kind == "member" and shape == _MEMBER_SHAPE:
        path, data, media_type, is_last = values
        return Member(path, base64.b64decode(data, validate=True), media_type, is_last)
    elif kind == "rows" and shape == (list,):
        return decoded(values[0])
    raise WireError(f"unknown event {str(event)[:80]}")


def _error_kinds() -> dict[str, type[DocumentError]]:
    return {kind.code: kind for kind in DocumentError.__subclasses__()}
