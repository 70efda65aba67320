"""Sources, as a door sees them: folders and pages that knowledge bases keep in step with."""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wenyuan.config import Settings
from wenyuan.errors import InvalidValue, KnowledgeBaseArchived, PageUnavailable, SourceNotFound
from wenyuan.fetching.addresses import is_page, normalised
from wenyuan.fetching.pages import FetchRules
from wenyuan.flows.fetch import Fetching, enqueue_due, enqueue_fetch, fetch_page
from wenyuan.flows.file_paths import openable, readable, storable
from wenyuan.flows.gather import refuse_library
from wenyuan.flows.receive import Received, Receiving
from wenyuan.flows.sources import end_source
from wenyuan.flows.sync import Change as Change
from wenyuan.flows.sync import Syncing, sync_folder
from wenyuan.flows.sync import SyncReport as SyncReport
from wenyuan.flows.watch import Following, Patience
from wenyuan.flows.work import Work
from wenyuan.identifiers import new_id
from wenyuan.runtime.jobs import Progress
from wenyuan.runtime.knowledge_bases import KnowledgeBases
from wenyuan.runtime.remote_readers import reads_pictures
from wenyuan.store import documents, knowledge_bases, source_files, sources
from wenyuan.store.database import Database
from wenyuan.store.sources import Fetched, Source, SourceCounts, SourceState
from wenyuan.types import Document, Problem

_SHORTEST_INTERVAL_SECONDS = 60.0
_PROBLEMS_SHOWN = 1000

Reported = Callable[[SyncReport], None]


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source and how it stands. `file_problems` are files that could not be taken in, with the reason."""

    source: Source
    location: str
    """Its place, for people."""
    knowledge_base: str
    counts: SourceCounts
    file_problems: tuple[tuple[str, Problem], ...] = ()


class Sources:
    """Folders and pages that are kept in step with."""

    def __init__(
        self,
        database: Database,
        library: Path,
        settings: Settings,
        principal: str,
        bases: KnowledgeBases,
        receiving: Callable[[], Receiving],
        drain: Callable[[int | None, Callable[[Progress], None] | None], int],
        work: Callable[[Callable[[Progress], None] | None], None],
    ) -> None:
        self._database = database
        self._library = library
        self._settings = settings
        self._principal = principal
        self._bases = bases
        self._receiving = receiving
        self._drain = drain
        self._work = work
        self._is_following = threading.Lock()

    # --- Which there are -------------------------------------------------------------------------

    def add(
        self,
        location: str | os.PathLike[str],
        *,
        kb: str | None = None,
        exclude: Sequence[str] = (),
        watch: bool = False,
        adopt: bool = False,
        every: float | None = None,
        allow_private: bool = False,
    ) -> Source:
        """Begin to keep in step with a folder, or with a page, and bring nothing in yet: `sync` does.

        A folder with `watch` is followed by every worker that runs on. With `adopt` documents of it
        that a person had added become the source's own, and go when their files do. A page is looked
        at again `every` so many seconds; one from a private network needs `allow_private`. The job
        that fetches it is stored with it. Raises `SourceExists`, `PathNotFound`, `AddressInvalid`,
        `KnowledgeBaseNotFound`, `KnowledgeBaseArchived` or `InvalidValue`.
        """
        knowledge_base = self._bases.find(kb)
        text = os.fspath(location)
        page = is_page(text)
        source = Source(
            new_id("src"),
            knowledge_base.id,
            self._principal,
            "url" if page else "folder",
            normalised(text) if page else storable(self._folder(text)),
            tuple(exclude),
            watch,
            adopt,
            allow_private,
            _interval(every),
            "active",
            None,
            Fetched(),
            0,
            0,
        )
        if page and (watch or exclude or adopt):
            raise InvalidValue(what="An option", value="watch, exclude or adopt", reason="it is for folders")
        if every is not None and not page:
            raise InvalidValue(what="An interval", value=every, reason="it is for pages; a folder can be watched")
        with self._database.write() as tx:
            if knowledge_bases.by_id(tx, knowledge_base.id).state == "archived":
                raise KnowledgeBaseArchived(name=knowledge_base.name)
            sources.add(tx, source)
            if page:
                enqueue_fetch(tx, new_id, source)
            return sources.by_id(tx, source.id) or source

    def add_page(self, address: str, *, kb: str | None = None, allow_private: bool = False) -> Source:
        """Fetch a page once: it is stored as a source with the job that fetches it, or looked at again.

        Raises `AddressInvalid`, `KnowledgeBaseNotFound` or `KnowledgeBaseArchived`.
        """
        location, knowledge_base = normalised(address), self._bases.find(kb)
        with self._database.write() as tx:
            known = sources.at(tx, knowledge_base.id, location)
            if known is not None:
                if allow_private and not known.allow_private:
                    sources.update(tx, replace(known, allow_private=True))
                enqueue_fetch(tx, new_id, known)
                return known
        return self.add(location, kb=kb, allow_private=allow_private)

    def pages_among(
        self,
        named: Sequence[str | os.PathLike[str]],
        kb: str | None,
        metadata: Mapping[str, Any] | None,
        *,
        allow_private: bool,
    ) -> tuple[builtins.list[str | os.PathLike[str]], builtins.list[Source]]:
        """What is named apart from pages, and the sources of those, stored with their jobs."""
        paths = [one for one in named if not is_page(os.fspath(one))]
        pages = [os.fspath(one) for one in named if is_page(os.fspath(one))]
        if pages and metadata is not None:
            raise InvalidValue(what="Metadata", value=pages[0], reason="none can be given of a page")
        # All are looked at before the first is stored.
        addresses = [normalised(one) for one in pages]
        return paths, [self.add_page(one, kb=kb, allow_private=allow_private) for one in dict.fromkeys(addresses)]

    def received(self, before: Source) -> Received:
        """What became of a page since it was `before`."""
        with self._database.read() as tx:
            now = sources.by_id(tx, before.id) or before
            record = documents.find_by_source(tx, now.knowledge_base_id, now.location)
        if now.problem is not None and now.problem.code != PageUnavailable.code and record is None:
            return Received(now.location, None, None, None, now.problem)
        is_news = record is None or now.fetched.sha256 != before.fetched.sha256
        return Received(
            now.location,
            ("updated" if before.fetched.sha256 else "added") if is_news else "unchanged",
            record.document.id if record is not None else None,
            record.latest.id if record is not None else None,
            now.problem,
        )

    def by_id(self, source_id: str) -> Source:
        """The source with this id, and not by another of its names. Raises `SourceNotFound`."""
        with self._database.read() as tx:
            found = sources.by_id(tx, source_id)
        if found is None or found.owner != self._principal:
            raise SourceNotFound(source=source_id)
        return found

    def list(self) -> builtins.list[SourceView]:
        with self._database.read() as tx:
            found = sources.listed(tx, self._principal)
        return [self._view(one) for one in found]

    def show(self, reference: str) -> SourceView:
        """A source by its id, path or URL. Raises `SourceNotFound`."""
        (source, *_) = self._found(reference)
        view = self._view(source)
        with self._database.read() as tx:
            files = source_files.files_with_problems(tx, source.id, _PROBLEMS_SHOWN)
        problems = ((readable(one.path), one.problem) for one in files)
        return replace(view, file_problems=tuple((path, one) for path, one in problems if one is not None))

    def document(self, source: Source) -> Document | None:
        """The document of a page; None until it was fetched."""
        with self._database.read() as tx:
            record = documents.find_by_source(tx, source.knowledge_base_id, source.location)
        return record.document if record is not None else None

    def pause(self, reference: str) -> SourceView:
        """Let a source be until it is resumed: it is followed no more, its documents stay as they are."""
        return self._switched(reference, is_active=False)

    def resume(self, reference: str) -> SourceView:
        return self._switched(reference, is_active=True)

    def remove(self, reference: str, *, keep_documents: bool) -> int:
        """End a source and return how many documents were deleted with it, none with `keep_documents`."""
        return sum(
            end_source(self._database, new_id, one, keep_documents=keep_documents) for one in self._found(reference)
        )

    # --- Keeping in step -------------------------------------------------------------------------

    def sync(
        self,
        *references: str,
        kb: str | None = None,
        dry_run: bool = False,
        allow_empty: bool = False,
        wait: bool = True,
        on_change: Callable[[Change], None] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> builtins.list[SyncReport]:
        """Make one pass over the sources that are named, or over all that are not paused.

        Folders are looked through, pages are asked whether they changed. A folder that is missing, or
        of which nothing is left, deletes nothing, unless `allow_empty` means it. A folder that is no
        source yet becomes one, of the knowledge base `kb`. With `dry_run` nothing is changed, and no
        page asked. With `wait`, what was brought in is read and embedded before this returns. Raises
        `SourceNotFound`, `StorageError`, and what `add` raises.
        """
        chosen = self._chosen(references) if dry_run else self._chosen_or_made(references, kb)
        for one in [one for one in chosen if one.state == "removing"]:
            end_source(self._database, new_id, one, keep_documents=False)
        chosen = [one for one in chosen if one.state != "removing"]
        pages = [one for one in chosen if one.kind == "url"]
        if pages and not dry_run:
            with self._database.write() as tx:
                for one in pages:
                    enqueue_fetch(tx, new_id, one)
        reports = {
            one.id: sync_folder(self.syncing(), one, allow_empty=allow_empty, dry_run=dry_run, on_change=on_change)
            for one in chosen
            if one.kind == "folder" and not self._is_archived(one)
        }
        if wait and not dry_run:
            self._drain(None, watch)
        for one in pages:
            reports[one.id] = self._page_report(one, is_dry_run=dry_run)
        return [reports[one.id] for one in chosen if one.id in reports]

    def watch(
        self,
        *references: str,
        kb: str | None = None,
        work: bool = True,
        on_report: Reported | None = None,
        watch: Callable[[Progress], None] | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        """Follow the folders that are named, or all that are not paused, until Ctrl-C or `stopping`.

        With `work` what was brought in is also read and embedded here; else that is left to a worker.
        A folder that is no source yet becomes one. Pages that are due are looked at too. Raises
        `SourceNotFound`, and what `add` raises.
        """
        chosen = [one.id for one in self._chosen_or_made(references, kb)] if references else None
        ended = stopping or threading.Event()
        with self.followed(lambda one: chosen is None or one.id in chosen, on_report):
            if work and stopping is None:
                self._work(watch)
            else:
                ended.wait()

    @contextmanager
    def followed(
        self, is_wanted: Callable[[Source], bool] = lambda one: one.watch, on_report: Reported | None = None
    ) -> Iterator[None]:
        """Follow folders in a thread for as long as the context lasts, unless that is being done already."""
        if not self._is_following.acquire(blocking=False):
            yield
            return
        stopping = threading.Event()
        settings = self._settings.watch
        following = Following(
            lambda: self._to_follow(is_wanted),
            lambda source, within: self._bring_in(source, within, stopping, on_report),
            self._tell,
            str(self._library),
            Patience(settings.quiet_seconds, resync=settings.resync_seconds, unwatched=settings.unwatched_seconds),
            stopping,
        )
        thread = threading.Thread(target=following.run, name="following")
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()
            self._is_following.release()

    def enqueue_due(self) -> int:
        """Queue a job for every page that is to be looked at again by now, and return how many there are."""
        return enqueue_due(self._database, new_id)

    def fetch(self, work: Work) -> None:
        """Do the job of one page; for workers."""
        fetch_page(Fetching(self._receiving(), self._rules, self._settings.fetch.page_bytes), work)

    def _bring_in(
        self, source: Source, within: Sequence[str], stopping: threading.Event, on_report: Reported | None
    ) -> Problem | None:
        report = sync_folder(self.syncing(), source, within=within, stopping=stopping)
        is_news = report.changes or report.problems or report.problem != source.problem
        if on_report is not None and (is_news or "" in within):
            on_report(report)
        return report.problem

    def _tell(self, source: Source, problem: Problem) -> None:
        with self._database.write(durable=False) as tx:
            sources.set_problem(tx, source.id, problem)

    def _to_follow(self, is_wanted: Callable[[Source], bool]) -> builtins.list[Source]:
        self.enqueue_due()
        with self._database.read() as tx:
            found = sources.listed(tx, self._principal)
        return [one for one in found if one.kind == "folder" and one.state == "active" and is_wanted(one)]

    def _page_report(self, before: Source, *, is_dry_run: bool) -> SyncReport:
        with self._database.read() as tx:
            now = sources.by_id(tx, before.id) or before
        has_changed = now.fetched.sha256 != before.fetched.sha256
        what: Change | None = None
        if has_changed:
            what = Change("updated" if before.fetched.sha256 else "added", now.location)
        return SyncReport(
            now,
            (what,) if what is not None else (),
            0 if has_changed or now.problem is not None or is_dry_run else 1,
            problem=now.problem,
            is_dry_run=is_dry_run,
        )

    def _rules(self, source: Source) -> FetchRules:
        settings = self._settings.fetch
        allow_private = settings.allow_private or source.allow_private
        return FetchRules(settings.seconds, allow_private, settings.use_proxies)

    def syncing(self) -> Syncing:
        pictures = reads_pictures(self._settings)
        return Syncing(self._receiving(), self._library, self._library / "sync", pictures)

    def _is_archived(self, source: Source) -> bool:
        with self._database.read() as tx:
            return knowledge_bases.by_id(tx, source.knowledge_base_id).state == "archived"

    def _chosen(self, references: Sequence[str]) -> builtins.list[Source]:
        if not references:
            with self._database.read() as tx:
                return [one for one in sources.listed(tx, self._principal) if one.state != "paused"]
        found = {one.id: one for reference in references for one in self._found(reference)}
        return [*found.values()]

    def _chosen_or_made(self, references: Sequence[str], kb: str | None) -> builtins.list[Source]:
        for reference in references:
            try:
                self._found(reference)
            except SourceNotFound:
                if not Path(reference).expanduser().is_dir():
                    raise
                self.add(reference, kb=kb)
        return self._chosen(references)

    def _found(self, reference: str) -> builtins.list[Source]:
        """The sources with this id, path or URL; a path may be given from the current folder."""
        names = [reference, storable(os.path.abspath(os.path.expanduser(reference)))]
        if is_page(reference):
            names.append(normalised(reference))
        try:
            with self._database.read() as tx:
                return sources.find(tx, self._principal, names)
        except SourceNotFound as error:
            raise SourceNotFound(source=reference) from error

    def _switched(self, reference: str, *, is_active: bool) -> SourceView:
        with self._database.write() as tx:
            for source in self._found(reference):
                if source.state != "removing":
                    due = tx.now if is_active and source.every_ms else source.due_at
                    state: SourceState = "active" if is_active else "paused"
                    sources.update(tx, replace(source, state=state, due_at=due))
        return self.show(reference)

    def _folder(self, text: str) -> str:
        path = Path(text).expanduser()
        refuse_library(path, self._library)
        if not path.is_dir():
            raise InvalidValue(what="A source", value=text, reason="it is a file; `wenyuan add` adds files")
        return os.path.abspath(path)

    def _view(self, source: Source) -> SourceView:
        with self._database.read() as tx:
            knowledge_base = knowledge_bases.by_id(tx, source.knowledge_base_id)
            counts = sources.counts(tx, source.id)
        location = source.location if source.kind == "url" else readable(openable(source.location))
        return SourceView(source, location, knowledge_base.name, counts)


def _interval(every: float | None) -> int:
    if every is None:
        return 0
    if not _SHORTEST_INTERVAL_SECONDS <= every < float("inf"):
        reason = f"the shortest is {_SHORTEST_INTERVAL_SECONDS:g} s"
        raise InvalidValue(what="An interval", value=every, reason=reason)
    return int(every * 1000)
