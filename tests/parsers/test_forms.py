"""A form's first row is no header; a table's is, also where it reads a little like a form's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parsers.office_files import word
from tests.parsers.reading_blocks import events_of, of
from tests.parsers.test_sheets import TEXT_CELL, workbook
from wenyuan.parsers.forms import is_form
from wenyuan.parsers.pdf.frame import Rectangle
from wenyuan.parsers.pdf.tables import Row, Table
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block

FORMS = (
    (("姓名", "张三"), ("年龄", "28")),
    (("姓名", "张三", "性别", "男"), ("出生日期", "1990-01-01", "民族", "汉")),
    (("项目名称：", "城西泵站改造"), ("预算：", "120万元")),
    (("Name", "Ada Byrne"), ("Phone", "555-0100")),
    (("Contact person", "Bo", "Phone", "555-0101"), ("Address", "1 Harbour Street", "City", "Port")),
    (("合 同 编 号", "HT-2025-018"), ("签订日期", "2025-03-01")),
)
TABLES = (
    (("区域", "收入"), ("华东", "120")),
    (("姓名", "电话"), ("张三", "8812-0099")),
    (("姓名", "性别", "年龄", "部门"), ("张三", "男", "28", "研发")),
    (("名称", "类型"), ("编号", "整数")),
    (("Name", "Type"), ("Date", "a day")),
    (("Name", "Meaning", "Default"), ("date", "when it was made", "today")),
    (("字段", "说明"), ("姓名", "申请人的姓名")),
    (("Part", "Torque"), ("Stem bolts", "5 N·m")),
)


@pytest.mark.parametrize(("first", "second"), FORMS)
def test_a_form_is_known_by_its_labels(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    assert is_form(first, second)


@pytest.mark.parametrize(("first", "second"), TABLES)
def test_a_table_is_no_form(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    assert not is_form(first, second)


@pytest.mark.parametrize(
    ("rows", "has_header"), [*((rows, False) for rows in FORMS), *((rows, True) for rows in TABLES)]
)
def test_only_a_header_goes_with_every_row(
    tmp_path: Path, rows: tuple[tuple[str, ...], tuple[str, ...]], has_header: bool
) -> None:
    written = "".join(
        f"<w:tr>{''.join(f'<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>' for cell in row)}</w:tr>"
        for row in rows
    )
    header = f"| {' | '.join(' '.join(cell.split()) for cell in rows[0])} |" if has_header else ""
    in_word = of(Block, events_of(word(f"<w:tbl>{written}</w:tbl>"), tmp_path, "a.docx"))
    assert [block.context for block in in_word] == ["", header]
    sheet = ""
    for number, row in enumerate(rows, 1):
        cells = [TEXT_CELL % (f"{column}{number}", cell) for column, cell in zip("ABCD", row, strict=False)]
        sheet += f'<row r="{number}">{"".join(cells)}</row>'
    book = workbook(tmp_path, sheet)
    in_book = of(Block, list(read_file(book, book.name)))
    assert [block.context for block in in_book] == ["", header]
    place = Rectangle(0, 0, 10, 10)
    assert Table(tuple(Row(row, place) for row in rows), place).has_header == has_header
