"""Taking away what nothing shows any more, in bounded batches.

A superseded revision loses its index entries and keeps its text for a while, so that a citation of it
still opens; then it goes, as everything of a deleted document does.
"""

from __future__ import annotations

from wenyuan.store import fields, tables
from wenyuan.store.database import Reading, Writing

BATCH_CHUNKS = 1000


def unindex_batch(tx: Writing, revision_id: str, after_seq: int) -> int | None:
    """Remove the postings of up to BATCH_CHUNKS chunks after `after_seq` of a revision that is not served.

    Returns the last sequence number done, to be passed to the next call, or None when there were none.
    """
    rows = tx.all(
        "SELECT key, seq FROM chunks WHERE revision_id = :id AND seq > :after ORDER BY seq LIMIT :limit",
        {"id": revision_id, "after": after_seq, "limit": BATCH_CHUNKS},
    )
    for (number,) in tx.all(
        "SELECT g.number FROM revision_indexes AS x JOIN index_generations AS g ON g.id = x.generation_id "
        "WHERE x.revision_id = :id AND g.kind = 'lexical'",
        {"id": revision_id},
    ):
        tx.lexical.remove(tx, number, [int(row[0]) for row in rows])
    return int(rows[-1][1]) if rows else None


def forget_keys(tx: Writing, revision_id: str) -> None:
    tx.run("DELETE FROM keys WHERE revision_id = :id", {"id": revision_id})


def forget_index_rows(tx: Writing, revision_id: str) -> None:
    """Remove what a revision has in the small tables: keys, fields, codes, index progress."""
    parameters = {"id": revision_id}
    forget_keys(tx, revision_id)
    fields.forget(tx, revision_id)
    tx.run("DELETE FROM vector_codes WHERE revision_id = :id", parameters)
    tx.run("DELETE FROM revision_indexes WHERE revision_id = :id", parameters)


def delete_text_batch(tx: Writing, revision_id: str) -> int:
    """Delete up to BATCH_CHUNKS chunks and as many text pieces, with vectors no other chunk uses.

    Returns how many rows went; call until it returns 0.
    """
    parameters = {"id": revision_id, "limit": BATCH_CHUNKS}
    rows = tx.all("SELECT key, input_hash FROM chunks WHERE revision_id = :id ORDER BY seq LIMIT :limit", parameters)
    tx.run_many("DELETE FROM chunks WHERE key = :key", ({"key": row[0]} for row in rows))
    tx.run_many(
        "DELETE FROM vectors WHERE model_key IN (SELECT key FROM model_fingerprints) AND input_hash = :hash "
        "AND NOT EXISTS (SELECT 1 FROM chunks WHERE input_hash = :hash)",
        ({"hash": input_hash} for input_hash in {row[1] for row in rows}),
    )
    pieces = tx.run(
        "DELETE FROM revision_text WHERE revision_id = :id AND seq IN "
        "(SELECT seq FROM revision_text WHERE revision_id = :id ORDER BY seq LIMIT :limit)",
        parameters,
    )
    return len(rows) + pieces + tables.delete_batch(tx, revision_id)


def delete_revision(tx: Writing, revision_id: str) -> tuple[str, str] | None:
    """Delete an emptied revision and return its document and the hash of its bytes."""
    row = tx.first("DELETE FROM revisions WHERE id = :id RETURNING document_id, blob_sha256", {"id": revision_id})
    return (str(row[0]), str(row[1])) if row is not None else None


def delete_document(tx: Writing, document_id: str) -> None:
    """Delete a hidden document that has no revisions left."""
    tx.run(
        "DELETE FROM documents WHERE id = :id AND deleted_at IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM revisions WHERE document_id = :id)",
        {"id": document_id},
    )


def is_to_go(tx: Reading, revision_id: str, superseded_before: int) -> bool:
    """Whether a revision's document was deleted, or a newer one replaced it before that time.

    One that was never published goes at once: no citation leads to it.
    """
    row = tx.first(
        "SELECT 1 FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        "WHERE r.id = :id AND (d.deleted_at IS NOT NULL OR r.superseded_at <= :before "
        "OR (r.superseded_at IS NOT NULL AND r.published_at IS NULL))",
        {"id": revision_id, "before": superseded_before},
    )
    return row is not None


def drop_generation_batch(tx: Writing, generation_id: str) -> bool:
    """Take away a part of an index that does not answer; False when all of it is gone.

    Vectors are shared by all indexes that one model made: they go with the last of these.
    """
    parameters = {"id": generation_id, "limit": BATCH_CHUNKS}
    row = tx.first(
        "SELECT number, kind, fingerprint FROM index_generations WHERE id = :id AND state <> 'active'", parameters
    )
    if row is None:
        return False
    if _forget_revisions(tx, generation_id) or (row[1] == "vector" and _forget_vectors(tx, generation_id, row[2])):
        return True
    if row[1] == "lexical":
        tx.lexical.drop(tx, row[0])
    tx.run("DELETE FROM index_generations WHERE id = :id", parameters)
    return False


def _forget_revisions(tx: Writing, generation_id: str) -> bool:
    rows = tx.all(
        "SELECT revision_id FROM revision_indexes WHERE generation_id = :id ORDER BY revision_id LIMIT :limit",
        {"id": generation_id, "limit": BATCH_CHUNKS},
    )
    revisions = [{"id": generation_id, "revision_id": row[0]} for row in rows]
    tx.run_many("DELETE FROM vector_codes WHERE generation_id = :id AND revision_id = :revision_id", revisions)
    tx.run_many("DELETE FROM revision_indexes WHERE generation_id = :id AND revision_id = :revision_id", revisions)
    return bool(rows)


def _forget_vectors(tx: Writing, generation_id: str, fingerprint: str) -> bool:
    """Delete some vectors of a model that made no other index."""
    deleted = tx.run(
        "DELETE FROM vectors WHERE model_key = (SELECT key FROM model_fingerprints WHERE fingerprint = :fingerprint) "
        "AND NOT EXISTS (SELECT 1 FROM index_generations WHERE fingerprint = :fingerprint AND id <> :id) "
        "AND input_hash IN (SELECT v.input_hash FROM model_fingerprints AS m JOIN vectors AS v ON v.model_key = m.key "
        "WHERE m.fingerprint = :fingerprint ORDER BY v.input_hash LIMIT :limit)",
        {"id": generation_id, "fingerprint": fingerprint, "limit": BATCH_CHUNKS},
    )
    return deleted > 0


def superseded(tx: Reading, before: int, limit: int) -> list[tuple[str, str, str]]:
    """Revisions replaced before that time, the oldest first, as (id, knowledge base, owner)."""
    rows = tx.all(
        "SELECT r.id, d.knowledge_base_id, d.owner FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        "WHERE r.superseded_at IS NOT NULL AND r.superseded_at <= :before ORDER BY r.superseded_at LIMIT :limit",
        {"before": before, "limit": limit},
    )
    return [(str(row[0]), str(row[1]), str(row[2])) for row in rows]
