"""Browsers that were signed in with a key, each known by the digest of a token that it holds."""

from __future__ import annotations

from wenyuan.store.database import Reading, Writing


def add(tx: Writing, token_sha256: str, key_id: str, expires_at: int) -> None:
    tx.run(
        "INSERT INTO sign_ins (token_sha256, key_id, created_at, expires_at) VALUES (:token, :key, :now, :expires)",
        {"token": token_sha256, "key": key_id, "now": tx.now, "expires": expires_at},
    )


def key_of(tx: Reading, token_sha256: str, now: int) -> str | None:
    """The id of the key that a browser was signed in with; None where it is signed in no more."""
    row = tx.first(
        "SELECT key_id FROM sign_ins WHERE token_sha256 = :token AND expires_at > :now",
        {"token": token_sha256, "now": now},
    )
    return str(row[0]) if row is not None else None


def remove(tx: Writing, token_sha256: str) -> None:
    tx.run("DELETE FROM sign_ins WHERE token_sha256 = :token", {"token": token_sha256})


def remove_of_key(tx: Writing, key_id: str) -> None:
    tx.run("DELETE FROM sign_ins WHERE key_id = :key", {"key": key_id})


def forget_expired(tx: Writing) -> None:
    tx.run("DELETE FROM sign_ins WHERE expires_at <= :now", {"now": tx.now})


def keep_newest(tx: Writing, key_id: str, most: int) -> None:
    """Sign out the browsers that were signed in longest ago with a key, so that at most so many are left."""
    tx.run(
        "DELETE FROM sign_ins WHERE key_id = :key AND token_sha256 NOT IN (SELECT token_sha256 FROM sign_ins "
        "WHERE key_id = :key ORDER BY created_at DESC, token_sha256 LIMIT :most)",
        {"key": key_id, "most": most},
    )
