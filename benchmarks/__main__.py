"""Measure and print: `python -m benchmarks [language] [ingest] [query] [throughput] [lifecycle] [readers] …`.

Without a name, all of them, `durability` last. `--sizes 1000,10000,100000` are those of the query and postgresql
parts, `--kills 100` is how often each thing is done in the durability part, and `--minutes 10` is for how long the
doors part looks at a server's memory.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import (
    answers,
    doors,
    durability,
    ingest,
    language,
    lifecycle,
    page,
    postgresql,
    query,
    readers,
    throughput,
)
from benchmarks.corpus import Corpus, load_corpus
from benchmarks.report import machine
from wenyuan.config import load_settings
from wenyuan.providers.registry import create_embedder
from wenyuan.providers.settings import BUILT_IN_MODEL
from wenyuan.runtime.models import cache_directory

_REAL_VECTORS = 600
_PARTS = (
    "language",
    "ingest",
    "query",
    "throughput",
    "lifecycle",
    "readers",
    "answers",
    "page",
    "postgresql",
    "doors",
    "durability",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *_PARTS], default=list(_PARTS))
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--packs", type=Path, help="a folder of evaluation sets, for the answers part")
    arguments = parser.parse_args()
    parts = arguments.parts or _PARTS
    print(f"Measured on {machine()}.\n", flush=True)
    if "language" in parts:
        print(language.measure(), flush=True)
    if "readers" in parts:
        print(readers.measure(), flush=True)
    if "answers" in parts:
        print(answers.measure(arguments.packs), flush=True)
    if "page" in parts:
        print(page.measure(), flush=True)
    corpus = load_corpus()
    if "ingest" in parts:
        print(ingest.measure(corpus), flush=True)
    sizes = [int(size) for size in arguments.sizes.split(",")]
    if "query" in parts:
        print(query.measure(corpus, _real_vectors(corpus), sizes), flush=True)
    if "throughput" in parts:
        print(throughput.measure(corpus), flush=True)
    if "lifecycle" in parts:
        print(lifecycle.measure(corpus), flush=True)
    if "postgresql" in parts:
        print(postgresql.measure(corpus, _real_vectors(corpus), sizes), flush=True)
    if "doors" in parts:
        print(doors.measure(corpus, arguments.minutes), flush=True)
    if "durability" in parts:
        print(durability.measure(arguments.kills), flush=True)


def _real_vectors(corpus: Corpus) -> NDArray[np.float32]:
    embedder = create_embedder(BUILT_IN_MODEL, load_settings(Path(), {}).models[BUILT_IN_MODEL], cache_directory())
    return embedder.embed([text[:300] for text in corpus.passages(_REAL_VECTORS, seed=3)], "passage", 3600.0)


if __name__ == "__main__":
    main()
