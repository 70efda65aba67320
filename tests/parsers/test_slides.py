from __future__ import annotations

import io
import zipfile
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.office_files import R, package, relationships
from tests.parsers.reading_blocks import codes, events_of, facts, of, shown, texts
from wenyuan.errors import FileMalformed, NoText
from wenyuan.parsers.slides.places import Area, in_reading_order
from wenyuan.types import Anchor, Block, Box, Member, ReadEvent

P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
POINT = 12_700
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


def place(left: int, top: int, width: int = 100, height: int = 20) -> str:
    return f'<a:off x="{left * POINT}" y="{top * POINT}"/><a:ext cx="{width * POINT}" cy="{height * POINT}"/>'


def lines(*paragraphs: str) -> str:
    return "<p:txBody>" + "".join(f"<a:p>{paragraph}</a:p>" for paragraph in paragraphs) + "</p:txBody>"


def run(text: str) -> str:
    return f"<a:r><a:t>{text}</a:t></a:r>"


def shape(inside: str, where: str = "", role: str = "") -> str:
    transform = f"<a:xfrm>{where}</a:xfrm>" if where else ""
    return f"<p:sp><p:nvSpPr><p:cNvPr/><p:nvPr>{role}</p:nvPr></p:nvSpPr><p:spPr>{transform}</p:spPr>{inside}</p:sp>"


def title(text: str) -> str:
    return shape(lines(run(text)), role='<p:ph type="title"/>')


def slide(inside: str, attributes: str = "") -> str:
    return f"<p:sld {P} {A} {R} {attributes}><p:cSld><p:spTree>{inside}</p:spTree></p:cSld></p:sld>"


def deck(*slides: str, **parts: str) -> bytes:
    """A presentation; `parts` belong to its first slide: `notesSlide`, `slideLayout`."""
    entries = "".join(f'<p:sldId r:id="s{number}"/>' for number in range(len(slides)))
    # In the file they stand the other way round.
    files: dict[str, str | bytes] = {
        f"ppt/slides/slide{len(slides) - number}.xml": content for number, content in enumerate(slides)
    }
    targets = {f"s{number}": ("slide", f"slides/slide{len(slides) - number}.xml") for number in range(len(slides))}
    files["ppt/presentation.xml"] = f"<p:presentation {P} {R}><p:sldIdLst>{entries}</p:sldIdLst></p:presentation>"
    files["ppt/_rels/presentation.xml.rels"] = relationships(targets)
    files |= {f"ppt/{kind}.xml": content for kind, content in parts.items()}
    files[f"ppt/slides/_rels/slide{len(slides)}.xml.rels"] = relationships(
        {kind: (kind, f"../{kind}.xml") for kind in parts}
    )
    return package(files)


def read(folder: Path, *slides: str, **parts: str) -> list[ReadEvent]:
    return events_of(deck(*slides, **parts), folder, "a.pptx")


@pytest.mark.proves("pptx", "text", "tables", "headings", "anchors", file="deck.pptx")
def test_a_presentation_that_python_pptx_wrote() -> None:
    events = events_of("deck.pptx")
    assert [(block.kind, block.text, block.anchor.first) for block in of(Block, events)] == [
        ("heading", "2026年度计划 Annual plan", 1),
        ("paragraph", "战略部", 1),
        ("heading", "两栏对比 Two columns", 2),
        ("list", "- 左一", 2),
        ("list", "  - 左二", 2),
        ("list", "- 右一", 2),
        ("list", "- 右二", 2),
        ("heading", "销售图表", 3),
        ("caption", "季度收入（万元）", 3),
        ("table", "|  | 收入 | 成本 |", 3),
        ("table", "| 一季度 | 12.5 | 8 |", 3),
        ("table", "| 二季度 | 14 | 9 |", 3),
        ("paragraph", "Notes: 备注第一段", 3),
        ("paragraph", "备注第二段", 3),
        ("paragraph", "左上", 4),
        ("paragraph", "右上", 4),
        ("paragraph", "左下", 4),
        ("paragraph", "右下", 4),
        ("heading", "隐藏页", 5),
        ("table", "| 甲 | 乙 | 丙 |", 5),
        ("table", "| 10 20 | 11 12 |  |", 5),
        ("table", "| 10 20 | 21 | 22 |", 5),
    ]
    quality = {"slides": 6, "charts": 1, "notes": 1, "tables": 1, "hidden_slides": [5], "slides_without_text": [6]}
    assert facts(events).quality == quality
    assert facts(events).title == "2026年度计划 Annual plan"
    assert codes(events) == {"hidden-slides", "slides-without-text"}
    two = [block.anchor for block in of(Block, events) if block.anchor.first == 2]
    assert two[1] == Anchor("slide", 2, 2, boxes=(Box(2, 36, 126, 354, 482),))


def test_slides_come_as_they_are_shown_and_shapes_as_they_stand(tmp_path: Path) -> None:
    group = (
        "<p:grpSp><p:grpSpPr><a:xfrm>"
        f'<a:off x="{100 * POINT}" y="{100 * POINT}"/><a:ext cx="{200 * POINT}" cy="{100 * POINT}"/>'
        '<a:chOff x="0" y="0"/><a:chExt cx="1000" cy="1000"/></a:xfrm></p:grpSpPr>'
        + shape(lines(run("in group")), '<a:off x="500" y="500"/><a:ext cx="500" cy="500"/>')
        + "</p:grpSp>"
    )
    bottom, top = shape(lines(run("bottom")), place(0, 300)), shape(lines(run("top")), place(0, 0))
    first = slide(bottom + group + top + title("One"))
    events = read(tmp_path, first, slide(title("Two")))
    assert texts(events) == ["One", "top", "in group", "bottom", "Two"]
    assert of(Block, events)[2].anchor.boxes == (Box(1, 200, 150, 300, 200),)
    assert [block.heading_path for block in of(Block, events)][-2:] == [("One",), ("Two",)]


def test_bullets_numbers_and_levels(tmp_path: Path) -> None:
    numbered = '<a:pPr><a:buAutoNum type="arabicParenR" startAt="3"/></a:pPr>'
    chinese = '<a:pPr lvl="1"><a:buAutoNum type="ea1ChsPeriod"/></a:pPr>'
    body = shape(
        lines(run("a"), '<a:pPr lvl="1"/>' + run("b"), "<a:pPr><a:buNone/></a:pPr>" + run("c")), role="<p:ph/>"
    )
    box = shape(lines(numbered + run("d"), chinese + run("e"), numbered + run("f"), run("g") + "<a:br/>" + run("h")))
    assert shown(read(tmp_path, slide(body + box))) == [
        ("list", "- a"),
        ("list", "  - b"),
        ("paragraph", "c"),
        ("list", "3) d"),
        ("list", "  一. e"),
        ("list", "4) f"),
        ("paragraph", "g\nh"),
    ]


def test_places_are_inherited_from_the_layout(tmp_path: Path) -> None:
    layout = slide(shape("", place(10, 20, 30, 40), '<p:ph type="body" idx="7"/>')).replace("p:sld ", "p:sldLayout ")
    layout = layout.replace("</p:sld>", "</p:sldLayout>")
    body = shape(lines(run("x")), role='<p:ph type="body" idx="7"/>')
    events = read(tmp_path, slide(body), slideLayout=layout)
    assert of(Block, events)[0].anchor.boxes == (Box(1, 10, 20, 40, 60),)


def test_dates_numbers_and_footers_are_not_read(tmp_path: Path) -> None:
    inside = "".join(shape(lines(run("x")), role=f'<p:ph type="{kind}"/>') for kind in ("dt", "sldNum", "ftr"))
    assert texts(read(tmp_path, slide(inside + title("t")))) == ["t"]


def test_notes_belong_to_their_slide(tmp_path: Path) -> None:
    notes = shape(lines(run("a"), run("b")), role='<p:ph type="body"/>') + shape(
        lines(run("1")), role='<p:ph type="sldNum"/>'
    )
    events = read(tmp_path, slide(title("one")), slide(title("two")), notesSlide=slide(notes))
    assert [(block.text, block.anchor.first) for block in of(Block, events)] == [
        ("one", 1),
        ("Notes: a", 1),
        ("b", 1),
        ("two", 2),
    ]


def test_merged_cells(tmp_path: Path) -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<a:tc {attributes}>{lines(run(text)) if text else ''}</a:tc>".replace("p:txBody", "a:txBody")

    rows = (
        cell("部门") + cell("人"),
        cell("研发", 'rowSpan="2"') + cell("甲"),
        cell("", 'vMerge="1"') + cell("乙"),
        cell("合计", 'gridSpan="2"') + cell("", 'hMerge="1"'),
    )
    table = "".join(f'<a:tr h="{10 * POINT}">{row}</a:tr>' for row in rows)
    frame = (
        f"<p:graphicFrame><p:nvGraphicFramePr/><p:xfrm>{place(0, 0, 100, 40)}</p:xfrm><a:graphic><a:graphicData>"
        f"<a:tbl>{table}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    events = read(tmp_path, slide(frame))
    assert texts(events) == ["| 部门 | 人 |", "| 研发 | 甲 |", "| 研发 | 乙 |", "| 合计 |  |"]
    assert of(Block, events)[2].anchor.boxes == (Box(1, 0, 20, 100, 30),)


def test_diagrams(tmp_path: Path) -> None:
    dgm = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    points = "".join(
        f'<d:pt modelId="{key}"><d:t><a:p>{run(text)}</a:p></d:t></d:pt>'
        for key, text in (("3", "后"), ("1", "先"), ("2", "下"))
    )
    links = "".join(
        f'<d:cxn srcId="{source}" destId="{target}" srcOrd="{order}"/>'
        for source, target, order in (("0", "3", 1), ("0", "1", 0), ("1", "2", 0), ("2", "1", 0))
    )
    points = f'<d:ptLst><d:pt modelId="0" type="doc"/>{points}</d:ptLst>'
    data = f'<d:dataModel xmlns:d="{dgm}" {A}>{points}{links}</d:dataModel>'
    frame = (
        "<p:graphicFrame><p:nvGraphicFramePr/><a:graphic><a:graphicData>"
        f'<d:relIds xmlns:d="{dgm}" r:dm="diagramData"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    events = read(tmp_path, slide(frame), diagramData=data)
    assert texts(events) == ["- 先", "  - 下", "- 后"]
    assert facts(events).quality["diagrams"] == 1


def test_files_inside_become_members(tmp_path: Path) -> None:
    frame = (
        "<p:graphicFrame><p:nvGraphicFramePr/><a:graphic><a:graphicData>"
        '<p:oleObj r:id="package"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    events = read(tmp_path, slide(frame + title("t")), package="<x/>")
    assert [member.path for member in of(Member, events)] == ["package.xml"]


def test_a_slide_that_is_missing(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(deck(slide(title("one")), slide(title("two"))))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != "ppt/slides/slide2.xml"}
    events = events_of(package(parts), tmp_path, "a.pptx")
    assert [(block.text, block.anchor.first) for block in of(Block, events)] == [("two", 2)]
    assert codes(events) == {"slides-missing"}


@given(st.lists(st.lists(WORDS, max_size=4), min_size=1, max_size=4))
@settings(max_examples=25)
def test_every_word_comes_back(tmp_path_factory: pytest.TempPathFactory, slides: list[list[str]]) -> None:
    slides[0].append("end")
    boxes = [[shape(lines(run(escape(word))), place(0, 30 * at)) for at, word in enumerate(words)] for words in slides]
    written = [slide("".join(reversed(shapes))) for shapes in boxes]
    events = read(tmp_path_factory.mktemp("deck"), *written)
    expected = [(word, number) for number, words in enumerate(slides, 1) for word in words]
    assert [(block.text, block.anchor.first) for block in of(Block, events)] == expected


AREAS = st.builds(
    lambda left, top, width, height: Area(left, top, left + width, top + height),
    *(st.integers(0, 500) for _ in range(2)),
    *(st.integers(0, 200) for _ in range(2)),
)


@given(st.lists(st.none() | AREAS, max_size=25))
def test_reading_order_leaves_nothing_out(areas: list[Area | None]) -> None:
    order = in_reading_order([(area, number) for number, area in enumerate(areas)])
    assert sorted(order) == list(range(len(areas)))
    placed = [number for number in order if areas[number] is not None]
    assert order[len(placed) :] == [number for number, area in enumerate(areas) if area is None]
    for before, after in pairwise(placed):
        first, second = areas[before], areas[after]
        assert first is not None
        assert second is not None
        # Things that share two points of the width may stand side by side.
        shared = min(first.right - second.left, second.right - first.left)
        is_above = second.bottom < first.top and shared > 2
        assert not is_above, "what stands above is read before"


@pytest.mark.proves("pptx", "limits")
def test_hostile_presentations(tmp_path: Path) -> None:
    nested = "<p:grpSp>" * 200 + shape(lines(run("x"))) + "</p:grpSp>" * 200
    with pytest.raises(NoText):
        read(tmp_path, slide(nested))
    with pytest.raises(FileMalformed, match="depth"):
        read(tmp_path, slide("<p:grpSp>" * 100_000))
    huge = shape(lines(run("far")), f'<a:off x="{10**30}" y="-5"/><a:ext cx="1" cy="1"/>')
    assert texts(read(tmp_path, slide(huge))) == ["far"]
