"""How long it takes until a deletion, a policy or a move has effect, and how long what follows it takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import wenyuan as wy
from benchmarks.corpus import Corpus
from benchmarks.report import table
from wenyuan.runtime.library import Library
from wenyuan.types import DocumentPolicy

_CHUNKS = 10_000
_DOCUMENTS = 2_000


def measure(corpus: Corpus) -> str:
    with tempfile.TemporaryDirectory() as folder:
        environment = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
        with wy.open(Path(folder) / "library", environment=environment) as library:
            rows = [*_one_document(library, Path(folder), corpus), *_many_documents(library, corpus)]
    return table("Deleting, moving, allowing", ("what", "seconds until it holds", "seconds of work after it"), rows)


def _one_document(library: Library, folder: Path, corpus: Corpus) -> Iterator[Sequence[object]]:
    path = folder / "long.md"
    sections = (f"# {number}\n\n{text}\n\n" for number, text in enumerate(corpus.passages(_CHUNKS, seed=11)))
    path.write_text("".join(sections), "utf-8")
    library.add(path)
    library.knowledge_bases.create("side")
    chunks = f"{library.documents.show(str(path)).latest.chunk_count:,} chunks"
    yield (f"move a document of {chunks}", *_timed(library, lambda: library.documents.move([str(path)], "side")))
    yield (f"delete a document of {chunks}", *_timed(library, lambda: library.documents.delete(str(path))))


def _many_documents(library: Library, corpus: Corpus) -> Iterator[Sequence[object]]:
    library.knowledge_bases.create("many")
    texts = enumerate(corpus.passages(_DOCUMENTS, seed=12))
    library.add_texts((wy.TextToAdd(text, f"{number}.txt") for number, text in texts), kb="many")
    nothing = DocumentPolicy(types=("md",))
    blocking = _timed(library, lambda: library.knowledge_bases.set_policy("many", nothing))
    yield (f"a policy that blocks {_DOCUMENTS:,} documents", *blocking)
    deleting = _timed(library, lambda: library.knowledge_bases.delete("many"))
    yield (f"delete a knowledge base of {_DOCUMENTS:,} documents", *deleting)


def _timed(library: Library, change: Callable[[], object]) -> tuple[float, float]:
    began = time.perf_counter()
    change()
    held = time.perf_counter()
    library.drain()
    return held - began, time.perf_counter() - held
