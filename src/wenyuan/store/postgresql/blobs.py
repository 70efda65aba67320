"""The bytes of files in PostgreSQL, in pieces.

They are put outside of the library's writing transactions, on a connection of their own: a large file
keeps nobody from writing. Who names them in a transaction looks whether they are still there.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence

import psycopg

from wenyuan.errors import FileVanished
from wenyuan.store.blobs import StagedBlob
from wenyuan.store.database import Reading, Writing
from wenyuan.store.postgresql.connections import Connection, bound, connect, translated
from wenyuan.store.postgresql.database import PostgresDatabase
from wenyuan.store.shared_blobs import in_pages

PIECE_BYTES = 1 << 20

_BYTES_AT_ONCE = 8 << 20
_NAMES_AT_ONCE = 1000
_PUT = (
    "INSERT INTO blob_pieces (sha256, seq, content, created_at) VALUES (:sha256, :seq, :content, "
    "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)) ON CONFLICT DO NOTHING"
)


class BlobPieces:
    """Keeps `BlobStorage` in the database of a library; threads may share it."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._putting = threading.Lock()
        self._connection: Connection | None = None

    def put(self, blobs: Sequence[StagedBlob]) -> None:
        with self._database.read() as tx:
            held = _held(tx, [blob.sha256 for blob in blobs])
        # In one order, so that two who put the same bytes at once wait for one another at most.
        wanted = sorted({blob.sha256: blob for blob in blobs if held.get(blob.sha256) != blob.size}.items())
        with self._putting:
            for some in _groups(row for _, blob in wanted for row in _pieces(blob)):
                self._put(some)

    def _put(self, rows: Sequence[Mapping[str, object]]) -> None:
        """In one transaction, once more where the connection was lost since it was last used."""
        with translated(self._database.address):
            while True:
                is_new = self._connection is None
                connection = self._connection = self._connection or connect(self._database.address)
                try:
                    with connection.transaction(), connection.cursor() as cursor:
                        cursor.executemany(bound(_PUT), rows)
                except psycopg.OperationalError:
                    was_lost = connection.closed
                    connection.close()
                    self._connection = None
                    if is_new or not was_lost:
                        raise
                else:
                    return

    def keep(self, tx: Writing, blobs: Sequence[StagedBlob]) -> None:
        held = _held(tx, [blob.sha256 for blob in blobs])
        for blob in blobs:
            if held.get(blob.sha256) != blob.size:
                for some in _groups(_pieces(blob)):
                    tx.run_many(_PUT, some)

    def pieces(self, sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        seq = start // PIECE_BYTES
        while end is None or seq * PIECE_BYTES < end:
            first = max(0, start - seq * PIECE_BYTES)
            last = PIECE_BYTES if end is None else min(PIECE_BYTES, end - seq * PIECE_BYTES)
            with self._database.read() as tx:
                row = tx.first(
                    "SELECT substring(content FROM CAST(:first AS INTEGER) + 1 FOR CAST(:length AS INTEGER)), "
                    "octet_length(content) FROM blob_pieces WHERE sha256 = :sha256 AND seq = :seq",
                    {"sha256": sha256, "seq": seq, "first": first, "length": last - first},
                )
            if row is None:
                return
            if row[0]:
                yield bytes(row[0])
            if row[1] < PIECE_BYTES:
                return
            seq += 1

    def size(self, sha256: str) -> int | None:
        with self._database.read() as tx:
            return _held(tx, [sha256]).get(sha256)

    def held(self, names: Sequence[str]) -> set[str]:
        with self._database.read() as tx:
            rows = tx.all(
                "SELECT p.sha256 FROM json_each(:names) AS j JOIN blob_pieces AS p ON p.sha256 = j.value "
                "WHERE p.seq = 0",
                {"names": json.dumps(list(names))},
            )
        return {str(row[0]) for row in rows}

    def age(self, sha256: str) -> float:
        with self._database.read() as tx:
            row = tx.first(
                "SELECT max(created_at) FROM blob_pieces WHERE sha256 = :sha256 HAVING max(created_at) IS NOT NULL",
                {"sha256": sha256},
            )
            return (tx.now - int(row[0])) / 1000 if row is not None else 0.0

    def names(self) -> Iterator[str]:
        def page(after: str) -> list[str]:
            with self._database.read() as tx:
                rows = tx.all(
                    "SELECT sha256 FROM blob_pieces WHERE seq = 0 AND sha256 > :after ORDER BY sha256 LIMIT :limit",
                    {"after": after, "limit": _NAMES_AT_ONCE},
                )
            return [str(row[0]) for row in rows]

        return in_pages(page)

    def old(self, prefix: str, older_than_seconds: float) -> list[str]:
        with self._database.read() as tx:
            rows = tx.all(
                "SELECT sha256 FROM blob_pieces WHERE sha256 >= :prefix AND sha256 < CAST(:prefix AS TEXT) || 'g' "
                "GROUP BY sha256 HAVING max(created_at) <= :before",
                {"prefix": prefix, "before": tx.now - int(older_than_seconds * 1000)},
            )
        return [str(row[0]) for row in rows]

    def forget(self, tx: Writing, sha256: str) -> None:
        tx.run("DELETE FROM blob_pieces WHERE sha256 = :sha256", {"sha256": sha256})

    def tidy(self, older_than_seconds: float) -> None:
        """Nothing: what a transaction deletes goes with it, and what an interruption left is found by `old`."""

    def close(self) -> None:
        with self._putting:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _held(tx: Reading, names: Sequence[str]) -> dict[str, int]:
    """How many bytes there are under some names."""
    rows = tx.all(
        "SELECT p.sha256, sum(octet_length(p.content)) FROM json_each(:names) AS j "
        "JOIN blob_pieces AS p ON p.sha256 = j.value GROUP BY p.sha256",
        {"names": json.dumps(sorted(set(names)))},
    )
    return {str(sha256): int(size) for sha256, size in rows}


def _pieces(blob: StagedBlob) -> Iterator[Mapping[str, object]]:
    """The rows of a staged file. One without bytes is a piece as well."""
    try:
        with blob.path.open("rb") as file:
            seq = 0
            while (content := file.read(PIECE_BYTES)) or seq == 0:
                yield {"sha256": blob.sha256, "seq": seq, "content": content}
                seq += 1
    except FileNotFoundError as error:
        raise FileVanished(path=blob.path) from error


def _groups(rows: Iterator[Mapping[str, object]]) -> Iterator[list[Mapping[str, object]]]:
    group: list[Mapping[str, object]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row["content"])  # type: ignore[arg-type]
        if size >= _BYTES_AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group
