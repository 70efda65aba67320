"""What is known of the files of folders that are kept in step with, since each was last looked at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import problem_from, to_json
from wenyuan.store.sources import Source
from wenyuan.types import Problem


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What is known of one file of a folder since it was last looked at.

    `path` is relative to the folder. `problem` tells why the file could not be taken in; what it held
    before stays.
    """

    path: str
    document_id: str
    size: int
    modified_ns: int
    changed_ns: int
    device: int
    inode: int
    seen_ns: int
    sha256: str
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file's record with how its document stands: there at all, and brought by the same source.

    A file that was passed over for having the bytes of another document has none of its own; it is live
    while such a document is.
    """

    record: FileRecord
    is_live: bool
    is_own: bool


def files(tx: Reading, source: Source) -> list[KnownFile]:
    """Every file of a folder that is known, by path."""
    rows = tx.all(
        "SELECT f.path, f.document_id, f.size, f.modified_ns, f.changed_ns, f.device, f.inode, f.seen_ns, f.sha256, "
        "f.problem, d.source_id, CASE WHEN d.id IS NOT NULL THEN 1 WHEN f.document_id = '' AND EXISTS (SELECT 1 "
        "FROM revisions AS r JOIN documents AS t ON t.id = r.document_id AND t.deleted_at IS NULL "
        "AND t.knowledge_base_id = :knowledge_base_id WHERE r.blob_sha256 = f.sha256) THEN 1 ELSE 0 END "
        "FROM source_files AS f LEFT JOIN documents AS d ON d.id = f.document_id "
        "AND d.deleted_at IS NULL AND d.knowledge_base_id = :knowledge_base_id WHERE f.source_id = :id "
        "ORDER BY f.path",
        {"id": source.id, "knowledge_base_id": source.knowledge_base_id},
    )
    return [KnownFile(_file(row), bool(row[11]), row[10] == source.id) for row in rows]


def files_with_problems(tx: Reading, source_id: str, limit: int) -> list[FileRecord]:
    rows = tx.all(
        "SELECT path, document_id, size, modified_ns, changed_ns, device, inode, seen_ns, sha256, problem "
        "FROM source_files WHERE source_id = :id AND problem IS NOT NULL ORDER BY path LIMIT :limit",
        {"id": source_id, "limit": limit},
    )
    return [_file(row) for row in rows]


def put_files(tx: Writing, source_id: str, records: Iterable[FileRecord]) -> None:
    """Store what is known of files now, in the place of what was known."""
    tx.run_many(
        "INSERT INTO source_files (source_id, path, document_id, size, modified_ns, changed_ns, device, inode, "
        "seen_ns, sha256, problem) VALUES (:source_id, :path, :document_id, :size, :modified_ns, :changed_ns, "
        ":device, :inode, :seen_ns, :sha256, :problem) ON CONFLICT (source_id, path) DO UPDATE SET "
        "document_id = excluded.document_id, size = excluded.size, modified_ns = excluded.modified_ns, "
        "changed_ns = excluded.changed_ns, device = excluded.device, inode = excluded.inode, "
        "seen_ns = excluded.seen_ns, sha256 = excluded.sha256, problem = excluded.problem",
        (
            {
                "source_id": source_id,
                "path": record.path,
                "document_id": record.document_id,
                "size": record.size,
                "modified_ns": record.modified_ns,
                "changed_ns": record.changed_ns,
                "device": record.device,
                "inode": record.inode,
                "seen_ns": record.seen_ns,
                "sha256": record.sha256,
                "problem": to_json(record.problem) if record.problem is not None else None,
            }
            for record in records
        ),
    )


def forget_files(tx: Writing, source_id: str, paths: Iterable[str]) -> None:
    tx.run_many(
        "DELETE FROM source_files WHERE source_id = :source_id AND path = :path",
        ({"source_id": source_id, "path": path} for path in paths),
    )


def hashes(tx: Reading, revision_ids: Sequence[str]) -> dict[str, str]:
    """The SHA-256 of revisions' bytes, by their ids."""
    rows = tx.all(
        "SELECT r.id, r.blob_sha256 FROM json_each(:ids) AS j JOIN revisions AS r ON r.id = j.value",
        {"ids": json.dumps(list(revision_ids))},
    )
    return {str(row[0]): str(row[1]) for row in rows}


def _file(row: Row) -> FileRecord:
    return FileRecord(
        path=row[0],
        document_id=row[1],
        size=row[2],
        modified_ns=row[3],
        changed_ns=row[4],
        device=row[5],
        inode=row[6],
        seen_ns=row[7],
        sha256=row[8],
        problem=problem_from(row[9]),
    )
