"""Every shared statement is understood by PostgreSQL, and means the same there as on SQLite."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from tests.postgres_server import library_database
from tests.store.library_builder import EVERYTHING, Added, Draft, LibraryBuilder, unit_rows
from tests.store.portable_sql import (
    Statement,
    UnknownStatementError,
    numbered,
    shared_statements,
    source_of,
    statements_of,
    store_modules,
)
from wenyuan.errors import FileEmpty
from wenyuan.rules.filters import read_filters
from wenyuan.rules.pacing import Pace, bucket_of_requests, bucket_of_tokens
from wenyuan.store import (
    blobs,
    chunks,
    documents,
    fields,
    indexes,
    job_changes,
    journal,
    knowledge_bases,
    limits,
    purging,
    queue,
    vectors,
)
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.checking.rows import ROW_CHECKS
from wenyuan.store.database import Row, Writing
from wenyuan.store.postgresql.opening import open_postgres
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import (
    LOCAL_PRINCIPAL,
    DateSpan,
    IndexKind,
    JobKind,
    Key,
    KeyKind,
    KeySource,
    KnowledgeBase,
    Lease,
    Scope,
)

# The story is told to both by one test.
pytestmark = pytest.mark.only_sqlite


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with library_database() as address:
        yield address


def _refusal(connection: psycopg.Connection[Row], sql: str) -> str:
    """Why PostgreSQL does not understand a statement; empty if it does."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(f"PREPARE tried AS {numbered(sql)}".encode())
            connection.execute("DEALLOCATE tried")
    except psycopg.Error as error:
        return str(error)
    return ""


def test_postgresql_understands_every_shared_statement(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        # What makes a table cannot be prepared.
        told = [one for one in shared_statements() if not one.sql.startswith("CREATE ")]
        refused = {one.place: _refusal(connection, one.sql) for one in told}
    assert {place: why for place, why in refused.items() if why} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT OR REPLACE INTO counters (name, value) VALUES (:name, :value)",
        "SELECT unixepoch('subsec')",
        "SELECT name, max(value) FROM counters",
        "SELECT value FROM counters WHERE name GLOB :pattern",
        "SELECT sum(is_default = 1) FROM knowledge_bases",
        "SELECT name FROM counters ORDER BY value LIMIT :first, :count",
        "UPDATE counters AS c SET c.value = 1",
        "SELECT no_such_column FROM counters",
        'SELECT name FROM counters WHERE name = "chunk"',
    ],
)
def test_a_statement_of_sqlite_alone_is_refused(address: str, sql: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        assert _refusal(connection, sql) != ""


# --- Meaning -------------------------------------------------------------------------------------


def _day(text: str) -> int:
    return datetime.date.fromisoformat(text).toordinal()


def _date(first: str, last: str, source: KeySource) -> Key:
    return Key("date", first, source, None, _day(first), _day(last))


def timeless(value: Any) -> Any:
    """The same, with every moment replaced by whether there is one."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {
            name: bool(inner) if name.endswith(("_at", "_until", "_after", "_since")) else timeless(inner)
            for name, inner in fields.items()
        }
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [timeless(inner) for inner in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _documents(library: LibraryBuilder) -> tuple[KnowledgeBase, list[Added]]:
    base = library.knowledge_base("research 研究", embedding_model="m")
    other = library.knowledge_base("other", is_default=True)
    month, day = _date("2026-04-01", "2026-04-30", "heading"), _date("2026-04-14", "2026-04-14", "body")
    one = library.published(
        base,
        "/一.md",
        Draft("first", ("h",), "c", (day,)),
        Draft("second", keys=(month,)),
        whole=[_date("2026-04-14", "2026-04-14", "filename")],
        metadata={"author": ["王伟", "Li"], "year": 2026, "published": "2026-04-14"},
    )
    two = library.published(
        base, "/two.md", Draft('it\'s 100% "quoted" %s', keys=(Key("code", "ppr9087", "title"), day))
    )
    off, gone = (
        library.published(base, "/off.md", Draft("off", keys=(day,))),
        library.published(base, "/gone.md", "gone"),
    )
    for added in (one, two, off):
        library.embed(added, unit_rows(np.random.default_rng(7), len(added.chunk_keys)))
    revised = library.stage(library.revise(two.document, b"new"), "revised")
    late = library.stage(library.revise(one.document, b"late"), "late")
    newest = library.stage(library.revise(one.document, b"newest"), Draft("newest", keys=(month,)))
    pending, failed = library.add(base, "/pending.md"), library.add(other, "/failed.md")
    library.publish(newest, {"author": "王 伟", "year": 2.5, "meta": {"a": "x"}, "published": "2026"})
    library.publish(late)
    with library.database.write() as tx:
        documents.switch(tx, off.document, enabled=False)
        documents.hide(tx, gone.document.id, base.id)
        documents.set_state(tx, failed.revision_id, "failed", "reading", FileEmpty(name="x").problem("reading", 1))
    return base, [one, two, off, gone, revised, late, newest, pending, failed]


def _what_is_found(library: LibraryBuilder, base: KnowledgeBase, added: list[Added]) -> list[Any]:
    everything = [key for one in added for key in one.chunk_keys]
    spans = [DateSpan(_day(day), _day(day), "", 0, 0, "iso") for day in ("2026-04-14", "2026-04-30")]
    values: list[tuple[KeyKind, str]] = [("code", "ppr9087"), ("version", "1.0"), ("name", "it's")]
    query = unit_rows(np.random.default_rng(8), 1)[0]
    generation, model = library.vector(base.id), library.model_key()
    found: list[Any] = []
    for only in (None, (), (added[1].document.id,), (added[0].document.id, added[2].document.id)):
        scope = Scope(LOCAL_PRINCIPAL, None, only)
        with library.database.read() as tx:
            found += [
                chunks.live(tx, base.id, scope, everything),
                chunks.passages(tx, base.id, scope, everything),
                chunks.structured(tx, base.id, scope, spans, values, 50),
                chunks.structured(tx, base.id, scope, spans[1:], [], 50),
                chunks.structured(tx, base.id, scope, [], values, 1),
                sorted(vectors.live_documents(tx, generation.id, base.id, only), key=lambda one: one.document_id),
                vectors.packed_codes(tx, generation.id, [one.revision_id for one in added]),
                VectorCache().search(tx, generation, model, query, only, 10),
            ]
    filters: list[dict[str, Any]] = [
        {"author": ["王 伟", "li"], "year": {"from": -1, "to": 3}},
        {"meta.a": {"prefix": "x"}, "media_type": "text/plain", "path": {"prefix": "/"}},
        {"published": {"from": "2026-03"}},
        {"name": {"prefix": "一"}, "date": {"from": "2026-01", "to": "2026-12"}},
    ]
    for conditions in map(read_filters, filters):
        with library.database.read() as tx:
            found += [
                fields.narrowed(tx, base.id, replace(EVERYTHING, conditions=conditions)),
                fields.meeting(tx, conditions, [one.revision_id for one in added]),
                chunks.passages(tx, base.id, replace(EVERYTHING, conditions=conditions), everything),
            ]
    with library.database.read() as tx:
        found += [
            documents.listed(tx, base.id, limit=3),
            [documents.find(tx, LOCAL_PRINCIPAL, one.document.source) for one in added[:3]],
            documents.find_by_source(tx, base.id, "/一.md"),
            [documents.revision(tx, one.revision_id) for one in added],
            documents.unfinished_revisions(tx, added[1].document.id),
            [knowledge_bases.document_counts(tx, one.id) for one in knowledge_bases.permitted(tx, EVERYTHING)],
            knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL, ("other", base.id))),
            sorted(knowledge_bases.changed_documents(tx, base.id, 2) or ()),
            knowledge_bases.default(tx, LOCAL_PRINCIPAL),
            [indexes.progress(tx, one.revision_id, kind) for one in added for kind in _KINDS],
            indexes.coverage(tx, generation),
            indexes.embedding_totals(tx, LOCAL_PRINCIPAL),
            [chunks.of_revision(tx, one.revision_id) for one in added],
            [chunks.staged(tx, one.revision_id) for one in added],
            [chunks.revision_text(tx, one.revision_id, 2, 60) for one in added],
            vectors.missing(tx, model, added[6].revision_id, -1, 5, sentences=False),
            vectors.count_missing(tx, model, added[4].revision_id),
            [list(check(tx, 20)) for check in ROW_CHECKS],
            blobs.unnamed(tx, ["0" * 64, hashlib.sha256(b"late").hexdigest()]),
        ]
    return found


_KINDS: tuple[IndexKind, ...] = ("lexical", "vector")


def _what_becomes_of_jobs(library: LibraryBuilder) -> list[Any]:
    problem = FileEmpty(name="x").problem("reading", 1)
    kinds: tuple[JobKind, ...] = ("ingest", "embed", "purge")
    for number in range(6):
        library.enqueue(kinds[number % 3], f"subject {number // 2}", "kb", priority=10 * (number % 2))
    library.enqueue("ingest", "subject 0", "kb")
    seen: list[Any] = []
    leases = []
    for _ in range(5):
        leases += queue.claim(library.database, "one", 60_000, kinds)
    ends: tuple[Callable[[Writing, Lease], None], ...] = (
        queue.finish,
        lambda tx, one: queue.fail(tx, one, problem),
        lambda tx, one: queue.wait(tx, one, problem, 9999),
    )
    for lease, end in zip(leases, ends, strict=False):
        with library.database.write() as tx:
            queue.hold(tx, lease, 60_000)
            queue.progress(tx, lease, "reading", 3, 9)
            end(tx, lease)
    with library.database.write() as tx:
        queue.cancel(tx, "revision", leases[3].job.subject_id)
        queue.release(tx, leases[4])
        # They all ended in the same moment, or not, as fast as the database is.
        tx.run("UPDATE jobs SET finished_at = 1 WHERE finished_at IS NOT NULL")
        seen += [queue.listed(tx, LOCAL_PRINCIPAL, only_live=live, limit=9) for live in (True, False)]
        seen += [queue.counts(tx), queue.workers_at_work(tx), queue.expire_leases_of(tx, "one")]
        seen += [queue.is_idle(tx), queue.opens_at(tx) is None, job_changes.last_change(tx)]
        seen += [job_changes.since(tx, LOCAL_PRINCIPAL, 3, 9), job_changes.under_way(tx, LOCAL_PRINCIPAL, 9)]
        seen += [queue.of_subject(tx, "revision", f"subject {number}") for number in range(3)]
    taken = queue.claim(library.database, "two", 0, kinds, bounds={"model": 1})
    with library.database.write() as tx:
        seen += [job_changes.has_ended(tx, 2), job_changes.forget_ended(tx, 2, 1), job_changes.forget_ended(tx, 2, 9)]
    return [*seen, leases, taken, *_what_limits_say(library)]


def _what_limits_say(library: LibraryBuilder) -> list[Any]:
    problem = FileEmpty(name="x").problem()
    pace = Pace(bucket_of_requests(10), bucket_of_tokens(100), 1)
    seen: list[Any] = []
    for call in ("a", "b"):
        with library.database.write() as tx:
            refused = limits.begin_call(tx, call, "model", "one", pace, 3, 60_000, problem)
            seen += [refused is None, limits.failures(tx, "model"), list(limits.closed(tx))]
    with library.database.write() as tx:
        limits.end_call(tx, "a", "model")
        limits.forget_calls_of(tx, "one")
        failed = limits.fail_call(tx, "c", "model", tx.now, problem, lambda failures: 9_000 * failures, is_told=False)
        limits.turn_back(tx, 1_000)
        seen += [failed.model, failed.is_told, limits.failures(tx, "model"), list(limits.closed(tx))]
    return seen


def _what_leaves(library: LibraryBuilder, added: list[Added]) -> list[Any]:
    seen: list[Any] = []
    for one in (added[3], added[0]):
        with library.database.write() as tx:
            seen += [purging.is_to_go(tx, one.revision_id, 0), purging.unindex_batch(tx, one.revision_id, -1)]
            purging.forget_index_rows(tx, one.revision_id)
            seen.append(purging.delete_text_batch(tx, one.revision_id))
            deleted = purging.delete_revision(tx, one.revision_id)
            assert deleted is not None
            _, sha256 = deleted
            seen += [deleted, library.blobs.forget_unused(tx, sha256)]
            purging.delete_document(tx, one.document.id)
    with library.database.traces.write() as tx:
        journal.keep_trace(tx, "trace", LOCAL_PRINCIPAL, "?", None, {"a": [1, "二"]})
        seen += [journal.trace(tx, LOCAL_PRINCIPAL, "trace"), journal.recent_traces(tx, LOCAL_PRINCIPAL, 5)]
        seen += [journal.count(tx), journal.forget_traces(tx, tx.now + 1)]
    with library.database.read() as tx:
        for table in ("documents", "revisions", "chunks", "keys", "vectors", "vector_codes", "changes", "blobs"):
            seen.append((table, tx.first(f"SELECT count(*) FROM {table}")))
    return seen


def _told(library: LibraryBuilder) -> list[Any]:
    base, added = _documents(library)
    found = _what_is_found(library, base, added)
    return [timeless(one) for one in (*found, *_what_becomes_of_jobs(library), *_what_leaves(library, added))]


def test_both_databases_tell_the_same_story(library: LibraryBuilder, address: str, tmp_path: Path) -> None:
    bytes_elsewhere = BlobDirectory(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    bytes_elsewhere.create()
    other = LibraryBuilder(tmp_path, open_postgres(address, 10.0, create=False), bytes_elsewhere)
    on_sqlite, on_postgresql = _told(library), _told(other)
    other.database.close()
    for ours, theirs in zip(on_sqlite, on_postgresql, strict=True):
        assert ours == theirs


# --- The collector -------------------------------------------------------------------------------


def test_no_statement_is_overlooked() -> None:
    executed = re.compile(r"\b_?tx\s*\.\s*(?:all|first|run|run_many)\s*\(")
    written = sum(len(executed.findall(source_of(name))) for name in store_modules())
    assert len(shared_statements()) == written > 80


def test_no_transaction_goes_by_another_name() -> None:
    """What is executed is looked for on `tx`, so everything that is given a transaction must call it that."""
    others = re.compile(r"\b(\w+)\s*:\s*(?:Reading|Writing)\b|(?:read|write)\([^)]*\)\s+as\s+(\w+)")
    for name in store_modules():
        if name != "wenyuan.store.database":
            named = others.findall(source_of(name))
            assert {first or second for first, second in named} <= {"tx"}, name


def test_statements_are_filled_in_with_the_constants_of_their_module() -> None:
    module = types.ModuleType("made")
    source = "\n".join(
        (
            "_COLUMNS = 'a, b'",
            "def f(tx, x):",
            "    if x.all():",
            "        tx.all('SELECT 1 '",
            "               'AS one')",
            "    for y in tx.first(f'SELECT {_COLUMNS} FROM c WHERE a = :a', {'a': x}):",
            "        tx.run_many('DELETE FROM c WHERE a = :a', ({'a': z} for z in y))",
        )
    )
    exec(source, vars(module))
    assert statements_of(module, source) == [
        Statement("made:4", "SELECT 1 AS one"),
        Statement("made:6", "SELECT a, b FROM c WHERE a = :a"),
        Statement("made:7", "DELETE FROM c WHERE a = :a"),
    ]


@pytest.mark.parametrize("sql", ["f'SELECT {x}'", "x", "'SELECT ' + x", ""])
def test_a_statement_nobody_can_foresee_is_a_mistake(sql: str) -> None:
    module = types.ModuleType("made")
    with pytest.raises(UnknownStatementError, match="made:2"):
        statements_of(module, f"def f(tx, x):\n    tx.all({sql})")


def test_parameters_are_numbered_in_order_and_not_within_quotes() -> None:
    assert numbered("SELECT ':no', a::text FROM b WHERE c = :one AND d = :two AND e = :one") == (
        "SELECT ':no', a::text FROM b WHERE c = $1 AND d = $2 AND e = $1"
    )
