"""A library, opened: the only thing a door may use."""

from __future__ import annotations

import datetime
import logging
import os
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from wenyuan.config import FILE_NAME, Settings, load_settings
from wenyuan.errors import InvalidValue, LibraryNotFound, LibraryReadOnly, NotALibrary, StorageError
from wenyuan.flows.answer import answer
from wenyuan.flows.embed import Embedding, embed
from wenyuan.flows.gather import Gathering, gather
from wenyuan.flows.given import TextToAdd as TextToAdd
from wenyuan.flows.given import checked_given
from wenyuan.flows.ingest import Failure, Ingesting, ingest
from wenyuan.flows.preview import Preview, preview
from wenyuan.flows.purge import enqueue_purges, forget_leftovers, purge
from wenyuan.flows.receive import Received, Receiving, receive, receive_text, receive_texts
from wenyuan.flows.reread import reread
from wenyuan.flows.retrieve import Retrieving, SearchOptions, retrieve
from wenyuan.flows.work import Work
from wenyuan.identifiers import new_id
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.rules.filters import read_filters
from wenyuan.runtime.documents import Documents
from wenyuan.runtime.evaluation import Evaluation
from wenyuan.runtime.jobs import Jobs, Progress
from wenyuan.runtime.knowledge_bases import KnowledgeBases
from wenyuan.runtime.models import Models
from wenyuan.runtime.upkeep import Finding, check, doctor
from wenyuan.store import journal, migrate
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.sqlite import SqliteDatabase
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import (
    LOCAL_PRINCIPAL,
    Answer,
    ArmName,
    ChunkingConfig,
    JobKind,
    JsonObject,
    Scope,
    SearchResult,
)
from wenyuan.worker import Perform, Worker, WorkerLimits, WorkerName, worker_name

Result = TypeVar("Result")

_LOG = logging.getLogger("wenyuan.library")
_WATCH_SECONDS = 0.2
_SERIAL = count(1)
_ALL_ARMS: tuple[ArmName, ...] = ("structured", "keyword", "vector")


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of every file that was meant, and how many were passed over for which reason."""

    received: tuple[Received, ...]
    passed_over: Mapping[str, int]


def open_library(
    path: str | os.PathLike[str],
    *,
    create: bool = True,
    environment: Mapping[str, str] | None = None,
    today: Callable[[], datetime.date] = datetime.date.today,
) -> Library:
    """Open the library in a folder, making it (and its default knowledge base) where there is none.

    Migrates an older database by itself. Raises `LibraryNotFound` (with `create=False`),
    `NotALibrary` for a folder that holds something else, `LibraryNewer`, `LibraryReadOnly`,
    `LibraryDamaged` or `ConfigurationInvalid`.
    """
    folder = Path(path).expanduser().absolute()
    database_file = folder / "wenyuan.db"
    if not database_file.exists():
        if not create:
            raise LibraryNotFound(path=folder)
        _make_folder(folder)
    settings = load_settings(folder, os.environ if environment is None else environment)
    database = migrate.open_database(folder, settings.worker.lock_seconds)
    try:
        library = Library(folder, settings, database, today)
        library.knowledge_bases.ensure_default()
    except BaseException:
        database.close()
        raise
    return library


class Library:
    """Knowledge bases, their documents, and the questions asked of them; threads may share it."""

    def __init__(
        self, path: Path, settings: Settings, database: SqliteDatabase, today: Callable[[], datetime.date]
    ) -> None:
        self.path = path
        self.settings = settings
        self._database = database
        self._blobs = BlobDirectory(path / "blobs")
        self._blobs.create()
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="recall")
        self._workers: list[Worker] = []
        self.models = Models(settings)
        self.knowledge_bases = KnowledgeBases(database, settings, LOCAL_PRINCIPAL)
        self.documents = Documents(database, self._blobs, LOCAL_PRINCIPAL)
        self.jobs = Jobs(database, LOCAL_PRINCIPAL)
        self._retrieving = Retrieving(
            database=database,
            vectors=VectorCache(),
            embedder_for=self.models.embedder,
            threads=self._threads,
            today=today,
            clock=time.perf_counter,
            new_id=new_id,
            embed_seconds=settings.search.embed_seconds,
        )

        self.evaluation = Evaluation(
            database,
            LOCAL_PRINCIPAL,
            _program(),
            self.knowledge_bases,
            self.documents,
            self.search,
            self.trace,
            self.add_texts,
            self.drain,
        )

    # --- Taking in -------------------------------------------------------------------------------

    def add(
        self,
        *paths: str | os.PathLike[str],
        kb: str | None = None,
        exclude: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
        watch: Callable[[Progress], None] | None = None,
        on_received: Callable[[Received], None] | None = None,
    ) -> AddReport:
        """Add files and folders to a knowledge base, the default one if none is named.

        Everything is stored with its job first; then, with `wait`, the jobs are done here, calling
        `watch` now and then. Interrupted, it leaves work that the next worker takes up. A file at
        fault is reported, the rest goes on. `metadata` holds for every file and goes before what is
        read in it; without any, what was given earlier stays. Raises `PathNotFound`,
        `KnowledgeBaseNotFound`, `KnowledgeBaseArchived`, `InvalidValue` or `StorageError`.
        """
        given = checked_given("", metadata) if metadata is not None else None
        knowledge_base = self.knowledge_bases.find(kb)
        gathering = Gathering()
        files = gather([Path(path) for path in paths], exclude, self.path, gathering)
        received = []
        for one in receive(self._receiving(), knowledge_base, files, given):
            received.append(one)
            if on_received is not None:
                on_received(one)
        if wait:
            self.drain(watch=watch)
        return AddReport(tuple(received), {k: n for k, n in gathering.passed_over.items() if n})

    def add_text(
        self,
        text: str,
        name: str,
        *,
        kb: str | None = None,
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Received:
        """Add a text under a name of your own; the same name again replaces it.

        Raises `InvalidValue` for a name, title or metadata that cannot be stored, and `FileTooLarge`.
        """
        knowledge_base = self.knowledge_bases.find(kb)
        received = receive_text(self._receiving(), knowledge_base, TextToAdd(text, name, title, metadata or {}))
        if wait:
            self.drain()
        return received

    def add_texts(self, items: Iterable[TextToAdd], *, kb: str | None = None, wait: bool = True) -> AddReport:
        """Add many texts, a group per transaction; one that cannot be stored is reported, the rest goes on."""
        received = tuple(receive_texts(self._receiving(), self.knowledge_bases.find(kb), items))
        if wait:
            self.drain()
        return AddReport(received, {})

    def preview(self, path: str | os.PathLike[str], chunking: ChunkingConfig | None = None) -> Preview:
        """Show how a file would be read and cut, by the very code that would do it; writes nothing."""
        default = self.settings.defaults
        config = chunking or ChunkingConfig(default.chunk_columns, default.chunk_overlap_columns)
        with SandboxedReader(self.settings.limits) as reader:
            return preview(reader, Path(path).expanduser().absolute(), config)

    # --- Asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        arms: Sequence[ArmName] = _ALL_ARMS,
    ) -> SearchResult:
        """Find the passages that answer a question, best first, in one, several or all knowledge bases.

        `filters` names fields of documents and what they must be, as in
        `{"author": ["Wang", "Li"], "year": {"from": 2020}, "path": {"prefix": "/notes/"}}`. Whatever
        fails on the way is named in `degraded`; an empty result says why. Raises `EmptyQuestion`,
        `KnowledgeBaseNotFound`, `DocumentNotFound`, `InvalidFilter` or `InvalidValue`.
        """
        options = SearchOptions(self.settings.search.top_k if top_k is None else top_k, frozenset(arms))
        return retrieve(self._retrieving, question, self._scope(kb, documents, filters), options)

    def ask(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Answer a question with sentences from the documents, verbatim, each with its citation.

        What is looked into, and what is raised, is as in `search`.
        """
        options = SearchOptions(self.settings.search.top_k)
        return answer(self._retrieving, question, self._scope(kb, documents, filters), options)

    def trace(self, trace_id: str) -> JsonObject:
        """What happened to one question: every stage, list and decision. Raises `TraceNotFound`."""
        with self._database.traces.read() as tx:
            return journal.trace(tx, LOCAL_PRINCIPAL, trace_id)

    def traces(self, limit: int = 20) -> list[JsonObject]:
        with self._database.traces.read() as tx:
            return journal.recent_traces(tx, LOCAL_PRINCIPAL, limit)

    # --- Working ---------------------------------------------------------------------------------

    def drain(self, max_jobs: int | None = None, watch: Callable[[Progress], None] | None = None) -> int:
        """Do the work that is there, at most `max_jobs` jobs, and return how many were taken.

        On Ctrl-C the current job is let go at its next batch, for the next worker to continue. Raises
        `InvalidValue` for a bound below one.
        """
        if max_jobs is not None and max_jobs < 1:
            raise InvalidValue(what="The number of jobs", value=max_jobs, reason="it must be at least 1")
        self._keep_up()
        # A bound on jobs is one worker's to keep.
        count = self.settings.worker.threads if max_jobs is None else 1
        with ExitStack() as running:
            workers = [running.enter_context(self._worker()) for _ in range(count)]
            return sum(_watched(workers, lambda worker: worker.drain(max_jobs), self._watcher(watch)))

    def work(self, watch: Callable[[Progress], None] | None = None) -> None:
        """Work until `stop_working` or Ctrl-C."""
        self._keep_up()
        with ExitStack() as running:
            workers = [running.enter_context(self._worker()) for _ in range(self.settings.worker.threads)]
            _watched(workers, lambda worker: worker.run(), self._watcher(watch))

    def stop_working(self) -> None:
        """Ask every worker of this library in this process to stop; safe in a signal handler."""
        for worker in self._workers:
            worker.stop()

    # --- Upkeep ----------------------------------------------------------------------------------

    def check(self) -> list[Finding]:
        """Verify every invariant of the library; an empty list means that all hold."""
        return check(self._database, self._blobs)

    def doctor(self) -> list[Finding]:
        """Explain the environment: versions, folders, settings, models, and what is wrong with them."""
        return doctor(self.path, self.settings, self._database, self.models)

    def close(self) -> None:
        self.stop_working()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._database.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _scope(
        self, kb: str | Sequence[str] | None, documents: Sequence[str] | None, filters: Mapping[str, Any] | None
    ) -> Scope:
        names = (kb,) if isinstance(kb, str) else tuple(kb) if kb is not None else None
        ids = tuple(self.documents.find(name).document.id for name in documents) if documents is not None else None
        return Scope(LOCAL_PRINCIPAL, names, ids, conditions=read_filters(filters or {}))

    def _receiving(self) -> Receiving:
        return Receiving(self._database, self._blobs, self.settings.limits.file_bytes, new_id)

    def _watcher(self, watch: Callable[[Progress], None] | None) -> Callable[[], None] | None:
        return None if watch is None else lambda: watch(self.jobs.progress())

    def _keep_up(self) -> None:
        """What a worker begins with: what is to be read again, and what has been kept long enough."""
        self._forget_old_traces()
        try:
            self.knowledge_bases.catch_up()
            enqueue_purges(self._database, new_id, self._superseded_ms)
            forget_leftovers(self._blobs)
        except StorageError as error:
            # Housekeeping may wait; what was asked for meets the same error and answers for it.
            _LOG.info("some housekeeping was left to the next worker: %s", error.message)

    @property
    def _superseded_ms(self) -> int:
        return self.settings.retention.superseded_days * 86_400_000

    def _forget_old_traces(self) -> None:
        kept_ms = self.settings.retention.trace_days * 86_400_000
        try:
            with self._database.traces.write(durable=False) as tx:
                journal.forget_traces(tx, tx.now - kept_ms)
        except StorageError as error:
            # Housekeeping may wait; what was asked for meets the same error and answers for it.
            _LOG.info("old traces were not removed: %s", error.message)

    def _worker(self) -> _RunningWorker:
        return _RunningWorker(self)


class _RunningWorker:
    """A worker with its own reader and name, for as long as the context lasts."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def __enter__(self) -> Worker:
        library, settings = self._library, self._library.settings
        self._reader = SandboxedReader(settings.limits)
        self._name = WorkerName(library.path / "workers", worker_name(next(_SERIAL)))
        ingesting = Ingesting(library._database, library._blobs, self._reader, new_id, _program())
        embedding = Embedding(library._database, library.models.embedder, library.models.call_seconds, new_id)

        def do_ingest(works: Sequence[Work]) -> list[Failure]:
            return ingest(ingesting, works)

        def do_embed(works: Sequence[Work]) -> list[Failure]:
            for work in works:
                embed(embedding, work)
            return []

        def do_purge(works: Sequence[Work]) -> list[Failure]:
            for work in works:
                purge(library._database, library._blobs, work, library._superseded_ms)
            return []

        def do_reread(works: Sequence[Work]) -> list[Failure]:
            for work in works:
                reread(library._database, work)
            return []

        perform: dict[JobKind, Perform] = {
            "ingest": do_ingest,
            "reread": do_reread,
            "embed": do_embed,
            "purge": do_purge,
        }
        limits = WorkerLimits(
            settings.worker.lease_seconds,
            settings.worker.stall_seconds,
            settings.worker.poll_seconds,
            settings.worker.max_attempts,
        )
        self._worker = Worker(library._database, perform, self._name, limits, random.Random())
        library._workers.append(self._worker)
        return self._worker

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._library._workers.remove(self._worker)
        self._reader.close()
        self._name.close()


def _program() -> str:
    return f"wenyuan {metadata.version('wenyuan')}"


def _watched(
    workers: Sequence[Worker], run: Callable[[Worker], Result], watch: Callable[[], None] | None
) -> list[Result]:
    """Run workers in threads of their own, so that Ctrl-C reaches this one and stops them cleanly."""
    executor = ThreadPoolExecutor(max_workers=len(workers), thread_name_prefix="worker")
    # Not Thread.join: interrupted while it waits, it takes a thread for ended that is still at work.
    working = [executor.submit(run, worker) for worker in workers]
    try:
        while wait_for(working, timeout=_WATCH_SECONDS).not_done:
            if watch is not None:
                watch()
        if watch is not None:
            watch()
    finally:
        for worker in workers:
            worker.stop()
        wait_for(working)
        executor.shutdown()
    return [one.result() for one in working]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {item.name for item in folder.iterdir()}
        # A database that has appeared meanwhile is another process opening the same new library.
        if "wenyuan.db" not in names and names - {FILE_NAME}:
            raise NotALibrary(path=folder, reason="the folder holds other files")
    except (FileExistsError, NotADirectoryError) as error:
        raise NotALibrary(path=folder, reason="it is a file") from error
    except OSError as error:
        raise LibraryReadOnly(path=folder, reason=error.strerror or str(error)) from error
