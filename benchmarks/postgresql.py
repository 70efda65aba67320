"""SQLite and PostgreSQL side by side: the same passages, vectors, questions, jobs and files."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

import wenyuan as wy
from benchmarks.corpus import Corpus, perturbed
from benchmarks.query import MODEL, StoredVectors, fill, questions_of, recall
from benchmarks.report import median_and_p95, milliseconds, table
from tests.postgres_server import library_database
from wenyuan.runtime.library import Library
from wenyuan.store import migrate, queue
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.postgresql.opening import open_postgres

_KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
_KINDS = ("SQLite", "PostgreSQL")
_PROCESSES = (1, 2, 4)
_JOBS = 2_000
_FILES, _PASSAGES_PER_FILE = 300, 25
_CHANGED = 40
_NEW = multiprocessing.get_context("spawn")
_DRAIN = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], blobs=sys.argv[2] or None, create=False) as library:
    library.drain()
"""


def measure(corpus: Corpus, real: NDArray[np.float32], sizes: Sequence[int]) -> str:
    queries = [row for size in sizes for row in _queries(corpus, real, size)]
    work: list[Sequence[object]] = []
    for processes in _PROCESSES:
        work += [_jobs(kind, processes) for kind in _KINDS]
    for processes in _PROCESSES:
        work += [_chunks(kind, corpus, processes) for kind in _KINDS]
    queries += [row for kind in _KINDS for row in _changes(kind, corpus)]
    return "\n".join(
        (
            table("Both databases: queries", ("chunks", "what", "database", "p50 ms", "p95 ms", "note"), queries),
            table("Both databases: work", ("what", "database", "processes", "per second"), work),
        )
    )


@contextmanager
def library_place(kind: str, folder: Path) -> Iterator[tuple[str, str]]:
    """An address and a folder of files, which is empty for a library in a folder."""
    if kind == "SQLite":
        yield str(folder / "library"), ""
        return
    with library_database() as address:
        with psycopg.connect(address, autocommit=True) as connection:
            # Tests go without; here both databases write what a power failure must not undo.
            connection.execute("ALTER SYSTEM SET fsync = on")
            connection.execute("SELECT pg_reload_conf()")
        yield address, str(folder / "files")


def _open(place: tuple[str, str]) -> Library:
    return wy.open(place[0], blobs=place[1] or None, environment=_KEYWORD_ONLY)


# --- Queries -------------------------------------------------------------------------------------


def _queries(corpus: Corpus, real: NDArray[np.float32], size: int) -> Iterator[Sequence[object]]:
    passages = list(corpus.passages(size, seed=size))
    made = perturbed(real, size, seed=1)
    questions = questions_of(passages)
    asked = perturbed(real, len(questions), seed=2)
    for kind in _KINDS:
        with tempfile.TemporaryDirectory() as name, library_place(kind, Path(name)) as place:
            began = time.perf_counter()
            with _open(place) as library:
                generation = fill(library, passages, made)
            filled = time.perf_counter() - began
            with _open(place) as library:
                library.models.register(MODEL, StoredVectors(questions, asked))
                began = time.perf_counter()
                library.search(questions[0])
                note = f"filled in {filled:.0f} s; first query {1000 * (time.perf_counter() - began):.0f} ms"
                for what, times in _timed(library, questions).items():
                    yield size, what, kind, *median_and_p95(times), note
                    note = ""
                found = recall(library, generation, made, asked)
                yield size, "recall@10 of the vector list", kind, found, "", ""


def _timed(library: Library, questions: Sequence[str]) -> dict[str, list[float]]:
    names = ("whole retrieval", "within 1 document in 100", "after each change", "keyword list", "vector list")
    whole, narrow, changed, keyword, vector = (list[float]() for _ in names)
    for number, question in enumerate(questions):
        whole.append(milliseconds(partial(library.search, question)))
        stages = {stage["name"]: stage["ms"] for stage in library.traces(1)[0]["stages"]}
        keyword.append(stages["keyword"])
        vector.append(stages["vector"])
        narrow.append(milliseconds(partial(library.search, question, filters={"part": 7})))
        library.documents.switch("/0", enabled=number % 2 == 1)
        changed.append(milliseconds(partial(library.search, question)))
    library.documents.switch("/0", enabled=True)
    return dict(zip(names, (whole, narrow, changed, keyword, vector), strict=True))


# --- Work ----------------------------------------------------------------------------------------


def _database(place: tuple[str, str]) -> LibraryDatabase:
    if place[1]:
        return open_postgres(place[0], 60.0, create=False)
    Path(place[0]).mkdir(exist_ok=True)
    return migrate.open_database(Path(place[0]), 60.0)


def _jobs(kind: str, processes: int) -> Sequence[object]:
    """Claim and finish jobs that are nothing to do, one at a time."""
    with tempfile.TemporaryDirectory() as name, library_place(kind, Path(name)) as place:
        database = _database(place)
        with database.write() as tx:
            for number in range(_JOBS):
                job, base = f"job_{number:06d}", f"kb_{number % 5}"
                queue.enqueue(tx, job, "ingest", "revision", f"rev_{number}", base, "local", 10, 1)
        database.close()
        begin = _NEW.Barrier(processes + 1)
        running = [_NEW.Process(target=_claim_all, args=(place, begin)) for _ in range(processes)]
        for process in running:
            process.start()
        begin.wait()
        began = time.perf_counter()
        for process in running:
            process.join()
        return "claim and finish a job", kind, processes, _JOBS / (time.perf_counter() - began)


def _claim_all(place: tuple[str, str], begin: Any) -> None:
    database = _database(place)
    begin.wait()
    while leases := queue.claim(database, f"worker {os.getpid()}", 60_000, ("ingest",), 1, 0, look_first=False):
        with database.write(durable=False) as tx:
            queue.hold(tx, leases[0], 60_000)
            queue.finish(tx, leases[0])
    database.close()


def _chunks(kind: str, corpus: Corpus, processes: int) -> Sequence[object]:
    """Read, cut and index files, without a model; the start of the processes is taken off."""
    with tempfile.TemporaryDirectory() as name, library_place(kind, Path(name)) as place, _open(place) as library:
        notes = Path(name) / "notes"
        notes.mkdir()
        passages = corpus.passages(_FILES * _PASSAGES_PER_FILE, seed=11)
        for number in range(_FILES):
            text = "\n\n".join(next(passages) for _ in range(_PASSAGES_PER_FILE))
            (notes / f"{number:04d}.txt").write_text(text, "utf-8")
        library.add(notes, wait=False)
        seconds = _drained(place, processes) - _drained(place, processes)
        chunks = sum(view.latest.chunk_count for view in library.documents.list(limit=10 * _FILES))
    return "read, cut and index chunks", kind, processes, chunks / seconds


def _changes(kind: str, corpus: Corpus) -> Iterator[Sequence[object]]:
    """Delete documents and add them again, each until it is gone or found; the file is in the library's own place."""
    with tempfile.TemporaryDirectory() as name, library_place(kind, Path(name)) as place, _open(place) as library:
        texts = ["\n\n".join(corpus.passages(_PASSAGES_PER_FILE, seed=seed)) for seed in range(_CHANGED)]
        for number, text in enumerate(texts):
            library.add_text(text, f"{number}.md", wait=False)
        library.drain()
        deleted, added = list[float](), list[float]()
        for number, text in enumerate(texts):
            deleted.append(milliseconds(partial(library.documents.delete, f"{number}.md")))
            added.append(milliseconds(partial(library.add_text, text, f"{number}.md")))
        size = _CHANGED * _PASSAGES_PER_FILE
        yield size, f"delete a document of {_PASSAGES_PER_FILE} passages", kind, *median_and_p95(deleted), ""
        yield size, "add it again, until it is found", kind, *median_and_p95(added), "its purge included"


def _drained(place: tuple[str, str], processes: int) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-c", _DRAIN, *place]
    workers = [subprocess.Popen(command, env={**os.environ, **_KEYWORD_ONLY}) for _ in range(processes)]
    for worker in workers:
        worker.wait()
    return time.perf_counter() - began
