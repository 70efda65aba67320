"""Turns the 4-bit weights, once per machine, into the files that the model runs from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wenyuan.errors import BuiltInModelMissing
from wenyuan.providers.e5.files import is_complete, locked, save_array, storage_errors, write_folder
from wenyuan.providers.e5.graph import build_graph
from wenyuan.providers.e5.tokenizer import write_tables
from wenyuan.providers.e5.weights import SHA256, Weights, find_weights, open_weights

Progress = Callable[[str], None]

CONVERSION = 1
"""Grows with every change to the graph, the tables or the rules of conversion that moves a vector."""

WEIGHTS_IDENTITY = f"sha256:{SHA256}/conversion-{CONVERSION}"

GRAPH_FILE, WORDS_FILE, POSITIONS_FILE = "model.onnx", "words.npy", "positions.npy"

_FOLDER = f"multilingual-e5-small-{SHA256[:12]}-{CONVERSION}"
_PATIENCE_SECONDS = 600.0
"""How long to wait for another process that is converting; far more than it takes anywhere."""


def is_converted(cache_directory: Path) -> bool:
    """Tell whether the model is ready to be loaded; nothing is converted."""
    return is_complete(cache_directory / _FOLDER, WEIGHTS_IDENTITY)


def converted_folder(cache_directory: Path, on_progress: Progress) -> Path:
    """Return the folder with the complete converted model, converting it first where needed.

    Safe to call from several processes at once: one converts, the others wait for it. Raises
    `BuiltInModelMissing` where the weights or a writable cache are not there, and `DiskFull`.
    """
    folder = cache_directory / _FOLDER
    if is_complete(folder, WEIGHTS_IDENTITY):
        return folder
    with storage_errors(cache_directory):
        cache_directory.mkdir(parents=True, exist_ok=True)
        try:
            with locked(cache_directory / f"{_FOLDER}.lock", _PATIENCE_SECONDS):
                if not is_complete(folder, WEIGHTS_IDENTITY):
                    _convert(folder, on_progress)
        except TimeoutError:
            raise BuiltInModelMissing(
                reason=f"another process has been converting it in {folder} for too long"
            ) from None
    return folder


def _convert(folder: Path, on_progress: Progress) -> None:
    on_progress("Preparing the built-in embedding model, once on this machine: checking its weights")
    weights = open_weights(find_weights())
    write_folder(folder, WEIGHTS_IDENTITY, lambda partial: write_model(partial, weights, on_progress))
    on_progress("The built-in embedding model is ready")


def write_model(folder: Path, weights: Weights, on_progress: Progress) -> None:
    """Write the tokenizer's tables, the embedding tables and the graph into an empty folder."""
    shape, special = weights.shape, weights.special
    on_progress("Preparing the built-in embedding model: tokenizer")
    # The last piece is the mask of masked language modelling, which the file does not name.
    mask = len(weights.pieces) - 1
    write_tables(
        folder,
        weights.pieces,
        weights.scores,
        weights.normalisation,
        special={special.begin, special.end, special.padding, special.unknown, mask},
        begin=special.begin,
        end=special.end,
        unknown=special.unknown,
    )
    on_progress("Preparing the built-in embedding model: word embeddings")
    save_array(folder / WORDS_FILE, weights.blocks("emb.word", shape.vocabulary, shape.hidden))
    positions = weights.vector("emb.pos", shape.positions * shape.hidden).reshape(shape.positions, shape.hidden)
    types = weights.vector("emb.type", shape.token_types * shape.hidden).reshape(shape.token_types, shape.hidden)
    save_array(folder / POSITIONS_FILE, positions + types[0])
    on_progress("Preparing the built-in embedding model: network")
    (folder / GRAPH_FILE).write_bytes(build_graph(weights).SerializeToString(deterministic=True))
