"""A library in PostgreSQL becomes the two files that a library in a folder has, and the other way round.

So a backup has one form, whatever it was made of, and can be restored into either database. What is
copied out is one snapshot, read while others write; what is copied in is there as a whole or not at
all. Words are copied as the tokens that are indexed, so that nothing is read anew by other rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.migrate import known_migrations, migrate
from wenyuan.store.postgresql.pages import FIELDS, Page, fields_of, joined
from wenyuan.store.sqlite import SqliteDatabase
from wenyuan.types import Posting

Watch = Callable[[int, int], None]
"""Told how many rows are done, and of how many."""

Item = TypeVar("Item")


class Streaming(Reading, Protocol):
    """A transaction that can read more than memory holds."""

    def stream(self, sql: str) -> Iterator[Row]:
        """The rows of a statement, some at a time."""
        ...


class Taking(Writing, Protocol):
    """A transaction that can take more than memory holds."""

    def copy_values(self, sql: str, rows: Iterable[Row]) -> None:
        """Execute a `COPY … FROM STDIN` with these rows."""
        ...


_ROWS_AT_ONCE = 500
_CHUNKS_AT_ONCE = 500
_LEXICAL = "lexical_"
# Made by whoever makes the copy.
_NOT_COPIED = ("schema_migrations", "sqlite_", _LEXICAL)


def copy_out(source: Streaming, target: Path, kind: str, watch: Watch) -> None:
    """Write a library as a transaction sees it, or its traces if that is the `kind`, to a new SQLite file.

    It is safe from a power failure then. Raises `DiskFull` or `LibraryReadOnly` for the copy, and what reading raises.
    """
    copy = SqliteDatabase(target)
    try:
        migrate(copy, target, known_migrations(kind))
        tables = _tables(copy)
        counted = _Counted(watch, sum(_count(source, table) for table in tables))
        for table, columns in tables.items():
            _empty(copy, table)
            rows = source.stream(f"SELECT {', '.join(columns)} FROM {table}")
            for some in _groups(rows, _ROWS_AT_ONCE):
                _put_rows(copy, table, columns, some)
                counted.add(len(some))
        if not kind:
            _copy_words_out(source, copy)
        copy.leave_one_file()
    finally:
        copy.close()


def copy_in(source: SqliteDatabase, tx: Taking, watch: Watch) -> None:
    """Take the rows and words of a SQLite file, a library's or its traces', into tables that were just made.

    The file must be of the newest schema, and nobody else be writing to it.
    """
    tables = _tables(source)
    with source.read() as reading:
        counted = _Counted(watch, sum(_count(reading, table) for table in tables))
        for table, columns in tables.items():
            tx.run(f"DELETE FROM {table}")
            rows = reading.stream(f"SELECT {', '.join(columns)} FROM {table}")
            tx.copy_values(f"COPY {table} ({', '.join(columns)}) FROM STDIN", counted.watched(rows))
        numbers = sorted(
            int(name.removeprefix(_LEXICAL))
            for name in reading.tables()
            if name.startswith(_LEXICAL) and name.removeprefix(_LEXICAL).isdecimal()
        )
    for number in numbers:
        tx.lexical.create(tx, number)
        for some in _groups(source.indexed_postings(number), _CHUNKS_AT_ONCE):
            tx.lexical.add(tx, number, some)


class _Counted:
    """Tells how many rows are done."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch = watch
        self._total = total
        self._done = 0

    def add(self, rows: int) -> None:
        self._done += rows
        self._watch(self._done, self._total)

    def watched(self, rows: Iterator[Row]) -> Iterator[Row]:
        for some in _groups(rows, _ROWS_AT_ONCE):
            yield from some
            self.add(len(some))


def _tables(database: SqliteDatabase) -> dict[str, Sequence[str]]:
    """The columns of every table, in the order in which the tables were made: none names rows of a later one."""
    with database.read() as tx:
        names = [str(row[0]) for row in tx.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")]
        return {
            name: [str(row[0]) for row in tx.all(f"SELECT name FROM pragma_table_info('{name}')")]
            for name in names
            if not name.startswith(_NOT_COPIED)
        }


def _count(tx: Reading, table: str) -> int:
    return int(tx.all(f"SELECT count(*) FROM {table}")[0][0])


def _empty(copy: SqliteDatabase, table: str) -> None:
    """Take away the rows that a migration has put there."""
    with copy.write(durable=False) as tx:
        tx.run(f"DELETE FROM {table}")


def _put_rows(copy: SqliteDatabase, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    marks = ", ".join(f":{column}" for column in columns)
    with copy.write(durable=False) as tx:
        tx.run_many(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
            (dict(zip(columns, row, strict=True)) for row in rows),
        )


# --- Words ---------------------------------------------------------------------------------------


def _copy_words_out(source: Reading, copy: SqliteDatabase) -> None:
    for (number,) in source.all("SELECT number FROM lexical_indexes ORDER BY number"):
        with copy.write(durable=False) as tx:
            tx.lexical.create(tx, number)
        for some in _groups(_postings(source, number), _CHUNKS_AT_ONCE):
            with copy.write(durable=False) as tx:
                tx.lexical.add(tx, number, some)


def _postings(tx: Reading, number: int) -> Iterator[tuple[int, Posting]]:
    """Every chunk of an index with its tokens, those of one field in no order: nothing asks for one."""
    segments = tx.all("SELECT segment FROM lexical_segments WHERE number = :number", {"number": number})
    for (segment,) in segments:
        parameters = {"number": number, "segment": segment}
        ((keys, removed),) = tx.all(
            "SELECT keys, removed FROM lexical_segments WHERE number = :number AND segment = :segment", parameters
        )
        pages = tx.all("SELECT page FROM lexical_pages WHERE number = :number AND segment = :segment", parameters)
        gone = set(np.frombuffer(removed, np.int32).tolist())
        for position, posting in enumerate(_by_chunk([Page(row[0]) for row in pages], len(keys) // 8)):
            if position not in gone:
                yield int(np.frombuffer(keys, np.int64)[position]), posting


def _by_chunk(pages: Sequence[Page], chunks: int) -> Iterator[Posting]:
    """The postings of a segment, chunk by chunk."""
    if not pages:
        yield from (Posting("", "", "", "") for _ in range(chunks))
        return
    whole = joined(pages)
    tokens = [token.decode() for token in whole.tokens]
    names = np.repeat(np.arange(len(tokens)), whole.counts)
    order = np.argsort(whole.positions, kind="stable")
    ends = np.searchsorted(whole.positions[order], np.arange(chunks + 1, dtype=np.int64))
    for chunk in range(chunks):
        rows = order[ends[chunk] : ends[chunk + 1]]
        held, counts = names[rows].tolist(), fields_of(whole.codes[rows])
        name, heading, body, alias = (_words(tokens, held, counts[field].tolist()) for field in FIELDS)
        yield Posting(name, heading, body, alias)


def _words(tokens: Sequence[str], held: Sequence[int], counts: Sequence[int]) -> str:
    return " ".join(tokens[number] for number, count in zip(held, counts, strict=True) for _ in range(count))


def _groups(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some
