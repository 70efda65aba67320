"""Files inside of files: those that are not documents yet, and the documents that they became."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.store.database import Reading, Writing

WAITS, IS_DOCUMENT, LEFT_OUT = 0, 1, 2
"""What has become of a file: nothing yet, a document, or nothing for good."""

_BELOW = (
    "WITH RECURSIVE below AS (SELECT c.id, c.knowledge_base_id FROM documents AS c WHERE c.parent_id = :id "
    "AND c.parent_id <> '' AND c.deleted_at IS NULL UNION ALL SELECT d.id, d.knowledge_base_id FROM below AS b "
    "JOIN documents AS d ON d.parent_id = b.id AND d.parent_id <> '' AND d.deleted_at IS NULL)"
)


@dataclass(frozen=True, slots=True)
class StoredMember:
    """A file inside of a revision's file; its bytes lie among the blobs."""

    path: str
    sha256: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Below:
    """How many documents lie inside of a document, at any depth, and the bytes of their newest files."""

    documents: int
    bytes: int


# --- Files that wait -----------------------------------------------------------------------------


def add(tx: Writing, revision_id: str, found: Sequence[StoredMember]) -> None:
    """Keep files until they are documents; one that was there under its path before is replaced."""
    tx.run_many(
        "INSERT INTO members (revision_id, path, sha256, size, media_type, is_done) "
        "VALUES (:id, :path, :sha256, :size, :media_type, 0) ON CONFLICT (revision_id, path) DO UPDATE "
        "SET sha256 = excluded.sha256, size = excluded.size, media_type = excluded.media_type, is_done = 0",
        [
            {"id": revision_id, "path": one.path, "sha256": one.sha256, "size": one.size, "media_type": one.media_type}
            for one in found
        ],
    )


def waiting(tx: Reading, revision_id: str, limit: int) -> list[StoredMember]:
    """Files that are not documents yet, by their paths."""
    rows = tx.all(
        "SELECT path, sha256, size, media_type FROM members WHERE revision_id = :id AND is_done = 0 "
        "ORDER BY path LIMIT :limit",
        {"id": revision_id, "limit": limit},
    )
    return [StoredMember(*row) for row in rows]


def set_done(tx: Writing, revision_id: str, done: Sequence[tuple[str, int]]) -> None:
    """Record what has become of files, each as (path, what)."""
    tx.run_many(
        "UPDATE members SET is_done = :what WHERE revision_id = :id AND path = :path",
        [{"id": revision_id, "path": path, "what": what} for path, what in done],
    )


def counts(tx: Reading, revision_id: str) -> tuple[int, int]:
    """How many files of a revision are done with, and how many there are."""
    row = tx.first(
        "SELECT count(CASE WHEN is_done <> 0 THEN 1 END), count(*) FROM members WHERE revision_id = :id",
        {"id": revision_id},
    )
    return (int(row[0]), int(row[1])) if row is not None else (0, 0)


def forget(tx: Writing, revision_id: str) -> list[str]:
    """Take away what is kept of a revision's files, and return the SHA-256 of those that did not become documents."""
    rows = tx.all(
        "DELETE FROM members WHERE revision_id = :id RETURNING CASE WHEN is_done = 1 THEN '' ELSE sha256 END",
        {"id": revision_id},
    )
    return sorted({str(row[0]) for row in rows} - {""})


def hand_over(tx: Writing, from_revision_id: str, to_revision_id: str) -> None:
    """Let what waits at a revision wait at one that takes its place without having been read anew from the file."""
    tx.run(
        "UPDATE members SET revision_id = :to WHERE revision_id = :from AND EXISTS (SELECT 1 FROM revisions AS n, "
        "revisions AS o WHERE n.id = :to AND o.id = :from AND n.member_count < 0 AND n.blob_sha256 = o.blob_sha256)",
        {"from": from_revision_id, "to": to_revision_id},
    )


def is_to_unpack(tx: Reading, revision_id: str) -> bool:
    """Whether documents are to be made, changed or deleted for what was found in a revision's file."""
    row = tx.first(
        "SELECT 1 FROM revisions AS r WHERE r.id = :id AND (r.member_count > 0 "
        "OR EXISTS (SELECT 1 FROM members AS m WHERE m.revision_id = r.id) OR EXISTS (SELECT 1 FROM documents AS c, "
        "documents AS p WHERE c.parent_id = r.document_id AND c.parent_id <> '' AND c.deleted_at IS NULL "
        "AND p.id = r.document_id AND (r.member_count = 0 OR c.knowledge_base_id <> p.knowledge_base_id)))",
        {"id": revision_id},
    )
    return row is not None


def is_current(tx: Reading, revision_id: str) -> bool:
    """Whether a live document serves the file of this revision, be it as this revision or as one made anew of it."""
    row = tx.first(
        "SELECT 1 FROM revisions AS r JOIN documents AS d ON d.id = r.document_id AND d.deleted_at IS NULL "
        "JOIN revisions AS s ON s.id = d.serving_revision_id AND s.blob_sha256 = r.blob_sha256 WHERE r.id = :id",
        {"id": revision_id},
    )
    return row is not None


def has_stopped(tx: Reading, revision_id: str) -> bool:
    """Whether files of a revision wait that no job will make documents of."""
    row = tx.first(
        "SELECT 1 FROM members AS m WHERE m.revision_id = :id AND m.is_done = 0 AND NOT EXISTS (SELECT 1 "
        "FROM jobs AS j WHERE j.subject_kind = 'revision' AND j.subject_id = m.revision_id AND j.kind = 'unpack' "
        "AND j.state IN ('queued', 'running', 'waiting')) LIMIT 1",
        {"id": revision_id},
    )
    return row is not None


# --- Documents that were made of them ------------------------------------------------------------


def child(tx: Reading, parent_id: str, source: str) -> str | None:
    """The id of the live document that was made of a file inside of another document's."""
    row = tx.first(
        "SELECT d.id FROM documents AS d WHERE d.parent_id = :parent AND d.parent_id <> '' AND d.source = :source "
        "AND d.deleted_at IS NULL",
        {"parent": parent_id, "source": source},
    )
    return str(row[0]) if row is not None else None


def children(tx: Reading, parent_id: str, limit: int) -> list[tuple[str, str]]:
    """The live documents of files right inside of a document's, as (id, name), by their sources."""
    rows = tx.all(
        "SELECT d.id, d.name FROM documents AS d WHERE d.parent_id = :parent AND d.parent_id <> '' "
        "AND d.deleted_at IS NULL ORDER BY d.source LIMIT :limit",
        {"parent": parent_id, "limit": limit},
    )
    return [(str(row[0]), str(row[1])) for row in rows]


def gone(tx: Reading, parent_id: str, revision_id: str, prefix: str, limit: int) -> list[tuple[str, str]]:
    """Live documents of files that are not in a revision's file, as (id, knowledge base).

    Their sources begin with `prefix`, behind which their paths stand.
    """
    rows = tx.all(
        "SELECT d.id, d.knowledge_base_id FROM documents AS d WHERE d.parent_id = :parent AND d.parent_id <> '' "
        "AND d.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.revision_id = :revision "
        "AND m.path = substr(d.source, CAST(:start AS INTEGER)) AND m.is_done <> 2) ORDER BY d.source LIMIT :limit",
        {"parent": parent_id, "revision": revision_id, "start": len(prefix) + 1, "limit": limit},
    )
    return [(str(row[0]), str(row[1])) for row in rows]


def astray(tx: Reading, parent_id: str) -> list[str]:
    """Live documents of files right inside of a document's that are in another knowledge base than it."""
    rows = tx.all(
        "SELECT c.id FROM documents AS p JOIN documents AS c ON c.parent_id = p.id AND c.parent_id <> '' "
        "AND c.deleted_at IS NULL AND c.knowledge_base_id <> p.knowledge_base_id WHERE p.id = :id ORDER BY c.source",
        {"id": parent_id},
    )
    return [str(row[0]) for row in rows]


def below(tx: Reading, document_id: str) -> list[tuple[str, str]]:
    """Every live document inside of a document, at any depth, as (id, knowledge base); the outer ones first."""
    rows = tx.all(f"{_BELOW} SELECT id, knowledge_base_id FROM below", {"id": document_id})
    return [(str(row[0]), str(row[1])) for row in rows]


def sum_below(tx: Reading, document_id: str) -> Below:
    row = tx.first(
        f"{_BELOW} SELECT count(*), coalesce(sum(r.size), 0) FROM below AS b CROSS JOIN revisions AS r "
        "WHERE r.document_id = b.id AND r.number = "
        "(SELECT max(x.number) FROM revisions AS x WHERE x.document_id = b.id)",
        {"id": document_id},
    )
    return Below(int(row[0]), int(row[1])) if row is not None else Below(0, 0)


def above(tx: Reading, document_id: str) -> list[tuple[str, str]]:
    """The documents that a document lies in, as (id, name), the nearest first."""
    found: list[tuple[str, str]] = []
    row = tx.first("SELECT parent_id FROM documents WHERE id = :id", {"id": document_id})
    while row is not None and row[0]:
        row = tx.first("SELECT parent_id, id, name FROM documents WHERE id = :id", {"id": row[0]})
        if row is not None:
            found.append((str(row[1]), str(row[2])))
    return found
