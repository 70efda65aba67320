"""What a backup asks of the databases it copies, and how a whole one is read again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wenyuan.errors import BackupInvalid
from wenyuan.store.archives import MANIFEST, SUMS, ArchiveReader, parsed
from wenyuan.store.backup_targets import BLOBS, DATABASE, FORMAT, HEADER, SETTINGS, TRACES, VERSION
from wenyuan.store.database import Database, Reading, Writing
from wenyuan.store.own_files import own_file

_ROWS_AT_ONCE = 1000
_PIECE_BYTES = 1 << 20
_LARGEST_HEADER = 1 << 20
_BLOB = re.compile(rf"{BLOBS}/([0-9a-f]{{2}})/([0-9a-f]{{62}})")
_FILES = frozenset({DATABASE, TRACES, SETTINGS})


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database holds: its schema, its living documents, and the bytes it names."""

    schema: int
    documents: int
    blobs: int
    blob_bytes: int


def contents(tx: Reading) -> Contents:
    row = tx.first(
        "SELECT (SELECT max(number) FROM schema_migrations), "
        "(SELECT count(*) FROM documents WHERE deleted_at IS NULL), "
        "(SELECT count(*) FROM blobs), (SELECT coalesce(sum(size), 0) FROM blobs)"
    )
    return Contents(*(int(value) for value in row)) if row is not None else Contents(0, 0, 0, 0)


def hand_back_jobs(tx: Writing) -> None:
    """Queue the jobs that were being done when the backup was made: who was doing them has no part in the copy."""
    tx.run(
        "UPDATE jobs SET state = 'queued', worker = '', lease_until = 0, attempts = attempts - 1 "
        "WHERE state = 'running'"
    )


def named_blobs(database: Database) -> Iterator[tuple[str, int]]:
    """The SHA-256 and size of all bytes that a database names, in the order of their names."""
    after = ""
    while True:
        with database.read() as tx:
            rows = tx.all(
                "SELECT sha256, size FROM blobs WHERE sha256 > :after ORDER BY sha256 LIMIT :limit",
                {"after": after, "limit": _ROWS_AT_ONCE},
            )
        if not rows:
            return
        yield from ((str(sha256), int(size)) for sha256, size in rows)
        after = rows[-1][0]


def is_named(database: Database, sha256: str) -> bool:
    """Whether a database still names those bytes. Waits for a writer who may be deleting them."""
    with database.write(durable=False) as tx:
        return tx.first("SELECT 1 FROM blobs WHERE sha256 = :sha256", {"sha256": sha256}) is not None


@dataclass(frozen=True, slots=True)
class BackupFile:
    """One file of a backup: the database, traces or settings by name, or the bytes of a document by their SHA-256."""

    name: str
    sha256: str
    pieces: Iterator[bytes]


class BackupReader:
    """Reads a backup of either form. Every method raises `BackupInvalid` for what is not a whole one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_folder = path.is_dir()
        self.header = self._header()
        if self.header.get("format") != FORMAT:
            raise self._invalid("it was made by another program, or for something else")
        if self.header.get("version") != VERSION:
            raise self._invalid(f"it has version {self.header.get('version')!r}; this program reads {VERSION}")

    @property
    def schema(self) -> int:
        schema = self.header.get("schema")
        return schema if isinstance(schema, int) else 0

    @property
    def total_bytes(self) -> int:
        """How many bytes there are, as it says itself."""
        total = self.header.get("bytes") if self.is_folder else self.path.stat().st_size
        return total if isinstance(total, int) else 0

    def files(self) -> Iterator[BackupFile]:
        """Every file, each to be read to its end before the next; only after the last all are known to be right."""
        yield from self._folder_files() if self.is_folder else self._archive_files()

    def _header(self) -> Mapping[str, Any]:
        try:
            if self.is_folder:
                content = (self.path / MANIFEST).read_bytes()
            else:
                with self.path.open("rb") as file:
                    first = next(iter(ArchiveReader(file, self._invalid)))
                    if first.name != HEADER:
                        raise self._invalid("it was made by another program, or for something else")
                    content = first.read(_LARGEST_HEADER)
        except FileNotFoundError as error:
            raise self._invalid("it has no manifest; its writing was interrupted, or it is none") from error
        except OSError as error:
            raise self._invalid(error.strerror or str(error)) from error
        header = parsed(content, MANIFEST, self._invalid)
        if not isinstance(header, dict):
            raise self._invalid("its manifest is none")
        return header

    def _folder_files(self) -> Iterator[BackupFile]:
        moment = str(self.header.get("moment"))
        if not re.fullmatch(r"moments/[A-Za-z0-9_-]+", moment):
            raise self._invalid("its manifest names no moment")
        try:
            sums = (self.path / moment / SUMS).read_bytes()
            if hashlib.sha256(sums).hexdigest() != self.header.get("sums"):
                raise self._invalid(f"{moment}/{SUMS} was changed")
            for line in sums.decode().splitlines():
                sha256, _, name = line.partition("  ")
                yield from self._checked(self._known(name.removeprefix(f"{moment}/")), self.path / name, sha256)
        except FileNotFoundError as error:
            raise self._invalid(f"{error.filename} is missing") from error
        except (OSError, UnicodeDecodeError) as error:
            raise self._invalid(str(error)) from error

    def _checked(self, name: str, path: Path, sha256: str) -> Iterator[BackupFile]:
        digest = hashlib.sha256()

        def pieces() -> Iterator[bytes]:
            try:
                with path.open("rb") as file:
                    while piece := file.read(_PIECE_BYTES):
                        digest.update(piece)
                        yield piece
            except OSError as error:
                # Told here: in the hands of whoever writes the pieces it would look like an error of the writing.
                raise self._invalid(f"{path} cannot be read: {error.strerror}") from error

        yield BackupFile(name, sha256, pieces())
        if digest.hexdigest() != sha256:
            raise self._invalid(f"{name} was changed")

    def _archive_files(self) -> Iterator[BackupFile]:
        with self.path.open("rb") as file:
            for member in ArchiveReader(file, self._invalid):
                if member.name != HEADER:
                    name = self._known(member.name)
                    yield BackupFile(name, "", member.pieces())
                    if name == member.name:
                        continue
                    if member.sha256() != name:
                        raise self._invalid(f"{member.name} was changed")

    def _known(self, name: str) -> str:
        """The name of a database, of settings or of a file of people, or the SHA-256 that a path stands for."""
        if name in _FILES or own_file(name) is not None:
            return name
        blob = _BLOB.fullmatch(name)
        if blob is None:
            raise self._invalid(f"it holds {name[:100]!r}, which is no part of a backup")
        return blob[1] + blob[2]

    def _invalid(self, reason: str) -> BackupInvalid:
        return BackupInvalid(path=self.path, reason=reason)
