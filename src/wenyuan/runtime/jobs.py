"""Jobs, as a door sees them."""

from __future__ import annotations

import builtins
import time
from dataclasses import dataclass

from wenyuan.flows.remove import cancel_revision
from wenyuan.store import indexes, queue
from wenyuan.store.database import Database
from wenyuan.types import Job

_TOTALS_SECONDS = 1.0


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


class Jobs:
    def __init__(self, database: Database, principal: str) -> None:
        self._database = database
        self._principal = principal
        self._totals = (0, 0)
        self._totals_until = 0.0

    def list(self, *, only_live: bool = False, limit: int = 100) -> builtins.list[Job]:
        with self._database.read() as tx:
            return queue.listed(tx, self._principal, only_live=only_live, limit=limit)

    def show(self, job_id: str) -> Job:
        """One job. Raises `JobNotFound`."""
        with self._database.read() as tx:
            return queue.find(tx, self._principal, job_id)

    def cancel(self, job_id: str) -> Job:
        """Cancel a job: at once where it waits, within one batch where it runs. Raises `JobNotFound`."""
        with self._database.write() as tx:
            job = queue.find(tx, self._principal, job_id)
            if job.kind == "ingest" and job.finished_at is None:
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
            waiting=tuple(job for job in begun if job.state == "waiting"),
            chunks_embedded=self._totals[0],
            chunks_total=self._totals[1],
        )
