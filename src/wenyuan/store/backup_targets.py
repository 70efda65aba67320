"""Where a backup is written: a folder, which the next one completes, or one tar file.

Both become a backup by one rename at the very end; what an interruption leaves is never taken for
one, and a backup that was there before stays whole until then.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

from wenyuan.errors import BackupBusy, BackupUnreadable, DiskFull, FolderNotEmpty, LibraryReadOnly
from wenyuan.store.archives import MANIFEST, SUMS, ArchiveReader, ArchiveWriter, sum_line
from wenyuan.store.blobs import BlobDirectory

FORMAT, VERSION = "wenyuan-backup", 1
HEADER = "backup.json"
DATABASE, TRACES, SETTINGS = "wenyuan.db", "traces.db", "wenyuan.toml"
MOMENTS, BLOBS = "moments", "blobs"

_LOCK = "backup.lock"
_PIECE_BYTES = 1 << 20
_SYNCED_TOGETHER = 64

Put = Literal["copied", "held", "vanished", "damaged"]
"""What became of one file: it was copied, was there already, is gone, or is not what its name says."""

Watch = Callable[[int], None]
"""Told how many bytes were read."""


class BackupTarget(Protocol):
    """A place that is being written to, open for one backup."""

    @property
    def folder(self) -> Path:
        """Where the databases and settings are to be put."""
        ...

    def put_blob(self, sha256: str, size: int, source: Callable[[str], Path]) -> Put:
        """Copy the file that `source` has for a SHA-256, if it is not there yet."""
        ...

    def sync(self) -> None:
        """Make what was put safe from a power failure."""
        ...

    def finish(self, manifest: Mapping[str, Any], blobs: Iterator[str], watch: Watch) -> None:
        """Complete the backup: it holds what is in `folder`, and those blobs. Raises `BackupUnreadable`."""
        ...


class FolderTarget:
    """`blobs/` as in a library, and `moments/` with the databases of one moment, which `manifest.json` names."""

    def __init__(self, root: Path, moment: str) -> None:
        self._root = root
        self._blobs = BlobDirectory(root / BLOBS)
        self._moment = f"{MOMENTS}/{moment}"
        self._unsynced: list[Path] = []
        self.folder = root / self._moment

    def open(self) -> None:
        self._blobs.create()
        self._blobs.forget_incoming(0)
        self.folder.mkdir(parents=True)

    def put_blob(self, sha256: str, size: int, source: Callable[[str], Path]) -> Put:
        place = self._blobs.path(sha256)
        with contextlib.suppress(FileNotFoundError):
            if place.stat().st_size == size:
                return "held"
        part = self._root / BLOBS / "incoming" / sha256
        try:
            digest = _copied(source(sha256), part)
        except FileNotFoundError:
            return "vanished"
        if digest != sha256:
            part.unlink()
            return "damaged"
        place.parent.mkdir(exist_ok=True)
        os.replace(part, place)
        self._unsynced.append(place)
        if len(self._unsynced) >= _SYNCED_TOGETHER:
            self.sync()
        return "copied"

    def sync(self) -> None:
        folders = {place.parent for place in self._unsynced}
        for path in (*self._unsynced, *folders, *([self._root / BLOBS] if folders else [])):
            _sync(path)
        self._unsynced = []

    def finish(self, manifest: Mapping[str, Any], blobs: Iterator[str], watch: Watch) -> None:
        kept: set[str] = set()
        sums = self.folder / SUMS
        digest = hashlib.sha256()
        with sums.open("wb") as told:
            for line in self._lines(blobs, kept, watch):
                told.write(line)
                digest.update(line)
        for path in (sums, self.folder, self._root / MOMENTS):
            _sync(path)
        complete = {**manifest, "moment": self._moment, "sums": digest.hexdigest()}
        write_whole(self._root / MANIFEST, json.dumps(complete, ensure_ascii=False, indent=1).encode())
        self._forget_what_was(kept)

    def _lines(self, blobs: Iterator[str], kept: set[str], watch: Watch) -> Iterator[bytes]:
        for file in sorted(self.folder.iterdir()):
            if file.name != SUMS:
                yield sum_line(_digest(file, watch), f"{self._moment}/{file.name}")
        for sha256 in blobs:
            kept.add(sha256)
            yield sum_line(sha256, f"{BLOBS}/{sha256[:2]}/{sha256[2:]}")

    def verify(self, blobs: Iterator[str], source: Callable[[str], Path], watch: Watch) -> None:
        """Read the bytes of documents back; what went bad since an earlier backup is copied once more."""
        for sha256 in blobs:
            place = self._blobs.path(sha256)
            if _digest(place, watch) == sha256:
                continue
            place.unlink()
            self.put_blob(sha256, -1, source)
            if not place.exists() or _digest(place, watch) != sha256:
                raise BackupUnreadable(path=place, reason="its bytes are others")
        self.sync()

    def _forget_what_was(self, kept: set[str]) -> None:
        for moment in (self._root / MOMENTS).iterdir():
            if moment != self.folder:
                shutil.rmtree(moment, ignore_errors=True)
        for sha256 in list(self._blobs.stored()):
            if sha256 not in kept:
                self._blobs.path(sha256).unlink(missing_ok=True)


class ArchiveTarget:
    """One tar file, written beside its place."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._header = manifest
        self._held: set[bytes] = set()
        self.folder = path.with_name(f"{path.name}.part-files")

    def open(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self._file = self._part.open("wb+")
        self._writer = ArchiveWriter(self._file, self._header["created_at"])
        self._writer.add(HEADER, json.dumps(self._header, ensure_ascii=False, indent=1).encode())

    def put_blob(self, sha256: str, size: int, source: Callable[[str], Path]) -> Put:  # noqa: ARG002
        if bytes.fromhex(sha256) in self._held:
            return "held"
        try:
            if not self._writer.add_file(f"{BLOBS}/{sha256[:2]}/{sha256[2:]}", source(sha256), sha256):
                return "damaged"
        except FileNotFoundError:
            return "vanished"
        self._held.add(bytes.fromhex(sha256))
        return "copied"

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def finish(self, manifest: Mapping[str, Any], blobs: Iterator[str], watch: Watch) -> None:  # noqa: ARG002
        for file in sorted(self.folder.iterdir()):
            self._writer.add_file(file.name, file)
        self._writer.close(manifest)
        self.sync()
        self._read_back(watch)
        self._file.close()
        os.replace(self._part, self._path)
        _sync(self._path.parent)

    def _read_back(self, watch: Watch) -> None:
        self._file.seek(0)
        for member in ArchiveReader(self._file, lambda reason: BackupUnreadable(path=self._part, reason=reason)):
            for piece in member.pieces():
                watch(len(piece))

    def close(self) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def folder_target(root: Path, moment: str) -> Iterator[FolderTarget]:
    """A folder to write to. Raises `FolderNotEmpty`, `BackupBusy`, `DiskFull` or `LibraryReadOnly`."""
    with translated(root):
        root.mkdir(parents=True, exist_ok=True)
        if not _is_ours(root):
            raise FolderNotEmpty(path=root)
        with _locked(root / _LOCK):
            target = FolderTarget(root, moment)
            target.open()
            yield target


@contextmanager
def archive_target(path: Path, manifest: Mapping[str, Any]) -> Iterator[ArchiveTarget]:
    """A tar file to write; the same is raised."""
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.with_name(f"{path.name}.lock")) as lock:
            target = ArchiveTarget(path, manifest)
            target.open()
            try:
                yield target
            finally:
                target.close()
                lock.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in the place of another, so that a crash leaves the one or the other."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(content)
    _sync(part)
    os.replace(part, path)
    _sync(path.parent)


def _is_ours(root: Path) -> bool:
    """Whether a folder holds nothing, a backup, or what the first attempt at one has left."""
    return {item.name for item in root.iterdir()} <= {MANIFEST, f"{MANIFEST}.part", MOMENTS, BLOBS, _LOCK}


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """Held for as long as this process lives: the kernel lets go of it, however that ends."""
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BackupBusy(path=path.parent) from error
        yield path


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """What goes wrong with a file that is written becomes `DiskFull` or `LibraryReadOnly`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(path=path) from error
        raise LibraryReadOnly(path=path, reason=error.strerror or str(error)) from error


def _copied(source: Path, target: Path) -> str:
    digest = hashlib.sha256()
    with source.open("rb") as content, target.open("wb") as copy:
        while piece := content.read(_PIECE_BYTES):
            digest.update(piece)
            copy.write(piece)
    return digest.hexdigest()


def _digest(path: Path, watch: Watch) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            watch(len(piece))
    return digest.hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
