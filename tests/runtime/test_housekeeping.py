"""What a worker forgets between jobs, and that nobody misses it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from wenyuan.flows.housekeeping import forget_old_work
from wenyuan.runtime.library import Library
from wenyuan.store import knowledge_bases


@pytest.fixture
def library(tmp_path: Path, server: EmbeddingServer) -> Iterator[Library]:
    home = tmp_path / "library"
    home.mkdir()
    (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
    with wy.open(home) as opened:
        yield opened


def age_jobs(library: Library, days: int) -> None:
    with library._database.write() as tx:
        tx.run("UPDATE jobs SET finished_at = finished_at - :age", {"age": days * 86_400_000})


def test_jobs_that_ended_long_ago_are_forgotten(library: Library) -> None:
    library.add_text("水位正常。", "旧")
    age_jobs(library, 29)
    library.drain()
    assert len(library.jobs.list()) == 2
    age_jobs(library, 2)
    library.add_text("水位偏高。", "新")
    jobs = library.jobs.list()
    assert [job.state for job in jobs] == ["done", "done"]
    assert library.documents.jobs("旧") == []
    assert library.check() == []


def test_why_a_document_has_no_vectors_is_not_forgotten(library: Library, server: EmbeddingServer) -> None:
    server.before_answer = lambda _: (400, {}, b'{"error": {"message": "bad model"}}')
    library.add_text("水位正常。", "失败")
    library.add_text("水位正常。", "取消", wait=False)
    library.drain(max_jobs=1)
    library.jobs.cancel(next(job.id for job in library.jobs.list(only_live=True)))
    age_jobs(library, 400)
    library.drain()
    assert {name: library.documents.show(name).semantic.state for name in ("失败", "取消")} == {
        "失败": "failed",
        "取消": "failed",
    }
    assert library.check() == []
    for name in ("失败", "取消"):
        library.documents.delete(name)
    library.drain()
    age_jobs(library, 400)
    library.drain()
    assert library.jobs.list() == []


def test_live_jobs_are_never_forgotten(library: Library) -> None:
    library.add_text("水位正常。", "等待", wait=False)
    with library._database.write() as tx:
        tx.run("UPDATE jobs SET created_at = 1, run_after = 1")
    assert forget_old_work(library._database, 0) == 0
    assert library.drain() == 2


def test_forgetting_is_done_in_bounded_batches(library: Library) -> None:
    library.add_texts((wy.TextToAdd(f"第{n}份", f"{n}") for n in range(40)), wait=False)
    library.drain()
    with library._database.write() as tx:
        base = knowledge_bases.find(tx, "local", "default")
        assert knowledge_bases.forget_changes(tx, base.id, 10, 25) == 25
        assert knowledge_bases.forget_changes(tx, base.id, 10, 25) == 25
        left = base.change_number - 60
        assert knowledge_bases.forget_changes(tx, base.id, 10, 25) == min(25, left)
        while knowledge_bases.forget_changes(tx, base.id, 10, 25):
            pass
        assert tx.all("SELECT count(*), max(number) FROM changes") == [(10, base.change_number)]
        assert knowledge_bases.long_logs(tx, 10) == []
    assert library.check() == []


def test_a_reader_that_lags_behind_what_is_kept_reads_everything_anew(library: Library) -> None:
    """Its arrays would otherwise go on showing what was deleted, and miss what was added."""
    library.add_text("甲乙丙丁", "旧")
    assert [hit.passage.document_name for hit in library.search("甲乙丙丁", arms=("vector",)).hits] == ["旧"]
    with wy.open(library.path) as other:
        other.documents.delete("旧")
        other.add_text("甲乙丙丁", "新")
        with other._database.write() as tx:
            base = knowledge_bases.find(tx, "local", "default")
            assert knowledge_bases.forget_changes(tx, base.id, 1, 1000) > 1
    assert [hit.passage.document_name for hit in library.search("甲乙丙丁", arms=("vector",)).hits] == ["新"]
    assert library.check() == []
