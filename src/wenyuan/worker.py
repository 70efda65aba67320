"""Takes jobs, does them, retries or buries them."""

from __future__ import annotations

import fcntl
import logging
import os
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wenyuan.errors import (
    AttemptsExhausted,
    DiskFull,
    JobCancelled,
    LeaseLost,
    LibraryLocked,
    LibraryReadOnly,
    ProviderUnavailable,
    StorageError,
    WenyuanError,
    WorkerStopping,
)
from wenyuan.flows.work import Work
from wenyuan.store import documents, indexes, queue
from wenyuan.store.database import Database, Writing
from wenyuan.types import JobKind, Lease, Problem

_LOG = logging.getLogger("wenyuan.worker")
_LONGEST_BACKOFF_SECONDS = 600.0
# A provider may ask for any delay; a person should still see the work go on some day.
_LONGEST_DELAY_SECONDS = 86_400.0


class WorkerName:
    """A worker's name, and a locked file that tells others on this machine whether it lives.

    The kernel lets go of the lock when the process ends, however it ends, so that the jobs of a
    killed worker are taken over at once instead of after their lease.
    """

    def __init__(self, directory: Path, name: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.name = name
        self._directory = directory
        self._file = _locked(directory / name)

    def is_dead(self, other: str) -> bool:
        """Whether another worker that locked its name here is gone; False when that cannot be known."""
        path = self._directory / other
        if other == self.name or not path.exists():
            return False
        file = _locked(path)
        if file is None:
            return False
        path.unlink(missing_ok=True)
        file.close()
        return True

    def close(self) -> None:
        (self._directory / self.name).unlink(missing_ok=True)
        if self._file is not None:
            self._file.close()


def _locked(path: Path) -> IO[bytes] | None:
    try:
        file = path.open("ab")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    lease_seconds: float
    stall_seconds: float
    poll_seconds: float
    max_attempts: int


class Worker:
    """Does jobs one after another; start several, in any number of processes, for more at once."""

    def __init__(
        self,
        database: Database,
        perform: Mapping[JobKind, Callable[[Work], None]],
        name: WorkerName,
        limits: WorkerLimits,
        randomness: random.Random,
    ) -> None:
        self._database = database
        self._perform = perform
        self._name = name
        self._limits = limits
        self._random = randomness
        self._stopping = threading.Event()
        self._heartbeat = _Heartbeat(database, limits)

    def stop(self) -> None:
        """Let go of the current job at its next batch, and take no other. Safe in a signal handler."""
        self._stopping.set()

    def drain(self, max_jobs: int | None = None) -> int:
        """Do what is there to do now, at most `max_jobs`, and return how many jobs were taken."""
        with self._heartbeat.beating():
            return self._drain(max_jobs)

    def run(self) -> None:
        """Work until `stop` is called. A full disk or a long lock is waited out."""
        with self._heartbeat.beating():
            while not self._stopping.is_set():
                try:
                    if self._drain(None) == 0:
                        self._stopping.wait(self._limits.poll_seconds)
                except StorageError as error:
                    _LOG.warning("%s %s", error.message, error.advice)
                    self._stopping.wait(self._limits.lease_seconds)

    def _drain(self, max_jobs: int | None) -> int:
        taken = 0
        while not self._stopping.is_set() and (max_jobs is None or taken < max_jobs):
            lease = self._next()
            if lease is None:
                break
            self._do(lease)
            taken += 1
        return taken

    def _next(self) -> Lease | None:
        self._bury_dead_workers()
        return queue.claim(self._database, self._name.name, self._lease_ms, tuple(self._perform))

    def _bury_dead_workers(self) -> None:
        with self._database.read() as tx:
            others = [worker for worker in queue.workers_at_work(tx) if self._name.is_dead(worker)]
        if others:
            with self._database.write(durable=False) as tx:
                for worker in others:
                    queue.expire_leases_of(tx, worker)

    @property
    def _lease_ms(self) -> int:
        return int(self._limits.lease_seconds * 1000)

    def _do(self, lease: Lease) -> None:
        work = Work(lease, self._lease_ms, self._stopping)
        try:
            if lease.job.attempts > self._limits.max_attempts:
                raise AttemptsExhausted(attempts=lease.job.attempts - 1)
            with self._heartbeat.keeping(work):
                self._perform[lease.job.kind](work)
        except LeaseLost:
            _LOG.info("job %s was taken over", lease.job.id)
        except WorkerStopping:
            self._settle(lambda tx: queue.release(tx, lease))
        except JobCancelled:
            self._settle(lambda tx: _cancel(tx, lease))
        except (ProviderUnavailable, DiskFull, LibraryLocked, LibraryReadOnly) as error:
            self._put_off(work, error)
        except WenyuanError as error:
            problem = error.problem(work.stage, lease.job.attempts)
            self._settle(lambda tx: _fail(tx, lease, problem))
        except Exception as error:  # noqa: BLE001
            # The one place that survives anything: a mistake in one job must not stop the others.
            _LOG.exception("job %s failed unexpectedly", lease.job.id)
            unexpected = WenyuanError(reason=f"{type(error).__name__}: {error}")
            problem = unexpected.problem(work.stage, lease.job.attempts)
            self._settle(lambda tx: _fail(tx, lease, problem))

    def _put_off(self, work: Work, error: WenyuanError) -> None:
        """Try again later, as long as it takes: the job is not to blame, and its work must not be lost."""
        lease = work.lease
        problem = error.problem(work.stage, lease.job.attempts)
        asked = error.retry_after if isinstance(error, ProviderUnavailable) else None

        def put_off(tx: Writing) -> None:
            waited = (tx.now - (lease.job.started_at or tx.now)) / 1000
            backoff = min(max(1.0, waited / 4), _LONGEST_BACKOFF_SECONDS) * self._random.uniform(0.5, 1.5)
            delay = min(backoff if asked is None else asked, _LONGEST_DELAY_SECONDS)
            queue.wait(tx, lease, problem, int(delay * 1000))

        self._settle(put_off)

    def _settle(self, write: Callable[[Writing], None]) -> None:
        try:
            with self._database.write(durable=False) as tx:
                write(tx)
        except LeaseLost:
            _LOG.info("a job was taken over while it was being put away")


class _Heartbeat:
    """One thread that renews the lease of the journey a worker is on, as long as it has not stalled."""

    def __init__(self, database: Database, limits: WorkerLimits) -> None:
        self._database = database
        self._limits = limits
        self._work: Work | None = None

    @contextmanager
    def beating(self) -> Iterator[None]:
        ended = threading.Event()
        thread = threading.Thread(target=self._beat, args=(ended,), name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    @contextmanager
    def keeping(self, work: Work) -> Iterator[None]:
        self._work = work
        try:
            yield
        finally:
            self._work = None

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(self._limits.lease_seconds / 3):
            work = self._work
            if work is None or work.quiet_seconds > self._limits.stall_seconds:
                continue
            try:
                with self._database.write(durable=False) as tx:
                    work.keep_alive(tx)
            except WenyuanError as error:
                # The journey meets the same error at its next write, and answers for it there.
                _LOG.debug("lease not renewed: %s", error.message)


def _cancel(tx: Writing, lease: Lease) -> None:
    job = lease.job
    if job.kind == "ingest":
        documents.set_state(tx, job.subject_id, "cancelled", job.stage)
    elif job.kind == "embed":
        indexes.set_problem(tx, job.subject_id, JobCancelled().problem(job.stage, job.attempts))
    queue.cancelled(tx, lease)


def _fail(tx: Writing, lease: Lease, problem: Problem) -> None:
    job = lease.job
    if job.kind == "ingest":
        documents.set_state(tx, job.subject_id, "failed", job.stage, problem)
    elif job.kind == "embed":
        indexes.set_problem(tx, job.subject_id, problem)
    queue.fail(tx, lease, problem)


def worker_name(serial: int) -> str:
    """A name no other worker of any process has at the same time."""
    return f"worker-{os.getpid()}-{serial}-{os.urandom(4).hex()}"
