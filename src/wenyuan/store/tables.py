"""The tables of documents, typed: kept with their revision, and read as a whole.

A table is live exactly if its document serves its revision and is switched on; whoever reads rows of it asks
that of the database in the same transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from wenyuan.rules.tables.pages import about, decoded_rows, encoded_rows, piece
from wenyuan.store import fields
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import anchor_from, to_json
from wenyuan.types import Anchor, Document, Scope, TableRow, TableRows

_PIECES_AT_ONCE = 50
_BATCH_PAGES = 200


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A live table and its document; `schema` says what is known of it and has no rows."""

    document_id: str
    document_name: str
    source: str
    revision_id: str
    knowledge_base_id: str
    row_count: int
    schema: TableRows


def stage(tx: Writing, document: Document, revision_id: str, pieces: Sequence[TableRows]) -> None:
    """Keep pieces of tables under a revision; one that is there already stays as it is."""
    for one in pieces:
        known = {"revision_id": revision_id, "number": one.number}
        tx.run(
            "INSERT INTO data_tables (revision_id, number, knowledge_base_id, document_id, about, row_count, left_out) "
            "VALUES (:revision_id, :number, :knowledge_base_id, :document_id, :about, :row_count, :left_out) "
            "ON CONFLICT (revision_id, number) DO UPDATE SET about = excluded.about, "
            "row_count = excluded.row_count, left_out = excluded.left_out",
            {
                **known,
                "knowledge_base_id": document.knowledge_base_id,
                "document_id": document.id,
                "about": to_json(about(one)),
                "row_count": one.start + len(one.rows),
                "left_out": one.left_out,
            },
        )
        if one.rows:
            tx.run(
                "INSERT INTO table_pages (revision_id, number, start_row, row_count, content) "
                "VALUES (:revision_id, :number, :start, :count, :content) ON CONFLICT DO NOTHING",
                {
                    **known,
                    "start": one.start,
                    "count": len(one.rows),
                    "content": to_json(encoded_rows(one.rows)),
                },
            )


def live(tx: Reading, knowledge_base_id: str, scope: Scope, limit: int) -> list[StoredTable]:
    """The tables of a knowledge base that a scope lets be asked, by the sources of their documents."""
    scope = fields.narrowed(tx, knowledge_base_id, scope)
    rows = tx.all(
        "SELECT d.id, d.name, d.source, t.revision_id, d.knowledge_base_id, t.row_count, t.number, t.about, t.left_out "
        "FROM data_tables AS t CROSS JOIN documents AS d WHERE t.knowledge_base_id = :knowledge_base_id "
        "AND d.id = t.document_id AND d.serving_revision_id = t.revision_id "
        "AND d.knowledge_base_id = :knowledge_base_id AND d.enabled = 1 AND d.blocked_reason = '' "
        "AND d.deleted_at IS NULL AND (:all_documents = 1 OR d.id IN (SELECT value FROM json_each(:documents))) "
        "ORDER BY d.source, d.id, t.number LIMIT :limit",
        {
            "knowledge_base_id": knowledge_base_id,
            "all_documents": int(scope.documents is None),
            "documents": json.dumps(scope.documents or ()),
            "limit": limit,
        },
    )
    return [_stored(row) for row in rows]


def rows(tx: Reading, revision_id: str, number: int) -> Iterator[TableRow]:
    """Every row of a table that was kept, in order; its numbers are exact."""
    for (content,) in tx.all(
        "SELECT content FROM table_pages WHERE revision_id = :id AND number = :number ORDER BY start_row",
        {"id": revision_id, "number": number},
    ):
        yield from decoded_rows(json.loads(content, parse_float=Decimal))


def switched_off(tx: Reading, revision_id: str) -> list[Anchor]:
    """Where the passages of a revision stand that may not be found."""
    found = tx.all(
        "SELECT anchor FROM chunks WHERE revision_id = :id AND enabled = 0 ORDER BY seq", {"id": revision_id}
    )
    return [anchor_from(anchor) for (anchor,) in found]


def places(tx: Reading, revision_id: str) -> Iterator[tuple[int, Anchor]]:
    """Where each passage of a revision stands, as (sequence number, anchor), in order."""
    found = tx.all("SELECT seq, anchor FROM chunks WHERE revision_id = :id ORDER BY seq", {"id": revision_id})
    return ((int(seq), anchor_from(anchor)) for seq, anchor in found)


def of_revision(tx: Reading, revision_id: str, after: tuple[int, int] = (0, 0)) -> list[TableRows]:
    """The next pieces of a revision's tables, from a table's number and row on; empty behind the last."""
    found = tx.all(
        "SELECT p.number, p.start_row, t.about, p.content, t.left_out FROM table_pages AS p "
        "CROSS JOIN data_tables AS t WHERE p.revision_id = :id "
        "AND (p.number > :number OR (p.number = :number AND p.start_row >= :start)) "
        "AND t.revision_id = p.revision_id AND t.number = p.number ORDER BY p.number, p.start_row LIMIT :limit",
        {"id": revision_id, "number": after[0], "start": after[1], "limit": _PIECES_AT_ONCE},
    )
    return [_piece(row) for row in found]


def delete_batch(tx: Writing, revision_id: str) -> int:
    """Delete some of what is kept of a revision's tables; call until it returns 0."""
    parameters = {"id": revision_id, "limit": _BATCH_PAGES}
    pages = tx.run(
        "DELETE FROM table_pages WHERE revision_id = :id AND (number, start_row) IN (SELECT number, start_row "
        "FROM table_pages WHERE revision_id = :id ORDER BY number, start_row LIMIT :limit)",
        parameters,
    )
    return pages or tx.run("DELETE FROM data_tables WHERE revision_id = :id", parameters)


def _stored(row: Row) -> StoredTable:
    document_id, name, source, revision_id, knowledge_base_id, row_count, number, described, left_out = row
    schema = piece(number, 0, json.loads(described), (), left_out)
    return StoredTable(document_id, name, source, revision_id, knowledge_base_id, row_count, schema)


def _piece(row: Row) -> TableRows:
    number, start, described, content, left_out = row
    return piece(number, start, json.loads(described), decoded_rows(json.loads(content)), left_out)
