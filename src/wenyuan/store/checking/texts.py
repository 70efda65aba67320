"""Every published passage stands in its document's text where it says, and is hashed as it is embedded."""

from __future__ import annotations

import json
from collections.abc import Iterator

from wenyuan.rules.embedding_input import embedding_input, input_hash
from wenyuan.store import chunks
from wenyuan.store.checking.invariants import (
    CHUNK_TRUE,
    CHUNKS_COUNTED,
    CHUNKS_ORDERED,
    HASH_TRUE,
    TEXT_WHOLE,
    Violation,
)
from wenyuan.store.database import Database, Reading, Row

_CHUNKS_AT_ONCE = 200


def check_texts(database: Database) -> Iterator[Violation]:
    """Look at the revisions that are published, or were; what is staged may still be taken back."""
    after: str | None = ""
    while after is not None:
        with database.read() as tx:
            row = tx.first(
                "SELECT r.id, d.name, r.chunk_count, r.text_length FROM revisions AS r JOIN documents AS d "
                "ON d.id = r.document_id AND d.deleted_at IS NULL WHERE r.state = 'ready' AND r.id > :after "
                "ORDER BY r.id LIMIT 1",
                {"after": after},
            )
            found = _violations(tx, *row) if row is not None else []
        yield from found
        after = row[0] if row is not None else None


def _violations(tx: Reading, revision_id: str, name: str, chunk_count: int, text_length: int) -> list[Violation]:
    """At most one violation of each kind: where one passage is wrong, all behind it may be."""
    found: dict[str, Violation] = {}
    text = _Text(tx, revision_id)
    counted = expected = 0
    for seq, words, start, end, heading_path, context, stored_hash in _chunks(tx, revision_id):
        if seq != expected:
            found.setdefault("order", CHUNKS_ORDERED.violated(revision=revision_id, name=name, seq=expected))
        if text.between(start, end) != words:
            found.setdefault("text", CHUNK_TRUE.violated(revision=revision_id, name=name, seq=seq))
        if input_hash(embedding_input(json.loads(heading_path), context, words)) != stored_hash:
            found.setdefault("hash", HASH_TRUE.violated(revision=revision_id, name=name, seq=seq))
        counted += 1
        expected = seq + 1
    if counted != chunk_count:
        found["count"] = CHUNKS_COUNTED.violated(revision=revision_id, name=name, found=counted, expected=chunk_count)
    length = text.length()
    if length != text_length:
        found["length"] = TEXT_WHOLE.violated(revision=revision_id, name=name, found=length, expected=text_length)
    return list(found.values())


def _chunks(tx: Reading, revision_id: str) -> Iterator[Row]:
    after = -1
    while rows := tx.all(
        "SELECT seq, text, start_offset, end_offset, heading_path, context, input_hash FROM chunks "
        "WHERE revision_id = :id AND seq > :after ORDER BY seq LIMIT :limit",
        {"id": revision_id, "after": after, "limit": _CHUNKS_AT_ONCE},
    ):
        yield from rows
        after = rows[-1][0]


class _Text:
    """A revision's text read piece by piece, of which only the part that is asked for now is kept."""

    def __init__(self, tx: Reading, revision_id: str) -> None:
        self._tx = tx
        self._revision_id = revision_id
        self._kept = ""
        self._kept_from = 0
        self._pieces = 0
        self._complete = False

    def between(self, start: int, end: int) -> str:
        if start < self._kept_from:
            return chunks.revision_text(self._tx, self._revision_id, start, end)
        while self._kept_from + len(self._kept) < end and not self._complete:
            self._read_on(start)
        return self._kept[start - self._kept_from : end - self._kept_from]

    def length(self) -> int:
        """How many characters there are in all, up to the first gap."""
        while not self._complete:
            self._read_on(self._kept_from + len(self._kept))
        return self._kept_from + len(self._kept)

    def _read_on(self, keep_from: int) -> None:
        row = self._tx.first(
            "SELECT start_offset, text FROM revision_text WHERE revision_id = :id AND seq = :seq",
            {"id": self._revision_id, "seq": self._pieces},
        )
        end = self._kept_from + len(self._kept)
        if row is None or row[0] != end:
            self._complete = True
            return
        dropped = min(keep_from, end) - self._kept_from
        self._kept = self._kept[dropped:] + row[1]
        self._kept_from += dropped
        self._pieces += 1
