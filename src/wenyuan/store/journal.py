"""What happened: traces of questions, kept for a while.

They are kept in `Database.traces`, and every function here takes a transaction of that.
"""

from __future__ import annotations

import json

from wenyuan.errors import TraceNotFound
from wenyuan.store.database import Reading, Writing
from wenyuan.store.rows import to_json
from wenyuan.types import JsonObject


def keep_trace(tx: Writing, trace_id: str, owner: str, question: str, why_empty: str | None, body: JsonObject) -> None:
    """Store a trace, or a fuller one in its place."""
    tx.run(
        "INSERT INTO traces (id, owner, question, why_empty, body, created_at) "
        "VALUES (:id, :owner, :question, :why_empty, :body, :now) "
        "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        {
            "id": trace_id,
            "owner": owner,
            "question": question,
            "why_empty": why_empty,
            "body": to_json(body),
            "now": tx.now,
        },
    )


def trace(tx: Reading, principal: str, trace_id: str) -> JsonObject:
    """The stored trace. Raises `TraceNotFound`."""
    row = tx.first(
        "SELECT body FROM traces WHERE owner = :principal AND id = :id", {"principal": principal, "id": trace_id}
    )
    if row is None:
        raise TraceNotFound(trace=trace_id)
    body: JsonObject = json.loads(row[0])
    return body


def recent_traces(tx: Reading, principal: str, limit: int) -> list[JsonObject]:
    rows = tx.all(
        "SELECT body FROM traces WHERE owner = :principal ORDER BY created_at DESC LIMIT :limit",
        {"principal": principal, "limit": limit},
    )
    return [json.loads(row[0]) for row in rows]


def trace_page(
    tx: Reading, principal: str, before: tuple[int, str] | None, limit: int
) -> list[tuple[int, str, JsonObject]]:
    """Traces with their moments and ids, newest first, the page behind the one at `before`."""
    moment, trace_id = before if before is not None else (1 << 62, "")
    rows = tx.all(
        "SELECT created_at, id, body FROM traces WHERE owner = :principal "
        "AND (created_at < :moment OR (created_at = :moment AND id < :id)) "
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        {"principal": principal, "moment": moment, "id": trace_id, "limit": limit},
    )
    return [(int(row[0]), str(row[1]), json.loads(row[2])) for row in rows]


def count(tx: Reading) -> int:
    row = tx.first("SELECT count(*) FROM traces")
    return int(row[0]) if row is not None else 0


def forget_traces(tx: Writing, before: int) -> int:
    """Drop traces older than a moment, and return how many there were."""
    return tx.run("DELETE FROM traces WHERE created_at < :before", {"before": before})
