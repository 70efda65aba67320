"""What is published can be found by its words and by its vectors, and nothing else can."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from wenyuan.errors import WenyuanError
from wenyuan.store import vectors
from wenyuan.store.checking.invariants import (
    CODES_COMPLETE,
    CODES_TRUE,
    LEXICAL_KEPT,
    POSTINGS_COMPLETE,
    POSTINGS_OWNED,
    Violation,
)
from wenyuan.store.database import Database, Reading, Row
from wenyuan.store.sentence_codes import are_possible

_KEYS_AT_ONCE = 10_000
_IS_SERVED = "d.serving_revision_id = c.revision_id AND d.knowledge_base_id = :knowledge_base_id"


def check_postings(database: Database) -> Iterator[Violation]:
    """Compare the chunk keys of each lexical index with the chunks that are, or may be, in it."""
    for generation_id, number, knowledge_base_id, name in active(database, "lexical"):
        after: int | None = 0
        while after is not None:
            try:
                with database.read() as tx:
                    expected = _expected(tx, generation_id, knowledge_base_id, after)
                    indexed = tx.lexical.keys(tx, number, after, _KEYS_AT_ONCE)
                    # Opens the index, whose records may be gone though its keys are there.
                    tx.lexical.document_frequency(tx, number, ["a"])
            except WenyuanError as error:
                yield LEXICAL_KEPT.violated(name=name, number=number, reason=error.message)
                break
            # What lies above the end of either list is left to the next round.
            ends = [keys[-1] for keys in (list(expected), indexed) if len(keys) == _KEYS_AT_ONCE]
            after = min(ends, default=None)
            here = {key for key in indexed if after is None or key <= after}
            for key, (required, revision, document) in expected.items():
                if required and key not in here and (after is None or key <= after):
                    yield POSTINGS_COMPLETE.violated(key=key, name=document, revision=revision)
            for key in sorted(here - expected.keys()):
                yield POSTINGS_OWNED.violated(key=key, name=name, number=number)


def check_codes(database: Database) -> Iterator[Violation]:
    """Compute the codes of each revision the vector list sees from its vectors again."""
    for generation_id, _, _, _ in active(database, "vector"):
        after: str | None = ""
        while after is not None:
            with database.read() as tx:
                row = tx.first(
                    "SELECT x.revision_id, d.name, g.dimensions, coalesce(m.key, 0) FROM revision_indexes AS x "
                    "JOIN index_generations AS g ON g.id = x.generation_id "
                    "JOIN documents AS d ON d.serving_revision_id = x.revision_id "
                    "LEFT JOIN model_fingerprints AS m ON m.fingerprint = g.fingerprint "
                    "WHERE x.generation_id = :id AND x.state = 'ready' AND x.revision_id > :after "
                    "ORDER BY x.revision_id LIMIT 1",
                    {"id": generation_id, "after": after},
                )
                found = _code_violation(tx, generation_id, *row) if row is not None else None
            if found is not None:
                yield found
            after = row[0] if row is not None else None


def active(database: Database, kind: str) -> list[Row]:
    with database.read() as tx:
        return tx.all(
            "SELECT g.id, g.number, b.id, b.name FROM index_generations AS g JOIN knowledge_bases AS b "
            "ON b.id = g.knowledge_base_id WHERE g.kind = :kind AND g.state = 'active' ORDER BY g.number",
            {"kind": kind},
        )


def _expected(tx: Reading, generation_id: str, knowledge_base_id: str, after: int) -> dict[int, tuple[bool, str, str]]:
    """Chunks that may be in a lexical index, whether they must, and whose they are: a revision is there from

    its staging until its purge, but only while it is served is it there as a whole. A document that moves
    from one knowledge base to another has revisions in the indexes of both.
    """
    rows = tx.all(
        f"SELECT c.key, CASE WHEN {_IS_SERVED} THEN 1 ELSE 0 END, r.id, d.name "
        "FROM chunks AS c "
        "JOIN revisions AS r ON r.id = c.revision_id JOIN documents AS d ON d.id = r.document_id "
        "LEFT JOIN revision_indexes AS x ON x.revision_id = c.revision_id AND x.generation_id = :generation_id "
        f"WHERE c.key > :after AND (x.revision_id IS NOT NULL OR ({_IS_SERVED})) ORDER BY c.key LIMIT :limit",
        {
            "generation_id": generation_id,
            "knowledge_base_id": knowledge_base_id,
            "after": after,
            "limit": _KEYS_AT_ONCE,
        },
    )
    return {int(key): (bool(required), str(revision), str(name)) for key, required, revision, name in rows}


def _code_violation(
    tx: Reading, generation_id: str, revision_id: str, name: str, dimensions: int, model: int
) -> Violation | None:
    after = -1
    for segment in count():
        rows = tx.all(
            "SELECT c.seq, c.key, v.vector, v.sentences FROM chunks AS c "
            "LEFT JOIN vectors AS v ON v.model_key = :model AND v.input_hash = c.input_hash "
            "WHERE c.revision_id = :revision_id AND c.seq > :after ORDER BY c.seq LIMIT :limit",
            {"model": model, "revision_id": revision_id, "after": after, "limit": vectors.SEGMENT_CHUNKS},
        )
        packed = tx.first(
            "SELECT chunk_keys, codes FROM vector_codes WHERE generation_id = :generation_id "
            "AND revision_id = :revision_id AND segment = :segment",
            {"generation_id": generation_id, "revision_id": revision_id, "segment": segment},
        )
        if not rows and packed is None:
            return None
        keys = np.array([row[1] for row in rows], dtype=np.int64).tobytes()
        if packed is None or packed[0] != keys:
            return CODES_COMPLETE.violated(name=name, revision=revision_id, generation=generation_id)
        if _codes([row[2:] for row in rows], dimensions) != packed[1]:
            return CODES_TRUE.violated(name=name, revision=revision_id, generation=generation_id)
        after = rows[-1][0]
    return None


def _codes(stored: list[Row], dimensions: int) -> bytes | None:
    """The codes that the stored vectors give, or None where one, or the codes of its sentences, has another size."""
    whole = [
        vector
        for vector, sentences in stored
        if vector is not None and len(vector) == 2 * dimensions and are_possible(sentences or b"", dimensions)
    ]
    if len(whole) < len(stored):
        return None
    halves = np.frombuffer(b"".join(whole), dtype=np.float16).reshape(len(whole), dimensions)
    return vectors.quantize(halves.astype(np.float32)).tobytes()
