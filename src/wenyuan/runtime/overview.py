"""A library at a glance: what it takes on disk, what is in its knowledge bases, what went wrong lately."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wenyuan.store import backups, failures, knowledge_bases, statistics
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.failures import FailedJob as FailedJob
from wenyuan.store.statistics import Served as Served


@dataclass(frozen=True, slots=True)
class StorageView:
    """What a library takes, in bytes, and what is free where it lies. `files` are stored once, however often named."""

    database_bytes: int
    traces_bytes: int
    files: int
    file_bytes: int
    documents: int
    free_bytes: int
    schema: int


@dataclass(frozen=True, slots=True)
class KnowledgeBaseStatistics:
    """What a knowledge base holds. `states` counts its documents by how they stand; the rest is of what is served.

    Moments are in milliseconds since 1970; `last_added` is null where nothing ever came in.
    """

    knowledge_base_id: str
    states: Mapping[str, int]
    documents: int
    passages: int
    characters: int
    bytes: int
    types: tuple[Served, ...]
    last_added: int | None
    last_activity: int


class Overview:
    def __init__(self, library: Path, database: LibraryDatabase, principal: str) -> None:
        self._library = library
        self._database = database
        self._principal = principal

    def storage(self) -> StorageView:
        with self._database.read() as tx:
            held = backups.contents(tx)
        traces = self._database.traces
        return StorageView(
            self._database.size(),
            # On PostgreSQL they lie among the rest.
            traces.size() if traces is not self._database and traces.exists() else 0,
            held.blobs,
            held.blob_bytes,
            held.documents,
            shutil.disk_usage(self._library).free,
            held.schema,
        )

    def statistics(self, knowledge_base_id: str) -> KnowledgeBaseStatistics:
        with self._database.read() as tx:
            served = tuple(statistics.served(tx, knowledge_base_id))
            return KnowledgeBaseStatistics(
                knowledge_base_id,
                knowledge_bases.document_counts(tx, knowledge_base_id),
                sum(one.documents for one in served),
                sum(one.passages for one in served),
                sum(one.characters for one in served),
                sum(one.bytes for one in served),
                served,
                statistics.last_added(tx, knowledge_base_id),
                statistics.last_activity(tx, knowledge_base_id),
            )

    def problems(self, limit: int, bases: Sequence[str] | None) -> list[FailedJob]:
        """Work that failed, or waits because of a problem, newest first; of the knowledge bases `bases`, if given."""
        with self._database.read() as tx:
            return failures.recent(tx, self._principal, limit, bases)
