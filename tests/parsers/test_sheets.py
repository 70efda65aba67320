"""Spreadsheets in three formats: what is on them, at which address."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]  # it has no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.compound_file import compound_file
from wenyuan.errors import FileEncrypted, FileMalformed, FileOverLimit, NoText
from wenyuan.parsers.reading import read_file
from wenyuan.parsers.sheets.sheet_cells import LAST_COLUMN, address, area, column_name, column_number
from wenyuan.parsers.sheets.xls_records import RecordsDamaged, StringTable
from wenyuan.rules.chunking import chunk_blocks
from wenyuan.types import Anchor, Block, ChunkingConfig, Facts, Notice, ReadEvent

FILES = Path(__file__).parent.parent / "fixtures" / "files"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TEXT_CELL = '<c r="%s" t="inlineStr"><is><t>%s</t></is></c>'
HEADER = "| 日期 | 产品 | 数量 | 单价 | 金额 |"


def events_of(path: Path) -> list[ReadEvent]:
    return list(read_file(path, path.name))


def blocks_of(path: Path) -> list[Block]:
    return [event for event in events_of(path) if isinstance(event, Block)]


def codes(events: list[ReadEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, Notice)]


def facts_of(events: list[ReadEvent]) -> Facts:
    return [event for event in events if isinstance(event, Facts)][-1]


def cells(row: int, columns: tuple[int, int], sheet: str) -> Anchor:
    return Anchor("cells", row, row, sheet, columns)


def workbook(folder: Path, rows: str, after: str = "", strings: str = "", **parts: str) -> Path:
    """A workbook with one sheet, written by hand: programs differ in what they leave out."""
    path = folder / "book.xlsx"
    relation = f'<Relationship Id="%s" Type="{OFFICE}/%s" Target="%s"/>'
    packaged = "http://schemas.openxmlformats.org/package/2006/relationships"
    members = {
        "_rels/.rels": f'<Relationships xmlns="{packaged}">{relation % ("r1", "officeDocument", "xl/workbook.xml")}'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="数据" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packaged}">'
        f"{relation % ('r1', 'worksheet', 'worksheets/sheet1.xml')}"
        f"{relation % ('r2', 'sharedStrings', '/xl/sharedStrings.xml')}</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><dimension ref="A1:XFD1048576"/>'
        f"<sheetData>{rows}</sheetData>{after}</worksheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
        **{name.replace("__", "/"): content for name, content in parts.items()},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.proves("xlsx", "text", "tables", "anchors", file="book.xlsx")
@pytest.mark.proves("xls", "text", "tables", "anchors", file="book.xls")
@pytest.mark.proves("ods", "text", "tables", "anchors", file="book.ods")
@pytest.mark.parametrize("name", ["book.xlsx", "book.xls", "book.ods"])
def test_the_same_book_in_three_formats(name: str) -> None:
    events = events_of(FILES / name)
    found = [event for event in events if isinstance(event, Block)]
    assert found == [
        Block("table", HEADER, cells(1, (1, 5), "销售明细"), ("销售明细",)),
        *(
            Block("table", text, cells(row, (1, 5), "销售明细"), ("销售明细",), HEADER, "\n")
            for row, text in enumerate(
                [
                    "| 2024-01-15 | 手机 | 3 | 1999.5 | 5998.5 |",
                    "| 2024-02-29 | 平板电脑 | 2 | 2999 | 5998 |",
                    "| 2024-12-31 | 笔记本 | 1 | 8999.99 | 8999.99 |",
                    "| 合计 | 合计 | 合计 | 合计 | 20996.49 |",
                ],
                start=2,
            )
        ),
        Block("paragraph", "远处的备注", cells(20, (8, 8), "销售明细"), ("销售明细",)),
        Block("table", "| 区域 | 收入 |", cells(2, (2, 3), "Summary 汇总"), ("Summary 汇总",)),
        Block("table", "| 华东 | 120 |", cells(3, (2, 3), "Summary 汇总"), ("Summary 汇总",), "| 区域 | 收入 |", "\n"),
        Block(
            "table", "| 华南 | 30.5% |", cells(4, (2, 3), "Summary 汇总"), ("Summary 汇总",), "| 区域 | 收入 |", "\n"
        ),
        Block("paragraph", "隐藏内容", cells(1, (1, 1), "隐藏表"), ("隐藏表",)),
    ]
    assert codes(events) == ["hidden-sheets"]
    assert facts_of(events).quality == {"sheets": 3, "hidden_sheets": 1, "tables": 2}


@pytest.mark.proves("xlsx", "headings", "metadata", file="report.xlsx")
@pytest.mark.proves("xls", "headings", "metadata", file="report.xls")
@pytest.mark.proves("ods", "headings", "metadata", file="report.ods")
@pytest.mark.parametrize("name", ["report.xlsx", "report.xls", "report.ods"])
def test_a_report_with_everything_a_person_puts_into_one(name: str) -> None:
    events = events_of(FILES / name)
    found = {(block.anchor.name, block.anchor.first, block.kind): block for block in events if isinstance(block, Block)}
    report = "销售报表"
    title = found[report, 1, "heading"]
    assert title.text == "2024年华东区销售报表"
    row = found[report, 6, "table"]
    assert row.heading_path == (report, title.text)
    assert row.context == (
        "| 部门 | 上半年 | 上半年 | 下半年 | 下半年 | 合计 |\n| 部门 | 一季度 | 二季度 | 三季度 | 四季度 | 合计 |"
    )
    assert row.text == "| 销售一部 | 12.50 | 13.00 | 14.25 | 20.00 | ¥59.75 |"
    assert found[report, 12, "paragraph"].text == "[详情见官网](https://example.com/report?id=1&x=2)"
    assert found[report, 15, "table"].text == "| 王五 | 2020-03-01 | TRUE | 98.5% |"
    assert found[report, 16, "table"].text == "| 赵六 | 2021-07-15 09:30:00 | FALSE | 50.0% |"
    assert found[report, 18, "table"].text == "| #DIV/0! | #N/A | #DIV/0! |"
    comment = found[report, 6, "paragraph"]
    assert (comment.text, comment.context) == ("[F6] 含退货未结算部分", row.text)
    assert comment.anchor == cells(6, (6, 6), report)
    charts = [block.text for block in found.values() if block.kind == "caption"]
    assert len(charts) == 1
    assert charts[0].startswith("各部门季度销售额")
    item = found["Inventory", 5, "table"]
    assert (item.text, item.anchor.columns) == ("| SKU-9005 | Bolt M8 | 15 | $6.25 |", (3, 6))
    assert found["Inventory", 4, "table"].text == "| SKU-9004 | Gadget \\| blue | 12 | $5.00 |"
    assert codes(events) == ["empty-sheet", "header-only", "hidden-sheets", "hidden-rows"]
    facts = facts_of(events)
    assert (facts.title, facts.metadata["author"]) == ("销售台账", "李四")
    assert facts.quality == {"sheets": 5, "hidden_sheets": 1, "hidden_rows": 1, "tables": 4}


def test_a_formula_that_was_never_calculated_shows_itself() -> None:
    events = events_of(FILES / "book-not-calculated.xlsx")
    texts = [event.text for event in events if isinstance(event, Block)]
    assert "| 2024-01-15 | 手机 | 3 | 1999.5 | =C2*D2 |" in texts
    assert "| 合计 | 合计 | 合计 | 合计 | =SUM(E2:E4) |" in texts
    notice = next(event for event in events if isinstance(event, Notice) and event.code == "formulas-not-calculated")
    assert notice.message.startswith("4 formulas were never calculated")
    assert "销售明细!E2" in notice.message


def test_a_declared_dimension_costs_nothing() -> None:
    rows = [block for block in blocks_of(FILES / "inflated-dimension.xlsx") if block.anchor.name == "Sheet1"]
    assert [block.text for block in rows] == [
        *("| first | second | third |", "| 1 | 5 | 9 |", "| 2 | 4 | 6 |", "| 3 | 3 | 3 |"),
        *("| 4 | 2 | 0 |", "| 5 | 1 | -3 |", "| 6 | 0 | -6 |"),
    ]


def test_tables_side_by_side_have_their_own_headers() -> None:
    rows = [block for block in blocks_of(FILES / "inflated-dimension.xlsx") if block.anchor.name == "Sheet2"]
    beside = [block for block in rows if block.anchor.columns == (7, 9)]
    assert [block.text for block in beside][:2] == ["| col-1 | col-2 | col-3 |", "| 1 | 2 | 3 |"]
    assert [block.anchor.first for block in beside] == [5, 6, 7, 8, 9]
    assert beside[1].context == beside[0].text


def test_the_farthest_cell_is_where_it_is() -> None:
    far = [block for block in blocks_of(FILES / "far-cell.xlsx") if block.anchor.first == 1_048_576]
    assert [(block.text, block.anchor.columns) for block in far] == [("| 1 |", (LAST_COLUMN, LAST_COLUMN))]


def test_a_password_is_asked_for() -> None:
    with pytest.raises(FileEncrypted):
        events_of(FILES / "password.xlsx")


def record(kind: int, *parts: bytes) -> bytes:
    data = b"".join(parts)
    return struct.pack("<HH", kind, len(data)) + data


def short_text(text: str, length_bytes: int) -> bytes:
    encoded = text.encode("gbk")
    return len(encoded).to_bytes(length_bytes, "little") + encoded


def test_a_workbook_of_excel_5_in_its_code_page(tmp_path: Path) -> None:
    begin = struct.pack("<HHHH", 0x0500, 5, 0, 0)
    place = struct.Struct("<HHH")
    sheet = b"".join(
        [
            record(0x0809, begin),
            record(0x0204, place.pack(1, 1, 0), short_text("产品", 2)),
            record(0x0204, place.pack(1, 2, 0), short_text("占比", 2)),
            record(0x0204, place.pack(2, 1, 0), short_text("手机", 2)),
            record(0x0203, place.pack(2, 2, 1), struct.pack("<d", 0.305)),
            record(0x0006, place.pack(3, 1, 0), b"\0\0\0\0\0\0\xff\xff", bytes(8)),
            record(0x0207, short_text("合计", 2)),
            record(0x00BD, struct.pack("<HH", 3, 2), struct.pack("<HIHI", 0, 7 << 2 | 2, 0, 150 << 2 | 3), b"\3\0"),
            record(0x0205, place.pack(4, 1, 0), b"\x17\1"),
            record(0x000A),
        ]
    )
    head = [record(0x0809, begin), record(0x0042, struct.pack("<H", 936)), record(0x041E, b"\xa4\0", b"\4", b"0.0%")]
    head += [record(0x00E0, struct.pack("<HH", 0, style), bytes(12)) for style in (0, 0xA4)]
    name = short_text("旧表", 1)
    offset = len(b"".join(head)) + 4 + 6 + len(name) + 4
    stream = b"".join([*head, record(0x0085, struct.pack("<IBB", offset, 0, 0), name), record(0x000A), sheet])
    path = tmp_path / "old.xls"
    path.write_bytes(compound_file({"Book": stream}))
    assert [(block.text, block.anchor) for block in blocks_of(path)] == [
        ("| 产品 | 占比 |", cells(2, (2, 3), "旧表")),
        ("| 手机 | 30.5% |", cells(3, (2, 3), "旧表")),
        ("| 合计 | 7 | 1.5 |", cells(4, (2, 4), "旧表")),
        ("| #REF! |", cells(5, (2, 2), "旧表")),
    ]


def test_strings_that_go_on_in_the_next_record() -> None:
    first = struct.pack("<II", 2, 3) + struct.pack("<HB", 4, 0) + b"abcd" + struct.pack("<HBH", 4, 0x09, 1)
    first += "汉字".encode("utf-16-le")
    second = b"\0" + b"xy" + bytes(4) + struct.pack("<HBI", 2, 0x05, 3) + "末".encode("utf-16-le")
    third = b"\1" + "尾".encode("utf-16-le") + bytes(3)
    assert StringTable([first, second, third]).strings() == ["abcd", "汉字xy", "末尾"]
    with pytest.raises(RecordsDamaged):
        StringTable([first, second]).strings()


# --- What programs write, and what they leave out ---


def test_cells_without_addresses_and_strings_in_many_ways(tmp_path: Path) -> None:
    rows = (
        '<row><c t="inlineStr"><is><t>甲</t></is></c><c t="s"><v>0</v></c>'
        '<c t="str"><v>a_x000D_b</v></c></row>'
        '<row r="3"><c r="B3" t="s"><v>1</v></c><c><v>2.50</v></c><c t="b"><v>1</v></c><c t="e"><v>#REF!</v></c>'
        '<c t="d"><v>2024-05-06T00:00:00</v></c><c t="s"><v>99</v></c></row>'
    )
    strings = "<si><r><t>红</t></r><r><rPr/><t>色</t></r><rPh><t>アカ</t></rPh></si>"
    strings += "<si><t>東京</t><rPh><t>トウキョウ</t></rPh></si>"
    found = blocks_of(workbook(tmp_path, rows, strings=strings))
    assert [(block.text, block.anchor.first, block.anchor.columns) for block in found] == [
        ("| 甲 | 红色 | a\rb |", 1, (1, 3)),
        ("| 東京 | 2.5 | TRUE | #REF! | 2024-05-06 |", 3, (2, 6)),
    ]


def test_shared_formulas_without_results_are_moved_to_their_cells(tmp_path: Path) -> None:
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c>'
        '<c r="B1"><f t="shared" ref="B1:B2" si="0">A1*$C$1+SUM(A1:A$9)&amp;"A1"</f></c></row>'
        '<row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" si="0"/><v></v></c></row>'
        '<row r="3"><c r="A3"><v>3</v></c><c r="B3" t="str"><f>""</f><v></v></c></row>'
    )
    found = [block.text for block in blocks_of(workbook(tmp_path, rows))]
    assert found == ['| 1 | =A1*$C$1+SUM(A1:A$9)&"A1" |', '| 2 | =A2*$C$1+SUM(A2:A$9)&"A1" |', "| 3 |"]


def test_other_namespaces_and_prefixes(tmp_path: Path) -> None:
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    sheet = (
        f'<x:worksheet xmlns:x="{strict}"><x:sheetData>'
        '<x:row r="2"><x:c r="B2"><x:v>7</x:v></x:c></x:row></x:sheetData>'
        '<x:mergeCells><x:mergeCell ref="B2:C2"/></x:mergeCells></x:worksheet>'
    )
    path = workbook(tmp_path, "", **{"xl__worksheets__sheet1.xml": sheet})
    assert [(block.text, block.anchor.columns) for block in blocks_of(path)] == [("| 7 |", (2, 2))]


def test_merged_cells_are_repeated_and_a_title_is_not(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{number}">{"".join(TEXT_CELL % pair for pair in row)}</row>'
        for number, row in enumerate(
            [
                [("A1", "部门人员名册")],
                [("A2", "部门"), ("B2", "姓名"), ("C2", "地点")],
                [("A3", "研发"), ("B3", "甲"), ("C3", "北京")],
                [("B4", "乙"), ("C4", "上海")],
            ],
            start=1,
        )
    )
    after = '<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A3:A4"/></mergeCells>'
    found = blocks_of(workbook(tmp_path, rows, after))
    assert [(block.kind, block.text) for block in found] == [
        ("heading", "部门人员名册"),
        ("table", "| 部门 | 姓名 | 地点 |"),
        ("table", "| 研发 | 甲 | 北京 |"),
        ("table", "| 研发 | 乙 | 上海 |"),
    ]
    assert found[-1].heading_path == ("数据", "部门人员名册")


def test_hostile_merges_links_and_rows_end(tmp_path: Path) -> None:
    after = "<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 20_000 + "</mergeCells>"
    rows = "".join(f'<row r="{number}"><c><v>{number}</v></c><c><v>1</v></c></row>' for number in range(1, 2_000))
    assert len(blocks_of(workbook(tmp_path, rows, after))) == 1_999
    for wrong in ('<row r="9999999"><c><v>1</v></c></row>', '<row r="1"><c r="ZZZ1"><v>1</v></c></row>'):
        with pytest.raises(FileMalformed):
            blocks_of(workbook(tmp_path, wrong))
    with pytest.raises(NoText):
        blocks_of(workbook(tmp_path, ""))


def test_entities_and_document_types_are_refused(tmp_path: Path) -> None:
    laughs = (
        '<!DOCTYPE worksheet [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;">]>'
        f'<worksheet xmlns="{MAIN}"><sheetData><row><c t="str"><v>&b;</v></c></row></sheetData></worksheet>'
    )
    for member in ("xl__worksheets__sheet1.xml", "xl__sharedStrings.xml", "xl__workbook.xml"):
        with pytest.raises(FileMalformed, match="document type"):
            blocks_of(workbook(tmp_path, "", **{member: laughs}))


@pytest.mark.proves("xlsx", "limits")
@pytest.mark.proves("ods", "limits")
def test_what_inflates_without_end_and_too_many_parts(tmp_path: Path) -> None:
    bomb = f'<worksheet xmlns="{MAIN}"><sheetData>' + "<row><c><v>1</v></c></row>" * 3_000_000
    with pytest.raises(FileOverLimit, match="unpack"):
        blocks_of(workbook(tmp_path, "", **{"xl__worksheets__sheet1.xml": bomb}))
    many = tmp_path / "many.xlsx"
    with zipfile.ZipFile(many, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        for number in range(10_001):
            archive.writestr(f"x{number}", "")
    with pytest.raises(FileOverLimit, match="parts"):
        blocks_of(many)


@pytest.mark.proves("xls", "limits")
def test_damaged_files_are_malformed(tmp_path: Path) -> None:
    for name in ("book.xlsx", "book.xls", "book.ods"):
        whole = (FILES / name).read_bytes()
        for size in (len(whole) // 3, len(whole) - 100):
            path = tmp_path / name
            path.write_bytes(whole[:size])
            try:
                blocks_of(path)
            except (FileMalformed, NoText):
                continue
            assert name == "book.xls", "a compound file may end early and still have its stream"


# --- Tables ---


def saved(folder: Path, sheets: dict[str, list[list[object]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for number, row in enumerate(rows, 1):
            for column, value in enumerate(row, 1):
                if value is not None:
                    sheet.cell(number, column, value)
    path = folder / "made.xlsx"
    book.save(path)
    return path


def test_tables_below_one_another(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["姓名", "城市"], ["甲", "北京"], [], ["乙", "上海"], [], ["型号", "库存"], ["M1", 5], [], [],
        ["备注：仅供参考"],
    ]  # fmt: skip
    found = blocks_of(saved(tmp_path, {"表": rows}))
    assert [(block.anchor.first, block.context) for block in found] == [
        (1, ""), (2, "| 姓名 | 城市 |"), (4, "| 姓名 | 城市 |"), (6, ""), (7, "| 型号 | 库存 |"), (10, ""),
    ]  # fmt: skip


def test_years_are_a_header_and_other_numbers_are_not(tmp_path: Path) -> None:
    with_years = blocks_of(saved(tmp_path, {"a": [["项目", 2023, 2024], ["收入", 1.5, 2.5]]}))
    assert with_years[1].context == "| 项目 | 2023 | 2024 |"
    without = blocks_of(saved(tmp_path, {"a": [["收入", 1.5, 2.5], ["成本", 3, 4]]}))
    assert [block.context for block in without] == ["", ""]


def test_a_very_wide_table_names_its_columns_with_every_value(tmp_path: Path) -> None:
    rows: list[list[object]] = [[f"指标名称第{number}项" for number in range(200)]]
    rows += [[f"公司{row}", *(row * 1000 + number for number in range(199))] for row in range(1, 4)]
    found = [block for block in blocks_of(saved(tmp_path, {"宽": rows})) if block.anchor.first == 2]
    assert found[0].text.startswith("指标名称第0项: 公司1; 指标名称第1项: 1000; ")
    assert {block.context for block in found[1:]} == {"指标名称第0项: 公司1"}
    columns = [block.anchor.columns for block in found]
    assert [first for first, _ in filter(None, columns)] == [1, *(last + 1 for _, last in filter(None, columns[:-1]))]
    assert columns[-1] is not None
    assert columns[-1][1] == 200


def test_cells_far_apart_do_not_fill_the_gap(tmp_path: Path) -> None:
    found = blocks_of(saved(tmp_path, {"a": [["左", *([None] * 5000), "右"]]}))
    assert [(block.text, block.anchor.columns) for block in found] == [("| 左 |", (1, 1)), ("| 右 |", (5002, 5002))]


def test_passages_of_a_sheet_say_which_cells_they_are(tmp_path: Path) -> None:
    rows: list[list[object]] = [["编号", "说明"], *([number, f"第{number}件物品的说明文字"] for number in range(1, 60))]
    chunks = list(chunk_blocks(blocks_of(saved(tmp_path, {"清单": rows})), ChunkingConfig(target_columns=400)))
    assert len(chunks) > 3
    first = 1
    for chunk in chunks:
        assert (chunk.anchor.kind, chunk.anchor.name, chunk.anchor.columns) == ("cells", "清单", (1, 2))
        assert chunk.anchor.first == first
        assert chunk.anchor.last == first + chunk.text.count("\n")
        first = chunk.anchor.last + 1
    assert {chunk.context for chunk in chunks[1:]} == {"| 编号 | 说明 |"}


def test_remarks_stand_below_their_table_and_widen_its_passage(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in [["产品", "数量"], ["甲", 1], ["乙", 2], [], [], ["姓名", "工号"], ["丙", 3]]:
        sheet.append(row)
    sheet["B2"].comment = openpyxl.comments.Comment("已核对", "审计")
    sheet["D7"].comment = openpyxl.comments.Comment("离职", "人事")
    path = tmp_path / "a.xlsx"
    book.save(path)
    found = blocks_of(path)
    assert [(block.anchor.first, block.text.split("\n")[0]) for block in found] == [
        (1, "| 产品 | 数量 |"), (2, "| 甲 | 1 |"), (3, "| 乙 | 2 |"), (2, "[B2] 审计: 已核对"),
        (6, "| 姓名 | 工号 |"), (7, "| 丙 | 3 |"), (7, "[D7] 人事: 离职"),
    ]  # fmt: skip
    (passage,) = chunk_blocks(found[2:], ChunkingConfig())
    assert (passage.anchor.first, passage.anchor.last, passage.anchor.columns) == (2, 7, (1, 4))


VALUES = st.one_of(
    st.integers(-(10**9), 10**9), st.booleans(), st.text(st.sampled_from("ab字 |\n'=&<>é𠮷"), min_size=1, max_size=6)
)


def _spaced_once(text: str) -> str:
    return " ".join(text.split())


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.tuples(st.integers(1, 60), st.integers(1, 40)), VALUES, max_size=25))
def test_random_sheets_come_back_cell_by_cell(
    tmp_path_factory: pytest.TempPathFactory, values: dict[tuple[int, int], object]
) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "随机"
    for (row, column), value in values.items():
        cell = sheet.cell(row, column)
        cell.value = value
        if isinstance(value, str):
            cell.data_type = "s"
    output = io.BytesIO()
    book.save(output)
    path = tmp_path_factory.mktemp("random") / "random.xlsx"
    path.write_bytes(output.getvalue())
    expected: dict[tuple[int, int], str] = {}
    for (row, column), value in values.items():
        text = str(value).upper() if isinstance(value, bool) else str(value).strip()
        if text:
            expected[row, column] = (_spaced_once(text) if "\n" in text else text).replace("|", "\\|")
    try:
        found = blocks_of(path)
    except NoText:
        assert not expected
        return
    seen: dict[tuple[int, int], str] = {}
    for block in found:
        assert block.anchor.columns is not None
        first, last = block.anchor.columns
        if block.kind == "table":
            parts = block.text[2:-2].replace("\\|", "\0").split(" | ")
            left = last - len(parts) + 1
            shown = {left + index: part.replace("\0", "\\|") for index, part in enumerate(parts) if part}
            assert (min(shown), max(shown)) == (first, last)
        else:
            # A title or a line of text.
            shown = {first: _spaced_once(block.text).replace("|", "\\|")}
            expected[block.anchor.first, first] = _spaced_once(expected[block.anchor.first, first])
        for column, text in shown.items():
            seen[block.anchor.first, column] = text
    assert seen == expected


@given(st.integers(1, LAST_COLUMN), st.integers(1, 1_048_576))
def test_addresses_come_back(column: int, row: int) -> None:
    assert column_number(column_name(column)) == column
    assert address(f"${column_name(column)}${row}") == (row, column)
    assert area(f"{column_name(column)}{row}:A1") == (1, 1, row, column)


@pytest.mark.parametrize("text", ["", "A", "1", "A0", "XFE1", "A1048577", "AAAA1", "A1:", "R1C1"])
def test_what_is_no_address(text: str) -> None:
    assert address(text) is None
