"""Small files are published together, and each is still its own: its error, its cancelling, its lease."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import wenyuan as wy
from wenyuan.flows.ingest import Ingesting, ingest
from wenyuan.flows.work import Work
from wenyuan.identifiers import new_id
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader
from wenyuan.parsers.wire import Request
from wenyuan.runtime.library import Library
from wenyuan.store import queue
from wenyuan.types import Job
from wenyuan.worker import Worker, WorkerLimits, WorkerName

ONE_WORKER = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
LIMITS = WorkerLimits(lease_seconds=60, stall_seconds=600, poll_seconds=0.1, max_attempts=3)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with wy.open(tmp_path / "library", environment=ONE_WORKER) as opened:
        yield opened


def add(library: Library, count: int, text: str = "第{n}份水位记录。") -> None:
    library.add_texts((wy.TextToAdd(text.format(n=n), f"{n:02d}") for n in range(count)), wait=False)


def states(library: Library) -> dict[str, str]:
    return {view.document.name: view.latest.state for view in library.documents.list()}


def jobs(library: Library) -> list[Job]:
    return library.jobs.list(limit=1000)


class Meddling(SandboxedReader):
    """A reader during whose first reading something happens in the library."""

    def __init__(self, meddle: Callable[[], None]) -> None:
        super().__init__(ReadLimits())
        self._meddle = meddle
        self._is_done = False

    def make(self, request: Request, checked: Callable[[Any], Any], following: Request | None = None) -> Iterator[Any]:
        if not self._is_done:
            self._is_done = True
            self._meddle()
        yield from super().make(request, checked, following)


def work_while(library: Library, meddle: Callable[[Worker], None]) -> int:
    """Do everything with one worker, during whose first reading something happens."""
    name = WorkerName(library.path / "workers", "meddled-with")
    with Meddling(lambda: meddle(worker)) as reader:
        tools = Ingesting(library._database, library._blobs, reader, new_id, "test 1")

        def perform(works: Sequence[Work]) -> Any:
            return ingest(tools, works)

        worker = Worker(library._database, {"ingest": perform}, name, LIMITS, random.Random(0))
        taken = worker.drain()
    name.close()
    return taken


def test_small_files_are_published_in_groups(library: Library) -> None:
    add(library, 70)
    assert library.drain() == 70
    views = library.documents.list()
    assert {view.latest.state for view in views} == {"ready"}
    assert len({view.latest.published_at for view in views}) <= 3
    assert {job.state for job in jobs(library)} == {"done"}
    assert library.search("第33份").hits[0].passage.document_name == "33"
    assert library.check() == []


def test_a_bound_on_jobs_is_exact(library: Library) -> None:
    add(library, 40)
    taken = [library.drain(bound) for bound in (5, 1, 33, 9)]
    assert taken == [5, 1, 33, 1]
    assert set(states(library).values()) == {"ready"}


def test_a_file_at_fault_fails_alone(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for n in range(12):
        (folder / f"{n:02d}.json").write_text('{"水位": "正常"}' if n % 5 else '{"水位": ', "utf-8")
    library.add(folder)
    expected = {f"{n:02d}.json": "ready" if n % 5 else "failed" for n in range(12)}
    assert states(library) == expected
    assert {job.problem.code for job in jobs(library) if job.problem is not None} == {"file-malformed"}
    assert library.check() == []


def test_long_and_short_files_go_together(library: Library) -> None:
    sentences = "".join(f"第{n}条记录：水位正常，仪器已校准，数据已上传。" for n in range(12_000))
    texts = {"a": "短的。", "b": sentences, "c": "也短。"}
    library.add_texts((wy.TextToAdd(text, name) for name, text in texts.items()))
    assert set(states(library).values()) == {"ready"}
    assert library.documents.show("b").latest.chunk_count > 512
    for name, text in texts.items():
        found = "".join(chunk.text for chunk in library.documents.chunks(name, limit=10_000))
        assert found == text
    assert library.check() == []


def test_a_job_cancelled_meanwhile_is_left_out(library: Library) -> None:
    add(library, 6)
    assert work_while(library, lambda _: cancel(library, "03")) == 6
    assert states(library) == {f"{n:02d}": "cancelled" if n == 3 else "ready" for n in range(6)}
    assert sorted(job.state for job in jobs(library)) == ["cancelled", *["done"] * 5]
    assert library.check() == []


def cancel(library: Library, name: str) -> None:
    library.documents.cancel(name)


def test_a_job_taken_over_meanwhile_is_left_to_its_new_holder(library: Library) -> None:
    add(library, 4)
    taken_over: list[str] = []

    def take_over(_: Worker) -> None:
        subject = library.documents.show("02").latest.id
        with library._database.write() as tx:
            tx.run("UPDATE jobs SET lease_until = 0 WHERE subject_id = :id", {"id": subject})
        (lease,) = queue.claim(library._database, "other", 60_000, ("ingest",))
        taken_over.append(lease.job.subject_id)

    work_while(library, take_over)
    assert states(library) == {"00": "ready", "01": "ready", "02": "processing", "03": "ready"}
    (running,) = [job for job in jobs(library) if job.state == "running"]
    assert (running.worker, [running.subject_id]) == ("other", taken_over)


def test_a_worker_that_stops_hands_all_of_them_back(library: Library) -> None:
    add(library, 5)
    work_while(library, lambda worker: worker.stop())
    assert {(job.state, job.attempts) for job in jobs(library)} == {("queued", 0)}
    library.drain()
    assert set(states(library).values()) == {"ready"}
    assert library.check() == []


def test_where_together_they_fail_each_is_done_by_itself(library: Library) -> None:
    add(library, 5)
    with library._database.write() as tx:
        tx.run("UPDATE revisions SET chunking = '{}x' WHERE id = :id", {"id": library.documents.show("02").latest.id})
    library.drain()
    with library._database.write() as tx:
        tx.run("UPDATE revisions SET chunking = '{}'")
    assert states(library) == {f"{n:02d}": "failed" if n == 2 else "ready" for n in range(5)}
    (failed,) = [job for job in jobs(library) if job.state == "failed"]
    assert failed.problem is not None
    assert failed.problem.code == "internal"
    assert library.check() == []


def test_a_full_disk_puts_all_of_them_off(library: Library) -> None:
    add(library, 3, "第{n}份" + "水位记录。" * 3000)

    def fill(_: Worker) -> None:
        with library._database.write() as tx:
            (pages,) = tx.first("PRAGMA page_count") or (0,)
            tx.all(f"PRAGMA max_page_count = {pages}")

    work_while(library, fill)
    assert {(job.state, job.problem.code if job.problem else "") for job in jobs(library)} == {("waiting", "disk-full")}
