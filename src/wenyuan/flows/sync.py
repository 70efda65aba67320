"""A folder is brought in: its documents become what its files are.

Every step can be repeated: what was done is found done. A new document names its source in the
transaction that makes it; a file is noted afterwards; so a document that no file stands for, after a
crash, is still known to be the source's own.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from wenyuan.errors import FileVanished, KnowledgeBaseArchived
from wenyuan.flows.differences import Differences, Folder, Move, differences
from wenyuan.flows.file_paths import openable, readable
from wenyuan.flows.receive import Received, Receiving, receive
from wenyuan.flows.rename import rename
from wenyuan.flows.sources import let_go
from wenyuan.store import documents, knowledge_bases, source_files, sources
from wenyuan.store.database import Writing
from wenyuan.store.documents import Arrival
from wenyuan.store.source_files import FileRecord
from wenyuan.store.sources import Source
from wenyuan.types import Document, Problem

Item = TypeVar("Item")

_FILES_PER_TRANSACTION = 256
_DELETED_PER_TRANSACTION = 64
_LOCK_SECONDS = 0.05

What = Literal["moved", "deleted"] | Arrival


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one file, or would happen. `previous` is where a moved one was."""

    what: What
    path: str
    previous: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a pass over a folder did, or, in a dry run, would do.

    `problems` are files that cannot be read now; what is known of them stays. `problem` tells why the
    folder as a whole could not be followed. `kept` counts files that are gone whose documents a
    person had added by hand: those are not a source's to delete.
    """

    source: Source
    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    problems: tuple[tuple[str, Problem], ...] = ()
    passed_over: tuple[tuple[str, int], ...] = ()
    problem: Problem | None = None
    kept: int = 0
    is_dry_run: bool = False

    @property
    def location(self) -> str:
        """The place of the source, for people."""
        return readable(openable(self.source.location)) if self.source.kind == "folder" else self.source.location


@dataclass(frozen=True, slots=True)
class Syncing:
    """What bringing folders in needs. `locks` is a folder for files by which processes take turns.

    `reads_pictures` says whether something makes text of pictures.
    """

    receiving: Receiving
    library: Path
    locks: Path
    reads_pictures: bool | None = None


def sync_folder(
    tools: Syncing,
    source: Source,
    *,
    within: Sequence[str] = ("",),
    allow_empty: bool = False,
    dry_run: bool = False,
    on_change: Callable[[Change], None] | None = None,
    stopping: threading.Event | None = None,
) -> SyncReport:
    """Make one pass over a folder, or over the parts of it at or below the relative paths `within`.

    One pass at a time is made over a source, by whichever process. Raises `KnowledgeBaseArchived` or
    `StorageError`; what was done until then stays done.
    """
    if dry_run:
        return _planned(tools, source, _compared(tools, source, within, allow_empty))
    with _turn(tools.locks, source.id, stopping) as is_ours:
        current = _current(tools, source) if is_ours else None
        if current is None:
            return SyncReport(source)
        found = _compared(tools, current, within, allow_empty)
        return _Pass(tools, current, found, on_change).made(is_whole="" in within)


@contextmanager
def _turn(locks: Path, source_id: str, stopping: threading.Event | None) -> Iterator[bool]:
    """Wait for the turn to work on a source; False if asked to stop meanwhile.

    The kernel ends a turn with its process, however that ends.
    """
    locks.mkdir(parents=True, exist_ok=True)
    pause = stopping or threading.Event()
    with (locks / source_id).open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if pause.wait(_LOCK_SECONDS):
                    yield False
                    return
            else:
                yield True
                return


def _current(tools: Syncing, source: Source) -> Source | None:
    """The source as it is now; None where there is nothing to follow any more."""
    with tools.receiving.database.read() as tx:
        current = sources.by_id(tx, source.id)
        if current is None or current.state == "removing":
            return None
        knowledge_base = knowledge_bases.by_id(tx, current.knowledge_base_id)
    if knowledge_base.state == "archived":
        raise KnowledgeBaseArchived(name=knowledge_base.name)
    return current


def _compared(tools: Syncing, source: Source, within: Sequence[str], allow_empty: bool) -> Differences:
    with tools.receiving.database.read() as tx:
        known = source_files.files(tx, source)
    folder = _folder(tools, source, within)
    return differences(folder, known, tools.receiving.blobs.path, allow_empty=allow_empty)


def _folder(tools: Syncing, source: Source, within: Sequence[str] = ("",)) -> Folder:
    limit = tools.receiving.file_bytes
    place = openable(source.location)
    return Folder(place, source.exclude, tools.library, limit, tuple(within), tools.reads_pictures)


def _planned(tools: Syncing, source: Source, found: Differences) -> SyncReport:
    folder = _folder(tools, source)
    changes = [
        Change("moved", folder.source_of(one.now.path), folder.source_of(one.before.path)) for one in found.moved
    ]
    changes += [Change("added", folder.source_of(one.path)) for one in found.arrived]
    changes += [Change("updated", folder.source_of(one.path)) for one in found.changed]
    changes += [Change("updated", folder.source_of(one.now.path)) for one in found.moved if one.is_changed]
    changes += [Change("deleted", folder.source_of(one.path)) for one in found.gone]
    return _report(tools, source, found, changes, kept=0, is_dry_run=True)


def _report(
    tools: Syncing, source: Source, found: Differences, changes: Sequence[Change], *, kept: int, is_dry_run: bool
) -> SyncReport:
    folder = _folder(tools, source)
    return SyncReport(
        source,
        tuple(changes),
        found.unchanged,
        tuple((folder.source_of(path), problem) for path, problem in found.problems),
        tuple((reason, count) for reason, count in found.passed_over.items() if count),
        found.halt,
        kept,
        is_dry_run,
    )


class _Pass:
    """One pass that changes the library, in transactions of a few files each."""

    def __init__(
        self, tools: Syncing, source: Source, found: Differences, on_change: Callable[[Change], None] | None
    ) -> None:
        self._tools = tools
        self._source = source
        self._found = found
        self._folder = _folder(tools, source)
        self._database = tools.receiving.database
        self._on_change = on_change
        self._changes: list[Change] = []
        self._kept = 0
        self._blocked: list[tuple[str, Problem]] = []
        self._deleted: set[str] = set()
        self._new_id = tools.receiving.new_id

    def made(self, *, is_whole: bool) -> SyncReport:
        found = self._found
        if found.halt is not None and not is_whole:
            self._note_halt()
        for moves in _groups(found.moved, _DELETED_PER_TRANSACTION):
            self._move(moves)
        self._refresh()
        self._receive([*found.arrived, *found.changed])
        self._note_problems()
        for gone in _groups(found.gone, _DELETED_PER_TRANSACTION):
            self._delete(gone)
        self._receive([one for one in found.twins if one.sha256 in self._deleted])
        if is_whole:
            if found.halt is None:
                self._delete_strays()
            with self._database.write(durable=False) as tx:
                sources.checked(tx, self._source.id, found.halt)
        found.problems += self._blocked
        return _report(self._tools, self._source, found, self._changes, kept=self._kept, is_dry_run=False)

    def _tell(self, what: What, path: str, previous: str = "") -> None:
        change = Change(what, path, previous)
        self._changes.append(change)
        if self._on_change is not None:
            self._on_change(change)

    def _note_halt(self) -> None:
        with self._database.write(durable=False) as tx:
            sources.set_problem(tx, self._source.id, self._found.halt)

    # --- Moves -----------------------------------------------------------------------------------

    def _move(self, moves: Sequence[Move]) -> None:
        told: list[Move] = []
        with self._database.write() as tx:
            owned = {one.id: one for one in self._own(tx, [move.before.document_id for move in moves])}
            for move in moves:
                document = owned.get(move.before.document_id)
                if document is None or not self._rename(tx, document, move):
                    # It cannot be renamed now: a new document takes its place, and it goes.
                    self._found.arrived.append(replace(move.now, document_id="", sha256=""))
                    self._found.gone.append(move.before)
                    continue
                source_files.forget_files(tx, self._source.id, [move.before.path])
                source_files.put_files(tx, self._source.id, [move.now])
                told.append(move)
                if move.is_changed:
                    self._found.changed.append(move.now)
        for move in told:
            self._tell("moved", self._folder.source_of(move.now.path), self._folder.source_of(move.before.path))

    def _rename(self, tx: Writing, document: Document, move: Move) -> bool:
        path = self._folder.absolute(move.now.path)
        record = documents.find(tx, document.owner, document.id)
        return rename(tx, self._new_id, record, readable(path), readable(os.path.basename(path)))

    # --- Arrivals --------------------------------------------------------------------------------

    def _refresh(self) -> None:
        for records in _groups(self._found.refreshed, _FILES_PER_TRANSACTION):
            with self._database.write(durable=False) as tx:
                source_files.put_files(tx, self._source.id, records)

    def _receive(self, records: Sequence[FileRecord]) -> None:
        if not records:
            return
        tools = replace(self._tools.receiving, source_id=self._source.id)
        with self._database.read() as tx:
            knowledge_base = knowledge_bases.by_id(tx, self._source.knowledge_base_id)
        by_source = {self._folder.source_of(record.path): record for record in records}
        paths = (Path(self._folder.absolute(record.path)) for record in records)
        received = receive(tools, knowledge_base, paths)
        while group := list(islice(received, _FILES_PER_TRANSACTION)):
            self._note_received([(by_source[one.source], one) for one in group])

    def _note_received(self, group: Sequence[tuple[FileRecord, Received]]) -> None:
        with self._database.read() as tx:
            hashes = source_files.hashes(tx, [one.revision_id for _, one in group if one.revision_id])
            twins = {one.duplicate_of: "" for _, one in group if one.outcome == "skipped"}
            for source in twins:
                twin = documents.find_by_source(tx, self._source.knowledge_base_id, source)
                twins[source] = twin.latest.blob_sha256 if twin is not None else ""
        records: list[FileRecord] = []
        for record, one in group:
            if one.outcome is None:
                # What disappeared meanwhile is seen to be gone next time.
                if one.problem is not None and one.problem.code != FileVanished.code:
                    self._found.problems.append((record.path, one.problem))
                continue
            if one.problem is not None:
                self._blocked.append((record.path, one.problem))
            digest = hashes.get(one.revision_id or "", "") or twins.get(one.duplicate_of, "")
            records.append(replace(record, document_id=one.document_id or "", sha256=digest))
            if one.outcome == "unchanged":
                self._found.unchanged += 1
            else:
                self._tell(one.outcome, one.source)
        with self._database.write(durable=False) as tx:
            source_files.put_files(tx, self._source.id, records)
            if self._source.adopt:
                sources.adopt(tx, self._source.id, [one.document_id for one in records])

    def _note_problems(self) -> None:
        """Keep with a file why it cannot be read, so that it is tried again and can be shown."""
        if not self._found.problems:
            return
        with self._database.read() as tx:
            known = {one.record.path: one.record for one in source_files.files(tx, self._source)}
        records = [
            replace(known.get(path, FileRecord(path, "", 0, 0, 0, 0, 0, 0, "")), problem=problem)
            for path, problem in self._found.problems
            if not os.path.isdir(self._folder.absolute(path))
        ]
        if news := [one for one in records if known.get(one.path) != one]:
            with self._database.write(durable=False) as tx:
                source_files.put_files(tx, self._source.id, news)

    # --- Deletions -------------------------------------------------------------------------------

    def _delete(self, records: Sequence[FileRecord]) -> None:
        """Delete the documents of files that are gone, if they still are, and if they came from this source."""
        gone = [one for one in records if not self._is_back(one)]
        with self._database.write() as tx:
            owned = self._own(tx, [one.document_id for one in gone])
            self._kept += sources.count_added_by_hand(tx, [one.document_id for one in gone])
            source_files.forget_files(tx, self._source.id, [one.path for one in gone])
            deleted = [one for one in owned if let_go(tx, self._new_id, self._source, one)]
        self._deleted.update(one.sha256 for one in gone)
        for document in deleted:
            self._tell("deleted", document.source)

    def _is_back(self, record: FileRecord) -> bool:
        """Whether the file came back since the folder was looked at; one that is merely passed over now is gone."""
        try:
            status = os.stat(self._folder.absolute(record.path))
        except OSError:
            return False
        return max(status.st_mtime_ns, status.st_ctime_ns) >= self._found.began_ns

    def _delete_strays(self) -> None:
        """Delete what an interrupted pass brought and did not note, if its file is gone since."""
        with self._database.read() as tx:
            strays = sources.strays(tx, self._source)
            known = (
                {self._folder.source_of(one.record.path) for one in source_files.files(tx, self._source)}
                if strays
                else set()
            )
        for group in _groups([one for one in strays if one.source not in known], _DELETED_PER_TRANSACTION):
            with self._database.write() as tx:
                deleted = [one for one in group if let_go(tx, self._new_id, self._source, one)]
            for document in deleted:
                self._tell("deleted", document.source)

    def _own(self, tx: Writing, document_ids: Sequence[str]) -> list[Document]:
        return sources.own_documents(tx, self._source, [one for one in dict.fromkeys(document_ids) if one])


def _groups(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
