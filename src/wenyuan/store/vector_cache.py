"""The int8 codes of live chunks in memory, and the scan over them.

Kept fresh by the knowledge base's change number, read in the query's own transaction: a change that
the transaction can see is in the arrays before they are scanned. The arrays may run ahead of an
older transaction; what it must not show, the reading of the words leaves out.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import numpy as np
import simsimd
from numpy.typing import NDArray

from wenyuan.store import indexes, knowledge_bases, vectors
from wenyuan.store.database import Reading
from wenyuan.types import IndexGeneration

# Codes err by 0.0004 on average: of the 10 nearest by real E5 vectors 12 candidates hold 99.98 %, of 50, 60 hold all.
_MORE_CANDIDATES = 16
_COMPACT_AT_DEAD_SHARE = 0.25
_COPIED_SHARE = 0.25


@dataclass(slots=True)
class _Codes:
    """Rows of one generation; row i is the chunk `keys[i]`, and `ranges` tells the rows of each document."""

    change_number: int
    codes: NDArray[np.int8]
    inverse_norms: NDArray[np.float32]
    keys: NDArray[np.int64]
    alive: NDArray[np.bool_]
    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    coverage: tuple[int, int] = (0, 0)


class VectorCache:
    """Codes of every knowledge base this process has searched; threads may share it."""

    def __init__(self) -> None:
        self._loaded: dict[str, _Codes] = {}
        self._refreshing = threading.Lock()

    def search(
        self,
        tx: Reading,
        generation: IndexGeneration,
        model_key: int,
        query: NDArray[np.float32],
        documents: tuple[str, ...] | None,
        depth: int,
    ) -> list[tuple[int, float]]:
        """The `depth` chunks nearest to a unit query, as (chunk key, cosine similarity), best first.

        Scans int8 codes, then rescores the best candidates exactly from the stored vectors.
        """
        codes = self._fresh(tx, generation)
        rows = _scan(codes, query, documents, depth + depth // 4 + _MORE_CANDIDATES)
        return vectors.exact(tx, model_key, codes.keys[rows].tolist(), query)[:depth]

    def coverage(self, tx: Reading, generation: IndexGeneration) -> tuple[int, int]:
        """How many of the live documents the vector list sees, and how many there are."""
        return self._fresh(tx, generation).coverage

    def memory_bytes(self) -> int:
        """How much memory the codes of all knowledge bases take."""
        return sum(
            loaded.codes.nbytes + loaded.inverse_norms.nbytes + loaded.keys.nbytes + loaded.alive.nbytes
            for loaded in self._loaded.values()
        )

    def _fresh(self, tx: Reading, generation: IndexGeneration) -> _Codes:
        now = knowledge_bases.change_number(tx, generation.knowledge_base_id)
        with self._refreshing:
            loaded = self._loaded.get(generation.id)
            if loaded is None or _dead_share(loaded) > _COMPACT_AT_DEAD_SHARE:
                loaded = _load(tx, generation, now)
            elif loaded.change_number < now:
                loaded = _updated(tx, generation, loaded, now)
            else:
                return loaded
            loaded.coverage = indexes.coverage(tx, generation)
            self._loaded[generation.id] = loaded
            return loaded


def _load(tx: Reading, generation: IndexGeneration, change_number: int) -> _Codes:
    live = vectors.live_codes(tx, generation.id, generation.knowledge_base_id, generation.dimensions, None)
    return _Codes(
        change_number,
        live.codes,
        _inverse_norms(live.codes),
        live.chunk_keys,
        np.ones(len(live.codes), dtype=np.bool_),
        _ranges({}, 0, live),
    )


def _updated(tx: Reading, generation: IndexGeneration, loaded: _Codes, change_number: int) -> _Codes:
    changed = knowledge_bases.changed_documents(tx, generation.knowledge_base_id, loaded.change_number)
    alive = loaded.alive.copy()
    for document_id in changed:
        for start, end in loaded.ranges.get(document_id, ()):
            alive[start:end] = False
    live = vectors.live_codes(tx, generation.id, generation.knowledge_base_id, generation.dimensions, changed)
    gone = frozenset(changed)
    kept = {document: spans for document, spans in loaded.ranges.items() if document not in gone}
    if not len(live.codes):
        return replace(loaded, change_number=change_number, alive=alive, ranges=kept)
    return _Codes(
        change_number,
        np.concatenate([loaded.codes, live.codes]),
        np.concatenate([loaded.inverse_norms, _inverse_norms(live.codes)]),
        np.concatenate([loaded.keys, live.chunk_keys]),
        np.concatenate([alive, np.ones(len(live.codes), dtype=np.bool_)]),
        _ranges(kept, len(loaded.codes), live),
    )


def _ranges(kept: dict[str, list[tuple[int, int]]], row: int, live: vectors.Codes) -> dict[str, list[tuple[int, int]]]:
    """Which rows belong to each document, with those of `live` from `row` on."""
    ranges = dict(kept)
    for document_id, count in live.documents:
        ranges[document_id] = [*ranges.get(document_id, ()), (row, row + count)]
        row += count
    return ranges


def _scan(codes: _Codes, query: NDArray[np.float32], documents: tuple[str, ...] | None, limit: int) -> NDArray[np.intp]:
    """Rows of the `limit` live codes nearest to the query, nearest first."""
    wanted = codes.alive if documents is None else codes.alive & _rows_of(codes, documents)
    count = int(np.count_nonzero(wanted))
    if not count:
        return np.empty(0, dtype=np.intp)
    # Copying a row costs a few times what scanning it in place does.
    rows = np.flatnonzero(wanted) if count < len(wanted) * _COPIED_SHARE else None
    scanned = codes.codes if rows is None else codes.codes[rows]
    inverse_norms = codes.inverse_norms if rows is None else codes.inverse_norms[rows]
    # The dot product and one division cost a third less than simsimd's cosine, which redoes all norms.
    code = vectors.quantize(query.reshape(1, -1))
    products: NDArray[np.float32] = np.asarray(simsimd.cdist(code, scanned, "dot", out_dtype="f32")).reshape(-1)
    similarities = np.multiply(products, inverse_norms, out=products)
    if rows is None and count < len(wanted):
        similarities[~wanted] = -np.inf
    first = max(0, len(similarities) - min(limit, count))
    nearest = np.argpartition(similarities, first)[first:] if first else np.arange(len(similarities))
    nearest = nearest[np.argsort(-similarities[nearest], kind="stable")]
    return nearest if rows is None else rows[nearest]


def _rows_of(codes: _Codes, documents: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which rows belong to the given documents."""
    rows = np.zeros(len(codes.alive), dtype=np.bool_)
    for document in documents:
        for start, end in codes.ranges.get(document, ()):
            rows[start:end] = True
    return rows


def _inverse_norms(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    if not len(codes):
        return np.empty(0, dtype=np.float32)
    squares = np.asarray(simsimd.dot(codes, codes), dtype=np.float64).reshape(-1)
    inverse: NDArray[np.float32] = np.reciprocal(np.sqrt(np.maximum(squares, 1.0))).astype(np.float32)
    return inverse


def _dead_share(codes: _Codes) -> float:
    return 1.0 - float(np.count_nonzero(codes.alive)) / len(codes.alive) if len(codes.alive) else 0.0
