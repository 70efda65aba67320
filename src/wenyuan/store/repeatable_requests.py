"""What was asked for under a key of the caller's choice, so that it is done once however often it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.store.database import Reading, Writing


@dataclass(frozen=True, slots=True)
class RepeatableRequest:
    """A request that was made once; its `status` is 0, and the rest empty, until it is done.

    `server` is the run of the server that took it: if that is over, nobody is doing it any more.
    """

    digest: str
    server: str
    status: int
    location: str
    body: str


def find(tx: Reading, key_id: str, repeat_key: str) -> RepeatableRequest | None:
    row = tx.first(
        "SELECT digest, server, status, location, body FROM repeatable_requests "
        "WHERE key_id = :key_id AND repeat_key = :repeat_key",
        {"key_id": key_id, "repeat_key": repeat_key},
    )
    return RepeatableRequest(*row) if row is not None else None


def begin(tx: Writing, key_id: str, repeat_key: str, digest: str, server: str) -> None:
    """Record that a request is being done, in the place of one that never was."""
    tx.run(
        "INSERT INTO repeatable_requests (key_id, repeat_key, digest, server, created_at) "
        "VALUES (:key_id, :repeat_key, :digest, :server, :now) "
        "ON CONFLICT (key_id, repeat_key) DO UPDATE SET server = excluded.server",
        {"key_id": key_id, "repeat_key": repeat_key, "digest": digest, "server": server, "now": tx.now},
    )


def finish(tx: Writing, key_id: str, repeat_key: str, status: int, location: str, body: str) -> None:
    tx.run(
        "UPDATE repeatable_requests SET status = :status, location = :location, body = :body "
        "WHERE key_id = :key_id AND repeat_key = :repeat_key",
        {"key_id": key_id, "repeat_key": repeat_key, "status": status, "location": location, "body": body},
    )


def give_up(tx: Writing, key_id: str, repeat_key: str) -> None:
    """Forget a request that was not done, so that it may be made again."""
    tx.run(
        "DELETE FROM repeatable_requests WHERE key_id = :key_id AND repeat_key = :repeat_key AND status = 0",
        {"key_id": key_id, "repeat_key": repeat_key},
    )


def forget(tx: Writing, before: int) -> int:
    """Drop what was asked for before a moment, and return how many requests there were."""
    return tx.run("DELETE FROM repeatable_requests WHERE created_at < :before", {"before": before})
