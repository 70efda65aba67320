"""The bytes of files where every machine can reach them, and in a folder of this one what was used lately."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Protocol

from wenyuan.store.blobs import BlobDirectory, StagedBlob, library_error, name_blobs, unnamed
from wenyuan.store.database import Writing

KEPT_BYTES = 4 << 30
"""So much of what was used is kept on each machine, a little more for a while."""

_IN_USE_SECONDS = 600
_NAMES_AT_ONCE = 500
# Looking through the folder costs something, so that it is done once in a while.
_LOOK_AFTER_SHARE = 16


class BlobStorage(Protocol):
    """Where bytes are stored under their SHA-256, the same for every machine."""

    def put(self, blobs: Sequence[StagedBlob]) -> None:
        """Store staged bytes, safe from a power failure; they may be there already. Raises `StorageError`."""
        ...

    def keep(self, tx: Writing, blobs: Sequence[StagedBlob]) -> None:
        """Make sure that bytes which were put are there in the transaction that names them.

        They may have been taken away since as bytes that nobody names.
        """
        ...

    def pieces(self, sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Bytes from `start` to before `end`, a piece at a time; nothing where there are none."""
        ...

    def size(self, sha256: str) -> int | None: ...

    def held(self, names: Sequence[str]) -> set[str]:
        """Those names under which bytes are stored."""
        ...

    def age(self, sha256: str) -> float:
        """Seconds since these bytes were put; zero where there are none."""
        ...

    def names(self) -> Iterator[str]:
        """The SHA-256 of everything that is stored, whether the database names it or not."""
        ...

    def old(self, prefix: str, older_than_seconds: float) -> list[str]:
        """Those names of so long ago that begin with `prefix`."""
        ...

    def forget(self, tx: Writing, sha256: str) -> None:
        """Delete bytes, which no row names by the end of the transaction."""
        ...

    def tidy(self, older_than_seconds: float) -> None:
        """Delete what was left to be deleted later, and some of what an interruption left so long ago."""
        ...

    def close(self) -> None: ...


def in_pages(page: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """What is on all pages, in order; `page` gives that which follows a name, or nothing at the end."""
    after = ""
    while names := page(after):
        yield from names
        after = names[-1]


class SharedBlobs(BlobDirectory):
    """Staged in a folder of this machine and stored elsewhere; what is used is fetched into that folder.

    Content is addressed by its hash, so that a file in the folder is never out of date. What was not
    used for a while goes when there is too much; a file that somebody has open stays readable.
    """

    def __init__(self, root: Path, storage: BlobStorage, kept_bytes: int = KEPT_BYTES) -> None:
        super().__init__(root)
        self._storage = storage
        self._kept_bytes = kept_bytes
        self._new_bytes = kept_bytes
        self._looking = threading.Lock()

    @property
    def are_fetched(self) -> bool:
        return True

    def path(self, sha256: str) -> Path:
        """A file with these bytes, fetched where it is not here; there is none at it where they are gone.

        Raises `StorageError`.
        """
        place = self._place(sha256)
        with suppress(FileNotFoundError):
            # So that it is not among those that go.
            os.utime(place)
            return place
        self._fetch(sha256, place)
        return place

    def pieces(self, sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Bytes from `start` to before `end`, from where they are stored. Raises `StorageError`."""
        return self._storage.pieces(sha256, start, end)

    def size(self, sha256: str) -> int | None:
        return self._storage.size(sha256)

    def digest(self, sha256: str) -> str | None:
        if self._storage.size(sha256) is None:
            return None
        digest = hashlib.sha256()
        for piece in self._storage.pieces(sha256):
            digest.update(piece)
        return digest.hexdigest()

    def age(self, sha256: str) -> float:
        return self._storage.age(sha256)

    def sync(self, blobs: Sequence[StagedBlob]) -> None:
        self._storage.put(blobs)

    def keep(self, tx: Writing, blobs: Sequence[StagedBlob]) -> None:
        self._storage.keep(tx, blobs)
        for blob in blobs:
            self._take_in(blob.path, self._place(blob.sha256), blob.size)
        name_blobs(tx, blobs)

    def forget(self, tx: Writing, sha256: str) -> None:
        self._storage.forget(tx, sha256)
        super().forget(tx, sha256)

    def set_aside(self, tx: Writing, sha256: str) -> None:
        self._storage.forget(tx, sha256)
        super().set_aside(tx, sha256)

    def stored(self) -> Iterator[str]:
        return self._storage.names()

    def forget_unnamed(self, tx: Writing, folder: str, older_than_seconds: float) -> int:
        gone = unnamed(tx, self._storage.old(folder, older_than_seconds))
        for sha256 in gone:
            self.forget(tx, sha256)
        return len(gone)

    def forget_incoming(self, older_than_seconds: float) -> int:
        """The same, and what is here of bytes that are stored no more: another machine may have deleted them."""
        remaining = (path for _, _, path in _files(self._root))
        while some := {path.parent.name + path.name: path for path in islice(remaining, _NAMES_AT_ONCE)}:
            for sha256 in some.keys() - self._storage.held(list(some)):
                some[sha256].unlink(missing_ok=True)
        self._storage.tidy(older_than_seconds)
        return super().forget_incoming(older_than_seconds)

    def close(self) -> None:
        self._storage.close()

    def _fetch(self, sha256: str, place: Path) -> None:
        digest, size = hashlib.sha256(), 0
        try:
            handle, temporary = tempfile.mkstemp(dir=self._incoming)
            try:
                with os.fdopen(handle, "wb") as file:
                    for piece in self._storage.pieces(sha256):
                        digest.update(piece)
                        size += len(piece)
                        file.write(piece)
                # Other bytes are as good as none: `check --deep` tells of them.
                if digest.hexdigest() == sha256 and (size or self._storage.size(sha256) is not None):
                    self._take_in(Path(temporary), place, size)
            finally:
                Path(temporary).unlink(missing_ok=True)
        except OSError as error:
            raise library_error(error, self._root) from error

    def _take_in(self, file: Path, place: Path, size: int) -> None:
        """Put a file where it is looked for. No power failure matters to it: it is stored elsewhere."""
        try:
            place.parent.mkdir(exist_ok=True)
            os.replace(file, place)
        except OSError as error:
            raise library_error(error, self._root) from error
        self._make_room(size)

    def _make_room(self, size: int) -> None:
        """Delete what was used longest ago, where there is too much."""
        with self._looking:
            self._new_bytes += size
            if self._new_bytes < self._kept_bytes // _LOOK_AFTER_SHARE:
                return
            self._new_bytes = 0
        held = sorted(_files(self._root))
        total = sum(bytes_ for _, bytes_, _ in held)
        for used_at, bytes_, path in held:
            if total <= self._kept_bytes or time.time() - used_at < _IN_USE_SECONDS:
                return
            path.unlink(missing_ok=True)
            total -= bytes_


def _files(root: Path) -> Iterator[tuple[float, int, Path]]:
    """When each file was used last, and how many bytes it has."""
    for folder in root.iterdir():
        for path in folder.iterdir() if len(folder.name) == 2 else ():
            with suppress(FileNotFoundError):
                state = path.stat()
                yield state.st_mtime, state.st_size, path
