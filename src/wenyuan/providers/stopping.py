"""Calls that end soon after nobody wants their answer any more, whatever they are waiting for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from wenyuan.errors import WenyuanError
from wenyuan.ports import CallStopped

Made = TypeVar("Made")
Stopped = Callable[[], bool]
"""Tells whether a call is to end; asked every moment in the thread that makes the call."""

GLANCE_SECONDS = 0.1


def never() -> bool:
    """Of a call that only its deadline ends."""
    return False


def check(stopped: Stopped) -> None:
    """Raises `CallStopped`."""
    if stopped():
        raise CallStopped()


def sleeping(sleep: Callable[[float], None], stopped: Stopped) -> Callable[[float], None]:
    """The same sleep, ended by `CallStopped`."""
    if stopped is never:
        return sleep

    def slept(seconds: float) -> None:
        while seconds > 0:
            check(stopped)
            sleep(min(seconds, GLANCE_SECONDS))
            seconds -= GLANCE_SECONDS

    return slept


def unless_stopped(make: Callable[[], Made], stopped: Stopped, discard: Callable[[Made], None]) -> Made:
    """What `make` makes; in a thread where that may have to be left to itself, and what comes of it then is discarded.

    Raises what it raises, and `CallStopped`.
    """
    if stopped is never:
        return make()
    import httpcore2

    coming: Future[Made] = Future()

    def run() -> None:
        try:
            coming.set_result(make())
        except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError, WenyuanError) as error:
            coming.set_exception(error)
        finally:
            # What nobody foresaw is told where it happened; whoever waits is not to wait for good.
            coming.cancel()

    # The process does not wait for it at its end, as it would for the thread of a pool.
    threading.Thread(target=run, name="connect", daemon=True).start()
    while not wait((coming,), GLANCE_SECONDS).done:
        if stopped():
            coming.add_done_callback(lambda late: _discarded(late, discard))
            raise CallStopped()
    return coming.result()


def _discarded(late: Future[Made], discard: Callable[[Made], None]) -> None:
    if not late.cancelled() and late.exception() is None:
        discard(late.result())
