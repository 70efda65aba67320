"""The bytes of every file, stored once under their SHA-256 beside the database."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wenyuan.errors import DiskFull, FileTooLarge, FileUnreadable, FileVanished, LibraryReadOnly, WenyuanError
from wenyuan.store.database import Reading, Writing

_PIECE_BYTES = 1 << 20
_SYNCS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class StagedBlob:
    """Bytes under a temporary name, safe from a power failure once they are synced."""

    sha256: str
    size: int
    path: Path


class BlobDirectory:
    """Content-addressed files under `root/ab/cdef…`.

    Files are first staged under temporary names and synced to disk, several at once, which costs
    hardly more than one; then, inside the transaction that names them, moved to their places.
    Whatever a crash leaves behind is an unnamed file, never a name without its file.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._incoming = root / "incoming"

    def close(self) -> None:
        """Let go of what this process has open for them."""

    def create(self) -> None:
        self._incoming.mkdir(parents=True, exist_ok=True)

    @property
    def are_fetched(self) -> bool:
        """Whether bytes may have to be fetched from elsewhere before there is a file."""
        return False

    def path(self, sha256: str) -> Path:
        """A file with these bytes; there is none at it where they are gone."""
        return self._place(sha256)

    def _place(self, sha256: str) -> Path:
        return self._root / sha256[:2] / sha256[2:]

    def size(self, sha256: str) -> int | None:
        """How many bytes are stored under a name; None where there are none."""
        try:
            return self._place(sha256).stat().st_size
        except OSError:
            return None

    def digest(self, sha256: str) -> str | None:
        """The SHA-256 of the bytes that are stored under a name, read now; None where there are none."""
        try:
            with self._place(sha256).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None

    def age(self, sha256: str) -> float:
        """Seconds since these bytes were stored; zero where they are gone."""
        try:
            return time.time() - self._place(sha256).stat().st_mtime
        except OSError:
            return 0.0

    def named(self, sha256: str, size: int) -> StagedBlob:
        """Bytes that are stored already, for whoever takes staged ones; nothing is left to be done with them."""
        return StagedBlob(sha256, size, self._place(sha256))

    def stage(self, source: Path, limit: int) -> StagedBlob:
        """Copy a file into the library, at most `limit` bytes of it; not yet safe from a power failure.

        Raises `FileVanished`, `FileUnreadable` or `FileTooLarge` for the file, `DiskFull` or
        `LibraryReadOnly` for the library; nothing is left behind.
        """
        return self._copy(_read(source), source.name, limit)

    def stage_pieces(self, pieces: Iterator[bytes], name: str, limit: int) -> StagedBlob:
        """Store bytes as they come, like `stage`; what the iterator raises ends it, and nothing is left behind."""
        return self._copy(pieces, name, limit)

    def stage_bytes(self, content: bytes, name: str, limit: int) -> StagedBlob:
        return self._copy(iter((content,)), name, limit)

    def sync(self, blobs: Sequence[StagedBlob]) -> None:
        """Make staged files safe from a power failure. Raises `DiskFull` or `LibraryReadOnly`."""
        self._sync_all([blob.path for blob in blobs])

    def keep(self, tx: Writing, blobs: Sequence[StagedBlob]) -> None:
        """Move synced files to their places and name them in the database, in one transaction."""
        made = False
        folders: set[Path] = set()
        try:
            for blob in blobs:
                place = self._place(blob.sha256)
                if place.parent not in folders and not place.parent.exists():
                    place.parent.mkdir(exist_ok=True)
                    made = True
                folders.add(place.parent)
                os.replace(blob.path, place)
        except OSError as error:
            raise library_error(error, self._root) from error
        self._sync_all([*folders, *([self._root] if made else [])])
        name_blobs(tx, blobs)

    def _sync_all(self, paths: Sequence[Path]) -> None:
        try:
            if len(paths) < 2:
                for path in paths:
                    _sync(path)
                return
            with ThreadPoolExecutor(max_workers=min(_SYNCS_AT_ONCE, len(paths)), thread_name_prefix="sync") as threads:
                for done in [threads.submit(_sync, path) for path in paths]:
                    done.result()
        except OSError as error:
            raise library_error(error, self._root) from error

    def discard(self, blob: StagedBlob) -> None:
        blob.path.unlink(missing_ok=True)

    def forget_unused(self, tx: Writing, sha256: str) -> bool:
        """Delete bytes that no revision names any more, nor a file inside of one; True when they are gone."""
        gone = tx.run(
            "DELETE FROM blobs WHERE sha256 = :sha256 "
            "AND NOT EXISTS (SELECT 1 FROM revisions WHERE blob_sha256 = :sha256) "
            "AND NOT EXISTS (SELECT 1 FROM members WHERE members.sha256 = :sha256)",
            {"sha256": sha256},
        )
        if gone:
            self.forget(tx, sha256)
        return bool(gone)

    def forget(self, tx: Writing, sha256: str) -> None:  # noqa: ARG002
        """Delete bytes, which no row may name."""
        self._place(sha256).unlink(missing_ok=True)

    def set_aside(self, tx: Writing, sha256: str) -> None:  # noqa: ARG002
        """Put bytes that are not what their name says where a person may look at them, and nothing else does."""
        if self._place(sha256).exists():
            aside = self._root.parent / "damaged"
            aside.mkdir(exist_ok=True)
            os.replace(self._place(sha256), aside / sha256)

    def stored(self) -> Iterator[str]:
        """The SHA-256 of every file that lies here, whether the database names it or not."""
        for folder in sorted(self._root.iterdir()):
            if len(folder.name) == 2 and folder.is_dir():
                yield from (folder.name + file.name for file in sorted(folder.iterdir()))

    def forget_unnamed(self, tx: Writing, folder: str, older_than_seconds: float) -> int:
        """Delete files of one folder, named by its two hexadecimal digits, that no row names; how many there were.

        Within a writing transaction nobody can be about to name one; a young one is left alone all the same.
        """
        try:
            files = sorted((self._root / folder).iterdir())
        except FileNotFoundError:
            return 0
        forgotten = 0
        for sha256 in unnamed(tx, [folder + file.name for file in files]):
            forgotten += _forget_old(self._place(sha256), older_than_seconds)
        return forgotten

    def incoming(self) -> Iterator[Path]:
        """Every file under a temporary name: being staged now, or left behind by a crash."""
        yield from sorted(self._incoming.iterdir())

    def forget_incoming(self, older_than_seconds: float) -> int:
        """Delete files that have been under a temporary name for so long, and return how many there were."""
        return sum(_forget_old(path, older_than_seconds) for path in self.incoming())

    def writer(self, name: str, limit: int) -> BlobWriter:
        """A new staged file for the bytes of something called `name`. Raises `DiskFull` or `LibraryReadOnly`."""
        return BlobWriter(self._root, self._incoming, name, limit)

    def _copy(self, pieces: Iterator[bytes], name: str, limit: int) -> StagedBlob:
        writer = self.writer(name, limit)
        try:
            for piece in pieces:
                writer.write(piece)
            return writer.finish()
        except BaseException:
            writer.discard()
            raise


class BlobWriter:
    """A file that is being staged piece by piece: `finish` it or `discard` it."""

    def __init__(self, root: Path, incoming: Path, name: str, limit: int) -> None:
        self._root = root
        self._name = name
        self._limit = limit
        self._digest = hashlib.sha256()
        self._size = 0
        try:
            handle, temporary = tempfile.mkstemp(dir=incoming)
        except OSError as error:
            raise library_error(error, root) from error
        self._path = Path(temporary)
        self._file = os.fdopen(handle, "wb")

    def write(self, piece: bytes) -> None:
        """Raises `FileTooLarge`, `DiskFull` or `LibraryReadOnly`."""
        self._size += len(piece)
        if self._size > self._limit:
            raise FileTooLarge(name=self._name, size=f"more than {self._limit}", limit=self._limit)
        self._digest.update(piece)
        try:
            self._file.write(piece)
        except OSError as error:
            raise library_error(error, self._root) from error

    def finish(self) -> StagedBlob:
        """Raises `DiskFull` or `LibraryReadOnly`."""
        try:
            self._file.close()
        except OSError as error:
            raise library_error(error, self._root) from error
        return StagedBlob(self._digest.hexdigest(), self._size, self._path)

    def discard(self) -> None:
        # What could not be written any more goes with the file.
        with suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


def name_blobs(tx: Writing, blobs: Sequence[StagedBlob]) -> None:
    """Name bytes in the database that are stored."""
    now = tx.now
    tx.run_many(
        "INSERT INTO blobs (sha256, size, created_at) VALUES (:sha256, :size, :now) ON CONFLICT DO NOTHING",
        [{"sha256": blob.sha256, "size": blob.size, "now": now} for blob in blobs],
    )


def unnamed(tx: Reading, sha256s: Sequence[str]) -> list[str]:
    """Those of the given hashes that no row names."""
    rows = tx.all(
        "SELECT j.value FROM json_each(:hashes) AS j LEFT JOIN blobs AS b ON b.sha256 = j.value WHERE b.sha256 IS NULL",
        {"hashes": json.dumps(list(sha256s))},
    )
    return [str(row[0]) for row in rows]


def _forget_old(path: Path, older_than_seconds: float) -> bool:
    """Delete a file if it is so old, and say whether it is gone now."""
    try:
        if time.time() - path.stat().st_mtime <= older_than_seconds:
            return False
        path.unlink()
    except OSError:
        # Gone meanwhile, or not ours to delete: `check` tells of what stays.
        return False
    return True


def _read(source: Path) -> Iterator[bytes]:
    """A file's bytes in pieces; what goes wrong is the file's error, not the library's."""
    try:
        if source.exists() and not source.is_file():
            raise FileUnreadable(path=source, reason="it is not a regular file")
        with source.open("rb") as stream:
            while piece := stream.read(_PIECE_BYTES):
                yield piece
    except FileNotFoundError as error:
        raise FileVanished(path=source) from error
    except OSError as error:
        raise FileUnreadable(path=source, reason=error.strerror or str(error)) from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def library_error(error: OSError, root: Path) -> WenyuanError:
    """What an error of a file in a library's folder means."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(path=root)
    return LibraryReadOnly(path=root, reason=error.strerror or str(error))
