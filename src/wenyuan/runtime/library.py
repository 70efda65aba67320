"""A library, opened: the only thing a door may use."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from wenyuan.config import Settings
from wenyuan.errors import InvalidValue
from wenyuan.flows.backup import Copying
from wenyuan.flows.conversation.steps import Prefer, Step
from wenyuan.flows.gather import Gathering, gather
from wenyuan.flows.given import TextToAdd as TextToAdd
from wenyuan.flows.given import checked_given
from wenyuan.flows.preview import Converting, Preview, preview
from wenyuan.flows.receive import Received, Receiving, receive, receive_text, receive_texts
from wenyuan.flows.retrieve import Retrieving, SearchOptions, retrieve
from wenyuan.identifiers import new_id
from wenyuan.rules.filters import read_filters
from wenyuan.runtime.access import AccessKeys, Caller, Grants
from wenyuan.runtime.backup_folder import BackupFolder, folder_of_backups
from wenyuan.runtime.backups import BackupReport, backup
from wenyuan.runtime.chunk_previews import ChunkPreviews
from wenyuan.runtime.conversations import Conversations, Where
from wenyuan.runtime.doctor import doctor, told_of_replica
from wenyuan.runtime.document_contents import DocumentContents
from wenyuan.runtime.documents import Documents
from wenyuan.runtime.evaluation import Evaluation
from wenyuan.runtime.evaluation_sets import EvaluationSets
from wenyuan.runtime.file_readers import IDLE, reader_for
from wenyuan.runtime.jobs import Jobs, Progress
from wenyuan.runtime.knowledge_bases import KnowledgeBases
from wenyuan.runtime.model_registry import ModelRegistry
from wenyuan.runtime.models import Models
from wenyuan.runtime.overview import Overview
from wenyuan.runtime.rebuilds import Rebuilds
from wenyuan.runtime.remote_readers import reads_pictures, remote_readers
from wenyuan.runtime.repeats import Repeats
from wenyuan.runtime.sessions import Sessions
from wenyuan.runtime.sign_ins import SignIns
from wenyuan.runtime.sources import Sources
from wenyuan.runtime.telemetry import SILENT, configured_telemetry
from wenyuan.runtime.transfer import Transfers
from wenyuan.runtime.turns import Turns
from wenyuan.runtime.upkeep import Finding, Repaired, check, repair
from wenyuan.runtime.workers import Workers
from wenyuan.store import journal
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.replica import ReplicaFirst
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import (
    LOCAL_PRINCIPAL,
    Answer,
    ArmName,
    ChunkingConfig,
    JsonObject,
    Message,
    Scope,
    SearchResult,
)

_ALL_ARMS: tuple[ArmName, ...] = ("structured", "keyword", "vector")


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of every file that was meant, and how many were passed over for which reason."""

    received: tuple[Received, ...]
    passed_over: Mapping[str, int]


class Library:
    """Knowledge bases, their documents, and the questions asked of them; threads may share it."""

    def __init__(
        self,
        path: Path,
        settings: Settings,
        database: LibraryDatabase,
        blobs: BlobDirectory,
        today: Callable[[], datetime.date],
        environment: Mapping[str, str],
        reading: ReplicaFirst | None = None,
    ) -> None:
        self.path = path
        self.settings = settings
        self.telemetry = SILENT
        """Whom this process tells what it does; whoever runs it may say so."""
        self._database = database
        self._reading = reading or ReplicaFirst(database)
        self._blobs = blobs
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="recall")
        self._blobs.create()
        self.models = Models(settings)
        self.model_registry = ModelRegistry(path, database, LOCAL_PRINCIPAL, self.models, environment)
        transfers = Transfers(path, database, self._blobs, settings, self.models, LOCAL_PRINCIPAL)
        self.knowledge_bases = KnowledgeBases(database, settings, LOCAL_PRINCIPAL, transfers, self.models)
        self.rebuilds = Rebuilds(database, self.models, LOCAL_PRINCIPAL)
        self.documents = Documents(database, self._blobs, LOCAL_PRINCIPAL, settings.limits)
        self.contents = DocumentContents(self._reading, self._blobs, LOCAL_PRINCIPAL)
        self.chunk_previews = ChunkPreviews(database, self._blobs, LOCAL_PRINCIPAL, settings)
        self.jobs = Jobs(database, LOCAL_PRINCIPAL)
        self.access_keys = AccessKeys(database, LOCAL_PRINCIPAL)
        self.sign_ins = SignIns(database, LOCAL_PRINCIPAL, self.access_keys, settings.server.sign_in_days)
        self.repeats = Repeats(database)
        self.sessions = Sessions(database, settings, LOCAL_PRINCIPAL, self.receiving)
        self.sources = Sources(
            database, path, settings, LOCAL_PRINCIPAL, self.knowledge_bases, self.receiving, self.drain, self.work
        )
        self._workers = Workers(
            path,
            settings,
            database,
            self._blobs,
            self.models,
            self.knowledge_bases,
            self.sources,
            LOCAL_PRINCIPAL,
            _program(),
            lambda *ended: self.telemetry.jobs(*ended),
        )
        self._put_questions_together(today)
        self._file_readers = ExitStack()
        self._file_readers.enter_context(IDLE.held())

    def _put_questions_together(self, today: Callable[[], datetime.date]) -> None:
        path, settings, database = self.path, self.settings, self._database
        self._retrieving = Retrieving(
            database=database,
            vectors=VectorCache(),
            embedder_for=self.models.asking,
            model_of=self.models.model_of,
            threads=self._threads,
            today=today,
            clock=time.perf_counter,
            new_id=new_id,
            embed_seconds=settings.search.embed_seconds,
            reranking=self.models.reranking,
            reading=self._reading,
            told=lambda trace: self.telemetry.question(trace),
        )
        self.conversations = Conversations(
            path,
            settings,
            self.models,
            self.sessions,
            self._retrieving,
            self._scope_of,
            lambda trace_id, made: self.telemetry.answer(trace_id, made),
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
        self.evaluation_sets = EvaluationSets(path, self.evaluation)
        self.turns = Turns(database, LOCAL_PRINCIPAL, self.evaluation_sets, self.trace)
        self.backups = BackupFolder(
            folder_of_backups(path, settings.server.backups), lambda target, watch: self.backup(target, watch=watch)
        )
        self.overview = Overview(path, database, LOCAL_PRINCIPAL)

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
        allow_private: bool = False,
        password: str = "",
    ) -> AddReport:
        """Add files, folders and pages (URLs) to a knowledge base, the default one if none is named.

        Everything is stored with its job first; then, with `wait`, the jobs are done here, calling
        `watch` now and then. Interrupted, it leaves work that the next worker takes up. A file at
        fault is reported, the rest goes on. `metadata` holds for every file and goes before what is
        read in it; without any, what was given earlier stays. A page of a private network is refused
        unless `allow_private` means it. A `password` opens the files that are named, one by one; it is kept with
        each, to read it again. Raises `PathNotFound`, `AddressInvalid`, `InvalidValue`,
        `KnowledgeBaseNotFound`, `KnowledgeBaseArchived` or `StorageError`.
        """
        given = checked_given("", metadata) if metadata is not None else None
        knowledge_base = self.knowledge_bases.find(kb)
        gathering = Gathering(reads_pictures=reads_pictures(self.settings))
        receiving = self.receiving()
        if password:
            receiving = replace(receiving, password=_for_files(password, paths))
        named, pages = self.sources.pages_among(paths, kb, metadata, allow_private=allow_private)
        files = gather([Path(path) for path in named], exclude, self.path, gathering)
        arriving = receive(receiving, knowledge_base, files, given)
        received = self._workers.taken_in(arriving, on_received, self._watcher(watch), wait=wait)
        received += map(self.sources.received, pages)
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
        received = receive_text(self.receiving(), knowledge_base, TextToAdd(text, name, title, metadata or {}))
        if wait:
            self.drain()
        return received

    def add_texts(self, items: Iterable[TextToAdd], *, kb: str | None = None, wait: bool = True) -> AddReport:
        """Add many texts, a group per transaction; one that cannot be stored is reported, the rest goes on."""
        arriving = receive_texts(self.receiving(), self.knowledge_bases.find(kb), items)
        return AddReport(tuple(self._workers.taken_in(arriving, None, None, wait=wait)), {})

    def preview(
        self,
        path: str | os.PathLike[str],
        chunking: ChunkingConfig | None = None,
        *,
        password: str = "",
        blocks: int = 0,
    ) -> Preview:
        """Show how a file would be read and cut, by the very code that would do it; writes nothing.

        So many of its first `blocks` are shown themselves. A `password` opens the file.
        """
        default = self.settings.defaults
        config = chunking or ChunkingConfig(default.chunk_columns, default.chunk_overlap_columns)
        with reader_for(self.settings) as reader:
            converter_for = remote_readers(self.settings)
            converting = Converting(converter_for, self._blobs) if converter_for is not None else None
            return preview(reader, Path(path).expanduser().absolute(), config, password, blocks, converting)

    # --- Asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        session: str | None = None,
        top_k: int | None = None,
        arms: Sequence[ArmName] = _ALL_ARMS,
    ) -> SearchResult:
        """Find the passages that answer a question, best first, in one, several or all knowledge bases.

        `filters` names fields of documents and what they must be, as in
        `{"author": ["Wang", "Li"], "year": {"from": 2020}, "path": {"prefix": "/notes/"}}`. Within a
        `session`, its attachments are searched too, as far as they can be now, and its knowledge
        bases where none are named. Whatever fails on the way is named in `degraded`; an empty result
        says why. Raises `EmptyQuestion`, `KnowledgeBaseNotFound`, `DocumentNotFound`,
        `SessionNotFound`, `InvalidFilter` or `InvalidValue`.
        """
        options = SearchOptions(self.settings.search.top_k if top_k is None else top_k, frozenset(arms))
        return retrieve(self._retrieving, question, self._scope(kb, documents, filters, session), options)

    def ask(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        session: str | None = None,
        model: str = "",
        seconds: float | None = None,
    ) -> Answer:
        """Answer a question from the documents.

        The model that answers writes it; where there is none, or it fails, the answer is their own sentences, each
        with its citation. Another `model` may be named, and it may be given fewer `seconds` than the settings say.
        What is looked into, and what is raised, is as in `search`; a model that is not there is `ModelNotConfigured`.
        """
        return self.conversations.ask(question, Where(kb, documents, filters, session), model, seconds)

    def converse(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        session: str | None = None,
        top_k: int | None = None,
        prefer: Prefer = "auto",
        history: Sequence[Message] = (),
        model: str = "",
        replaces: int | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Generator[Step, None, None]:
        """Answer a question as `ask` does, and tell of each step as it is taken; closed early, it stops at once.

        Within a `session` the question and its answer are kept, and what was said in it before is known; `replaces`
        is the number of an earlier question of it that this one takes the place of. `history` are the messages before,
        oldest first, of a conversation that its caller keeps. Once `stopped` is true, asked now and then, the answer
        ends with what was said until then. The last step is the message, with its citations. What
        `ask` raises for a question that cannot be asked is raised before the first step; what fails later is raised
        by the step at which it does, with what was kept of the answer as `saved` in its details.
        """
        where = Where(kb, documents, filters, session)
        return self.conversations.converse(
            question,
            where,
            top_k=top_k,
            prefer=prefer,
            history=history,
            model=model,
            replaces=replaces,
            stopped=stopped,
        )

    def grants(self, caller: Caller) -> Grants:
        """What this caller may see; `runtime/granted.py` keeps to it."""
        return Grants(self._database, LOCAL_PRINCIPAL, caller)

    def trace(self, trace_id: str) -> JsonObject:
        """What happened to one question: every stage, list and decision. Raises `TraceNotFound`."""
        with self._database.traces.read() as tx:
            return journal.trace(tx, LOCAL_PRINCIPAL, trace_id)

    def traces(self, limit: int = 20) -> list[JsonObject]:
        with self._database.traces.read() as tx:
            return journal.recent_traces(tx, LOCAL_PRINCIPAL, limit)

    def trace_page(self, before: tuple[int, str] | None, limit: int) -> list[tuple[int, str, JsonObject]]:
        """Traces with their moments and ids, newest first, the page behind the one at `before`."""
        with self._database.traces.read() as tx:
            return journal.trace_page(tx, LOCAL_PRINCIPAL, before, limit)

    # --- Working ---------------------------------------------------------------------------------

    def drain(self, max_jobs: int | None = None, watch: Callable[[Progress], None] | None = None) -> int:
        """Do the work that is there, at most `max_jobs` jobs, and return how many were taken.

        On Ctrl-C the current job is let go at its next batch, for the next worker to continue. Raises
        `InvalidValue` for a bound below one.
        """
        if max_jobs is not None and max_jobs < 1:
            raise InvalidValue(what="The number of jobs", value=max_jobs, reason="it must be at least 1")
        return self._workers.drain(max_jobs, self._watcher(watch))

    def work(self, watch: Callable[[Progress], None] | None = None) -> None:
        """Work until `stop_working` or Ctrl-C."""
        self._workers.work(self._watcher(watch))

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell meanwhile, as the environment says, what is done; see `runtime/telemetry.py`.

        Raises `PackageMissing` or `ConfigurationInvalid`.
        """
        self.telemetry = configured_telemetry()
        try:
            yield
        finally:
            telemetry, self.telemetry = self.telemetry, SILENT
            telemetry.close()

    def stop_working(self) -> None:
        """Ask every worker of this library in this process to stop; safe in a signal handler."""
        self._workers.stop()

    @property
    def is_for_many_machines(self) -> bool:
        """Whether servers and workers on several machines can share it, as they can what is on PostgreSQL."""
        return self._database.is_for_many_machines

    # --- Upkeep ----------------------------------------------------------------------------------

    def check(self, *, deep: bool = False) -> list[Finding]:
        """Verify every invariant of the library; an empty list means that all hold.

        If `deep`, every stored byte is read, and every passage is read again by today's rules.
        """
        return check(self._database, self._blobs, deep=deep)

    def repair(
        self,
        *,
        deep: bool = False,
        wait: bool = True,
        watch: Callable[[Progress], None] | None = None,
        on_mended: Callable[[Finding, bool], None] | None = None,
    ) -> Repaired:
        """Mend what `check` finds, and check again; with `wait`, the work that it takes is done here.

        `on_mended` is told of each finding, and whether there was a repair for it.
        """
        work = partial(self.drain, watch=watch) if wait else None
        return repair(self._database, self._blobs, deep=deep, work=work, watch=on_mended)

    def backup(
        self,
        target: str | os.PathLike[str],
        *,
        quick: bool = False,
        watch: Callable[[Copying], None] | None = None,
    ) -> BackupReport:
        """Copy the library, one moment of it, while it is used: to a folder, or to one file if that ends in `.tar`.

        Into a folder that holds a backup, only what is new is copied. What was written is read back
        and checked, unless it is to be `quick`. Raises `FolderNotEmpty`, `BackupBusy`,
        `BackupUnreadable`, `DiskFull`, `LibraryReadOnly` or `LibraryDamaged`; then the backup that was
        there before is as it was. That of a library in PostgreSQL has the same form, and may become one in a folder.
        """
        return backup(self.path, self._database, self._blobs, _program(), target, quick=quick, watch=watch)

    def doctor(self) -> list[Finding]:
        """Explain the environment: versions, folders, settings, models, and what is wrong with them."""
        return [*doctor(self.path, self.settings, self._database, self.models), *told_of_replica(self._reading)]

    def close(self) -> None:
        self.stop_working()
        self.evaluation_sets.close()
        self.backups.close()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._file_readers.close()
        self._blobs.close()
        self._reading.close()
        self._database.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _scope(
        self,
        kb: str | Sequence[str] | None,
        documents: Sequence[str] | None,
        filters: Mapping[str, Any] | None,
        session: str | None,
    ) -> Scope:
        where = Where(kb, documents, filters, session)
        attached = [one.id for one in self.sessions.usable(session)[0]] if session is not None else []
        return self._scope_of(where, attached)

    def _scope_of(self, where: Where, attached: Sequence[str]) -> Scope:
        names = (where.kb,) if isinstance(where.kb, str) else tuple(where.kb) if where.kb is not None else None
        if where.session is not None and names is None:
            names = self.sessions.find(where.session).knowledge_bases
        ids = None
        if where.documents is not None:
            ids = self.documents.with_members(where.documents)
        return Scope(LOCAL_PRINCIPAL, names, ids, tuple(attached), read_filters(where.filters or {}))

    def receiving(self) -> Receiving:
        """What taking files in needs, for those who bring them piece by piece."""
        return Receiving(self._database, self._blobs, self.settings.limits.file_bytes, new_id)

    def _watcher(self, watch: Callable[[Progress], None] | None) -> Callable[[], None] | None:
        return None if watch is None else lambda: watch(self.jobs.progress())


def _for_files(password: str, paths: Sequence[str | os.PathLike[str]]) -> str:
    """The password, if all that is named are files. Raises `InvalidValue`."""
    other = next((path for path in paths if not Path(path).expanduser().is_file()), None)
    if other is not None:
        raise InvalidValue(what="A password for", value=str(other), reason="it is for files that are named one by one")
    return password


def _program() -> str:
    return f"wenyuan {metadata.version('wenyuan')}"
