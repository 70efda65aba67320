"""Computes the mean vectors that centre the built-in embedding model, from files of texts.

    python benchmarks/embedding_means.py --output means.npy FILE.jsonl [FILE.jsonl ...]

Every line of a file is a JSON object with a `text` and perhaps a `title`. A file whose name begins
with `queries` holds questions, any other holds passages. The sample of a file is the texts with the
smallest digests, so it is the same wherever it is drawn, and adding a text changes it by one text
at most. Every file counts alike, so that large ones do not outvote small ones of another kind.

The table at the end tells whether the sample was large enough: the cosine between the means of its
two halves.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray

from wenyuan.language.scripts import language_of
from wenyuan.providers.e5.centring import LANGUAGES, SIDES
from wenyuan.providers.e5.model import DIMENSIONS, E5Embedder
from wenyuan.types import Side


def read_texts(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            yield "\n".join(part for part in (item.get("title", ""), item["text"]) if part)


def sample(texts: Iterator[str], language: str, size: int) -> list[str]:
    """The `size` texts of a language whose digests are the smallest."""
    distinct = {text for text in texts if language_of(text) == language}
    return sorted(distinct, key=lambda text: hashlib.sha256(text.encode("utf-8", "replace")).digest())[:size]


def side_of(file: Path) -> Side:
    return "query" if file.name.startswith("queries") else "passage"


def compute_means(embedder: E5Embedder, files: Sequence[Path], size: int) -> NDArray[np.float32]:
    """Return the means, float32, shape (languages, sides, dimensions), and print how sure they are."""
    vectors: dict[tuple[str, Side], list[NDArray[np.float32]]] = defaultdict(list)
    for file in files:
        for language in LANGUAGES:
            texts = sample(read_texts(file), language, size)
            if len(texts) >= size // 4:
                print(f"{file}: {len(texts)} {language} {side_of(file)} texts", flush=True)
                vectors[language, side_of(file)].append(embedder.embed_uncentred(texts, side_of(file)))
    means = np.zeros((len(LANGUAGES), len(SIDES), DIMENSIONS), np.float32)
    print("\nlanguage  side     texts  files  length  cosine of halves")
    for row, language in enumerate(LANGUAGES):
        for column, side in enumerate(SIDES):
            groups = vectors[language, side]
            if not groups:
                raise SystemExit(f"no file holds {size // 4} {language} {side} texts")
            means[row, column] = mean_of(groups)
            halves = mean_of([group[::2] for group in groups]), mean_of([group[1::2] for group in groups])
            agreement = halves[0] @ halves[1] / np.linalg.norm(halves[0]) / np.linalg.norm(halves[1])
            length = np.linalg.norm(means[row, column])
            count = sum(len(group) for group in groups)
            print(f"{language:8}  {side:7}  {count:5}  {len(groups):5}  {length:.4f}  {agreement:.6f}")
    return means


def mean_of(groups: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    mean: NDArray[np.float32] = np.mean([group.mean(axis=0) for group in groups], axis=0, dtype=np.float32)
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True, help="the .npy file to write")
    parser.add_argument("--size", type=int, default=300, help="texts of one file, language and side (default 300)")
    parser.add_argument("--cache", type=Path, default=Path(platformdirs.user_cache_dir("wenyuan")))
    arguments = parser.parse_args()
    means = compute_means(E5Embedder(arguments.cache, on_progress=print), arguments.files, arguments.size)
    np.save(arguments.output, means)
    print(f"\n{arguments.output}: SHA-256 {hashlib.sha256(arguments.output.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
