"""What is deleted is gone from every sight at once, and nothing of it is left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.embedding_server import EmbeddingServer
from tests.program import run_here
from wenyuan.flows.sweep import sweep_unused
from wenyuan.runtime.library import Library
from wenyuan.types import DocumentPolicy

_EMPTY_AFTER = (
    "documents revisions revision_text chunks keys document_fields revision_indexes vectors vector_codes blobs "
    "disabled_passages moves former_sources"
).split()
NAME = "林砚秋的体检.md"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    path.write_text("---\nauthor: 林砚秋\n---\n# 体检\n\n2026-04-14 血压正常，编号 PPR-9087。", "utf-8")
    return path


def rows(library: Library, table: str) -> int:
    with library._database.read() as tx:
        row = tx.first(f"SELECT count(*) FROM {table}")
    assert row is not None
    return int(row[0])


def left(library: Library) -> dict[str, int]:
    """What is left in the tables that should be empty, in the lexical indexes, and on the disk."""
    counted = {table: rows(library, table) for table in _EMPTY_AFTER}
    with library._database.read() as tx:
        numbers = [row[0] for row in tx.all("SELECT number FROM index_generations WHERE kind = 'lexical'")]
        counted |= {f"lexical {number}": tx.lexical.size(tx, number) for number in numbers}
    counted["files"] = len(list(library._blobs.stored())) + len(list(library._blobs.incoming()))
    return {name: count for name, count in counted.items() if count}


def remembered(library: Library) -> str:
    """Everything that is kept of questions, and of jobs that ended."""
    traces: list[Any] = library.traces(100)
    return json.dumps(traces, ensure_ascii=False) + repr(library.jobs.list(limit=100))


def test_nothing_is_left_of_a_deleted_document(library: Library, note: Path) -> None:
    library.add(note)
    note.write_text(note.read_text("utf-8").replace("正常", "偏高"), "utf-8")
    library.add(note)
    note.write_bytes(bytes(range(256)) * 8)
    library.add(note)
    library.documents.switch_passage(str(note), 0, enabled=False)
    library.documents.switch_passage(str(note), 0, enabled=True)
    assert library.ask("PPR-9087 血压").citations
    assert NAME in remembered(library)
    library.documents.delete(str(note))
    assert library.search("血压").hits == ()
    library.drain()
    assert left(library) == {}
    assert NAME not in remembered(library)


def test_nothing_is_left_of_a_deleted_knowledge_base(library: Library, note: Path, tmp_path: Path) -> None:
    library.knowledge_bases.create("旧")
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(70):
        (folder / f"{number}号档案.md").write_text(f"# 档案 {number}\n\n血压记录 {number}。", "utf-8")
    library.add(note, folder, kb="旧")
    assert library.search("血压", kb="旧", top_k=50).hits
    library.knowledge_bases.delete("旧")
    assert library.search("血压").hits == ()
    library.drain()
    assert left(library) == {}
    assert NAME not in remembered(library)
    assert "号档案" not in remembered(library)


def test_what_others_use_stays(library: Library, note: Path, server: EmbeddingServer) -> None:
    twin = note.with_name("副本.md")
    twin.write_bytes(note.read_bytes())
    library.add(note, twin)
    library.search("血压")
    library.documents.delete(str(note))
    library.drain()
    assert [hit.passage.document_name for hit in library.search("血压").hits] == [twin.name]
    trace = json.dumps(library.traces(5), ensure_ascii=False)
    assert (NAME in trace, twin.name in trace) == (False, True)
    asked = len(server.inputs)
    library.add(note)
    assert len([text for text in server.inputs[asked:] if "血压" in text]) == 0


def test_a_trace_can_still_be_shown(library: Library, note: Path, tmp_path: Path) -> None:
    library.add(note)
    trace = library.search("血压").trace_id
    library.documents.delete(str(note))
    library.drain()
    shown = run_here("--library", tmp_path / "library", "explain", trace)
    assert (shown.returncode, NAME in shown.stdout) == (0, False)


def test_an_answer_in_a_session_goes_with_the_document_it_quotes(library: Library, note: Path) -> None:
    library.add(note)
    session = library.sessions.create()
    for question in ("PPR-9087 血压", "没有的东西"):
        list(library.converse(question, session=session.id))
    before = library.turns.page(session.id).turns
    assert "血压" in before[1].text
    # Traces go after a while, and answers stay: deleting must not need them.
    with library._database.traces.write() as tx:
        tx.run("DELETE FROM traces")
    library.documents.delete(str(note))
    library.drain()
    after = library.turns.page(session.id).turns
    assert [turn.text for turn in after] == ["PPR-9087 血压", "", "没有的东西", before[3].text]
    assert after[1].answer is not None
    assert (after[1].answer["finish_reason"], after[1].answer["citations"]) == ("erased", [])
    with library._database.read() as tx:
        assert "血压正常" not in str(tx.all("SELECT * FROM turns"))


@pytest.mark.parametrize("state", ["pending", "processing", "failed", "cancelled", "blocked", "waiting", "replaced"])
def test_a_document_is_deleted_in_any_state(library: Library, note: Path, server: EmbeddingServer, state: str) -> None:
    if state == "failed":
        note.write_bytes(bytes(range(256)) * 8)
    if state == "blocked":
        library.knowledge_bases.set_policy("default", DocumentPolicy(types=("txt",)))
    if state == "waiting":
        server.before_answer = lambda _: (429, {"Retry-After": "3600"}, b"{}")
    try:
        library.add(note, wait=state in ("failed", "waiting", "replaced"))
    finally:
        server.before_answer = lambda _: None
    if state == "replaced":
        note.write_text("换了内容。", "utf-8")
        library.add(note, wait=False)
    if state == "processing":
        with library._database.write() as tx:
            tx.run("UPDATE revisions SET state = 'processing', stage = 'reading'")
    if state == "cancelled":
        library.documents.cancel(str(note))
    library.documents.delete(str(note))
    assert library.documents.list() == []
    assert library.search("血压").hits == ()
    library.drain()
    assert left(library) == {}
    assert library.add(note).received[0].outcome == ("blocked" if state == "blocked" else "added")


def test_a_name_that_is_still_remembered_is_found_by_check(library: Library, note: Path) -> None:
    library.add(note)
    library.search("血压")
    with library._database.traces.read() as tx:
        kept = tx.all("SELECT id, body FROM traces")
    library.documents.delete(str(note))
    with library._database.write() as tx:
        tx.run("DELETE FROM jobs WHERE subject_kind = 'traces'")
    assert [one.code for one in library.check()] == ["erasure-lost"]
    library.documents.delete(library.add_text("x", "x", wait=False).document_id or "")
    library.drain()
    assert library.check() == []
    with library._database.write() as tx:
        tx.run("DELETE FROM erasures")
    with library._database.traces.write() as tx:
        tx.run_many("UPDATE traces SET body = :body WHERE id = :id", [{"id": one, "body": body} for one, body in kept])
    assert [one.code for one in library.check()] == ["trace-leftover"]
    with library._database.traces.write() as tx:
        tx.run("DELETE FROM traces")


def test_a_search_that_was_under_way_is_looked_through_later(library: Library, note: Path) -> None:
    library.add(note)
    library.search("血压")
    with library._database.traces.read() as tx:
        kept = tx.all("SELECT id, body FROM traces")
    library.documents.delete(str(note))
    library.drain()
    with library._database.traces.write() as tx:
        # Written by a search that began before the deletion.
        tx.run_many("UPDATE traces SET body = :body WHERE id = :id", [{"id": one, "body": body} for one, body in kept])
    assert library.check() == []
    with library._database.write() as tx:
        tx.run("UPDATE erasures SET hidden_at = hidden_at - 100000")
    library.drain()
    assert NAME not in remembered(library)
    assert rows(library, "erasures") == 0


def test_what_an_interruption_left_behind_is_swept_up(library: Library, note: Path) -> None:
    library.add(note)
    old = library._blobs.path("ab" * 32)
    young = library._blobs.path("cd" * 32)
    for path in (old, young):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"words")
    os.utime(old, (0, 0))
    with library._database.write() as tx:
        for number in range(5000):
            digest = number.to_bytes(32, "big")
            tx.run(
                "INSERT INTO vectors (model_key, input_hash, vector) VALUES (1, :hash, :vector)",
                {"hash": digest, "vector": bytes(128)},
            )
    used = 1
    swept = [sweep_unused(library._database, library._blobs) for _ in range(64)]
    assert sum(one.vectors for one in swept) == 5000
    assert max(one.vectors for one in swept) <= 2000
    assert sum(one.files for one in swept) == 1
    assert (rows(library, "vectors"), old.exists(), young.exists()) == (used, False, True)
    assert library.search("血压", arms=("vector",)).hits
    young.unlink()
