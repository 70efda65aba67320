"""The SQLite database, through apsw and nothing else.

WAL journal; one writer at a time, readers never wait. No other SQLite library may open the file in
this process: POSIX drops all of a process's locks on a file when any descriptor of it closes
(https://www.sqlite.org/howtocorrupt.html, section 2.2.1).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from wenyuan.errors import (
    DiskFull,
    LibraryDamaged,
    LibraryLocked,
    LibraryReadOnly,
    NotALibrary,
    WenyuanError,
)
from wenyuan.store.database import NO_PARAMETERS, LexicalIndex, Parameters, Row, half_a_character
from wenyuan.store.fts5 import Fts5Index
from wenyuan.types import Posting

_MOST_IDLE_READERS = 8
_CHECKPOINT_PAGES = 4000
_STATEMENTS_KEPT = 200
_RETRY_SECONDS = 0.01
_PAGES_COPIED_AT_ONCE = 4096


class SqliteTransaction:
    """One transaction on one connection; both a `Reading` and a `Writing`."""

    def __init__(self, connection: apsw.Connection, lexical: LexicalIndex) -> None:
        self._lexical = lexical
        self._cursor = connection.cursor()
        self._connection = connection
        self._now: int | None = None

    @property
    def now(self) -> int:
        if self._now is None:
            row = self.first("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)")
            self._now = int(row[0]) if row is not None else 0
        return self._now

    @property
    def lexical(self) -> LexicalIndex:
        return self._lexical

    @property
    def continuity(self) -> int:
        """Always the same: what undoes commits here ends this process as well."""
        return 0

    def all(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> list[Row]:
        return list(self._cursor.execute(sql, parameters))

    def first(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> Row | None:
        # Read to the end: a statement left in the middle would keep the transaction from committing.
        rows = self.all(sql, parameters)
        return rows[0] if rows else None

    def run(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> int:
        for _ in self._cursor.execute(sql, parameters):
            pass
        return int(self._connection.changes())

    def run_many(self, sql: str, rows: Iterable[Parameters]) -> None:
        self._cursor.executemany(sql, rows)

    def stream(self, sql: str) -> Iterator[Row]:
        """The rows of a statement as they are read; for more than memory holds."""
        return iter(self._connection.cursor().execute(sql))

    def tables(self) -> set[str]:
        return {str(row[0]) for row in self.all("SELECT name FROM sqlite_schema WHERE type = 'table'")}

    def script(self, sql: str) -> None:
        """Execute several statements; for migrations."""
        for _ in self._cursor.execute(sql):
            pass


class Memory(NamedTuple):
    """How much of a file a connection keeps in memory: bytes that are mapped, and pages of its own."""

    mapped_bytes: int
    page_cache_kib: int


_MUCH = Memory(128 << 20, 65_536)
LITTLE: Final = Memory(0, 4_096)
"""For a file that is written more than it is read."""


class SqliteDatabase:
    """A pool of connections to one file; threads may share it.

    `lock_seconds` bounds how long a writer waits for writers of other processes. `prepare` is called
    before the first transaction, and before the next one as long as it fails. `traces` is where
    traces are kept, the same file if it is not given. Each connection may take so much `memory`.
    """

    def __init__(
        self,
        path: Path,
        lock_seconds: float = 30.0,
        *,
        prepare: Callable[[SqliteDatabase], object] | None = None,
        traces: SqliteDatabase | None = None,
        memory: Memory = _MUCH,
    ) -> None:
        self._path = path
        self._memory = memory
        self._lock_seconds = lock_seconds
        self._prepare = self._prepare_anew = prepare
        self._preparing = threading.RLock()
        self._is_being_prepared = False
        self._traces = traces
        self._lexical = Fts5Index()
        self._writing = threading.Lock()
        self._idle_readers: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._closed = False

    @property
    def is_for_many_machines(self) -> bool:
        return False

    @property
    def traces(self) -> SqliteDatabase:
        return self._traces or self

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        self._make_ready()
        with self._translated():
            connection = self._reader()
            connection.execute("BEGIN")
            try:
                yield SqliteTransaction(connection, self._lexical)
            finally:
                _end(connection, "ROLLBACK")
                if self._closed or len(self._idle_readers) >= _MOST_IDLE_READERS:
                    # Each keeps pages of its own; those of a moment with many readers are not kept for good.
                    connection.close()
                else:
                    self._idle_readers.append(connection)

    @contextmanager
    def write(self, *, durable: bool = True, lock_seconds: float | None = None) -> Iterator[SqliteTransaction]:
        self._make_ready()
        patience = self._lock_seconds if lock_seconds is None else lock_seconds
        # Threads of this process queue here, in order, instead of polling SQLite's own lock.
        if not self._writing.acquire(timeout=patience):
            raise LibraryLocked(path=self._path, seconds=patience)
        try:
            with self._translated():
                if self._writer is None:
                    self._writer = self._connect(writable=True)
                connection = self._writer
                connection.set_busy_timeout(int(patience * 1000))
                # In WAL mode NORMAL leaves the sync to the next checkpoint or FULL commit.
                connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield SqliteTransaction(connection, self._lexical)
                    connection.execute("COMMIT")
                finally:
                    _end(connection, "ROLLBACK")
        finally:
            self._writing.release()

    def _make_ready(self) -> None:
        """Call `prepare`; its own transactions find nothing to do here, other threads wait for it."""
        if self._prepare is None:
            return
        with self._preparing:
            if self._prepare is None or self._is_being_prepared:
                return
            self._is_being_prepared = True
            try:
                self._prepare(self)
                self._prepare = None
            finally:
                self._is_being_prepared = False

    def _reader(self) -> apsw.Connection:
        try:
            return self._idle_readers.pop()
        except IndexError:
            return self._connect(writable=False)

    @contextmanager
    def commits(self) -> Iterator[Callable[[], int]]:
        """A number that changes with every commit of another connection, which all others here are."""
        self._make_ready()
        with self._translated():
            connection = self._connect(writable=False)
            try:
                yield lambda: int(connection.execute("PRAGMA data_version").get)
            finally:
                connection.close()

    def integrity_problems(self) -> list[str]:
        """SQLite's own verdict on the file; empty when it is sound.

        It is given on a new connection: on a used one FTS5 compares the file with what it remembers
        of it, and calls it damaged where others have written since.
        """
        try:
            with self._translated():
                connection = self._connect(writable=False)
                try:
                    return [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
                finally:
                    connection.close()
        except (LibraryDamaged, NotALibrary) as error:
            return [str(error.details["reason"])]

    def copy_to(self, target: Path, watch: Callable[[int, int], None] | None = None) -> None:
        """Write one moment of the database to a new file, whole, while others read and write on.

        `watch` is told how many pages are done, and of how many. The copy is one file without a log
        beside it, and safe from a power failure. Raises `DiskFull` or `LibraryReadOnly` for the copy,
        and what reading raises.
        """
        with self._translated():
            source = self._connect(writable=False)
            try:
                # Holding a snapshot keeps the copy of one moment, and from starting again at each commit of others.
                source.execute("BEGIN")
                list(source.execute("PRAGMA schema_version"))
                _copy_pages(source, target, watch or _unwatched)
            finally:
                source.close()

    def size(self) -> int:
        """Bytes on disk, those of the write-ahead log included."""
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def indexed_tokens(self, number: int) -> Iterator[tuple[int, str, str]]:
        """Every token in a lexical index, as often as it stands there, as (chunk key, field, token)."""
        with self._translated():
            connection = self._connect(writable=False)
            try:
                # The table that shows them is a temporary one, and belongs to this connection alone.
                connection.execute("PRAGMA query_only = OFF")
                connection.execute(
                    f"CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, lexical_{int(number)}, instance)"
                )
                yield from connection.execute("SELECT doc, col, term FROM temp.tokens")
            finally:
                connection.close()

    def indexed_postings(self, number: int) -> Iterator[tuple[int, Posting]]:
        """Every chunk of a lexical index with its tokens, those of one field in no order. They are sorted on disk."""
        with self._translated():
            connection = self._connect(writable=False)
            try:
                connection.execute("PRAGMA query_only = OFF; PRAGMA temp_store = FILE")
                connection.execute(
                    f"CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, lexical_{int(number)}, instance)"
                )
                indexed = f"SELECT id, NULL, NULL FROM lexical_{int(number)}_docsize"
                rows = connection.execute(f"SELECT doc, col, term FROM temp.tokens UNION ALL {indexed} ORDER BY 1")
                for key, of_chunk in groupby(rows, key=itemgetter(0)):
                    yield int(key), _posting(of_chunk)
            finally:
                connection.close()

    def orphans(self) -> list[tuple[str, str, int]]:
        """Rows whose owner is gone although a foreign key names it, as (table, owner's table, how many)."""
        with self.read() as tx:
            rows = tx.all('SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2')
        return [(str(table), str(parent), int(count)) for table, parent, count in rows]

    def drop_orphans(self, table: str) -> int:
        """Delete those rows of a table, and return how many there were."""
        with self._translated():
            connection = self._connect(writable=True)
            try:
                # Rows that belong to an orphan are orphans next, and must not keep it.
                connection.execute("PRAGMA foreign_keys = OFF")
                connection.execute(
                    f'DELETE FROM "{table}" WHERE rowid IN (SELECT rowid FROM pragma_foreign_key_check(:table))',
                    {"table": table},
                )
                return int(connection.changes())
            finally:
                connection.close()

    def set_aside(self) -> Path:
        """Rename the file, with what lies beside it, so that a new one is made when it is next used."""
        with self._writing:
            for connection in [*self._idle_readers, *([self._writer] if self._writer else [])]:
                connection.close()
            self._idle_readers.clear()
            self._writer = None
            aside = self._path.with_name(f"{self._path.name}.damaged-{time.time_ns()}")
            os.replace(self._path, aside)
            for suffix in ("-wal", "-shm"):
                beside = self._path.with_name(f"{self._path.name}{suffix}")
                if beside.exists():
                    os.replace(beside, aside.with_name(f"{aside.name}{suffix}"))
            self._prepare = self._prepare_anew
        return aside

    def exists(self) -> bool:
        return self._path.exists()

    def leave_one_file(self) -> None:
        """Put what lies in the write-ahead log into the file, safe from a power failure; then nothing is beside it.

        Raises `DiskFull` or what writing raises.
        """
        with self._writing, self._translated():
            while self._idle_readers:
                self._idle_readers.pop().close()
            if self._writer is None:
                self._writer = self._connect(writable=True)
            self._writer.execute("PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE")
            self._writer.close()
            self._writer = None

    def close(self) -> None:
        if self._traces is not None:
            self._traces.close()
        with self._writing:
            self._closed = True
            for connection in [*self._idle_readers, *([self._writer] if self._writer else [])]:
                connection.close()
            self._idle_readers.clear()
            self._writer = None

    def _connect(self, *, writable: bool) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if writable else 0)
        connection = apsw.Connection(str(self._path), flags=flags, statementcachesize=_STATEMENTS_KEPT)
        connection.set_busy_timeout(int(self._lock_seconds * 1000))
        # Otherwise SQLite plans a statement anew for each set of parameters that might change the plan: without
        # statistics they never do, and planning a large statement takes longer than most take to run.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        if writable:
            self._keep_a_write_ahead_log(connection)
        for pragma in (
            "synchronous = FULL",
            "foreign_keys = ON",
            f"cache_size = -{self._memory.page_cache_kib}",
            "temp_store = MEMORY",
            f"mmap_size = {self._memory.mapped_bytes}",
            f"wal_autocheckpoint = {_CHECKPOINT_PAGES}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        if not writable:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def _keep_a_write_ahead_log(self, connection: apsw.Connection) -> None:
        """Set a new file's journal mode, which the file remembers.

        For this one statement SQLite refuses at once where others are opening the file as well,
        without its busy timeout (https://www.sqlite.org/c3ref/busy_handler.html: a deadlock).
        """
        deadline = time.monotonic() + self._lock_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except apsw.BusyError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            raise _storage_error(error, self._path, self._lock_seconds) from error
        except UnicodeEncodeError as error:
            raise half_a_character(error) from error


def sqlite_version() -> str:
    """The version of SQLite, and whether it has what we need of it."""
    connection = apsw.Connection(":memory:")
    version, has_fts5 = connection.execute("SELECT sqlite_version(), sqlite_compileoption_used('ENABLE_FTS5')").get
    connection.close()
    return f"{version} {'with' if has_fts5 else 'without'} FTS5"


def _copy_pages(source: apsw.Connection, target: Path, watch: Callable[[int, int], None]) -> None:
    try:
        copy = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            copy.execute("PRAGMA synchronous = OFF")
            with copy.backup("main", source, "main") as pages:
                while not pages.done:
                    pages.step(_PAGES_COPIED_AT_ONCE)
                    watch(pages.page_count - pages.remaining, pages.page_count)
            # The copied header asks for a write-ahead log; without, nothing is ever left beside the copy.
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
        with target.open("rb") as file:
            os.fsync(file.fileno())
    except apsw.FullError as error:
        raise DiskFull(path=target) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        raise LibraryReadOnly(path=target, reason=str(error)) from error


def _unwatched(done: int, total: int) -> None:
    pass


def _posting(rows: Iterable[Row]) -> Posting:
    """One chunk's tokens as (key, field, token); whatever the chunk holds, a row without a field is among them."""
    fields: dict[str, list[str]] = {"name": [], "heading": [], "body": [], "alias": []}
    for _, field, token in rows:
        if field is not None:
            fields[field].append(token)
    name, heading, body, alias = (" ".join(tokens) for tokens in fields.values())
    return Posting(name, heading, body, alias)


def _end(connection: apsw.Connection, how: str) -> None:
    if connection.in_transaction:
        connection.execute(how)


def _storage_error(error: apsw.Error, path: Path, lock_seconds: float) -> WenyuanError:
    """What an error of SQLite means to the caller; a mistake in our own SQL is nobody's damaged library."""
    match error:
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return LibraryLocked(path=path, seconds=lock_seconds)
        case apsw.FullError():
            return DiskFull(path=path)
        case apsw.IOError() if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
            # The index of the write-ahead log has no room to grow.
            return DiskFull(path=path)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return LibraryReadOnly(path=path, reason=str(error))
        case apsw.NotADBError():
            return NotALibrary(path=path, reason=str(error))
        case apsw.CorruptError() | apsw.IOError() | apsw.FormatError():
            return LibraryDamaged(path=path, reason=str(error))
        case _:
            return WenyuanError(reason=f"{type(error).__name__}: {error}")
