"""An answer that is being given, followed on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from wenyuan.doors.http.pool import ClientLeft
from wenyuan.errors import AnswerInterrupted
from wenyuan.runtime.granted import Step
from wenyuan.runtime.running_answers import RunningAnswer, Told

Result = TypeVar("Result")
UntilLeft = Callable[[], asyncio.Task[None]]
"""Begins to watch whether a client is still there, which takes all that is received from it."""


class Following:
    """Waits on the event loop for what an answer's thread tells; it is listened to until `leave`."""

    def __init__(self, running: RunningAnswer) -> None:
        self.running = running
        self._loop = asyncio.get_running_loop()
        self._more = asyncio.Event()
        self._number = running.listen(self._wake)

    async def after(self, seq: int) -> Told:
        """What was told after the first `seq` steps, once there is something or it is over."""
        while True:
            self._more.clear()
            told = self.running.after(seq)
            if told.steps or told.is_over:
                return told
            await self._more.wait()

    async def begun(self, until_left: UntilLeft) -> Told:
        """What was told first. Whoever leaves before knows of no trace to come back to, so that it is stopped then.

        Raises what it could not begin for, and `ClientLeft`.
        """
        told = await self._unless_left(self.after(0), until_left)
        if told.error is not None and not told.steps:
            raise told.error
        return told

    async def all_steps(self, until_left: UntilLeft) -> tuple[Step, ...]:
        """Every step, once it is over; it is stopped where nobody waits for that any more.

        Raises what `steps` raises, and `ClientLeft`.
        """
        await self._unless_left(self._end(), until_left)
        return self.steps()

    def steps(self) -> tuple[Step, ...]:
        """Every step of one that is over. Raises what ended it, and `AnswerInterrupted` where no message did."""
        told = self.running.after(0)
        if told.error is not None:
            raise told.error
        if not told.steps or told.steps[-1].name != "assistant.message":
            raise AnswerInterrupted()
        return told.steps

    def leave(self) -> None:
        self.running.leave(self._number)

    async def _end(self) -> None:
        seq = 0
        while not (told := await self.after(seq)).is_over:
            seq += len(told.steps)

    async def _unless_left(self, coming: Coroutine[Any, Any, Result], until_left: UntilLeft) -> Result:
        waiting, leaving = asyncio.ensure_future(coming), until_left()
        try:
            await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
            self.running.stop()
            raise ClientLeft()
        finally:
            waiting.cancel()
            leaving.cancel()

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._more.set)
