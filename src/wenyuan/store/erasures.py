"""Deleted documents that are still named where questions are remembered.

Which they are is kept in the library, in the transaction that deletes them; the traces lie in
`Database.traces`, and the functions that read or write those take a transaction of that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wenyuan.store.database import Reading, Writing
from wenyuan.store.rows import to_json
from wenyuan.types import JsonObject

_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class StoredTrace:
    id: str
    created_at: int
    body: str


# --- In the library ------------------------------------------------------------------------------


def remember(tx: Writing, document_ids: Sequence[str]) -> None:
    """Note that documents are deleted, and that every trace is to be looked through for them."""
    tx.run_many(
        "INSERT INTO erasures (document_id, since, hidden_at) VALUES (:id, 0, :now) ON CONFLICT DO NOTHING",
        [{"id": document_id, "now": tx.now} for document_id in document_ids],
    )


def pending(tx: Reading) -> dict[str, int]:
    """Deleted documents, up to a bound, and the moment from which on traces are to be looked through for them."""
    rows = tx.all(
        "SELECT document_id, since FROM erasures WHERE since >= 0 ORDER BY since, document_id LIMIT :limit",
        {"limit": _LISTED},
    )
    return {str(document_id): int(since) for document_id, since in rows}


def pending_among(tx: Reading, document_ids: Sequence[str]) -> set[str]:
    rows = tx.all(
        "SELECT e.document_id FROM json_each(:ids) AS i CROSS JOIN erasures AS e WHERE e.document_id = i.value",
        {"ids": json.dumps(list(document_ids))},
    )
    return {str(row[0]) for row in rows}


def settle(tx: Writing, document_ids: Sequence[str], looked_at: int, late_ms: int) -> None:
    """Record that all traces were looked through that were there at a moment.

    A search that was under way when a document was deleted may name it `late_ms` later; until then the
    document stays noted, for the traces since.
    """
    since = looked_at - late_ms
    tx.run_many(
        "DELETE FROM erasures WHERE document_id = :id AND hidden_at < :since",
        [{"id": document_id, "since": since} for document_id in document_ids],
    )
    tx.run_many(
        "UPDATE erasures SET since = :since WHERE document_id = :id AND since < :since",
        [{"id": document_id, "since": since} for document_id in document_ids],
    )


def is_due(tx: Reading, before: int) -> bool:
    """Whether documents are noted that were deleted before a moment."""
    row = tx.first(
        "SELECT 1 FROM erasures WHERE since >= 0 AND hidden_at < :before LIMIT 1",
        {"before": before},
    )
    return row is not None


def has_new(tx: Reading) -> bool:
    """Whether documents were deleted for which no trace was looked through yet."""
    return tx.first("SELECT 1 FROM erasures WHERE since = 0 LIMIT 1") is not None


def forget_jobs(tx: Writing, revision_id: str) -> None:
    """Delete the ended jobs of a revision that is gone: why one failed names the document."""
    tx.run(
        "DELETE FROM jobs WHERE subject_kind = 'revision' AND subject_id = :id AND finished_at IS NOT NULL",
        {"id": revision_id},
    )


def not_live(tx: Reading, document_ids: Sequence[str]) -> set[str]:
    """Those of the given documents that are deleted or gone."""
    rows = tx.all(
        "SELECT i.value FROM json_each(:ids) AS i LEFT JOIN documents AS d ON d.id = i.value AND d.deleted_at IS NULL "
        "WHERE d.id IS NULL",
        {"ids": json.dumps(list(document_ids))},
    )
    return {str(row[0]) for row in rows}


# --- In the traces -------------------------------------------------------------------------------


def traces_from(tx: Reading, created_at: int, after_id: str, limit: int) -> list[StoredTrace]:
    """Traces in the order in which they were kept, the page from a moment on, after the id `after_id`."""
    rows = tx.all(
        "SELECT id, created_at, body FROM traces WHERE created_at >= :at AND (created_at > :at OR id > :after) "
        "ORDER BY created_at, id LIMIT :limit",
        {"at": created_at, "after": after_id, "limit": limit},
    )
    return [StoredTrace(row[0], row[1], row[2]) for row in rows]


def replace_traces(tx: Writing, bodies: Mapping[str, JsonObject]) -> None:
    tx.run_many(
        "UPDATE traces SET body = :body WHERE id = :id",
        [{"id": trace_id, "body": to_json(body)} for trace_id, body in bodies.items()],
    )
