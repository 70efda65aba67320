"""A worker's hold on one job, as a journey sees it."""

from __future__ import annotations

import threading
import time

from wenyuan.errors import DatabaseUnreachable, WenyuanError, WorkerStopping
from wenyuan.store import queue
from wenyuan.store.database import Writing
from wenyuan.types import Lease


class Work:
    """One claimed job. `hold` must be the first statement of every write made for it.

    `stage` is what is being done; `quiet_seconds` tells how long the journey has not shown a sign of life.
    """

    def __init__(self, lease: Lease, lease_ms: int, stopping: threading.Event) -> None:
        self.lease = lease
        self.stage = lease.job.stage
        self._lease_ms = lease_ms
        self._stopping = stopping
        self._touched = time.monotonic()

    def hold(self, tx: Writing) -> None:
        """Renew the lease; raises `LeaseLost`, `JobCancelled` or `WorkerStopping`.

        Raises `DatabaseUnreachable` where what the job has saved so far may be undone: it begins again from what is.
        """
        self.pause_if_asked()
        if tx.continuity != self.lease.continuity:
            raise DatabaseUnreachable(path="of this library", reason="it was lost for a moment, and the latest with it")
        queue.hold(tx, self.lease, self._lease_ms)
        self._touched = time.monotonic()

    def progress(self, tx: Writing, stage: str, done: int, total: int) -> None:
        self.stage = stage
        queue.progress(tx, self.lease, stage, done, total)

    def pause_if_asked(self) -> None:
        if self._stopping.is_set():
            raise WorkerStopping()

    def touch(self) -> None:
        """Show a sign of life where nothing is written."""
        self._touched = time.monotonic()

    def keep_alive(self, tx: Writing) -> None:
        """Renew the lease for a journey that is busy elsewhere; not a sign of life."""
        queue.hold(tx, self.lease, self._lease_ms)

    @property
    def quiet_seconds(self) -> float:
        return time.monotonic() - self._touched


Failure = tuple[Work, WenyuanError]
"""A job that came to nothing by itself, and why; the others of its group went on."""
