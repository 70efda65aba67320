"""The bytes of files in a storage for objects that speaks S3, of a library in PostgreSQL.

The database says which object has which bytes. An object is put under a name that is never used again
before a transaction names it, and is deleted after the transaction that names it no more: nobody waits for
the network while others wait to write, and an interruption leaves an object too many, never one too few.
Who may use the storage, and where it is, is told by the environment, as for any program that uses S3
(`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`).
"""

from __future__ import annotations

import datetime
import json
import os
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from wenyuan.errors import FilesUnreachable, FileVanished
from wenyuan.store.blobs import StagedBlob
from wenyuan.store.database import Reading, Writing
from wenyuan.store.postgresql.database import PostgresDatabase
from wenyuan.store.shared_blobs import in_pages

_PIECE_BYTES = 1 << 20
_PART_BYTES = 8 << 20
_PARTS_AT_ONCE = 2
_NAMES_AT_ONCE = 500
_FOLDERS, _FOLDERS_AT_ONCE = 256, 8
_PATIENCE = datetime.timedelta(seconds=30)


class BlobObjects:
    """Keeps `BlobStorage` at a place such as `s3://bucket/folder`; threads may share it.

    Objects lie under the id of the `library`, which its database knows once it is one. Raises `FilesUnreachable`
    wherever the storage does not answer, or refuses.
    """

    def __init__(self, database: PostgresDatabase, place: str, library: str = "") -> None:
        self._database = database
        self._place = place
        with self._translated():
            self._store = S3Store.from_url(
                f"{place.rstrip('/')}/{library or _library(database)}",
                client_options={
                    "connect_timeout": "5s",
                    "read_timeout": "30s",
                    "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() == "true",
                },
                retry_config={"max_retries": 4, "retry_timeout": _PATIENCE},
            )
            # A bucket that is not there must not look like one without files.
            next(iter(obstore.list(self._store, chunk_size=1)), None)
        self._put: dict[str, list[str]] = {}
        # Each process begins somewhere else.
        self._folder = random.randrange(_FOLDERS)
        self._changing = threading.Lock()

    def put(self, blobs: Sequence[StagedBlob]) -> None:
        known = self.held([blob.sha256 for blob in blobs])
        for blob in {blob.sha256: blob for blob in blobs}.values():
            if blob.sha256 not in known:
                name = self._put_one(blob)
                with self._changing:
                    self._put.setdefault(blob.sha256, []).append(name)

    def _put_one(self, blob: StagedBlob) -> str:
        name = f"{blob.sha256[:2]}/{blob.sha256}/{os.urandom(8).hex()}"
        if not blob.path.exists():
            raise FileVanished(path=blob.path)
        with self._translated():
            obstore.put(self._store, name, blob.path, chunk_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE)
        return name

    def keep(self, tx: Writing, blobs: Sequence[StagedBlob]) -> None:
        known = _names(tx, [blob.sha256 for blob in blobs])
        for blob in blobs:
            with self._changing:
                put = self._put.pop(blob.sha256, [])
            # What was there when it was to be put may have been deleted since; this once, it is put meanwhile.
            name = known.get(blob.sha256) or (put.pop() if put else self._put_one(blob))
            tx.run(
                "INSERT INTO blob_objects (sha256, name, created_at) VALUES (:sha256, :name, :now) "
                "ON CONFLICT DO NOTHING",
                {"sha256": blob.sha256, "name": name, "now": tx.now},
            )
            for unneeded in put:
                _delete_later(tx, unneeded)

    def pieces(self, sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        name = self._name(sha256)
        size = self.size(sha256) if name is not None else None
        if name is None or size is None:
            return
        while start < (size if end is None else min(end, size)):
            upto = min(start + _PIECE_BYTES, size if end is None else min(end, size))
            with self._translated():
                try:
                    piece = bytes(obstore.get_range(self._store, name, start=start, end=upto))
                except FileNotFoundError:
                    return
            yield piece
            start = upto

    def size(self, sha256: str) -> int | None:
        name = self._name(sha256)
        if name is None:
            return None
        with self._translated():
            try:
                return int(obstore.head(self._store, name)["size"])
            except FileNotFoundError:
                return None

    def held(self, names: Sequence[str]) -> set[str]:
        with self._database.read() as tx:
            return set(_names(tx, names))

    def age(self, sha256: str) -> float:
        with self._database.read() as tx:
            row = tx.first("SELECT created_at FROM blob_objects WHERE sha256 = :sha256", {"sha256": sha256})
            return (tx.now - int(row[0])) / 1000 if row is not None else 0.0

    def names(self) -> Iterator[str]:
        def page(after: str) -> list[str]:
            with self._database.read() as tx:
                rows = tx.all(
                    "SELECT sha256 FROM blob_objects WHERE sha256 > :after ORDER BY sha256 LIMIT :limit",
                    {"after": after, "limit": _NAMES_AT_ONCE},
                )
            return [str(row[0]) for row in rows]

        return in_pages(page)

    def old(self, prefix: str, older_than_seconds: float) -> list[str]:
        with self._database.read() as tx:
            rows = tx.all(
                "SELECT sha256 FROM blob_objects WHERE sha256 >= :prefix AND sha256 < CAST(:prefix AS TEXT) || 'g' "
                "AND created_at <= :before",
                {"prefix": prefix, "before": tx.now - int(older_than_seconds * 1000)},
            )
        return [str(row[0]) for row in rows]

    def forget(self, tx: Writing, sha256: str) -> None:
        name = _names(tx, [sha256]).get(sha256)
        if name is not None:
            tx.run("DELETE FROM blob_objects WHERE sha256 = :sha256", {"sha256": sha256})
            _delete_later(tx, name)

    def tidy(self, older_than_seconds: float) -> None:
        while gone := self._to_delete():
            self._delete(gone)
            with self._database.write(durable=False) as tx:
                tx.run(
                    "DELETE FROM blob_objects_to_delete WHERE name IN (SELECT value FROM json_each(:names))",
                    {"names": json.dumps(gone)},
                )
        before = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=older_than_seconds)
        for _ in range(_FOLDERS_AT_ONCE):
            self._folder = (self._folder + 1) % _FOLDERS
            listed = self._listed(f"{self._folder:02x}", before)
            while names := list(islice(listed, _NAMES_AT_ONCE)):
                self._delete(self._nobodys(names))

    def _listed(self, folder: str, before: datetime.datetime) -> Iterator[str]:
        """The names of all objects in a folder that were put before a moment."""
        with self._translated():
            for some in obstore.list(self._store, folder, chunk_size=_NAMES_AT_ONCE):
                yield from (str(one["path"]) for one in some if one["last_modified"] <= before)

    def close(self) -> None:
        """Nothing: connections close by themselves."""

    def _name(self, sha256: str) -> str | None:
        with self._database.read() as tx:
            return _names(tx, [sha256]).get(sha256)

    def _to_delete(self) -> list[str]:
        with self._database.read() as tx:
            rows = tx.all("SELECT name FROM blob_objects_to_delete LIMIT :limit", {"limit": _NAMES_AT_ONCE})
        return [str(row[0]) for row in rows]

    def _nobodys(self, names: Sequence[str]) -> list[str]:
        """Those objects that no row has: left by an interruption before the commit."""
        with self._database.read() as tx:
            rows = tx.all(
                "SELECT j.value FROM json_each(:names) AS j LEFT JOIN blob_objects AS o ON o.name = j.value "
                "WHERE o.name IS NULL",
                {"names": json.dumps(list(names))},
            )
        return [str(row[0]) for row in rows]

    def _delete(self, names: Sequence[str]) -> None:
        for name in names:
            # One that is not there, because somebody was faster, is deleted without an error.
            with self._translated():
                obstore.delete(self._store, name)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            reason = " ".join(str(error).split("\n\n")[0].split())[:300]
            raise FilesUnreachable(path=self._place, reason=reason) from error


def _library(database: PostgresDatabase) -> str:
    with database.read() as tx:
        ((library,),) = tx.all("SELECT library FROM blob_storage")
    return str(library)


def _names(tx: Reading, sha256s: Sequence[str]) -> dict[str, str]:
    rows = tx.all(
        "SELECT o.sha256, o.name FROM json_each(:names) AS j JOIN blob_objects AS o ON o.sha256 = j.value",
        {"names": json.dumps(sorted(set(sha256s)))},
    )
    return {str(sha256): str(name) for sha256, name in rows}


def _delete_later(tx: Writing, name: str) -> None:
    tx.run("INSERT INTO blob_objects_to_delete (name) VALUES (:name) ON CONFLICT DO NOTHING", {"name": name})
