"""A library is copied while it is used: one moment of its database, and every file that moment names.

Files are copied after the database and under no lock. What is deleted in between is gone: then a
newer moment is taken, which does not name it any more, and only what is missing yet is copied.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wenyuan.errors import LibraryDamaged
from wenyuan.store import backups
from wenyuan.store.backup_targets import (
    DATABASE,
    FORMAT,
    SETTINGS,
    TRACES,
    VERSION,
    BackupTarget,
    FolderTarget,
    archive_target,
    folder_target,
)
from wenyuan.store.backups import Contents
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.checking import Violation, check_library
from wenyuan.store.checking.invariants import DATABASE_SOUND
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.own_files import copy_own_files
from wenyuan.store.sqlite import SqliteDatabase
from wenyuan.types import JsonObject

ARCHIVE_SUFFIX = ".tar"

Stage = Literal["database", "files", "verifying"]


@dataclass(frozen=True, slots=True)
class Copying:
    """How far a copy is: bytes of the stage it is in."""

    stage: Stage
    done: int
    total: int


Watch = Callable[[Copying], None]


@dataclass(frozen=True, slots=True)
class BackingUp:
    """What a backup needs. `is_quick` trusts what is written, and what an earlier backup wrote."""

    library: Path
    database: LibraryDatabase
    blobs: BlobDirectory
    program: str
    now: int
    is_quick: bool
    watch: Watch


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What a backup holds, and how much of it had to be copied.

    `missing` are the SHA-256 of bytes that the library itself has lost; `violations` what else does
    not hold in it.
    """

    path: Path
    schema: int
    documents: int
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int
    missing: tuple[str, ...]
    violations: tuple[Violation, ...]


def back_up(tools: BackingUp, target: Path, name: str) -> BackedUp:
    """Write a backup to a folder, or to one file if its name ends in `.tar`; `name` is a new one for the moment.

    Raises `FolderNotEmpty`, `BackupBusy`, `BackupUnreadable`, `DiskFull`, `LibraryReadOnly`, or
    `LibraryDamaged` where the database itself is damaged: no good backup is replaced by that.
    """
    with tools.database.read() as tx:
        header = _manifest(tools, backups.contents(tx))
    with _opened(target, name, header) as place:
        run = _Run(tools, place)
        run.take()
        violations = () if tools.is_quick else run.verified()
        held = run.contents()
        run.finish({**_manifest(tools, held), "missing": sorted(run.missing)})
        return BackedUp(
            target,
            held.schema,
            held.documents,
            held.blobs - len(run.missing),
            held.blob_bytes + run.database_bytes,
            run.copied_files,
            run.copied_bytes,
            tuple(sorted(run.missing)),
            violations,
        )


def _manifest(tools: BackingUp, held: Contents) -> dict[str, object]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": tools.program,
        "created_at": tools.now,
        "schema": held.schema,
        "documents": held.documents,
        "files": held.blobs,
        "bytes": held.blob_bytes,
    }


def _opened(target: Path, name: str, header: JsonObject) -> AbstractContextManager[BackupTarget]:
    if target.suffix == ARCHIVE_SUFFIX:
        return archive_target(target, header)
    return folder_target(target, name)


class _Run:
    """One backup on its way."""

    def __init__(self, tools: BackingUp, place: BackupTarget) -> None:
        self._tools = tools
        self._place = place
        self._moment = place.folder / DATABASE
        self.missing: set[str] = set()
        self.copied_files = self.copied_bytes = 0

    def take(self) -> None:
        """Copy moment after moment of the database, until nothing that the last one names was deleted meanwhile."""
        while True:
            self._moment.unlink(missing_ok=True)
            self._tools.database.copy_to(self._moment, lambda done, total: self._watch("database", done, total))
            if self._copy_files():
                break
        if self._tools.database.traces.exists():
            self._tools.database.traces.copy_to(self._place.folder / TRACES)
        settings = self._tools.library / SETTINGS
        if settings.exists():
            shutil.copyfile(settings, self._place.folder / SETTINGS)
        copy_own_files(self._tools.library, self._place.folder)

    def _copy_files(self) -> bool:
        """Copy the files of the moment that are not there yet; False where one was deleted since."""
        self.missing.clear()
        total, done = self.contents().blob_bytes, 0
        for sha256, size in self._named():
            put = self._place.put_blob(sha256, size, self._tools.blobs.path)
            if put == "vanished" and not backups.is_named(self._tools.database, sha256):
                return False
            if put in ("vanished", "damaged"):
                self.missing.add(sha256)
            elif put == "copied":
                self.copied_files += 1
                self.copied_bytes += size
            done += size
            self._watch("files", done, total)
        self._place.sync()
        return True

    def verified(self) -> tuple[Violation, ...]:
        """Check the copy as the library itself is checked, and read its files back."""
        place = self._place
        total = self.contents().blob_bytes + self.database_bytes
        if isinstance(place, FolderTarget):
            place.verify(self._kept(), self._tools.blobs.path, self._counter("verifying", total))
        database = SqliteDatabase(self._moment, traces=SqliteDatabase(place.folder / TRACES))
        try:
            found = tuple(one for one in check_library(database, None) if one.severity == "error")
        finally:
            database.close()
        damage = next((one for one in found if one.code == DATABASE_SOUND.code), None)
        if damage is not None:
            raise LibraryDamaged(path=self._tools.library, reason=damage.details["reason"])
        return found

    def contents(self) -> Contents:
        database = SqliteDatabase(self._moment)
        try:
            with database.read() as tx:
                return backups.contents(tx)
        finally:
            database.close()

    @property
    def database_bytes(self) -> int:
        return sum(file.stat().st_size for file in self._place.folder.iterdir())

    def finish(self, manifest: JsonObject) -> None:
        total = self.contents().blob_bytes + self.database_bytes
        self._place.finish(manifest, self._kept(), self._counter("verifying", total))

    def _named(self) -> Iterator[tuple[str, int]]:
        database = SqliteDatabase(self._moment)
        try:
            yield from backups.named_blobs(database)
        finally:
            database.close()

    def _kept(self) -> Iterator[str]:
        return (sha256 for sha256, _ in self._named() if sha256 not in self.missing)

    def _watch(self, stage: Stage, done: int, total: int) -> None:
        self._tools.watch(Copying(stage, done, total))

    def _counter(self, stage: Stage, total: int) -> Callable[[int], None]:
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            # What frames the files in an archive, and what is read twice, was not counted before.
            self._watch(stage, min(done, total), total)

        return count
