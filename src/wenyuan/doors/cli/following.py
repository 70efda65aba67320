"""What happens to jobs, followed as it happens: a live table on a terminal, else one line for each thing."""

from __future__ import annotations

import datetime
import sys
from types import TracebackType
from typing import TYPE_CHECKING

from wenyuan.doors.cli.messages import CATALOGUE
from wenyuan.doors.cli.output import json_line, one_line, printable
from wenyuan.doors.cli.session import Session

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from wenyuan.runtime.jobs import JobEvent

_MOST_ROWS = 20
_REFRESHES_PER_SECOND = 5


class Following:
    """Shows events. Into pipes a job's progress is told now and then, everything else at once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._under_way: dict[str, JobEvent] = {}
        self._told: dict[str, int] = {}
        self._live: Live | None = None

    def __enter__(self) -> Following:
        if self._session.out.is_terminal and not self._session.json:
            from rich.live import Live

            self._live = Live(console=self._session.out.console, refresh_per_second=_REFRESHES_PER_SECOND)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: JobEvent) -> None:
        if self._session.json:
            sys.stdout.buffer.write(json_line(event).encode())
            sys.stdout.buffer.flush()
            return
        self._remember(event)
        if self._live is not None:
            if event.job.finished_at is not None or event.kind == "waiting":
                self._live.console.print(one_line(printable(self._line(event))))
            self._live.update(self._table())
        elif self._is_worth_a_line(event):
            self._session.out.line(one_line(self._line(event)))
            sys.stdout.flush()

    def _remember(self, event: JobEvent) -> None:
        self._under_way.pop(event.job.id, None)
        if event.job.state in ("running", "waiting"):
            self._under_way[event.job.id] = event

    def _is_worth_a_line(self, event: JobEvent) -> bool:
        """Of a job's progress, only what is another tenth of it."""
        job = event.job
        if event.kind == "queued":
            return False
        if event.kind != "progress":
            self._told.pop(job.id, None)
            return True
        tenth = 10 * job.done // job.total if job.total else -1
        is_news = self._told.get(job.id) != tenth
        self._told[job.id] = tenth
        return is_news

    # --- Words -----------------------------------------------------------------------------------

    def _line(self, event: JobEvent) -> str:
        job = event.job
        moment = _time_of_day(job.changed_at)
        base = f" ({event.knowledge_base})" if event.knowledge_base else ""
        return (
            f"{moment} {self._session.say(f'job.kind.{job.kind}')}: {self._name(event)}{base}: {self._standing(event)}"
        )

    def _name(self, event: JobEvent) -> str:
        return event.document or event.job.subject_id

    def _standing(self, event: JobEvent) -> str:
        say, job = self._session.say, event.job
        reason = self._session.reason(job.problem)
        match event.kind:
            case "waiting":
                return say("follow.waiting", until=_time_of_day(job.run_after), reason=reason)
            case "failed":
                return say("follow.failed", reason=reason)
            case "done":
                seconds = ((job.finished_at or 0) - (job.started_at or job.created_at)) / 1000
                return say("follow.done", seconds=f"{seconds:.1f}")
            case "cancelled" | "queued":
                return say(f"job.{event.kind}")
            case _:
                return say("list.separator").join(
                    filter(None, (self._stage(event), self._amount(event), *self._pace(event)))
                )

    def _stage(self, event: JobEvent) -> str:
        say, stage = self._session.say, event.job.stage
        if event.job.cancel_requested:
            return say("job.cancelling")
        return say(f"stage.{stage}") if f"stage.{stage}" in CATALOGUE else stage

    def _amount(self, event: JobEvent) -> str:
        job = event.job
        if job.total:
            return self._session.say("follow.amount", done=job.done, total=job.total)
        return self._session.say("follow.bytes", n=event.size) if event.size else ""

    def _pace(self, event: JobEvent) -> tuple[str, ...]:
        if event.rate is None:
            return ()
        rate = self._session.say("progress.rate", rate=f"{event.rate:.1f}")
        if event.seconds_left is None:
            return (rate,)
        left = str(datetime.timedelta(seconds=round(event.seconds_left)))
        return rate, self._session.say("follow.left", time=left)

    # --- On a terminal ---------------------------------------------------------------------------

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        say = self._session.say
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column in ("job", "name", "kb", "state"):
            table.add_column(say(f"column.{column}"), overflow="ellipsis", no_wrap=column != "state")
        for event in list(self._under_way.values())[-_MOST_ROWS:]:
            style = "yellow" if event.kind == "waiting" else "cyan"
            cells = (say(f"job.kind.{event.job.kind}"), self._name(event), event.knowledge_base, self._standing(event))
            table.add_row(*(Text(one_line(printable(cell)), style) for cell in cells))
        return table


def _time_of_day(milliseconds: int) -> str:
    """A moment in local time; with the day where that is not today."""
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000)
    is_today = moment.date() == datetime.date.today()
    return moment.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S")
