"""Where a library in PostgreSQL has its files, and where this machine keeps what is its own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from wenyuan.errors import InvalidValue
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.opening import IN_DATABASE, IN_FOLDER, shared_storage
from wenyuan.store.shared_blobs import SharedBlobs

_CACHE, _S3 = "cache", "s3://"


@dataclass(frozen=True, slots=True)
class Storage:
    """`kind` is where the files are for every machine: in a `folder` that all see, in the database, or at an
    `s3://` address.

    `home` is a folder of this machine, or one that several share: it has `wenyuan.toml`, prompts, evaluation
    sets, and the names of workers.
    """

    kind: str
    home: Path
    folder: Path | None = None

    def blobs(self, database: LibraryDatabase) -> BlobDirectory:
        if self.folder is not None:
            return BlobDirectory(self.folder)
        return SharedBlobs(self.home / _CACHE, shared_storage(database, self.kind))


def storage_of(
    address: str,
    blobs: str | os.PathLike[str] | None,
    home: str | os.PathLike[str] | None,
    environment: Mapping[str, str],
) -> Storage:
    """Where the library at an address has its files, as `blobs` says: a folder, `database` or `s3://bucket/folder`.

    Without a `home`, which `$WENYUAN_HOME` may name too, it is the folder of files, else one of this user's.
    Raises `InvalidValue` where `blobs` is missing or nothing that is known.
    """
    named = home or environment.get("WENYUAN_HOME")
    chosen = Path(named).expanduser().absolute() if named else None
    if blobs is None:
        reason = "a library in PostgreSQL needs one, or 'database', or an s3:// address"
        raise InvalidValue(what="The folder of files", value=blobs, reason=reason)
    if blobs == IN_DATABASE:
        return Storage(IN_DATABASE, chosen or _usual_home(address))
    if str(blobs).startswith(_S3):
        return Storage(str(blobs).rstrip("/"), chosen or _usual_home(address))
    if "://" in str(blobs):
        reason = "it is a folder, 'database' or an s3:// address"
        raise InvalidValue(what="The folder of files", value=str(blobs), reason=reason)
    folder = Path(blobs).expanduser().absolute()
    return Storage(IN_FOLDER, chosen or folder, folder)


def _usual_home(address: str) -> Path:
    """A folder of its own for each database; who asks, and with which password, is not part of its name."""
    parts = urlsplit(address)
    place = f"{parts.hostname or ''}:{parts.port or ''}{parts.path}?{parts.query}"
    return Path(platformdirs.user_data_dir("wenyuan")) / f"postgresql-{hashlib.sha256(place.encode()).hexdigest()[:12]}"
