"""Looking for what nothing uses any more, a little at a time: vectors, and files that no row names.

Deleting leaves none of these; an interruption in the wrong moment may, and so do models that no
index is made with any more.
"""

from __future__ import annotations

from wenyuan.store.database import Reading, Writing

_UNUSED = (
    "(NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.input_hash = v.input_hash) OR NOT EXISTS (SELECT 1 "
    "FROM model_fingerprints AS m JOIN index_generations AS g ON g.fingerprint = m.fingerprint "
    "AND g.kind = 'vector' WHERE m.key = v.model_key))"
)


def position(tx: Reading, name: str) -> str:
    """Where a search has come to; empty where it begins."""
    row = tx.first("SELECT position FROM sweeps WHERE name = :name", {"name": name})
    return str(row[0]) if row is not None else ""


def set_position(tx: Writing, name: str, reached: str) -> None:
    tx.run(
        "INSERT INTO sweeps (name, position) VALUES (:name, :position) "
        "ON CONFLICT (name) DO UPDATE SET position = excluded.position",
        {"name": name, "position": reached},
    )


def models(tx: Reading, after: int) -> list[int]:
    """The keys of the models from a key on, in order."""
    rows = tx.all("SELECT key FROM model_fingerprints WHERE key >= :after ORDER BY key", {"after": after})
    return [int(row[0]) for row in rows]


def unused_vectors(tx: Reading, model: int, after: bytes, limit: int) -> tuple[list[bytes], bytes | None]:
    """Which of the `limit` vectors of a model after an input hash nothing uses, and the last one looked at, if any."""
    rows = tx.all(
        f"SELECT v.input_hash, CASE WHEN {_UNUSED} THEN 1 ELSE 0 END FROM vectors AS v "
        "WHERE v.model_key = :model AND v.input_hash > :after ORDER BY v.input_hash LIMIT :limit",
        {"model": model, "after": after, "limit": limit},
    )
    return [bytes(row[0]) for row in rows if row[1]], bytes(rows[-1][0]) if rows else None


def forget_vectors(tx: Writing, model: int, hashes: list[bytes]) -> None:
    """Delete those of these vectors that nothing uses at this moment."""
    tx.run_many(
        f"DELETE FROM vectors AS v WHERE v.model_key = :model AND v.input_hash = :hash AND {_UNUSED}",
        [{"model": model, "hash": input_hash} for input_hash in hashes],
    )
