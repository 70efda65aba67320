"""Progress of long work, in its two phases: files read, which words can then find; passages embedded."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from wenyuan.doors.cli.session import Session

if TYPE_CHECKING:
    import rich.progress

    from wenyuan.runtime.jobs import Progress

_SECONDS_BETWEEN_LINES = 5.0


@dataclass(slots=True)
class Phase:
    """How far one phase is: `done` of `total`, both counted from where this run began."""

    done: int = 0
    total: int = 0


class Watching:
    """Shows how work goes on: bars with rate and remaining time on a terminal, else a line now and then.

    Give it to the runtime as `watch`.
    """

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_working = False
        self._session = session
        self._clock = clock
        self._reading = Phase()
        self._embedding = Phase()
        self._rebuilding = Phase()
        self._embedded_before: int | None = None
        self._put_off: set[str] = set()
        self._bars = _Bars(session) if session.notes.is_terminal else None
        self._next_line = clock()
        self._next_line_of_received = clock() + _SECONDS_BETWEEN_LINES
        self._last_line = ""

    def __enter__(self) -> Watching:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.close()

    def received(self) -> None:
        """Count one more file that was taken in and waits to be read."""
        self._reading.total += 1
        if self._bars is not None:
            self._bars.show(self._phases)
        elif self._clock() >= self._next_line_of_received:
            self._next_line_of_received = self._clock() + _SECONDS_BETWEEN_LINES
            self._tell(self._session.say("progress.receiving.line", done=self._reading.total))

    @property
    def _phases(self) -> dict[str, Phase]:
        return {"reading": self._reading, "embedding": self._embedding, "rebuilding": self._rebuilding}

    def __call__(self, progress: Progress) -> None:
        self.is_working = True
        reading = progress.files_queued + sum(job.kind == "ingest" for job in progress.running)
        self._reading.total = max(self._reading.total, reading)
        self._reading.done = self._reading.total - reading
        if self._embedded_before is None:
            self._embedded_before = progress.chunks_embedded
        self._embedding.done = max(0, progress.chunks_embedded - self._embedded_before)
        self._embedding.total = max(0, progress.chunks_total - self._embedded_before)
        building = [job for job in progress.running if job.kind == "rebuild"]
        self._rebuilding.done = sum(job.done for job in building) if building else self._rebuilding.total
        self._rebuilding.total = sum(job.total for job in building) if building else self._rebuilding.total
        for job in progress.waiting:
            if job.problem is not None and job.problem.message not in self._put_off:
                self._put_off.add(job.problem.message)
                self._tell(self._session.say("progress.waiting", reason=self._session.worded(job.problem).message))
        self._show()

    def _show(self) -> None:
        if self._bars is not None:
            self._bars.show(self._phases)
        elif self._clock() >= self._next_line:
            for name, phase in self._phases.items():
                if phase.done < phase.total:
                    self._next_line = self._clock() + _SECONDS_BETWEEN_LINES
                    self._tell(self._session.say(f"progress.{name}.line", done=phase.done, total=phase.total))
                    return

    def _tell(self, line: str) -> None:
        if line != self._last_line:
            self._last_line = line
            if self._bars is not None:
                self._bars.print(line)
            else:
                self._session.notes.line(line)


class _Bars:
    def __init__(self, session: Session) -> None:
        from rich import progress

        self._say = session.say
        self._progress = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}", style="dim"),
            progress.TimeRemainingColumn(compact=True),
            console=session.notes.console,
        )
        self._tasks: dict[str, rich.progress.TaskID] = {}
        self._progress.start()

    def show(self, phases: Mapping[str, Phase]) -> None:
        for name, phase in phases.items():
            if not phase.total:
                continue
            if name not in self._tasks:
                self._tasks[name] = self._progress.add_task(self._say(f"progress.{name}"), total=phase.total, rate="")
            task = self._tasks[name]
            speed = next((shown.speed for shown in self._progress.tasks if shown.id == task), None)
            rate = self._say("progress.rate", rate=f"{speed:.1f}") if speed else ""
            self._progress.update(task, completed=phase.done, total=phase.total, rate=rate)

    def print(self, line: str) -> None:
        self._progress.console.print(line)

    def close(self) -> None:
        self._progress.stop()
