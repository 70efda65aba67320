"""Documents move between knowledge bases, and at every moment answer in exactly one of the two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.embedding_server import EmbeddingServer
from wenyuan.errors import (
    DocumentNotFound,
    KnowledgeBaseArchived,
    KnowledgeBaseFull,
    KnowledgeBaseNotFound,
    SizeBlocked,
    SourceTaken,
    TypeBlocked,
)
from wenyuan.runtime.documents import DocumentView
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig, DocumentPolicy

ONE_WORKER = {"WENYUAN_WORKER_THREADS": "1"}
SECTIONS = "".join(f"# 第{number}节\n\n琥珀项目第{number}阶段，编号 PPR-{9000 + number}。\n\n" for number in range(700))


@pytest.fixture
def library(library: Library) -> Library:
    library.knowledge_bases.create("财务")
    return library


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "预算.md"
    path.write_text("# 预算\n\n琥珀项目的预算是三十万，编号 PPR-9087。", "utf-8")
    return path


def where(library: Library, question: str = "PPR-9087") -> list[str]:
    """The knowledge bases in which a question finds something, by keys and words and by meaning."""
    found = []
    for view in library.knowledge_bases.all():
        name = view.knowledge_base.name
        by_words = library.search(question, kb=name, arms=("structured", "keyword")).hits
        by_meaning = library.search("琥珀项目的预算", kb=name, arms=("vector",)).hits
        assert bool(by_words) == bool(by_meaning), name
        found += [name] * bool(by_words)
    return found


def move_one(library: Library, reference: Path | str, to: str) -> DocumentView:
    (view,) = library.documents.move([str(reference)], to)
    return view


def test_a_document_moves_without_being_read_or_embedded_again(
    library: Library, server: EmbeddingServer, note: Path, tmp_path: Path
) -> None:
    long = tmp_path / "阶段.md"
    long.write_text(SECTIONS, "utf-8")
    library.add(note, long)
    library.knowledge_bases.add_terms("财务", ["琥珀项目"])
    library.drain()
    before = {
        view.document.name: (view.latest.text_length, view.latest.chunk_count) for view in library.documents.list()
    }
    chunks = library.documents.chunks("阶段.md", limit=9000)
    asked = len(server.inputs)
    for path in (note, long):
        # If its bytes were asked for, that would be noticed.
        library._blobs.path(library.documents.show(str(path)).latest.blob_sha256).rename(tmp_path / path.stem)
    cited = library.search("PPR-9087").hits[0].passage.chunk_id
    moving = library.documents.move([str(note), str(long)], "财务")
    assert [(view.knowledge_base, view.moving_to) for view in moving] == [("default", "财务")] * 2
    assert where(library) == ["default"]
    library.drain()
    assert where(library) == ["财务"]
    for path in (note, long):
        view = library.documents.show(str(path))
        assert (view.knowledge_base, view.moving_to, view.semantic.state, view.updating) == ("财务", "", "ready", False)
        assert (view.latest.text_length, view.latest.chunk_count) == before[path.name]
        (tmp_path / path.stem).rename(library._blobs.path(view.latest.blob_sha256))
    assert library.documents.chunks("阶段.md", limit=9000) == chunks
    assert [hit.passage.document_name for hit in library.search("PPR-9503", kb="财务").hits][:1] == ["阶段.md"]
    assert len([text for text in server.inputs[asked:] if "阶段" in text]) == 0
    assert not library.documents.open(cited).changed_since
    assert library.add(note).received[0].outcome == "added"
    assert library.add(note, kb="财务").received[0].outcome == "unchanged"


@pytest.mark.parametrize("differs", ["chunking", "no model"])
def test_where_they_do_not_agree_it_is_made_anew_and_found_in_its_old_place_until_then(
    library: Library, note: Path, differs: str
) -> None:
    chunking = ChunkingConfig(100, 0) if differs == "chunking" else None
    library.knowledge_bases.create("别处", chunking=chunking, embedding_model="" if differs == "no model" else None)
    library.add(note)
    move_one(library, note, "别处")
    assert where(library) == ["default"]
    library.drain()
    assert [hit.passage.document_name for hit in library.search("PPR-9087", kb="别处").hits] == [note.name]
    assert library.search("PPR-9087", kb="default").hits == ()
    assert library.documents.show(str(note)).semantic.state == ("none" if differs == "no model" else "ready")


def test_a_move_that_fails_leaves_the_document_where_it_is(library: Library, note: Path) -> None:
    library.knowledge_bases.create("别处", chunking=ChunkingConfig(100, 0))
    library.add(note)
    blob = library._blobs.path(library.documents.show(str(note)).latest.blob_sha256)
    content = blob.read_bytes()
    blob.unlink()
    move_one(library, note, "别处")
    library.drain()
    view = library.documents.show(str(note))
    assert (view.latest.state, view.knowledge_base, view.moving_to) == ("failed", "default", "别处")
    assert where(library) == ["default"]
    blob.write_bytes(content)
    library.documents.retry(str(note))
    library.drain()
    assert where(library) == ["别处"]


def test_a_move_is_called_off_by_moving_back(library: Library, note: Path) -> None:
    library.add(note)
    before = library.documents.show(str(note)).latest.id
    move_one(library, note, "财务")
    view = move_one(library, note, "default")
    assert view.moving_to == ""
    library.drain()
    view = library.documents.show(str(note))
    assert (view.latest.id, view.latest.state, where(library)) == (before, "ready", ["default"])
    assert library.add(note).received[0].outcome == "unchanged"


def test_a_move_is_cancelled_and_taken_up(library: Library, note: Path) -> None:
    library.add(note)
    move_one(library, note, "财务")
    assert library.documents.cancel(str(note)).latest.state == "cancelled"
    library.drain()
    assert where(library) == ["default"]
    library.documents.retry(str(note))
    library.drain()
    assert where(library) == ["财务"]


def test_a_file_that_changes_while_its_document_moves_moves_on(library: Library, note: Path) -> None:
    library.add(note)
    move_one(library, note, "财务")
    note.write_text("琥珀项目的预算是四十万，编号 PPR-9087。", "utf-8")
    assert library.add(note).received[0].outcome == "updated"
    assert where(library) == ["财务"]
    assert "四十万" in library.search("PPR-9087", kb="财务").hits[0].passage.chunk.text


def test_the_newest_file_moves_though_an_older_one_is_served(library: Library, note: Path) -> None:
    library.add(note)
    note.write_text("琥珀项目的预算是五十万，编号 PPR-9087。", "utf-8")
    library.add(note, wait=False)
    move_one(library, note, "财务")
    assert "三十万" in library.search("PPR-9087", kb="default").hits[0].passage.chunk.text
    library.drain()
    assert (where(library), "五十万" in library.search("PPR-9087").hits[0].passage.chunk.text) == (["财务"], True)


def test_what_cannot_be_read_stays_behind_a_move(library: Library, note: Path) -> None:
    library.add(note)
    note.write_bytes(bytes(range(256)) * 8)
    library.add(note)
    assert library.documents.show(str(note)).latest.state == "failed"
    move_one(library, note, "财务")
    library.drain()
    assert where(library) == ["财务"]


@pytest.mark.parametrize("state", ["pending", "failed", "cancelled", "blocked"])
def test_what_is_not_found_yet_moves_at_once(library: Library, note: Path, state: str) -> None:
    if state == "failed":
        note.write_bytes(bytes(range(256)) * 8)
    if state == "blocked":
        library.knowledge_bases.set_policy("default", DocumentPolicy(types=("txt",)))
    library.add(note, wait=state == "failed")
    if state == "cancelled":
        library.documents.cancel(str(note))
    view = move_one(library, note, "财务")
    assert (view.knowledge_base, view.moving_to, view.latest.state) == ("财务", "", "pending")
    library.drain()
    assert library.documents.list("default") == []
    assert where(library) == ([] if state == "failed" else ["财务"])


def test_a_document_that_is_embedded_meanwhile_is_embedded_where_it_arrives(
    library: Library, server: EmbeddingServer, note: Path
) -> None:
    library.add(note, wait=False)
    library.drain(max_jobs=1)
    assert library.documents.show(str(note)).semantic.state == "pending"
    move_one(library, note, "财务")
    library.drain()
    assert (where(library), library.documents.show(str(note)).semantic.state) == (["财务"], "ready")
    assert len([text for text in server.inputs if "PPR-9087" in text]) >= 1


def test_passages_and_documents_stay_switched_off(library: Library, note: Path) -> None:
    library.add(note)
    library.documents.switch_passage(str(note), 0, enabled=False)
    move_one(library, note, "财务")
    library.drain()
    assert (where(library), library.documents.show(str(note)).disabled_passages) == ([], 1)
    library.documents.switch_passage(str(note), 0, enabled=True)
    library.documents.switch(str(note), enabled=False)
    move_one(library, note, "default")
    library.drain()
    assert where(library) == []
    library.documents.switch(str(note), enabled=True)
    assert where(library) == ["default"]


def test_a_document_that_is_deleted_while_it_moves_is_gone_from_both(library: Library, note: Path) -> None:
    library.add(note)
    move_one(library, note, "财务")
    library.documents.delete(str(note))
    assert where(library) == []
    library.drain()
    assert library.check() == []


def test_a_knowledge_base_that_is_deleted_takes_nothing_with_it_that_was_moving_there(
    library: Library, note: Path
) -> None:
    library.add(note)
    move_one(library, note, "财务")
    library.knowledge_bases.delete("财务")
    library.drain()
    assert where(library) == ["default"]
    assert library.documents.show(str(note)).moving_to == ""


def test_what_cannot_be_moved_is_refused_and_nothing_is_moved(library: Library, note: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("其他", "utf-8")
    library.add(note, other)
    bases = library.knowledge_bases
    refused = {
        KnowledgeBaseNotFound: "nowhere",
        TypeBlocked: bases.create("only html", policy=DocumentPolicy(types=("html",))).name,
        SizeBlocked: bases.create("small", policy=DocumentPolicy(max_file_bytes=7)).name,
        KnowledgeBaseFull: bases.create("full", policy=DocumentPolicy(max_documents=1)).name,
        KnowledgeBaseArchived: bases.create("old").name,
        SourceTaken: bases.create("taken").name,
    }
    library.add_text("x", "x", kb="full")
    library.add(note, kb="taken")
    bases.archive("old")
    mine = next(view.document.id for view in library.documents.list() if view.document.name == note.name)
    for error, name in refused.items():
        with pytest.raises(error):
            library.documents.move([str(other), mine], name)
    with pytest.raises(DocumentNotFound):
        library.documents.move([mine, "nothing"], "财务")
    assert {view.moving_to for view in library.documents.list()} == {""}
    assert library.jobs.list(only_live=True) == []


def test_a_source_that_is_taken_meanwhile_is_told_and_the_document_stays(library: Library, note: Path) -> None:
    library.add(note)
    move_one(library, note, "财务")
    library.add(note, kb="财务", wait=False)
    library.drain()
    mine = next(view for view in library.documents.list())
    assert mine.latest.problem is not None
    assert (mine.latest.problem.code, mine.updating) == ("source-taken", True)
    assert sorted(where(library)) == ["default", "财务"]
