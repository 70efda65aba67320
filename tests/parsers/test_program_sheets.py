"""Spreadsheets and separated values as spreadsheet programs and libraries wrote them, row by row."""

from __future__ import annotations

import pytest

from tests.parsers.program_files import FILES
from tests.parsers.reading_blocks import codes, facts, of, texts
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block, ReadEvent, TableRows

_HEADS = {"stock": "| 品名 | 规格 | 库存 | 单价 | 入库日期 |", "sales": "| Region | Product | Units | Price | Date |"}
_TITLES = {"stock": "二〇二五年库存表", "sales": "Sales of the first quarter"}
_ROWS = {
    "stock": (
        ("离心泵", "ISG50-160", "4", "2680.5", "2025-03-14"),
        ("闸阀", "Z41H-16C", "12", "318", "2025-04-02"),
        ("压力表", "Y-100", "30", "45.9", "2024-12-30"),
    ),
    "sales": (
        ("North", "Racing saddle", "14", "59.9", "2025-01-31"),
        ("South", "Steel fork", "3", "129", "2025-02-28"),
        ("East", "Brake pads, pair", "220", "6.75", "2025-03-31"),
    ),
}
_MONEY = {
    "2680.5": "2,680.50",
    "318": "318.00",
    "45.9": "45.90",
    "59.9": "59.90",
    "129": "129.00",
    "6.75": "6.75",
}
_SITES = {"stock": "官网", "sales": "Site"}
_TOTALS = {"stock": "| 合计 |  | 46", "sales": "| Total |  | 237"}


def events_of(name: str) -> list[ReadEvent]:
    return list(read_file(FILES / name, name))


def rows(book: str, sign: str = "", *, plain: bool = False, site: str = "") -> list[str]:
    """The rows of a book as they are shown, the first with what stands beside it."""
    shown = []
    for row in _ROWS[book]:
        price = row[3] if plain else sign + _MONEY[row[3]]
        shown.append(f"| {' | '.join((*row[:3], price, row[4]))} |")
    if site:
        shown[0] += f"  | {site} |"
    return shown


def link(book: str) -> str:
    return f"[{_SITES[book]}](https://example.com/stock)"


@pytest.mark.parametrize("book", ["stock", "sales"])
@pytest.mark.parametrize(
    ("program", "sign", "first", "linked", "total"),
    [
        ("openpyxl.xlsx", "", 1, True, "=SUM(C3:C5) |"),
        ("xlsxwriter.xlsx", "$", 2, True, "sum"),
        ("libreoffice.xlsx", "", 1, None, "share"),
        ("libreoffice.ods", "", 1, None, "share"),
    ],
)
def test_a_book_with_a_title_above_its_table(
    book: str, program: str, sign: str, first: int, linked: bool | None, total: str
) -> None:
    sign = "¥" if sign and book == "stock" else sign
    events = events_of(f"{book}-{program}")
    blocks = of(Block, events)
    sheet = "库存" if book == "stock" else "Sales"
    assert (blocks[0].kind, blocks[0].text, blocks[0].anchor.first) == ("heading", _TITLES[book], first)
    found = [block for block in blocks if block.kind == "table" and block.anchor.name == sheet]
    last = {
        "sum": f"{_TOTALS[book]} |",
        "share": f"{_TOTALS[book]} | {'46.0%' if book == 'stock' else '237.0%'} |",
    }.get(total, f"{_TOTALS[book].rpartition(' ')[0]} {total}")
    site = link(book) if linked else ""
    assert [block.text for block in found] == [_HEADS[book], *rows(book, sign, site=site), last]
    assert {block.context for block in found[1:]} == {_HEADS[book]}
    assert {block.heading_path for block in found} == {(sheet, _TITLES[book])}
    assert [block.anchor.first for block in found[:4]] == list(range(first + 1, first + 5))
    assert of(TableRows, events)[0].header == (first + 1, first + 1)
    assert "hidden-sheets" in codes(events)
    assert ("formulas-not-calculated" in codes(events)) == (total.startswith("="))
    assert facts(events).metadata["author"] == ("林晓" if book == "stock" else "Ada Byrne")


@pytest.mark.parametrize(
    ("name", "prices_shown", "rest"),
    [
        ("stock-exceljs.xlsx", False, [f"{_TOTALS['stock']} |", f"| {link('stock')} |", "[B2] Author: 已停产"]),
        (
            "sales-exceljs.xlsx",
            False,
            [f"{_TOTALS['sales']} |", f"| {link('sales')} |", "[B2] Author: Out of production"],
        ),
        ("stock-odfpy.ods", False, []),
        ("stock-xlwt.xls", False, ["合计"]),
        ("sales-xlwt.xls", False, ["Total"]),
        ("stock-exceljs.csv", False, [f"{_TOTALS['stock']} |", "| https://example.com/stock |"]),
    ],
)
def test_a_table_alone(name: str, prices_shown: bool, rest: list[str]) -> None:
    book = name.partition("-")[0]
    events = events_of(name)
    lines = [line for text in texts(events) for line in text.split("\n")]
    assert lines == [_HEADS[book], *rows(book, plain=not prices_shown), *rest]
    assert of(Block, events)[1].context == _HEADS[book]
    assert of(TableRows, events)[0].columns == tuple(_HEADS[book][2:-2].split(" | "))
    # Its program calculates nothing, and leaves no formula either.
    assert ("formulas-not-calculated" in codes(events)) == name.endswith("xlwt.xls")


@pytest.mark.parametrize(
    "name", ["stock-gnumeric.xlsx", "stock-gnumeric.ods", "sales-gnumeric.xls", "stock-libreoffice.xls"]
)
def test_what_another_program_made_of_a_book(name: str) -> None:
    book = name.partition("-")[0]
    events = events_of(name)
    found = texts(events)
    site = _SITES[book] if "gnumeric" in name else ""
    assert found[:5] == [_TITLES[book], _HEADS[book], *rows(book, site=site)]
    comment = next(text for text in found if text.startswith("[B3] "))
    assert comment.endswith("已停产" if book == "stock" else "Out of production")
    assert next(text for text in found if text.startswith(_TOTALS[book]))
    assert found[-1] in ("| 税率 | 13% |", "| Tax | 13% |")


@pytest.mark.proves("csv", "text", "tables", file="levels-pandas.csv")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "levels-sheetjs.xlsx",
            [
                "| 站点 | 水位（米） | 时间 |",
                "| 一号井 | 3.42 | 2025-06-01 08:00 |",
                "| 二号井 | 2.97 | 2025-06-01 08:00 |",
            ],
        ),
        (
            "levels-sheetjs.ods",
            [
                "| 站点 | 水位（米） | 时间 |",
                "| 一号井 | 3.42 | 2025-06-01 08:00 |",
                "| 二号井 | 2.97 | 2025-06-01 08:00 |",
            ],
        ),
        (
            "levels-sheetjs.xls",
            [
                "| Station | Level (m) | Time |",
                "| Well 1 | 3.42 | 2025-06-01 08:00 |",
                "| Well 2 | 2.97 | 2025-06-01 08:00 |",
            ],
        ),
        (
            "levels-sheetjs.csv",
            [
                "| Station | Level (m) | Time |",
                "| Well 1 | 3.42 | 2025-06-01 08:00 |",
                "| Well 2 | 2.97 | 2025-06-01 08:00 |",
            ],
        ),
        (
            "people-sqlite.csv",
            ["| id | name | note |", "| 1 | Ada | first, of many |", '| 2 | Bo | said "no" |', "| 3 | Chloé |  |"],
        ),
        *(
            (
                name,
                [
                    "| 日期 | 站点 | 水位(m) | 备注 |",
                    "| 2025-06-01 | 城西 | 3.42 | 正常 |",
                    "| 2025-06-02 | 城西 | 3.40 | 夜间,短时停电 |",
                    '| 2025-06-02 | 河口 | 1.07 | 标尺 "乙" 更换 |',
                ],
            )
            for name in ("levels-pandas.csv", "levels-python.tsv")
        ),
    ],
)
def test_the_rows_of_a_small_table(name: str, expected: list[str]) -> None:
    events = events_of(name)
    assert [line for text in texts(events) for line in text.split("\n")] == expected
    assert {block.context for block in of(Block, events)[1:]} == {expected[0]}


@pytest.mark.parametrize(
    ("name", "encoding", "totals"),
    [
        ("stock-libreoffice.csv", "gb18030", "| 合计 |  | 46 | 46% |  |"),
        ("sales-libreoffice.csv", "utf-8", "| Total |  | 237 | 237% |  |"),
        ("sales-gnumeric.csv", "utf-8", "| Total |  | 237 |  |  |  |  |"),
    ],
)
def test_a_title_above_separated_values_is_not_their_header(name: str, encoding: str, totals: str) -> None:
    book = name.partition("-")[0]
    events = events_of(name)
    blocks = of(Block, events)
    assert facts(events).encoding == encoding
    assert blocks[0].text.startswith(f"| {_TITLES[book]} |")
    assert blocks[1].text.startswith(_HEADS[book][:-2])
    assert {block.context for block in blocks[2:]} == {blocks[1].text}
    assert blocks[-1].text.split("\n")[-1] == totals
    assert of(TableRows, events)[0].header == (2, 2)


def test_a_sheet_that_was_saved_as_a_page() -> None:
    found = texts(events_of("sales-libreoffice.html"))
    assert [text.rstrip("| ") for text in found][3:5] == [row.rstrip("| ") for row in rows("sales")][1:]


@pytest.mark.proves("xlsx", "text", file="stock-libreoffice.xlsx")
def test_a_chart_and_a_hidden_sheet_of_a_spreadsheet_program() -> None:
    events = events_of("stock-libreoffice.xlsx")
    captions = [block.text for block in of(Block, events) if block.kind == "caption"]
    assert captions == ["库存量; 库存"]
    assert texts(events)[-1] == "| 税率 | 13% |"
    assert facts(events).quality == {"sheets": 2, "hidden_sheets": 1, "tables": 2}
