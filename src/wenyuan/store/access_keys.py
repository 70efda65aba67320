"""Keys by which a library is opened from elsewhere, and the sessions that were begun with them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from wenyuan.errors import AccessKeyExists, AccessKeyNotFound
from wenyuan.store import sessions
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import to_json
from wenyuan.store.sessions import Session

_COLUMNS = "id, owner, name, scopes, knowledge_bases, created_at, expires_at, revoked_at"


@dataclass(frozen=True, slots=True)
class AccessKey:
    """What is known of a key; the key itself is known to its holder alone.

    `knowledge_bases` are ids; None means all there are.
    """

    id: str
    owner: str
    name: str
    scopes: tuple[str, ...]
    knowledge_bases: tuple[str, ...] | None
    created_at: int
    expires_at: int | None
    revoked_at: int | None


def add(tx: Writing, key: AccessKey, secret_sha256: str) -> None:
    """Store a new key. Raises `AccessKeyExists` where one that is not revoked has its name."""
    added = tx.run(
        f"INSERT INTO access_keys ({_COLUMNS}, secret_sha256) VALUES (:id, :owner, :name, :scopes, :knowledge_bases, "
        ":created_at, :expires_at, NULL, :secret_sha256) ON CONFLICT DO NOTHING",
        {
            "id": key.id,
            "owner": key.owner,
            "name": key.name,
            "scopes": to_json(key.scopes),
            "knowledge_bases": to_json(key.knowledge_bases),
            "created_at": key.created_at,
            "expires_at": key.expires_at,
            "secret_sha256": secret_sha256,
        },
    )
    if not added:
        raise AccessKeyExists(name=key.name)


def by_secret(tx: Reading, secret_sha256: str) -> AccessKey | None:
    """The key whose secret has this SHA-256, whatever became of it."""
    row = tx.first(f"SELECT {_COLUMNS} FROM access_keys WHERE secret_sha256 = :secret", {"secret": secret_sha256})
    return _key(row) if row is not None else None


def by_id(tx: Reading, key_id: str) -> AccessKey | None:
    """The key with this id, whatever became of it."""
    row = tx.first(f"SELECT {_COLUMNS} FROM access_keys WHERE id = :id", {"id": key_id})
    return _key(row) if row is not None else None


def exist(tx: Reading, owner: str) -> bool:
    """Whether a key was ever made; one that is revoked counts."""
    return tx.first("SELECT 1 FROM access_keys WHERE owner = :owner LIMIT 1", {"owner": owner}) is not None


def listed(tx: Reading, owner: str) -> list[AccessKey]:
    """All keys, the oldest first."""
    rows = tx.all(f"SELECT {_COLUMNS} FROM access_keys WHERE owner = :owner ORDER BY created_at, id", {"owner": owner})
    return [_key(row) for row in rows]


def find(tx: Reading, owner: str, reference: str) -> AccessKey:
    """The key with this id, or the one with this name that is not revoked. Raises `AccessKeyNotFound`."""
    parameters = {"owner": owner, "reference": reference}
    row = tx.first(f"SELECT {_COLUMNS} FROM access_keys WHERE owner = :owner AND id = :reference", parameters)
    row = row or tx.first(
        f"SELECT {_COLUMNS} FROM access_keys WHERE owner = :owner AND name = :reference AND revoked_at IS NULL",
        parameters,
    )
    if row is None:
        raise AccessKeyNotFound(key=reference)
    return _key(row)


def revoke(tx: Writing, key_id: str) -> None:
    """Let a key open nothing from now on; revoked again, it stays as it was."""
    tx.run(
        "UPDATE access_keys SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id", {"id": key_id, "now": tx.now}
    )


# --- The sessions of keys ------------------------------------------------------------------------


def claim_session(tx: Writing, session_id: str, key_id: str) -> None:
    tx.run("UPDATE sessions SET key_id = :key WHERE id = :id", {"id": session_id, "key": key_id})


def key_of_session(tx: Reading, session_id: str) -> str | None:
    """The id of the key that a session was begun with, empty for none; None where there is no such session."""
    row = tx.first("SELECT key_id FROM sessions WHERE id = :id", {"id": session_id})
    return str(row[0]) if row is not None else None


def sessions_of(tx: Reading, owner: str, key_id: str, limit: int) -> list[Session]:
    """The sessions that were begun with a key, those used last first."""
    rows = tx.all(
        "SELECT id FROM sessions WHERE key_id = :key AND key_id <> '' ORDER BY updated_at DESC, id DESC LIMIT :limit",
        {"key": key_id, "limit": limit},
    )
    return [sessions.find(tx, owner, row[0]) for row in rows]


def _key(row: Row) -> AccessKey:
    granted = json.loads(row[4])
    bases = None if granted is None else tuple(granted)
    return AccessKey(row[0], row[1], row[2], tuple(json.loads(row[3])), bases, row[5], row[6], row[7])
