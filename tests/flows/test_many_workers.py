"""Ten workers as if on ten machines: they share a PostgreSQL database and nothing else."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.postgres_server import library_database
from tests.waiting import until
from wenyuan.runtime.library import Library
from wenyuan.store import queue
from wenyuan.types import Job

_MACHINES, _KILLED = 10, 3
_LARGE, _SMALL = 150, 5
_AT_ONCE = 2
_EVERY = 100_000
_WORK = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], blobs="database", home=sys.argv[2], create=False) as library:
    print("ready", flush=True)
    library.work()
"""
_HELD = {"alone": queue.ALONE, "late": 1 << 60}
_SETTINGS = "[worker]\nthreads = 1\npoll_seconds = 0.05\nlease_seconds = 2\nmax_attempts = 100000\n"


@cache
def _may_unshare(what: str) -> bool:
    """Whether a process may have a host name, or a network, of its own here."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", what, "true"], check=False, capture_output=True).returncode == 0


@contextmanager
def _machine(address: str, home: Path, network: str, settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker with a folder, and as far as that can be done here, with a host name and a network of its own."""
    home.mkdir()
    (home / "wenyuan.toml").write_text(settings, "utf-8")
    spaces = [one for one in ("--uts", network) if one and _may_unshare(one)]
    named = f'hostname {home.name}; exec "$@"' if "--uts" in spaces else 'exec "$@"'
    apart = ["unshare", *spaces] if spaces else []
    command = [*apart, "sh", "-c", named, "sh", sys.executable, "-c", _WORK, address, str(home)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        yield worker
    finally:
        worker.kill()
        worker.communicate()


class _Counted:
    """How many calls a model has to answer at once; each waits a little for others to come."""

    def __init__(self) -> None:
        self.most = self._now = 0
        self._changed = threading.Condition()

    def __call__(self, texts: list[str]) -> None:
        del texts
        with self._changed:
            self._now += 1
            self.most = max(self.most, self._now)
            self._changed.wait_for(lambda: self._now > _AT_ONCE + _KILLED, timeout=0.05)
            self._now -= 1


def _add(library: Library, kb: str, count: int) -> None:
    for number in range(count):
        library.add_text(f"{kb}第{number}号苍鹭。\n\nheron {number} of {kb}", f"{kb}-{number}.md", kb=kb, wait=False)


@pytest.mark.soak
@pytest.mark.parametrize("network", ["", "--net"], ids=["one network", "networks of their own"])
def test_ten_machines_share_the_work(tmp_path: Path, network: str) -> None:
    """Without a common network there is no model that all of them reach; PostgreSQL they reach by its socket."""
    counted, randomness = _Counted(), random.Random(20260414)
    with library_database() as address, serving() as server, ExitStack() as stack:
        server.before_answer = counted
        model = f"{server.settings()}max_batch_texts = 4\nconcurrency = {_AT_ONCE}\n" if not network else ""
        settings = model + _SETTINGS + ("" if model else '[defaults]\nembedding_model = ""\n')
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "wenyuan.toml").write_text(settings, "utf-8")
        library = stack.enter_context(wy.open(address, blobs="database", home=tmp_path / "home"))
        for kb, count in (("large", _LARGE), ("small", _SMALL)):
            library.knowledge_bases.create(kb)
            _add(library, kb, count)
        with library._database.write() as tx:
            # None is taken together with others, so that turns can be seen, and none before all are there.
            tx.run("UPDATE jobs SET weight = :alone, state = 'waiting', run_after = :late", _HELD)
        workers = [
            stack.enter_context(_machine(address, tmp_path / f"machine{n}", network, settings))
            for n in range(_MACHINES)
        ]
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"ready\n"
        with library._database.write() as tx:
            tx.run("UPDATE jobs SET state = 'queued', run_after = 0")
        for victim in randomness.sample(workers, _KILLED):
            until(lambda: any(job.state == "running" for job in library.jobs.list(only_live=True, limit=_EVERY)))
            victim.kill()
        until(lambda: not library.jobs.list(only_live=True, limit=1))
        assert [worker.poll() for worker in workers].count(None) == _MACHINES - _KILLED
        _assert_whole(library, server, has_model=not network)
        assert counted.most <= _AT_ONCE + _KILLED
        begun = sorted((job for job in library.jobs.list(limit=_EVERY) if job.kind == "ingest"), key=_began)
        small = library.knowledge_bases.find("small").id
        # One of each in turn, as long as both have some; those whose worker was killed begin again later.
        turns = [place for place, job in enumerate(begun) if job.knowledge_base_id == small and job.fence == 1]
        assert all(place < 2 * _SMALL + _MACHINES + _KILLED for place in turns)


def _began(job: Job) -> int:
    return job.started_at or 0


def _assert_whole(library: Library, server: EmbeddingServer, *, has_model: bool) -> None:
    views = [view for kb in ("large", "small") for view in library.documents.list(kb=kb, limit=_EVERY)]
    assert sorted(view.document.name for view in views) == sorted(
        [f"large-{n}.md" for n in range(_LARGE)] + [f"small-{n}.md" for n in range(_SMALL)]
    )
    assert {view.latest.state for view in views} == {"ready"}
    assert [one for one in library.check(deep=True) if one.severity != "ok"] == []
    if has_model:
        assert {view.semantic.state for view in views} == {"ready"}
        assert len(server.inputs) - len(set(server.inputs)) <= 4 * _KILLED
