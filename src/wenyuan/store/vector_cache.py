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

_OVERSAMPLING = 4
_LEAST_CANDIDATES = 40
_COMPACT_AT_DEAD_SHARE = 0.25


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
        rows = _scan(codes, query, documents, max(depth * _OVERSAMPLING, _LEAST_CANDIDATES))
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
    segments = vectors.live_segments(tx, generation.id, generation.knowledge_base_id, generation.dimensions, None)
    empty = _Codes(
        change_number,
        np.empty((0, generation.dimensions), dtype=np.int8),
        np.empty(0, dtype=np.float32),
        np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.bool_),
    )
    return _appended(empty, segments, change_number)


def _updated(tx: Reading, generation: IndexGeneration, loaded: _Codes, change_number: int) -> _Codes:
    changed = knowledge_bases.changed_documents(tx, generation.knowledge_base_id, loaded.change_number)
    alive = loaded.alive.copy()
    for document_id in changed:
        for start, end in loaded.ranges.get(document_id, ()):
            alive[start:end] = False
    segments = vectors.live_segments(tx, generation.id, generation.knowledge_base_id, generation.dimensions, changed)
    kept = {name: spans for name, spans in loaded.ranges.items() if name not in set(changed)}
    surviving = replace(loaded, change_number=change_number, alive=alive, ranges=kept)
    return _appended(surviving, segments, change_number)


def _appended(codes: _Codes, segments: list[vectors.CodeSegment], change_number: int) -> _Codes:
    if not segments:
        return codes
    ranges = {name: list(spans) for name, spans in codes.ranges.items()}
    row = len(codes.keys)
    for segment in segments:
        ranges.setdefault(segment.document_id, []).append((row, row + len(segment.chunk_keys)))
        row += len(segment.chunk_keys)
    added = np.concatenate([segment.codes for segment in segments])
    return _Codes(
        change_number,
        np.concatenate([codes.codes, added]) if len(codes.codes) else added,
        np.concatenate([codes.inverse_norms, _inverse_norms(added)]),
        np.concatenate([codes.keys, *(segment.chunk_keys for segment in segments)]),
        np.concatenate([codes.alive, np.ones(len(added), dtype=np.bool_)]),
        ranges,
    )


def _scan(codes: _Codes, query: NDArray[np.float32], documents: tuple[str, ...] | None, limit: int) -> NDArray[np.intp]:
    """Rows of the `limit` live codes nearest to the query, nearest first."""
    if documents is None:
        rows = None
        scanned = codes.codes
    else:
        spans = [span for document in dict.fromkeys(documents) for span in codes.ranges.get(document, ())]
        rows = np.concatenate([np.arange(*span) for span in spans]) if spans else np.empty(0, dtype=np.intp)
        scanned = codes.codes[rows]
    if not len(scanned):
        return np.empty(0, dtype=np.intp)
    inverse_norms = codes.inverse_norms if rows is None else codes.inverse_norms[rows]
    alive = codes.alive if rows is None else codes.alive[rows]
    # The dot product and one division cost a third less than simsimd's cosine, which redoes all norms.
    code = vectors.quantize(query.reshape(1, -1))
    distances = -np.asarray(simsimd.cdist(code, scanned, "dot")).reshape(-1) * inverse_norms
    if not alive.all():
        distances[~alive] = np.inf
    limit = min(limit, int(np.count_nonzero(alive)))
    nearest = np.argpartition(distances, limit - 1)[:limit] if 0 < limit < len(distances) else np.arange(len(distances))
    nearest = nearest[np.argsort(distances[nearest], kind="stable")][:limit]
    return nearest if rows is None else rows[nearest]


def _inverse_norms(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    squares = np.asarray(simsimd.dot(codes, codes), dtype=np.float64).reshape(-1)
    inverse: NDArray[np.float32] = np.reciprocal(np.sqrt(np.maximum(squares, 1.0))).astype(np.float32)
    return inverse


def _dead_share(codes: _Codes) -> float:
    return 1.0 - float(np.count_nonzero(codes.alive)) / len(codes.alive) if len(codes.alive) else 0.0
