from __future__ import annotations

import io
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.office_files import R, W, package, paragraph, relationships, word
from tests.parsers.reading_blocks import codes, events_of, facts, of, shown, texts
from wenyuan.errors import FileMalformed, FileOverLimit, NoText
from wenyuan.parsers.word.parser import WordParser
from wenyuan.types import Anchor, Block, Member, ReadEvent

HANDBOOK = ("员工手册",)
ATTENDANCE = (*HANDBOOK, "第一章 考勤")
LEAVE = (*ATTENDANCE, "1.1 请假流程")
EXPENSES = (*HANDBOOK, "第二章 报销")
SECURITY = (*HANDBOOK, "Chapter 3 Security")
COLUMNS = "| 城市 | 住宿上限（元/晚） | 餐补（元/天） |"

WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=30)

STYLES = """
<w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:basedOn w:val="a"/></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Κεφάλαιο"/>
  <w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Sub"><w:name w:val="Own"/><w:basedOn w:val="Kapitel"/></w:style>
<w:style w:type="paragraph" w:styleId="Flat"><w:name w:val="Flat"/><w:basedOn w:val="1"/>
  <w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="toc"><w:name w:val="toc 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/>
  <w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
"""
NUMBERING = """
<w:abstractNum w:abstractNumId="0">
  <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
  <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
  <w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="1">
  <w:lvl w:ilvl="0"><w:start w:val="9"/><w:numFmt w:val="chineseCountingThousand"/><w:lvlText w:val="第%1条"/></w:lvl>
  <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%2)"/>
    <w:pStyle w:val="Clause"/></w:lvl>
</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="0"/>
  <w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>
"""


def read(folder: Path, body: str, **parts: str) -> list[ReadEvent]:
    return events_of(word(body, **parts), folder, "a.docx")


def styled(style: str, text: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def item(text: str, list_id: int, depth: int = 0) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>')


def run(inside: str) -> str:
    return f"<w:r>{inside}</w:r>"


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def table(*rows: str, columns: int = 2) -> str:
    grid = f"<w:tblGrid>{'<w:gridCol/>' * columns}</w:tblGrid>"
    return f"<w:tbl>{grid}{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


@pytest.mark.proves("docx", "text", "tables", "headings", "anchors", file="handbook.docx")
def test_a_document_that_libreoffice_wrote() -> None:
    events = events_of("handbook.docx")
    blocks = of(Block, events)
    assert [(block.kind, block.text, block.heading_path) for block in blocks] == [
        ("heading", "员工手册", HANDBOOK),
        ("paragraph", "本手册适用于全体员工，版本2.1。", HANDBOOK),
        ("heading", "第一章 考勤", ATTENDANCE),
        ("paragraph", "工作时间为上午9:00至下午18:00。", ATTENDANCE),
        ("heading", "1.1 请假流程", LEAVE),
        ("paragraph", "请假3天以上须经部门经理批准。", LEAVE),
        ("list", "1. 填写申请表", LEAVE),
        ("list", "2. 提交主管", LEAVE),
        ("list", "  - 电子版", LEAVE),
        ("list", "  - 纸质版", LEAVE),
        ("list", "3. 等待审批", LEAVE),
        ("heading", "第二章 报销", EXPENSES),
        ("paragraph", "差旅标准见下表。", EXPENSES),
        ("table", COLUMNS, EXPENSES),
        ("table", "| 北京 | 600 | 100 |", EXPENSES),
        ("table", "| 上海 | 650 | 110 |", EXPENSES),
        ("table", "| 其他城市合计 |  | 80 |", EXPENSES),
        ("heading", "Chapter 3 Security", SECURITY),
        ("paragraph", "Passwords must be at least 12 characters long. See policy.", SECURITY),
        ("code", "ssh -p 2222 user@host", SECURITY),
        ("code", "# comment", SECURITY),
        ("paragraph", "联系人：张三（zhangsan@example.com），电话010-12345678。", SECURITY),
    ]
    assert [block.anchor for block in blocks] == [Anchor("paragraph", number, number) for number in range(1, 23)]
    assert [block.context for block in blocks if block.kind == "table"] == ["", COLUMNS, COLUMNS, COLUMNS]
    assert facts(events).title == "员工手册"
    assert facts(events).quality == {"tables": 1}
    assert codes(events) == set()


@pytest.mark.proves("docx", "text", "metadata", file="features.docx")
def test_a_document_that_python_docx_and_pandoc_wrote() -> None:
    assert texts(events_of("policy.docx"))[3:5] == [
        "为规范采购行为，制定本制度[1]。The policy applies to all departments.",
        "[1] 本制度自2026年1月1日起施行。",
    ]
    assert "x=(−b±√(b^2−4ac))/(2a)" in texts(events_of("policy.docx"))
    events = events_of("features.docx")
    assert facts(events).metadata["author"] == "王五"
    assert facts(events).metadata["header"] == "内部资料 Confidential"
    assert "footer" not in facts(events).metadata, "a page number says nothing"
    assert facts(events).quality == {"comments": 1, "text_boxes": 1, "tables": 2, "insertions": 1, "deletions": 1}
    assert codes(events) == {"tracked-changes", "hidden-text"}
    assert texts(events)[1:3] == [
        "正文开始，插入的文字，softhyphen-end\ttab\n第二行",
        "Comment by 赵六: 请核对数字",
    ]


def test_text_boxes_are_read_once() -> None:
    found = texts(events_of("text-boxes.docx"))
    assert len(found) == len(set(found)) + 3, "only Yes and No stand there twice"
    assert "Student falls ill" in found
    assert 1_600 < sum(map(len, found)) < 1_900


def test_headings_have_an_outline_level_whatever_their_style_is_called(tmp_path: Path) -> None:
    body = (
        styled("T", "Report")
        + styled("1", "一")
        + styled("Sub", "Υποκεφάλαιο")
        + styled("Flat", "no heading")
        + paragraph("own level", '<w:outlineLvl w:val="2"/>')
        + styled("Loop", "body")
        + styled("unknown", "body")
        + styled("toc", "一 … 3")
    )
    events = read(tmp_path, body, styles=STYLES)
    assert [(block.kind, block.heading_path) for block in of(Block, events)] == [
        ("heading", ("Report",)),
        ("heading", ("Report", "一")),
        ("heading", ("Report", "一", "Υποκεφάλαιο")),
        ("paragraph", ("Report", "一", "Υποκεφάλαιο")),
        ("heading", ("Report", "一", "Υποκεφάλαιο", "own level")),
        ("paragraph", ("Report", "一", "Υποκεφάλαιο", "own level")),
        ("paragraph", ("Report", "一", "Υποκεφάλαιο", "own level")),
    ]
    assert facts(events).quality == {"contents_entries": 1}


def test_numbers_of_lists_as_they_are_shown(tmp_path: Path) -> None:
    body = (
        item("a", 1)
        + item("b", 1, 1)
        + item("c", 1, 1)
        + item("d", 1, 2)
        + item("e", 1)
        + item("f", 1, 1)
        + item("", 1)
        + item("g", 2)
        + item("h", 2)
        + item("i", 3)
        + item("j", 3)
        + item("k", 3)
        + styled("Clause", "l")
        + paragraph("m", '<w:pStyle w:val="Clause"/><w:numPr><w:numId w:val="0"/></w:numPr>')
        + paragraph("n", '<w:outlineLvl w:val="0"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>')
    )
    assert shown(read(tmp_path, body, styles=STYLES, numbering=NUMBERING)) == [
        ("list", "1. a"),
        ("list", "  1.1 b"),
        ("list", "  1.2 c"),
        ("list", "    - d"),
        ("list", "2. e"),
        ("list", "  2.1 f"),
        ("list", "7. g"),
        ("list", "8. h"),
        ("list", "第九条 i"),
        ("list", "第十条 j"),
        ("list", "第十一条 k"),
        ("list", "  (a) l"),
        ("paragraph", "m"),
        ("heading", "第十二条 n"),
    ]


@pytest.mark.proves("docx", "tables")
def test_tables_with_merged_cells_and_tables_in_them(tmp_path: Path) -> None:
    down, start = "<w:vMerge/>", '<w:vMerge w:val="restart"/>'
    body = table(
        cell(paragraph("部门")) + cell(paragraph("姓名")),
        cell(paragraph("研发"), start) + cell(paragraph("甲|乙") + table(cell(paragraph("x")) + cell(paragraph("y")))),
        cell(paragraph(""), down) + cell(paragraph("丙") + paragraph("丁")),
        cell(paragraph("合计"), '<w:gridSpan w:val="2"/>'),
    ) + table(cell(paragraph("一") + paragraph("二")), cell(paragraph("三")), columns=1)
    events = read(tmp_path, body)
    assert shown(events) == [
        ("table", "| 部门 | 姓名 |"),
        ("table", "| 研发 | 甲\\|乙 |"),
        ("table", "| x | y |"),
        ("table", "| 研发 | 丙 丁 |"),
        ("table", "| 合计 |  |"),
        ("paragraph", "一"),
        ("paragraph", "二"),
        ("paragraph", "三"),
    ]
    blocks = of(Block, events)
    assert [block.context for block in blocks[:5]] == ["", "| 部门 | 姓名 |", "", "| 部门 | 姓名 |", "| 部门 | 姓名 |"]
    assert [block.joiner for block in blocks[:5]] == ["\n\n", "\n", "\n\n", "\n\n", "\n"]


def test_a_first_row_of_numbers_is_no_header_unless_it_says_so(tmp_path: Path) -> None:
    rows = (cell(paragraph("2023")) + cell(paragraph("2024")), cell(paragraph("1")) + cell(paragraph("2")))
    assert {block.context for block in of(Block, read(tmp_path, table(*rows)))} == {""}
    marked = (f"<w:trPr><w:tblHeader/></w:trPr>{rows[0]}", rows[1])
    assert of(Block, read(tmp_path, table(*marked)))[1].context == "| 2023 | 2024 |"


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (run("<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t>"), "a\tb\nc-d"),
        (run("<w:t>exam\u00adple</w:t><w:softHyphen/><w:t>s</w:t>"), "examples"),
        (f"<w:ins>{run('<w:t>new</w:t>')}</w:ins><w:del>{run('<w:delText>old</w:delText>')}</w:del>", "new"),
        (f"<w:moveFrom>{run('<w:t>x</w:t>')}</w:moveFrom><w:moveTo>{run('<w:t>y</w:t>')}</w:moveTo>", "y"),
        (run("<w:rPr><w:vanish/></w:rPr><w:t>secret</w:t>") + run("<w:t>seen</w:t>"), "seen"),
        (run('<w:rPr><w:vanish w:val="0"/></w:rPr><w:t>seen</w:t>'), "seen"),
        (f'<w:hyperlink r:id="r9">{run("<w:t>link</w:t>")}</w:hyperlink>', "link"),
        (f'<w:fldSimple w:instr="PAGE">{run("<w:t>3</w:t>")}</w:fldSimple>', "3"),
        (f"<w:sdt><w:sdtContent>{run('<w:t>control</w:t>')}</w:sdtContent></w:sdt>", "control"),
        (
            run(
                "<w:ruby><w:rt><w:r><w:t>hàn</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>汉</w:t></w:r></w:rubyBase></w:ruby>"
            ),
            "汉",
        ),
        (run('<w:sym w:font="Wingdings" w:char="F0FE"/><w:t>是</w:t>'), "☑是"),
        (
            run('<w:fldChar w:fldCharType="begin"/>')
            + run("<w:instrText>IF </w:instrText>")
            + run('<w:fldChar w:fldCharType="begin"/>')
            + run('<w:fldChar w:fldCharType="separate"/>')
            + run("<w:t>inner result</w:t>")
            + run('<w:fldChar w:fldCharType="end"/>')
            + run('<w:fldChar w:fldCharType="separate"/>')
            + run("<w:t>shown</w:t>")
            + run('<w:fldChar w:fldCharType="end"/>'),
            "shown",
        ),
        (
            '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice>'
            + run("<w:t>new</w:t>")
            + "</mc:Choice><mc:Fallback>"
            + run("<w:t>old</w:t>")
            + "</mc:Fallback></mc:AlternateContent>",
            "new",
        ),
    ],
)
def test_what_is_shown_of_a_paragraph(tmp_path: Path, inside: str, expected: str) -> None:
    body = f"<w:p>{inside}</w:p>"
    assert texts(read(tmp_path, body)) == [expected]
    assert texts(read(tmp_path, table(cell(body) + cell(paragraph("x"))))) == [f"| {' '.join(expected.split())} | x |"]


def test_a_paragraph_whose_end_is_deleted_goes_on_with_the_next(tmp_path: Path) -> None:
    body = paragraph("one ", "<w:rPr><w:del/></w:rPr>") + paragraph("two")
    assert texts(read(tmp_path, body)) == ["one two"]
    body = paragraph("one", "<w:rPr><w:del/></w:rPr>") + "<w:p/>" + paragraph("two")
    assert texts(read(tmp_path, body)) == ["one", "two"]


def test_notes_and_comments_follow_their_paragraph(tmp_path: Path) -> None:
    body = "".join(
        [
            "<w:p>",
            run("<w:t>第一</w:t>"),
            run('<w:footnoteReference w:id="7"/>'),
            run("<w:t>。</w:t>"),
            run('<w:endnoteReference w:id="2"/>'),
            run('<w:commentReference w:id="0"/>'),
            "</w:p>",
            paragraph("第二"),
        ]
    )
    parts = {
        "footnotes": f'<w:footnote w:id="7">{paragraph("脚注")}{paragraph("二行")}</w:footnote>',
        "endnotes": f'<w:endnote w:id="2">{paragraph("尾注")}</w:endnote>',
        "comments": f'<w:comment w:id="0" w:author="赵六">{paragraph("请核对")}</w:comment>',
    }
    events = read(tmp_path, body, **parts)
    assert texts(events) == ["第一[1]。[i]", "[1] 脚注 二行", "[i] 尾注", "Comment by 赵六: 请核对", "第二"]
    assert facts(events).quality == {"footnotes": 1, "endnotes": 1, "comments": 1}


def test_content_controls_around_paragraphs_and_rows(tmp_path: Path) -> None:
    inner = f"<w:sdt><w:sdtContent>{paragraph('in')}</w:sdtContent></w:sdt>"
    rows = f"<w:tr>{cell(paragraph('a'))}{cell(inner)}</w:tr>"
    wrapped = f"<w:tbl><w:sdt><w:sdtContent>{rows}</w:sdtContent></w:sdt></w:tbl>"
    assert texts(read(tmp_path, inner + wrapped)) == ["in", "| a | in |"]


def test_the_strict_form_of_the_format(tmp_path: Path) -> None:
    content = word(styled("1", "标题") + item("项", 1), styles=STYLES, numbering=NUMBERING)
    transitional = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    assert shown(events_of(content, tmp_path, "a.docx")) == [("heading", "标题"), ("list", "1. 项")]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {
            name: archive.read(name).replace(transitional, b"http://purl.oclc.org/ooxml/wordprocessingml/main")
            for name in archive.namelist()
        }
    assert shown(events_of(package(parts), tmp_path, "a.docx")) == [("heading", "标题"), ("list", "1. 项")]


def test_files_inside_become_members(tmp_path: Path) -> None:
    body = paragraph("text") + '<w:altChunk r:id="x"/>'
    parts = {
        "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relationships({"x": ("aFChunk", "/word/p.html")}),
        "word/p.html": "<p>page</p>",
    }
    members = of(Member, events_of(package(parts), tmp_path, "a.docx"))
    assert [(member.path, member.data) for member in members] == [("p.html", b"<p>page</p>")]


@given(st.lists(st.tuples(st.sampled_from(["a", "1"]), WORDS)))
@settings(max_examples=40)
def test_every_word_comes_back(tmp_path_factory: pytest.TempPathFactory, written: list[tuple[str, str]]) -> None:
    body = "".join(styled(style, escape(text)) for style, text in written) + paragraph("end")
    found = read(tmp_path_factory.mktemp("word"), body, styles=STYLES)
    kinds = {"a": "paragraph", "1": "heading"}
    assert shown(found) == [*((kinds[style], text) for style, text in written), ("paragraph", "end")]


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(NoText):
        read(tmp_path, paragraph(""))
    path = tmp_path / "b.docx"
    path.write_bytes(package({"a": "b"}))
    with pytest.raises(FileMalformed, match="missing"):
        list(WordParser().read(path, "b.docx"))


@pytest.mark.proves("docx", "limits")
def test_hostile_documents(tmp_path: Path) -> None:
    with pytest.raises(FileMalformed, match="depth"):
        read(tmp_path, "<w:sdt><w:sdtContent>" * 100_000)
    with pytest.raises(FileOverLimit, match="250 times its size"):
        read(tmp_path, "<w:p/>" * 7_000_000)
    nested = paragraph("deep")
    for _ in range(60):
        nested = table(cell(nested) + cell(paragraph("x")))
    assert "deep" in "".join(texts(read(tmp_path, nested)))
    wide = "".join(cell(paragraph("x"), '<w:gridSpan w:val="999999999"/>') for _ in range(50))
    assert len(texts(read(tmp_path, table(wide, wide)))[0]) < 5_000
    assert texts(read(tmp_path, item("a", 1, 99) + item("b", 77), numbering=NUMBERING)) == ["a", "b"]
