"""Answers that are being given in this process, so that whoever lost the connection can take one up again.

Each answer is made in a thread of its own, which nobody has to wait for, and its events are kept for a while. An answer
that nobody listens to any more is stopped after a short grace. No key has more than its share of those under way, so
that whoever leaves many behind keeps nobody else from asking.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass

from wenyuan.errors import ServerBusy, TooManyAnswers, WenyuanError
from wenyuan.flows.conversation.steps import Step

_RETRY_SECONDS = 2
# Each holds its events, of which the sources alone may be a hundred kilobytes.
_MOST_KEPT = 512
# Looking into the documents is computing, and a few that do so at once are all done sooner than many. It may wait for a
# model as well, so that nobody waits long for a place.
_LOOKING_SECONDS = 1.0
_LOOKED = frozenset(("rag.sources", "assistant.delta"))

Making = Callable[[Callable[[], bool]], Iterator[Step]]
"""Begins an answer, which looks now and then whether it is to stop."""


@dataclass(frozen=True, slots=True)
class Told:
    """What of an answer has been told after a place, and whether that is all; an error is the last of all."""

    steps: tuple[Step, ...]
    error: WenyuanError | None
    is_over: bool


class RunningAnswer:
    """One answer, made in a thread. `owner` is the id of the key with which it was asked for.

    `make` gives its steps, and is told by what to know that it is to stop.
    """

    def __init__(
        self,
        owner: str,
        make: Making,
        resume_seconds: float,
        ending: Callable[[], bool],
        looking: threading.BoundedSemaphore,
    ) -> None:
        self.owner = owner
        self._looking = looking
        self._stopping = threading.Event()
        self._resume_seconds = resume_seconds
        self._ending = ending
        self._steps: list[Step] = []
        self._error: WenyuanError | None = None
        self._is_over = False
        self._changed = threading.Condition()
        self._listeners: dict[int, Callable[[], None]] = {}
        self._left_at: float | None = None
        self.ended_at: float | None = None
        # What cannot be asked at all is refused here, before there is a thread.
        self._made = make(self._is_to_stop)

    @property
    def trace_id(self) -> str:
        """The id of its trace; "" before its first step."""
        return self._steps[0].trace_id if self._steps else ""

    def after(self, seq: int) -> Told:
        """What was told after the first `seq` steps."""
        with self._changed:
            return Told(tuple(self._steps[seq:]), self._error, self._is_over)

    def wait(self, seq: int, seconds: float) -> Told:
        """The same, once there is something or it is over, or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._steps) > seq or self._is_over, seconds)
        return self.after(seq)

    def listen(self, told: Callable[[], None]) -> int:
        """Have `told` called, in the answer's thread, whenever there is more; returns a number for `leave`."""
        with self._changed:
            number = max(self._listeners, default=0) + 1
            self._listeners[number] = told
            self._left_at = None
            return number

    def leave(self, number: int) -> None:
        """Listen no more."""
        with self._changed:
            self._listeners.pop(number, None)
            if not self._listeners:
                self._left_at = time.monotonic()

    def stop(self) -> None:
        """Stop at once; what was said is kept, and told as the message."""
        self._stopping.set()

    def run(self) -> None:
        """Make the answer; for its thread."""
        has_place = self._looking.acquire(timeout=_LOOKING_SECONDS)
        try:
            for step in self._made:
                self._tell(step)
                if has_place and step.name in _LOOKED:
                    self._looking.release()
                    has_place = False
        except WenyuanError as error:
            self._error = error
        except BaseException as error:
            # Whoever listens has to be told that nothing more comes; the thread ends with its trace in the log.
            self._error = WenyuanError(reason=type(error).__name__)
            raise
        finally:
            if has_place:
                self._looking.release()
            with self._changed:
                self._is_over = True
                self.ended_at = time.monotonic()
                self._call()

    def _tell(self, step: Step) -> None:
        with self._changed:
            self._steps.append(step)
            self._call()

    def _call(self) -> None:
        self._changed.notify_all()
        for told in self._listeners.values():
            told()

    def _is_to_stop(self) -> bool:
        """Whether somebody wants it, the process ends, or nobody has listened for so long that nobody will."""
        if self._stopping.is_set() or self._ending():
            return True
        with self._changed:
            if self._left_at is not None and time.monotonic() - self._left_at >= self._resume_seconds:
                # Who comes back now finds it ended: it may be ending already.
                self._stopping.set()
        return self._stopping.is_set()


class RunningAnswers:
    """All that are being given, `most` of them, and those that were given a moment ago.

    One key has at most `share` of them, which is above 0 and at most 1; whoever needs no key shares with nobody.
    As many as `looking` look into the documents at once. `ending` tells that the process is to end.
    """

    def __init__(
        self,
        most: int,
        resume_seconds: float,
        kept_seconds: float,
        ending: Callable[[], bool] = lambda: False,
        share: float = 1.0,
        looking: int = 2,
    ) -> None:
        self._most = most
        self._most_of_a_key = max(1, math.floor(most * share))
        self._ending = ending
        self._resume_seconds = resume_seconds
        self._kept_seconds = kept_seconds
        self._answers: list[tuple[RunningAnswer, threading.Thread]] = []
        self._changing = threading.Lock()
        self._looking = threading.BoundedSemaphore(looking)

    def begin(self, owner: str, make: Making) -> RunningAnswer:
        """Begin an answer whose steps `make` gives.

        Raises `TooManyAnswers` where too many are being given to that key, `ServerBusy` where too many are being given
        at all, and what `make` raises.
        """
        answer = RunningAnswer(owner, make, self._resume_seconds, self._ending, self._looking)
        thread = threading.Thread(target=copy_context().run, args=(answer.run,), name="answer", daemon=True)
        with self._changing:
            self._forget()
            under_way = [one.owner for one, _ in self._answers if one.ended_at is None]
            if owner and under_way.count(owner) >= self._most_of_a_key:
                raise TooManyAnswers(most=self._most_of_a_key, retry_after=_RETRY_SECONDS)
            if len(under_way) >= self._most:
                raise ServerBusy()
            # One whose thread cannot be started has no place.
            thread.start()
            self._answers.append((answer, thread))
        return answer

    def find(self, owner: str, trace_id: str) -> RunningAnswer | None:
        """The answer with that trace, if it was asked for with that key and is still remembered."""
        with self._changing:
            self._forget()
            return next((one for one, _ in self._answers if (one.owner, one.trace_id) == (owner, trace_id)), None)

    def close(self, seconds: float) -> None:
        """Stop all, and wait for them so long."""
        with self._changing:
            answers = list(self._answers)
        for answer, _ in answers:
            answer.stop()
        deadline = time.monotonic() + seconds
        for _, thread in answers:
            thread.join(max(0.0, deadline - time.monotonic()))

    @property
    def under_way(self) -> int:
        """How many are being given."""
        with self._changing:
            return sum(one.ended_at is None for one, _ in self._answers)

    def _forget(self) -> None:
        old = time.monotonic() - self._kept_seconds
        ended = sorted(one.ended_at for one, _ in self._answers if one.ended_at is not None)
        if len(ended) > _MOST_KEPT:
            old = max(old, ended[-_MOST_KEPT - 1])
        self._answers = [(one, thread) for one, thread in self._answers if one.ended_at is None or one.ended_at > old]
