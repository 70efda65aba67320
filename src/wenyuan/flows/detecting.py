"""What kind of file it is, found out in the child process: looking into an archive is reading it already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wenyuan.parsers.detection import Detected, detect
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.parsers.wire import Request, WireError, packed, unpacked
from wenyuan.types import Notice, ReadEvent

STAGE = "wenyuan.flows.detecting:detected"
"""What the child process is asked to do."""


def detected_aside(reader: SandboxedReader, path: Path, name: str) -> Detected:
    """What `detect` says of a file, in the reader's child process. Raises as `detect` and `SandboxedReader.make`."""
    # The path goes twice: what is to be done is not given that of the request.
    (found,) = reader.make(Request(str(path), name, "", STAGE, [str(path), name]), _checked)
    return found


def detected(events: Iterable[ReadEvent], arguments: Any) -> Iterator[Any]:
    """Yield the type, without reading any of the events that the file would give."""
    del events
    path, name = arguments
    found = detect(Path(path), name)
    yield [found.media_type, found.description, *map(packed, found.notices)]


def _checked(value: Any) -> Detected:
    match value:
        case [str(media_type), str(description), *notices]:
            told = [unpacked(notice) for notice in notices]
            return Detected(media_type, description, tuple(one for one in told if isinstance(one, Notice)))
    raise WireError(f"unknown type {str(value)[:80]}")
