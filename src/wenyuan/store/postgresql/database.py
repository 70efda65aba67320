"""The PostgreSQL database: one writer at a time in a library, readers never wait.

`write()` takes the library's advisory lock with its first statement and keeps it until the commit, so
that what a transaction has read is still so when it writes, as on SQLite. The lock belongs to the
transaction: however its connection ends, the server lets go of both.
"""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

from wenyuan.errors import DatabaseUnreachable, LibraryLocked, LibraryNewer, NotWithPostgres, WenyuanError
from wenyuan.store.database import NO_PARAMETERS, LexicalIndex, Parameters, Row, half_a_character
from wenyuan.store.migrate import TRACES, known_migrations
from wenyuan.store.postgresql.connections import Address, Connection, bound, connect, storage_error, translated
from wenyuan.store.postgresql.copying import copy_out
from wenyuan.store.postgresql.lexical import PostingsIndex

CHANNEL = "wenyuan_jobs"
"""What the trigger on jobs notifies when there is one to be done."""

APPLIED = {"": "schema_migrations", TRACES: "schema_migrations_traces", "postgresql": "schema_migrations_postgresql"}
"""Which migrations of each kind were applied."""

# No two databases of a process ever have the same, but for the one that they begin with.
_CONTINUITIES = count(1)
_LOCKS = 0x57656E79
_LIBRARY, _TRACES = 1, 2
_MOST_READERS = 24
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TRAILER = b"\xff\xff"
_CONNECT_SECONDS = 10.0
_ROWS_STREAMED = 500
_RECONNECT_SECONDS = 1.0


class PostgresTransaction:
    """One transaction on one connection; both a `Reading` and a `Writing`."""

    def __init__(
        self, connection: Connection, lexical: LexicalIndex, now: int | None = None, continuity: int = 0
    ) -> None:
        self.continuity = continuity
        self._cursor = connection.cursor(binary=True)
        self._lexical = lexical
        self._is_writing = now is not None
        self._now = now
        self._seen: dict[tuple[str, object], Row | None] = {}

    @property
    def now(self) -> int:
        if self._now is None:
            self._now = int(self.all("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")[0][0])
        return self._now

    @property
    def lexical(self) -> LexicalIndex:
        return self._lexical

    def all(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> list[Row]:
        cursor = self._cursor.execute(bound(sql), parameters)
        return cursor.fetchall() if cursor.description is not None else []

    def first(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> Row | None:
        rows = self.all(sql, parameters)
        return rows[0] if rows else None

    def once(self, sql: str, name: str, value: object) -> Row | None:
        """The first row of a statement with one parameter; who only reads would see the same again."""
        if self._is_writing:
            return self.first(sql, {name: value})
        if (sql, value) not in self._seen:
            self._seen[sql, value] = self.first(sql, {name: value})
        return self._seen[sql, value]

    def run(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> int:
        return max(0, self._cursor.execute(bound(sql), parameters).rowcount)

    def run_many(self, sql: str, rows: Iterable[Parameters]) -> None:
        self._cursor.executemany(bound(sql), rows)

    def stream(self, sql: str) -> Iterator[Row]:
        """The rows of a statement, some at a time; for more than memory holds."""
        with self._cursor.connection.cursor(name="stream", binary=True) as cursor:
            cursor.itersize = _ROWS_STREAMED
            cursor.execute(sql.encode())
            yield from cursor

    def copy_values(self, sql: str, rows: Iterable[Row]) -> None:
        """Execute a `COPY … FROM STDIN` with rows of any values, as they come."""
        with self._cursor.connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def copy_rows(self, sql: str, rows: Iterable[Sequence[bytes]]) -> None:
        """As one message: https://www.postgresql.org/docs/current/sql-copy.html, binary format."""
        pieces = [_COPY_HEADER]
        for row in rows:
            pieces.append(len(row).to_bytes(2, "big"))
            for value in row:
                pieces.append(len(value).to_bytes(4, "big"))
                pieces.append(value)
        pieces.append(_COPY_TRAILER)
        with self._cursor.copy(sql.encode()) as copy:
            copy.write(b"".join(pieces))

    def script(self, sql: str) -> None:
        """Execute several statements; for migrations."""
        self._cursor.connection.execute(sql.encode())


class _Readers:
    """Idle connections, of which there are only so many in a process; threads may share them."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._idle: list[Connection] = []
        self._free = threading.BoundedSemaphore(_MOST_READERS)
        self._closed = False
        self.continuity = 0

    def note_loss(self) -> None:
        """A connection was lost: the server may have crashed, and with it what it had not yet written of commits."""
        self.continuity = next(_CONTINUITIES)

    @contextmanager
    def begun(self, patience: float) -> Iterator[Connection]:
        """A connection with a transaction that has just begun."""
        if not self._free.acquire(timeout=patience):
            raise LibraryLocked(path=self._address, seconds=patience)
        try:
            connection = self._begin()
            try:
                yield connection
            finally:
                self._put_back(connection)
        finally:
            self._free.release()

    def _begin(self) -> Connection:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            if _has_begun(connection):
                return connection
            # It is gone, as all are after a restart of the server.
            connection.close()
            self.note_loss()
        connection = connect(self._address)
        connection.execute(_BEGIN_READING)
        return connection

    def _put_back(self, connection: Connection) -> None:
        """Begin the next transaction already, and wait for that when it is needed.

        Before its first statement a transaction sees nothing and keeps nothing from being cleaned up.
        """
        if not connection.closed and not self._closed:
            try:
                connection.pgconn.send_query(f"ROLLBACK; {_BEGIN_READING}".encode())
                if connection.pgconn.flush() == 0:
                    self._idle.append(connection)
                    return
            except psycopg.Error:
                # Whatever it was that went wrong was told where it happened.
                pass
        connection.close()
        if not self._closed:
            self.note_loss()

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()


def _has_begun(connection: Connection) -> bool:
    """Whether the transaction that was asked for has begun; False where the connection is lost."""
    pgconn = connection.pgconn
    try:
        while True:
            while pgconn.is_busy():
                _has_come(pgconn.socket, _CONNECT_SECONDS)
                pgconn.consume_input()
            if pgconn.get_result() is None:
                break
        # Where something comes unasked, it is the end of the connection.
        unasked = _has_come(pgconn.socket, 0.0)
    except (psycopg.Error, OSError):
        return False
    return not unasked and connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS


def _has_come(descriptor: int, seconds: float) -> bool:
    """Whether something has come, waited for so long. Not by `select`, which knows no descriptor above 1,023."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


class PostgresDatabase:
    """One library in one database; threads may share it.

    `lock_seconds` bounds how long a writer waits for others. Traces lie in the same database, and are
    written under a lock of their own.
    """

    def __init__(self, url: str, lock_seconds: float = 30.0, *, _library: PostgresDatabase | None = None) -> None:
        self.address = Address(url)
        self._lock_seconds = lock_seconds
        self._lock = _LIBRARY if _library is None else _TRACES
        self._readers: _Readers = _Readers(self.address) if _library is None else _library._readers
        self._lexical: LexicalIndex = PostingsIndex() if _library is None else _library._lexical
        self._writing = threading.Lock()
        self._writer: Connection | None = None
        self._traces = PostgresDatabase(url, lock_seconds, _library=self) if _library is None else None

    @property
    def is_for_many_machines(self) -> bool:
        return True

    @property
    def traces(self) -> PostgresDatabase:
        return self._traces or self

    @contextmanager
    def read(self) -> Iterator[PostgresTransaction]:
        with self._translated(), self._readers.begun(self._lock_seconds) as connection:
            yield PostgresTransaction(connection, self._lexical, continuity=self._readers.continuity)

    @contextmanager
    def write(self, *, durable: bool = True, lock_seconds: float | None = None) -> Iterator[PostgresTransaction]:
        patience = self._lock_seconds if lock_seconds is None else lock_seconds
        # Threads of this process queue here, and need one connection between them.
        if not self._writing.acquire(timeout=patience):
            raise LibraryLocked(path=self.address, seconds=patience)
        try:
            with self._translated(patience):
                connection, now = self._begin(patience, durable=durable)
                try:
                    yield PostgresTransaction(connection, self._lexical, now, self._readers.continuity)
                    connection.execute("COMMIT")
                finally:
                    self._end(connection)
        finally:
            self._writing.release()

    @contextmanager
    def _translated(self, patience: float = 0.0) -> Iterator[None]:
        """Errors as ours; where nobody could foresee one, the schema may have become another meanwhile."""
        try:
            yield
        except psycopg.Error as error:
            told = storage_error(error, self.address, patience)
            if type(told) is WenyuanError:
                self._require_known_schema(error)
            raise told from error
        except UnicodeEncodeError as error:
            raise half_a_character(error) from error

    def _require_known_schema(self, error: psycopg.Error) -> None:
        with translated(self.address), connect(self.address) as connection:
            for kind, table in APPLIED.items():
                row = connection.execute(f"SELECT max(number) FROM {table}".encode()).fetchone()
                known = known_migrations(kind)[-1].number
                if row is not None and int(row[0]) > known:
                    raise LibraryNewer(path=self.address, found=int(row[0]), known=known) from error

    def _begin(self, patience: float, *, durable: bool) -> tuple[Connection, int]:
        """Begin to write. Every statement sees what was committed before it, and only this one waits for others."""
        begin = (
            f"BEGIN; SET LOCAL lock_timeout = {max(1, int(patience * 1000))}; "
            f"SET LOCAL synchronous_commit = {'on' if durable else 'off'}; "
            f"SELECT pg_advisory_xact_lock({_LOCKS}, {self._lock}), "
            "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
        )
        while True:
            is_new = self._writer is None
            if self._writer is None:
                self._writer = connect(self.address)
            try:
                cursor = self._writer.execute(begin.encode())
                while cursor.nextset():
                    pass
                row = cursor.fetchone()
            except psycopg.OperationalError:
                # It may have been gone before: then nothing was begun, and a new one tells why it fails.
                was_lost = self._writer.closed
                self._end(self._writer)
                if is_new or not was_lost:
                    raise
            else:
                return self._writer, int(row[1]) if row is not None else 0

    def _end(self, connection: Connection) -> None:
        """Roll back what was not committed; a connection in doubt is given up, and with it what it held."""
        try:
            if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        except psycopg.Error:
            connection.close()
        if connection.closed:
            self._writer = None
            self._readers.note_loss()

    @contextmanager
    def commits(self) -> Iterator[Callable[[], int]]:
        """A number that changes when a job is there to be done; nothing is asked of the server to see it."""
        listener = _Listener(self.address)
        try:
            yield listener.count
        finally:
            listener.close()

    # --- Looking after it ------------------------------------------------------------------------

    def exists(self) -> bool:
        return True

    def integrity_problems(self) -> list[str]:
        """PostgreSQL checks its pages as it reads them, and its own tools check more."""
        return []

    def orphans(self) -> list[tuple[str, str, int]]:
        """None: foreign keys hold here."""
        return []

    def drop_orphans(self, table: str) -> int:  # noqa: ARG002
        return 0

    def set_aside(self) -> Path:
        raise NotWithPostgres(what="Setting traces aside", remedy="Restore the database with PostgreSQL's own tools")

    def indexed_tokens(self, number: int) -> Iterator[tuple[int, str, str]]:
        """Every token in a lexical index, as often as it stands there, as (chunk key, field, token)."""
        with self.read() as tx:
            yield from PostingsIndex().tokens(tx, number)

    def copy_to(self, target: Path, watch: Callable[[int, int], None] | None = None) -> None:
        """Write one moment of it to a new SQLite file, as `wenyuan.store.postgresql.copying` says."""
        with self.read() as tx:
            copy_out(tx, target, TRACES if self._lock == _TRACES else "", watch or _unwatched)

    def size(self) -> int:
        """Bytes that the database takes on the server."""
        with self.read() as tx:
            return int(tx.all("SELECT pg_database_size(current_database())")[0][0])

    def close(self) -> None:
        if self._traces is not None:
            self._traces.close()
            self._readers.close()
        with self._writing:
            if self._writer is not None:
                self._writer.close()
                self._writer = None


def _unwatched(done: int, total: int) -> None:
    pass


class _Listener:
    """Counts notifications, on a connection of its own that is made again when it is lost; for one thread."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._count = 0
        self._again_at = 0.0
        self._connection: Connection | None = None
        self._listen()

    def count(self) -> int:
        if self._connection is None and time.monotonic() >= self._again_at:
            # What happened meanwhile is not known, so there may be something.
            self._count += 1
            self._listen()
        if self._connection is not None:
            try:
                self._count += sum(1 for _ in self._connection.notifies(timeout=0))
            except psycopg.Error:
                self._lose()
        return self._count

    def _listen(self) -> None:
        try:
            self._connection = connect(self._address)
            self._connection.execute(f"LISTEN {CHANNEL}".encode())
        except (psycopg.Error, DatabaseUnreachable):
            # Work is looked for now and then anyhow; whoever asks the database meets the same error.
            self._lose()

    def _lose(self) -> None:
        self.close()
        self._again_at = time.monotonic() + _RECONNECT_SECONDS

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
