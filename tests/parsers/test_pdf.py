"""PDF files as a person sees them: order, paragraphs, headings, tables, places, and what is wrong with a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.parsers.pdf_files import BOLD, HAN, HAN_VERTICAL, Page, PdfFile, han, line, text, turned_text, words
from wenyuan.errors import DocumentError, FileEncrypted, FileMalformed, NeedsOcr, NoText, PasswordWrong
from wenyuan.parsers.pdf import page as pdf_page
from wenyuan.parsers.reading import read_file
from wenyuan.parsers.sandbox import ReadLimits, read_document
from wenyuan.types import Anchor, Block, Box, Facts, Notice, ReadEvent

FILES = Path(__file__).parents[1] / "fixtures" / "files"


def events(path: Path) -> list[ReadEvent]:
    return list(read_file(path, path.name))


def blocks(path: Path) -> list[Block]:
    return [event for event in events(path) if isinstance(event, Block)]


def facts(path: Path) -> Facts:
    return [event for event in events(path) if isinstance(event, Facts)][-1]


def said(path: Path) -> list[str]:
    return [block.text for block in blocks(path)]


def made(folder: Path, *contents: str, **more: object) -> Path:
    """A file whose pages have these contents."""
    return PdfFile([Page(content) for content in contents], **more).written(folder / "made.pdf")  # type: ignore[arg-type]


def lines(x: float, y: float, said: str, font: str = "F1", leading: float = 14) -> str:
    return "".join(text(x, y - leading * at, words_, 10, font) for at, words_ in enumerate(said.split("\n")))


@pytest.fixture
def without_recogniser(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no text recognition is installed."""
    monkeypatch.setattr(pdf_page, "recognised_page", lambda page, number, name: None)  # noqa: ARG005


# --- Files of real programs ------------------------------------------------------------------------------


@pytest.mark.proves("pdf", "text", file="pdf-columns.pdf")
def test_two_columns_of_a_browser_are_read_one_after_the_other() -> None:
    found = blocks(FILES / "pdf-columns.pdf")
    assert [(block.kind, block.text) for block in found] == [
        ("heading", "分栏与竖排"),
        ("heading", "一、左栏"),
        (
            "paragraph",
            "左栏的文字先读，一直读到栏底，然后才读右栏的文字。每一栏的文字都要连起来，在汉字之间没有空格。"
            "The office staff found the difficult configuration file efficient.",
        ),
        ("heading", "二、右栏"),
        ("paragraph", "右栏的文字后读。左栏的文字与右栏的文字不能连成一行，一行的文字只在一栏。"),
        ("heading", "三、竖排"),
        ("paragraph", "竖排的文字先读右行，然后读左行。"),
    ]
    assert found[4].heading_path == ("分栏与竖排", "二、右栏")
    assert found[4].anchor == Anchor("page", 1, 1, boxes=(Box(1, 315, 120, 579, 148),))


@pytest.mark.proves("pdf", "text", "headings", file="pdf-paper.pdf")
def test_a_paper_of_latex_has_its_words_whole_and_its_outline() -> None:
    found = blocks(FILES / "pdf-paper.pdf")
    everything = "\n".join(block.text for block in found)
    for word in ("Internationalization", "heterogeneous", "Retrieval-Augmented Generation", "well-known"):
        assert word in everything
    assert "\ufffe" not in everything
    assert "\x02" not in everything
    discussion = next(block for block in found if block.text.startswith("Combining"))
    assert discussion.heading_path == ("Measuring Retrieval", "2 Results", "2.1 Discussion")
    rows = [block for block in found if block.kind == "table"]
    assert [row.text for row in rows] == [
        "| System | Recall | Precision |",
        "| Words | 0.71 | 0.42 |",
        "| Vectors | 0.78 | 0.51 |",
        "| Both | 0.86 | 0.60 |",
    ]
    assert [row.context for row in rows] == ["", *[rows[0].text] * 3]
    assert "See the data. (https://example.org/data)" in everything
    told = facts(FILES / "pdf-paper.pdf")
    assert told.title == "Measuring Retrieval"
    assert told.metadata["author"] == "A. Writer"
    assert told.metadata["created"].startswith("2026-")
    assert told.quality["pages"] == 2


@pytest.mark.proves("pdf", "tables", file="handbook.pdf")
def test_a_handbook_of_libreoffice_has_its_lists_and_its_ruled_table() -> None:
    found = blocks(FILES / "handbook.pdf")
    assert [block.text for block in found if block.kind == "list"] == [
        "1. 填写申请表",
        "2. 提交主管",
        "• 电子版",
        "• 纸质版",
        "3. 等待审批",
    ]
    rows = [block for block in found if block.kind == "table"]
    assert [row.text for row in rows] == [
        "| 城市 | 住宿上限（元/晚） | 餐补（元/天） |",
        "| 北京 | 600 | 100 |",
        "| 上海 | 650 | 110 |",
        "| 其他城市合计 |  | 80 |",
    ]
    assert rows[1].heading_path == ("员工手册", "第二章 报销")
    assert next(block for block in found if "请假3天" in block.text).heading_path == (
        *("员工手册", "第一章 考勤", "1.1 请假流程"),
    )


@pytest.mark.proves("pdf", "tables", file="pdf-borderless-table.pdf")
def test_a_table_without_lines_keeps_its_empty_cells() -> None:
    rows = [block.text for block in blocks(FILES / "pdf-borderless-table.pdf") if block.kind == "table"]
    assert "| SKU-9201 |  | 780 | 778 |  | OK |" in rows
    assert "|  | C-15 |  |  | +15 |  |" in rows
    assert "| SKU-8847 | Electronics | $45.00 | $13,005.00 | 2024-10-15 |  |" in rows
    assert len(rows) == 9 + 11


def test_letters_printed_twice_are_read_once() -> None:
    found = said(FILES / "pdf-fake-bold.pdf")
    assert "BOLD TEXT SAMPLE" in found
    assert "Testing Deduplication" in found


@pytest.mark.proves("pdf", "anchors", file="pdf-rotated.pdf")
def test_boxes_lie_on_the_page_as_it_is_shown() -> None:
    found = {block.text: block.anchor.boxes for block in blocks(FILES / "pdf-rotated.pdf")}
    assert found == {
        "Rotated page fixture": (Box(1, 583, 85, 602, 230),),
        "Second line of text here": (Box(1, 639, 85, 659, 254),),
        "Hello World Test Text": (Box(1, 696, 85, 716, 239),),
    }


# --- Files made object by object -------------------------------------------------------------------------


def test_a_paragraph_that_runs_over_a_page_is_one_with_two_boxes(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        lines(
            72,
            100,
            "This paragraph begins at the end of a page and it\ngoes on there without having said all of what it",
        ),
        lines(72, 770, "wants to say, which is the case with many of them.\nThen it ends."),
    )
    (block,) = blocks(path)
    assert block.text.endswith("all of what it wants to say, which is the case with many of them. Then it ends.")
    assert (block.anchor.first, block.anchor.last) == (1, 2)
    assert [box.page for box in block.anchor.boxes] == [1, 2]


def test_headers_footers_and_page_numbers_are_no_text(tmp_path: Path) -> None:
    contents = [
        text(72, 810, "Annual Report")
        + text(290, 30, f"- {number} -")
        + text(72, 700 - 3 * number, f"What page {number} says is said by no other one.")
        for number in range(7, 17)
    ]
    path = made(tmp_path, *contents)
    assert said(path) == [f"What page {number} says is said by no other one." for number in range(7, 17)]
    assert facts(path).quality["headers_removed"] == 20


def test_numbers_that_do_not_count_pages_are_text(tmp_path: Path) -> None:
    contents = [text(72, 810, f"Balance {number}") + text(72, 500, "Nothing else.") for number in (512, 77, 9040)]
    assert [line for line in said(made(tmp_path, *contents)) if "Balance" in line] == [
        "Balance 512",
        "Balance 77",
        "Balance 9040",
    ]


def test_vertical_text_goes_down_and_its_lines_to_the_left(tmp_path: Path) -> None:
    content = text(300, 700, "床前明月光，", 12, HAN_VERTICAL) + text(280, 700, "疑是地上霜。", 12, HAN_VERTICAL)
    (block,) = blocks(made(tmp_path, content))
    assert block.text == "床前明月光，疑是地上霜。"
    (box,) = block.anchor.boxes
    assert box.bottom - box.top > 60 > box.right - box.left


def test_upright_text_of_a_page_shown_sideways(tmp_path: Path) -> None:
    content = turned_text(100, 100, "It ends.", "0 1 -1 0") + turned_text(120, 100, "The next is longer.", "0 1 -1 0")
    path = PdfFile([Page(content, extra="/Rotate 90")]).written(tmp_path / "made.pdf")
    first, second = blocks(path)
    assert (first.text, second.text) == ("It ends.", "The next is longer.")
    assert first.anchor.boxes[0].top < second.anchor.boxes[0].top
    assert first.anchor.boxes[0].left == second.anchor.boxes[0].left == 100


def test_a_visible_part_of_a_page_is_the_page(tmp_path: Path) -> None:
    content = text(150, 600, "Inside") + text(20, 20, "Outside")
    path = PdfFile([Page(content, extra="/CropBox[100 500 400 700]")]).written(tmp_path / "made.pdf")
    (block,) = blocks(path)
    assert block.text == "Inside"
    assert block.anchor.boxes[0].left == 50
    assert 88 <= block.anchor.boxes[0].top <= 95


def test_radicals_and_ligatures_are_letters_and_nothing_else_is_changed(tmp_path: Path) -> None:
    assert said(made(tmp_path, han(72, 700, "⼀⻢当先，ＡＢＣ（１２３）㈠"))) == ["一马当先，ＡＢＣ（１２３）㈠"]


def test_no_space_between_han_and_one_between_words(tmp_path: Path) -> None:
    apart = "".join(han(72 + 14 * at, 700, character) for at, character in enumerate("字与字之间隔得很开"))
    title = "".join(han(72 + 40 * at, 740, character) for at, character in enumerate("目录"))
    over = han(72, 660, "第一行的文字在这里，而且一直写到这一行的最后") + han(72, 646, "第二行接着写下去，没有空格。")
    found = said(made(tmp_path, title + apart + over))
    assert found[0] == "目录"
    assert "字与字之间隔得很开" in found
    assert "第一行的文字在这里，而且一直写到这一行的最后第二行接着写下去，没有空格。" in found


def test_a_ruled_table_with_a_merged_cell(tmp_path: Path) -> None:
    rules = "".join(line(72, y, 372, y) for y in (700, 680, 660, 640))
    rules += line(72, 700, 72, 640) + line(372, 700, 372, 640)
    rules += line(172, 700, 172, 640) + line(272, 700, 272, 680) + line(272, 660, 272, 640)
    cells = text(76, 686, "Name") + text(176, 686, "Spring") + text(276, 686, "Autumn")
    cells += text(76, 666, "Tea") + text(176, 666, "all year long") + text(76, 646, "Rice|Wheat") + text(276, 646, "9")
    rows = blocks(made(tmp_path, rules + cells + text(72, 600, "After it.")))
    assert [row.text for row in rows] == [
        "| Name | Spring | Autumn |",
        "| Tea | all year long |  |",
        "| Rice\\|Wheat |  | 9 |",
        "After it.",
    ]
    assert rows[1].anchor.boxes == (Box(1, 72, 162, 372, 182),)
    assert rows[1].context == rows[0].text


def test_a_table_over_two_pages_keeps_its_header(tmp_path: Path) -> None:
    def table(top: float, *rows: tuple[str, str]) -> str:
        ys = [top - 20 * at for at in range(len(rows) + 1)]
        rules = "".join(line(72, y, 272, y) for y in ys) + "".join(line(x, ys[0], x, ys[-1]) for x in (72, 172, 272))
        return rules + "".join(
            text(76, y - 14, left) + text(176, y - 14, right) for y, (left, right) in zip(ys, rows, strict=False)
        )

    path = made(
        tmp_path, table(120, ("Part", "Place"), ("pump", "hall")), table(800, ("valve", "yard"), ("tank", "roof"))
    )
    found = blocks(path)
    assert [block.context for block in found] == ["", *["| Part | Place |"] * 3]
    assert [block.joiner for block in found[1:]] == ["\n"] * 3
    assert facts(path).quality["tables"] == 1


@pytest.mark.proves("pdf", "headings")
def test_headings_by_outline_size_weight_and_chapter(tmp_path: Path) -> None:
    body = lines(
        72, 640, "The body of the text is longer than all of its headings\ntogether, and so its size is the usual one."
    )
    content = text(72, 760, "Big", 20) + text(72, 720, "From the outline") + text(72, 680, "Bold one", 10, BOLD) + body
    path = made(
        tmp_path,
        content,
        catalogue="/Outlines 10 0 R",
        objects=[
            "<</Type/Outlines/First 11 0 R/Last 11 0 R/Count 1>>",
            f"<</Title{words('From the outline')}/Parent 10 0 R/Dest[{{page1}} 0 R/Fit]>>",
        ],
    )
    found = blocks(path)
    assert [(block.kind, block.heading_path) for block in found] == [
        ("heading", ("Big",)),
        ("heading", ("Big", "From the outline")),
        ("heading", ("Big", "Bold one")),
        ("paragraph", ("Big", "Bold one")),
    ]
    assert facts(path).title == "Big"


def test_form_fields_notes_and_links(tmp_path: Path) -> None:
    annotations = [
        f"<</Type/Annot/Subtype/Widget/FT/Tx/T{words('姓名')}/V{words('张三')}/Rect[100 500 200 520]/P {{page1}} 0 R>>",
        "<</Type/Annot/Subtype/Widget/FT/Btn/T(agreed)/V/Yes/AS/Yes/Rect[100 470 120 490]"
        "/AP<</N<</Yes 10 0 R/Off 10 0 R>>>>/P {page1} 0 R>>",
        "<</Type/Annot/Subtype/Text/Contents(Please check this.)/Rect[300 500 320 520]>>",
        "<</Type/Annot/Subtype/Link/Rect[70 695 200 715]/A<</S/URI/URI(https://example.org/a?b=1)>>>>",
        "<</Type/Annot/Subtype/Link/Rect[70 655 200 675]/A<</S/URI/URI(https://example.org/)>>>>",
    ]
    page = Page(
        text(72, 700, "the source") + text(72, 660, "https://example.org"),
        annotations=[f"{number} 0 R" for number in range(11, 16)],
    )
    path = PdfFile(
        [page],
        catalogue="/AcroForm<</Fields[11 0 R 12 0 R]>>",
        objects=["<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 0>>stream\n\nendstream", *annotations],
    ).written(tmp_path / "made.pdf")
    found = blocks(path)
    assert [block.text for block in found] == [
        "the source (https://example.org/a?b=1)",
        "https://example.org",
        "姓名: 张三",
        "agreed: Yes",
        "Please check this.",
    ]
    assert found[2].anchor.boxes == (Box(1, 100, 322, 200, 342),)


@pytest.mark.proves("pdf", "metadata")
def test_what_a_file_says_of_itself(tmp_path: Path) -> None:
    info = f"/Title{words('年度报告')}/Author{words('李四')}/Subject(Money)/Keywords(a, b)"
    info += "/CreationDate(D:20240229235959-05'30')/ModDate(D:2024)"
    told = facts(made(tmp_path, text(72, 700, "Text"), info=info, catalogue="/Lang(zh-CN)"))
    assert told.title == "年度报告"
    assert told.language == "zh-CN"
    assert told.metadata == {
        "author": "李四",
        "subject": "Money",
        "keywords": "a, b",
        "created": "2024-02-29T23:59:59-05:30",
        "modified": "2024-01-01",
    }


def test_a_title_that_is_no_text_is_replaced(tmp_path: Path) -> None:
    told = facts(made(tmp_path, text(72, 700, "Text"), info="/Title<feff0041d8000042>/Author<feffdc00>"))
    assert told.title == "A\ufffdB"
    assert told.metadata == {"author": "\ufffd"}


def test_a_name_that_a_program_gave_is_no_title(tmp_path: Path) -> None:
    told = facts(
        made(tmp_path, text(72, 700, "Text"), info="/Title(Microsoft Word - draft3.doc)/Author(\\(anonymous\\))")
    )
    assert told.title == ""
    assert told.metadata == {}


# --- What cannot be read ---------------------------------------------------------------------------------

PICTURE = "q 595 0 0 842 0 0 cm /Im Do Q\n"


@pytest.mark.usefixtures("without_recogniser")
def test_pages_without_text_are_named(tmp_path: Path) -> None:
    path = made(tmp_path, text(72, 700, "A page with text on it."), PICTURE, "", PICTURE)
    notices = [event for event in events(path) if isinstance(event, Notice)]
    assert [(notice.code, "Pages 2, 4" in notice.message) for notice in notices] == [("pages-without-text", True)]
    assert facts(path).quality["pages_without_text"] == 2


@pytest.mark.usefixtures("without_recogniser")
def test_a_scan_needs_text_recognition(tmp_path: Path) -> None:
    with pytest.raises(NeedsOcr):
        events(made(tmp_path, PICTURE))


@pytest.mark.usefixtures("without_recogniser")
def test_letters_without_meaning_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(NeedsOcr):
        events(made(tmp_path, han(72, 700, "\ue001\ue002\ue003\ue004字")))


@pytest.mark.proves("pdf", "recognition")
def test_what_is_recognised_stands_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Block("paragraph", "seen on it", Anchor("page", 2, 2))
    monkeypatch.setattr(pdf_page, "recognised_page", lambda page, number, name: [seen] if number == 2 else [])  # noqa: ARG005
    path = made(tmp_path, text(72, 700, "before"), PICTURE, text(72, 700, "after"), PICTURE)
    assert said(path) == ["before", "seen on it", "after"]
    quality = facts(path).quality
    assert (quality["pages_recognised"], quality["pages_without_text"]) == (1, 1)


def test_blank_pages_have_no_text(tmp_path: Path) -> None:
    with pytest.raises(NoText):
        events(made(tmp_path, "", ""))


def test_a_password_opens_a_file() -> None:
    path = FILES / "pdf-password.pdf"
    with pytest.raises(FileEncrypted):
        events(path)
    with pytest.raises(PasswordWrong):
        list(read_file(path, path.name, password="wrong"))
    found = list(read_file(path, path.name, password="secret"))
    assert "员工手册" in [event.text for event in found if isinstance(event, Block)]


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.4\n" + b"1 0 obj <</Type/Catalog>> endobj\n" * 50])
def test_what_is_no_pdf_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(data)
    with pytest.raises(FileMalformed):
        events(path)


def test_a_cut_off_file_is_read_as_far_as_it_goes_or_refused(tmp_path: Path) -> None:
    data = (FILES / "handbook.pdf").read_bytes()
    for part in range(1, 8):
        path = tmp_path / f"{part}.pdf"
        path.write_bytes(data[: len(data) * part // 8])
        try:
            found = [block.text for block in blocks(path)]
        except (FileMalformed, NoText, NeedsOcr):
            continue
        assert "员工手册" in found


@pytest.mark.proves("pdf", "limits")
def test_a_form_that_calls_itself_ends_with_a_code(tmp_path: Path) -> None:
    form = "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 10 0 R/Y 10 0 R>>>>/Length 12"
    path = PdfFile(
        [Page("/X Do", extra="/Group<</S/Transparency>>")], objects=[f"<<{form}>>stream\n/X Do /Y Do \nendstream"]
    ).written(tmp_path / "loop.pdf")
    path.write_bytes(path.read_bytes().replace(b"/XObject<</Im 13 0 R>>", b"/XObject<</X  10 0 R>>"))
    with pytest.raises(DocumentError) as error:
        list(read_document(path, path.name, ReadLimits(parse_seconds=5, parse_memory_bytes=1 << 28)))
    assert error.value.code in {"parser-memory", "parser-crashed", "parser-timeout"}


def test_the_reader_is_loaded_only_for_pdf_files() -> None:
    check = "import sys, wenyuan.parsers.reading; sys.exit('pypdfium2' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_many_pages_need_no_more_memory_than_some(tmp_path: Path) -> None:
    content = "".join(
        text(72, 780 - 12 * at, f"Line {at} of a page that has its share of words in it.") for at in range(8)
    )
    sizes = []
    for count in (30, 300):
        path = PdfFile([Page(content.replace("Line", f"Line {number}")) for number in range(count)]).written(
            tmp_path / f"{count}.pdf"
        )
        measure = (
            "import resource, sys; from pathlib import Path; from wenyuan.parsers.reading import read_file\n"
            "for _ in read_file(Path(sys.argv[1]), 'made.pdf'): pass\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        ran = subprocess.run([sys.executable, "-c", measure, str(path)], check=True, capture_output=True, text=True)
        sizes.append(int(ran.stdout))
    assert sizes[1] < sizes[0] + 30_000


def test_unknown_fonts_are_bold_by_name_only(tmp_path: Path) -> None:
    body = lines(
        72, 700, "Most of this text is set in plain letters and goes on for some\nlines, so that it is the body."
    )
    found = blocks(made(tmp_path, body + text(72, 650, "Bold words", 10, BOLD) + text(72, 620, "宋体字", 10, HAN)))
    assert [block.kind for block in found] == ["paragraph", "heading", "paragraph"]
