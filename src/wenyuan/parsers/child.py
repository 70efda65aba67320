"""The process in which files are read: `python -m wenyuan.parsers.child`, started by `sandbox`.

Requests come on standard input, one at a time; answers leave on standard output. The limits are
kept by the kernel: address space, processor time per file, and the size of files it could write.
"""

from __future__ import annotations

import fcntl
import gc
import os
import resource
import select
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from wenyuan.errors import DocumentError, ParserMemory
from wenyuan.parsers.pictures.recognition import RECOGNISER_BYTES, SECONDS_PER_PAGE, ReadingSettings, Recognition
from wenyuan.parsers.reading import read_file
from wenyuan.parsers.wire import (
    SECONDS_PER_BYTE_MADE,
    Request,
    decode_request,
    encode_done,
    encode_error,
    encode_events,
    encode_made,
    encode_page_begun,
)
from wenyuan.types import Block, Member, ReadEvent, TableRows

_BATCH_CHARACTERS = 1 << 16
_BATCH_EVENTS = 512
_LARGEST_WRITTEN_FILE = 1 << 24
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> None:
    """Serve requests until standard input ends.

    Arguments: a pipe that ends when the parent does, bytes of memory, seconds per file, which text recognition, how
    many pages of a file it may have.
    """
    lifeline, memory_bytes, seconds = map(int, sys.argv[1:4])
    settings = ReadingSettings(sys.argv[4], int(sys.argv[5]))
    _die_with_parent(lifeline)
    # A file becomes many small objects, hardly any of them in cycles: looking for those took an eighth of the time.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    answers = os.dup(1)
    # Whatever a library prints must not be taken for an answer.
    os.dup2(2, 1)
    _lower_limit(resource.RLIMIT_AS, memory_bytes, 0 if settings.ocr == "off" else RECOGNISER_BYTES)
    _lower_limit(resource.RLIMIT_FSIZE, _LARGEST_WRITTEN_FILE)
    _lower_limit(resource.RLIMIT_CORE, 0)
    for line in sys.stdin.buffer:
        _send(answers, _read(decode_request(line), answers, memory_bytes, seconds, settings))


def _read(request: Request, answers: int, memory_bytes: int, seconds: float, settings: ReadingSettings) -> bytes:
    """Send what is in the file, or what the stage makes of it, and return the line that says how it ended."""
    limit = _processor_time() + seconds
    _limit_processor_time(limit)

    def more_time() -> None:
        nonlocal limit
        _send(answers, encode_page_begun())
        limit += SECONDS_PER_PAGE
        _limit_processor_time(limit)

    try:
        recognition = Recognition(settings, more_time)
        events = read_file(Path(request.path), request.name, request.media_type, request.password, recognition)
        if not request.stage:
            for line in _batches(events):
                _send(answers, line)
            return encode_done()
        for line in _made(request, events):
            _send(answers, line)
            limit += len(line) * SECONDS_PER_BYTE_MADE
            _limit_processor_time(limit)
    except DocumentError as error:
        return encode_error(error)
    except MemoryError:
        return encode_error(ParserMemory(name=request.name, limit=f"{memory_bytes >> 20} MB"))
    return encode_done()


def _made(request: Request, events: Iterator[ReadEvent]) -> Iterator[bytes]:
    module, _, function = request.stage.partition(":")
    stage = getattr(import_module(module), function)
    return map(encode_made, stage(events, request.arguments))


def _batches(events: Iterable[ReadEvent]) -> Iterable[bytes]:
    batch: list[ReadEvent] = []
    size = 0
    for event in events:
        batch.append(event)
        size += _size(event)
        if size >= _BATCH_CHARACTERS or len(batch) >= _BATCH_EVENTS:
            yield encode_events(batch)
            batch, size = [], 0
    if batch:
        yield encode_events(batch)


def _size(event: ReadEvent) -> int:
    """About how many characters an event takes."""
    match event:
        case Block():
            return len(event.text)
        case Member():
            return len(event.data)
        case TableRows():
            return sum(16 * len(row.cells) for row in event.rows)
    return 0


def _send(answers: int, line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(answers, view) :]


def _lower_limit(kind: int, value: int, reserve: int = 0) -> None:
    """Set a limit that can be raised once more, by the reserve."""
    most = value + reserve
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value, most = min(value, hard), min(most, hard)
    resource.setrlimit(kind, (value, most))


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _limit_processor_time(limit: float) -> None:
    """Let this process use so many seconds altogether; then the kernel sends SIGXCPU."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, hard))


def _die_with_parent(lifeline: int) -> None:
    """Let the kernel kill this process when its parent is gone.

    The parent holds the other end of a pipe and never sends anything, so the only news from it is its
    end; it arrives as SIGIO, even in the middle of a library's loop.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(lifeline, 0)
    if poll.poll(0):
        sys.exit(0)


if __name__ == "__main__":
    main()
