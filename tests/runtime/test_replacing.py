"""The new version of a document takes the place of the old when its vectors are there, or after a while without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from wenyuan.runtime.library import Library
from wenyuan.store import knowledge_bases

OLD, NEW = "旧版：差旅每天补贴八十元。", "新版：差旅每天补贴一百元。"


@contextmanager
def opened(folder: Path, server: EmbeddingServer, *, replace_wait: float = 600) -> Iterator[Library]:
    home = folder / "library"
    home.mkdir(exist_ok=True)
    worker = f"[worker]\nthreads = 1\nreplace_wait_seconds = {replace_wait}\n"
    (home / "wenyuan.toml").write_text(server.settings() + worker, "utf-8")
    with wy.open(home) as library:
        yield library


@pytest.fixture
def library(tmp_path: Path, server: EmbeddingServer) -> Iterator[Library]:
    with opened(tmp_path, server) as one:
        one.add_text(OLD, "手册")
        yield one


def found(library: Library, question: str = "差旅补贴") -> list[str]:
    return [hit.passage.chunk.text for hit in library.search(question).hits]


def read_only(library: Library) -> None:
    """Do what is to be read, and nothing that is to be embedded."""
    library.drain(1)


def live(library: Library) -> list[tuple[str, str]]:
    return sorted((job.kind, job.state) for job in library.jobs.list(only_live=True))


def test_the_old_version_is_found_until_the_vectors_of_the_new_are_there(library: Library) -> None:
    library.add_text(NEW, "手册", wait=False)
    read_only(library)
    view = library.documents.show("手册")
    assert found(library) == [OLD]
    assert (view.updating, view.latest.state, view.latest.stage, view.semantic.state) == (
        True,
        "processing",
        "embedding",
        "ready",
    )
    assert live(library) == [("embed", "queued"), ("publish", "waiting")]
    assert library.check() == []
    library.drain()
    result = library.search("差旅补贴")
    assert [hit.passage.chunk.text for hit in result.hits] == [NEW]
    assert result.degraded == ()
    assert live(library) == []
    assert library.documents.show("手册").semantic.state == "ready"
    assert library.check() == []


def test_a_first_version_is_found_by_its_words_at_once(library: Library) -> None:
    library.add_text("第一次收录的水位记录。", "水位", wait=False)
    read_only(library)
    assert "第一次收录的水位记录。" in found(library, "水位记录")
    assert library.documents.show("水位").semantic.state == "pending"


def test_after_a_while_the_new_version_is_found_by_its_words(library: Library, server: EmbeddingServer) -> None:
    library.add_text(NEW, "手册", wait=False)
    read_only(library)
    server.before_answer = lambda texts: (503, {}, b"") if NEW in "".join(texts) else None
    with library._database.write() as tx:
        tx.run("UPDATE jobs SET run_after = 0 WHERE kind = 'publish'")
    library.drain(1)
    result = library.search("差旅补贴")
    assert [hit.passage.chunk.text for hit in result.hits] == [NEW]
    assert "published-without-vectors: 1 documents" in result.degraded
    assert library.documents.show("手册").semantic.state == "pending"
    server.before_answer = lambda _: None
    library.drain()
    assert library.search("差旅补贴").degraded == ()
    assert library.check() == []


def test_without_waiting_words_come_first(tmp_path: Path, server: EmbeddingServer) -> None:
    with opened(tmp_path, server, replace_wait=0) as library:
        library.add_text(OLD, "手册")
        library.add_text(NEW, "手册", wait=False)
        read_only(library)
        assert found(library) == [NEW]


def test_a_model_that_refuses_leaves_the_new_version_to_its_words(library: Library, server: EmbeddingServer) -> None:
    server.before_answer = lambda _: (400, {}, b'{"error": "no"}')
    library.add_text(NEW, "手册")
    view = library.documents.show("手册")
    assert found(library) == [NEW]
    assert (view.latest.state, view.updating, view.semantic.state) == ("ready", False, "failed")
    assert view.semantic.problem is not None
    assert view.semantic.problem.code == "provider-refused"
    assert library.check() == []
    server.before_answer = lambda _: None
    library.documents.retry("手册")
    library.drain()
    assert library.documents.show("手册").semantic.state == "ready"


def test_a_text_that_was_embedded_before_takes_the_place_at_once(library: Library, server: EmbeddingServer) -> None:
    library.add_text(NEW, "另一本")
    library.add_text(NEW, "手册", wait=False)
    calls = server.calls
    read_only(library)
    view = library.documents.show("手册")
    assert (view.updating, view.semantic.state, server.calls) == (False, "ready", calls)
    assert found(library) == [NEW]
    assert live(library) == [("purge", "queued")]
    library.drain()
    assert library.check() == []


@pytest.mark.parametrize("how", ["document", "embed", "publish"])
def test_cancelled_the_old_version_goes_on_serving(library: Library, how: str) -> None:
    library.add_text(NEW, "手册", wait=False)
    read_only(library)
    if how == "document":
        library.documents.cancel("手册")
    else:
        (job,) = [job for job in library.jobs.list(only_live=True) if job.kind == how]
        library.jobs.cancel(job.id)
    assert live(library) == []
    library.drain()
    view = library.documents.show("手册")
    assert found(library) == [OLD]
    assert (view.updating, view.latest.state) == (True, "cancelled")
    assert library.check() == []
    library.documents.retry("手册")
    library.drain()
    assert found(library) == [NEW]
    assert library.check() == []


def test_cancelled_in_the_middle_of_a_batch_the_old_version_goes_on_serving(
    library: Library, server: EmbeddingServer
) -> None:
    def cancel(texts: list[str]) -> None:
        if NEW in "".join(texts):
            library.documents.cancel("手册")

    server.before_answer = cancel
    library.add_text(NEW, "手册")
    server.before_answer = lambda _: None
    view = library.documents.show("手册")
    assert (found(library), view.latest.state, live(library)) == ([OLD], "cancelled", [])
    library.add_text(NEW, "手册")
    assert found(library) == [NEW]


def test_a_newer_version_takes_the_place_of_one_that_waits(library: Library) -> None:
    library.add_text(NEW, "手册", wait=False)
    read_only(library)
    library.add_text("更新：差旅每天补贴两百元。", "手册")
    assert found(library) == ["更新：差旅每天补贴两百元。"]
    assert live(library) == []
    assert library.check() == []


def test_deleted_while_it_waits_nothing_of_it_is_left(library: Library) -> None:
    library.add_text(NEW, "手册", wait=False)
    read_only(library)
    library.documents.delete("手册")
    library.drain()
    assert found(library) == []
    with library._database.read() as tx:
        assert tx.first("SELECT count(*) FROM revisions") == (0,)
        assert tx.first("SELECT count(*) FROM vectors") == (0,)
    assert library.check() == []


def test_a_knowledge_base_may_wait_for_the_vectors_of_first_versions(library: Library, server: EmbeddingServer) -> None:
    with library._database.write() as tx:
        base = knowledge_bases.find(tx, "local", "default")
        knowledge_bases.update(tx, replace(base, ready_when="semantic"))
    library.add_text("第一次收录的水位记录。", "水位", wait=False)
    read_only(library)
    assert "第一次收录的水位记录。" not in found(library, "水位记录")
    assert live(library) == [("embed", "queued")]
    library.drain()
    assert "第一次收录的水位记录。" in found(library, "水位记录")
    server.before_answer = lambda _: (400, {}, b"{}")
    library.add_text("第二份水位记录。", "水位二")
    assert "第二份水位记录。" in found(library, "水位记录")
    assert library.documents.show("水位二").semantic.state == "failed"
