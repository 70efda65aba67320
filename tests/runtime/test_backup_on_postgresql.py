"""A backup of a library in PostgreSQL has the form of any other, and either becomes a library of either kind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.postgres_server import empty_database, library_database
from tests.program import run_here
from tests.runtime.herons import SECTIONS
from wenyuan.errors import BackupInvalid, DatabaseUnsuitable, FolderNotEmpty, InvalidValue
from wenyuan.flows.backup import Copying
from wenyuan.runtime.library import Library
from wenyuan.store.sqlite import SqliteDatabase

_QUESTIONS = ("苍鹭在哪里过冬", "PPR-9803", "which lake", "2026-04-12", "heron")


@pytest.fixture(scope="module")
def model() -> Iterator[EmbeddingServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def original(model: EmbeddingServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library in PostgreSQL: documents of which one was replaced and one deleted, switches, a session, a trace."""
    home = tmp_path_factory.mktemp("original") / "files"
    (home / "prompts").mkdir(parents=True)
    (home / "wenyuan.toml").write_text(f"{model.settings()}\n[search]\ntop_k = 5\n", "utf-8")
    (home / "prompts" / "style.md").write_text("Be brief.", "utf-8")
    with library_database() as address, wy.open(address, blobs=home) as library:
        library.add_text(f"---\nauthor: Li\n---\n# Herons\n\n{SECTIONS}\n", "herons.md")
        library.add_text("a\x00b 北湖 North lake", "lake.txt")
        library.add_text("South lake", "lake.txt")
        library.add_text("gone", "gone.txt")
        library.documents.delete("gone.txt")
        library.documents.switch_passage("herons.md", 2, enabled=False)
        library.sessions.create("about herons")
        library.drain()
        library.search("苍鹭")
        yield library


def _told(library: Library) -> list[object]:
    found = [
        [
            (hit.passage.document_name, hit.passage.chunk.seq, hit.passage.chunk.text, round(hit.score, 4))
            for hit in library.search(question).hits
        ]
        for question in _QUESTIONS
    ]
    sessions = [one.title for one in library.sessions.list()]
    return [found, sessions, library.documents.original("lake.txt"), library.settings.search.top_k]


def _sound(library: Library) -> bool:
    return [one for one in library.check(deep=True) if one.severity != "ok"] == []


@pytest.mark.parametrize("form", ["backup", "backup.tar"])
def test_a_backup_becomes_a_library_in_a_folder(original: Library, tmp_path: Path, form: str) -> None:
    seen: list[Copying] = []
    made = original.backup(tmp_path / form, watch=seen.append)
    assert (made.documents, made.missing, made.findings) == (2, (), ())
    assert {one.stage for one in seen} == {"database", "files", "verifying"}
    assert all(0 <= one.done <= one.total for one in seen)
    traces = len(original.traces(100))
    told = _told(original)
    restored = wy.restore(tmp_path / form, tmp_path / "library")
    assert (restored.documents, restored.address) == (2, "")
    with wy.open(tmp_path / "library") as library:
        assert _sound(library)
        assert len(library.traces(100)) == traces
        assert _told(library) == told
        assert (tmp_path / "library" / "prompts" / "style.md").read_text("utf-8") == "Be brief."
        library.add_text("新的苍鹭", "new.md")
        assert library.search("新的苍鹭").hits[0].passage.document_name == "new.md"
        assert _sound(library)


def test_a_second_backup_copies_only_what_is_new(original: Library, tmp_path: Path) -> None:
    original.backup(tmp_path / "backup", quick=True)
    assert original.backup(tmp_path / "backup", quick=True).copied_files == 0


def test_a_backup_becomes_a_library_in_postgresql_without_being_embedded_again(
    original: Library, model: EmbeddingServer, tmp_path: Path
) -> None:
    told = _told(original)
    original.backup(tmp_path / "backup", quick=True)
    wy.restore(tmp_path / "backup", tmp_path / "between")
    with wy.open(tmp_path / "between") as between:
        between.backup(tmp_path / "again.tar", quick=True)
    embedded = len(model.inputs)
    with empty_database() as address:
        restored = wy.restore(tmp_path / "again.tar", address, blobs=tmp_path / "files")
        assert (restored.path, restored.documents) == (tmp_path / "files", 2)
        assert restored.address.startswith("postgresql://")
        with wy.open(address, blobs=tmp_path / "files", create=False) as library:
            assert _sound(library)
            assert _told(library) == told
            library.add_text("新的苍鹭", "new.md")
            assert library.search("新的苍鹭").hits[0].passage.document_name == "new.md"
            assert _sound(library)
    assert not (tmp_path / "files" / "restoring").exists()
    # The new document and questions; no passage that has its vector.
    assert all("ringed at post" not in text for text in model.inputs[embedded:])


def test_a_backup_is_of_one_moment_while_others_write(original: Library, tmp_path: Path) -> None:
    """Two documents that are always replaced together are of one round in every copy."""
    stop = threading.Event()

    def write(number: int) -> None:
        with original._database.write() as tx:
            tx.run("UPDATE counters SET value = :n WHERE name = 'clock'", {"n": number})
            tx.run("UPDATE sessions SET title = :n", {"n": str(number)})

    def write_on() -> None:
        for number in count(1):
            if stop.is_set():
                return
            write(number)

    write(0)
    writing = threading.Thread(target=write_on)
    writing.start()
    try:
        for attempt in range(3):
            target = tmp_path / f"{attempt}.db"
            original._database.copy_to(target)
            assert [path.name for path in tmp_path.iterdir() if path.name.startswith(target.name)] == [target.name]
    finally:
        stop.set()
        writing.join()
    for attempt in range(3):
        assert _round(tmp_path / f"{attempt}.db")


def _round(file: Path) -> bool:
    database = SqliteDatabase(file)
    try:
        with database.read() as tx:
            (row,) = tx.all("SELECT (SELECT value FROM counters WHERE name = 'clock'), (SELECT title FROM sessions)")
    finally:
        database.close()
    return str(row[0]) == str(row[1])


def test_what_cannot_be_restored_leaves_nothing(original: Library, tmp_path: Path) -> None:
    backup, files = tmp_path / "backup", tmp_path / "files"
    original.backup(backup, quick=True)
    with library_database() as address, pytest.raises(DatabaseUnsuitable, match="tables already"):
        wy.restore(backup, address, blobs=files)
    with empty_database() as address:
        with pytest.raises(InvalidValue, match="folder"):
            wy.restore(backup, address)
        files.mkdir()
        (files / "mine").touch()
        with pytest.raises(FolderNotEmpty):
            wy.restore(backup, address, blobs=files)
        (files / "mine").unlink()
        blob = next(path for path in (backup / "blobs").rglob("*") if path.is_file())
        blob.write_bytes(b"other")
        with pytest.raises(BackupInvalid):
            wy.restore(backup, address, blobs=files)
        assert list(files.iterdir()) == []
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public'").fetchone() is None


def test_the_program_backs_up_and_restores(tmp_path: Path) -> None:
    plain = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
    with library_database() as address:
        here = {**plain, "WENYUAN_BLOBS": str(tmp_path / "files")}
        (tmp_path / "heron.md").write_text("PPR-9803 苍鹭", "utf-8")
        assert run_here("--library", address, "add", tmp_path / "heron.md", **here).returncode == 0
        assert run_here("--library", address, "backup", tmp_path / "it.tar", **here).returncode == 0
    with empty_database() as other:
        there = {**plain, "WENYUAN_BLOBS": str(tmp_path / "restored")}
        told = run_here("restore", tmp_path / "it.tar", "--to", other, **there)
        assert told.returncode == 0, told.stderr
        assert "postgresql://" in told.stdout
        assert "PPR-9803" in run_here("--library", other, "search", "PPR-9803", **there).stdout
