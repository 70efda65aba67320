"""Progress of what copies bytes: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from wenyuan.doors.cli.session import Session

if TYPE_CHECKING:
    import rich.progress

    from wenyuan.runtime.backups import Copying

_SECONDS_BETWEEN_LINES = 5.0


class Copies:
    """Shows how far a copy is, stage by stage. Give it to the runtime as `watch`."""

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._clock = clock
        self._next_line = clock() + _SECONDS_BETWEEN_LINES
        self._bars: rich.progress.Progress | None = None
        self._tasks: dict[str, rich.progress.TaskID] = {}

    def __enter__(self) -> Copies:
        if self._session.notes.is_terminal:
            from rich import progress

            self._bars = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TaskProgressColumn(),
                progress.TimeRemainingColumn(compact=True),
                console=self._session.notes.console,
            )
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, copying: Copying) -> None:
        self._show(copying.stage, copying.done, copying.total)

    def counting(self, stage: str) -> Callable[[int, int], None]:
        """The same for what has one stage alone."""
        return lambda done, total: self._show(stage, done, total)

    def _show(self, stage: str, done: int, total: int) -> None:
        name = self._session.say(f"copying.{stage}")
        if self._bars is not None:
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(name, total=total)
            self._bars.update(self._tasks[name], completed=done, total=total)
        elif self._clock() >= self._next_line:
            self._next_line = self._clock() + _SECONDS_BETWEEN_LINES
            self._session.notes.line(f"{name}: {done / total if total else 1.0:.0%}")


def size(count: int) -> str:
    """A number of bytes as people read it."""
    if count >= 1 << 30:
        return f"{count / (1 << 30):.1f} GB"
    return f"{count / (1 << 20):.1f} MB" if count >= 1 << 20 else f"{count / 1024:.0f} kB"
