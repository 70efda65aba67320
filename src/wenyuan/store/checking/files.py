"""The bytes that the database names are there, whole and unchanged, and little else is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from wenyuan.store.blobs import BlobDirectory, unnamed
from wenyuan.store.checking.invariants import (
    BLOB_BACK,
    BLOB_FINISHED,
    BLOB_NAMED,
    BLOB_PRESENT,
    BLOB_TRUE,
    Violation,
)
from wenyuan.store.database import Database

_ROWS_AT_ONCE = 500
GONE = '%"blob-missing"%'
"""What is in a revision's notices where a repair has found its bytes gone."""
# A file gets its place before the transaction that names it ends, and is staged for as long as it takes.
_BEING_NAMED_SECONDS = 3600
_BEING_STAGED_SECONDS = 24 * 3600


def check_stored(database: Database, blobs: BlobDirectory, *, deep: bool) -> Iterator[Violation]:
    """Look at every stored file that a document still needs: is it there, whole and, if `deep`, unchanged?

    Where the document itself says that its bytes are gone, nothing more is said.
    """
    after = ""
    while True:
        with database.read() as tx:
            rows = tx.all(
                "SELECT b.sha256, b.size, min(d.name), sum(CASE WHEN r.notices LIKE :gone THEN 1 ELSE 0 END), count(*) "
                "FROM blobs AS b JOIN revisions AS r ON r.blob_sha256 = b.sha256 "
                "JOIN documents AS d ON d.id = r.document_id AND d.deleted_at IS NULL WHERE b.sha256 > :after "
                "GROUP BY b.sha256, b.size ORDER BY b.sha256 LIMIT :limit",
                {"after": after, "limit": _ROWS_AT_ONCE, "gone": GONE},
            )
        if not rows:
            return
        for sha256, size, name, noted, needed in rows:
            state = _state(blobs, sha256, size, deep=deep)
            details = {"name": name, "path": blobs.named(sha256, size).path, "sha256": sha256}
            if state == "true" and noted:
                yield BLOB_BACK.violated(**details)
            elif state == "other" and noted < needed:
                yield BLOB_TRUE.violated(**details)
            elif state == "gone" and noted < needed and _is_needed(database, sha256):
                yield BLOB_PRESENT.violated(**details)
        after = rows[-1][0]


def check_files(database: Database, blobs: BlobDirectory) -> Iterator[Violation]:
    """Look for stored files that no row names; such a file is left by a crash before its commit."""
    stored = blobs.stored()
    while names := list(islice(stored, _ROWS_AT_ONCE)):
        with database.read() as tx:
            nameless = unnamed(tx, names)
        for sha256 in nameless:
            if blobs.age(sha256) > _BEING_NAMED_SECONDS:
                yield BLOB_NAMED.violated(path=blobs.named(sha256, 0).path, sha256=sha256)


def check_leftovers(blobs: BlobDirectory) -> Iterator[Violation]:
    for path in blobs.incoming():
        if _age(path) > _BEING_STAGED_SECONDS:
            yield BLOB_FINISHED.violated(path=path)


def _is_needed(database: Database, sha256: str) -> bool:
    """Whether a document still needs the bytes: it may have been purged since it was listed."""
    with database.read() as tx:
        row = tx.first(
            "SELECT 1 FROM revisions AS r JOIN documents AS d ON d.id = r.document_id AND d.deleted_at IS NULL "
            "WHERE r.blob_sha256 = :sha256 LIMIT 1",
            {"sha256": sha256},
        )
    return row is not None


def _state(blobs: BlobDirectory, sha256: str, size: int, *, deep: bool) -> Literal["true", "other", "gone"]:
    """What has become of a file: its size is looked at, and its bytes only if `deep`."""
    stored = blobs.size(sha256)
    digest = sha256 if not deep or stored is None else blobs.digest(sha256)
    if stored is None or digest is None:
        return "gone"
    return "true" if (stored, digest) == (size, sha256) else "other"


def _age(path: Path) -> float:
    """Seconds since a file was written; zero where it is gone meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
