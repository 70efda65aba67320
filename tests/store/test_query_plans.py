"""No statement reads a whole table where an index leads to the rows it wants.

SQLite plans without statistics here, as it does in a library, so that what is planned for an empty
one is what happens in a large one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.store.portable_sql import Statement, shared_statements
from wenyuan.store.sqlite import SqliteDatabase

pytestmark = pytest.mark.only_sqlite

# What reads much on purpose, by a piece of its text: checks read everything, some tables are small,
# and some questions are asked by a person, now and then.
_MAY_SCAN = {
    "FROM knowledge_bases ORDER BY created_at, id LIMIT 1": "knowledge_bases",
    "(SELECT count(*) FROM documents WHERE deleted_at IS NULL)": "documents",
    "(SELECT coalesce(sum(size), 0) FROM blobs)": "blobs",
    "FROM vectors AS v WHERE NOT EXISTS": "v",
    "FROM schema_migrations": "schema_migrations",
    "FROM file_passwords": "file_passwords",
    "r.without_vectors = 1": "r",
    "(SELECT 1 FROM sessions": "knowledge_bases",
    "FROM traces": "traces",
    " provider_limits ": "provider_limits",
    "UPDATE provider_calls": "provider_calls",
    "SELECT id FROM knowledge_bases WHERE change_number": "knowledge_bases",
}
# Indexes that hold live jobs alone.
_LIVE_JOBS = {
    "SCAN jobs USING COVERING INDEX jobs_queued",
    *(f"SCAN jobs USING INDEX jobs_{which}" for which in ("begun", "running", "waiting")),
}
_ALIAS = re.compile(r"SCAN (\w+)(.*)")


def _steps(database: SqliteDatabase, sql: str) -> list[str]:
    parameters = dict.fromkeys(re.findall(r":([a-z_0-9]+)", sql), 1)
    with (database.traces if " traces" in sql or " evaluation_runs " in sql else database).read() as tx:
        return [str(row[3]) for row in tx.all(f"EXPLAIN QUERY PLAN {sql}", parameters)]


def _objections(database: SqliteDatabase, sql: str) -> Iterator[str]:
    """What is wrong with the plan of a statement."""
    steps = _steps(database, sql)
    lists = set(re.findall(r"json_each\(:\w+\) AS (\w+)", sql)) | {"json_each"}
    named = set(re.findall(r"(\w+) AS \(SELECT", sql))
    made_here = named | {alias for source, alias in re.findall(r"FROM (\w+) AS (\w+)", sql) if source in named}
    for step in steps:
        match = _ALIAS.fullmatch(step)
        if match is None or match[1] in lists | made_here | {"CONSTANT"} or step in _LIVE_JOBS:
            continue
        if not any(piece in sql and match[1] == table for piece, table in _MAY_SCAN.items()):
            yield f"reads a whole table: {step}"
    # A list that was given leads; where it comes last, it is read again for each row of a table.
    tables = [match[1] for step in steps if (match := re.match(r"(?:SCAN|SEARCH) (\w+)", step))]
    if "FROM json_each" in sql.split(" WHERE ")[0] and tables[0] not in lists:
        yield f"does not begin with its list: {steps[0]}"


def _searching() -> list[Statement]:
    return [one for one in shared_statements() if ".checking." not in one.place and not one.sql.startswith("CREATE ")]


def test_every_statement_is_led_to_its_rows(database: SqliteDatabase) -> None:
    objections = {one.place: list(_objections(database, one.sql)) for one in _searching()}
    assert {place: why for place, why in objections.items() if why} == {}


def test_what_may_scan_still_does(database: SqliteDatabase) -> None:
    scanning = {
        piece
        for piece, table in _MAY_SCAN.items()
        for one in _searching()
        if piece in one.sql and any(step.startswith(f"SCAN {table}") for step in _steps(database, one.sql))
    }
    assert scanning == set(_MAY_SCAN)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c.key FROM json_each(:keys) AS j JOIN chunks AS c ON c.key = CAST(j.value AS BIGINT) JOIN documents "
        "AS d ON d.serving_revision_id = c.revision_id AND d.knowledge_base_id = :id AND d.deleted_at IS NULL",
        "SELECT text FROM chunks WHERE context = :context",
        "DELETE FROM vectors WHERE input_hash = :hash",
        "SELECT id FROM jobs WHERE state IN ('queued', 'running') ORDER BY priority LIMIT 1",
    ],
)
def test_a_statement_that_reads_too_much_is_found(database: SqliteDatabase, sql: str) -> None:
    assert list(_objections(database, sql)) != []
