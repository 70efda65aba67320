"""Searches read a copy that follows the database; without it, and for what it does not know yet, they read that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

import wenyuan as wy
from tests.own_postgres import own_server, streaming_replica
from tests.postgres_server import copied_database, library_database, of_database, server_address
from tests.waiting import until
from wenyuan.errors import DatabaseUnreachable, DocumentNotFound, InvalidValue
from wenyuan.runtime.library import Library
from wenyuan.store.database import Database
from wenyuan.store.postgresql.opening import open_postgres
from wenyuan.store.replica import ReplicaFirst

_PLAIN = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
_READ_ONLY = "&options=-c%20default_transaction_read_only%3Don"


@contextmanager
def _opened(address: str, files: Path, replica: str | None) -> Iterator[Library]:
    with wy.open(address, blobs=files, replica=replica, environment=_PLAIN) as library:
        yield library


def _shut(address: str) -> None:
    """Let nobody in, and everybody out."""
    name = conninfo.conninfo_to_dict(address)["dbname"]
    with psycopg.connect(server_address(), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])


def test_searches_and_documents_are_read_from_the_replica_and_writes_are_not(tmp_path: Path) -> None:
    """The copy stands still, so that what is read from it can be told from what is in the database."""
    with library_database() as address:
        with _opened(address, tmp_path, None) as library:
            library.add_text("苍鹭 one", "one.md")
        with copied_database(address) as copy, _opened(address, tmp_path, copy + _READ_ONLY) as library:
            with _opened(address, tmp_path, None) as beside:
                beside.add_text("苍鹭 two", "two.md")
                beside.add_text("苍鹭 one, again", "one.md")
            found = library.search("苍鹭")
            assert [hit.passage.chunk.text for hit in found.hits] == ["苍鹭 one"]
            assert found.degraded == ()
            assert library.contents.text("one.md", 0, 100).text == "苍鹭 one"
            assert {one.severity for one in library.doctor() if one.code == "replica"} == {"ok"}
            # The trace is written to the database.
            assert library.trace(found.trace_id)["question"] == "苍鹭"
            # What the copy does not know, the database is asked for.
            assert library.contents.text("two.md", 0, 100).text == "苍鹭 two"
            (hit,) = library.search("苍鹭", documents=["one.md"]).hits
            assert hit.passage.chunk.text == "苍鹭 one"
            with pytest.raises(DocumentNotFound):
                library.contents.text("three.md", 0, 100)
            library.knowledge_bases.create("new")
            library.add_text("苍鹭 three", "three.md", kb="new")
            found = library.search("苍鹭", kb="new")
            assert ([hit.passage.document_name for hit in found.hits], found.degraded) == (["three.md"], ())
            # What is attached to a conversation has to be found in it.
            session = library.sessions.create("birds").id
            library.sessions.attach_text(session, "翠鸟 by the stream", "attached.md")
            library.drain()
            (hit,) = library.search("翠鸟", session=session).hits
            assert hit.passage.document_name == "attached.md"
            _shut(copy)
            found = library.search("苍鹭")
            assert {hit.passage.document_name for hit in found.hits} == {"one.md", "two.md", "three.md"}
            # Cut while it was asked, or refused when it was asked again.
            assert found.degraded in (("replica: database-unreachable",), ("replica: database-refused",))


def test_without_the_replica_the_database_answers_and_says_so(tmp_path: Path) -> None:
    with library_database() as address:
        nowhere = f"postgresql://postgres@/nothing?host={tmp_path}"
        with _opened(address, tmp_path / "files", nowhere) as library:
            library.add_text("苍鹭 one", "one.md")
            found = library.search("苍鹭")
            assert [hit.passage.document_name for hit in found.hits] == ["one.md"]
            assert found.degraded == ("replica: database-unreachable",)
            assert library.trace(found.trace_id)["degraded"] == list(found.degraded)
            assert library.contents.text("one.md", 0, 100).text == "苍鹭 one"
            (told,) = [one for one in library.doctor() if one.code == "replica"]
            assert (told.severity, "cannot be reached" in told.message) == ("warning", True)


@pytest.mark.parametrize(("what", "why"), [("of another", "database-unsuitable"), ("empty", "database-refused")])
def test_another_librarys_database_is_no_replica(tmp_path: Path, what: str, why: str) -> None:
    with library_database() as address, library_database() as other:
        with _opened(other, tmp_path / "other", None) as library:
            library.add_text("苍鹭 of another", "other.md")
        replica = other if what == "of another" else of_database(server_address(), "nowhere")
        with _opened(address, tmp_path / "files", replica) as library:
            library.add_text("苍鹭 one", "one.md")
            found = library.search("苍鹭")
            assert [hit.passage.document_name for hit in found.hits] == ["one.md"]
            assert found.degraded == (f"replica: {why}",)


def test_a_replica_that_fails_is_left_alone_for_a_while_and_then_asked_again() -> None:
    now, asked = 0.0, 0
    with library_database() as address:
        database, replica = (open_postgres(address, 10.0, create=False) for _ in range(2))

        def ask(from_: Database) -> bool:
            nonlocal asked
            if from_ is database:
                return False
            asked += 1
            if asked == 1:
                raise DatabaseUnreachable(path="it", reason="cut")
            with from_.read() as tx:
                return tx.first("SELECT 1") == (1,)

        missed: list[str] = []
        reading = ReplicaFirst(database, lambda: replica, lambda: now)
        told = [reading.ask(ask, lambda error: missed.append(error.code)) for _ in range(3)]
        assert (told, asked, missed) == ([False] * 3, 1, ["database-unreachable"] * 3)
        now += 11
        assert reading.ask(ask)
        assert reading.failure() is None
        reading.close()
        database.close()


@pytest.mark.soak
def test_a_streaming_replica_follows_is_behind_and_comes_back(tmp_path: Path) -> None:
    with own_server() as server, _opened(server.address, tmp_path, None) as writing:
        writing.add_text("苍鹭 one", "one.md")
        with streaming_replica(server) as replica, _opened(server.address, tmp_path, replica.address) as library:
            until(lambda: _names(library) == {"one.md"})
            assert library.search("苍鹭").degraded == ()
            writing.add_text("苍鹭 two", "two.md")
            until(lambda: _names(library) == {"one.md", "two.md"})
            replica.ask("SELECT pg_wal_replay_pause()")
            writing.add_text("苍鹭 three", "three.md")
            assert _names(library) == {"one.md", "two.md"}
            replica.ask("SELECT pg_wal_replay_resume()")
            until(lambda: len(_names(library)) == 3)
            # While the library changes, nothing that is read there gets in anyone's way for good.
            for number in range(60):
                writing.add_text(f"苍鹭 again {number}", "again.md")
                assert "one.md" in _names(library)
            replica.stop()
            found = library.search("苍鹭")
            assert found.degraded[0].startswith("replica: database-")
            assert "again.md" in {hit.passage.document_name for hit in found.hits}
            replica.start()
            until(lambda: library.search("苍鹭").degraded == ())


def _names(library: Library) -> set[str]:
    return {hit.passage.document_name for hit in library.search("苍鹭").hits}


def test_a_library_in_a_folder_has_no_replica(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="replica"):
        wy.open(tmp_path / "library", replica="postgresql://h/x")
    with library_database() as address, pytest.raises(InvalidValue, match="replica"):
        wy.open(address, blobs=tmp_path / "files", replica="h/x")
