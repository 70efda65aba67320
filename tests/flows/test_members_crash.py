"""kill -9 while files inside of files are kept and made documents: none is lost, none is doubled."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import wenyuan as wy
from tests.archive_files import written, zip_of
from tests.embedding_server import serving
from tests.waiting import until
from wenyuan.runtime.library import Library

_WORK = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], create=False) as library:
    print("ready", flush=True)
    library.work()
"""
_SETTINGS = "[worker]\nmax_attempts = 1000\npoll_seconds = 0.05\nthreads = 1\n"
_ARCHIVES, _FILES, _SECONDS = 2, 60, 60.0


@contextmanager
def worker(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that works until it is killed, which it is at the end."""
    process = subprocess.Popen([sys.executable, "-c", _WORK, str(home)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def count(library: Library, table: str) -> int:
    with library._database.read() as tx:
        return int(tx.all(f"SELECT count(*) FROM {table}")[0][0])


def archive(folder: Path, number: int, version: int) -> Path:
    files: dict[str, str | bytes] = {
        f"{place}.md": f"文件 {number}-{place}，编号 PPR-{10_000 + 1000 * number + place}，第 {version} 版。"
        for place in range(version, _FILES + version)
    }
    files["inner.zip"] = zip_of({"inner.md": f"内层，编号 INN-{500 + number}。"})
    return written(folder / f"{number}.zip", files)


def assert_whole(library: Library, version: int) -> None:
    library.drain()
    names = [view.document.name for view in library.documents.list(limit=10_000)]
    wanted = {
        f"{number}.zip{inside}"
        for number in range(_ARCHIVES)
        for inside in (
            "",
            " › inner.zip",
            " › inner.zip › inner.md",
            *(f" › {place}.md" for place in range(version, _FILES + version)),
        )
    }
    assert sorted(names) == sorted(wanted)
    assert {view.latest.state for view in library.documents.list(limit=10_000)} == {"ready"}
    hits = library.search(f"PPR-{10_000 + 1000 + _FILES}", arms=("structured",)).hits
    assert len(hits) == (version > 0)
    assert count(library, "members") == 0
    assert library.check() == []


def has_got_so_far(library: Library, kept: int, made: int) -> bool:
    """Whether so many files are kept, and so many documents made of them, or the worker was too quick for us."""
    if count(library, "members") >= kept and count(library, "members WHERE is_done <> 0") >= made:
        return True
    return count(library, "jobs WHERE kind IN ('ingest', 'unpack') AND state IN ('queued', 'running', 'waiting')") == 0


def test_kills_at_every_stage_lose_and_double_nothing(tmp_path: Path) -> None:
    folder, home = tmp_path / "archives", tmp_path / "library"
    folder.mkdir()
    home.mkdir()
    with serving() as server:
        (home / "wenyuan.toml").write_text(_SETTINGS + server.settings(), "utf-8")
        with wy.open(home) as library:
            for version in (0, 1):
                library.add(*(archive(folder, number, version) for number in range(_ARCHIVES)), wait=False)
                for kept, made in ((40, 0), (40, 1), (40, 45)):
                    with worker(home):
                        until(partial(has_got_so_far, library, kept, made), glance_seconds=0.001)
                assert_whole(library, version)
