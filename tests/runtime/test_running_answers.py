"""Answers under way are shared out, end when nobody wants them, and are remembered in bounds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from tests.waiting import until
from wenyuan.errors import ServerBusy, TooManyAnswers
from wenyuan.flows.conversation.steps import Step
from wenyuan.runtime import running_answers
from wenyuan.runtime.running_answers import Making, RunningAnswers


def saying(trace: str, go_on: threading.Event) -> Making:
    """An answer of two steps, the second of which waits until it may be said or is to stop."""

    def make(stopped: Callable[[], bool]) -> Iterator[Step]:
        yield Step("rag.sources", trace, {})
        while not (go_on.wait(0.01) or stopped()):
            pass
        yield Step("assistant.message", trace, {"finish_reason": "stopped" if stopped() else "stop"})

    return make


@pytest.fixture
def go_on() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_key_has_its_share_and_the_owner_all_of_it(go_on: threading.Event) -> None:
    answers = RunningAnswers(4, 600.0, 600.0, share=0.5)
    for number in range(2):
        answers.begin("a", saying(f"a{number}", go_on))
    with pytest.raises(TooManyAnswers):
        answers.begin("a", saying("a2", go_on))
    for number in range(2):
        answers.begin("", saying(f"o{number}", go_on))
    with pytest.raises(ServerBusy):
        answers.begin("", saying("o2", go_on))
    assert answers.under_way == 4
    go_on.set()
    until(lambda: answers.under_way == 0)
    answers.begin("a", saying("a3", go_on))


def test_even_the_smallest_share_is_one_answer(go_on: threading.Event) -> None:
    answers = RunningAnswers(4, 600.0, 600.0, share=0.01)
    answers.begin("a", saying("a", go_on))
    with pytest.raises(TooManyAnswers):
        answers.begin("a", saying("b", go_on))


def test_an_answer_that_is_left_is_stopped_after_the_grace(go_on: threading.Event) -> None:
    answers = RunningAnswers(4, 0.0, 600.0)
    answer = answers.begin("a", saying("left", go_on))
    assert answer.wait(0, 60).steps
    answer.leave(answer.listen(lambda: None))
    until(lambda: answer.after(0).is_over)
    assert answer.after(1).steps[0].data == {"finish_reason": "stopped"}


def test_only_so_many_are_remembered(go_on: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_answers, "_MOST_KEPT", 2)
    go_on.set()
    answers = RunningAnswers(8, 600.0, 600.0)
    for number in range(4):
        answers.begin("a", saying(f"t{number}", go_on))
        until(lambda: answers.under_way == 0)
    assert [answers.find("a", f"t{number}") is not None for number in range(4)] == [False, False, True, True]
    assert answers.find("b", "t3") is None
