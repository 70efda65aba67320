from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.office_files import ODF, open_document, package
from tests.parsers.reading_blocks import codes, events_of, facts, of, shown, texts
from wenyuan.errors import FileMalformed, LockNotOpened, NoText
from wenyuan.types import Block, Box, ReadEvent

STYLES = """
<style:style style:name="Title" style:family="paragraph"/>
<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>
<style:style style:name="dp1" style:family="drawing-page">
  <style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<text:list-style style:name="L1">
  <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
  <text:list-level-style-number text:level="2" style:num-format="1" style:num-suffix="." text:display-levels="2"/>
  <text:list-level-style-bullet text:level="3" text:bullet-char="•"/>
</text:list-style>
<text:list-style style:name="L2">
  <text:list-level-style-number text:level="1" style:num-format="一, 二, 三, ..."
    style:num-prefix="第" style:num-suffix="条"/>
</text:list-style>
"""
# A hyphen that keeps its line together is read as any other.
WORDS = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="\u2011"), min_size=1, max_size=30)


def read(folder: Path, body: str, **parts: str) -> list[ReadEvent]:
    return events_of(open_document("text", body, automatic=STYLES, **parts), folder, "a.odt")


def p(text: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def items(style: str, *inside: str, attributes: str = "") -> str:
    entries = "".join(f"<text:list-item>{one}</text:list-item>" for one in inside)
    return f'<text:list text:style-name="{style}" {attributes}>{entries}</text:list>'


def test_headings_paragraphs_and_code(tmp_path: Path) -> None:
    body = (
        p("总标题", "Title")
        + '<text:h text:outline-level="2">二级</text:h>'
        + f"<text:section>{p('正文')}</text:section>"
        + p("x = 1", "P1")
        + p("y  = 2", "P1")
    )
    events = read(tmp_path, body)
    assert [(block.kind, block.text, block.heading_path) for block in of(Block, events)] == [
        ("heading", "总标题", ("总标题",)),
        ("heading", "二级", ("总标题", "二级")),
        ("paragraph", "正文", ("总标题", "二级")),
        ("code", "x = 1", ("总标题", "二级")),
        ("code", "y = 2", ("总标题", "二级")),
    ]
    assert facts(events).title == "总标题"


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("a<text:tab/>b<text:line-break/>c", "a\tb\nc"),
        ('a<text:s text:c="3"/>b', "a   b"),
        ("a\n   b", "a b"),
        ("<text:span>a</text:span><text:a>b</text:a><text:bookmark/>c", "abc"),
        ('a<text:span text:style-name="T1">hidden</text:span>b', "ab"),
        ("<text:ruby><text:ruby-base>汉</text:ruby-base><text:ruby-text>hàn</text:ruby-text></text:ruby>字", "汉字"),
        ("exam\u00adple", "example"),
        ('a<text:s text:c="99999999999999"/>b', "a b"),
    ],
)
def test_what_is_shown_of_a_paragraph(tmp_path: Path, inside: str, expected: str) -> None:
    assert texts(read(tmp_path, p(inside))) == [expected]


def test_numbers_of_lists_as_they_are_shown(tmp_path: Path) -> None:
    inner = items("", p("b"), p("c"), items("", p("d")))
    body = (
        items("L1", p("a") + inner, p("e") + p("goes on"), attributes='xml:id="one"')
        + items("L1", p("f"))
        + items("L1", p("g"), attributes='text:continue-list="one"')
        + items("L2", p("h"))
        + items("L2", p("i"), attributes='text:continue-numbering="true"')
        + f'<text:list text:style-name="L1"><text:list-item text:start-value="5">{p("j")}</text:list-item></text:list>'
        + items("unknown", p("k"))
    )
    assert shown(read(tmp_path, body)) == [
        ("list", "1. a"),
        ("list", "  1.1. b"),
        ("list", "  1.2. c"),
        ("list", "    - d"),
        ("list", "2. e"),
        ("paragraph", "goes on"),
        ("list", "1. f"),
        ("list", "3. g"),
        ("list", "第一条 h"),
        ("list", "第二条 i"),
        ("list", "5. j"),
        ("list", "- k"),
    ]


def test_tables(tmp_path: Path) -> None:
    def cell(inside: str, attributes: str = "") -> str:
        return f"<table:table-cell {attributes}>{inside}</table:table-cell>"

    def table(columns: int, rows: str) -> str:
        return f"<table:table>{'<table:table-column/>' * columns}{rows}</table:table>"

    def row(inside: str) -> str:
        return f"<table:table-row>{inside}</table:table-row>"

    covered = "<table:covered-table-cell/>"
    inner = table(2, row(cell(p("x")) * 2))
    rows = (
        cell(p("部门")) + cell(p("姓名")),
        cell(p("研发"), 'table:number-rows-spanned="2"') + cell(p("甲") + inner),
        covered + cell(p("乙") + items("L1", p("一"))),
        cell(p("合计"), 'table:number-columns-spanned="2"') + covered,
        cell("", 'table:number-columns-repeated="1000000"'),
    )
    head, *others = map(row, rows)
    body = table(2, f"<table:table-header-rows>{head}</table:table-header-rows>{''.join(others)}")
    body += table(1, row(cell(p("frame") + p("two"))))
    events = read(tmp_path, body)
    assert shown(events) == [
        ("table", "| 部门 | 姓名 |"),
        ("table", "| 研发 | 甲 |"),
        ("table", "| x | x |"),
        ("table", "| 研发 | 乙 1. 一 |"),
        ("table", "| 合计 |  |"),
        ("paragraph", "frame"),
        ("paragraph", "two"),
    ]
    assert of(Block, events)[3].context == "| 部门 | 姓名 |"


def test_notes_comments_boxes_and_changes(tmp_path: Path) -> None:
    def note(kind: str, text: str) -> str:
        return (
            f'<text:note text:note-class="{kind}"><text:note-citation>9</text:note-citation>'
            f"<text:note-body>{p(text)}</text:note-body></text:note>"
        )

    creator = '<dc:creator xmlns:dc="http://purl.org/dc/elements/1.1/">赵六</dc:creator>'
    comment = f"<office:annotation>{creator}{p('核对')}</office:annotation>"
    box = f"<draw:frame><draw:text-box>{p('框内')}</draw:text-box></draw:frame>"
    region = f"<text:changed-region><text:deletion>{p('deleted')}</text:deletion></text:changed-region>"
    body = (
        f"<text:tracked-changes>{region}</text:tracked-changes>"
        + p(f"甲{note('footnote', '脚注')}乙{note('endnote', '尾注')}{comment}{box}")
        + f"<text:table-of-content><text:index-body>{p('第一章 1')}</text:index-body></text:table-of-content>"
        + p("end")
    )
    events = read(tmp_path, body)
    assert texts(events) == ["甲[1]乙[i]", "[1] 脚注", "[i] 尾注", "Comment by 赵六: 核对", "框内", "end"]
    expected = {"footnotes": 1, "endnotes": 1, "comments": 1, "text_boxes": 1, "deletions": 1, "contents_entries": 1}
    assert facts(events).quality == expected
    assert codes(events) == {"tracked-changes"}


def test_properties_and_margins(tmp_path: Path) -> None:
    meta = (
        f'<office:document-meta {ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        "<dc:title>标题</dc:title><meta:initial-creator>甲</meta:initial-creator><dc:creator>乙</dc:creator>"
        "<meta:keyword>一</meta:keyword><meta:keyword>二</meta:keyword><dc:date>2026-05-01T10:00:00.123456789</dc:date>"
        "</office:meta></office:document-meta>"
    )
    margins = f"<style:header>{p('页眉')}</style:header><style:footer>{p('第 1 页')}</style:footer>"
    styles = f"<office:document-styles {ODF}>{margins}</office:document-styles>"
    found = facts(read(tmp_path, p("x"), meta=meta, styles=styles))
    assert found.title == "标题"
    assert found.metadata == {"author": "甲", "keywords": "一, 二", "modified": "2026-05-01T10:00:00", "header": "页眉"}


def test_slides(tmp_path: Path) -> None:
    def frame(inside: str, attributes: str) -> str:
        return f"<draw:frame {attributes}><draw:text-box>{inside}</draw:text-box></draw:frame>"

    size = 'svg:width="1in" svg:height="1cm"'
    said = frame(p("讲稿") + p("二"), 'presentation:class="notes"')
    notes = f"<presentation:notes>{said}</presentation:notes>"
    pages = (
        '<draw:page draw:style-name="dp1">'
        + frame(p("下"), f'svg:x="0cm" svg:y="10cm" {size}')
        + f'<draw:g><draw:custom-shape svg:x="1in" svg:y="72pt" {size}>{p("上")}</draw:custom-shape></draw:g>'
        + frame(p("题"), f'presentation:class="title" svg:x="0cm" svg:y="20cm" {size}')
        + frame(p("7"), 'presentation:class="page-number"')
        + notes
        + "</draw:page><draw:page/>"
    )
    events = events_of(open_document("presentation", pages, automatic=STYLES), tmp_path, "a.odp")
    assert texts(events) == ["题", "上", "下", "Notes: 讲稿", "二"]
    assert of(Block, events)[1].anchor.boxes == (Box(1, 72, 72, 144, 100),)
    assert facts(events).quality == {"slides": 2, "notes": 1, "hidden_slides": [1], "slides_without_text": [2]}


def test_a_file_behind_a_password(tmp_path: Path) -> None:
    manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>"
    mime_type = "application/vnd.oasis.opendocument.text"
    content = package({"mimetype": mime_type, "content.xml": b"\x00\x01", "META-INF/manifest.xml": manifest})
    with pytest.raises(LockNotOpened):
        events_of(content, tmp_path, "a.odt")


@given(st.lists(st.tuples(st.booleans(), WORDS)))
@settings(max_examples=40)
def test_every_word_comes_back(tmp_path_factory: pytest.TempPathFactory, written: list[tuple[bool, str]]) -> None:
    body = "".join(f"<text:h>{escape(text)}</text:h>" if heading else p(escape(text)) for heading, text in written)
    found = read(tmp_path_factory.mktemp("odt"), body + p("end"))
    kinds = ["heading" if heading else "paragraph" for heading, _ in written]
    assert shown(found) == [*zip(kinds, (text for _, text in written), strict=True), ("paragraph", "end")]


@pytest.mark.proves("odt", "limits")
@pytest.mark.proves("odp", "limits")
def test_hostile_documents(tmp_path: Path) -> None:
    with pytest.raises(FileMalformed, match="depth"):
        read(tmp_path, "<text:list><text:list-item>" * 100_000)
    nested = p("deep")
    for _ in range(80):
        nested = items("L1", nested)
    assert texts(read(tmp_path, nested)) == ["deep"]
    with pytest.raises(NoText):
        read(tmp_path, p(""))
