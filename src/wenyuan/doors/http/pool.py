"""Threads in which the library is asked, so many at once, so many waiting, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from wenyuan.errors import RequestTimedOut, ServerBusy

Result = TypeVar("Result")


class ClientLeft(Exception):
    """Whoever asked is gone, so that nobody needs the answer."""


class Pool:
    """Calls that block run here and never on the event loop.

    A thread reads the database through a connection of its own, with a cache of its own; so there are
    no more of them than are worth that memory.
    """

    def __init__(self, threads: int, waiting: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._room = threads + waiting
        self.taken = 0
        """How many calls are running or waiting; one that nobody waits for any more counts until it has ended."""

    @property
    def is_full(self) -> bool:
        return self.taken >= self._room

    async def run(
        self,
        do: Callable[[], Result],
        seconds: float,
        until_left: Callable[[], asyncio.Task[None]] | None = None,
        *,
        is_admitted: bool = False,
    ) -> Result:
        """Call it in a thread. One that has not begun is not begun any more when its time is up or its client left.

        One that `is_admitted` is not refused for want of room. Raises `ServerBusy`, `RequestTimedOut`, `ClientLeft`,
        or what it raises.
        """
        if self.is_full and not is_admitted:
            raise ServerBusy()
        self.taken += 1
        loop = asyncio.get_running_loop()
        # What it does belongs to the request, also for whoever follows requests through the program.
        call: Future[Result] = self._executor.submit(copy_context().run, do)
        call.add_done_callback(lambda _: self._give_back(loop))
        leaving = until_left() if until_left is not None else None
        try:
            return await _result(call, seconds, leaving)
        finally:
            if leaving is not None:
                leaving.cancel()
            call.cancel()

    def _give_back(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._one_less)

    def _one_less(self) -> None:
        self.taken -= 1

    def close(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)


async def _result(call: Future[Result], seconds: float, leaving: asyncio.Task[None] | None) -> Result:
    done = asyncio.wrap_future(call)
    waited: set[asyncio.Future[object]] = {done, leaving} if leaving is not None else {done}  # type: ignore[arg-type]
    try:
        ended, _ = await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if done in ended:
            return done.result()
        if ended:
            raise ClientLeft()
        raise RequestTimedOut(seconds=seconds)
    finally:
        # What comes of it later is nobody's any more.
        done.cancel()
