"""Does everything hold? Every invariant is looked at, and nothing is changed.

Each check reads in short transactions and keeps a bounded part of the library in memory, so that it
may run beside workers and on any library. Of each kind of violation, the first are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from wenyuan.errors import WenyuanError
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.checking.files import check_files, check_leftovers, check_stored
from wenyuan.store.checking.indexes import check_codes, check_postings
from wenyuan.store.checking.invariants import DATABASE_SOUND, LOOKED_AT, ROWS_OWNED, TRACES_SOUND, Violation
from wenyuan.store.checking.rows import ROW_CHECKS
from wenyuan.store.checking.texts import check_texts
from wenyuan.store.database import Reading
from wenyuan.store.sqlite import SqliteDatabase

__all__ = ["Violation", "check_library"]

_MOST_OF_A_KIND = 20


def check_library(database: SqliteDatabase, blobs: BlobDirectory) -> Iterator[Violation]:
    """Every invariant that does not hold; where the database file itself is damaged, only that is told."""
    damage = database.integrity_problems()
    if damage:
        yield from (DATABASE_SOUND.violated(reason=reason) for reason in damage)
        return
    yield from _told(lambda: _traces(database))
    yield from _told(lambda: _orphans(database))
    for check in ROW_CHECKS:
        yield from _told(lambda check=check: _rows(database, check))  # type: ignore[misc]
    yield from _told(lambda: check_texts(database))
    yield from _told(lambda: check_postings(database))
    yield from _told(lambda: check_codes(database))
    yield from _told(lambda: check_stored(database, blobs))
    yield from _told(lambda: check_files(database, blobs))
    yield from _told(lambda: check_leftovers(blobs))


def _told(look: Callable[[], Iterator[Violation]]) -> Iterator[Violation]:
    """The first violations that a check finds; what keeps it from looking further is told as well."""
    try:
        yield from islice(look(), _MOST_OF_A_KIND)
    except WenyuanError as error:
        yield LOOKED_AT.violated(reason=error.message)


def _rows(database: SqliteDatabase, check: Callable[[Reading], Iterator[Violation]]) -> Iterator[Violation]:
    with database.read() as tx:
        found = list(islice(check(tx), _MOST_OF_A_KIND))
    yield from found


def _traces(database: SqliteDatabase) -> Iterator[Violation]:
    # Until the first search there is no such file.
    if database.traces.exists():
        yield from (TRACES_SOUND.violated(reason=reason) for reason in database.traces.integrity_problems())


def _orphans(database: SqliteDatabase) -> Iterator[Violation]:
    for table, parent, count in database.orphans():
        yield ROWS_OWNED.violated(table=table, parent=parent, count=count)
