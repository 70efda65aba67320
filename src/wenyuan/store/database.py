"""What we ask of a database, and the few places where two databases differ.

A statement is SQL text with `:name` parameters inside the subset that SQLite and PostgreSQL share.
Lists travel as one JSON parameter, `IN (SELECT value FROM json_each(:ids))`; the values are text to
PostgreSQL, so a number is cast, and a list within the list is taken apart with `json(value) ->> 0`.
A parameter has a type where it meets a column; elsewhere it is cast. `CROSS JOIN` fixes the order of
a join for SQLite, which plans without statistics and would not begin with a short list; PostgreSQL
orders it as it likes. Transactions are visible: everything in this package takes the transaction it
runs in as its first argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from wenyuan.errors import InvalidValue
from wenyuan.types import Posting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]
NO_PARAMETERS: Parameters = MappingProxyType({})


class Reading(Protocol):
    """A transaction that sees one moment of the database and cannot write."""

    @property
    def now(self) -> int:
        """The database's clock when the transaction began, in milliseconds since the epoch."""
        ...

    @property
    def lexical(self) -> LexicalIndex: ...

    @property
    def continuity(self) -> int:
        """A number that was not there before where commits that were not durable may have been undone.

        That is so where a server that holds the database may have ended meanwhile, and this process has not:
        what it remembers may never have happened.
        """
        ...

    def all(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> list[Row]: ...

    def first(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> Row | None: ...


class Writing(Reading, Protocol):
    """A transaction that holds the right to write from its first statement on."""

    def run(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> int:
        """Execute one statement and return how many rows it changed."""
        ...

    def run_many(self, sql: str, rows: Iterable[Parameters]) -> None: ...


class Database(Protocol):
    """Opens transactions. Never wait for a model, a file or a client inside one."""

    def read(self) -> AbstractContextManager[Reading]: ...

    def write(self, *, durable: bool = True, lock_seconds: float | None = None) -> AbstractContextManager[Writing]:
        """Commit on leaving, roll back on any exception.

        Commits are atomic, ordered and survive the end of the process in any case. With
        `durable=False` a power failure may undo the latest of them: for work that would then be
        done again, never for what a person was told is saved. `lock_seconds` bounds how long other
        writers are waited for, where the database's own patience is too much.

        Raises `LibraryLocked`, `DiskFull`, `LibraryReadOnly` or `LibraryDamaged`.
        """
        ...

    def commits(self) -> AbstractContextManager[Callable[[], int]]:
        """A number that changes when something is committed elsewhere, cheap to look at again and again.

        For one thread, to notice soon that there may be work; whatever it tells, correctness never
        depends on it.
        """
        ...

    @property
    def traces(self) -> Database:
        """Where the traces of questions are kept, which may be apart; opened when it is first used."""
        ...

    def close(self) -> None: ...


class LibraryDatabase(Database, Protocol):
    """The database of a whole library, with what looking after it asks besides."""

    @property
    def traces(self) -> LibraryDatabase: ...

    @property
    def is_for_many_machines(self) -> bool:
        """Whether programs on other machines may use it as well."""
        ...

    def exists(self) -> bool:
        """Whether it was made yet; traces are when the first one is kept."""
        ...

    def size(self) -> int:
        """Bytes that it takes."""
        ...

    def integrity_problems(self) -> list[str]:
        """The database's own verdict on its files; empty when they are sound."""
        ...

    def orphans(self) -> list[tuple[str, str, int]]:
        """Rows whose owner is gone although a foreign key names it, as (table, owner's table, how many)."""
        ...

    def drop_orphans(self, table: str) -> int:
        """Delete those rows of a table, and return how many there were."""
        ...

    def indexed_tokens(self, number: int) -> Iterator[tuple[int, str, str]]:
        """Every token in a lexical index, as often as it stands there, as (chunk key, field, token)."""
        ...

    def copy_to(self, target: Path, watch: Callable[[int, int], None] | None = None) -> None:
        """Write one moment of it to a new SQLite file, whole and safe from a power failure, while others write.

        `watch` is told how much is done, and of how much. Raises `DiskFull` or `LibraryReadOnly` for the copy, and
        what reading raises.
        """
        ...

    def set_aside(self) -> Path:
        """Rename what is damaged, so that a new one is made when it is next used."""
        ...


class LexicalIndex(Protocol):
    """Full-text search over our own tokens; one index per generation, addressed by its number.

    This is the one feature whose SQL the two databases do not share. Tokens hold no white space, no
    control characters and no capital A to Z; the same token on both sides is a match and nothing
    else is.
    """

    def create(self, tx: Writing, number: int) -> None: ...

    def drop(self, tx: Writing, number: int) -> None: ...

    def add(self, tx: Writing, number: int, postings: Iterable[tuple[int, Posting]]) -> None:
        """Index postings under their chunk keys."""
        ...

    def remove(self, tx: Writing, number: int, chunk_keys: Iterable[int]) -> None: ...

    def search(
        self,
        tx: Reading,
        number: int,
        tokens: Sequence[str],
        excluded: Sequence[str],
        limit: int,
        frequency: Mapping[str, int] | None = None,
        among: NDArray[np.int64] | None = None,
    ) -> list[tuple[int, float]]:
        """Return (chunk key, score) of chunks that hold any token and none excluded, best first.

        The score is BM25 (Robertson & Zaragoza 2009), larger is better, ties by chunk key. In a large
        index the rarest tokens choose the candidates, and frequent ones only help to rank them.
        `frequency` is the document frequency of the tokens, for callers that know it already; `among`
        the keys of the only chunks that may be returned, in order.
        """
        ...

    def document_frequency(self, tx: Reading, number: int, tokens: Sequence[str]) -> dict[str, int]:
        """Return how many chunks hold each token; staged and superseded chunks count until purged."""
        ...

    def size(self, tx: Reading, number: int) -> int:
        """Return how many chunks are indexed."""
        ...

    def keys(self, tx: Reading, number: int, after: int, limit: int) -> list[int]:
        """Return the first `limit` chunk keys above `after` that are indexed, in order."""
        ...


def half_a_character(error: UnicodeEncodeError) -> InvalidValue:
    """What a database says to text that has no encoding, such as bytes of a command line that are none in UTF-8."""
    around = error.object[max(0, error.start - 20) : error.end + 20]
    return InvalidValue(what="A text", value=around, reason="it holds half of a character (a lone surrogate)")
