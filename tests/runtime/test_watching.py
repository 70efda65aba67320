"""What happens to jobs, told as it happens, from any number on."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from wenyuan.runtime.jobs import JobEvent
from wenyuan.runtime.library import Library
from wenyuan.store import job_changes, queue

ONE_WORKER = {"WENYUAN_WORKER_THREADS": "1"}


@pytest.fixture
def library(tmp_path: Path, server: EmbeddingServer) -> Iterator[Library]:
    home = tmp_path / "library"
    home.mkdir()
    (home / "wenyuan.toml").write_text(server.settings() + "max_batch_texts = 1\n", "utf-8")
    with wy.open(home, environment=ONE_WORKER) as opened:
        yield opened


def long_text(number: int, paragraphs: int = 3) -> str:
    """A text of passages that all say something of their own."""
    return "\n\n".join(
        f"第{number}号第{part}段。" + "".join(f"第{part}年第{week}周水位正常，设备良好。" for week in range(40))
        for part in range(paragraphs)
    )


def told(events: list[JobEvent]) -> list[tuple[str, str]]:
    return [(event.job.kind, event.kind) for event in events]


def test_everything_that_happens_to_a_file_is_told(library: Library) -> None:
    events: list[JobEvent] = []
    watching = library.jobs.watch(after=0, until_idle=True, poll_seconds=0.001)
    library.add_text(long_text(1), "水位", wait=False)
    events.append(next(watching))
    with ThreadPoolExecutor(1) as threads:
        drained = threads.submit(library.drain)
        events += watching
        assert drained.result() == 2
    kinds = told(events)
    assert kinds[0] == ("ingest", "queued")
    assert kinds[-1] == ("embed", "done")
    assert ("ingest", "done") in kinds
    numbers = [event.number for event in events]
    assert numbers == sorted(set(numbers))
    assert {(event.document, event.knowledge_base) for event in events} == {("水位", "default")}
    assert all(event.size > 1000 for event in events)


def test_a_watcher_goes_on_where_another_stopped(library: Library) -> None:
    for number in range(5):
        library.add_text(long_text(number), str(number))
    everything = library.jobs.changes(0)
    assert {event.kind for event in everything} == {"done"}
    for cut in range(len(everything)):
        rest = list(library.jobs.watch(after=everything[cut].number, until_idle=True))
        assert [event.number for event in rest] == [event.number for event in everything[cut + 1 :]]
    assert [event.number for event in library.jobs.changes(0, limit=2)] == [one.number for one in everything[:2]]


def test_progress_tells_how_far_how_fast_and_how_long_it_will_take(library: Library, server: EmbeddingServer) -> None:
    going_on = threading.Event()
    library.add_text(long_text(1, paragraphs=6), "水位", wait=False)

    def hold_the_third_batch(texts: list[str]) -> None:
        del texts
        if server.calls == 3:
            assert going_on.wait(60)

    server.before_answer = hold_the_third_batch
    with ThreadPoolExecutor(1) as threads:
        drained = threads.submit(library.drain)
        events = []
        for event in library.jobs.watch(after=0, poll_seconds=0.001):
            events.append(event)
            if event.job.kind == "embed" and event.job.done == 2:
                break
        going_on.set()
        drained.result()
    last = events[-1]
    assert last.kind in ("started", "stage", "progress")
    assert (last.job.stage, last.job.done) == ("embedding", 2)
    assert last.job.total > 2
    assert last.rate is not None
    assert last.rate > 0
    assert last.seconds_left == pytest.approx((last.job.total - 2) / last.rate)


def test_a_job_that_is_put_off_says_until_when_and_why(library: Library, server: EmbeddingServer) -> None:
    server.before_answer = lambda _: (429, {"Retry-After": "3600"}, b"{}")
    library.add_text(long_text(1), "水位")
    library.add_text(long_text(2), "雨量", wait=False)
    library.drain()
    waiting = [event for event in library.jobs.changes(0) if event.kind == "waiting"]
    assert [event.document for event in waiting] == ["水位"]
    assert waiting[0].job.problem is not None
    assert waiting[0].job.problem.code == "rate-limited"
    assert waiting[0].job.run_after - waiting[0].job.changed_at > 3_500_000
    # The one behind it was not even begun, and is shown to wait for the same.
    shown = [job for job in library.jobs.list(only_live=True) if job.kind == "embed"]
    assert {job.state for job in shown} == {"waiting"}
    assert len({job.run_after for job in shown}) <= 2
    assert {job.problem.code for job in shown if job.problem} == {"rate-limited"}
    assert server.calls == 1


def test_failed_and_cancelled_jobs_are_told_with_their_reason(library: Library, server: EmbeddingServer) -> None:
    server.before_answer = lambda _: (400, {}, b'{"error": {"message": "bad model"}}')
    library.add_text(long_text(1), "水位")
    library.add_text(long_text(2), "雨量", wait=False)
    library.documents.cancel("雨量")
    ended = {event.document: event for event in library.jobs.changes(0) if event.job.kind in ("embed", "ingest")}
    assert ended["雨量"].kind == "cancelled"
    assert ended["水位"].kind == "failed"
    assert ended["水位"].job.problem is not None
    assert ended["水位"].job.problem.code == "provider-refused"
    assert ended["水位"].job.problem.stage == "embedding"


def test_without_a_number_it_begins_with_the_jobs_under_way(library: Library) -> None:
    library.add_text("一", "done")
    library.add_text("二", "under way", wait=False)
    assert queue.claim(library._database, "someone", 60_000, ("ingest",))
    library.add_text("三", "queued later", wait=False)
    first = list(itertools.islice(library.jobs.watch(), 1))
    assert [(event.document, event.kind) for event in first] == [("under way", "progress")]


def test_a_watcher_can_be_told_to_end(library: Library) -> None:
    asked = iter([False, False, True])
    assert list(library.jobs.watch(is_over=lambda: next(asked), poll_seconds=0)) == []


def test_threads_that_change_jobs_at_once_leave_no_gap(library: Library) -> None:
    """Whoever reads up to a number has seen everything below it."""
    seen: list[int] = []
    texts = [wy.TextToAdd(f"第{number}份", f"{number}") for number in range(120)]
    with ThreadPoolExecutor(3) as threads:
        adding = [threads.submit(library.add_texts, texts[start::3], wait=False) for start in range(3)]
        after = 0
        while not all(one.done() for one in adding) or library.jobs.changes(after):
            for event in library.jobs.changes(after, limit=7):
                seen.append(event.number)
                after = event.number
    assert len(seen) == 120
    with library._database.read() as tx:
        assert job_changes.last_change(tx) == seen[-1]
