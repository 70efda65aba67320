"""The queue and its workers: how many jobs and chunks a second, how soon, and how search fares meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import wenyuan as wy
from benchmarks.corpus import Corpus
from benchmarks.report import median_and_p95, milliseconds, table
from wenyuan.runtime.library import Library
from wenyuan.store import migrate, queue
from wenyuan.types import ChunkingConfig

_KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
_PROCESSES = (1, 2, 4)
_JOBS = 8_000
_FILES = 200
_PASSAGES_PER_FILE = 25
_TIMES = 40
_NEW = multiprocessing.get_context("spawn")
_WORK = "import sys, wenyuan as wy\nwith wy.open(sys.argv[1], create=False) as library:\n library.{}()"


def measure(corpus: Corpus) -> str:
    rows: list[Sequence[object]] = []
    for together in (1, 32):
        rows += [_jobs(processes, together) for processes in _PROCESSES]
    rows += [_chunks(corpus, processes) for processes in _PROCESSES]
    rows += _latencies()
    rows += _searches(corpus)
    return table("Queue and workers", ("what", "processes", "per second", "p50 ms", "p95 ms", "note"), rows)


# --- How many ------------------------------------------------------------------------------------


def _jobs(processes: int, together: int) -> Sequence[object]:
    """Claim and finish jobs that are nothing to do."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = migrate.open_database(folder, 60.0)
        with database.write() as tx:
            for number in range(_JOBS):
                job, base = f"job_{number:06d}", f"kb_{number % 5}"
                queue.enqueue(tx, job, "ingest", "revision", f"rev_{number}", base, "local", 10, 1)
        begin = _NEW.Barrier(processes + 1)
        running = [_NEW.Process(target=_claim_all, args=(folder, together, begin)) for _ in range(processes)]
        for process in running:
            process.start()
        begin.wait()
        began = time.perf_counter()
        for process in running:
            process.join()
        seconds = time.perf_counter() - began
        database.close()
    return (f"claim and finish, {together} at once", processes, _JOBS / seconds, "", "", f"{_JOBS:,} jobs")


def _claim_all(folder: Path, together: int, begin: object) -> None:
    database = migrate.open_database(folder, 60.0)
    begin.wait()  # type: ignore[attr-defined]
    while leases := queue.claim(
        database, f"worker {os.getpid()}", 60_000, ("ingest",), together, 1 << 20, look_first=False
    ):
        with database.write(durable=False) as tx:
            for lease in leases:
                queue.hold(tx, lease, 60_000)
                queue.finish(tx, lease)
    database.close()


def _chunks(corpus: Corpus, processes: int) -> Sequence[object]:
    """Read, cut and index files, without a model."""
    with tempfile.TemporaryDirectory() as name, wy.open(Path(name) / "library", environment=_KEYWORD_ONLY) as library:
        _add_files(library, Path(name), corpus)
        began = time.perf_counter()
        with _working(library, "drain", processes) as workers:
            for worker in workers:
                worker.wait()
        # The programs themselves take this long to start, whatever there is to do.
        with _working(library, "drain", processes) as workers:
            idle = time.perf_counter()
            for worker in workers:
                worker.wait()
        ended = time.perf_counter()
        chunks = sum(view.latest.chunk_count for view in library.documents.list(limit=10 * _FILES))
    seconds = (idle - began) - (ended - idle)
    note = f"{_FILES} files, {chunks:,} chunks, without the start of the processes"
    return ("read, cut and index", processes, chunks / seconds, "", "", note)


def _add_files(library: Library, folder: Path, corpus: Corpus) -> None:
    notes = folder / "files"
    notes.mkdir()
    passages = corpus.passages(_FILES * _PASSAGES_PER_FILE, seed=11)
    for number in range(_FILES):
        text = "\n\n".join(next(passages) for _ in range(_PASSAGES_PER_FILE))
        (notes / f"{number:04d}.txt").write_text(text, "utf-8")
    library.add(notes, wait=False)


@contextmanager
def _working(library: Library, what: str, processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    command = [sys.executable, "-c", _WORK.format(what), str(library.path)]
    environment = {**os.environ, **_KEYWORD_ONLY}
    workers = [subprocess.Popen(command, env=environment) for _ in range(processes)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


# --- How soon ------------------------------------------------------------------------------------


def _latencies() -> list[Sequence[object]]:
    with tempfile.TemporaryDirectory() as name, wy.open(Path(name) / "library", environment=_KEYWORD_ONLY) as library:
        library.add_text("水位正常。", "first", wait=False)
        with _working(library, "work", 1):
            _until(partial(_is_idle, library))
            starts: list[float] = []
            ready: list[float] = []
            for number in range(_TIMES):
                time.sleep(0.05 * (number % 7))
                began = time.perf_counter()
                library.add_text(f"第{number}次观测。", f"{number}", wait=False)
                _until(partial(_is_found, library, number))
                ready.append((time.perf_counter() - began) * 1000)
                (job,) = library.documents.jobs(f"{number}")
                starts.append(float((job.started_at or 0) - job.created_at))
            gone = [milliseconds(partial(library.documents.delete, f"{number}")) for number in range(_TIMES)]
            _until(partial(_is_idle, library))
            again = [milliseconds(partial(_add_again, library, number)) for number in range(_TIMES)]
    return [
        ("queued until it is begun", 1, "", *median_and_p95(starts), "an idle worker in another process"),
        ("added until it is found", 1, "", *median_and_p95(ready), "the same"),
        ("deleted until nobody sees it", 1, "", *median_and_p95(gone), "one transaction, on disk"),
        ("added again until it is found", 1, "", *median_and_p95(again), "after the purge"),
    ]


def _add_again(library: Library, number: int) -> None:
    library.add_text(f"第{number}次观测。", f"{number}", wait=False)
    _until(partial(_is_found, library, number))


def _is_idle(library: Library) -> bool:
    return not library.jobs.list(only_live=True, limit=1)


def _is_found(library: Library, number: int) -> bool:
    return library.documents.show(f"{number}").searchable


def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.001)


# --- Meanwhile -----------------------------------------------------------------------------------


def _searches(corpus: Corpus) -> list[Sequence[object]]:
    """Search an idle library, and one whose indexes are being built anew by a worker."""
    questions = [passage[:24] for passage in corpus.passages(30, seed=5)]
    with tempfile.TemporaryDirectory() as name, wy.open(Path(name) / "library", environment=_KEYWORD_ONLY) as library:
        _add_files(library, Path(name), corpus)
        library.drain()
        _search_times(library, questions)
        idle = _search_times(library, questions)
        library.rebuilds.begin("default", chunking=ChunkingConfig(400, 0))
        busy: list[float] = []
        with _working(library, "work", 1):
            _until(lambda: bool(library.jobs.progress().running))
            while library.jobs.list(only_live=True, limit=1):
                busy += _search_times(library, questions)
    ratio = f"{median_and_p95(busy)[0] / median_and_p95(idle)[0]:.2f} times the idle median"
    return [
        ("search an idle library", "", "", *median_and_p95(idle), ""),
        ("search while its indexes are rebuilt", 1, "", *median_and_p95(busy), f"{ratio}, {len(busy)} searches"),
    ]


def _search_times(library: Library, questions: Sequence[str]) -> list[float]:
    return [milliseconds(partial(library.search, question)) for question in questions]
