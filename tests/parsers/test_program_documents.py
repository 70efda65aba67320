"""Texts as word processors, printers, converters and presentation programs wrote them, exactly."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.parsers.program_files import FILES, Part, ProgramFile, expected_parts
from tests.parsers.reading_blocks import of
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block

_FOOTNOTE_ZH = {
    "本手册适用于城西水厂的全体值班人员，自2025年3月1日起施行，由生产技术科负责解释。": (
        "本手册适用于城西水厂的全体值班人员，自2025年3月1日起施行，由生产技术科负责解释。[1]"
    )
}
_FOOTNOTE_EN = {
    "This handbook is for the volunteers of the Harbour Street workshop. It was last revised on 14 June 2025 and "
    "replaces all earlier versions.": (
        "This handbook is for the volunteers of the Harbour Street workshop. It was last revised on 14 June 2025 and "
        "replaces all earlier versions.[1]"
    )
}
_OPENING = (
    "The dome was open on 143 nights of the year, eleven more than the year before, although a failed bearing cost us "
    "most of February."
)
_TEA_OPENING = "去年春季气温回升较早，首采日期提前到3月18日，比上一年早了六天；全年共采摘鲜叶 42.6 吨。"
_NOTE_ZH, _NOTE_EN = "[1] 以后每年修订一次。", "[1] It is revised every year."
_COMMENT_ZH, _COMMENT_EN = "Comment by 林晓: 数字待核对", "Comment by Ada Byrne: Is this still so?"
_SEASONS_ZH = ("| 春 | 12.4 |", "| 夏 | 5.1 |")
_SEASONS_EN = ("| Spring | 12.4 |", "| Summer | 5.1 |")

DOCUMENTS = (
    ProgramFile("tea-python-docx.docx", extra=("Comment by 林晓: 核对日期",)),
    ProgramFile("bakery-python-docx.docx", extra=("Comment by Ada Byrne: Check the date",)),
    ProgramFile(
        "observatory-docx-js.docx",
        changed={_OPENING: f"{_OPENING}[1]"},
        extra=("[1] Revised every year.",),
    ),
    ProgramFile("waterworks-docx-js.docx", changed=_FOOTNOTE_ZH, extra=(_NOTE_ZH,)),
    ProgramFile("workshop-pandoc.docx"),
    ProgramFile("reading-room-pandoc.docx"),
    ProgramFile("waterworks-libreoffice.docx", changed=_FOOTNOTE_ZH, extra=(_NOTE_ZH, _COMMENT_ZH)),
    ProgramFile("workshop-libreoffice.docx", changed=_FOOTNOTE_EN, extra=(_NOTE_EN, _COMMENT_EN)),
    ProgramFile("workshop-abiword.docx"),
    ProgramFile("waterworks-libreoffice.doc", changed=_FOOTNOTE_ZH, extra=(_NOTE_ZH, _COMMENT_ZH)),
    ProgramFile("workshop-libreoffice.doc", changed=_FOOTNOTE_EN, extra=(_NOTE_EN, _COMMENT_EN)),
    ProgramFile(
        "tea-libreoffice.odt",
        changed={_TEA_OPENING: f"{_TEA_OPENING}[1]"},
        extra=(_NOTE_ZH, _COMMENT_ZH),
    ),
    ProgramFile("workshop-libreoffice.odt", changed=_FOOTNOTE_EN, extra=(_NOTE_EN, _COMMENT_EN)),
    ProgramFile("waterworks-pandoc.odt"),
    # It writes its lists as paragraphs that a tabulator indents.
    ProgramFile("workshop-abiword.odt", bullets="paragraph", numbers="paragraph"),
    ProgramFile("waterworks-libreoffice.rtf", changed=_FOOTNOTE_ZH, extra=(_NOTE_ZH,)),
    ProgramFile("bakery-pandoc.rtf"),
    # It writes numbers for older programs only, in a way that is not read.
    ProgramFile("workshop-abiword.rtf", numbers="paragraph"),
    ProgramFile("observatory-pandoc.html", changed={}, extra=("Moor Hill",), has_paths=True),
    ProgramFile("waterworks-pandoc.html"),
    ProgramFile("bakery-python-markdown.html"),
    ProgramFile("tea-docutils.html"),
    ProgramFile("reading-room-chromium.html", extra=("Home All", "本页由脚本补充。")),
    ProgramFile(
        "waterworks-libreoffice.html",
        changed={text: f"{text}1" for text in _FOOTNOTE_ZH},
        extra=("内部资料", "1以后每年修订一次。", "第 1 页"),
    ),
    ProgramFile("tea-pandoc.epub", extra=("云岭茶园", "林晓")),
    ProgramFile("workshop-pandoc.epub", extra=("Bicycle Workshop Handbook", "Ada Byrne")),
    ProgramFile("observatory-sphinx.epub"),
    ProgramFile("reading-room-epub-gen.epub", has_paths=False),
    # It knows neither headings nor lists, and leaves the first row of a table out.
    ProgramFile(
        "waterworks-libreoffice.epub",
        headings="paragraph",
        bullets="paragraph",
        numbers="paragraph",
        changed={text: f"{text}1" for text in _FOOTNOTE_ZH},
        left_out=("| 项目 | 频次 | 限值 | 方法 |",),
        extra=("1以后每年修订一次。",),
        has_paths=False,
    ),
    ProgramFile(
        "tea-chromium.pdf",
        bullets="paragraph",
        extra=(
            "11/30/26, 5:54 PM 云岭茶园二〇二四年度报告",
            "Home (http://127.0.0.1:8917/) All (http://127.0.0.1:8917/all)",
            "http://127.0.0.1:8917/tea.html 1/1",
        ),
    ),
    ProgramFile("bakery-chromium.pdf", bullets="paragraph"),
    ProgramFile("bakery-reportlab.pdf", bullets="• ", numbers="paragraph"),
    ProgramFile("tea-reportlab.pdf", bullets="• "),
    ProgramFile(
        "observatory-fpdf2.pdf",
        changed={
            "Income was €48,200, of which grants made up a little more than half. The trustees set aside €9,000 for "
            "the resurfacing of the primary mirror in 2027.": (
                "Income was EUR 48,200, of which grants made up a little more than half. The trustees set aside EUR "
                "9,000 for the resurfacing of the primary mirror in 2027."
            )
        },
    ),
    ProgramFile("observatory-pdfkit.pdf", bullets="paragraph"),
    ProgramFile("observatory-ghostscript.pdf", bullets="• ", levels=2, extra=("1",)),
    ProgramFile("reading-room-weasyprint.pdf", extra=("1",)),
    ProgramFile(
        "waterworks-libreoffice.pdf",
        bullets="• ",
        changed={text: f"{text}1" for text in _FOOTNOTE_ZH},
        extra=("内部资料", "1 以后每年修订一次。", "第 1 页"),
    ),
    ProgramFile("waterworks-typst.pdf", bullets="• ", extra=("内部资料", "1")),
    ProgramFile(
        "workshop-pdflatex.pdf",
        bullets="• ",
        numbers="paragraph",
        changed={
            "A puncture costs £6 including the tube; a full service costs £55 and takes two working days. Students "
            "with a card pay 20% less.": (
                "A puncture costs £6 including the tube; a full service costs £55 and takes two working days1. "
                "Students with a card pay 20% less."
            )
        },
        extra=(
            "Introductions",
            "Volunteers who have not yet been introduced to the compressor, the hydraulic workstand or the "
            "extraordinarily temperamental wheel-truing equipment should be accompanied by an experienced colleague "
            "throughout their first afternoons, notwithstanding any qualifications acquired elsewhere; "
            "misunderstandings about responsibilities have occasionally led to disproportionately expensive "
            "replacements.",
            *("T", "F = (1)", "r", "1Not in August.", "1"),
        ),
    ),
    ProgramFile(
        "reading-room-pptxgenjs.pptx",
        headings="paragraph",
        changed={
            "2. 由馆员取书并当面点验。": "1. 由馆员取书并当面点验。",
            "3. 阅毕归还，双方签字确认。": "1. 阅毕归还，双方签字确认。",
        },
        extra=("Notes: 最后请大家提问。", "三季产量", "|  | 产量 |", *_SEASONS_ZH, "| 秋 | 3 |"),
    ),
    ProgramFile(
        "observatory-pptxgenjs.pptx",
        headings="paragraph",
        extra=(
            "Notes: Leave time for questions.",
            *("Yield by season", "|  | Yield |", *_SEASONS_EN, "| Autumn | 3 |"),
        ),
    ),
    ProgramFile(
        "tea-python-pptx.pptx",
        has_paths=False,
        extra=(
            *("表：茶区", "Notes: 讲到这里时请看附表", "续：茶区", "图表"),
            *("|  | 产量 |", *_SEASONS_ZH, "| 秋 | 3.0 |"),
        ),
    ),
    ProgramFile(
        "workshop-python-pptx.pptx",
        numbers="- ",
        has_paths=False,
        extra=(
            *("Table: Part", "Notes: Point at the last row", "More: Part", "Chart"),
            *("|  | Yield |", *_SEASONS_EN, "| Autumn | 3.0 |"),
        ),
    ),
    ProgramFile("bakery-pandoc.pptx", has_paths=False),
    *(
        ProgramFile(
            f"reading-room-libreoffice.{kind}",
            numbers="paragraph",
            has_paths=False,
            is_ordered=False,
            extra=("Notes: 此处停顿，请大家提问。",),
        )
        for kind in ("pptx", "ppt", "odp")
    ),
    *(
        ProgramFile(
            f"observatory-libreoffice.{kind}",
            bullets="paragraph",
            levels=2,
            has_paths=False,
            is_ordered=False,
            extra=("Notes: Pause here for questions.",),
        )
        for kind in ("ppt", "odp")
    ),
)
_LOOSE = frozenset(
    {"workshop-python-pptx.pptx", "tea-python-pptx.pptx", "observatory-libreoffice.ppt", "observatory-libreoffice.odp"}
)
"""What stands in an outline is an item there, or a paragraph, whatever it was."""


def found_parts(name: str) -> list[Part]:
    events = list(read_file(FILES / name, name))
    return [Part(block.kind, block.text, block.heading_path) for block in of(Block, events)]


@pytest.mark.proves("pdf", "text", "tables", "headings", file="tea-chromium.pdf")
@pytest.mark.proves("docx", "text", "tables", "headings", file="waterworks-libreoffice.docx")
@pytest.mark.proves("html", "text", "tables", "headings", file="waterworks-pandoc.html")
@pytest.mark.proves("epub", "text", "tables", "headings", file="reading-room-epub-gen.epub")
@pytest.mark.proves("pptx", "text", "tables", file="observatory-pptxgenjs.pptx")
@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_a_text_is_found_as_it_was_written(file: ProgramFile) -> None:
    found = found_parts(file.name)
    extra = Counter(file.extra)
    kept = []
    for part in found:
        if extra[part.text]:
            extra[part.text] -= 1
        else:
            kept.append(part if file.has_paths else part._replace(path=()))
    expected = expected_parts(file)
    if file.name in _LOOSE:
        kept, expected = ([Part("", part.text.removeprefix("- "), ()) for part in parts] for parts in (kept, expected))
    if not file.is_ordered:
        kept, expected = sorted(kept), sorted(expected)
    assert kept == expected
