"""Backups that a server makes of its library: in one folder, by name, in the background."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wenyuan.errors import BackupInvalid, InvalidValue
from wenyuan.flows.backup import Copying
from wenyuan.runtime.background import Background, Deed, Report
from wenyuan.runtime.backups import BackupReport
from wenyuan.store.backups import BackupReader

_NAME = re.compile(r"[\w-]{1,100}")


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """A whole backup, as it says of itself. `created_at` is in milliseconds since 1970."""

    name: str
    created_at: int
    documents: int
    files: int
    bytes: int
    schema: int


@dataclass(frozen=True, slots=True)
class BackupsView:
    """The backups there are, newest first; `last` is the one that is being made, or was begun last."""

    folder: str
    backups: tuple[KeptBackup, ...]
    last: Deed | None


class BackupFolder:
    def __init__(self, folder: Path, backup: Callable[[Path, Callable[[Copying], None]], BackupReport]) -> None:
        self._folder = folder
        self._backup = backup
        self._background = Background("A backup")

    def view(self) -> BackupsView:
        found = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        kept = [backup for path in found if path.is_dir() and (backup := _kept(path)) is not None]
        newest_first = tuple(sorted(kept, key=lambda one: -one.created_at))
        return BackupsView(str(self._folder), newest_first, self._background.deed)

    def begin(self, name: str) -> Deed:
        """Make a backup in the background; of the same name again, only what is new is copied.

        Raises `InvalidValue` or `AlreadyRunning`. What `Library.backup` raises becomes the problem of the deed.
        """
        if not _NAME.fullmatch(name):
            reason = "it is letters, digits, '_' and '-', at most 100"
            raise InvalidValue(what="The name of a backup", value=name[:100], reason=reason)

        def run(report: Report) -> str:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._backup(self._folder / name, lambda copying: report(copying.done, copying.total))
            return name

        return self._background.begin(name, run)

    def close(self) -> None:
        self._background.join()


def folder_of_backups(library: Path, named: str) -> Path:
    """Where a server keeps backups: the folder that the settings name, else one beside the library."""
    return Path(named).expanduser().absolute() if named else library.with_name(f"{library.name}-backups")


def _kept(path: Path) -> KeptBackup | None:
    """What a backup says of itself; None for a folder that is none, or whose writing was never finished."""
    try:
        header = BackupReader(path).header
    except BackupInvalid:
        return None
    numbers = [header.get(name) for name in ("created_at", "documents", "files", "bytes", "schema")]
    created_at, documents, files, size, schema = (one if isinstance(one, int) else 0 for one in numbers)
    return KeptBackup(path.name, created_at, documents, files, size, schema)
