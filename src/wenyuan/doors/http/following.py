"""An answer that is being given, followed on the event loop."""

from __future__ import annotations

import asyncio

from wenyuan.errors import AnswerInterrupted
from wenyuan.runtime.granted import Step
from wenyuan.runtime.running_answers import RunningAnswer, Told


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

    async def all_steps(self) -> tuple[Step, ...]:
        """Every step, once it is over. Raises what ended it, and `AnswerInterrupted` where no message did."""
        seq = 0
        while not (told := await self.after(seq)).is_over:
            seq += len(told.steps)
        if told.error is not None:
            raise told.error
        steps = self.running.after(0).steps
        if not steps or steps[-1].name != "assistant.message":
            raise AnswerInterrupted()
        return steps

    def leave(self) -> None:
        self.running.leave(self._number)

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._more.set)
