"""Knowledge bases that leave a library as a file, and come into one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib import metadata
from itertools import count
from pathlib import Path

from wenyuan.config import Settings
from wenyuan.errors import ConfigurationError, InvalidValue
from wenyuan.flows.archive.exporting import Exported as Exported
from wenyuan.flows.archive.exporting import Exporting, export
from wenyuan.flows.archive.importing import Imported as Imported
from wenyuan.flows.archive.importing import import_archive
from wenyuan.flows.archive.staging import Importing
from wenyuan.flows.embed import fingerprint
from wenyuan.identifiers import new_id
from wenyuan.runtime.models import Models
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import LibraryDatabase
from wenyuan.types import KnowledgeBase
from wenyuan.worker import WorkerName, names_directory, worker_name

_SERIAL = count(1_000_000)

Watch = Callable[[int, int], None]
"""Told how much is done, and of how much."""


class Transfers:
    """Exports and imports of one library."""

    def __init__(
        self,
        folder: Path,
        database: LibraryDatabase,
        blobs: BlobDirectory,
        settings: Settings,
        models: Models,
        principal: str,
    ) -> None:
        self._folder = folder
        self._database = database
        self._blobs = blobs
        self._settings = settings
        self._models = models
        self._principal = principal

    def export(self, base: KnowledgeBase, path: str | os.PathLike[str], watch: Watch | None) -> Exported:
        program = f"wenyuan {metadata.version('wenyuan')}"
        tools = Exporting(self._database, self._blobs, program, time.time_ns() // 1_000_000, watch or _unwatched)
        return export(tools, base, Path(path).expanduser().absolute())

    def import_archive(
        self, path: str | os.PathLike[str], name: str | None, watch: Watch | None, *, with_vectors: bool
    ) -> Imported:
        if name is not None:
            checked_name(name)
        # A locked name, by which workers know that whoever imports is alive.
        names = names_directory(self._folder, for_many_machines=self._database.is_for_many_machines)
        worker = WorkerName(names, worker_name(next(_SERIAL)))
        try:
            tools = Importing(
                self._database,
                self._blobs,
                self._principal,
                worker.name,
                self._settings.limits.file_bytes,
                new_id,
                lambda model, wanted: self._model_for(model, wanted if with_vectors else None),
                watch or _unwatched,
            )
            return import_archive(tools, Path(path).expanduser().absolute(), name)
        finally:
            worker.close()

    def _model_for(self, name: str, wanted: str | None) -> tuple[str, bool]:
        """The model of that name or, where there is none, the one that made the vectors; else the default one."""
        if not name:
            return "", False
        names = self._models.names()
        candidates = [name] if name in names else names
        if wanted is not None:
            for candidate in candidates:
                if self._fingerprint(candidate) == wanted:
                    return candidate, True
        return (name if name in names else self._settings.defaults.embedding_model), False

    def _fingerprint(self, model: str) -> str:
        try:
            return fingerprint(self._models.embedder(model).identity)
        except ConfigurationError:
            # What cannot be used here made no vectors either.
            return ""


def checked_name(name: str) -> str:
    """A name that a knowledge base may have. Raises `InvalidValue`."""
    if not name.strip() or name != name.strip() or len(name) > 200 or not name.isprintable():
        raise InvalidValue(what="The name of a knowledge base", value=name, reason="it must be 1 to 200 characters")
    return name


def _unwatched(done: int, total: int) -> None:
    pass
