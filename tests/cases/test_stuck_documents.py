"""Documents whose worker is killed, stops, or never gets to an end are taken up again or failed with a reason;

and in every state they are deleted and cancelled at once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.cases.shelves import SETTINGS, TODAY
from tests.waiting import is_stopped, until
from wenyuan.flows import prepare, stage
from wenyuan.runtime.library import Library

_PATIENCE_SECONDS = 60.0
_RECORDS = 24_000
_SHORT_LEASE = {**SETTINGS, "WENYUAN_WORKER_LEASE_SECONDS": "1"}
_LINE = "值班记录第{number}条：一号泵运转正常，压力 {number} 千帕，编号 PPR-{number}。\n\n"

_ENDLESS = """
import threading
from wenyuan.flows.prepare import prepare


def stage(events, arguments):
    if arguments[0].startswith("无尽"):
        threading.Event().wait()
    return prepare(events, arguments)
"""


def opened(folder: Path, **more: str) -> Library:
    return wy.open(folder / "library", environment={**_SHORT_LEASE, **more}, today=lambda: TODAY)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with opened(tmp_path) as one:
        yield one


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A file that is read in many steps."""
    path = tmp_path / "值班记录.md"
    path.write_text("".join(_LINE.format(number=number) for number in range(_RECORDS)), "utf-8")
    return path


class Elsewhere:
    """A worker that is a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "wenyuan.doors.cli", "worker", "--drain", "--library", str(folder / "library")]
        self._process = subprocess.Popen(
            command, env={**os.environ, **_SHORT_LEASE}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def stop(self, library: Library) -> None:
        """Stop the process while it reads the document."""
        until(lambda: is_stopped(self._process, library, lambda: is_being_read(library)), process=self._process)

    def end(self) -> int:
        self._process.communicate(timeout=_PATIENCE_SECONDS)
        return self._process.returncode

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def is_being_read(library: Library) -> bool:
    """Whether a worker is in the middle of the one document there is, with something of it staged."""
    with library._database.read() as tx:
        staged = tx.first("SELECT count(*) FROM chunks")
    (view,) = library.documents.list()
    return view.latest.state == "processing" and staged is not None and staged[0] > 0


def is_whole(library: Library) -> bool:
    (view,) = library.documents.list()
    first, last = (library.search(f"PPR-{number}").hits for number in (0, _RECORDS - 1))
    return view.latest.state == "ready" and bool(first) and bool(last)


def test_a_document_whose_worker_is_killed_is_taken_up_again(library: Library, tmp_path: Path, long: Path) -> None:
    library.add(long, wait=False)
    with Elsewhere(tmp_path) as worker:
        until(lambda: is_being_read(library))
        worker.send(signal.SIGKILL)
        worker.end()
    assert library.search("PPR-0").hits == ()
    # At once, not after its lease: the kernel told that it is dead.
    library.drain()
    assert is_whole(library)
    assert library.check() == []


def test_a_document_whose_worker_never_returns_is_taken_over(library: Library, tmp_path: Path, long: Path) -> None:
    library.add(long, wait=False)
    with Elsewhere(tmp_path) as worker:
        worker.stop(library)
        until(lambda: library.drain() > 0)
        assert is_whole(library)
        published = library.documents.show(str(long)).latest
        # What wakes up finds that its job is another's now, and changes nothing.
        worker.send(signal.SIGCONT)
        assert worker.end() == 0
    assert library.documents.show(str(long)).latest == published
    assert is_whole(library)
    assert library.check() == []


def test_reading_that_never_ends_fails_with_a_reason_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "endless_stage.py").write_text(_ENDLESS, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(stage, "STAGE", "endless_stage:stage")
    endless, other = tmp_path / "无尽.md", tmp_path / "短.md"
    endless.write_text("无尽的一篇，编号 PPR-66666。", "utf-8")
    other.write_text("短的一篇，编号 PPR-77777。", "utf-8")
    with opened(tmp_path, WENYUAN_LIMITS_PARSE_SECONDS="3") as library:
        library.add(endless, other)
        problem = library.documents.show(str(endless)).latest.problem
        assert problem is not None
        assert (problem.code, problem.stage, "parse_seconds" in problem.hint) == ("parser-timeout", "reading", True)
        assert library.search("PPR-77777").hits
        assert library.jobs.list(only_live=True) == []
        monkeypatch.setattr(stage, "STAGE", prepare.STAGE)
        library.documents.retry(str(endless))
        library.drain()
        assert library.search("PPR-66666").hits
        assert library.check() == []


@pytest.mark.parametrize("what", ["delete", "cancel"])
def test_what_is_in_the_hands_of_a_worker_that_never_returns_is_let_go_at_once(
    library: Library, tmp_path: Path, long: Path, what: str
) -> None:
    library.add(long, wait=False)
    with Elsewhere(tmp_path) as worker:
        worker.stop(library)
        if what == "delete":
            library.documents.delete(str(long))
            assert library.documents.list() == []
        else:
            library.documents.cancel(str(long))
            until(lambda: library.drain() > 0)
            assert library.documents.show(str(long)).latest.state == "cancelled"
        assert library.search("PPR-0").hits == ()
        worker.send(signal.SIGCONT)
        assert worker.end() == 0
    until(lambda: library.drain() >= 0 and library.jobs.list(only_live=True) == [])
    assert library.search("PPR-0").hits == ()
    assert library.check() == []
    if what == "cancel":
        library.documents.retry(str(long))
        library.drain()
        assert is_whole(library)


def test_a_document_that_was_being_updated_is_found_as_before(library: Library, tmp_path: Path, long: Path) -> None:
    content = long.read_bytes()
    long.write_text("旧的一篇，编号 PPR-88888。", "utf-8")
    library.add(long)
    long.write_bytes(content)
    library.add(long, wait=False)
    with Elsewhere(tmp_path) as worker:
        worker.stop(library)
        assert library.search("PPR-88888").hits
        library.documents.cancel(str(long))
        assert library.search("PPR-88888").hits
        worker.send(signal.SIGKILL)
        worker.end()
    library.drain()
    view = library.documents.show(str(long))
    assert (view.latest.state, view.updating, view.searchable) == ("cancelled", True, True)
    assert library.search("PPR-88888").hits
    assert library.check() == []
