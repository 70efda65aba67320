from __future__ import annotations

import html
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers.html.blocks import STRUCTURAL_TAGS, HtmlBlocks
from wenyuan.parsers.html.page import HtmlParser, declared_encoding
from wenyuan.parsers.html.tokens import Token, attributes, html_tokens
from wenyuan.types import Anchor, Block, Facts, ReadEvent

HANDBOOK = """<!doctype html><html lang="zh-CN"><head><meta charset="utf-8"><title>员工手册</title></head><body>
<h1>员工手册</h1><p>本手册适用于全体员工，版本2.1。</p>
<h2>第一章 考勤</h2><p>工作时间为上午9:00至下午18:00。</p><h3>1.1 请假流程</h3><p>请假3天以上须经部门经理批准。</p>
<ol><li>填写申请表</li><li>提交主管<ul><li>电子版</li><li>纸质版</li></ul></li><li>等待审批</li></ol>
<h2>第二章 报销</h2><table><thead><tr><th>城市</th><th>住宿</th><th>餐补</th></tr></thead>
<tr><td>北京</td><td>600</td><td>100</td></tr>
<tr><td colspan="2">其他城市合计</td><td>80</td></tr></table>
<h2>Security</h2><p>At least <b>12 characters</b>.</p><pre>ssh -p 2222 user@host
# comment</pre></body></html>
"""

PARTS = st.sampled_from(
    [
        *(
            "文",
            "word ",
            "&amp;",
            "&lt;b&gt;",
            "&#20013;",
            "&",
            "<",
            "< b",
            "\n",
            "<p>",
            "</p>",
            "<b>",
            "</b>",
            "<br/>",
        ),
        *("<h2>", "</h2>", "<ul>", "<li>", "</ul>", "<pre>", "</pre>", "<a href='x>y'>", "</a>", "<nav>", "</nav>"),
        *(
            "<table>",
            "<tr>",
            "<td>",
            "<th colspan=3>",
            "</td>",
            "</tr>",
            "</table>",
            '<img alt="图">',
            "<!-- a > b -->",
        ),
        *("<!-->", "<script>if (a<b) x='</p>'</script>", '<div class="a\'b">', "</div>", "<svg><text>no</text></svg>"),
        *("<title>t</title>", "<textarea><p></textarea>", "</>", "<?x?>"),
    ]
)


def blocks_of(source: str, size: int = 1 << 20) -> list[Block]:
    builder = HtmlBlocks()
    for token in html_tokens((source[start : start + size] for start in range(0, len(source), size)), STRUCTURAL_TAGS):
        builder.take(token)
    builder.close()
    return builder.ready


def read(folder: Path, content: bytes | str) -> list[ReadEvent]:
    path = folder / "a.html"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(HtmlParser().read(path, "a.html"))


def shown(source: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks_of(source)]


def test_a_title_is_told_before_the_first_block(tmp_path: Path) -> None:
    first, *rest, last = read(tmp_path, "<html lang=en><title>Annual  leave</title><p>Ten days.<p>Paid.</html>")
    assert first == Facts("text/html", "utf-8", "Annual leave")
    assert [block.text for block in rest if isinstance(block, Block)] == ["Ten days.", "Paid."]
    assert last == Facts("text/html", "utf-8", "Annual leave", "en")


@pytest.mark.proves("html", "text", "headings")
def test_a_page_in_its_parts(tmp_path: Path) -> None:
    *blocks, facts = read(tmp_path, HANDBOOK)
    assert facts == Facts("text/html", "utf-8", "员工手册", "zh-CN")
    found = {block.text: block for block in blocks if isinstance(block, Block)}
    leave = found["请假3天以上须经部门经理批准。"]
    assert leave.heading_path == ("员工手册", "第一章 考勤", "1.1 请假流程")
    assert leave.anchor == Anchor("lines", 3, 3)
    items = [block for block in found.values() if block.kind == "list"]
    assert [(block.joiner + block.text) for block in items] == [
        "\n\n1. 填写申请表",
        "\n2. 提交主管",
        "\n  - 电子版",
        "\n  - 纸质版",
        "\n3. 等待审批",
    ]
    rows = [block for block in found.values() if block.kind == "table"]
    header = "| 城市 | 住宿 | 餐补 |"
    assert [(row.text, row.context, row.anchor.first) for row in rows] == [
        (header, "", 5),
        ("| 北京 | 600 | 100 |", header, 6),
        ("| 其他城市合计 |  | 80 |", header, 7),
    ]
    assert found["ssh -p 2222 user@host\n# comment"].anchor == Anchor("lines", 8, 9)
    assert "At least 12 characters." in found


def test_a_declared_encoding_is_used(tmp_path: Path) -> None:
    page = '<html><head><meta http-equiv="Content-Type" content="text/html; charset=gb2312"></head><p>退货规则</p>'
    *blocks, facts = read(tmp_path, page.encode("gbk"))
    assert [block.text for block in blocks if isinstance(block, Block)] == ["退货规则"]
    assert isinstance(facts, Facts)
    assert facts.encoding == "gb18030"


@pytest.mark.parametrize(
    ("start", "encoding"),
    [
        (b"<meta charset=utf-8>", "utf-8"),
        (b'<META content="text/html; charset=Big5" http-equiv=x>', "Big5"),
        (b"<?xml version='1.0' encoding='GBK'?><html>", "GBK"),
        (b"<p>charset=gbk</p>", ""),
    ],
)
def test_where_the_encoding_is_declared(start: bytes, encoding: str) -> None:
    assert declared_encoding(start) == encoding


def test_what_is_shown_and_what_is_not() -> None:
    source = (
        "<p>a<script>x()</script><style>p{}</style><!-- no --><noscript>no</noscript><svg><text>no</text></svg>b</p>"
    )
    assert shown(source) == [("paragraph", "ab")]
    assert shown("<p>x<img src=y alt='一张图'>z</p>") == [("paragraph", "x一张图z")]
    assert shown("<p>&lt;b&gt; &amp; &nbsp;&#x4e2d;&hellip; &unknown; 1 < 2</p>") == [
        ("paragraph", "<b> & 中… &unknown; 1 < 2")
    ]


def test_a_formula_stands_there_once_in_tex_if_the_page_has_it() -> None:
    drawn = "<mfrac><mi>a</mi><mi>b</mi></mfrac><mo>&lt;</mo><mn>1</mn>"
    tex = '<annotation encoding="application/x-tex">\\frac{a}{b} &lt; 1</annotation>'
    other = '<annotation-xml encoding="MathML-Content"><apply><divide/><ci>a</ci></apply></annotation-xml>'
    assert shown(f"<p>Here <math><semantics><mrow>{drawn}</mrow>{tex}{other}</semantics></math> holds.</p>") == [
        ("paragraph", "Here \\frac{a}{b} < 1 holds.")
    ]
    assert shown(f"<p>Here <math>{drawn}</math> holds.</p>") == [("paragraph", "Here ab<1 holds.")]
    # As Wikipedia has it, with a picture beside it.
    large = "{\\displaystyle E=mc^{2}}"
    page = f'<p>So <math alttext="{large}"><mi>E</mi></math><img alt="{large}"> and <img alt="a dog">.</p>'
    assert shown(page) == [("paragraph", "So E=mc^{2} and a dog.")]
    # Whatever is never ended is text all the same.
    assert shown("<p>a <math><mi>b</mi></p><p>c</p>") == [("paragraph", "a b"), ("paragraph", "c")]
    assert shown("<p>a <math><mi>b</mi>") == [("paragraph", "a b")]


def test_white_space_is_what_a_browser_shows() -> None:
    assert shown("<p>  one\n   two <b> three</b>\n</p>") == [("paragraph", "one two three")]
    assert shown("<p>中文被\n  折行，English\nwords 中</p>") == [("paragraph", "中文被折行，English words 中")]
    assert shown("<p>a<br>b<br/>\n c</p>") == [("paragraph", "a\nb\nc")]
    assert shown("<pre>\n  if x:\n\n    y &lt; z\n</pre>") == [("code", "  if x:\n\n    y < z")]


def test_tags_that_are_not_closed() -> None:
    assert shown("<p>one<p>two<ul><li>a<li>b</ul><h2>head<p>text") == [
        ("paragraph", "one"),
        ("paragraph", "two"),
        ("list", "- a"),
        ("list", "- b"),
        ("heading", "head"),
        ("paragraph", "text"),
    ]
    assert shown("<table><tr><td>1<td>2<tr><td>3<td>4") == [("table", "| 1 | 2 |"), ("table", "| 3 | 4 |")]


@pytest.mark.proves("html", "tables")
def test_merged_cells_and_cells_with_blocks() -> None:
    source = "<table><tr><th>a<th>b</tr><tr><td rowspan=2>x|y<td><p>1</p><ul><li>2</ul></tr><tr><td>3</tr></table>"
    assert shown(source) == [("table", "| a | b |"), ("table", "| x\\|y | 1 2 |"), ("table", "| x\\|y | 3 |")]


def test_a_table_that_arranges_the_page_is_not_data() -> None:
    inner = "<table><tr><th>k<th>v<tr><td>1<td>2</table>"
    source = f"<table><tr><td>menu</td><td><h1>Title</h1><p>Text</p>{inner}</td></tr></table>"
    assert shown(source) == [
        ("table", "| menu |"),
        ("heading", "Title"),
        ("paragraph", "Text"),
        ("table", "| k | v |"),
        ("table", "| 1 | 2 |"),
    ]


def test_boilerplate_is_kept_apart(tmp_path: Path) -> None:
    source = "<nav><a>Home</a></nav><h1>T</h1><p>text</p><footer><h2>About</h2><p>© 2026</p></footer><p>more</p>"
    *blocks, facts = read(tmp_path, source)
    assert isinstance(facts, Facts)
    assert facts.metadata == {"boilerplate_characters": len("HomeAbout© 2026")}
    paths = {block.text: block.heading_path for block in blocks if isinstance(block, Block)}
    assert paths == {"Home": (), "T": ("T",), "text": ("T",), "About": (), "© 2026": (), "more": ("T",)}


@pytest.mark.proves("html", "metadata")
def test_metadata(tmp_path: Path) -> None:
    source = (
        '<meta name="author" content="张三"><meta property="article:published_time" content="2026-03-08">'
        '<meta name=viewport content=x><h2>标题</h2>'
    )  # fmt: skip
    facts = read(tmp_path, source)[-1]
    assert facts == Facts("text/html", "utf-8", "标题", "", {"author": "张三", "date": "2026-03-08"})


def test_lines_that_are_not_the_files_do_not_look_like_it() -> None:
    """Two line breaks on one line of the file, and a blank one: as many lines, but not the same."""
    blocks = blocks_of("<p>a<br>b<br>\n\nc</p>")
    assert [block.text for block in blocks] == ["a", "b", "c"]
    assert {block.anchor for block in blocks} == {Anchor("lines", 1, 3)}
    assert [block.joiner for block in blocks] == ["\n\n", "\n", "\n"]


@pytest.mark.parametrize(("open_tag", "gap"), [("<p>", ""), ("<p>", " "), ("<pre>", "\n")])
def test_an_endless_paragraph_comes_in_parts_that_join_again(open_tag: str, gap: str) -> None:
    words = [f"<b>词语{number}，</b>" for number in range(10_000)]
    blocks = blocks_of(open_tag + gap.join(words), 5000)
    assert len(blocks) > 2
    expected = gap.join(f"词语{number}，" for number in range(10_000))
    assert "".join(block.joiner + block.text for block in blocks).removeprefix("\n\n") == expected


@given(st.lists(PARTS, max_size=30), st.integers(1, 40))
def test_tokens_do_not_depend_on_the_pieces(parts: list[str], size: int) -> None:
    source = "".join(parts)
    assert blocks_of(source, size) == blocks_of(source)


class _ReferenceText(HTMLParser):
    """The visible text, as the standard library's parser sees it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self._hidden = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.text += dict(attrs).get("alt") or ""
        if not self._hidden and tag in ("script", "svg", "title"):
            self._hidden = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text += data


SOUND_PARTS = st.sampled_from(
    [
        *(
            "文",
            "word ",
            "&amp;",
            "&lt;b&gt;",
            "&#20013;",
            "\n",
            "1 < 2",
            "<p>a</p>",
            "<b>b</b>",
            "c<br>",
            "<h2>d</h2>",
        ),
        *("<ul><li>e</li></ul>", "<pre>f\ng</pre>", "<a href='x>y'>h</a>", '<div class="a\'b">i</div>', "<nav>l</nav>"),
        *("<table><tr><td>j</td><td>k</td></tr></table>", "<svg><text>no</text></svg>", "<title>t</title>"),
        *("<!-- a > b -->", "<script>if (a<b) x='</p>'</script>"),
    ]
)


@given(st.lists(SOUND_PARTS, max_size=20))
def test_no_text_is_lost_or_made_up(parts: list[str]) -> None:
    reference = _ReferenceText()
    reference.feed("".join(parts))
    reference.close()
    made = "".join(block.text for block in blocks_of("".join(parts)))
    for mark in ("| ", " |", "- "):
        made = made.replace(mark, "")
    assert "".join(made.split()) == "".join(reference.text.split())


@pytest.mark.proves("html", "anchors")
@given(st.lists(PARTS, max_size=30))
def test_anchors_are_lines_of_the_page(parts: list[str]) -> None:
    source = "".join(parts)
    lines = source.split("\n")
    for block in blocks_of(source):
        assert 1 <= block.anchor.first <= block.anchor.last <= len(lines)
        cited = html.unescape("\n".join(lines[block.anchor.first - 1 : block.anchor.last]))
        assert all(character in cited for character in "".join(block.text.split()) if character not in "|-.123456789\\")


def test_tokens_have_lines_and_attributes() -> None:
    source = "<p\n class='a' id=b hidden>x\ny</P ><!-- \n --><br>"
    assert list(html_tokens([source], frozenset({"p", "br"}))) == [
        Token("start", "p", "\n class='a' id=b hidden", 1),
        Token("text", "x\ny", "", 2),
        Token("end", "p", "", 3),
        Token("start", "br", "", 4),
    ]
    assert attributes(" a='1' B=\"2 &amp; 3\" c=4 a=5 d") == {"a": "1", "b": "2 & 3", "c": "4", "d": ""}


@pytest.mark.proves("html", "limits")
@pytest.mark.parametrize(
    "source",
    [
        *('<a "' * 200_000, '<a "' * 200_000 + '">', "<a " * 200_000, "<" * 200_000, "&" * 200_000, "<!--" * 200_000),
        *("<script>" * 100_000, "<script></scrip" * 100_000, "<a " + "b=1 " * 200_000 + ">", "<div>" * 100_000),
        *("<table>" * 50_000, "<li>" * 50_000, "<ul>" * 50_000 + "<li>x"),
        "<table><td rowspan=99999 colspan=99999>x" * 300,
        "<table><tr><td rowspan=1000>x</td></tr>" + "<tr></tr>" * 2000,
    ],
    ids=lambda source: source[:10],
)
def test_hostile_pages_end(source: str) -> None:
    assert sum(len(block.text) for block in blocks_of(source, 100_000)) < 3_000_000
