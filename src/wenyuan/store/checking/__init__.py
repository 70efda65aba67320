"""Does everything hold? Every invariant is looked at, and nothing is changed.

Each check reads in short transactions and keeps a bounded part of the library in memory, so that it
may run beside workers and on any library. Of each kind of violation, the first are told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from wenyuan.errors import WenyuanError
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.checking.deleted import check_deleted, check_disabled
from wenyuan.store.checking.derived import check_derived
from wenyuan.store.checking.files import check_files, check_leftovers, check_stored
from wenyuan.store.checking.indexes import active, check_codes, check_postings
from wenyuan.store.checking.invariants import (
    DATABASE_SOUND,
    LEXICAL_KEPT,
    LOOKED_AT,
    ROWS_OWNED,
    TRACES_SOUND,
    Violation,
)
from wenyuan.store.checking.rows import ROW_CHECKS
from wenyuan.store.checking.texts import check_texts
from wenyuan.store.database import LibraryDatabase, Reading

__all__ = ["Violation", "check_library"]

_MOST_TOLD = 20
_FULL_TEXT = re.compile(r"fts5.*\blexical_(\d+)\b", re.IGNORECASE)


def check_library(
    database: LibraryDatabase, blobs: BlobDirectory | None, *, deep: bool = False, most: int = _MOST_TOLD
) -> Iterator[Violation]:
    """Every invariant that does not hold, the first `most` of each; of a damaged database file, only that.

    If `deep`, every byte is read and every passage is read again by today's rules. Without `blobs`,
    files are not looked at.
    """
    damage = database.integrity_problems()
    indexes = {match[1] for reason in damage if (match := _FULL_TEXT.search(reason))}
    others = [reason for reason in damage if not _FULL_TEXT.search(reason)]
    if others:
        yield from (DATABASE_SOUND.violated(reason=reason) for reason in others)
        return
    broken_traces = list(_told(lambda: _traces(database), most))
    yield from broken_traces
    looks: list[Callable[[], Iterator[Violation]]] = [
        lambda: _orphans(database),
        *(partial(_rows, database, check, most) for check in ROW_CHECKS),
        lambda: check_texts(database),
        lambda: _full_text(database, indexes),
        lambda: check_postings(database),
        lambda: check_codes(database),
        lambda: check_disabled(database),
    ]
    if not broken_traces:
        looks.append(lambda: check_deleted(database))
    if deep:
        looks.append(lambda: check_derived(database))
    if blobs is not None:
        looks += [
            partial(check_stored, database, blobs, deep=deep),
            lambda: check_files(database, blobs),
            lambda: check_leftovers(blobs),
        ]
    for look in looks:
        yield from _told(look, most)


def _told(look: Callable[[], Iterator[Violation]], most: int) -> Iterator[Violation]:
    """The first violations that a check finds; what keeps it from looking further is told as well."""
    try:
        yield from islice(look(), most)
    except WenyuanError as error:
        yield LOOKED_AT.violated(reason=error.message)


def _rows(
    database: LibraryDatabase, check: Callable[[Reading, int], Iterator[Violation]], most: int
) -> Iterator[Violation]:
    with database.read() as tx:
        found = list(islice(check(tx, most), most))
    yield from found


def _full_text(database: LibraryDatabase, numbers: set[str]) -> Iterator[Violation]:
    """Full-text indexes that SQLite itself finds inconsistent; they can be made again from the passages."""
    for _, number, _, name in active(database, "lexical"):
        if str(number) in numbers:
            yield LEXICAL_KEPT.violated(name=name, number=number, reason="it contradicts itself.")


def _traces(database: LibraryDatabase) -> Iterator[Violation]:
    # Until the first search there is no such file.
    if database.traces.exists():
        yield from (TRACES_SOUND.violated(reason=reason) for reason in database.traces.integrity_problems())


def _orphans(database: LibraryDatabase) -> Iterator[Violation]:
    for table, parent, count in database.orphans():
        yield ROWS_OWNED.violated(table=table, parent=parent, count=count)
