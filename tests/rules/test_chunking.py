from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import InvalidValue
from wenyuan.rules.chunking import Chunker, chunk_blocks, text_piece
from wenyuan.rules.columns import columns
from wenyuan.types import Anchor, Block, BlockKind, Box, Chunk, ChunkingConfig

KINDS: tuple[BlockKind, ...] = ("heading", "paragraph", "list", "table", "code", "caption", "page-break")
CHINESE = ["年假", "健康体检一次，", "费用由公司承担。", "长" * 30, "\u3000"]
ENGLISH = ["The U.S. ", "v1.2.3 ", "word ", "end. ", "What?! ", "x" * 40, "| a | b |\n"]
ODD = ["\n", "\n\n", " ", "\t", "e\u0301", "👩\u200d👩\u200d👧", "\u2028", "\x85"]
WORDS = st.sampled_from(CHINESE + ENGLISH + ODD)
PATHS = st.sampled_from([(), ("A",), ("A", "B"), ("A", "C"), ("D",)])


@st.composite
def documents(draw: st.DrawFn) -> list[Block]:
    blocks = []
    line = 1
    for _ in range(draw(st.integers(0, 12))):
        text = "".join(draw(st.lists(WORDS, max_size=20)))
        exact = draw(st.booleans())
        last = line + text.count("\n") + (0 if exact else 2)
        blocks.append(
            Block(
                draw(st.sampled_from(KINDS)),
                text,
                Anchor("lines", line, last, draw(st.sampled_from(["", "", "", "part"]))),
                draw(PATHS),
                draw(st.sampled_from(["", "| head |"])),
                draw(st.sampled_from(["\n\n", "\n", ""])),
            )
        )
        line = last + 1
    return blocks


configs = st.builds(ChunkingConfig, target_columns=st.integers(16, 200), overlap_columns=st.integers(0, 8))


def full_text(blocks: list[Block]) -> str:
    return "".join(text_piece(block, index == 0) for index, block in enumerate(blocks))


@given(documents(), configs)
def test_every_chunk_is_exactly_its_range_of_the_text(blocks: list[Block], config: ChunkingConfig) -> None:
    text = full_text(blocks)
    for chunk in chunk_blocks(blocks, config):
        assert text[chunk.start : chunk.end] == chunk.text
        assert columns(chunk.text) <= config.target_columns
        assert chunk.text.strip()
        assert not chunk.text[-1].isspace()


@given(documents(), configs)
def test_chunks_are_in_order_and_hold_everything_visible(blocks: list[Block], config: ChunkingConfig) -> None:
    text = full_text(blocks)
    chunks = list(chunk_blocks(blocks, config))
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))
    covered = [False] * len(text)
    for chunk in chunks:
        covered[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    assert all(seen or character.isspace() for seen, character in zip(covered, text, strict=True))
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        assert columns(text[after.start : before.end]) <= config.overlap_columns


@given(documents(), configs)
def test_feeding_gives_the_text_and_the_same_chunks(blocks: list[Block], config: ChunkingConfig) -> None:
    chunker = Chunker(config)
    pieces: list[str] = []
    chunks: list[Chunk] = []
    for block in blocks:
        fed = chunker.feed(block)
        pieces.append(fed.text)
        chunks.extend(fed.chunks)
        assert all(chunk.end <= chunker.text_length for chunk in fed.chunks)
    chunks.extend(chunker.finish())
    assert "".join(pieces) == full_text(blocks)
    assert chunker.text_length == len(full_text(blocks))
    assert chunks == list(chunk_blocks(blocks, config))


@given(documents(), configs)
def test_no_chunk_reaches_into_text_that_is_settled(blocks: list[Block], config: ChunkingConfig) -> None:
    chunker = Chunker(config)
    settled = 0
    for block in [*blocks, None]:
        chunks = chunker.feed(block).chunks if block is not None else chunker.finish()
        assert all(settled <= chunk.start for chunk in chunks)
        assert settled <= chunker.settled <= chunker.text_length
        settled = chunker.settled


@given(st.lists(st.text(st.sampled_from("ab字。 .|"), max_size=60), min_size=1, max_size=30), st.integers(16, 80))
def test_lines_of_chunks_are_the_lines_of_the_file(lines: list[str], target: int) -> None:
    blocks = _paragraphs(lines)
    for chunk in chunk_blocks(blocks, ChunkingConfig(target)):
        cited = lines[chunk.anchor.first - 1 : chunk.anchor.last]
        parts = [part.strip() for part in chunk.text.split("\n") if part.strip()]
        nonblank = [line.strip() for line in cited if line.strip()]
        assert len(parts) == len(nonblank)
        assert all(part in line for part, line in zip(parts, nonblank, strict=True))


def _paragraphs(lines: list[str]) -> list[Block]:
    blocks = []
    number = 0
    for blank, group in itertools.groupby(lines, lambda line: not line.strip()):
        paragraph = list(group)
        if not blank:
            anchor = Anchor("lines", number + 1, number + len(paragraph))
            blocks.append(Block("paragraph", "\n".join(paragraph), anchor))
        number += len(paragraph)
    return blocks


def _block(text: str, first: int = 1, kind: BlockKind = "paragraph", path: tuple[str, ...] = (), **more: str) -> Block:
    return Block(kind, text, Anchor("lines", first, first + text.count("\n")), path, **more)


def test_a_heading_stays_with_its_body() -> None:
    body = "员工每年享有带薪年假。" * 30
    blocks = [
        _block("# 手册", 1, "heading", ("手册",)),
        _block("## 第一章", 3, "heading", ("手册", "第一章")),
        _block(body, 5, path=("手册", "第一章")),
        _block("## 第二章", 7, "heading", ("手册", "第二章")),
        _block("加班按劳动法执行。", 9, path=("手册", "第二章")),
    ]
    chunks = list(chunk_blocks(blocks, ChunkingConfig(400)))
    assert chunks[0].text.startswith("# 手册\n\n## 第一章\n\n员工")
    assert chunks[0].heading_path == ("手册", "第一章")
    assert chunks[-1].text == "## 第二章\n\n加班按劳动法执行。"
    assert chunks[-1].heading_path == ("手册", "第二章")
    assert chunks[-1].anchor == Anchor("lines", 7, 9)


def test_a_heading_is_not_left_behind_by_a_body_that_fills_a_passage() -> None:
    sentence = "这是二十列宽的一句。"
    blocks = [_block("## 标题", 1, "heading", ("标题",)), _block(sentence * 40, 3, path=("标题",))]
    chunks = list(chunk_blocks(blocks, ChunkingConfig(800)))
    assert chunks[0].text.startswith("## 标题\n\n这是")
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_sections_are_not_mixed() -> None:
    blocks = [
        _block(f"第{n}节的内容在这里，说明了一件完整的事情，足够长到不算零碎。", n, path=(f"第{n}节",))
        for n in range(1, 6)
    ]
    chunks = list(chunk_blocks(blocks, ChunkingConfig(800)))
    assert [chunk.heading_path for chunk in chunks] == [(f"第{n}节",) for n in range(1, 6)]


def test_a_remnant_is_shared_with_the_passage_before() -> None:
    blocks = [_block("这是一个完整的句子，说明一件事。" * 25), _block("最后一句。", 3)]
    chunks = list(chunk_blocks(blocks, ChunkingConfig(800)))
    assert len(chunks) == 2
    assert min(columns(chunk.text) for chunk in chunks) > 200
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_oversize_paragraphs_are_cut_at_sentences() -> None:
    text = "The committee met on May 3. It approved v1.2.3 of the plan, e.g. The budget. " * 60
    chunks = list(chunk_blocks([_block(text)], ChunkingConfig(300)))
    assert all(chunk.text.endswith((".", "plan.")) for chunk in chunks)
    assert all(chunk.text.startswith(("The committee", "It approved")) for chunk in chunks)


def test_table_rows_carry_their_header_unless_they_show_it() -> None:
    rows = ["| 城市 | 标准 |", "| --- | --- |"] + [f"| 城市{n} | {n} |" for n in range(100)]
    block = _block("\n".join(rows), 5, "table", ("报销",), context="| 城市 | 标准 |")
    chunks = list(chunk_blocks([block], ChunkingConfig(200)))
    assert len(chunks) > 5
    assert chunks[0].context == ""
    assert all(chunk.context == "| 城市 | 标准 |" for chunk in chunks[1:])
    for chunk in chunks:
        cited = rows[chunk.anchor.first - 5 : chunk.anchor.last - 4]
        assert chunk.text.split("\n") == cited


def test_the_header_of_thousands_of_columns_is_not_repeated_whole() -> None:
    header = "| " + " | ".join(f"column {n}" for n in range(5_000)) + " |"
    rows = ["| " + " | ".join(f"{row}" for _ in range(5_000)) + " |" for row in range(3)]
    chunks = list(chunk_blocks([_block("\n".join(rows), 5, "table", (), context=header)], ChunkingConfig(800)))
    assert len(chunks) > 50
    assert {chunk.context for chunk in chunks} == {header[:2_000]}


def test_code_keeps_its_indentation() -> None:
    lines = [f"    line_{n} = {n}" for n in range(50)]
    chunks = list(chunk_blocks([_block("\n".join(lines), kind="code")], ChunkingConfig(100)))
    assert all(chunk.text.startswith("    line_") for chunk in chunks)


def test_overlap_repeats_whole_sentences() -> None:
    text = "".join(f"这是第{n:03}句话的全部内容。" for n in range(100))
    chunks = list(chunk_blocks([_block(text)], ChunkingConfig(200, 60)))
    for before, after in itertools.pairwise(chunks):
        shared = text[after.start : before.end]
        assert shared.startswith("这是")
        assert shared.endswith("。")


def test_pages_merge_and_sheets_do_not() -> None:
    pages = [Block("paragraph", f"page {n}", Anchor("page", n, n)) for n in (1, 2)]
    (merged,) = chunk_blocks(pages, ChunkingConfig())
    assert merged.anchor == Anchor("page", 1, 2)
    sheets = [Block("table", "| x |", Anchor("cells", 1, 4, name)) for name in ("Sheet1", "Sheet2")]
    assert [chunk.anchor.name for chunk in chunk_blocks(sheets, ChunkingConfig())] == ["Sheet1", "Sheet2"]


def test_a_page_break_does_not_lend_its_page_to_the_next() -> None:
    blocks = [
        Block("paragraph", "第一页。" * 40, Anchor("page", 1, 1), ("甲",)),
        Block("page-break", "", Anchor("page", 1, 1)),
        Block("paragraph", "第二页。" * 40, Anchor("page", 2, 2), ("甲",)),
        Block("page-break", "", Anchor("page", 3, 3)),
    ]
    chunks = list(chunk_blocks(blocks, ChunkingConfig(320)))
    assert [(chunk.anchor.first, chunk.anchor.last, chunk.heading_path) for chunk in chunks] == [
        (1, 1, ("甲",)),
        (2, 2, ("甲",)),
    ]


def test_a_cut_does_not_part_a_letter_and_its_accent() -> None:
    text = "e\u0301" * 200
    for chunk in chunk_blocks([_block(text)], ChunkingConfig(33)):
        assert chunk.text[0] == "e"
        assert chunk.text[-1] == "\u0301"


@pytest.mark.parametrize("config", [ChunkingConfig(15), ChunkingConfig(100, -1), ChunkingConfig(100, 51)])
def test_sizes_that_cannot_work_are_refused(config: ChunkingConfig) -> None:
    with pytest.raises(InvalidValue):
        Chunker(config)


def test_a_long_text_streams() -> None:
    """What is held back stays bounded: chunks come out long before the text ends."""
    chunker = Chunker(ChunkingConfig(400))
    fed_text = 0
    last_end = 0
    for number in range(2000):
        fed = chunker.feed(_block("没有标题的长文，一段又一段。" * 5, number + 1))
        fed_text += len(fed.text)
        if fed.chunks:
            last_end = fed.chunks[-1].end
        assert fed_text - last_end < 2000


def on_page(page: int, top: int, text: str) -> Block:
    return Block("paragraph", text, Anchor("page", page, page, "", None, (Box(page, 50, top, 400, top + 20),)))


def test_a_passage_has_the_boxes_of_all_it_is_made_of() -> None:
    blocks = [on_page(1, 100, "甲" * 10), on_page(1, 130, "乙" * 10), on_page(2, 90, "丙" * 10)]
    (chunk,) = chunk_blocks(blocks, ChunkingConfig(200, 0))
    assert chunk.anchor == Anchor("page", 1, 2, "", None, tuple(block.anchor.boxes[0] for block in blocks))
    cut = list(chunk_blocks(blocks, ChunkingConfig(20, 0)))
    assert [one.anchor.boxes for one in cut] == [block.anchor.boxes for block in blocks]


def test_a_passage_that_begins_with_the_end_of_the_one_before_has_its_box_as_well() -> None:
    blocks = [on_page(1, 100, "第一句。第二句。"), on_page(1, 130, "第三句在这里结束。")]
    chunks = list(chunk_blocks(blocks, ChunkingConfig(26, 8)))
    assert [chunk.text for chunk in chunks] == ["第一句。第二句。", "二句。\n\n第三句在这里结束。"]
    assert [len(chunk.anchor.boxes) for chunk in chunks] == [1, 2]


def test_very_many_boxes_become_one_for_each_page() -> None:
    blocks = [on_page(1 + number // 30, 10 * (number % 30), "字") for number in range(60)]
    (chunk,) = chunk_blocks(blocks, ChunkingConfig(2000, 0))
    assert chunk.anchor.boxes == (Box(1, 50, 0, 400, 310), Box(2, 50, 0, 400, 310))


def test_the_columns_of_cells_span_all_rows() -> None:
    rows = [
        Block("table", "| a | b |", Anchor("cells", number, number, "甲", (first, first + 1)), joiner="\n")
        for number, first in ((2, 3), (3, 2))
    ]
    (chunk,) = chunk_blocks(rows, ChunkingConfig(200, 0))
    assert chunk.anchor == Anchor("cells", 2, 3, "甲", (2, 4))


def test_a_passage_is_of_one_slide_however_little_stands_on_it() -> None:
    blocks = [
        Block("paragraph", "一季度", Anchor("slide", 1, 1)),
        Block("paragraph", "讲到这里停一下", Anchor("slide", 1, 1)),
        Block("paragraph", "二季度", Anchor("slide", 2, 2)),
        Block("heading", "展望", Anchor("slide", 3, 3), ("展望",)),
        Block("paragraph", "谢谢", Anchor("slide", 4, 4)),
    ]
    chunks = chunk_blocks(blocks, ChunkingConfig())
    assert [(chunk.text, chunk.anchor.first, chunk.anchor.last) for chunk in chunks] == [
        ("一季度\n\n讲到这里停一下", 1, 1),
        ("二季度", 2, 2),
        ("展望", 3, 3),
        ("谢谢", 4, 4),
    ]
