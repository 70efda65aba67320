from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from wenyuan.parsers.text import markdown
from wenyuan.parsers.text.lines import LineReader, text_lines
from wenyuan.parsers.text.markdown import MarkdownParser, MarkdownScanner
from wenyuan.types import Anchor, Block, Facts, Notice, ReadEvent

LINES = st.sampled_from(
    [
        *("# head", "## 标题 #", "###", "   # h3", "text", "文本一行", "", "", "lazy", "===", "---", "***", "- - -"),
        *("- item", "  more", "* star", "+ ", "-", "-  spaced", "1. one", "2) two", "10. ten", "1.", "2. b"),
        *("  - nested", "      deep", "     x", "    code", "\ttab", "```", "```py", "  ```", "~~~", "`````"),
        *("> quote", ">", "> # qh", "> - ql", "> ```", "- ```", "- # h", "[a]: http://x"),
        *("| a | b |", "|---|---|", "a | b", "--|--", "|-|", "-|", "| x \\| y | z |"),
        *("<div>", "</div>", "<!-- c", "-->", "<br>", "<span>x</span>", "<script>", "</script>", "<?php", "?>"),
    ]
)
KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "paragraph",
    "table_open": "table",
    "list_item_open": "list",
    "html_block": "paragraph",
}


def scanned(text: str) -> list[Block]:
    return list(MarkdownScanner(LineReader(text_lines([text]))).blocks())


def read(folder: Path, text: str) -> list[ReadEvent]:
    path = folder / "a.md"
    path.write_text(text)
    return list(MarkdownParser().read(path, "a.md"))


def reference_blocks(text: str) -> list[tuple[str, int, int]]:
    """What the reference implementation finds at the top level, items of lists one by one."""
    parser = MarkdownIt("commonmark", {"maxNesting": 1000}).enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    lines = text.split("\n")
    blocks = []
    for token in parser.parse(text):
        is_top = token.level == 0 or (token.level == 1 and token.type == "list_item_open")
        if token.map is None or not is_top or token.type not in KINDS:
            continue
        first, end = token.map
        while end > first and not lines[end - 1].strip():
            end -= 1
        is_comment = token.type == "html_block" and lines[first].lstrip().startswith("<!--")
        if end > first and not is_comment:
            blocks.append((KINDS[token.type], first + 1, end))
    return blocks


@pytest.mark.proves("markdown", "text", "anchors")
@given(st.lists(LINES, max_size=12))
@settings(max_examples=400)
def test_blocks_are_those_of_the_reference_implementation(source: list[str]) -> None:
    text = "\n".join(source)
    blocks = scanned(text)
    assert [(block.kind, block.anchor.first, block.anchor.last) for block in blocks] == reference_blocks(text)
    for block in blocks:
        assert block.text.split("\n") == source[block.anchor.first - 1 : block.anchor.last]


@pytest.mark.proves("markdown", "headings")
def test_headings_make_a_path() -> None:
    text = "# 员工*手册*\n\n引言\n\n## 第一章 `考勤` ##\n\n正文\n\n第二章\n---\n\n甲\n\n#### 深\n\n乙\n\n# [末](http://x)\n\n丙"
    paths = {block.text: block.heading_path for block in scanned(text) if block.kind == "paragraph"}
    assert paths == {
        "引言": ("员工手册",),
        "正文": ("员工手册", "第一章 考勤"),
        "甲": ("员工手册", "第二章"),
        "乙": ("员工手册", "第二章", "深"),
        "丙": ("末",),
    }


def test_a_heading_is_in_its_own_path() -> None:
    (heading,) = scanned("## 标题")
    assert heading == Block("heading", "## 标题", Anchor("lines", 1, 1), ("标题",))


@pytest.mark.proves("markdown", "tables")
def test_a_table_carries_its_header() -> None:
    (table,) = scanned("| 城市 | 标准 |\n|---|--:|\n| 北京 | 600 |\n| 上海 | 650 |")
    assert (table.kind, table.context, table.anchor) == ("table", "| 城市 | 标准 |", Anchor("lines", 1, 4))


def test_a_long_table_goes_on_with_its_header() -> None:
    rows = "\n".join(f"| {number} | {'长' * 50} |" for number in range(1000))
    blocks = scanned(f"intro\n| a | b |\n|---|---|\n{rows}\n\nend")
    tables = blocks[1:-1]
    assert len(tables) > 2
    assert {block.context for block in tables} == {"| a | b |"}
    assert [block.joiner for block in tables] == ["\n\n", *["\n"] * (len(tables) - 1)]
    assert [block.anchor.first for block in tables[1:]] == [block.anchor.last + 1 for block in tables[:-1]]


def test_items_of_one_list_join_without_a_blank_line() -> None:
    assert [block.joiner for block in scanned("- a\n- b\n  c\n\n- d\n\ntext\n- e")] == [
        "\n\n",
        "\n",
        "\n\n",
        "\n\n",
        "\n\n",
    ]


def test_comments_are_no_text() -> None:
    assert [block.text for block in scanned("<!-- hidden\n\nstill -->\n\nshown\n\n<b>kept</b>")] == [
        "shown",
        "<b>kept</b>",
    ]


@pytest.mark.proves("markdown", "metadata")
@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: 手册\ndate: 2026-03-08\ntags: [a, b]\n---\n",
        '+++\ntitle = "手册"\ndate = 2026-03-08\ntags = ["a", "b"]\n+++\n',
    ],
)
def test_front_matter_is_metadata(tmp_path: Path, front: str) -> None:
    events = read(tmp_path, front + "正文\n")
    assert events == [
        Facts("text/markdown", "utf-8", "手册", "", {"title": "手册", "date": "2026-03-08", "tags": ["a", "b"]}),
        Block("paragraph", "正文", Anchor("lines", front.count("\n") + 1, front.count("\n") + 1)),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "a: &x [1]\nb: *x",
        "a: !!python/object:os.system {}",
        "a: [",
        "just words",
        "a: " + "[" * 5000,
        "[" * 60_000,
    ],
)
def test_front_matter_that_is_no_metadata_stays_text(tmp_path: Path, source: str) -> None:
    events = read(tmp_path, f"---\n{source}\n---\n正文\n")
    assert isinstance(events[0], Notice)
    assert events[0].code == "front-matter-invalid"
    assert isinstance(events[1], Block)
    assert source[:20] in events[1].text


def test_front_matter_that_never_ends_is_text(tmp_path: Path) -> None:
    events = read(tmp_path, "---\ntitle: x\n\n正文\n")
    assert [event.text for event in events if isinstance(event, Block)] == ["title: x", "正文"]
    assert [event.anchor.first for event in events if isinstance(event, Block)] == [2, 4]


def test_front_matter_goes_only_so_deep(tmp_path: Path) -> None:
    facts = read(tmp_path, "---\na: " + "[" * 100 + "x" + "]" * 100 + "\n---\n正文")[-1]
    assert isinstance(facts, Facts)
    value, depth = facts.metadata["a"], 0
    while isinstance(value, list):
        value, depth = value[0], depth + 1
    assert (value, depth) == ("…", 20)


def test_the_title_is_the_highest_heading(tmp_path: Path) -> None:
    facts = read(tmp_path, "### 小\n\n# 大\n\n# 又一个\n")[-1]
    assert isinstance(facts, Facts)
    assert facts.title == "大"


@pytest.mark.proves("markdown", "limits")
@pytest.mark.parametrize(
    "source",
    [
        *(">" * 100_000, "- " * 50_000 + "x", "`" * 100_000, "#" + " [" * 50_000, "-" + " " * 100_000 + "x"),
        *("* " * 50_000 + "x", "|" * 50_000 + "\n" + "|-" * 25_000, "<a" + " b='" * 25_000, "<a" + " b" * 50_000 + "<"),
        "\n".join("  " * depth + "- x" for depth in range(500)),
    ],
    ids=lambda source: source[:8],
)
def test_hostile_lines_are_only_lines(source: str) -> None:
    blocks = scanned(source)
    assert "\n".join(block.text for block in blocks) == source


def test_a_long_block_comes_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "BLOCK_CHARACTERS", 40)
    source = ["```", *[f"line {number}" for number in range(50)], "```"]
    blocks = scanned("\n".join(source))
    assert len(blocks) > 5
    assert "\n".join(block.text for block in blocks).split("\n") == source
    assert [block.anchor.first for block in blocks[1:]] == [block.anchor.last + 1 for block in blocks[:-1]]
