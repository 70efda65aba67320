"""Backups, as a door sees them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wenyuan.config import Settings
from wenyuan.flows.backup import BackingUp, back_up
from wenyuan.flows.backup import Copying as Copying
from wenyuan.flows.restore import Elsewhere, restore_elsewhere
from wenyuan.flows.restore import Restored as Restored
from wenyuan.flows.restore import restore as restored
from wenyuan.identifiers import new_id
from wenyuan.runtime.storage import storage_of
from wenyuan.runtime.upkeep import Finding
from wenyuan.store import file_passwords
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.opening import fill_postgres, is_address, require_empty

Watch = Callable[[Copying], None]


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What a backup holds: so many documents, files of theirs, and bytes; the last were copied now.

    `missing` are the SHA-256 of files that the library itself has lost, `findings` what else does not
    hold in it. The backup holds everything else nevertheless. `passwords` are those of files, which it holds too.
    """

    path: Path
    schema: int
    documents: int
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int
    missing: tuple[str, ...]
    findings: tuple[Finding, ...]
    passwords: int = 0


def backup(
    library: Path,
    database: LibraryDatabase,
    blobs: BlobDirectory,
    program: str,
    target: str | os.PathLike[str],
    *,
    quick: bool,
    watch: Watch | None,
) -> BackupReport:
    """What `Library.backup` does."""
    path = Path(target).expanduser().absolute()
    now = time.time_ns() // 1_000_000
    tools = BackingUp(library, database, blobs, program, now, quick, watch or _unwatched)
    with database.read() as tx:
        passwords = file_passwords.count(tx)
    made = back_up(tools, path, new_id("moment"))
    findings = tuple(Finding(one.code, one.severity, one.message, one.hint) for one in made.violations)
    return BackupReport(
        made.path,
        made.schema,
        made.documents,
        made.files,
        made.bytes,
        made.copied_files,
        made.copied_bytes,
        made.missing,
        findings,
        passwords,
    )


def restore(
    backup: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    blobs: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    watch: Watch | None = None,
) -> Restored:
    """Make a library of a backup, in a new or empty folder; of any earlier schema, which is migrated when opened.

    It may also go to an empty database, named by a `postgresql://` address, wherever it was made; `blobs` and `home`
    are as in `open`, and new or empty folders too. Keys of models are not in a backup, only references to them.
    Raises `BackupInvalid`, `LibraryNewer`, `FolderNotEmpty`, `DiskFull`, `LibraryReadOnly`, and of a database what
    `open` raises; then nothing is left behind.
    """
    source = Path(backup).expanduser().absolute()
    if not is_address(to):
        return restored(source, Path(to).expanduser().absolute(), watch or _unwatched)
    address = str(to)
    storage = storage_of(address, blobs, home, os.environ)
    # How long to wait for those who write is all that matters of the settings, and nobody writes to an empty one.
    patience = Settings().worker.lock_seconds
    place = Elsewhere(
        storage.home,
        storage.folder,
        lambda: require_empty(address),
        lambda folder, files, told: fill_postgres(address, patience, folder, storage.kind, files, told),
    )
    return restore_elsewhere(source, place, watch or _unwatched)


def _unwatched(copying: Copying) -> None:
    pass
