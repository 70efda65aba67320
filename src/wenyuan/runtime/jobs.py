"""Jobs, as a door sees them."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wenyuan.flows import generations
from wenyuan.flows.remove import cancel_revision
from wenyuan.identifiers import new_id
from wenyuan.store import documents, indexes, job_changes, limits, queue
from wenyuan.store.database import Database
from wenyuan.store.job_changes import JobChange
from wenyuan.types import Job

_TOTALS_SECONDS = 1.0
_POLL_SECONDS = 0.2
_EVENTS_AT_ONCE = 500
_MOST_UNDER_WAY = 1_000
_SOON_MS = 60_000

EventKind = Literal["queued", "started", "stage", "progress", "waiting", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How the work stands: files to read, and chunks to embed.

    `running` are the jobs being done now, by any worker; `waiting` those put off, with the reason
    in their `problem`. `chunks_embedded` of `chunks_total` published chunks have vectors.
    """

    files_queued: int
    embeddings_queued: int
    running: tuple[Job, ...]
    waiting: tuple[Job, ...]
    chunks_embedded: int
    chunks_total: int


@dataclass(frozen=True, slots=True)
class JobEvent:
    """What happened to a job, and how it stands since: its stage, `done` of `total`, when it goes on, or why it failed.

    `document` and `knowledge_base` are the names of what it is about, empty where it is about something
    else, and `document_id` is the document's id; `size` is in bytes. `rate` is in units of `done` a second since
    its stage began, and `seconds_left` what that leaves; None where that cannot be told.
    """

    number: int
    kind: EventKind
    job: Job
    document: str
    knowledge_base: str
    size: int
    rate: float | None
    seconds_left: float | None
    document_id: str = ""


class Jobs:
    def __init__(self, database: Database, principal: str) -> None:
        self._database = database
        self._principal = principal
        self._totals = (0, 0)
        self._totals_until = 0.0

    def list(
        self, *, only_live: bool = False, limit: int = 100, bases: Sequence[str] | None = None
    ) -> builtins.list[Job]:
        """Jobs, live ones first. Those that are queued for a model that nobody may call now are `waiting`.

        Only those of the knowledge bases with the ids `bases`, if they are given.
        """
        with self._database.read() as tx:
            closed = limits.closed(tx)
            found = queue.listed(tx, self._principal, only_live=only_live, limit=limit, bases=bases)
            return [_held_up(job, closed) for job in found]

    def show(self, job_id: str) -> Job:
        """One job. Raises `JobNotFound`."""
        with self._database.read() as tx:
            return _held_up(queue.find(tx, self._principal, job_id), limits.closed(tx))

    def cancel(self, job_id: str) -> Job:
        """Cancel a job: at once where it waits, within one batch where it runs. Raises `JobNotFound`."""
        with self._database.write() as tx:
            job = queue.find(tx, self._principal, job_id)
            to_publish = job.kind in ("ingest", "embed", "publish") and documents.is_unpublished(tx, job.subject_id)
            if job.kind == "rebuild" and job.finished_at is None:
                generations.stop(tx, new_id, job.subject_id)
            elif to_publish and job.finished_at is None:
                cancel_revision(tx, job.subject_id)
            else:
                queue.cancel_job(tx, job)
            return queue.find(tx, self._principal, job_id)

    def progress(self) -> Progress:
        with self._database.read() as tx:
            counts = queue.counts(tx)
            begun = queue.begun(tx, self._principal, limit=50)
            if time.monotonic() >= self._totals_until:
                # Over all documents: worth asking only now and then while work is watched.
                self._totals = indexes.embedding_totals(tx, self._principal)
                self._totals_until = time.monotonic() + _TOTALS_SECONDS
        return Progress(
            files_queued=counts.get(("ingest", "queued"), 0),
            embeddings_queued=counts.get(("embed", "queued"), 0),
            running=tuple(job for job in begun if job.state == "running"),
            waiting=tuple(job for job in begun if job.state == "waiting" and job.problem is not None),
            chunks_embedded=self._totals[0],
            chunks_total=self._totals[1],
        )

    def changes(self, after: int, limit: int = _EVENTS_AT_ONCE) -> builtins.list[JobEvent]:
        """What happened after the event numbered `after`, oldest first; returns at once, and reads little.

        A job that changed several times since is told of once, as it stands.
        """
        with self._database.read() as tx:
            found = job_changes.since(tx, self._principal, after, limit)
        return [_event(change) for change in found]

    def begun(self) -> tuple[int, builtins.list[JobEvent]]:
        """The number of the newest event, and how the jobs stand that are being done or were put off."""
        with self._database.read() as tx:
            newest = job_changes.last_change(tx)
            return newest, [_event(one) for one in job_changes.under_way(tx, self._principal, _MOST_UNDER_WAY)]

    def are_worked_on(self) -> bool:
        """Whether a worker, of any process or machine, is doing a job of the library now."""
        with self._database.read() as tx:
            return queue.is_worked(tx)

    def counts(self) -> dict[tuple[str, str], int]:
        """How many jobs are queued, running or waiting, by (kind, state)."""
        with self._database.read() as tx:
            return queue.counts(tx)

    def watch(
        self,
        after: int | None = None,
        *,
        until_idle: bool = False,
        is_over: Callable[[], bool] = lambda: False,
        poll_seconds: float = _POLL_SECONDS,
    ) -> Iterator[JobEvent]:
        """Tell what happens to jobs, as it happens.

        With `after`, the number of the last event that was seen, it goes on from there; without, it
        begins with the jobs under way. It ends when `is_over` says so or, with `until_idle`, when there is
        nothing left to do but what is put off for longer than a minute.
        """
        seen: dict[str, Job] = {}
        if after is None:
            with self._database.read() as tx:
                after = job_changes.last_change(tx)
                begun = job_changes.under_way(tx, self._principal, _MOST_UNDER_WAY)
            for change in begun:
                seen[change.job.id] = change.job
                yield _event(change)
        while not is_over():
            # Looked up before the events: a job that is queued in between is not missed.
            idle = until_idle and self._is_idle()
            events = self.changes(after)
            for event in events:
                after = event.number
                yield _since_last_seen(event, seen)
            if idle and not events:
                return
            if not events:
                time.sleep(poll_seconds)

    def _is_idle(self) -> bool:
        with self._database.read() as tx:
            if any(state == "running" for _, state in queue.counts(tx)) or not queue.is_idle(tx):
                return False
            opens = queue.opens_at(tx)
            return opens is None or opens[0] - tx.now > _SOON_MS


def _held_up(job: Job, closed: dict[str, limits.Closed]) -> Job:
    gate = closed.get(job.gate) if job.state == "queued" else None
    return job if gate is None else replace(job, state="waiting", run_after=gate.until, problem=gate.problem)


def _event(change: JobChange) -> JobEvent:
    job = change.job
    kind: EventKind = "progress" if job.state == "running" else job.state
    made, seconds = job.done - job.stage_from, (job.changed_at - job.stage_since) / 1000
    rate = made / seconds if job.state == "running" and made > 0 and seconds > 0 else None
    left = (job.total - job.done) / rate if rate and job.total >= job.done else None
    about = (change.document, change.knowledge_base, change.size)
    return JobEvent(job.change_number, kind, job, *about, rate, left, change.document_id)


def _since_last_seen(event: JobEvent, seen: dict[str, Job]) -> JobEvent:
    """The same event; of a running job, whether it was started, began a new stage or got further."""
    job, before = event.job, seen.pop(event.job.id, None)
    if job.finished_at is not None:
        return event
    seen[job.id] = job
    if job.state != "running":
        return event
    if before is None or before.state != "running" or before.fence != job.fence:
        return replace(event, kind="started")
    return replace(event, kind="stage") if before.stage != job.stage else event
