"""Ctrl-C between two steps, and what it does when it is pressed twice or is not ours to handle."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from wenyuan.doors.cli.interrupting import interrupted_between_steps


@pytest.fixture(autouse=True)
def _as_in_a_terminal() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_it_waits_for_the_end_of_a_step_and_is_raised_once() -> None:
    with interrupted_between_steps() as interruption:
        interruption.raise_if_pending()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interruption.raise_if_pending()
        interruption.raise_if_pending()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_pressed_again_it_does_not_wait() -> None:
    with interrupted_between_steps():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_where_it_is_ignored_it_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupted_between_steps() as interruption:
        signal.raise_signal(signal.SIGINT)
        interruption.raise_if_pending()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
