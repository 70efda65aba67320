"""Ingestion: files of text to searchable chunks, without a model, and the share of time outside the model."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

import wenyuan as wy
from benchmarks.corpus import Corpus
from benchmarks.report import table
from wenyuan.ports import Embedder
from wenyuan.runtime.documents import DocumentView
from wenyuan.types import ModelIdentity, Side

_FILES = 400
_PASSAGES_PER_FILE = 25
_EMBEDDED_FILES = 12


class ConstantTime:
    """A model that takes no time, to see what everything else takes."""

    similarity_floor = None
    embeds_sentences = True
    max_batch_texts = 32
    max_batch_characters = 60_000
    identity = ModelIdentity("benchmark", "constant-time", 384)

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> NDArray[np.float32]:
        del side, timeout
        row = np.full(384, 1 / np.sqrt(384), dtype=np.float32)
        return np.tile(row, (len(texts), 1))


class Timed:
    """A model, and how long it was busy."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.seconds = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._embedder, name)

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> NDArray[np.float32]:
        began = time.perf_counter()
        try:
            return self._embedder.embed(texts, side, timeout)
        finally:
            self.seconds += time.perf_counter() - began


def measure(corpus: Corpus) -> str:
    rows: list[Sequence[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "files", corpus, _FILES)
        rows.append(_run("read, cut and index (keyword search ready)", Path(folder), "keyword", ""))
        rows.append(
            _run("the same and vectors from a model that takes no time", Path(folder), "constant", "x/constant")
        )
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "files", corpus, _EMBEDDED_FILES)
        rows.append(_with_model(Path(folder)))
    return table("Ingestion", ("what", "files", "MB", "chunks", "seconds", "chunks/s", "MB/s", "peak MB", "note"), rows)


def _write(folder: Path, corpus: Corpus, files: int) -> None:
    folder.mkdir()
    passages = corpus.passages(files * _PASSAGES_PER_FILE, seed=7)
    for number in range(files):
        text = "\n\n".join(next(passages) for _ in range(_PASSAGES_PER_FILE))
        (folder / f"{number:04d}.txt").write_text(text, "utf-8")


def _run(what: str, folder: Path, library_name: str, model: str) -> Sequence[object]:
    environment = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
    with wy.open(folder / library_name, environment=environment) as library, _PeakMemory() as memory:
        if model:
            with library._database.write() as tx:
                tx.run("UPDATE knowledge_bases SET embedding_model = :model", {"model": model})
            library.models.register(model, ConstantTime())
        began = time.perf_counter()
        library.add(folder / "files")
        seconds = time.perf_counter() - began
        return (what, *_rates(library.documents.list(), seconds), memory.megabytes, "")


def _with_model(folder: Path) -> Sequence[object]:
    # One job at a time: the shares of two that run side by side do not add up.
    with wy.open(folder / "library", environment={"WENYUAN_WORKER_THREADS": "1"}) as library, _PeakMemory() as memory:
        name = library.settings.defaults.embedding_model
        timed = Timed(library.models.embedder(name))
        timed.embed(["warm up"], "passage", 600.0)
        timed.seconds = 0.0
        library.models.register(name, timed)  # type: ignore[arg-type]
        began = time.perf_counter()
        library.add(folder / "files")
        seconds = time.perf_counter() - began
        outside = (seconds - timed.seconds) / seconds
        note = f"{outside:.1%} of the time outside the model"
        return ("with the built-in model", *_rates(library.documents.list(), seconds), memory.megabytes, note)


def _rates(views: Sequence[DocumentView], seconds: float) -> tuple[object, ...]:
    megabytes = sum(view.latest.size for view in views) / 1e6
    made = sum(view.latest.chunk_count for view in views)
    return len(views), megabytes, made, seconds, made / seconds, megabytes / seconds


class _PeakMemory:
    """Peak resident memory of this process and its readers, sampled, less what it began with."""

    def __enter__(self) -> _PeakMemory:
        self._process = psutil.Process()
        self._ended = threading.Event()
        self._peak = 0
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def megabytes(self) -> int:
        return self._peak // 1_000_000

    def _sample(self) -> None:
        while not self._ended.wait(0.05):
            total = 0
            for process in (self._process, *self._process.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self._peak = max(self._peak, total)
