"""What of a knowledge base is exported, read in pages; all of it in one transaction, so of one moment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wenyuan.store.database import Reading, Row

_DOCUMENTS_AT_ONCE = 200
_ROWS_AT_ONCE = 256

_REVISION = (
    "r.id, r.number, CASE WHEN d.serving_revision_id = r.id THEN 1 ELSE 0 END, r.blob_sha256, r.size, r.state, "
    "r.media_type, r.encoding, r.title, r.language, r.metadata, r.notices, r.chunking, r.given, r.staged_by, "
    "r.problem, r.created_at, r.published_at, r.chunk_count, r.text_length, r.quality"
)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    id: str
    source: str
    name: str
    enabled: bool
    blocked_reason: str
    created_at: int
    updated_at: int
    parent_id: str


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A revision as it lies in its row; JSON columns are still text."""

    id: str
    number: int
    is_served: bool
    sha256: str
    size: int
    state: str
    media_type: str
    encoding: str
    title: str
    language: str
    metadata: str
    notices: str
    chunking: str
    given: str
    staged_by: str
    problem: str | None
    created_at: int
    published_at: int | None
    chunk_count: int
    text_length: int
    quality: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with the hash of what is embedded for it, and whether it may be found."""

    seq: int
    start: int
    end: int
    text: str
    anchor: str
    heading_path: str
    context: str
    enabled: bool
    input_hash: bytes


def documents(tx: Reading, knowledge_base_id: str) -> Iterator[StoredDocument]:
    """Living documents, by their sources: what a file lies in comes before it."""
    after = ""
    while rows := tx.all(
        "SELECT id, source, name, enabled, blocked_reason, created_at, updated_at, parent_id FROM documents "
        "WHERE knowledge_base_id = :id AND deleted_at IS NULL AND source > :after ORDER BY source LIMIT :limit",
        {"id": knowledge_base_id, "after": after, "limit": _DOCUMENTS_AT_ONCE},
    ):
        for row in rows:
            yield StoredDocument(row[0], row[1], row[2], bool(row[3]), *row[4:])
        after = rows[-1][1]


def revisions(tx: Reading, document_id: str) -> list[StoredRevision]:
    """The revision that a document serves, and its newest one where that is another, in the order of their numbers."""
    rows = tx.all(
        f"SELECT {_REVISION} FROM revisions AS r JOIN documents AS d ON d.id = r.document_id WHERE d.id = :id "
        "AND (r.id = d.serving_revision_id OR r.number = "
        "(SELECT max(x.number) FROM revisions AS x WHERE x.document_id = d.id)) ORDER BY r.number",
        {"id": document_id},
    )
    return [StoredRevision(row[0], row[1], bool(row[2]), *row[3:]) for row in rows]


def disabled_passages(tx: Reading, document_id: str) -> list[str]:
    """The hashes of the passages of a document that are switched off, in hexadecimal digits."""
    rows = tx.all(
        "SELECT text_hash FROM disabled_passages WHERE document_id = :id ORDER BY text_hash", {"id": document_id}
    )
    return [bytes(row[0]).hex() for row in rows]


def text(tx: Reading, revision_id: str) -> Iterator[tuple[int, str]]:
    """A revision's text in pieces, each with the offset where it begins."""
    after = -1
    while rows := tx.all(
        "SELECT seq, start_offset, text FROM revision_text WHERE revision_id = :id AND seq > :after "
        "ORDER BY seq LIMIT 8",
        {"id": revision_id, "after": after},
    ):
        yield from ((int(start), str(piece)) for _, start, piece in rows)
        after = rows[-1][0]


def chunks(tx: Reading, revision_id: str) -> Iterator[list[StoredChunk]]:
    """A revision's chunks in order, some at a time."""
    after = -1
    while rows := tx.all(
        "SELECT seq, start_offset, end_offset, text, anchor, heading_path, context, enabled, input_hash FROM chunks "
        "WHERE revision_id = :id AND seq > :after ORDER BY seq LIMIT :limit",
        {"id": revision_id, "after": after, "limit": _ROWS_AT_ONCE},
    ):
        yield [_chunk(row) for row in rows]
        after = rows[-1][0]


def vectors(tx: Reading, model: int, hashes: Sequence[bytes]) -> dict[bytes, tuple[bytes, bytes | None]]:
    """The stored vectors of those texts that have one, with the codes of their sentences, by their hashes."""
    found: dict[bytes, tuple[bytes, bytes | None]] = {}
    for input_hash in dict.fromkeys(hashes):
        row = tx.first(
            "SELECT vector, sentences FROM vectors WHERE model_key = :model AND input_hash = :hash",
            {"model": model, "hash": input_hash},
        )
        if row is not None:
            found[input_hash] = bytes(row[0]), None if row[1] is None else bytes(row[1])
    return found


def model_identity(tx: Reading, fingerprint: str) -> dict[str, object] | None:
    row = tx.first(
        "SELECT identity FROM model_fingerprints WHERE fingerprint = :fingerprint", {"fingerprint": fingerprint}
    )
    identity: dict[str, object] | None = json.loads(row[0]) if row is not None else None
    return identity


def _chunk(row: Row) -> StoredChunk:
    return StoredChunk(row[0], row[1], row[2], row[3], row[4], row[5], row[6], bool(row[7]), bytes(row[8]))
