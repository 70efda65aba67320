"""A backup becomes a library again, elsewhere: its files first and its database last, so that there is none before."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from wenyuan.errors import BackupInvalid, DiskFull, FolderNotEmpty, LibraryNewer, LibraryReadOnly
from wenyuan.flows.backup import Copying, Watch
from wenyuan.store.backup_targets import DATABASE, SETTINGS, TRACES
from wenyuan.store.backups import BackupFile, BackupReader, contents, hand_back_jobs
from wenyuan.store.blobs import BlobDirectory, StagedBlob, unnamed
from wenyuan.store.migrate import known_migrations
from wenyuan.store.own_files import FOLDERS, own_file
from wenyuan.store.sqlite import SqliteDatabase

_STAGING = "restoring"
_AT_ONCE = 500
# In the folder of files of a library in a database.
_PART_OF_FILES = re.compile(r"[0-9a-f]{2}|incoming")


@dataclass(frozen=True, slots=True)
class Restored:
    """The library that was made, the schema it still has, and what is in it; `address` where it is in a database."""

    path: Path
    schema: int
    documents: int
    files: int
    address: str = ""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A database that is not in a folder, and where the files of its library are to be.

    They are in the folder `files`, or in the database; settings and the files of people are in `home`.
    `require_empty` returns the address without a password. `fill` makes a library of the databases in a
    folder, and of some files, as a whole or not at all.
    """

    home: Path
    files: Path | None
    require_empty: Callable[[], str]
    fill: Callable[[Path, Iterable[StagedBlob], Callable[[int, int], None]], None]


def restore_elsewhere(backup: Path, place: Elsewhere, watch: Watch) -> Restored:
    """Make a library of a backup in an empty database. Raises what `restore` raises and what `place` does."""
    reader = _reader(backup)
    address = place.require_empty()
    folder = place.files or place.home
    with ExitStack() as stack:
        staging = stack.enter_context(_staged(folder))
        if place.home != folder:
            stack.enter_context(_made(place.home))
        blobs, restored = _unpacked(reader, staging, folder, watch)
        if place.files is not None:
            for name in _part_of_files(staging / "blobs"):
                os.replace(staging / "blobs" / name, folder / name)
        for name in (*FOLDERS, SETTINGS):
            if (staging / name).exists():
                shutil.move(staging / name, place.home / name)
        os.sync()
        told = _stored(blobs) if place.files is None else iter(())
        place.fill(staging, told, lambda done, total: watch(Copying("database", done, total)))
        shutil.rmtree(staging)
    return replace(restored, path=place.home, address=address)


def restore(backup: Path, folder: Path, watch: Watch) -> Restored:
    """Make a library of a backup in a new or empty folder.

    It is migrated when it is opened first. Raises `BackupInvalid`, `LibraryNewer`, `FolderNotEmpty`,
    `DiskFull` or `LibraryReadOnly`; then nothing is left behind.
    """
    reader = _reader(backup)
    with _staged(folder) as staging:
        _, restored = _unpacked(reader, staging, folder, watch)
        _put_in_place(staging, folder)
        return restored


def _reader(backup: Path) -> BackupReader:
    reader = BackupReader(backup)
    known = known_migrations()[-1].number
    if reader.schema > known:
        raise LibraryNewer(path=backup, found=reader.schema, known=known)
    return reader


def _unpacked(reader: BackupReader, staging: Path, folder: Path, watch: Watch) -> tuple[BlobDirectory, Restored]:
    """All that is in a backup, checked, in a folder aside."""
    blobs = BlobDirectory(staging / "blobs")
    blobs.create()
    done = 0
    for file in reader.files():
        for size in _write(file, staging, blobs):
            done += size
            watch(Copying("files", done, max(done, reader.total_bytes)))
    if not (staging / DATABASE).exists():
        raise BackupInvalid(path=reader.path, reason=f"it has no {DATABASE}")
    return blobs, _looked_at(staging, blobs, folder)


def _stored(blobs: BlobDirectory) -> Iterator[StagedBlob]:
    for sha256 in blobs.stored():
        yield blobs.named(sha256, blobs.size(sha256) or 0)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """A new or empty folder; what was put there goes again if anything fails."""
    existed = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FolderNotEmpty(path=folder)
    try:
        yield
    except BaseException:
        _clear(folder)
        if not existed:
            folder.rmdir()
        raise


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """A folder in the new library's own, so that both are on one disk; removed again if anything fails."""
    existed = folder.exists()
    staging = folder / _STAGING
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What an interrupted restoring left has no database in its place; anything else is someone's.
        left = {item.name for item in folder.iterdir()}
        ours = {_STAGING, "blobs", *FOLDERS, TRACES, SETTINGS, *_part_of_files(folder)}
        if left and (_STAGING not in left or left - ours):
            raise FolderNotEmpty(path=folder)
        _clear(folder)
        staging.mkdir()
        try:
            yield staging
        except BaseException:
            _clear(folder)
            if not existed:
                folder.rmdir()
            raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(path=folder) from error
        raise LibraryReadOnly(path=folder, reason=error.strerror or str(error)) from error


def _clear(folder: Path) -> None:
    for name in ("blobs", *FOLDERS, _STAGING, *_part_of_files(folder)):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (DATABASE, TRACES, SETTINGS):
        (folder / name).unlink(missing_ok=True)


def _part_of_files(folder: Path) -> list[str]:
    return [item.name for item in folder.iterdir() if _PART_OF_FILES.fullmatch(item.name)]


def _write(file: BackupFile, staging: Path, blobs: BlobDirectory) -> Iterator[int]:
    own = own_file(file.name)
    if own is not None:
        path = staging / own
    else:
        path = staging / file.name if file.name in (DATABASE, TRACES, SETTINGS) else blobs.path(file.name)
    path.parent.mkdir(exist_ok=True)
    with path.open("xb") as target:
        for piece in file.pieces:
            target.write(piece)
            yield len(piece)


def _looked_at(staging: Path, blobs: BlobDirectory, folder: Path) -> Restored:
    """What is in the library; files that a newer moment of the backup does not name any more go, and so do leases."""
    database = SqliteDatabase(staging / DATABASE)
    try:
        with database.write() as tx:
            hand_back_jobs(tx)
        with database.read() as tx:
            held = contents(tx)
        stored = blobs.stored()
        files = 0
        while names := list(islice(stored, _AT_ONCE)):
            with database.read() as tx:
                nameless = unnamed(tx, names)
            for sha256 in nameless:
                blobs.path(sha256).unlink()
            files += len(names) - len(nameless)
    finally:
        database.close()
    return Restored(folder, held.schema, held.documents, files)


def _put_in_place(staging: Path, folder: Path) -> None:
    os.sync()
    for name in ("blobs", *FOLDERS, TRACES, SETTINGS, DATABASE):
        if (staging / name).exists():
            os.replace(staging / name, folder / name)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    staging.rmdir()
