"""Indexes are built aside while others answer: new documents, updates, failures, the switch, and the way back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.two_models import embedded_texts, found, indexed_with, opened
from wenyuan.errors import InvalidValue, ModelNotConfigured, NothingToRollBack, RebuildNotRunning, RebuildRunning
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig

Servers = Mapping[str, EmbeddingServer]
FILES = {f"{n}.txt": f"第{n}份水位记录，编号 PPR-10{n}。" for n in range(6)}
LONG = "\n\n".join(f"第{n}节。" + "水库的水位在这一节里有详细的记录。" * 6 for n in range(8))
SMALL = ChunkingConfig(100, 0)
EVERY = "水位？"


@pytest.fixture
def servers() -> Iterator[Servers]:
    with serving() as first, serving(dimensions=96) as second:
        yield {"a": first, "b": second}


@pytest.fixture
def library(tmp_path: Path, servers: Servers) -> Iterator[Library]:
    with opened(tmp_path, servers) as one:
        one.add_texts(wy.TextToAdd(text, name) for name, text in FILES.items())
        yield one


def count(library: Library, what: str) -> int:
    with library._database.read() as tx:
        row = tx.first(f"SELECT count(*) FROM {what}")
    return int(row[0]) if row is not None else -1


def state(library: Library) -> str:
    view = library.rebuilds.show("default")
    return view.rebuild.state if view is not None else ""


def once(act: Callable[[], object]) -> Callable[[list[str]], None]:
    """Does something before the first answer, and nothing before the others."""
    done = threading.Event()

    def before(_: list[str]) -> None:
        if not done.is_set():
            done.set()
            act()

    return before


def answers_fully(library: Library, names: set[str], model: str) -> None:
    """Every document is found by words and by meaning, with the vectors of one model, and nothing else is."""
    result = library.search(EVERY, top_k=100)
    assert result.degraded == ()
    assert {hit.passage.document_name for hit in result.hits} == names
    assert {hit.passage.document_name for hit in library.search(EVERY, top_k=100, arms=("vector",)).hits} == names
    assert indexed_with(library) == model
    assert library.check() == []


# --- What comes in meanwhile ---------------------------------------------------------------------


def test_what_comes_in_meanwhile_is_in_both(library: Library, servers: Servers) -> None:
    servers["b"].before_answer = once(lambda: library.add_text("后来的水位记录。", "later", wait=False))
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    names = {*FILES, "later"}
    answers_fully(library, names, "b")
    assert "后来的水位记录。" in "".join(embedded_texts(servers["a"]))
    assert library.rebuilds.roll_back("default").rebuild.state == "active"
    answers_fully(library, names, "a")


def test_more_urgent_work_is_done_in_between(library: Library, servers: Servers) -> None:
    servers["b"].before_answer = once(lambda: library.add_text("后来的水位记录。", "later", wait=False))
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    ended = {job.kind: job.finished_at or 0 for job in reversed(library.jobs.list(limit=100))}
    assert ended["ingest"] <= ended["rebuild"]
    assert ended["embed"] <= ended["rebuild"]


def test_an_update_meanwhile_is_found_in_its_new_version_alone(library: Library, servers: Servers) -> None:
    servers["b"].before_answer = once(lambda: library.add_text("更新后的水位记录。", "3.txt", wait=False))
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    answers_fully(library, set(FILES), "b")
    texts = {hit.passage.chunk.text for hit in library.search(EVERY, top_k=100).hits}
    assert "更新后的水位记录。" in texts
    assert FILES["3.txt"] not in texts


def test_a_deletion_meanwhile_leaves_nothing_behind(library: Library, servers: Servers) -> None:
    def delete() -> None:
        library.documents.delete("3.txt")
        library.documents.delete("5.txt")

    servers["b"].before_answer = once(delete)
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    answers_fully(library, set(FILES) - {"3.txt", "5.txt"}, "b")
    assert (count(library, "revisions"), count(library, "vectors")) == (4, 8)


# --- Giving up and failing -----------------------------------------------------------------------


@pytest.mark.parametrize("by_job", [False, True])
def test_cancelled_it_leaves_what_answers_as_it_is(library: Library, servers: Servers, by_job: bool) -> None:
    def cancel() -> None:
        if by_job:
            (job,) = [job for job in library.jobs.list(only_live=True) if job.kind == "rebuild"]
            library.jobs.cancel(job.id)
        else:
            library.rebuilds.cancel("default")

    servers["b"].before_answer = once(cancel)
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    assert state(library) == ""
    answers_fully(library, set(FILES), "a")
    assert (count(library, "index_generations"), count(library, "vectors")) == (2, 6)
    with pytest.raises(RebuildNotRunning):
        library.rebuilds.cancel("default")


def test_cancelled_before_it_began(library: Library) -> None:
    library.rebuilds.begin("default", embedding_model="b", chunking=SMALL)
    (job,) = library.jobs.list(only_live=True)
    library.jobs.cancel(job.id)
    library.drain()
    answers_fully(library, set(FILES), "a")
    assert count(library, "index_generations") == 2


def test_a_model_that_fails_leaves_the_old_index_answering(library: Library, servers: Servers) -> None:
    servers["b"].before_answer = lambda _: (401, {}, b"{}")
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    view = library.rebuilds.show("default")
    assert view is not None
    assert (view.rebuild.state, view.rebuild.problem and view.rebuild.problem.code) == ("failed", "provider-refused")
    answers_fully(library, set(FILES), "a")
    servers["b"].before_answer = lambda _: None
    library.rebuilds.begin("default")
    library.drain()
    answers_fully(library, set(FILES), "b")


def test_a_small_knowledge_base_is_not_switched_to_an_empty_index(tmp_path: Path, servers: Servers) -> None:
    with opened(tmp_path, servers) as library:
        library.add_text("水位记录。", "only")
        servers["b"].before_answer = lambda _: (400, {}, b"{}")
        library.rebuilds.begin("default", embedding_model="b")
        library.drain()
        assert state(library) == "failed"
        answers_fully(library, {"only"}, "a")


def test_a_text_that_the_model_refuses_costs_its_document_the_vectors(library: Library, servers: Servers) -> None:
    servers["b"].before_answer = lambda texts: (400, {}, b"{}") if FILES["3.txt"] in "".join(texts) else None
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    assert (state(library), indexed_with(library)) == ("active", "b")
    assert library.documents.show("3.txt").semantic.state == "failed"
    result = library.search("PPR-103 水位？", top_k=100)
    assert "vector-partial: 5 of 6 documents" in result.degraded
    assert result.hits[0].passage.document_name == "3.txt"
    assert library.check() == []


def test_a_model_that_is_down_is_waited_for(library: Library, servers: Servers) -> None:
    servers["b"].before_answer = lambda _: (503, {"Retry-After": "3600"}, b"")
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    view = library.rebuilds.show("default")
    assert view is not None
    assert view.rebuild.state == "building"
    assert view.waiting is not None
    answers_fully(library, set(FILES), "a")


# --- The way back --------------------------------------------------------------------------------


def test_back_again_what_has_come_since_is_made_up_for(library: Library, servers: Servers) -> None:
    library.rebuilds.begin("default", embedding_model="b")
    library.drain()
    library.add_text("后来的水位记录。", "later")
    library.documents.delete("0.txt")
    library.add_text("更新后的水位记录。", "1.txt")
    before = len(embedded_texts(servers["a"]))
    assert library.rebuilds.roll_back("default").rebuild.state == "building"
    assert indexed_with(library) == "b"
    library.drain()
    names = {*FILES, "later"} - {"0.txt"}
    answers_fully(library, names, "a")
    assert embedded_texts(servers["a"])[before:] == ["后来的水位记录。", "更新后的水位记录。"]
    assert library.rebuilds.roll_back("default").rebuild.state == "active"
    answers_fully(library, names, "b")


def test_a_rollback_that_is_given_up_can_be_done_later(library: Library, servers: Servers) -> None:
    library.rebuilds.begin("default", embedding_model="b", chunking=SMALL)
    library.drain()
    library.add_text("后来的水位记录。", "later")
    servers["a"].before_answer = once(lambda: library.rebuilds.cancel("default"))
    library.rebuilds.roll_back("default")
    library.drain()
    answers_fully(library, {*FILES, "later"}, "b")
    library.rebuilds.roll_back("default")
    library.drain()
    answers_fully(library, {*FILES, "later"}, "a")


@pytest.mark.parametrize("how", ["command", "time", "next"])
def test_replaced_indexes_are_taken_away(library: Library, how: str) -> None:
    library.rebuilds.begin("default", embedding_model="b", chunking=SMALL)
    library.drain()
    assert (count(library, "index_generations"), count(library, "vectors")) == (4, 12)
    if how == "command":
        library.rebuilds.drop_replaced("default")
    elif how == "time":
        with library._database.write() as tx:
            tx.run("UPDATE rebuilds SET switched_at = 0")
    else:
        library.rebuilds.begin("default", embedding_model="")
    library.drain()
    assert (count(library, "index_generations"), count(library, "vectors")) == (2, 6)
    assert library.check() == []
    if how != "next":
        answers_fully(library, set(FILES), "b")
        with pytest.raises(NothingToRollBack):
            library.rebuilds.roll_back("default")


def test_vectors_that_another_knowledge_base_uses_stay(library: Library) -> None:
    library.knowledge_bases.create("other", embedding_model="a")
    library.add_text(FILES["0.txt"], "copy", kb="other")
    library.rebuilds.begin("default", embedding_model="")
    library.rebuilds.drop_replaced("default")
    library.drain()
    assert library.search(EVERY, kb="other").degraded == ()
    assert library.check() == []


# --- Without a model -----------------------------------------------------------------------------


def test_words_alone_and_back(library: Library, servers: Servers) -> None:
    begun = library.rebuilds.begin("default", embedding_model="")
    assert begun is not None
    assert begun.rebuild.state == "active"
    assert (indexed_with(library), library.search(EVERY).degraded) == ("", ())
    assert set(found(library, EVERY)) == set(FILES)
    library.add_text("后来的水位记录。", "later")
    asked = len(servers["a"].inputs)
    library.rebuilds.begin("default", embedding_model="a")
    library.drain()
    answers_fully(library, {*FILES, "later"}, "a")
    assert embedded_texts(servers["a"])[asked:] == ["后来的水位记录。"]


def test_an_empty_knowledge_base_changes_at_once(tmp_path: Path, servers: Servers) -> None:
    with opened(tmp_path, servers) as library:
        begun = library.rebuilds.begin("default", embedding_model="b", chunking=SMALL)
        assert begun is not None
        assert begun.rebuild.state == "settled"
        library.add_text("水位记录。", "only")
        answers_fully(library, {"only"}, "b")
        assert library.rebuilds.begin("default") is None
        with pytest.raises(NothingToRollBack):
            library.rebuilds.roll_back("default")


# --- Cut anew ------------------------------------------------------------------------------------


def test_documents_that_are_cut_anew_are_found_as_before_until_the_switch(library: Library, servers: Servers) -> None:
    library.add_text(LONG, "long")
    cited = library.search("详细的记录？").hits[0].passage.chunk_id
    before = len(library.documents.chunks("long"))
    seen: list[tuple[int, tuple[str, ...]]] = []

    def look(texts: list[str]) -> None:
        if EVERY not in texts:
            result = library.search(EVERY, top_k=100)
            seen.append((len({hit.passage.document_name for hit in result.hits}), result.degraded))

    servers["a"].before_answer = look
    library.rebuilds.begin("default", chunking=SMALL)
    library.drain()
    servers["a"].before_answer = lambda _: None
    assert seen
    assert set(seen) == {(7, ())}
    assert len(library.documents.chunks("long")) > before
    answers_fully(library, {*FILES, "long"}, "a")
    view = library.documents.show("long")
    assert (view.latest.number, view.updating, view.semantic.state) == (1, False, "ready")
    assert library.documents.open(cited).passage
    # What is cut as before has its vectors already.
    assert all(embedded_texts(servers["a"]).count(text) == 1 for text in FILES.values())
    assert library.rebuilds.roll_back("default").rebuild.state == "active"
    assert len(library.documents.chunks("long")) == before
    answers_fully(library, {*FILES, "long"}, "a")


def test_updates_and_deletions_while_documents_are_cut_anew(library: Library, servers: Servers) -> None:
    library.add_text(LONG, "long")

    def change() -> None:
        library.add_text("更新后的水位记录。", "3.txt", wait=False)
        library.documents.delete("4.txt")
        library.add_text("后来的水位记录。", "later", wait=False)

    servers["b"].before_answer = once(change)
    library.rebuilds.begin("default", embedding_model="b", chunking=SMALL)
    library.drain()
    names = {*FILES, "long", "later"} - {"4.txt"}
    answers_fully(library, names, "b")
    assert library.documents.show("3.txt").latest.number == 2
    library.add_text("再次更新的水位记录。", "2.txt")
    library.rebuilds.roll_back("default")
    library.drain()
    answers_fully(library, names, "a")
    texts = {hit.passage.chunk.text for hit in library.search(EVERY, top_k=100).hits}
    assert {"更新后的水位记录。", "再次更新的水位记录。", "后来的水位记录。"} <= texts
    library.rebuilds.drop_replaced("default")
    library.drain()
    answers_fully(library, names, "a")
    assert count(library, "rebuilt_revisions") == 0


def test_every_document_can_be_read_anew(library: Library) -> None:
    library.knowledge_bases.add_terms("default", ["水位记录"])
    before = {view.document.name: view.document.serving_revision_id for view in library.documents.list()}
    library.rebuilds.begin("default", rereads=True)
    library.drain()
    after = {view.document.name: view.document.serving_revision_id for view in library.documents.list()}
    assert set(before.values()).isdisjoint(after.values())
    assert library.knowledge_bases.show("default").behind == 0
    answers_fully(library, set(FILES), "a")


def test_terms_that_are_added_meanwhile_are_read_with(library: Library, servers: Servers) -> None:
    servers["b"].before_answer = once(lambda: library.knowledge_bases.add_terms("default", ["水位记录"]))
    library.rebuilds.begin("default", embedding_model="b", rereads=True)
    library.drain()
    library.drain()
    assert library.knowledge_bases.show("default").behind == 0
    answers_fully(library, set(FILES), "b")


def test_a_document_whose_bytes_are_gone_stays_cut_as_it_was(library: Library) -> None:
    library.add_text(LONG, "long")
    before = [chunk.text for chunk in library.documents.chunks("long")]
    library._blobs.path(library.documents.show("long").latest.blob_sha256).unlink()
    library.rebuilds.begin("default", chunking=SMALL)
    library.drain()
    view = library.rebuilds.show("default")
    assert view is not None
    assert (view.rebuild.state, view.rebuild.problem is not None) == ("active", True)
    assert [chunk.text for chunk in library.documents.chunks("long")] == before
    assert set(found(library, EVERY)) == {*FILES, "long"}
    assert {finding.code for finding in library.check()} == {"blob-missing"}
    library.rebuilds.drop_replaced("default")
    library.drain()
    assert set(found(library, EVERY)) == {*FILES, "long"}


def test_a_version_that_waits_for_its_vectors_is_read_again_for_the_new_index(
    library: Library, servers: Servers
) -> None:
    servers["a"].before_answer = lambda texts: (503, {"Retry-After": "3600"}, b"") if EVERY not in texts else None
    library.add_text(LONG, "3.txt")
    assert library.documents.show("3.txt").latest.stage == "embedding"
    library.rebuilds.begin("default", embedding_model="b", chunking=SMALL)
    library.drain()
    answers_fully(library, set(FILES), "b")
    view = library.documents.show("3.txt")
    assert (view.latest.number, view.latest.state, view.updating) == (2, "ready", False)
    assert len(library.documents.chunks("3.txt")) > 1
    assert [chunk.end - chunk.start for chunk in library.documents.chunks("3.txt")] == [
        len(chunk.text) for chunk in library.documents.chunks("3.txt")
    ]


def test_a_failed_update_is_still_told_after_documents_are_cut_anew(library: Library) -> None:
    library.add_text("", "3.txt")
    assert (library.documents.show("3.txt").updating, library.documents.show("3.txt").latest.state) == (True, "failed")
    library.rebuilds.begin("default", chunking=SMALL)
    library.drain()
    view = library.documents.show("3.txt")
    assert (view.updating, view.latest.state) == (True, "failed")
    answers_fully(library, set(FILES), "a")


def test_what_is_switched_off_stays_so(library: Library) -> None:
    library.documents.switch("2.txt", enabled=False)
    library.rebuilds.begin("default", embedding_model="b", chunking=SMALL)
    library.drain()
    answers_fully(library, set(FILES) - {"2.txt"}, "b")
    library.documents.switch("2.txt", enabled=True)
    answers_fully(library, set(FILES), "b")


# --- What cannot be asked for --------------------------------------------------------------------


def test_one_rebuild_at_a_time(library: Library) -> None:
    library.rebuilds.begin("default", embedding_model="b")
    with pytest.raises(RebuildRunning):
        library.rebuilds.begin("default", embedding_model="")
    with pytest.raises(RebuildRunning):
        library.rebuilds.begin("default", chunking=SMALL)
    with pytest.raises(RebuildRunning):
        library.rebuilds.roll_back("default")
    again = library.rebuilds.begin("default", embedding_model="b")
    assert again is not None
    assert count(library, "rebuilds") == 1


def test_what_does_not_make_sense_is_refused(library: Library) -> None:
    with pytest.raises(ModelNotConfigured):
        library.rebuilds.begin("default", embedding_model="nobody")
    with pytest.raises(InvalidValue):
        library.rebuilds.begin("default", chunking=ChunkingConfig(1, 0))
    with pytest.raises(NothingToRollBack):
        library.rebuilds.roll_back("default")
    with pytest.raises(NothingToRollBack):
        library.rebuilds.drop_replaced("default")
    assert library.rebuilds.begin("default") is None
    assert count(library, "rebuilds") == 0


def test_a_knowledge_base_can_be_deleted_while_it_is_rebuilt(library: Library) -> None:
    library.knowledge_bases.create("other", embedding_model="a")
    library.add_texts([wy.TextToAdd(LONG, "long"), wy.TextToAdd("水位记录。", "short")], kb="other")
    library.rebuilds.begin("other", embedding_model="b", chunking=SMALL)
    library.drain(1)
    library.rebuilds.begin("default", embedding_model="b")
    library.knowledge_bases.delete("other")
    library.drain()
    answers_fully(library, set(FILES), "b")
    assert count(library, "revisions") == 6
