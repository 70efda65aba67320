"""What tests do in processes of their own, and how they start them."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import wenyuan as wy
from tests.store.old_libraries import BlockedHalfWay
from wenyuan.errors import WenyuanError
from wenyuan.flows.backup import Copying
from wenyuan.runtime.upkeep import Finding
from wenyuan.store import migrate, queue
from wenyuan.store.sqlite import SqliteDatabase

_NEW = multiprocessing.get_context("spawn")  # a forked child would share its parent's SQLite locks
_PATIENCE_SECONDS = 60.0
_NOBODY = 65_534


@contextmanager
def other_process(work: Callable[..., None], *arguments: Any) -> Iterator[Connection]:
    """Run `work(pipe, *arguments)` elsewhere, and give our end of the pipe."""
    ours, theirs = _NEW.Pipe()
    process = _NEW.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
        ours.close()
        process.join(_PATIENCE_SECONDS)
        assert process.exitcode == 0
    finally:
        process.kill()
        process.join()


@contextmanager
def doomed_process(work: Callable[..., None], *arguments: Any) -> Iterator[Connection]:
    """The same, but the process is killed (SIGKILL) when the context ends."""
    ours, theirs = _NEW.Pipe()
    process = _NEW.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        process.kill()
        process.join()
    assert process.exitcode == -signal.SIGKILL


def answer(pipe: Connection) -> Any:
    """What the other process sends next."""
    assert pipe.poll(_PATIENCE_SECONDS), "the other process does not answer"
    return pipe.recv()


def hold_the_write_lock(pipe: Connection, path: Path) -> None:
    """Write, tell so, and commit when told to."""
    database = SqliteDatabase(path, 10.0)
    with database.write() as tx:
        tx.run("UPDATE counters SET value = value + 1 WHERE name = 'chunk'")
        pipe.send("held")
        pipe.recv()
    database.close()
    pipe.send("released")


def open_when_told(pipe: Connection, folder: Path, times: int) -> None:
    """Open that many libraries, each at the same moment as others do."""
    pipe.send("ready")
    for number in range(times):
        pipe.recv()
        library = folder / str(number)
        database = SqliteDatabase(library / "wenyuan.db", 10.0)
        try:
            pipe.send(migrate.migrate(database, library))
        except WenyuanError as error:
            pipe.send(repr(error))
        finally:
            database.close()


def write_without_permission(pipe: Connection, path: Path) -> None:
    """Try to write as a user who may not, and tell the error's code."""
    if os.geteuid() == 0:
        os.setuid(_NOBODY)
    database = SqliteDatabase(path, 1.0)
    try:
        with database.write() as tx:
            tx.run("UPDATE counters SET value = 77")
        pipe.send("written")
    except WenyuanError as error:
        pipe.send(error.code)
    finally:
        database.close()


def claim_all(pipe: Connection, path: Path, worker: str) -> None:
    """When told, claim and finish jobs until there are none, and tell which they were."""
    database = SqliteDatabase(path, 10.0)
    pipe.send("ready")
    pipe.recv()
    claimed = []
    while leases := queue.claim(database, worker, 60_000, ("ingest",)):
        (lease,) = leases
        claimed.append(lease.job.id)
        with database.write() as tx:
            queue.hold(tx, lease, 60_000)
            queue.finish(tx, lease)
    database.close()
    pipe.send(claimed)


def claim_and_die(pipe: Connection, path: Path) -> None:
    """Claim a job, begin to write under its lease, and be gone in the middle of it."""
    database = SqliteDatabase(path, 10.0)
    (lease,) = queue.claim(database, "doomed", 0, ("ingest",))
    with database.write() as tx:
        queue.hold(tx, lease, 0)
        queue.progress(tx, lease, "reading", 5, 10)
        pipe.send(lease.job.id)
        os._exit(0)


def search_when_told(pipe: Connection, home: Path, times: int) -> None:
    """Open a library and search it that many times when told, and tell the traces."""
    with wy.open(home, environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}) as library:
        pipe.send("ready")
        pipe.recv()
        pipe.send([library.search("水位").trace_id for _ in range(times)])


def migrate_half_way(pipe: Connection, folder: Path) -> None:
    """Tell when a migration is done but for its commit, and wait to be killed."""
    BlockedHalfWay(lambda: pipe.send("half way"), pipe.recv).migrate(folder)


def open_old_when_told(pipe: Connection, folder: Path) -> None:
    """Open an old library at the same moment as others do, and tell what is found."""
    pipe.send("ready")
    pipe.recv()
    try:
        with wy.open(folder, create=False) as library:
            pipe.send(sorted(view.document.name for view in library.documents.list()))
    except WenyuanError as error:
        pipe.send(repr(error))


def back_up_until(pipe: Connection, home: Path, target: Path, stage: str) -> None:
    """Back a library up until a stage is reached, tell so, and wait to be killed."""

    def watch(copying: Copying) -> None:
        if copying.stage == stage:
            pipe.send(stage)
            pipe.recv()

    with wy.open(home, create=False) as library:
        library.backup(target, watch=watch)


def restore_until(pipe: Connection, backup: Path, folder: Path) -> None:
    """Begin to restore a backup, tell so, and wait to be killed."""

    def watch(_: Copying) -> None:
        pipe.send("begun")
        pipe.recv()

    wy.restore(backup, folder, watch=watch)


def change_until_told(pipe: Connection, home: Path) -> None:
    """Add, change and delete documents, and purge what was deleted, until told to stop."""
    with wy.open(home, create=False) as library:
        pipe.send("changing")
        number = 0
        while not pipe.poll():
            number += 1
            for name in range(6):
                library.add_text(f"round {number} of {name} 苍鹭", f"changing-{name}.md", wait=False)
            library.drain()
            library.documents.delete(f"changing-{number % 6}.md")
            library.drain()
        pipe.recv()
        pipe.send(number)


def import_until_half(pipe: Connection, home: Path, archive: Path) -> None:
    """Import an archive, tell each step, and go on when told."""

    def watch(done: int, total: int) -> None:
        pipe.send((done, total))
        pipe.recv()

    with wy.open(home, create=False) as library:
        library.knowledge_bases.import_(archive, watch=watch)


def repair_until(pipe: Connection, home: Path, code: str) -> None:
    """Repair a library until a finding of that code was mended, tell so, and wait to be killed."""

    def watch(finding: Finding, _: bool) -> None:
        if finding.code == code:
            pipe.send(code)
            pipe.recv()

    with wy.open(home, create=False) as library:
        library.repair(deep=True, on_mended=watch)
