"""Reading from a copy that follows the database, and from the database itself where that cannot be.

A copy is a little behind. What it does not know yet, the database itself is asked for; what is written
goes there in any case.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from wenyuan.errors import (
    CitationNotFound,
    DatabaseUnsuitable,
    DocumentNotFound,
    KnowledgeBaseNotFound,
    LibraryLocked,
    StorageError,
)
from wenyuan.store.database import Database, LibraryDatabase, Reading, Writing

Result = TypeVar("Result")
Without = Callable[[StorageError], None]
"""Told why something is read without the copy."""

_LOG = logging.getLogger("wenyuan.replica")
_AGAIN_SECONDS = 10.0
_NOT_THERE_YET = (KnowledgeBaseNotFound, DocumentNotFound, CitationNotFound)


class ReplicaFirst:
    """Asks the copy first, if there is one; threads may share it.

    `opened` opens the copy when it is first asked, and again some seconds after it failed.
    """

    def __init__(
        self,
        database: Database,
        opened: Callable[[], LibraryDatabase] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._opened = opened
        self._clock = clock
        self._opening = threading.Lock()
        self._replica: LibraryDatabase | None = None
        self._failure: StorageError | None = None
        self._again_at = 0.0

    def ask(self, question: Callable[[Database], Result], without: Without | None = None) -> Result:
        """What `question` makes of the copy or, where that fails, of the database itself, from its beginning.

        `without` is told why the copy has no part in it. Raises what the question raises.
        """
        try:
            replica = self._ready()
            if replica is not None:
                return question(_ReadElsewhere(replica, self._database))
        except _NOT_THERE_YET:
            # Then it is told by the database itself.
            pass
        except StorageError as error:
            self._note(error)
            if without is not None:
                without(error)
        return question(self._database)

    def failure(self) -> StorageError | None:
        """Why the copy cannot be asked now; None where it can, or where there is none."""
        try:
            self._ready()
        except StorageError as error:
            self._note(error)
            return error
        return None

    @property
    def is_there(self) -> bool:
        """Whether there is a copy to be asked at all."""
        return self._opened is not None

    def close(self) -> None:
        with self._opening:
            if self._replica is not None:
                self._replica.close()
                self._replica = None

    def _ready(self) -> LibraryDatabase | None:
        if self._opened is None:
            return None
        with self._opening:
            if self._failure is not None and self._clock() < self._again_at:
                raise self._failure
            self._failure = None
            if self._replica is None:
                replica = self._opened()
                try:
                    _require_same(replica, self._database)
                except BaseException:
                    replica.close()
                    raise
                self._replica = replica
            return self._replica

    def _note(self, error: StorageError) -> None:
        """Leave the copy alone for a while. One that only had to give way is asked again at once."""
        if isinstance(error, LibraryLocked):
            return
        with self._opening:
            if error is not self._failure:
                _LOG.warning("The replica is not asked for a while: %s", error.message)
                self._failure = error
                self._again_at = self._clock() + _AGAIN_SECONDS


class _ReadElsewhere:
    """A database that is read from a copy of it."""

    def __init__(self, replica: Database, database: Database) -> None:
        self._replica = replica
        self._database = database

    def read(self) -> AbstractContextManager[Reading]:
        return self._replica.read()

    def write(self, *, durable: bool = True, lock_seconds: float | None = None) -> AbstractContextManager[Writing]:
        return self._database.write(durable=durable, lock_seconds=lock_seconds)

    def commits(self) -> AbstractContextManager[Callable[[], int]]:
        return self._database.commits()

    @property
    def traces(self) -> Database:
        return self._database.traces

    def close(self) -> None:
        """Nothing: both are others'."""


def _require_same(replica: LibraryDatabase, database: Database) -> None:
    if _first_knowledge_base(replica) != _first_knowledge_base(database):
        raise DatabaseUnsuitable(
            path="that is read",
            reason="it holds another library",
            remedy="Give `search.replica` the address of a copy that follows the library's own database",
        )


def _first_knowledge_base(database: Database) -> object:
    with database.read() as tx:
        return tx.first("SELECT id FROM knowledge_bases ORDER BY created_at, id LIMIT 1")
