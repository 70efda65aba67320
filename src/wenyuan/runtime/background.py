"""Long deeds that somebody begins and does not wait for: one at a time, in a thread, and others ask how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from wenyuan.errors import AlreadyRunning, JobCancelled, WenyuanError
from wenyuan.types import Problem

Report = Callable[[int, int], None]
"""Tells that so many are done, of so many; raises `Stopped` where it is to end."""


class Stopped(Exception):
    """The deed was asked to end."""


@dataclass(frozen=True, slots=True)
class Deed:
    """How the last deed stands: `done` of `total`; moments in milliseconds since 1970.

    `result` names what came of it, and `problem` says why nothing did.
    """

    name: str
    running: bool
    done: int
    total: int
    started_at: int
    finished_at: int | None
    result: str
    problem: Problem | None


class Background:
    """Does one deed at a time. `what` names its kind in errors, such as "A backup"."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._deed: Deed | None = None

    @property
    def deed(self) -> Deed | None:
        """The deed that is being done, else the last one; None where there was none."""
        with self._lock:
            return self._deed

    def begin(self, name: str, do: Callable[[Report], str]) -> Deed:
        """Begin to do something, which returns the name of what comes of it. Raises `AlreadyRunning`."""
        with self._lock:
            if self._deed is not None and self._deed.running:
                raise AlreadyRunning(what=self._what)
            self._stopping.clear()
            self._deed = begun = Deed(name, True, 0, 0, _now(), None, "", None)
            self._thread = threading.Thread(target=self._run, args=(do,), name=self._what)
            self._thread.start()
            return begun

    def stop(self) -> None:
        """Ask the deed to end, and do not wait for it."""
        self._stopping.set()

    def join(self) -> None:
        """Ask the deed to end, and wait until it has."""
        self.stop()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self, do: Callable[[Report], str]) -> None:
        result = ""
        # What nobody foresaw ends the thread with its trace in the log; the deed must not seem to go on.
        problem: Problem | None = WenyuanError(reason=f"{self._what} ended unexpectedly").problem()
        try:
            result = do(self._report)
            problem = None
            self._finish()
        except Stopped:
            problem = JobCancelled().problem()
        except WenyuanError as error:
            problem = error.problem()
        finally:
            self._change(running=False, finished_at=_now(), result=result, problem=problem)

    def _finish(self) -> None:
        with self._lock:
            if self._deed is not None:
                # The last of it is told of no more.
                self._deed = replace(self._deed, done=self._deed.total)

    def _report(self, done: int, total: int) -> None:
        if self._stopping.is_set():
            raise Stopped()
        self._change(done=done, total=total)

    def _change(self, **changes: object) -> None:
        with self._lock:
            if self._deed is not None:
                self._deed = replace(self._deed, **changes)  # type: ignore[arg-type]


def _now() -> int:
    return time.time_ns() // 1_000_000
