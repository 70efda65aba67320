"""The first query of a fresh process: `python -m benchmarks.cold FOLDER QUESTION`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import psutil

import wenyuan as wy
from benchmarks.query import MODEL, StoredVectors
from benchmarks.report import milliseconds


def main(folder: Path, question: str) -> None:
    vector = np.load(folder / "question.npy")
    with wy.open(folder / "library", create=False) as library:
        library.models.register(MODEL, StoredVectors([question], vector.reshape(1, -1)))
        taken = milliseconds(lambda: library.search(question))
        print(taken, psutil.Process().memory_info().rss / 1e6)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
