"""Killing workers at random moments, and counting what that did to the library."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from wenyuan.rules.embedding_input import input_hash
from wenyuan.runtime.library import Library

_DRAIN = "import sys, wenyuan as wy\nwith wy.open(sys.argv[1], create=False) as library: library.drain()"
_LONGEST_RUN_SECONDS = 300.0
_EVERY = 100_000


@dataclass(slots=True)
class Damage:
    """What many kills did. All but `kills` and `seconds` must be zero, and `findings` empty."""

    kills: int = 0
    lost: int = 0
    doubled: int = 0
    embedded_again: int = 0
    wrongly_visible: int = 0
    findings: tuple[str, ...] = ()
    seconds: float = 0.0


def crash_again_and_again(folder: Path, kills: int, processes: int, seed: int) -> Damage:
    """Ingest and embed a folder with `processes` workers at once, killing one every few hundred milliseconds.

    Batches that were committed when a worker died must not be sent to the model again.
    """
    randomness = random.Random(seed)
    sources = _write_sources(folder / "notes", files=5 * kills * processes)
    home = folder / "library"
    home.mkdir()
    damage = Damage()
    began = time.perf_counter()
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings() + "[worker]\nmax_attempts = 1000\n", "utf-8")
        with wy.open(home) as library:
            library.add(folder / "notes", wait=False)
            workers = [_start(home) for _ in range(processes)]
            while damage.kills < kills and library.jobs.list(only_live=True, limit=1):
                victim = randomness.randrange(processes)
                stored, before = _embedded(library), len(server.inputs)
                damage.kills += _kill(workers[victim], randomness.uniform(0.25, 1.0) / processes)
                again = {input_hash(text) for text in server.inputs[before:]} & stored
                damage.embedded_again += len(again)
                damage.wrongly_visible += _wrongly_visible(library, sources, randomness)
                workers[victim] = _start(home)
            for worker in workers:
                _, errors = worker.communicate(timeout=_LONGEST_RUN_SECONDS)
                assert worker.returncode == 0, errors.decode()
            library.drain()
            damage.lost, damage.doubled = _lost_and_doubled(library, sources, server)
            damage.findings = tuple(f"{one.code}: {one.message}" for one in library.check() if one.severity != "ok")
    damage.seconds = time.perf_counter() - began
    return damage


def _write_sources(folder: Path, files: int) -> dict[str, Sequence[str]]:
    """Documents, large and small, whose every paragraph carries a word of its own."""
    folder.mkdir(parents=True)
    sources: dict[str, Sequence[str]] = {}
    for number in range(files):
        paragraphs = 100 if number % 8 == 0 else 5
        words = [f"entry{number:03d}x{position:04d}" for position in range(paragraphs)]
        text = "\n\n".join(f"{word} 这一段记录了第{number}号文件。{_filler(word)}" for word in words)
        (folder / f"{number:03d}.txt").write_text(text, "utf-8")
        sources[f"{number:03d}.txt"] = words
    return sources


def _filler(word: str) -> str:
    """Some three hundred characters unlike any other's: of passages that say the same, a search shows one."""
    randomness = random.Random(word)
    return "。".join("".join(chr(randomness.randrange(0x4E00, 0x9000)) for _ in range(9)) for _ in range(30))


def _start(home: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _DRAIN, str(home)], stderr=subprocess.PIPE)


def _kill(process: subprocess.Popen[bytes], after: float) -> bool:
    """Kill a worker after a while; False when it had ended by itself."""
    try:
        _, errors = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    assert process.returncode == 0, errors.decode()
    return False


def _embedded(library: Library) -> set[bytes]:
    with library._database.read() as tx:
        return {bytes(row[0]) for row in tx.all("SELECT input_hash FROM vectors")}


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
    vectors = _embedded(library)
    lost += len({input_hash(text) for text in server.inputs} - vectors)
    return lost, doubled
