"""Lines of a page in reading order, and as headings, paragraphs, lists and tables."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers.pictures.blocks import continued, laid_out
from wenyuan.parsers.pictures.layout import PlacedLine
from wenyuan.parsers.pictures.view import Rectangle
from wenyuan.rules.columns import columns
from wenyuan.types import Block, Box

SIZE = 20


def line(text: str, left: float, top: float, size: float = SIZE, *, down: bool = False) -> PlacedLine:
    """A line as a recogniser finds it: its box is a little higher than its letters."""
    length, height = columns(text) * size / 2, size * 1.2
    width, height = (height, length) if down else (length, height)
    place = Rectangle(left, top, left + width, top + height)
    return PlacedLine(text, place, Box(1, *map(round, place)))


def _told(blocks: Sequence[Block]) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks]


def _shuffled(lines: list[PlacedLine]) -> list[PlacedLine]:
    return random.Random(5).sample(lines, len(lines))


def test_full_lines_are_a_paragraph_and_a_short_one_ends_it() -> None:
    lines = [
        line("检索增强生成把检索到的段落交给模型让回答有", 100, 100),
        line("据可查。", 100, 132),
        line("上传之后系统在后台读取文件并且切分段落建立", 100, 164),
        line("索引。", 100, 196),
    ]
    assert _told(laid_out(_shuffled(lines))) == [
        ("paragraph", "检索增强生成把检索到的段落交给模型让回答有据可查。"),
        ("paragraph", "上传之后系统在后台读取文件并且切分段落建立索引。"),
    ]
    assert laid_out(lines)[0].anchor.boxes == (Box(1, 100, 100, 520, 156),)


def test_lines_of_ragged_english_go_on_where_the_next_word_had_no_room() -> None:
    lines = [
        line("The installation takes about five minutes on an", 100, 100),
        line("ordinary computer, and nothing else has to be", 100, 132),
        line("done.", 100, 164),
        line("Then start the service.", 100, 196),
    ]
    assert [block.text for block in laid_out(lines)] == [
        "The installation takes about five minutes on an ordinary computer, and nothing else has to be done.",
        "Then start the service.",
    ]


def test_columns_are_read_one_after_the_other_and_a_title_before_them() -> None:
    left = [line(f"左边这一栏里面的第{number}行文字写得很满", 100, 200 + 32 * number) for number in range(1, 6)]
    right = [line(f"右边这一栏里面的第{number}行文字写得很满", 600, 210 + 32 * number) for number in range(1, 6)]
    title = line("横跨两栏的标题", 380, 120, 40)
    text = "\n".join(block.text for block in laid_out(_shuffled([*left, *right, title])))
    found = [text.index(one.text) for one in [title, *left, *right]]
    assert found == sorted(found)


def test_three_columns_are_read_from_left_to_right() -> None:
    lines = [
        line(f"{name}栏的第{number}行文字也是写满了的", x, 100 + 32 * number)
        for name, x in (("甲", 100), ("乙", 480), ("丙", 860))
        for number in range(1, 5)
    ]
    text = "".join(block.text for block in laid_out(_shuffled(lines)))
    assert text == "".join(one.text for one in lines)


def test_a_table_under_two_columns_is_read_row_by_row_with_its_header() -> None:
    left = [line(f"左边这一栏里面的第{number}行文字写得很满", 100, 100 + 32 * number) for number in range(4)]
    right = [line(f"右边这一栏里面的第{number}行文字写得很满", 600, 100 + 32 * number) for number in range(4)]
    table = [("城市", "住宿", "餐补", "备注"), ("北京", "600", "100", "含早餐"), ("上海", "650", "", "无")]
    cells = [
        line(text, 100 + 240 * column, 300 + 40 * row)
        for row, texts in enumerate(table)
        for column, text in enumerate(texts)
        if text
    ]
    rows = [block for block in laid_out(_shuffled([*left, *right, *cells])) if block.kind == "table"]
    assert [row.text for row in rows] == [
        "| 城市 | 住宿 | 餐补 | 备注 |",
        "| 北京 | 600 | 100 | 含早餐 |",
        "| 上海 | 650 |  | 无 |",
    ]
    assert [row.context for row in rows] == ["", rows[0].text, rows[0].text]
    assert [row.joiner for row in rows] == ["\n\n", "\n", "\n"]


def test_a_bar_in_a_cell_is_escaped() -> None:
    cells = [line(text, x, y) for text, x, y in (("a|b", 100, 100), ("c", 400, 100), ("d", 100, 140), ("e", 400, 140))]
    assert laid_out(cells)[0].text == "| a\\|b | c |"


def test_headings_by_size_and_by_number() -> None:
    lines = [
        line("员工手册", 100, 100, 44),
        line("第一章 考勤", 100, 180, 30),
        line("工作时间为上午九点至下午六点，中午休息。", 100, 240),
        line("1.1 请假流程", 100, 280),
        line("请假三天以上须经部门经理批准，并且登记。", 100, 320),
        line("第二章 报销", 100, 360),
        line("差旅标准见下表，每年三月由财务部门更新。", 100, 400),
        line("1.5%的利率不是标题，也不该被当作标题看。", 100, 440),
    ]
    blocks = laid_out(lines)
    assert [(block.text, block.heading_path) for block in blocks if block.kind == "heading"] == [
        ("员工手册", ()),
        ("第一章 考勤", ("员工手册",)),
        ("1.1 请假流程", ("员工手册", "第一章 考勤")),
        ("第二章 报销", ("员工手册",)),
    ]
    assert blocks[-1].heading_path == ("员工手册", "第二章 报销")


def test_items_of_a_list_stay_apart() -> None:
    lines = [
        line(text, 100, 100 + 32 * at)
        for at, text in enumerate(["1. 填写申请表", "2、提交主管", "• 电子版", "（三）等待"])
    ]
    assert _told(laid_out(lines)) == [("list", one.text) for one in lines]


def test_text_from_top_to_bottom_is_read_from_the_right() -> None:
    lines = [
        line("元来日本語は漢文に倣い文字を上から下へ", 300, 100, down=True),
        line("右から左へと行を進めて表記を行っていた", 260, 100, down=True),
        line("書体も存在する。", 220, 100, down=True),
    ]
    assert _told(laid_out(_shuffled(lines))) == [("paragraph", "".join(one.text for one in lines))]


def test_a_single_letter_is_not_text_from_top_to_bottom() -> None:
    lines = [line("I", 100, 100), line("am what stands in this line of the page", 160, 100)]
    assert [block.text for block in laid_out(lines)] == ["I  am what stands in this line of the page"]


def test_nothing_gives_nothing() -> None:
    assert laid_out([]) == []


@given(
    st.lists(
        st.tuples(
            st.text("甲乙ab 1.|", min_size=1, max_size=20), st.integers(0, 900), st.integers(0, 900), st.booleans()
        ),
        max_size=40,
    )
)
def test_no_line_is_lost_and_none_comes_twice(placed: list[tuple[str, int, int, bool]]) -> None:
    lines = [line(text, x, y, down=down) for text, x, y, down in placed]
    blocks = laid_out(lines)
    for character in "甲乙ab1.":
        read = sum(block.text.count(character) for block in blocks)
        assert read == sum(one.text.count(character) for one in lines)


def test_lines_are_joined_as_people_write() -> None:
    assert continued("检索", "增强") == "检索增强"
    assert continued("five", "minutes") == "five minutes"
    assert continued("adip-", "iscing") == "adipiscing"
    assert continued("CVE-", "2025") == "CVE- 2025"
    assert continued("版本", "v2") == "版本v2"
