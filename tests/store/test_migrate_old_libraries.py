"""Libraries of every earlier schema open by themselves, whole, whatever happens while they are brought up to date."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import apsw
import pytest

import wenyuan as wy
from tests.small_disks import disk, fill
from tests.store.old_libraries import SCHEMAS, unpack
from tests.store.processes import answer, doomed_process, migrate_half_way, open_old_when_told, other_process
from wenyuan.errors import DiskFull, LibraryNewer
from wenyuan.runtime.library import Library
from wenyuan.store import migrate
from wenyuan.store.migrate import Migration, known_migrations

_ALL = ["default", "handbook"]


Old = tuple[Path, dict[str, Any]]


@pytest.fixture(params=SCHEMAS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Old:
    return unpack(request.param, tmp_path)


def _found(library: Library, expected: dict[str, list[list[str]]]) -> dict[str, list[list[str]]]:
    found = {}
    for asked in expected:
        arm, _, question = asked.partition(": ")
        hits = library.search(question, kb=_ALL, arms=(arm,)).hits  # type: ignore[arg-type]
        found[asked] = [[hit.passage.document_name, hit.passage.chunk.text] for hit in hits]
    return found


def _schema(folder: Path) -> int:
    connection = apsw.Connection(str(folder / "wenyuan.db"))
    number: int = connection.execute("SELECT max(number) FROM schema_migrations").get
    connection.close()
    return number


def test_an_old_library_is_as_it_was(old: Old) -> None:
    folder, expected = old
    with wy.open(folder) as library:
        assert _found(library, expected["found"]) == expected["found"]
        # As long as unread.md is unread, nothing has changed.
        assert {question: library.ask(question, kb=_ALL).text for question in expected["answers"]} == expected[
            "answers"
        ]
        assert len(library.traces(100)) >= 5
        assert [run.complete for run in library.evaluation.runs()] == [True]
        words = library.knowledge_bases.show("handbook").vocabulary
        assert (words.terms, words.synonyms) == (("转换体验课",), (("人工智能", "AI", "artificial intelligence"),))
        base = library.knowledge_bases.show("handbook").knowledge_base
        assert (base.description, base.persona, base.scenario, base.tags) == (
            "How we work",
            "short",
            "office",
            ("work", "规章"),
        )
    assert _schema(folder) == known_migrations()[-1].number


def test_its_documents_stand_as_they_did(old: Old) -> None:
    with wy.open(old[0]) as library:
        documents = library.documents
        assert documents.show("empty.txt").latest.state == "failed"
        assert documents.show("cancelled.md").latest.state == "cancelled"
        weekly, settings = documents.show("周会 2026-04-14.md"), documents.show("settings.json")
        assert (weekly.latest.number, weekly.updating, weekly.searchable) == (3, False, True)
        assert (settings.latest.number, settings.updating, settings.searchable) == (2, True, True)
        assert not documents.show("switched off.txt").document.enabled
        assert documents.original("旧闻.txt").decode("gb18030").startswith("北京的秋天")
        assert "old words.txt" not in {view.document.name for view in documents.list()}
        assert library.search("nobody should find any more", kb=_ALL).hits == ()


def test_its_unfinished_work_goes_on(old: Old) -> None:
    with wy.open(old[0]) as library:
        diary, unread = library.documents.show("diary.md"), library.documents.show("unread.md")
        assert (diary.semantic.state, unread.latest.state) == ("pending", "pending")
        assert 8 <= diary.semantic.done < diary.semantic.total
        assert {one.code for one in library.check() if one.severity == "error"} == set()
        library.drain()
        assert library.documents.show("diary.md").semantic.state == "ready"
        assert library.search("刚刚收到", kb="handbook").hits != ()
        assert library.search("H-1033", kb="diary").hits[0].exactness != "none"
        assert library.jobs.list(only_live=True) == []
        assert library.check() == []


def test_a_kill_before_the_commit_leaves_the_old_library(old: Old) -> None:
    folder, expected = old
    before = _schema(folder)
    with doomed_process(migrate_half_way, folder) as pipe:
        assert answer(pipe) == "half way"
    assert _schema(folder) == before
    with wy.open(folder) as library:
        assert _found(library, expected["found"]) == expected["found"]
        library.drain()
        assert library.check() == []


def test_two_processes_may_open_an_old_library_at_once(old: Old) -> None:
    folder, _ = old
    with ExitStack() as stack:
        others = [stack.enter_context(other_process(open_old_when_told, folder)) for _ in range(3)]
        assert [answer(other) for other in others] == ["ready"] * 3
        for other in others:
            other.send("open")
        told = [answer(other) for other in others]
    assert "leave.md" in told[0]
    assert told[1:] == told[:1] * 2
    assert list(folder.glob("*.part")) == []


def test_a_newer_library_is_refused_and_unharmed(old: Old) -> None:
    folder, _ = old
    connection = apsw.Connection(str(folder / "wenyuan.db"))
    connection.execute("INSERT INTO schema_migrations VALUES (9999, '9999_of_tomorrow', 'ab', 0)")
    connection.close()
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.db")}
    with pytest.raises(LibraryNewer) as refused:
        wy.open(folder)
    assert refused.value.details["found"] == 9999
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.db")} == before


# --- The copy of before --------------------------------------------------------------------------


@pytest.fixture
def one_more(monkeypatch: pytest.MonkeyPatch) -> int:
    """Today's program with one more migration; its number."""
    known = known_migrations()
    more = Migration(len(known) + 1, "0099_more", "CREATE TABLE more (a TEXT);")
    real = migrate.known_migrations
    monkeypatch.setattr(migrate, "known_migrations", lambda kind="": real(kind) if kind else (*known, more))
    return more.number


def test_the_database_is_kept_as_it_was_for_the_older_program(old: Old, one_more: int) -> None:
    folder, expected = old
    before = _schema(folder)
    with wy.open(folder) as library:
        library.add_text("written since", "since.md", wait=False)
    assert _schema(folder) == one_more
    kept = folder / f"wenyuan.db.schema-{before}"
    connection = apsw.Connection(str(kept))
    assert connection.execute("SELECT max(number) FROM schema_migrations").get == before
    assert connection.execute("SELECT count(*) FROM documents WHERE name = 'since.md'").get == 0
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    connection.close()
    # What was made at the way back works: the copy in the place of the database.
    for name in ("wenyuan.db-wal", "wenyuan.db-shm"):
        (folder / name).unlink(missing_ok=True)
    os.replace(kept, folder / "wenyuan.db")
    with wy.open(folder) as library:
        assert _found(library, expected["found"]) == expected["found"]


def test_a_copy_goes_after_a_while_and_none_is_made_without_need(old: Old, one_more: int) -> None:
    folder, _ = old
    before = _schema(folder)
    with wy.open(folder):
        pass
    (kept,) = folder.glob("wenyuan.db.schema-*")
    migrate.forget_copies(folder, 3600)
    assert kept.exists()
    os.utime(kept, (0, 0))
    migrate.forget_copies(folder, 3600)
    assert list(folder.glob("wenyuan.db.schema-*")) == []
    with wy.open(folder):
        pass
    assert list(folder.glob("wenyuan.db.schema-*")) == []
    assert before < one_more


def test_without_room_for_a_copy_there_is_none(old: Old, one_more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = old
    monkeypatch.setattr(migrate, "_ROOM_PER_COPY", 1 << 60)
    with wy.open(folder):
        pass
    assert _schema(folder) == one_more
    assert list(folder.glob("wenyuan.db.schema-*")) == []


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_full_disk_is_named_and_harms_nothing(schema: str, tmp_path: Path, one_more: int) -> None:
    with disk(tmp_path / "disk", 6) as small:
        folder, expected = unpack(schema, small)
        filler = small / "filler"
        fill(filler)
        with pytest.raises(DiskFull):
            wy.open(folder)
        filler.unlink()
        assert _schema(folder) < one_more
        with wy.open(folder) as library:
            assert _found(library, expected["found"]) == expected["found"]
        assert _schema(folder) == one_more


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_disk_with_little_room_gets_no_copy(schema: str, tmp_path: Path, one_more: int) -> None:
    with disk(tmp_path / "disk", 6) as small:
        folder, expected = unpack(schema, small)
        fill(small / "filler", leaving=1 << 20)
        with wy.open(folder) as library:
            assert _found(library, expected["found"]) == expected["found"]
        assert _schema(folder) == one_more
        assert list(folder.glob("wenyuan.db.schema-*")) == []
