"""A model that refuses in the middle: seen by everyone, waited for by nobody, and nothing sent twice.

Workers are processes of their own, and the model is real HTTP on loopback.
"""

from __future__ import annotations

import email.utils
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.waiting import until
from wenyuan.rules.pacing import bucket_of_requests
from wenyuan.runtime.library import Library
from wenyuan.store import queue
from wenyuan.types import Job

_PATIENCE_SECONDS = 120.0
_WORK = "import sys, wenyuan as wy\nwith wy.open(sys.argv[1], create=False) as library: library.{}()"

Answer = tuple[int, dict[str, str], bytes] | None


@contextmanager
def process(home: Path, what: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does a library's work; killed at the end, if it has not ended."""
    environment = {**os.environ, "WENYUAN_WORKER_THREADS": "1", "WENYUAN_WORKER_POLL_SECONDS": "0.05"}
    running = subprocess.Popen([sys.executable, "-c", _WORK.format(what), str(home)], env=environment)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@contextmanager
def opened(home: Path, server: EmbeddingServer, more: str = "") -> Iterator[Library]:
    home.mkdir(exist_ok=True)
    (home / "wenyuan.toml").write_text(f"{server.settings()}max_batch_texts = 1\n{more}", "utf-8")
    with wy.open(home, environment={"WENYUAN_WORKER_THREADS": "1"}) as library:
        yield library


def add(library: Library, name: str = "水位", paragraphs: int = 6) -> None:
    """A file of so many batches."""
    text = "\n\n".join(f"{name}第{part}段。" + f"{name}在第{part}次观测时正常。" * 25 for part in range(paragraphs))
    library.add_text(text, name, wait=False)


def embedding(library: Library) -> Job | None:
    return next((job for job in library.jobs.list() if job.kind == "embed"), None)


def is_waiting(library: Library) -> bool:
    job = embedding(library)
    return job is not None and job.state == "waiting"


def is_ready(library: Library, name: str = "水位") -> bool:
    return library.documents.show(name).semantic.state == "ready"


def sent_twice(server: EmbeddingServer) -> list[str]:
    return [text for text, times in Counter(server.inputs).items() if times > 1]


class Refusing:
    """Refuses from the third call on, until told otherwise."""

    def __init__(self, server: EmbeddingServer, refuse: Callable[[threading.Event], Answer]) -> None:
        self.over = threading.Event()
        self._server = server
        self._refuse = refuse
        server.before_answer = self

    def __call__(self, texts: list[str]) -> Answer:
        del texts
        return self._refuse(self.over) if self._server.calls >= 3 and not self.over.is_set() else None


def _in_two_seconds() -> str:
    return email.utils.formatdate(time.time() + 2, usegmt=True)


def _hang(over: threading.Event) -> Answer:
    over.wait(_PATIENCE_SECONDS)
    return 500, {}, b""


REFUSALS: dict[str, tuple[Callable[[threading.Event], Answer], str]] = {
    "429": (lambda _: (429, {}, b"{}"), "rate-limited"),
    "429 with seconds": (lambda _: (429, {"Retry-After": "2"}, b"{}"), "rate-limited"),
    "429 with a date": (lambda _: (429, {"Retry-After": _in_two_seconds()}, b"{}"), "rate-limited"),
    "503": (lambda _: (503, {}, b"busy"), "provider-unavailable"),
    "503 with seconds": (lambda _: (503, {"Retry-After": "2"}, b""), "provider-unavailable"),
    "500": (lambda _: (500, {}, b"oops"), "provider-unavailable"),
    "a timeout": (_hang, "provider-timeout"),
}


@pytest.mark.parametrize(("refuse", "code"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refusal_in_the_middle_is_shown_and_gone_on_from(
    tmp_path: Path, refuse: Callable[[threading.Event], Answer], code: str
) -> None:
    # A busy machine must not be taken for a service that says nothing.
    patience = "timeout_seconds = 1.0\n" if code == "provider-timeout" else ""
    with serving() as server, opened(tmp_path / "library", server, patience) as library:
        refusing = Refusing(server, refuse)
        add(library)
        with process(library.path, "work"):
            until(lambda: is_waiting(library))
            job = embedding(library)
            assert job is not None
            assert job.problem is not None
            assert (job.problem.code, job.problem.stage) == (code, "embedding")
            assert job.problem.hint
            assert job.run_after > job.changed_at
            assert job.done == 2
            assert library.documents.show("水位").searchable
            refusing.over.set()
            until(lambda: is_ready(library))
        assert sent_twice(server) == []
        done = embedding(library)
        assert done is not None
        assert (done.state, done.problem, done.done) == ("done", None, done.total)
        assert library.check() == []


def test_a_provider_that_cannot_be_reached_is_waited_for(tmp_path: Path) -> None:
    with serving() as first:
        port = int(first.base_url.rpartition(":")[2].split("/")[0])
        with opened(tmp_path / "library", first) as library:
            add(library)
            with process(library.path, "work"):
                gate = threading.Event()

                def hold_the_third(texts: list[str]) -> Answer:
                    del texts
                    if first.calls >= 3:
                        gate.wait(_PATIENCE_SECONDS)
                        return 503, {"Connection": "close"}, b""
                    return None

                first.before_answer = hold_the_third
                until(lambda: first.calls >= 3)
    # The third call is refused as its server goes down; nothing listens there after that.
    gate.set()
    with opened(tmp_path / "library", first) as library, process(library.path, "work"):
        until(lambda: is_waiting(library))
        job = embedding(library)
        assert job is not None
        assert job.problem is not None
        assert job.problem.code == "provider-unavailable"
        with serving(port) as second:
            until(lambda: is_ready(library))
        assert not set(first.inputs) & set(second.inputs)
        assert len(first.inputs) == 2


def test_what_waits_can_be_cancelled_at_once_and_taken_up_again(tmp_path: Path) -> None:
    with serving() as server, opened(tmp_path / "library", server) as library:
        refusing = Refusing(server, lambda _: (429, {"Retry-After": "3600"}, b"{}"))
        add(library)
        library.drain()
        job = embedding(library)
        assert job is not None
        assert job.state == "waiting"
        assert library.jobs.cancel(job.id).state == "cancelled"
        assert library.documents.show("水位").semantic.state == "failed"
        calls = server.calls
        library.drain()
        assert server.calls == calls
        refusing.over.set()
        with library._database.write() as tx:
            tx.run("UPDATE provider_limits SET closed_until = 0")
        library.documents.retry("水位")
        library.drain()
        assert is_ready(library)
        assert sent_twice(server) == []


def test_one_refusal_is_enough_for_all_workers_and_jobs(tmp_path: Path) -> None:
    with serving() as server, opened(tmp_path / "library", server) as library:
        server.before_answer = lambda _: (429, {"Retry-After": "3600"}, b"{}")
        for number in range(8):
            add(library, f"{number}号站", paragraphs=1)
        with process(library.path, "drain") as one, process(library.path, "drain") as other:
            assert (one.wait(_PATIENCE_SECONDS), other.wait(_PATIENCE_SECONDS)) == (0, 0)
        assert server.calls <= 2
        shown = [job for job in library.jobs.list() if job.kind == "embed"]
        assert {job.state for job in shown} == {"waiting"}
        assert len(shown) == 8


def test_a_worker_does_other_work_while_a_model_may_not_be_called(tmp_path: Path) -> None:
    with serving() as server, opened(tmp_path / "library", server) as library:
        server.before_answer = lambda _: (429, {"Retry-After": "3600"}, b"{}")
        add(library)
        with process(library.path, "work"):
            until(lambda: is_waiting(library))
            add(library, "雨量")
            until(lambda: library.documents.show("雨量").searchable)
        assert library.search("雨量", arms=("keyword",)).hits[0].passage.document_name == "雨量"


def test_workers_never_exceed_the_bucket_they_share(tmp_path: Path) -> None:
    per_minute, calls = 120, 26
    bucket = bucket_of_requests(per_minute)
    times: list[float] = []
    with serving() as server, opened(tmp_path / "library", server, f"requests_per_minute = {per_minute}\n") as library:
        server.before_answer = lambda _: times.append(time.monotonic())
        for number in range(calls):
            add(library, f"{number}号站", paragraphs=1)
        library.drain(max_jobs=calls)
        with ExitStack() as workers:
            for _ in range(4):
                workers.enter_context(process(library.path, "work"))
            until(lambda: all(is_ready(library, f"{number}号站") for number in range(calls)))
    assert len(times) == calls
    assert sent_twice(server) == []
    # On a busy machine a call may arrive later than it was allowed, and seem to come closer to the next one.
    late = 3.0
    for first, begun in enumerate(times):
        for last in range(first, calls):
            allowed = bucket.capacity + bucket.per_second * (times[last] - begun + late) + 1
            assert last - first + 1 <= allowed


def test_only_so_many_calls_are_under_way_and_a_killed_worker_leaves_room(tmp_path: Path) -> None:
    under_way, most, lock = 0, 0, threading.Lock()
    entered, going_on = threading.Semaphore(0), threading.Event()

    def count(texts: list[str]) -> None:
        nonlocal under_way, most
        del texts
        with lock:
            under_way += 1
            most = max(most, under_way)
        entered.release()
        going_on.wait(_PATIENCE_SECONDS)
        with lock:
            under_way -= 1

    with serving() as server, opened(tmp_path / "library", server, "concurrency = 2\n") as library:
        for number in range(8):
            add(library, f"{number}号站", paragraphs=1)
        library.drain(max_jobs=8)
        with library._database.write() as tx:
            # Too long to be taken together by one worker.
            tx.run("UPDATE jobs SET weight = :alone WHERE kind = 'embed'", {"alone": queue.ALONE})
        server.before_answer = count
        with process(library.path, "work") as one, process(library.path, "work"), process(library.path, "work"):
            for _ in range(2):
                assert entered.acquire(timeout=_PATIENCE_SECONDS)
            until(lambda: len(library.jobs.progress().running) == 2)
            assert most == 2
            one.kill()
            one.wait()
            going_on.set()
            until(lambda: all(is_ready(library, f"{number}号站") for number in range(8)))
        # The service may still be busy with the call of the worker that was killed.
        assert most <= 3
        assert library.check() == []
