"""kill -9 at random moments: nothing is lost, nothing is doubled, nothing half-done is shown."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from wenyuan.rules.embedding_input import input_hash
from wenyuan.runtime.library import Library

KILLS = 30
DRAIN = "import sys, wenyuan as wy\nwith wy.open(sys.argv[1], create=False) as library: library.drain()"


def test_killed_again_and_again_the_work_is_done_exactly_once(tmp_path: Path) -> None:
    randomness = random.Random(20260414)
    sources = _write_sources(tmp_path / "notes")
    home = tmp_path / "library"
    home.mkdir()
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings() + "[worker]\nmax_attempts = 1000\n", "utf-8")
        with wy.open(home) as library:
            library.add(tmp_path / "notes", wait=False)
            kills = 0
            while library.jobs.list(only_live=True, limit=1):
                stored = _embedded(library)
                before = len(server.inputs)
                killed = _drain_and_kill(home, randomness.uniform(0.2, 1.2) if kills < KILLS else None)
                kills += killed
                again = {input_hash(text) for text in server.inputs[before:]} & stored
                assert not again, "a batch that was committed was embedded again"
                _assert_only_whole_documents_are_shown(library, sources)
            _assert_complete(library, sources, server)
            assert library.check() == []
    assert kills >= KILLS, f"the work was done after {kills} kills; give it more to do"


def _write_sources(folder: Path) -> dict[str, list[str]]:
    """Documents whose every paragraph carries a word of its own, large and small ones."""
    folder.mkdir()
    sources: dict[str, list[str]] = {}
    for number in range(60):
        paragraphs = 120 if number % 10 == 0 else 6
        words = [f"词条{number:03d}x{position:04d}" for position in range(paragraphs)]
        text = "\n\n".join(
            f"{word} 这一段记录了第{number}号文件的内容。" + "水文观测与仪器校准。" * 30 for word in words
        )
        (folder / f"{number:03d}.txt").write_text(text, "utf-8")
        sources[f"{number:03d}.txt"] = words
    return sources


def _drain_and_kill(home: Path, after: float | None) -> bool:
    process = subprocess.Popen([sys.executable, "-c", DRAIN, str(home)], stderr=subprocess.PIPE)
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


def _assert_only_whole_documents_are_shown(library: Library, sources: dict[str, list[str]]) -> None:
    for view in library.documents.list():
        words = sources[view.document.name]
        for word in (words[0], words[-1]):
            found = {hit.passage.document_id for hit in library.search(word, arms=("keyword",)).hits}
            assert (view.document.id in found) == view.searchable


def _assert_complete(library: Library, sources: dict[str, list[str]], server: EmbeddingServer) -> None:
    views = library.documents.list()
    assert {view.document.name for view in views} == set(sources)
    for view in views:
        assert view.latest.state == "ready"
        assert view.semantic.state == "ready"
        chunks = library.documents.chunks(view.document.id, limit=10_000)
        assert [chunk.seq for chunk in chunks] == list(range(view.latest.chunk_count))
        text = "\n\n".join(chunk.text for chunk in chunks)
        assert [text.count(word) for word in sources[view.document.name]] == [1] * len(sources[view.document.name])
    assert {input_hash(text) for text in server.inputs} >= _embedded(library)
