"""Folders that are complete or absent: written aside, synchronised, renamed, checked by digest."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import BuiltInModelMissing, DiskFull

MANIFEST = "manifest.json"
_LOCK_POLL_SECONDS = 0.05


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array in NumPy's own format; unlike `numpy.save`, a full disk is told by its error number."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)


def is_complete(folder: Path, version: str) -> bool:
    """Tell whether every file that the folder's manifest lists is there with its size and SHA-256.

    A manifest that is missing, unreadable or of another version means no.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        digests = manifest["sha256"]
        if manifest["version"] != version or not digests:
            return False
        return all(_digest(folder / name) == digest for name, digest in digests.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def write_folder(folder: Path, version: str, write: Callable[[Path], None]) -> None:
    """Make `folder` hold what `write` puts into a fresh folder, or leave everything as it was.

    The caller holds the lock of `folder`, so whatever an interrupted process left is removed.
    """
    partial = folder.with_name(f"{folder.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir()
    try:
        write(partial)
        digests = {path.name: _digest(path) for path in sorted(partial.iterdir())}
        manifest = {"version": version, "sha256": digests}
        (partial / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        for path in (*partial.iterdir(), partial):
            _synchronise(path)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
        _synchronise(folder.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """Hold an exclusive lock between processes; it is released when the process ends, however it ends.

    Raises `TimeoutError` after `patience` seconds.
    """
    deadline = time.monotonic() + patience
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise TimeoutError from None
                time.sleep(_LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn what the operating system says about a folder that cannot be written into our errors."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(path=folder) from error
        raise BuiltInModelMissing(
            reason=f"its cache in {folder} cannot be written: {error.strerror or error}"
        ) from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _synchronise(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
