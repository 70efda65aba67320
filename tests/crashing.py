"""Killing and stopping workers at random moments, and counting what that did to the library."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psycopg

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from tests.own_postgres import own_server
from tests.store.old_libraries import SCHEMAS, unpack
from tests.waiting import is_stopped, until
from wenyuan.rules.embedding_input import input_hash, sentence_inputs
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig

_WORK = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], blobs=sys.argv[2] or None, create=False) as library:
    print("ready", flush=True)
    library.work()
"""
_BACK_UP = """
import sys, wenyuan as wy
with wy.open(sys.argv[1], create=False) as library:
    print("ready", flush=True)
    while True:
        library.backup(sys.argv[3], quick=True)
"""
_OPEN = """
import sys, wenyuan as wy
from wenyuan.runtime import library
print("ready", flush=True)
with wy.open(sys.argv[1], create=False):
    sys.stdin.read()
"""
_EVERY = 100_000
_FILES_AT_ONCE = 40
# A worker that was stopped for longer than its lease has lost what it was doing.
_LEASE_SECONDS = 1.0
_PATIENCE_SECONDS = 600.0
# Behind the table of the model: it embeds sentences too, in calls and commits of their own.
_SETTINGS = (
    f"sentences = true\n\n[worker]\nmax_attempts = 100000\npoll_seconds = 0.05\nlease_seconds = {_LEASE_SECONDS}\n"
)


@dataclass(slots=True)
class Damage:
    """What many kills did. `lost`, `doubled`, `wrongly_visible` and `findings` must be nothing.

    `embedded_again` are the texts that were sent to the model although their vectors were committed,
    `taken_over` the jobs that more than one worker had in its hands.
    """

    kills: int = 0
    taken_over: int = 0
    lost: int = 0
    doubled: int = 0
    embedded_again: int = 0
    wrongly_visible: int = 0
    findings: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass
class _Trial:
    """A library with its model, and the words that its files hold.

    Workers find it at `address`, and where that is a database, its files in `blobs`.
    """

    address: str
    blobs: str
    notes: Path
    library: Library
    server: EmbeddingServer
    randomness: random.Random
    damage: Damage = field(default_factory=Damage)
    sources: dict[str, Sequence[str]] = field(default_factory=dict)

    def add(self, files: int) -> None:
        """More documents to read and embed."""
        added = _write_sources(self.notes, len(self.sources), files)
        self.sources |= added
        self.library.add(*(self.notes / name for name in added), wait=False)

    def keep_busy(self) -> None:
        if len(self.library.jobs.list(only_live=True, limit=_FILES_AT_ONCE)) < _FILES_AT_ONCE // 4:
            self.add(_FILES_AT_ONCE)

    def _is_done(self) -> bool:
        """Do what can be done now; what was put off for longer than anyone waits for comes later."""
        self.library.drain()
        return not self.library.jobs.list(only_live=True, limit=1)

    def judge(self) -> Damage:
        """Do what is left, and count what is not as it should be."""
        until(self._is_done, _PATIENCE_SECONDS)
        self.damage.lost, self.damage.doubled = _lost_and_doubled(self.library, self.sources, self.server)
        self.damage.taken_over = sum(job.fence > 1 for job in self.library.jobs.list(limit=_EVERY))
        checked = self.library.check()
        self.damage.findings = tuple(f"{one.code}: {one.message}" for one in checked if one.severity != "ok")
        return self.damage


@contextmanager
def _trial(folder: Path, seed: int, database: str = "") -> Iterator[_Trial]:
    """`database` is the address of a PostgreSQL database; without one, the library is in a folder."""
    home, notes = folder / "library", folder / "notes"
    home.mkdir(parents=True)
    notes.mkdir()
    began = time.perf_counter()
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings() + _SETTINGS, "utf-8")
        blobs = str(home) if database else ""
        with wy.open(database or home, blobs=blobs or None) as library:
            trial = _Trial(database or str(home), blobs, notes, library, server, random.Random(seed))
            yield trial
            trial.damage.seconds = time.perf_counter() - began


# --- What is done to workers ---------------------------------------------------------------------


def crash_again_and_again(folder: Path, kills: int, processes: int, seed: int, database: str = "") -> Damage:
    """Ingest and embed with `processes` workers at once, killing one every few hundred milliseconds.

    Batches that were committed when a worker died must not be sent to the model again.
    """
    with _trial(folder, seed, database) as trial:
        trial.add(_FILES_AT_ONCE)
        workers = [_start(trial) for _ in range(processes)]
        try:
            while trial.damage.kills < kills:
                trial.keep_busy()
                victim = trial.randomness.randrange(processes)
                stored, before = _embedded(trial.library), len(trial.server.inputs)
                after = trial.randomness.uniform(0.05, 0.6)
                if not trial.damage.kills:
                    _stop_at_work(trial, workers[victim])
                trial.damage.kills += _kill(workers[victim], after)
                again = {input_hash(text) for text in trial.server.inputs[before:]} & stored
                trial.damage.embedded_again += len(again)
                trial.damage.wrongly_visible += _wrongly_visible(trial.library, trial.sources, trial.randomness)
                workers[victim] = _start(trial)
        finally:
            _end_all(workers)
        return trial.judge()


def stop_again_and_again(folder: Path, stops: int, seed: int, database: str = "") -> Damage:
    """Stop one of two workers (SIGSTOP) for longer than its lease, and let it go on (SIGCONT).

    What it had in its hands belongs to the other by then. A text that it was about to send may be
    sent once more, and is counted; nothing of what comes back may be stored.
    """
    with _trial(folder, seed, database) as trial:
        trial.add(_FILES_AT_ONCE)
        workers = [_start(trial) for _ in range(2)]
        try:
            while trial.damage.kills < stops:
                trial.keep_busy()
                victim = workers[trial.randomness.randrange(2)]
                time.sleep(trial.randomness.uniform(0.1, 0.6))
                stored, before = _embedded(trial.library), len(trial.server.inputs)
                if trial.damage.kills:
                    victim.send_signal(signal.SIGSTOP)
                    time.sleep(_LEASE_SECONDS * 1.5)
                else:
                    _stop_until_another_has_its_work(trial, victim)
                victim.send_signal(signal.SIGCONT)
                trial.damage.kills += 1
                trial.damage.wrongly_visible += _wrongly_visible(trial.library, trial.sources, trial.randomness)
                again = {input_hash(text) for text in trial.server.inputs[before:]} & stored
                trial.damage.embedded_again += len(again)
        finally:
            _end_all(workers)
        return trial.judge()


def cut_again_and_again(folder: Path, cuts: int, seed: int, database: str) -> Damage:
    """Cut every connection of two workers to a PostgreSQL server, in the middle of whatever they do.

    They live, and connect again. What was being committed is there or not, and done again if not.
    """
    cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'cut'"
    with _trial(folder, seed, database) as trial, psycopg.connect(database, autocommit=True) as connection:
        trial.add(_FILES_AT_ONCE)
        trial.address = f"{database}&application_name=cut"
        workers = [_start(trial) for _ in range(2)]
        try:
            while trial.damage.kills < cuts:
                trial.keep_busy()
                time.sleep(trial.randomness.uniform(0.05, 0.6))
                trial.damage.kills += connection.execute(cut).fetchone() != (0,)
                trial.damage.wrongly_visible += _wrongly_visible(trial.library, trial.sources, trial.randomness)
            assert [worker.poll() for worker in workers] == [None, None]
        finally:
            _end_all(workers)
        return trial.judge()


def restart_again_and_again(folder: Path, restarts: int, seed: int) -> Damage:
    """Restart the PostgreSQL server under two workers, sometimes as a crash of it would.

    They live, and connect again. The server is this scenario's own.
    """
    with own_server() as server, _trial(folder, seed, server.address) as trial:
        trial.add(_FILES_AT_ONCE)
        workers = [_start(trial) for _ in range(2)]
        try:
            while trial.damage.kills < restarts:
                trial.keep_busy()
                time.sleep(trial.randomness.uniform(0.05, 0.6))
                server.restart(trial.randomness.choice(("fast", "immediate")))
                trial.damage.kills += 1
                trial.damage.wrongly_visible += _wrongly_visible(trial.library, trial.sources, trial.randomness)
            assert [worker.poll() for worker in workers] == [None, None]
        finally:
            _end_all(workers)
        return trial.judge()


def delete_again_and_again(folder: Path, kills: int, seed: int, database: str = "") -> Damage:
    """Delete documents and add some again while the worker that purges them is killed again and again."""
    with _trial(folder, seed, database) as trial:
        trial.add(_FILES_AT_ONCE)
        trial.library.drain()
        while trial.damage.kills < kills:
            gone = trial.randomness.sample(sorted(trial.sources), 5)
            for name in gone:
                trial.library.documents.delete(str(trial.notes / name))
                trial.damage.wrongly_visible += _is_found(trial.library, trial.sources[name][0])
            trial.damage.kills += _kill(_start(trial), trial.randomness.uniform(0.05, 0.6))
            trial.damage.wrongly_visible += sum(_is_found(trial.library, trial.sources[name][0]) for name in gone)
            trial.library.add(*(trial.notes / name for name in gone), wait=False)
        return trial.judge()


def rebuild_again_and_again(folder: Path, kills: int, seed: int, database: str = "") -> Damage:
    """Build a knowledge base's indexes anew, cut otherwise each time, while the workers are killed.

    What answers is the old index or the new one, whole.
    """
    with _trial(folder, seed, database) as trial:
        trial.add(_FILES_AT_ONCE)
        trial.library.drain()
        columns = 400
        while trial.damage.kills < kills:
            if not trial.library.jobs.list(only_live=True, limit=1):
                columns = 1200 - columns
                trial.library.rebuilds.begin("default", chunking=ChunkingConfig(columns, 0))
            trial.damage.kills += _kill(_start(trial), trial.randomness.uniform(0.05, 0.6))
            trial.damage.wrongly_visible += _wrongly_visible(trial.library, trial.sources, trial.randomness)
        return trial.judge()


def back_up_again_and_again(folder: Path, kills: int, seed: int) -> Damage:
    """Kill backups while a worker works; what was backed up before can be restored, whole, at any time."""
    target = folder / "backup"
    with _trial(folder, seed) as trial:
        trial.add(_FILES_AT_ONCE)
        trial.library.drain()
        trial.library.backup(target, quick=True)
        worker = _start(trial)
        try:
            while trial.damage.kills < kills:
                trial.keep_busy()
                after = trial.randomness.uniform(0.02, 0.4)
                trial.damage.kills += _kill(_start(trial, _BACK_UP, str(target)), after)
                if trial.damage.kills % 10 == 0:
                    trial.damage.findings += _restored(target, folder / f"restored{trial.damage.kills}")
        finally:
            _end_all([worker])
        found = trial.damage.findings
        trial.judge().findings += found
        return trial.damage


def _restored(backup: Path, home: Path) -> tuple[str, ...]:
    """What does not hold in a library that was made of a backup."""
    wy.restore(backup, home)
    with wy.open(home) as library:
        return tuple(one.code for one in library.check() if one.severity != "ok")


def migrate_again_and_again(folder: Path, kills: int, seed: int) -> Damage:
    """Kill whoever opens a library of the first schema, which is migrated thereby; it opens as it was."""
    randomness, damage, began = random.Random(seed), Damage(), time.perf_counter()
    undisturbed, _ = unpack(SCHEMAS[0], folder / "undisturbed")
    names, findings = _opened(undisturbed)
    while damage.kills < kills:
        home, _ = unpack(SCHEMAS[0], folder / str(damage.kills))
        opening = subprocess.Popen([sys.executable, "-c", _OPEN, str(home)], stdout=subprocess.PIPE)
        assert opening.stdout is not None
        assert opening.stdout.readline() == b"ready\n"
        time.sleep(randomness.uniform(0.0, 0.15))
        opening.kill()
        opening.communicate()
        damage.kills += 1
        found, now = _opened(home)
        damage.lost += len(names - found)
        damage.doubled += len(found - names)
        damage.findings += tuple(sorted(now - findings))
    damage.seconds = time.perf_counter() - began
    return damage


def _opened(home: Path) -> tuple[set[str], set[str]]:
    """The documents of a library, and what does not hold in it."""
    with wy.open(home) as library:
        names = {f"{view.document.source} {view.latest.state}" for view in library.documents.list(limit=_EVERY)}
        return names, {one.code for one in library.check() if one.severity != "ok"}


def _start(trial: _Trial, what: str = _WORK, *arguments: str) -> subprocess.Popen[bytes]:
    """A worker that is about to take its first job, or another program that is about to begin."""
    command = [sys.executable, "-c", what, trial.address, trial.blobs, *arguments]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"ready\n"
    return worker


def _stop_at_work(trial: _Trial, worker: subprocess.Popen[bytes]) -> list[str]:
    """Stop a worker (SIGSTOP) at a moment when jobs are in its hands: which ones.

    A random moment may be one at which a busy machine has not let it begin yet.
    """

    def held() -> list[str]:
        jobs = trial.library.jobs.list(only_live=True, limit=_EVERY)
        return [job.id for job in jobs if job.worker.startswith(f"worker-{worker.pid}-")]

    def is_caught() -> bool:
        trial.keep_busy()
        return is_stopped(worker, trial.library, held)

    until(is_caught)
    return held()


def _stop_until_another_has_its_work(trial: _Trial, worker: subprocess.Popen[bytes]) -> None:
    """Stop a worker until another has taken over a job of its."""
    held = _stop_at_work(trial, worker)
    until(lambda: any(trial.library.jobs.show(one).fence > 1 for one in held))


def _kill(worker: subprocess.Popen[bytes], after: float) -> bool:
    """Kill a worker after a while. A worker ends by itself only where something is wrong."""
    time.sleep(after)
    assert worker.poll() is None
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    return True


def _end_all(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    for worker in workers:
        worker.kill()
        worker.communicate()


# --- What it did ---------------------------------------------------------------------------------


def _write_sources(folder: Path, first: int, files: int) -> dict[str, Sequence[str]]:
    """Documents, large and small, whose every paragraph carries a word of its own."""
    sources: dict[str, Sequence[str]] = {}
    for number in range(first, first + files):
        paragraphs = 100 if number % 8 == 0 else 5
        words = [f"entry{number:05d}x{position:04d}" for position in range(paragraphs)]
        text = "\n\n".join(f"{word} 这一段记录了第{number}号文件。{_filler(word)}" for word in words)
        (folder / f"{number:05d}.txt").write_text(text, "utf-8")
        sources[f"{number:05d}.txt"] = words
    return sources


def _filler(word: str) -> str:
    """Some three hundred characters unlike any other's: of passages that say the same, a search shows one."""
    randomness = random.Random(word)
    return "。".join("".join(chr(randomness.randrange(0x4E00, 0x9000)) for _ in range(9)) for _ in range(30))


def _embedded(library: Library) -> set[bytes]:
    """The hashes of all texts whose vectors are committed, passages and sentences."""
    with library._database.read() as tx:
        passages = {bytes(row[0]) for row in tx.all("SELECT input_hash FROM vectors")}
        rows = tx.all(
            "SELECT DISTINCT c.text FROM chunks AS c JOIN vectors AS v ON v.input_hash = c.input_hash "
            "WHERE v.sentences IS NOT NULL"
        )
    return passages.union(*(_hashes_of_sentences(text) for (text,) in rows))


@cache
def _hashes_of_sentences(text: str) -> frozenset[bytes]:
    return frozenset(input_hash(sentence) for sentence in sentence_inputs((), text))


def _is_found(library: Library, word: str) -> bool:
    return any(word in hit.passage.chunk.text for hit in library.search(word, arms=("keyword",), top_k=20).hits)


def _wrongly_visible(library: Library, sources: dict[str, Sequence[str]], randomness: random.Random) -> int:
    """Of a few documents, how many are shown in part, or shown though not ready, or not shown though ready."""
    wrong = 0
    views = library.documents.list(limit=_EVERY)
    for view in randomness.sample(views, min(6, len(views))):
        words = sources[view.document.name]
        # Both words in one question: each search sees one moment, two searches might not see the same.
        hits = library.search(f"{words[0]} {words[-1]}", arms=("keyword",), top_k=20).hits
        text = "\n".join(hit.passage.chunk.text for hit in hits if hit.passage.document_id == view.document.id)
        found = [word in text for word in (words[0], words[-1])]
        # It may have been published since the list was read; shown in part it must never be.
        now = library.documents.show(view.document.id).searchable
        wrong += found[0] != found[1] or (found[0] and not now) or (not found[0] and view.searchable)
    return wrong


def _lost_and_doubled(library: Library, sources: dict[str, Sequence[str]], server: EmbeddingServer) -> tuple[int, int]:
    lost = doubled = 0
    views = {view.document.name: view for view in library.documents.list(limit=_EVERY)}
    for name, words in sources.items():
        view = views.get(name)
        if view is None or view.latest.state != "ready" or view.semantic.state != "ready":
            lost += len(words)
            continue
        text = "\n".join(chunk.text for chunk in library.documents.chunks(name, limit=10_000))
        lost += sum(word not in text for word in words)
        doubled += sum(text.count(word) > 1 for word in words)
    lost += len({input_hash(text) for text in server.inputs} - _embedded(library))
    return lost, doubled


SCENARIOS: Mapping[str, Callable[[Path, int], Damage]] = {
    "kill -9, 1 worker": lambda folder, times: crash_again_and_again(folder, times, 1, seed=1),
    "kill -9, 3 workers": lambda folder, times: crash_again_and_again(folder, times, 3, seed=3),
    "kill -9 while deleting and adding again": lambda folder, times: delete_again_and_again(folder, times, seed=5),
    "kill -9 while rebuilding": lambda folder, times: rebuild_again_and_again(folder, times, seed=6),
    "kill -9 while backing up": lambda folder, times: back_up_again_and_again(folder, times, seed=7),
    "kill -9 while migrating": lambda folder, times: migrate_again_and_again(folder, times, seed=8),
    "SIGSTOP for longer than the lease, 2 workers": lambda folder, times: stop_again_and_again(folder, times, seed=4),
}
"""What is done to workers, so many times, in a folder."""

ON_POSTGRESQL: Mapping[str, Callable[[Path, int, str], Damage]] = {
    "kill -9, 1 worker": lambda folder, n, at: crash_again_and_again(folder, n, 1, 1, at),
    "kill -9, 3 workers": lambda folder, n, at: crash_again_and_again(folder, n, 3, 3, at),
    "kill -9 while deleting and adding again": lambda folder, n, at: delete_again_and_again(folder, n, 5, at),
    "kill -9 while rebuilding": lambda folder, n, at: rebuild_again_and_again(folder, n, 6, at),
    "SIGSTOP for longer than the lease, 2 workers": lambda folder, n, at: stop_again_and_again(folder, n, 4, at),
    "connections cut, 2 workers": lambda folder, n, at: cut_again_and_again(folder, n, 7, at),
    "server restarted, 2 workers": lambda folder, n, _: restart_again_and_again(folder, n, 8),
}
"""What is done to workers, so many times, with their files in a folder and the rest at an address."""
