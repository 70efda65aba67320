"""Server-sent events out of the bytes in which they come (HTML Standard, section 9.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_EVENT_BYTES: Final = 1 << 20

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its kind, empty where none is said, and its data, lines joined."""

    kind: str
    data: str


def server_events(pieces: Iterable[bytes], too_long: Callable[[], Exception]) -> Iterator[ServerEvent]:
    """The events of a stream as they are complete; one that its end cuts off is not one.

    Raises what `too_long` makes where a line or an event has more than a megabyte.
    """
    kind, size = "", 0
    data: list[str] = []
    for line in _lines(pieces, too_long):
        size += len(line)
        if size > LONGEST_EVENT_BYTES:
            raise too_long()
        if not line:
            if data:
                yield ServerEvent(kind, "\n".join(data))
            kind, data, size = "", [], 0
            continue
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            kind = value


def _lines(pieces: Iterable[bytes], too_long: Callable[[], Exception]) -> Iterator[bytes]:
    rest, seen = b"", 0
    for piece in pieces:
        rest += piece
        begun = 0
        # Of what is left of the piece before, the last character may have been half of a line's end.
        for end in _LINE_END.finditer(rest, max(seen - 1, 0)):
            yield rest[begun : end.start()]
            begun = end.end()
        rest = rest[begun:]
        seen = len(rest)
        if seen > LONGEST_EVENT_BYTES:
            raise too_long()
    if rest.endswith(b"\r"):
        yield rest[:-1]
