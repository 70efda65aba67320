"""What is said into a pipe while files are taken in, read and embedded: something at once, then a line now and then."""

from __future__ import annotations

import io

from wenyuan.doors.cli.messages import Messages
from wenyuan.doors.cli.output import Output
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import Session
from wenyuan.runtime.jobs import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def left(files: int, embedded: int = 0, passages: int = 0) -> Progress:
    return Progress(files, 0, (), (), embedded, passages)


def watching(clock: Clock) -> tuple[Watching, io.StringIO]:
    stream = io.StringIO()
    return Watching(Session(None, False, Messages(chinese=False), Output(io.StringIO()), Output(stream)), clock), stream


def test_many_files_are_counted_while_they_arrive() -> None:
    clock = Clock()
    shown, stream = watching(clock)
    for _ in range(3):
        shown.received()
        clock.now += 4
    shown.received()
    assert stream.getvalue().splitlines() == ["files taken in: 3"]


def test_what_is_done_before_anyone_looks_does_not_delay_the_next_line() -> None:
    clock = Clock()
    shown, stream = watching(clock)
    shown(left(0))
    shown(left(0, 2, 9))
    clock.now += 1
    shown(left(0, 4, 9))
    clock.now += 4
    shown(left(0, 6, 9))
    assert [line[-6:] for line in stream.getvalue().splitlines()] == ["2 of 9", "6 of 9"]
