"""A whole library in PostgreSQL: used as one in a folder, moved between the two, copied by PostgreSQL's tools."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.postgres_server import empty_database, library_database, program
from tests.program import run_here
from tests.runtime.herons import SECTIONS
from wenyuan.errors import InvalidValue
from wenyuan.runtime.library import Library

_QUESTIONS = ("苍鹭在哪里过冬", "PPR-9803", "which lake", "2026-04-12", "the heron of the second post")


@pytest.fixture(scope="module")
def model() -> Iterator[EmbeddingServer]:
    with serving() as server:
        yield server


@pytest.fixture
def address() -> Iterator[str]:
    with library_database() as address:
        yield address


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "herons.md").write_text(f"---\nauthor: Li\n---\n# Herons\n\n{SECTIONS}\n", "utf-8")
    (folder / "lake.json").write_text('{"lake": "North", "note": "a\\u0000b"}', "utf-8")
    (folder / "empty.md").write_bytes(b"")
    return folder


def _home(folder: Path, model: EmbeddingServer) -> Path:
    folder.mkdir(parents=True)
    (folder / "wenyuan.toml").write_text(model.settings(), "utf-8")
    return folder


def _found(library: Library) -> list[list[tuple[str, int, float]]]:
    return [
        [
            (hit.passage.document_name, hit.passage.chunk.seq, round(hit.score, 4))
            for hit in library.search(question).hits
        ]
        for question in _QUESTIONS
    ]


def test_what_is_found_is_what_a_folder_finds(
    tmp_path: Path, notes: Path, model: EmbeddingServer, address: str
) -> None:
    found = []
    for place, home in ((None, "folder"), (address, "files")):
        folder = _home(tmp_path / home, model)
        with wy.open(place or folder, blobs=folder if place else None) as library:
            library.add(notes)
            library.add_text("二号苍鹭的湖", "two.md")
            library.documents.delete("lake.json")
            library.add(notes / "lake.json")
            assert [one for one in library.check(deep=True) if one.severity != "ok"] == []
            found.append([_found(library), library.ask(_QUESTIONS[0]).text])
            assert library.trace(library.search("苍鹭").trace_id)["question"] == "苍鹭"
    assert found[0] == found[1]


def test_a_knowledge_base_goes_to_postgresql_and_back_without_being_embedded_again(
    tmp_path: Path, notes: Path, model: EmbeddingServer, address: str
) -> None:
    out, back = tmp_path / "out.tar", tmp_path / "back.tar"
    with wy.open(_home(tmp_path / "first", model)) as library:
        library.knowledge_bases.create("birds")
        library.add(notes, kb="birds")
        library.documents.switch_passage("herons.md", 2, enabled=False)
        told = _found(library)
        library.knowledge_bases.export("birds", out)
    embedded = len(model.inputs)
    with wy.open(address, blobs=_home(tmp_path / "files", model)) as library:
        library.knowledge_bases.import_(out)
        library.drain()
        passages = len(model.inputs) - embedded
        assert _found(library) == told
        library.knowledge_bases.export("birds", back)
        assert [one for one in library.check(deep=True) if one.severity != "ok"] == []
    with wy.open(_home(tmp_path / "last", model)) as library:
        library.knowledge_bases.import_(back)
        library.drain()
        assert _found(library) == told
    # Only questions were embedded since, none of the passages.
    assert passages == 0
    assert all(text.startswith("query") or len(text) < 60 for text in model.inputs[embedded:])


def test_pg_dump_and_the_folder_of_files_are_a_backup(
    tmp_path: Path, notes: Path, model: EmbeddingServer, address: str
) -> None:
    files, dump = _home(tmp_path / "files", model), tmp_path / "library.dump"
    with wy.open(address, blobs=files) as library:
        library.add(notes)
        told = _found(library)
    # The database first: files that come later are no harm, and those that it names must be there.
    subprocess.run([program("pg_dump"), "--format=custom", f"--file={dump}", address], check=True)
    shutil.copytree(files, tmp_path / "copied")
    with empty_database() as other:
        subprocess.run([program("pg_restore"), "--no-owner", f"--dbname={other}", dump], check=True)
        with wy.open(other, blobs=tmp_path / "copied", create=False) as library:
            assert _found(library) == told
            assert [one for one in library.check(deep=True) if one.severity != "ok"] == []
            library.add_text("新的苍鹭", "new.md")
            assert library.search("新的苍鹭").hits[0].passage.document_name == "new.md"


def test_workers_on_two_machines_share_the_work(
    tmp_path: Path, notes: Path, model: EmbeddingServer, address: str
) -> None:
    """Files are shared; what tells the living from the dead on one machine is not."""
    files = _home(tmp_path / "files", model)
    with wy.open(address, blobs=files) as one, wy.open(address, blobs=files) as other:
        working = threading.Thread(target=other.work)
        working.start()
        one.add(notes, wait=False)
        for number in range(20):
            one.add_text(f"heron {number}", f"{number}.md", wait=False)
        one.drain()
        while one.jobs.list(only_live=True):
            one.drain()
        other.stop_working()
        working.join()
        views = one.documents.list(limit=100)
        assert sorted(view.latest.state for view in views) == ["failed"] + ["ready"] * 22
        assert [finding for finding in one.check() if finding.severity != "ok"] == []


def test_the_program_takes_an_address(tmp_path: Path, notes: Path) -> None:
    more = {"WENYUAN_BLOBS": str(tmp_path / "files"), "WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
    with empty_database() as address:
        missing = run_here("--library", address, "search", "苍鹭", **more)
        assert "library-not-found" in missing.stderr
        assert run_here("--library", address, "migrate", **more).returncode == 0
        assert run_here("--library", address, "add", notes / "herons.md", **more).returncode == 0
        assert "PPR-9803" in run_here("--library", address, "search", "PPR-9803", **more).stdout
        assert run_here("--library", address, "check", **more).returncode == 0
        assert "Python" in run_here("--library", address, "doctor", **more).stdout
        with psycopg.connect(address) as connection:
            connection.execute("DELETE FROM schema_migrations_postgresql")
        assert "migration-needed" in run_here("--library", address, "search", "苍鹭", **more).stderr
    assert "postgresql://" in run_here("--library", tmp_path / "folder", "migrate", **more).stderr


def test_a_library_in_postgresql_needs_a_folder_for_its_files(address: str) -> None:
    with pytest.raises(InvalidValue, match="folder"):
        wy.open(address)
