"""Passages that nobody is to find, though their document is found.

They are known by their words, so that they stay switched off in every revision that has them, also
after one that had not. Passages of a document with the same words are switched together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.store import chunks, knowledge_bases
from wenyuan.store.database import Reading, Writing
from wenyuan.types import Chunk, Document

_CHUNKS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A chunk of a revision, and whether it may be found."""

    chunk: Chunk
    enabled: bool


def text_hash(text: str) -> bytes:
    """By what a passage is known again: the SHA-256 of its words, however they are spaced."""
    return hashlib.sha256(" ".join(text.split()).encode()).digest()


def switch(tx: Writing, document: Document, text: str, *, enabled: bool) -> int:
    """Let the passages of a document with these words be found, or not, and return how many it has of them.

    What is being staged is switched as well.
    """
    parameters = {"document_id": document.id, "hash": text_hash(text), "now": tx.now}
    if enabled:
        tx.run("DELETE FROM disabled_passages WHERE document_id = :document_id AND text_hash = :hash", parameters)
    else:
        tx.run(
            "INSERT INTO disabled_passages (document_id, text_hash, created_at) VALUES (:document_id, :hash, :now) "
            "ON CONFLICT DO NOTHING",
            parameters,
        )
    served = 0
    for (revision_id,) in tx.all("SELECT id FROM revisions WHERE document_id = :document_id", parameters):
        keys = _with_hash(tx, revision_id, text_hash(text))
        served += len(keys) if revision_id == document.serving_revision_id else 0
        tx.run_many(
            "UPDATE chunks SET enabled = :enabled WHERE key = :key",
            [{"key": key, "enabled": int(enabled)} for key in keys],
        )
    change = "passage enabled" if enabled else "passage disabled"
    knowledge_bases.record_change(tx, document.knowledge_base_id, document.id, change)
    return served


def _with_hash(tx: Reading, revision_id: str, wanted: bytes) -> list[int]:
    keys: list[int] = []
    after = -1
    while rows := tx.all(
        "SELECT seq, key, text FROM chunks WHERE revision_id = :id AND seq > :after ORDER BY seq LIMIT :limit",
        {"id": revision_id, "after": after, "limit": _CHUNKS_AT_ONCE},
    ):
        after = rows[-1][0]
        keys += [int(key) for _, key, text in rows if text_hash(text) == wanted]
    return keys


def stay_disabled(tx: Writing, document_id: str, staged: Sequence[tuple[int, str]]) -> None:
    """Switch those of the chunks just staged off, as (key, text), that were switched off in an earlier revision."""
    rows = tx.all("SELECT text_hash FROM disabled_passages WHERE document_id = :id", {"id": document_id})
    if rows:
        disabled = {bytes(row[0]) for row in rows}
        tx.run_many(
            "UPDATE chunks SET enabled = 0 WHERE key = :key",
            [{"key": key} for key, text in staged if text_hash(text) in disabled],
        )


def listed(tx: Reading, revision_id: str, first: int, limit: int) -> list[StoredPassage]:
    """Chunks of a revision in order, from sequence number `first` on, and which of them may be found."""
    rows = tx.all(
        "SELECT enabled FROM chunks WHERE revision_id = :id AND seq >= :first ORDER BY seq LIMIT :limit",
        {"id": revision_id, "first": first, "limit": limit},
    )
    found = chunks.of_revision(tx, revision_id, first, limit)
    return [StoredPassage(chunk, bool(row[0])) for chunk, row in zip(found, rows, strict=True)]


def count(tx: Reading, document_id: str, revision_id: str) -> int:
    """How many chunks of a revision are switched off; documents without any are told at once."""
    parameters = {"document_id": document_id, "revision_id": revision_id}
    if tx.first("SELECT 1 FROM disabled_passages WHERE document_id = :document_id LIMIT 1", parameters) is None:
        return 0
    row = tx.first("SELECT count(*) FROM chunks WHERE revision_id = :revision_id AND enabled = 0", parameters)
    return int(row[0]) if row is not None else 0
