"""Traces lie in a file of their own: nothing waits for it, and nothing is lost from it or without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import wenyuan as wy
from tests.store.processes import answer, other_process, search_when_told
from wenyuan.errors import NotALibrary, TraceNotFound
from wenyuan.runtime.library import Library

KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A library with one document, closed, in which nothing has been searched for."""
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library:
        library.add_text("水文站今日水位正常。", "水位.md")
    for file in (tmp_path / "library").glob("traces.db*"):
        file.unlink()
    return tmp_path / "library"


@pytest.fixture
def library(home: Path) -> Iterator[Library]:
    with wy.open(home, environment=KEYWORD_ONLY) as opened:
        yield opened


def _file(library: Library) -> Path:
    return library.path / "traces.db"


def _found(library: Library) -> tuple[str, ...]:
    """What a search and an answer had to do without, both having found what they should."""
    result, answered = library.search("水位"), library.ask("水位")
    assert [hit.passage.document_name for hit in result.hits] == ["水位.md"]
    assert [one.document_name for one in answered.citations] == ["水位.md"]
    assert result.degraded == answered.search.degraded
    return result.degraded


def test_the_file_is_made_when_it_is_first_used(home: Path) -> None:
    with wy.open(home, environment=KEYWORD_ONLY) as library:
        assert library.check() == []
        assert not _file(library).exists()
        assert library.traces() == []
        with pytest.raises(TraceNotFound):
            library.trace("trace_1")
        assert _found(library) == ()
        assert len(library.traces()) == 2
        assert library.check() == []


def test_a_library_goes_on_where_its_traces_were_deleted(home: Path) -> None:
    for _ in range(2):
        with wy.open(home, environment=KEYWORD_ONLY) as library:
            assert _found(library) == ()
            assert len(library.traces()) == 2
        for file in home.glob("traces.db*"):
            file.unlink()


def test_a_search_writes_nothing_into_the_library_itself(library: Library) -> None:
    log = library.path / "wenyuan.db-wal"
    _found(library)
    before = log.stat()
    _found(library)
    assert (log.stat().st_size, log.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_a_search_waits_for_nobody_who_writes_to_the_library(library: Library) -> None:
    with wy.open(library.path, environment=KEYWORD_ONLY) as other, other._database.write():
        assert _found(library) == ()


def test_a_search_that_cannot_keep_its_trace_still_answers(library: Library) -> None:
    _found(library)
    with wy.open(library.path, environment=KEYWORD_ONLY) as other, other._database.traces.write():
        assert library.search("水位").degraded == ("trace: library-locked",)
    assert _found(library) == ()


@pytest.mark.parametrize("kind", ["folder", "garbage", "newer", "another program's"])
def test_a_file_that_cannot_be_used_costs_the_traces_and_nothing_else(library: Library, kind: str) -> None:
    file = _file(library)
    if kind == "folder":
        file.mkdir()
    elif kind == "garbage":
        file.write_bytes(b"no database " * 1000)
    else:
        connection = apsw.Connection(str(file))
        table = "schema_migrations" if kind == "newer" else "t"
        connection.execute(f"CREATE TABLE {table} (number, name, sha256, applied_at)")
        connection.execute(f"INSERT INTO {table} VALUES (99, 'later', 'x', 0)")
        connection.close()
    code = {"folder": "library-read-only", "newer": "library-newer"}.get(kind, "not-a-library")
    assert _found(library) == (f"trace: {code}",)
    assert [(one.severity, "without traces" in one.message) for one in library.doctor() if one.code == "traces"] == [
        ("warning", True)
    ]
    assert library.drain() == 0
    if kind == "garbage":
        assert {one.code for one in library.check()} == {"traces-damaged"}
        with pytest.raises(NotALibrary):
            library.traces()
        file.unlink()
        assert _found(library) == ()


def test_old_traces_go_when_work_begins(library: Library) -> None:
    old, kept = library.search("水位").trace_id, library.search("水位").trace_id
    with library._database.traces.write() as tx:
        tx.run("UPDATE traces SET created_at = :at WHERE id = :id", {"at": tx.now - 31 * 86_400_000, "id": old})
        tx.run("UPDATE traces SET created_at = :at WHERE id = :id", {"at": tx.now - 29 * 86_400_000, "id": kept})
    library.drain()
    assert [one["id"] for one in library.traces()] == [kept]


def test_several_processes_make_the_file_at_once(home: Path) -> None:
    with (
        other_process(search_when_told, home, 5) as one,
        other_process(search_when_told, home, 5) as two,
        wy.open(home, environment=KEYWORD_ONLY) as library,
    ):
        for pipe in (one, two):
            assert answer(pipe) == "ready"
        for pipe in (one, two):
            pipe.send("go")
        told = [library.search("水位") for _ in range(5)]
        kept = [trace_id for pipe in (one, two) for trace_id in answer(pipe)] + [result.trace_id for result in told]
        assert [result.degraded for result in told] == [()] * 5
        assert {one["id"] for one in library.traces()} == set(kept)
        assert len(kept) == 15


SEARCHING = """
import sys
import wenyuan as wy
with wy.open(sys.argv[1]) as library:
    while True:
        print(library.search("水位").trace_id, flush=True)
"""


def test_no_trace_is_lost_once_its_search_has_returned(home: Path) -> None:
    told = []
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", SEARCHING, str(home)], stdout=subprocess.PIPE, text=True, env=_environment()
        )
        assert process.stdout is not None
        told += [process.stdout.readline().strip() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        # The last line may be cut short.
        told += [line.strip() for line in process.stdout.readlines() if line.endswith("\n")]
        process.wait()
        process.stdout.close()
    with wy.open(home, environment=KEYWORD_ONLY) as library:
        assert len(told) >= 60
        for trace_id in told:
            assert library.trace(trace_id)["question"] == "水位"
        assert library.check() == []


def _environment() -> dict[str, str]:
    return {**os.environ, **KEYWORD_ONLY}
