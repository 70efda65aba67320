"""Takes jobs, does them, retries or buries them."""

from __future__ import annotations

import fcntl
import logging
import os
import platform
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import IO

from wenyuan.errors import (
    AttemptsExhausted,
    DatabaseUnreachable,
    DiskFull,
    FilesUnreachable,
    JobCancelled,
    LeaseLost,
    LibraryLocked,
    LibraryNewer,
    LibraryReadOnly,
    ProviderTimeout,
    ProviderUnavailable,
    StorageError,
    WenyuanError,
    WorkerStopping,
)
from wenyuan.flows import generations
from wenyuan.flows.publish import cancel_vectors, give_up_vectors
from wenyuan.flows.work import Work
from wenyuan.identifiers import new_id
from wenyuan.store import documents, queue
from wenyuan.store.database import Database, Writing
from wenyuan.types import Job, JobKind, Lease, Problem

_LOG = logging.getLogger("wenyuan.worker")
_LONGEST_BACKOFF_SECONDS = 600.0
# A provider may ask for any delay; a person should still see the work go on some day.
_LONGEST_DELAY_SECONDS = 86_400.0
_LOOK_FOR_DEAD_SECONDS = 1.0
_GLANCE_SECONDS = 0.05
# A worker that is to end when nothing is left to do waits so long for what a model asked to put off,
# and so long for what failed and is tried again.
_ASKED_PATIENCE_MS = 60_000
_FAILED_PATIENCE_MS = 3_000


_NOBODYS_FAULT = (
    WorkerStopping,
    ProviderUnavailable,
    DatabaseUnreachable,
    DiskFull,
    FilesUnreachable,
    LibraryLocked,
    LibraryReadOnly,
)
"""What keeps a worker from its jobs without any of them being to blame."""


def names_directory(library: Path, *, for_many_machines: bool) -> Path:
    """Where workers lock their names: beside each other only on one machine, as locks may not reach others."""
    names = library / "workers"
    return names / platform.node() if for_many_machines else names


class WorkerName:
    """A worker's name, and a locked file that tells others on this machine whether it lives.

    The kernel lets go of the lock when the process ends, however it ends, so that the jobs of a
    killed worker are taken over at once instead of after their lease.
    """

    def __init__(self, directory: Path, name: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.has_jobs = False
        """Whether it may hold jobs that it could not hand back, so that others are to find it dead."""
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

    def others(self) -> set[str]:
        """Every worker that locked its name here and has not said farewell."""
        return {path.name for path in self._directory.iterdir()} - {self.name}

    def close(self) -> None:
        if not self.has_jobs:
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
    keep_up_seconds: float = 3600.0
    """How often housekeeping is done between jobs."""


Perform = Callable[[Sequence[Work]], Sequence[tuple[Work, WenyuanError]]]
"""Does jobs of one kind that were taken together; returns those that failed by themselves, and why."""

_JOBS_TOGETHER = 32
_WEIGHT_TOGETHER = 1 << 20


class Worker:
    """Does jobs one after another; start several, in any number of processes, for more at once."""

    def __init__(
        self,
        database: Database,
        perform: Mapping[JobKind, Perform],
        name: WorkerName,
        limits: WorkerLimits,
        randomness: random.Random,
        bounds: Mapping[str, int] = MappingProxyType({}),
        keep_up: Callable[[], None] = lambda: None,
    ) -> None:
        """`bounds` is how many jobs may be done at once by the model they need; `keep_up` is housekeeping."""
        self._database = database
        self._perform = perform
        self._name = name
        self._limits = limits
        self._random = randomness
        self._bounds = bounds
        self._keep_up = keep_up
        self._stopping = threading.Event()
        self._heartbeat = _Heartbeat(database, limits)
        self._is_busy = False
        self._looked_for_dead = -1.0
        self._kept_up = time.monotonic()

    def stop(self) -> None:
        """Let go of the current job at its next batch, and take no other. Safe in a signal handler."""
        self._stopping.set()

    def drain(self, max_jobs: int | None = None) -> int:
        """Do what is there to do now, at most `max_jobs`, and return how many jobs were taken."""
        with self._heartbeat.beating():
            return self._drain(max_jobs)

    def drain_until(self, no_more: threading.Event) -> None:
        """Do what is there to do now, and what comes until `no_more` is set."""
        with self._heartbeat.beating(), self._database.commits() as commits:
            while not self._stopping.is_set():
                is_last, seen = no_more.is_set(), commits()
                self._drain(None)
                if is_last:
                    break
                self._wait_for_a_commit(commits, seen, no_more)

    def run(self) -> None:
        """Work until `stop` is called, keeping house now and then. A full disk or a long lock is waited out.

        Raises `LibraryNewer` where another program has changed the library so that this one cannot work in it.
        """
        with self._heartbeat.beating(), self._database.commits() as commits:
            while not self._stopping.is_set():
                try:
                    seen = commits()
                    if self._drain(None) == 0:
                        self._keep_house()
                        self._wait_for_a_commit(commits, seen)
                except LibraryNewer:
                    raise
                except StorageError as error:
                    _LOG.warning("%s %s", error.message, error.advice)
                    self._stopping.wait(self._limits.lease_seconds)

    def _wait_for_a_commit(self, commits: Callable[[], int], seen: int, no_more: threading.Event | None = None) -> None:
        """Wait until there may be something new to do, or `no_more` is, at most until it is time to look anyhow."""
        look_at = time.monotonic() + self._limits.poll_seconds
        while (left := look_at - time.monotonic()) > 0 and commits() == seen:
            if no_more is not None and no_more.is_set():
                return
            if self._stopping.wait(min(left, _GLANCE_SECONDS)):
                return

    def _drain(self, max_jobs: int | None) -> int:
        taken = 0
        seen: set[str] = set()
        while not self._stopping.is_set() and (max_jobs is None or taken < max_jobs):
            leases = self._next(_JOBS_TOGETHER if max_jobs is None else min(_JOBS_TOGETHER, max_jobs - taken))
            if leases:
                self._name.has_jobs = True
                self._do([Work(lease, self._lease_ms, self._stopping) for lease in leases])
                self._name.has_jobs = False
                taken += len(leases)
                # One that was put off and went on is one job.
                seen.update(lease.job.id for lease in leases)
            elif not self._wait_for_what_is_put_off():
                break
        return len(seen)

    def _next(self, most: int) -> list[Lease]:
        if self._is_busy and time.monotonic() - self._looked_for_dead < _LOOK_FOR_DEAD_SECONDS:
            leases = self._claim(most)
            if leases:
                return leases
        self._bury_dead_workers()
        return self._claim(most)

    def _claim(self, most: int) -> list[Lease]:
        leases = queue.claim(
            self._database,
            self._name.name,
            self._lease_ms,
            tuple(self._perform),
            most,
            _WEIGHT_TOGETHER,
            self._bounds,
            look_first=not self._is_busy,
        )
        self._is_busy = bool(leases)
        return leases

    def _wait_for_what_is_put_off(self) -> bool:
        """Wait a little for a job that may be done soon; False if there is none."""
        with self._database.read() as tx:
            opens = queue.opens_at(tx)
            now = tx.now
        if opens is None:
            return False
        at, is_asked = opens
        if at - now > (_ASKED_PATIENCE_MS if is_asked else _FAILED_PATIENCE_MS):
            return False
        self._stopping.wait(min(max(0.001, (at - now) / 1000), self._limits.poll_seconds))
        return True

    def _keep_house(self) -> None:
        if time.monotonic() - self._kept_up >= self._limits.keep_up_seconds:
            self._kept_up = time.monotonic()
            self._keep_up()

    def _bury_dead_workers(self) -> None:
        names = self._name.others() if self._looked_for_dead < 0 else set()
        self._looked_for_dead = time.monotonic()
        with self._database.read() as tx:
            names |= set(queue.workers_at_work(tx))
        dead = sorted(name for name in names if self._name.is_dead(name))
        if dead:
            with self._database.write(durable=False) as tx:
                for worker in dead:
                    queue.expire_leases_of(tx, worker)

    @property
    def _lease_ms(self) -> int:
        return int(self._limits.lease_seconds * 1000)

    def _do(self, works: Sequence[Work]) -> None:
        """Do jobs that were taken together; one by one where together they fail in a way nobody foresaw."""
        job = works[0].lease.job
        try:
            if job.attempts > self._limits.max_attempts:
                raise AttemptsExhausted(attempts=job.attempts - 1)
            with self._heartbeat.keeping(works):
                failures = self._perform[job.kind](works)
        except _NOBODYS_FAULT as error:
            failures = [(work, error) for work in works]
        except LibraryNewer:
            # The jobs are for a newer program, which gets them when their lease ends, if they cannot be handed back.
            self._hand_back(works)
            raise
        except Exception as error:  # noqa: BLE001
            # The one place that survives anything: a mistake in one job must not stop the others.
            if len(works) > 1:
                _LOG.info("%d jobs failed together and are done one by one: %s", len(works), error)
                for work in works:
                    self._do([work])
                return
            failures = [(works[0], _named(error, job))]
        for work, failure in failures:
            self._put_away(work, failure)

    def _put_away(self, work: Work, error: WenyuanError) -> None:
        """Record why a job is not done. For one that is, or is another worker's now, nothing happens."""
        lease = work.lease
        match error:
            case LeaseLost():
                _LOG.info("job %s was taken over", lease.job.id)
            case WorkerStopping():
                self._settle(lambda tx: queue.release(tx, lease))
            case JobCancelled():
                self._settle(lambda tx: _cancel(tx, lease))
            case _ if isinstance(error, _NOBODYS_FAULT):
                self._put_off(work, error)
            case _:
                problem = error.problem(work.stage, lease.job.attempts)
                self._settle(lambda tx: _fail(tx, lease, problem))

    def _hand_back(self, works: Sequence[Work]) -> None:
        try:
            for work in works:
                self._settle(partial(queue.release, lease=work.lease))
        except WenyuanError as error:
            _LOG.info("jobs could not be handed back: %s", error.message)

    def _put_off(self, work: Work, error: WenyuanError) -> None:
        """Try again later, as long as it takes: the job is not to blame, and its work must not be lost."""
        lease = work.lease
        problem = error.problem(work.stage, lease.job.attempts)
        asked = error.retry_after if isinstance(error, ProviderUnavailable) else None
        gate = error.gate if isinstance(error, ProviderUnavailable) else None

        def put_off(tx: Writing) -> None:
            stuck = queue.stuck_ms(tx, lease) / 1000
            delay = min(max(1.0, stuck / 4), _LONGEST_BACKOFF_SECONDS) * self._random.uniform(0.5, 1.5)
            if asked is not None:
                # What is too much for a model must not keep a worker busy for as long as the model serves others.
                delay = max(asked, delay) if isinstance(error, ProviderTimeout) else asked
            queue.wait(tx, lease, problem, int(min(delay, _LONGEST_DELAY_SECONDS) * 1000), gate)

        self._settle(put_off)

    def _settle(self, write: Callable[[Writing], None]) -> None:
        try:
            with self._database.write(durable=False) as tx:
                write(tx)
        except LeaseLost:
            _LOG.info("a job was done, or taken over, before it was put away")


class _Heartbeat:
    """One thread that renews the leases of what a worker is doing, as long as that has not stalled."""

    def __init__(self, database: Database, limits: WorkerLimits) -> None:
        self._database = database
        self._limits = limits
        self._works: Sequence[Work] = ()

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
    def keeping(self, works: Sequence[Work]) -> Iterator[None]:
        self._works = works
        try:
            yield
        finally:
            self._works = ()

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(self._limits.lease_seconds / 3):
            works = self._works
            if min((work.quiet_seconds for work in works), default=0.0) > self._limits.stall_seconds:
                continue
            for work in works:
                self._keep(work)

    def _keep(self, work: Work) -> None:
        try:
            with self._database.write(durable=False) as tx:
                work.keep_alive(tx)
        except WenyuanError as error:
            # The journey meets the same error at its next write, and answers for it there.
            _LOG.debug("lease not renewed: %s", error.message)


def _named(error: Exception, job: Job) -> WenyuanError:
    if isinstance(error, WenyuanError):
        return error
    _LOG.error("job %s failed unexpectedly", job.id, exc_info=error)
    return WenyuanError(reason=f"{type(error).__name__}: {error}")


def _cancel(tx: Writing, lease: Lease) -> None:
    job = lease.job
    if job.kind == "ingest":
        documents.set_state(tx, job.subject_id, "cancelled", job.stage)
    elif job.kind == "embed":
        cancel_vectors(tx, job.subject_id, JobCancelled().problem(job.stage, job.attempts))
    elif job.kind == "rebuild":
        generations.stop(tx, new_id, job.subject_id)
    queue.cancelled(tx, lease)


def _fail(tx: Writing, lease: Lease, problem: Problem) -> None:
    job = lease.job
    if job.kind == "ingest":
        documents.set_state(tx, job.subject_id, "failed", job.stage, problem)
    elif job.kind == "embed":
        give_up_vectors(tx, new_id, job.subject_id, problem)
    elif job.kind == "rebuild":
        generations.fail(tx, job.subject_id, problem)
    queue.fail(tx, lease, problem)


def worker_name(serial: int) -> str:
    """A name no other worker of any process has at the same time."""
    return f"worker-{os.getpid()}-{serial}-{os.urandom(4).hex()}"
