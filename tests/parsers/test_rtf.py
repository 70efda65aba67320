from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.reading_blocks import codes, events_of, facts, of, shown, texts
from wenyuan.errors import FileMalformed, FileOverLimit, NoText
from wenyuan.parsers.rtf.parser import RtfParser
from wenyuan.types import Block, ReadEvent

FONTS = r"{\fonttbl{\f0\fnil\fcharset0 Times;}{\f1\fnil\fcharset134 \'cb\'ce\'cc\'e5;}{\f2\fnil\fcharset2 Wingdings;}}"
STYLES = (
    r"{\stylesheet{\s0 Normal;}{\s1\sbasedon0\outlinelevel0 \'b1\'ea\'cc\'e2 A;}{\s2\sbasedon1 Derived;}"
    r"{\s3 heading 3;}{\*\cs9 Character;}{\s4 toc 1;}{\s5 HTML Preformatted;}}"
)
LISTS = (
    r"{\*\listtable{\list{\listlevel\levelnfc0}{\listlevel\levelnfc23}\listid7}}"
    r"{\*\listoverridetable{\listoverride\listid7\ls1}}"
)


def rtf(body: str, head: str = r"\ansi\ansicpg936\deff0") -> bytes:
    return ("{\\rtf1" + head + FONTS + STYLES + LISTS + body + "}").encode("latin-1")


def read(folder: Path, body: str, head: str = r"\ansi\ansicpg936\deff0") -> list[ReadEvent]:
    return events_of(rtf(body, head), folder, "a.rtf")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"\u20013?\u25991?", "中文"),
        (r"\'d6\'d0\'ce\'c4", "中文"),
        (r"\f1 \'d6\'d0 and \f0 \u233\'e9t", "中 and ét"),
        (r"{\uc2\u20013\'d6\'d0}\'ce\'c4", "中文"),
        (r"{\uc0\u20013}x", "中x"),
        (r"\u-10179?\u-8704?", "\U0001f600"),
        (r"\u20013\'d6\u25991\'ce", "中文"),
        (r"a\tab b\line c\emdash d\~e\_f\-g\{\}\\", "a\tb\nc—d\xa0e-fg{}\\"),
        (r"{\v secret}seen", "seen"),
        (r"{\deleted gone}{\revised kept}", "kept"),
        (r"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}", "link"),
        (r"{\f2 \'fe}yes", "☑yes"),
        (r"{\*\unknown nothing}{\pict\bin5 }}}}}rest}x", "x"),
        (r"{\*\shppict{\pict 00ff}}{\nonshppict{\pict 00ff}}x", "x"),
        ("one\r\n two", "one two"),
    ],
)
def test_what_is_shown_of_a_paragraph(tmp_path: Path, body: str, expected: str) -> None:
    assert texts(read(tmp_path, body + r"\par")) == [expected]


@pytest.mark.parametrize(
    ("head", "written", "expected"),
    [
        (r"\ansi\ansicpg1251", r"\'cf\'f0\'e8", "При"),
        (r"\ansi\ansicpg950", r"\'a4\'a4", "中"),
        (r"\ansi\ansicpg932", r"\'93\'fa", "日"),
        (r"\mac", r"\'8e", "é"),
        (r"\ansi\ansicpg65001", r"\'e4\'b8\'ad", "中"),
        (r"\ansi\ansicpg1", r"\'e9", "é"),
    ],
)
def test_code_pages(tmp_path: Path, head: str, written: str, expected: str) -> None:
    assert texts(read(tmp_path, written, head)) == [expected]


def test_headings_by_outline_level_and_by_name(tmp_path: Path) -> None:
    body = (
        r"\pard\s1 one\par\pard\s2 two\par\pard\s3 three\par\pard\outlinelevel1 four\par\pard body\par"
        r"\pard\s4 contents 1\par\pard\s5 code\par\pard\s1\outlinelevel9 plain\par"
    )
    events = read(tmp_path, body)
    assert [(block.kind, block.heading_path) for block in of(Block, events)] == [
        ("heading", ("one",)),
        ("heading", ("two",)),
        ("heading", ("two", "three")),
        ("heading", ("two", "four")),
        ("paragraph", ("two", "four")),
        ("code", ("two", "four")),
        ("paragraph", ("two", "four")),
    ]
    assert facts(events).quality == {"contents_entries": 1}


def test_lists(tmp_path: Path) -> None:
    body = (
        r"\pard{\listtext\pard\plain 3.\tab}\ls1\ilvl0 a\par\pard{\listtext\f2 n\tab}\ls1\ilvl1 b\par"
        r"\pard{\pntext\'b7\tab}{\*\pn\pnlvlblt}c\par\pard d\par"
    )
    assert shown(read(tmp_path, body)) == [("list", "3. a"), ("list", "  - b"), ("list", "- c"), ("paragraph", "d")]


def test_tables(tmp_path: Path) -> None:
    row = r"\trowd\cellx1000\cellx2000\pard\intbl "
    nested = (
        r"\pard\intbl\itap2 x\nestcell y\nestcell"
        r"{\*\nesttableprops\trowd\cellx100\cellx200\nestrow}{\nonesttables\par}"
    )
    body = (
        row + r"A\cell B\cell\row"
        r"\trowd\clvmgf\cellx1000\cellx2000\pard\intbl m\cell " + nested + r"\pard\intbl one\par two\cell\row"
        r"\trowd\clvmrg\cellx1000\cellx2005\pard\intbl\cell 3|4\cell\row"
        r"\trowd\cellx2000\pard\intbl all\cell\row\pard after\par"
        r"\trowd\cellx9000\pard\intbl frame\par two\cell\row\pard"
    )
    events = read(tmp_path, body)
    assert shown(events) == [
        ("table", "| A | B |"),
        ("table", "| m | one two |"),
        ("table", "| x | y |"),
        ("table", "| m | 3\\|4 |"),
        ("table", "| all |  |"),
        ("paragraph", "after"),
        ("paragraph", "frame"),
        ("paragraph", "two"),
    ]
    assert of(Block, events)[3].context == "| A | B |"


def test_notes_comments_and_boxes(tmp_path: Path) -> None:
    body = (
        r"a{\super\chftn}{\footnote\pard{\chftn} first\par second}b{\footnote\ftnalt end}"
        r"{\*\atnauthor Zhao}\chatn{\*\annotation check}"
        r"{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt\pard box\par}}{\shprslt{\*\do{\dptxbxtext twice}}}}c\par d\par"
    )
    events = read(tmp_path, body)
    assert texts(events) == ["a[1]b[i]c", "[1] first second", "[i] end", "Comment by Zhao: check", "box", "d"]
    assert facts(events).quality == {"footnotes": 1, "endnotes": 1, "comments": 1, "text_boxes": 1}


def test_what_the_document_says_of_itself(tmp_path: Path) -> None:
    body = (
        r"{\info{\upr{\title ??}{\*\ud{\title \u26631?\u39064?}}}{\author A}{\creatim\yr2026\mo5\dy1\hr9\min30}}"
        r"{\header Top secret\par}{\footer Page \chpgn\par}x\par"
    )
    found = facts(read(tmp_path, body))
    assert found.title == "标题"
    assert found.metadata == {"author": "A", "created": "2026-05-01T09:30:00", "header": "Top secret"}


def test_a_file_that_ends_in_the_middle(tmp_path: Path) -> None:
    content = rtf(r"whole\par half")[:-1]
    events = events_of(content, tmp_path, "a.rtf")
    assert texts(events) == ["whole", "half"]
    assert codes(events) == {"cut-short"}


WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


def escaped(text: str) -> str:
    units = text.encode("utf-16-le")
    numbers = [int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)]
    return "".join(f"\\u{number}?" for number in numbers)


@given(st.lists(WORDS))
@settings(max_examples=40)
def test_every_word_comes_back(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    body = "".join(rf"\pard {escaped(word)}\par" for word in [*words, "end"])
    assert texts(read(tmp_path_factory.mktemp("rtf"), body)) == [*words, "end"]


PIECES = [
    *("{", "}", "\\", r"\par ", r"\'d6", r"\u20013", r"\*", r"\intbl", r"\cell ", r"\row ", r"\itap9 ", r"\bin9 "),
    *(r"{\footnote ", r"{\fonttbl ", r"{\listtext ", r"\nestrow ", r"\trowd\cellx-9 ", r"{\*\nesttableprops "),
    *(r"{\stylesheet{\s1\sbasedon1 x;}}", "text"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
@settings(max_examples=80)
def test_whatever_comes_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    path = tmp_path_factory.mktemp("rtf") / "a.rtf"
    path.write_bytes(("{\\rtf1 " + "".join(pieces)).encode())
    assert list(RtfParser().read(path, "a.rtf"))


@pytest.mark.proves("rtf", "limits")
def test_hostile_documents(tmp_path: Path) -> None:
    with pytest.raises(FileOverLimit, match="deep"):
        read(tmp_path, "{" * 200_000)
    with pytest.raises(NoText):
        read(tmp_path, r"{\*\x " * 4_000)
    rows = r"\pard\intbl\itap99 x\nestcell\nestrow" * 500
    assert len(of(Block, read(tmp_path, rows))) == 500
    with pytest.raises(NoText):
        read(tmp_path, r"\bin9999999999 x\par y")
    path = tmp_path / "b.rtf"
    path.write_bytes(b"no rtf")
    with pytest.raises(FileMalformed):
        list(RtfParser().read(path, "b.rtf"))
