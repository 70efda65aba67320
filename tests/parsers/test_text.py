from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers import reading
from wenyuan.parsers.text import lines
from wenyuan.parsers.text.lines import LineReader, text_lines
from wenyuan.parsers.text.plain import TextParser, paragraphs
from wenyuan.types import Anchor, Block, Facts

LINES = st.lists(st.text(st.sampled_from("a字 。\u2028"), max_size=30), max_size=20)


def in_pieces(text: str, sizes: list[int]) -> list[str]:
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


@pytest.mark.proves("text", "text")
@given(LINES, st.lists(st.integers(1, 20), max_size=20))
def test_paragraphs_are_runs_of_lines_whatever_the_pieces(source: list[str], sizes: list[int]) -> None:
    text = "\n".join(source)
    blocks = list(paragraphs(in_pieces(text, sizes)))
    assert blocks == list(paragraphs([text]))
    covered: set[int] = set()
    for block in blocks:
        numbers = range(block.anchor.first, block.anchor.last + 1)
        assert block.text.split("\n") == [source[number - 1] for number in numbers]
        covered.update(numbers)
    assert covered == {number for number, line in enumerate(source, 1) if line.strip()}


@given(LINES, st.lists(st.integers(1, 20), max_size=20))
def test_text_lines_do_not_depend_on_the_pieces(source: list[str], sizes: list[int]) -> None:
    text = "\n".join(source)
    assert list(text_lines(in_pieces(text, sizes))) == text.removesuffix("\n").split("\n") * bool(text)


def test_a_line_reader_takes_and_puts_back() -> None:
    reader = LineReader(["a", "b", "c"])
    taken = [reader.take(), reader.take()]
    assert (taken, reader.current, reader.number) == (["a", "b"], "c", 3)
    reader.put_back(taken)
    assert (reader.current, reader.number) == ("a", 1)
    assert [reader.take(), reader.take(), reader.take()] == ["a", "b", "c"]
    assert reader.current is None
    reader.put_back(["c"])
    assert (reader.take(), reader.current) == ("c", None)


def test_one_endless_line_comes_in_parts_that_join_again() -> None:
    text = "没有换行的一句话。" * 20_000
    blocks = list(paragraphs(in_pieces(text, [1000] * 100)))
    assert len(blocks) > 5
    assert "".join(block.text for block in blocks) == text
    assert {block.anchor for block in blocks} == {Anchor("lines", 1, 1)}
    assert [block.joiner for block in blocks[1:]] == [""] * (len(blocks) - 1)
    assert all(block.text.endswith("。") for block in blocks)
    assert max(len(block.text) for block in blocks) <= 2 * lines.BLOCK_CHARACTERS


def test_a_long_line_between_others_keeps_its_number() -> None:
    long = "x" * 100_000
    blocks = list(paragraphs([f"before\n{long}\nafter\n\nlast"]))
    assert blocks[0] == Block("paragraph", "before", Anchor("lines", 1, 1))
    assert blocks[1].joiner == "\n"
    assert "".join(block.joiner + block.text for block in blocks[1:-1]) == f"\n{long}\nafter"
    assert {block.anchor for block in blocks[1:-2]} == {Anchor("lines", 2, 2)}
    assert blocks[-2] == Block("paragraph", "after", Anchor("lines", 3, 3), joiner="\n")
    assert blocks[-1] == Block("paragraph", "last", Anchor("lines", 5, 5))


def test_a_long_run_of_lines_comes_in_several_blocks() -> None:
    source = [f"{number:05} 一行日志" for number in range(5000)]
    blocks = list(paragraphs(["\n".join(source)]))
    assert len(blocks) > 2
    assert {block.joiner for block in blocks[1:]} == {"\n"}
    assert "\n".join(block.text for block in blocks) == "\n".join(source)


def test_windows_text_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("第一行\r\n第二行\r\n\r\n第四行\r\n".encode("utf-8-sig"))
    assert list(TextParser().read(path, "a.txt")) == [
        Facts("text/plain", "utf-8"),
        Block("paragraph", "第一行\n第二行", Anchor("lines", 1, 2)),
        Block("paragraph", "第四行", Anchor("lines", 4, 4)),
    ]


@pytest.mark.proves("text", "anchors", "limits")
@given(LINES.filter(lambda source: any(line.strip() for line in source)))
def test_huge_blocks_are_cut_without_losing_their_lines(source: list[str]) -> None:
    """The cut that guards every parser, tried with blocks that are huge for a limit made small."""
    text = "\n".join(source)
    block = Block("code", text, Anchor("lines", 3, 2 + len(source)), joiner="\n\n")
    original, reading.LONGEST_BLOCK = reading.LONGEST_BLOCK, 16
    try:
        parts = list(reading._parts(block))
    finally:
        reading.LONGEST_BLOCK = original
    assert "".join(part.joiner + part.text for part in parts).removeprefix("\n\n") == text
    for part in parts:
        assert part.text.count("\n") == part.anchor.last - part.anchor.first
        for number, line in enumerate(part.text.split("\n"), part.anchor.first):
            assert line in source[number - 3]
