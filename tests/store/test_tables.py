"""Tables in the store, on both databases: kept once, live with their document, gone with their revision."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from tests.store.library_builder import EVERYTHING, LibraryBuilder
from wenyuan.store import documents, purging, tables
from wenyuan.store.checking import check_library
from wenyuan.types import Amount, Days, Scope, TableRow, TableRows

FIRST = TableRows(
    1,
    0,
    "Herons",
    "",
    "lines",
    ("bird", "weight", "day"),
    (
        TableRow(2, 2, "", ("heron", 0.1, Days(739720, 739720, "2026-04-14"))),
        TableRow(3, 3, "", ("苍鹭", Amount(0.2, "%"), None)),
    ),
    (1, 1),
)
SECOND = replace(FIRST, start=2, rows=(TableRow(4, 4, "total", ("total", 10**20)),), merged=(1,))


def _staged(library: LibraryBuilder, name: str = "birds.csv") -> str:
    added = library.stage(library.add(library.knowledge_base("birds"), name), "heron")
    with library.database.write() as tx:
        tables.stage(tx, added.document, added.revision_id, [FIRST])
        # A crash in the middle: the file is read again.
        tables.stage(tx, added.document, added.revision_id, [FIRST, SECOND])
    library.publish(added)
    return added.revision_id


def test_what_is_read_is_what_was_kept(library: LibraryBuilder) -> None:
    revision_id = _staged(library)
    with library.database.read() as tx:
        found = list(tables.rows(tx, revision_id, 1))
        assert [row.first for row in found] == [2, 3, 4]
        assert found[0].cells == ("heron", Decimal("0.1"), Days(739720, 739720, "2026-04-14"))
        assert found[1].cells == ("苍鹭", Amount(Decimal("0.2"), "%"), None)
        assert found[2] == TableRow(4, 4, "total", ("total", 10**20))
        merged = replace(FIRST, merged=(1,))
        assert tables.of_revision(tx, revision_id) == [merged, SECOND]
        assert tables.of_revision(tx, revision_id, (1, 1)) == [SECOND]
        assert tables.of_revision(tx, revision_id, (1, 3)) == []


def test_a_table_is_live_with_its_document(library: LibraryBuilder) -> None:
    revision_id = _staged(library)
    base = _base_of(library, revision_id)
    with library.database.read() as tx:
        (stored,) = tables.live(tx, base, EVERYTHING, 10)
        assert (stored.row_count, stored.schema.columns, stored.schema.title) == (3, FIRST.columns, "Herons")
        assert tables.live(tx, base, Scope(EVERYTHING.principal, documents=()), 10) == []
        assert tables.live(tx, "kb_other", EVERYTHING, 10) == []
        (document,) = documents.by_ids(tx, [stored.document_id])
    with library.database.write() as tx:
        documents.switch(tx, document.document, enabled=False)
    with library.database.read() as tx:
        assert tables.live(tx, base, EVERYTHING, 10) == []


def test_tables_go_with_their_revision(library: LibraryBuilder) -> None:
    revision_id = _staged(library)
    with library.database.write() as tx:
        while purging.delete_text_batch(tx, revision_id):
            pass
        assert list(tables.rows(tx, revision_id, 1)) == []
        assert tx.first("SELECT count(*) FROM data_tables") == (0,)


def test_a_page_that_is_lost_is_noticed(library: LibraryBuilder) -> None:
    revision_id = _staged(library)
    with library.database.write() as tx:
        tx.run("DELETE FROM table_pages WHERE start_row = 0")
    found = [one for one in check_library(library.database, None) if one.code == "table-miscounted"]
    assert [(one.details["revision"], one.details["expected"], one.details["found"]) for one in found] == [
        (revision_id, 3, 1)
    ]


@pytest.mark.only_sqlite
def test_what_was_meddled_with_is_refused(library: LibraryBuilder) -> None:
    revision_id = _staged(library)
    with library.database.write() as tx:
        tx.run("UPDATE table_pages SET content = '[[1,1,\"\",[{}]]]'")
    with library.database.read() as tx, pytest.raises(ValueError, match="no cell"):
        list(tables.rows(tx, revision_id, 1))


def _base_of(library: LibraryBuilder, revision_id: str) -> str:
    with library.database.read() as tx:
        found = documents.revision(tx, revision_id)
    assert found is not None
    return found[0].knowledge_base_id
