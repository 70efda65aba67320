"""The workers that a library runs in this process, and the housekeeping they begin with."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import TypeVar

from wenyuan.config import Settings
from wenyuan.errors import StorageError, WenyuanError
from wenyuan.flows.archive.importing import abandon
from wenyuan.flows.attach import sweep
from wenyuan.flows.embed import Embedding, embed
from wenyuan.flows.erase import TRACES, enqueue_late_erasing, erase
from wenyuan.flows.generations import drop_expired, purge_rebuild
from wenyuan.flows.housekeeping import forget_old_work
from wenyuan.flows.ingest import Ingesting, ingest
from wenyuan.flows.pacing import Pacing
from wenyuan.flows.publish import publish
from wenyuan.flows.purge import enqueue_purges, forget_leftovers, purge
from wenyuan.flows.rebuild import Rebuilding, rebuild
from wenyuan.flows.receive import FILES_AT_ONCE, Received, Receiving
from wenyuan.flows.reread import reread
from wenyuan.flows.sweep import sweep_unused
from wenyuan.flows.unpack import unpack
from wenyuan.flows.work import Failure, Work
from wenyuan.identifiers import new_id
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.runtime.file_readers import reader_for
from wenyuan.runtime.knowledge_bases import KnowledgeBases
from wenyuan.runtime.models import Models
from wenyuan.runtime.remote_readers import remote_readers
from wenyuan.runtime.sources import Sources
from wenyuan.store import journal, migrate
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import LibraryDatabase
from wenyuan.types import Job, JobKind
from wenyuan.worker import Perform, Worker, WorkerLimits, WorkerName, names_directory, worker_name

Result = TypeVar("Result")

_LOG = logging.getLogger("wenyuan.workers")
_WATCH_SECONDS = 0.2
_OLD_SCHEMA_SECONDS = 7 * 24 * 3600
_DAY_MS = 86_400_000
_SERIAL = count(1)


@dataclass(frozen=True, slots=True)
class Workers:
    """Starts workers, and knows those that are at work, so that they can be stopped."""

    path: Path
    settings: Settings
    database: LibraryDatabase
    blobs: BlobDirectory
    models: Models
    knowledge_bases: KnowledgeBases
    sources: Sources
    principal: str
    program: str
    told: Callable[[Sequence[Job], int, Mapping[str, str]], None]
    """Is told of jobs that ended together: when they began, and the codes of what went wrong, by job."""
    running: list[Worker] = field(default_factory=list)

    def drain(self, max_jobs: int | None, watch: Callable[[], None] | None) -> int:
        """Do the work that is there, at most `max_jobs` jobs, and return how many were taken."""
        self.keep_up()
        # A bound on jobs is one worker's to keep.
        wanted = self.settings.worker.threads if max_jobs is None else 1
        with ExitStack() as stack:
            workers = [stack.enter_context(self._worker()) for _ in range(wanted)]
            with _at_work(workers, lambda worker: worker.drain(max_jobs)) as working:
                return sum(_watched(working, watch))

    def taken_in(
        self,
        arriving: Iterator[Received],
        on_received: Callable[[Received], None] | None,
        watch: Callable[[], None] | None,
        *,
        wait: bool,
    ) -> list[Received]:
        """All that arrives; with `wait` the work for it is done as well, while more of it comes.

        Of thousands of files nothing would be found for minutes else. `watch` is called when all have arrived.
        """
        received = []

        def take(arrived: Iterable[Received]) -> None:
            for one in arrived:
                received.append(one)
                if on_received is not None:
                    on_received(one)

        take(islice(arriving, FILES_AT_ONCE))
        with self._draining(watch) if wait else nullcontext():
            take(arriving)
        return received

    @contextmanager
    def _draining(self, watch: Callable[[], None] | None) -> Iterator[None]:
        """Do the work that is there and what comes while the context lasts; at its end, what is left."""
        self.keep_up()
        no_more = threading.Event()
        with ExitStack() as stack:
            workers = [stack.enter_context(self._worker()) for _ in range(self.settings.worker.threads)]
            with _at_work(workers, lambda worker: worker.drain_until(no_more)) as working:
                yield
                no_more.set()
                _watched(working, watch)

    def work(self, watch: Callable[[], None] | None) -> None:
        """Work, and follow the folders that are watched, until stopped."""
        self.keep_up()
        with ExitStack() as stack:
            stack.enter_context(self.sources.followed())
            workers = [stack.enter_context(self._worker()) for _ in range(self.settings.worker.threads)]
            with _at_work(workers, lambda worker: worker.run()) as working:
                _watched(working, watch)

    def stop(self) -> None:
        for worker in self.running:
            worker.stop()

    # --- Housekeeping ----------------------------------------------------------------------------

    def keep_up(self) -> None:
        """What is to be read again, and what has been kept long enough."""
        retention = self.settings.retention
        self._forget_old_traces()
        migrate.forget_copies(self.path, _OLD_SCHEMA_SECONDS)
        try:
            self.knowledge_bases.catch_up()
            enqueue_purges(self.database, new_id, self._superseded_ms)
            drop_expired(self.database, new_id, retention.retired_index_days * _DAY_MS)
            forget_leftovers(self.blobs)
            sweep_unused(self.database, self.blobs)
            enqueue_late_erasing(self.database, new_id, self.principal)
            forget_old_work(self.database, retention.job_days * _DAY_MS)
            sweep(self.database, new_id)
            self.sources.enqueue_due()
        except StorageError as error:
            # Housekeeping may wait; what was asked for meets the same error and answers for it.
            _LOG.info("some housekeeping was left to the next worker: %s", error.message)

    def _forget_old_traces(self) -> None:
        try:
            with self.database.traces.write(durable=False) as tx:
                journal.forget_traces(tx, tx.now - self.settings.retention.trace_days * _DAY_MS)
        except StorageError as error:
            # Housekeeping may wait; what was asked for meets the same error and answers for it.
            _LOG.info("old traces were not removed: %s", error.message)

    @property
    def _superseded_ms(self) -> int:
        return self.settings.retention.superseded_days * _DAY_MS

    # --- One worker ------------------------------------------------------------------------------

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        """A worker with its own reader and name, for as long as the context lasts."""
        settings = self.settings.worker
        name = WorkerName(
            names_directory(self.path, for_many_machines=self.database.is_for_many_machines), worker_name(next(_SERIAL))
        )
        limits = WorkerLimits(
            settings.lease_seconds, settings.stall_seconds, settings.poll_seconds, settings.max_attempts
        )
        try:
            with reader_for(self.settings) as reader:
                perform = self._performing(reader, name)
                bounds = self.models.bounds()
                worker = Worker(self.database, perform, name, limits, random.Random(), bounds, self.keep_up)
                self.running.append(worker)
                try:
                    yield worker
                finally:
                    self.running.remove(worker)
        finally:
            name.close()

    def _performing(self, reader: SandboxedReader, name: WorkerName) -> Mapping[JobKind, Perform]:
        """What is done for each kind of job."""
        replace_wait_ms = int(self.settings.worker.replace_wait_seconds * 1000)
        converter_for = remote_readers(self.settings)
        ingesting = Ingesting(self.database, self.blobs, reader, new_id, self.program, converter_for, replace_wait_ms)
        pacing = Pacing(self.database, name.name, new_id, random.Random())
        embedding = Embedding(
            self.database,
            lambda model: self.models.paced(model, pacing),
            self.models.model_of,
            self.models.call_seconds,
            new_id,
        )
        receiving = Receiving(self.database, self.blobs, self.settings.limits.file_bytes, new_id)
        rebuilding = Rebuilding(ingesting, embedding)
        performing: dict[JobKind, Perform] = {
            "ingest": lambda works: ingest(ingesting, works),
            "embed": lambda works: embed(embedding, works),
            "publish": _one_by_one(lambda work: publish(self.database, new_id, work)),
            "rebuild": _one_by_one(lambda work: rebuild(rebuilding, work)),
            "reread": _one_by_one(lambda work: reread(self.database, work)),
            "unpack": _one_by_one(lambda work: unpack(receiving, work)),
            "fetch": _one_by_one(self.sources.fetch),
            "purge": _one_by_one(self._purge),
            # Whoever imported is gone; an import cannot be continued by anyone else.
            "import": _one_by_one(lambda work: abandon(self.database, new_id, work)),
        }
        return {kind: _told(perform, self.told) for kind, perform in performing.items()}

    def _purge(self, work: Work) -> None:
        match work.lease.job.subject_kind:
            case "rebuild":
                purge_rebuild(self.database, new_id, work)
            case subject if subject == TRACES:
                erase(self.database, work)
            case _:
                purge(self.database, self.blobs, work, self._superseded_ms)


def _told(perform: Perform, tell: Callable[[Sequence[Job], int, Mapping[str, str]], None]) -> Perform:
    """The same, and somebody is told of it."""

    def performed(works: Sequence[Work]) -> Sequence[Failure]:
        jobs, began = [work.lease.job for work in works], time.time_ns()
        outcomes: dict[str, str] = {}
        try:
            failures = perform(works)
            outcomes = {work.lease.job.id: error.code for work, error in failures}
        except Exception as error:
            code = error.code if isinstance(error, WenyuanError) else type(error).__name__
            outcomes = dict.fromkeys((job.id for job in jobs), code)
            raise
        finally:
            tell(jobs, began, outcomes)
        return failures

    return performed


def _one_by_one(do: Callable[[Work], object]) -> Perform:
    def perform(works: Sequence[Work]) -> list[Failure]:
        for work in works:
            do(work)
        return []

    return perform


@contextmanager
def _at_work(workers: Sequence[Worker], run: Callable[[Worker], Result]) -> Iterator[list[Future[Result]]]:
    """Run workers in threads of their own, so that Ctrl-C reaches this one; at the end they stop cleanly."""
    executor = ThreadPoolExecutor(max_workers=len(workers), thread_name_prefix="worker")
    working: list[Future[Result]] = []
    try:
        working += (executor.submit(run, worker) for worker in workers)
        yield working
    finally:
        for worker in workers:
            worker.stop()
        wait_for(working)
        executor.shutdown()


def _watched(working: Sequence[Future[Result]], watch: Callable[[], None] | None) -> list[Result]:
    """Wait for what workers return."""
    # Not Thread.join: interrupted while it waits, it takes a thread for ended that is still at work.
    while wait_for(working, timeout=_WATCH_SECONDS).not_done:
        if watch is not None:
            watch()
    if watch is not None:
        watch()
    return [one.result() for one in working]
