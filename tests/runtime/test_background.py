"""One long deed at a time: how far it is, what comes of it, and how it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from wenyuan.errors import AlreadyRunning, DiskFull
from wenyuan.runtime.background import Background, Report

SECONDS = 30


@pytest.fixture
def background() -> Iterator[Background]:
    one = Background("A test")
    yield one
    one.join()


class Held:
    """A deed of three steps that waits after the first one until it is let go."""

    def __init__(self) -> None:
        self.reached, self.let_go = threading.Event(), threading.Event()

    def __call__(self, report: Report) -> str:
        report(1, 3)
        self.reached.set()
        assert self.let_go.wait(SECONDS)
        report(2, 3)
        return "made"


def test_a_deed_tells_how_far_it_is_and_what_comes_of_it(background: Background) -> None:
    assert background.deed is None
    held = Held()
    background.begin("first", held)
    assert held.reached.wait(SECONDS)
    deed = background.deed
    assert deed is not None
    assert (deed.name, deed.running, deed.done, deed.total, deed.finished_at) == ("first", True, 1, 3, None)
    with pytest.raises(AlreadyRunning):
        background.begin("second", held)
    held.let_go.set()
    _wait(background)
    ended = background.deed
    assert ended is not None
    assert (ended.running, ended.done, ended.result, ended.problem) == (False, 3, "made", None)
    assert ended.finished_at is not None
    background.begin("second", held)


def _wait(background: Background) -> None:
    thread = background._thread
    assert thread is not None
    thread.join(SECONDS)


def test_a_deed_that_is_asked_to_end_ends_at_its_next_step(background: Background) -> None:
    held = Held()
    background.begin("ended", held)
    assert held.reached.wait(SECONDS)
    background.stop()
    held.let_go.set()
    _wait(background)
    deed = background.deed
    assert deed is not None
    assert deed.problem is not None
    assert (deed.running, deed.done, deed.result, deed.problem.code) == (False, 1, "", "cancelled")


def test_a_deed_that_fails_says_why(background: Background) -> None:
    def fail(_: Report) -> str:
        raise DiskFull(path="/full")

    background.begin("failed", fail)
    _wait(background)
    deed = background.deed
    assert deed is not None
    assert deed.problem == DiskFull(path="/full").problem()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_deed_that_breaks_does_not_seem_to_go_on(background: Background) -> None:
    def fail(_: Report) -> str:
        raise ZeroDivisionError

    background.begin("broken", fail)
    _wait(background)
    deed = background.deed
    assert deed is not None
    assert deed.problem is not None
    assert (deed.running, deed.problem.code) == (False, "internal")
