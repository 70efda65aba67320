"""Jobs of a server."""

from __future__ import annotations

import builtins
import time
from collections.abc import Generator
from dataclasses import dataclass
from urllib.parse import quote

from wenyuan.client.connection import Connection, value_of
from wenyuan.client.remote_errors import event_error
from wenyuan.errors import ServerUnreachable
from wenyuan.runtime.jobs import JobEvent
from wenyuan.types import Job

_MOST_FAILED = 3
_NEXT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Jobs:
    jobs: list[Job]
    working: bool


class RemoteJobs:
    """As `Library.jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, only_live: bool = False, limit: int = 100) -> builtins.list[Job]:
        return self._connection.get(_Jobs, "/jobs", live=only_live, limit=limit).jobs

    def are_worked_on(self) -> bool:
        """Whether a worker, of any process or machine, is doing a job of the library now."""
        return self._connection.get(_Jobs, "/jobs", live=True, limit=1).working

    def show(self, job: str) -> Job:
        """Raises `JobNotFound`."""
        return self._connection.get(Job, _path(job))

    def cancel(self, job: str) -> Job:
        return self._connection.change(Job, "POST", f"{_path(job)}/cancel")

    def watch(self, after: int | None = None) -> Generator[JobEvent, None, None]:
        """Tell what happens to jobs, as it happens; close it to end it.

        With `after`, the number of the last event that was seen, it goes on from there; without, it begins with the
        jobs under way. A stream that breaks is taken up behind its last event; where that fails several times in a
        row, `ServerUnreachable` is raised.
        """
        failed = 0
        while True:
            headers = {} if after is None else {"Last-Event-ID": str(after)}
            wait = _NEXT_SECONDS
            try:
                with self._connection.events("GET", "/jobs/events", headers=headers) as events:
                    failed = 0
                    for event in events:
                        if event.name == "error":
                            raise event_error(event)
                        after, wait = int(event.id), 0.0
                        yield value_of(JobEvent, {**event.data, "number": event.data["seq"]})
            except ServerUnreachable:
                failed += 1
                if failed > _MOST_FAILED:
                    raise
            time.sleep(wait)


def _path(job: str) -> str:
    return f"/jobs/{quote(job, safe='')}"
