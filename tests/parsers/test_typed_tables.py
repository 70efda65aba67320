"""What readers hand over of tables: names, typed cells and places of rows, and a bound that is told of."""

from __future__ import annotations

from pathlib import Path

import openpyxl  # type: ignore[import-untyped]  # it has no types
import pytest

from tests.parsers.reading_blocks import codes, events_of, of
from tests.parsers.test_sheets import workbook
from wenyuan.parsers import typed_tables
from wenyuan.parsers.reading import read_file
from wenyuan.parsers.typed_tables import TypedTables
from wenyuan.rules.tables.pages import MOST_COLUMNS, MOST_TABLES, PAGE_ROWS
from wenyuan.types import Amount, CellValue, Notice, TableRow, TableRows


def tables_in(source: bytes | str, folder: Path | None = None, name: str = "") -> list[TableRows]:
    return of(TableRows, events_of(source, folder, name))


def cells(table: TableRows) -> list[tuple[CellValue, ...]]:
    return [row.cells for row in table.rows]


def test_a_file_of_values(tmp_path: Path) -> None:
    source = 'name,age,paid\nAda,36,"1,200.50"\nBob,n/a,\n\nTotal,,1200.5\n'
    (table,) = tables_in(source.encode(), tmp_path, "a.csv")
    assert (table.columns, table.header, table.place) == (("name", "age", "paid"), (1, 1), "lines")
    assert table.rows == (
        TableRow(2, 2, "", ("Ada", 36, 1200.5)),
        TableRow(3, 3, "", ("Bob", "n/a")),
        TableRow(5, 5, "total", ("Total", None, 1200.5)),
    )


@pytest.mark.parametrize(
    ("source", "columns", "rows", "header"),
    [
        ("1,2\n3,4\n", ("A", "B"), [(1, 2), (3, 4)], None),
        ("a,a,\n1,2,3\n", ("a", "a (2)", "C"), [(1, 2, 3)], (1, 1)),
        ("city,2024,2025\nRome,5,6\n", ("city", "2024", "2025"), [("Rome", 5, 6)], (1, 1)),
        ("Sales of April,,\n\ncity,tons,\nRome,5,\n", ("city", "tons"), [("Rome", 5)], (3, 3)),
        ("a,b\n1\n1,2,3\n", ("a", "b", "C"), [(1,), (1, 2, 3)], (1, 1)),
        ("heron\nwren\n", ("A",), [("heron",), ("wren",)], None),
    ],
)
def test_names_of_columns(
    tmp_path: Path, source: str, columns: tuple[str, ...], rows: list[object], header: tuple[int, int] | None
) -> None:
    (table,) = tables_in(source.encode(), tmp_path, "a.csv")
    assert (table.columns, cells(table), table.header) == (columns, rows, header)


def test_a_title_above_a_table(tmp_path: Path) -> None:
    (table,) = tables_in(b"Sales of April,,\ncity,tons,\nRome,5,\n", tmp_path, "a.csv")
    assert table.title == "Sales of April"


@pytest.mark.parametrize("name", ["book.xlsx", "book.xls", "book.ods"])
def test_the_same_book_in_three_formats(name: str) -> None:
    sales, summary = tables_in(name)
    assert (sales.sheet, sales.columns, sales.header) == ("销售明细", ("日期", "产品", "数量", "单价", "金额"), (1, 1))
    assert [row.cells[1:] for row in sales.rows[:3]] == [
        ("手机", 3, 1999.5, 5998.5),
        ("平板电脑", 2, 2999, 5998),
        ("笔记本", 1, 8999.99, 8999.99),
    ]
    assert [row.mark for row in sales.rows] == ["", "", "", "total"]
    assert [row.first for row in sales.rows] == [2, 3, 4, 5]
    assert (summary.sheet, summary.columns, summary.rows[1].cells) == (
        "Summary 汇总",
        ("区域", "收入"),
        ("华南", Amount(30.5, "%")),
    )


def test_a_formula_counts_by_its_last_result_and_one_without_is_no_number(tmp_path: Path) -> None:
    row = '<row r="%d"><c r="A%d" t="inlineStr"><is><t>%s</t></is></c>%s</row>'
    rows = (
        row % (1, 1, "bird", '<c r="B1" t="inlineStr"><is><t>n</t></is></c>')
        + row % (2, 2, "heron", '<c r="B2"><f>SUM(1,2)</f><v>3</v></c>')
        + row % (3, 3, "wren", '<c r="B3"><f>SUM(1,2)</f></c>')
    )
    path = workbook(tmp_path, rows)
    (table,) = of(TableRows, list(read_file(path, path.name)))
    assert cells(table) == [("heron", 3), ("wren", "=SUM(1,2)")]


def test_numbers_of_merged_cells_are_told_of(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["bird", "n"], ["heron", 3], ["wren", None]):
        book.active.append(row)
    book.active.merge_cells("B2:B3")
    book.save(tmp_path / "book.xlsx")
    (table,) = tables_in((tmp_path / "book.xlsx").read_bytes(), tmp_path, "book.xlsx")
    assert (cells(table), table.merged) == ([("heron", 3), ("wren", 3)], (1,))


def test_tables_beside_and_below_each_other(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["bird", "n"],
        ["heron", 3, None, "lake", "area"],
        ["wren", 4, None, "North", 7],
        ["owl", 5, None, "South", 9],
        [],
        ["Boats"],
        ["boat", "length"],
        ["Ada", 5],
    ):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    found = tables_in((tmp_path / "book.xlsx").read_bytes(), tmp_path, "book.xlsx")
    assert sorted((table.columns, len(table.rows)) for table in found) == [
        (("bird", "n"), 3),
        (("boat", "length"), 1),
        (("lake", "area"), 2),
    ]
    assert len({table.number for table in found}) == 3
    assert [table.title for table in found if table.columns[0] == "boat"] == ["Boats"]


def test_a_long_table_comes_in_pieces(tmp_path: Path) -> None:
    source = "a,b\n" + "".join(f"{at},x\n" for at in range(3 * PAGE_ROWS))
    pieces = tables_in(source.encode(), tmp_path, "a.csv")
    assert len(pieces) == 3
    assert [piece.start for piece in pieces] == [0, PAGE_ROWS, 2 * PAGE_ROWS]
    assert [row.cells[0] for piece in pieces for row in piece.rows] == list(range(3 * PAGE_ROWS))


def test_of_a_table_that_is_too_large_rows_are_counted_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_tables, "MOST_ROWS", 5)
    path = tmp_path / "file"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 8)
    events = list(read_file(path, "a.csv"))
    (table,) = of(TableRows, events)
    assert (len(table.rows), table.left_out) == (5, 3)
    assert codes(events) == {"table-too-large"}


def test_a_table_that_is_too_wide_is_left_out(tmp_path: Path) -> None:
    source = ",".join(f"c{at}" for at in range(MOST_COLUMNS + 1)) + "\n" + ",".join("1" * (MOST_COLUMNS + 1)) + "\n"
    events = events_of(source.encode(), tmp_path, "a.csv")
    (table,) = of(TableRows, events)
    assert (table.rows, table.left_out) == ((), 1)
    assert codes(events) == {"table-too-large"}


def test_more_tables_than_are_kept() -> None:
    file = TypedTables(count=MOST_TABLES)
    table = file.begin("birds", "", "lines", {1: "bird"}, None)
    assert table.add(1, 1, [1], ["heron"], ["heron"]) is None
    assert table.finish() is None
    assert [notice.code for notice in file.notices() if isinstance(notice, Notice)] == ["table-too-large"]
