"""Two versions of the program side by side: what is added disturbs nobody, and what is taken away is met politely."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import wenyuan as wy
from tests.postgres_server import library_database
from tests.waiting import until
from wenyuan.errors import LibraryNewer, MigrationNeeded
from wenyuan.runtime.library import Library
from wenyuan.store import migrate
from wenyuan.store.migrate import Migration
from wenyuan.store.postgresql import opening

_PLAIN = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1", "WENYUAN_WORKER_POLL_SECONDS": "0.05"}
_KNOWN = migrate.known_migrations
_EXPAND = Migration(
    9001,
    "9001_expand",
    "ALTER TABLE documents ADD COLUMN shelf TEXT NOT NULL DEFAULT '';\n"
    "CREATE TABLE shelves (name TEXT PRIMARY KEY);\n"
    "CREATE INDEX documents_by_shelf ON documents (shelf);",
)
_CONTRACT = Migration(9002, "9002_contract", "ALTER TABLE revisions DROP COLUMN staged_by;")


@contextmanager
def _newer(*more: Migration) -> Iterator[None]:
    """The program with these migrations besides its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "known_migrations", lambda kind="": _KNOWN(kind) if kind else (*_KNOWN(), *more))
        yield


@contextmanager
def _working(library: Library) -> Iterator[list[BaseException]]:
    """A worker beside the test, and what ended it."""
    ended: list[BaseException] = []

    def work() -> None:
        try:
            library.work()
        except LibraryNewer as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield ended
    finally:
        library.stop_working()
        thread.join()


def _is_found(library: Library, text: str) -> bool:
    return any(text in hit.passage.chunk.text for hit in library.search(text).hits)


def test_an_old_worker_works_on_while_a_newer_program_expands_the_schema(tmp_path: Path) -> None:
    with (
        library_database() as address,
        wy.open(address, blobs=tmp_path, environment=_PLAIN) as old,
        _working(old) as ended,
    ):
        old.add_text("苍鹭 before", "before.md", wait=False)
        until(lambda: _is_found(old, "before"))
        with _newer(_EXPAND):
            # Until it is migrated, the newer program leaves it alone.
            with pytest.raises(MigrationNeeded):
                wy.open(address, blobs=tmp_path, environment=_PLAIN)
            assert opening.migrate_url(address, 10.0) == 9001
            with wy.open(address, blobs=tmp_path, environment=_PLAIN) as new:
                # What the one adds the other reads, and finds.
                old.add_text("苍鹭 by the old", "old.md", wait=False)
                new.add_text("苍鹭 by the new", "new.md", wait=False)
                until(lambda: _is_found(new, "by the old") and _is_found(old, "by the new"))
                assert [one for one in new.check() if one.severity != "ok"] == []
        assert ended == []
        assert _is_found(old, "before")
        # A program of the old version that is started now would not know what it works with.
        with pytest.raises(LibraryNewer):
            wy.open(address, blobs=tmp_path, environment=_PLAIN)


def test_an_old_worker_ends_politely_when_the_schema_is_contracted(tmp_path: Path) -> None:
    with library_database() as address, wy.open(address, blobs=tmp_path, environment=_PLAIN) as old:
        with _working(old) as ended:
            old.add_text("苍鹭 before", "before.md", wait=False)
            until(lambda: _is_found(old, "before"))
            with _newer(_EXPAND, _CONTRACT):
                opening.migrate_url(address, 10.0)
            with old._database.write() as tx:
                tx.run("UPDATE jobs SET state = 'queued', attempts = 0, finished_at = NULL WHERE kind = 'ingest'")
            until(lambda: ended)
        with pytest.raises(LibraryNewer):
            old.add_text("苍鹭 after", "after.md")
        # The work is not lost, and was nobody's fault.
        (job,) = [job for job in old.jobs.list() if job.kind == "ingest"]
        assert (job.state, job.attempts, job.problem) == ("queued", 0, None)
