"""Sources: folders and pages that a knowledge base keeps in step with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wenyuan.errors import SourceExists, SourceNotFound
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import DOCUMENT_COLUMNS, document_from, from_json, problem_from, to_json
from wenyuan.types import Document, Problem

SourceKind = Literal["folder", "url"]
SourceState = Literal["active", "paused", "removing"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is known of a page since it was last fetched; its validators make the next request conditional (RFC 9110).

    `at` is when its bytes last came, `address` where they came from in the end.
    """

    at: int = 0
    address: str = ""
    etag: str = ""
    last_modified: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A folder or a page whose state a knowledge base follows.

    `location` is an absolute path or a URL. A folder with `watch` is followed by every worker that
    runs on; a page is looked at again every `every_ms` milliseconds, or never if that is zero.
    `adopt` makes documents of the folder that a person had added before the source's own.
    """

    id: str
    knowledge_base_id: str
    owner: str
    kind: SourceKind
    location: str
    exclude: tuple[str, ...]
    watch: bool
    adopt: bool
    allow_private: bool
    every_ms: int
    state: SourceState
    problem: Problem | None
    fetched: Fetched
    created_at: int
    updated_at: int
    checked_at: int | None = None
    due_at: int | None = None


_COLUMNS = (
    "s.id, s.knowledge_base_id, s.owner, s.kind, s.location, s.exclude, s.watch, s.adopt, s.allow_private, "
    "s.every_ms, s.state, s.problem, s.fetched, s.created_at, s.updated_at, s.checked_at, s.due_at"
)
_LIVE = (
    f"SELECT {_COLUMNS} FROM sources AS s JOIN knowledge_bases AS b ON b.id = s.knowledge_base_id "
    "AND b.deleted_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """How many files a source has, how many of them have a problem, and how many documents came from it."""

    files: int
    problems: int
    documents: int


def add(tx: Writing, source: Source) -> None:
    """Store a new source. Raises `SourceExists` where its knowledge base has one at that place."""
    added = tx.run(
        "INSERT INTO sources (id, knowledge_base_id, owner, kind, location, exclude, watch, adopt, allow_private, "
        "every_ms, state, problem, fetched, created_at, updated_at, checked_at, due_at) VALUES (:id, "
        ":knowledge_base_id, :owner, :kind, :location, :exclude, :watch, :adopt, :allow_private, :every_ms, :state, "
        "NULL, :fetched, :now, :now, NULL, :due_at) ON CONFLICT DO NOTHING",
        {
            "id": source.id,
            "knowledge_base_id": source.knowledge_base_id,
            "owner": source.owner,
            "kind": source.kind,
            "location": source.location,
            "exclude": to_json(source.exclude),
            "watch": int(source.watch),
            "adopt": int(source.adopt),
            "allow_private": int(source.allow_private),
            "every_ms": source.every_ms,
            "state": source.state,
            "fetched": to_json(source.fetched),
            "due_at": source.due_at,
            "now": tx.now,
        },
    )
    if not added:
        raise SourceExists(location=source.location)


def update(tx: Writing, source: Source) -> None:
    """Store how a source is to be kept in step: its excludes, switches, interval and state."""
    tx.run(
        "UPDATE sources SET exclude = :exclude, watch = :watch, adopt = :adopt, allow_private = :allow_private, "
        "every_ms = :every_ms, state = :state, due_at = :due_at, updated_at = :now WHERE id = :id",
        {
            "id": source.id,
            "exclude": to_json(source.exclude),
            "watch": int(source.watch),
            "adopt": int(source.adopt),
            "allow_private": int(source.allow_private),
            "every_ms": source.every_ms,
            "state": source.state,
            "due_at": source.due_at,
            "now": tx.now,
        },
    )


def by_id(tx: Reading, source_id: str) -> Source | None:
    row = tx.first(f"{_LIVE} WHERE s.id = :id", {"id": source_id})
    return _source(row) if row is not None else None


def at(tx: Reading, knowledge_base_id: str, location: str) -> Source | None:
    """The source of a knowledge base at a place."""
    row = tx.first(
        f"{_LIVE} WHERE s.knowledge_base_id = :knowledge_base_id AND s.location = :location",
        {"knowledge_base_id": knowledge_base_id, "location": location},
    )
    return _source(row) if row is not None else None


def find(tx: Reading, principal: str, references: Sequence[str]) -> list[Source]:
    """The sources with an id or a place among `references`: one place may be that of several knowledge bases.

    Raises `SourceNotFound`.
    """
    rows = tx.all(
        f"{_LIVE} WHERE s.owner = :principal AND (s.id IN (SELECT value FROM json_each(:references)) "
        "OR s.location IN (SELECT value FROM json_each(:references))) ORDER BY s.created_at, s.id",
        {"principal": principal, "references": json.dumps(list(references))},
    )
    if not rows:
        raise SourceNotFound(source=references[0])
    return [_source(row) for row in rows]


def listed(tx: Reading, principal: str) -> list[Source]:
    rows = tx.all(f"{_LIVE} WHERE s.owner = :principal ORDER BY s.created_at, s.id", {"principal": principal})
    return [_source(row) for row in rows]


def due(tx: Reading) -> list[Source]:
    """Active pages that are to be looked at again by now."""
    rows = tx.all(
        f"{_LIVE} WHERE s.due_at IS NOT NULL AND s.due_at <= :now AND s.state = 'active' ORDER BY s.due_at, s.id",
        {"now": tx.now},
    )
    return [_source(row) for row in rows]


def counts(tx: Reading, source_id: str) -> SourceCounts:
    files = tx.first("SELECT count(*), count(problem) FROM source_files WHERE source_id = :id", {"id": source_id})
    documents = tx.first(
        "SELECT count(*) FROM documents WHERE source_id = :id AND source_id <> '' AND deleted_at IS NULL",
        {"id": source_id},
    )
    return SourceCounts(
        int(files[0]) if files is not None else 0,
        int(files[1]) if files is not None else 0,
        int(documents[0]) if documents is not None else 0,
    )


def set_state(tx: Writing, source_id: str, state: SourceState) -> None:
    tx.run(
        "UPDATE sources SET state = :state, updated_at = :now WHERE id = :id",
        {"id": source_id, "state": state, "now": tx.now},
    )


def set_problem(tx: Writing, source_id: str, problem: Problem | None) -> None:
    tx.run(
        "UPDATE sources SET problem = :problem WHERE id = :id",
        {"id": source_id, "problem": to_json(problem) if problem is not None else None},
    )


def checked(tx: Writing, source_id: str, problem: Problem | None, due_at: int | None = None) -> None:
    """Record that a source was looked at as a whole, what was wrong, and when it is to be looked at again."""
    tx.run(
        "UPDATE sources SET problem = :problem, checked_at = :now, due_at = :due_at WHERE id = :id",
        {
            "id": source_id,
            "problem": to_json(problem) if problem is not None else None,
            "due_at": due_at,
            "now": tx.now,
        },
    )


def set_fetched(tx: Writing, source_id: str, fetched: Fetched) -> None:
    tx.run("UPDATE sources SET fetched = :fetched WHERE id = :id", {"id": source_id, "fetched": to_json(fetched)})


def begin_removal(tx: Writing, source_id: str) -> None:
    """Let nothing follow a source any more; its documents are still its own."""
    set_state(tx, source_id, "removing")
    tx.run("DELETE FROM source_files WHERE source_id = :id", {"id": source_id})


def delete(tx: Writing, source_id: str) -> None:
    """Forget a source; documents that still came from it stay, as if a person had added them."""
    tx.run(
        "UPDATE documents SET source_id = '' WHERE source_id = :id AND source_id <> '' AND deleted_at IS NULL",
        {"id": source_id},
    )
    tx.run("DELETE FROM source_files WHERE source_id = :id", {"id": source_id})
    tx.run("DELETE FROM sources WHERE id = :id", {"id": source_id})


# --- Documents ---------------------------------------------------------------------------------------


def adopt(tx: Writing, source_id: str, document_ids: Sequence[str]) -> None:
    """Make documents that no source brought those of a source."""
    tx.run(
        "UPDATE documents SET source_id = :source_id WHERE id IN (SELECT value FROM json_each(:ids)) "
        "AND source_id = '' AND deleted_at IS NULL",
        {"source_id": source_id, "ids": json.dumps(list(document_ids))},
    )


def count_added_by_hand(tx: Reading, document_ids: Sequence[str]) -> int:
    """How many of the given documents are live and came from no source."""
    row = tx.first(
        "SELECT count(*) FROM json_each(:ids) AS j CROSS JOIN documents AS d "
        "WHERE d.id = j.value AND d.source_id = '' AND d.deleted_at IS NULL",
        {"ids": json.dumps(sorted(set(document_ids)))},
    )
    return int(row[0]) if row is not None else 0


def own_documents(tx: Reading, source: Source, document_ids: Sequence[str]) -> list[Document]:
    """Those of the given documents that are live and came from the source."""
    rows = tx.all(
        f"SELECT {DOCUMENT_COLUMNS} FROM json_each(:ids) AS j CROSS JOIN documents AS d "
        "WHERE d.id = j.value AND d.source_id = :source_id AND d.knowledge_base_id = :knowledge_base_id "
        "AND d.deleted_at IS NULL",
        {
            "ids": json.dumps(list(document_ids)),
            "source_id": source.id,
            "knowledge_base_id": source.knowledge_base_id,
        },
    )
    return [document_from(row) for row in rows]


def strays(tx: Reading, source: Source, limit: int = 1 << 30) -> list[Document]:
    """Documents that came from the source and are no file of it: it was interrupted before it noted them."""
    rows = tx.all(
        f"SELECT {DOCUMENT_COLUMNS} FROM documents AS d WHERE d.source_id = :id AND d.source_id <> '' "
        "AND d.deleted_at IS NULL AND d.knowledge_base_id = :knowledge_base_id AND NOT EXISTS "
        "(SELECT 1 FROM source_files AS f WHERE f.document_id = d.id AND f.source_id = :id) ORDER BY d.id LIMIT :limit",
        {"id": source.id, "knowledge_base_id": source.knowledge_base_id, "limit": limit},
    )
    return [document_from(row) for row in rows]


def all_own_documents(tx: Reading, source: Source, limit: int) -> list[Document]:
    """Live documents that came from the source."""
    rows = tx.all(
        f"SELECT {DOCUMENT_COLUMNS} FROM documents AS d WHERE d.source_id = :id AND d.source_id <> '' "
        "AND d.deleted_at IS NULL ORDER BY d.id LIMIT :limit",
        {"id": source.id, "limit": limit},
    )
    return [document_from(row) for row in rows]


def hand_over(tx: Writing, document_id: str, source_id: str) -> tuple[str, str] | None:
    """Give a document to a source that has its file too, the same or another, and return place and path of that.

    None where there is no such source, and the document is wanted no more.
    """
    row = tx.first(
        "SELECT f.source_id, s.location, f.path FROM source_files AS f JOIN sources AS s ON s.id = f.source_id "
        "WHERE f.document_id = :document_id "
        "ORDER BY CASE WHEN f.source_id = :source_id THEN 0 ELSE 1 END, f.source_id, f.path LIMIT 1",
        {"document_id": document_id, "source_id": source_id},
    )
    if row is None:
        return None
    tx.run(
        "UPDATE documents SET source_id = :source_id WHERE id = :document_id",
        {"source_id": row[0], "document_id": document_id},
    )
    return str(row[1]), str(row[2])


def expire_reading(tx: Writing, revision_id: str) -> None:
    """Let a revision be read again by the same rules: its document has another name."""
    tx.run(
        "UPDATE revision_indexes SET rules = '', rereading = '' WHERE revision_id = :id",
        {"id": revision_id},
    )


def _source(row: Row) -> Source:
    return Source(
        id=row[0],
        knowledge_base_id=row[1],
        owner=row[2],
        kind=row[3],
        location=row[4],
        exclude=tuple(json.loads(row[5])),
        watch=bool(row[6]),
        adopt=bool(row[7]),
        allow_private=bool(row[8]),
        every_ms=row[9],
        state=row[10],
        problem=problem_from(row[11]),
        fetched=from_json(Fetched, row[12]),
        created_at=row[13],
        updated_at=row[14],
        checked_at=row[15],
        due_at=row[16],
    )
