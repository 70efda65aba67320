"""Documents within a scope, as whoever asks may read them: live ones alone, and of those the live passages."""

from __future__ import annotations

import json
from dataclasses import dataclass

from wenyuan.store import chunks, fields
from wenyuan.store.database import Reading
from wenyuan.types import Passage, Scope

_COLUMNS = "d.id, d.name, r.media_type, r.text_length, r.chunk_count"
_LIVE = (
    "r.id = d.serving_revision_id AND d.knowledge_base_id = :base AND d.enabled = 1 AND d.blocked_reason = '' "
    "AND d.deleted_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class ReadableDocument:
    """A document that may be read, how many characters its text has, and in how many passages."""

    id: str
    knowledge_base_id: str
    name: str
    media_type: str
    characters: int
    passages: int


def listed(tx: Reading, knowledge_base_id: str, scope: Scope, after: str, limit: int) -> list[ReadableDocument]:
    """Documents of one knowledge base within a scope, by id, those after the id `after`."""
    within = fields.narrowed(tx, knowledge_base_id, scope).documents
    parameters: dict[str, object] = {"base": knowledge_base_id, "after": after, "limit": limit}
    if within is None:
        rows = tx.all(
            f"SELECT {_COLUMNS} FROM documents AS d CROSS JOIN revisions AS r WHERE {_LIVE} AND d.id > :after "
            "ORDER BY d.id LIMIT :limit",
            parameters,
        )
    else:
        rows = tx.all(
            f"SELECT {_COLUMNS} FROM json_each(:ids) AS i CROSS JOIN documents AS d CROSS JOIN revisions AS r "
            f"WHERE d.id = i.value AND {_LIVE} AND d.id > :after ORDER BY d.id LIMIT :limit",
            {"ids": json.dumps(within), **parameters},
        )
    return [ReadableDocument(row[0], knowledge_base_id, row[1], row[2], row[3], row[4]) for row in rows]


def passages(
    tx: Reading, knowledge_base_id: str, scope: Scope, document_id: str, first: int, limit: int
) -> list[Passage]:
    """Passages of a document in their order, from the sequence number `first` on; those that are switched off are not
    among them, nor is anything of a document outside of the scope.
    """
    rows = tx.all(
        "SELECT c.key FROM documents AS d CROSS JOIN chunks AS c WHERE d.id = :document "
        "AND c.revision_id = d.serving_revision_id AND c.enabled = 1 AND c.seq >= :first ORDER BY c.seq LIMIT :limit",
        {"document": document_id, "first": first, "limit": limit},
    )
    keys = [int(row[0]) for row in rows]
    found = chunks.passages(tx, knowledge_base_id, scope, keys)
    return [found[key] for key in keys if key in found]
