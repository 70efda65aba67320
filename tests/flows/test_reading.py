"""Blocks become chunks, and the document's title stands above all of them."""

from __future__ import annotations

import pytest

from wenyuan.flows.reading import Reading, cut
from wenyuan.rules.chunking import Chunker, Fed
from wenyuan.types import Anchor, Block, Chunk, ChunkingConfig, Facts, Notice, ReadEvent


def block(number: int, text: str, *path: str) -> Block:
    return Block("paragraph", text, Anchor("lines", number, number), path)


def chunks(*events: ReadEvent, title: str = "", reading: Reading | None = None) -> list[Chunk]:
    chunker = Chunker(ChunkingConfig(100))
    pieces = cut(events, chunker, reading or Reading(), title)
    return [chunk for piece in pieces if isinstance(piece, Fed) for chunk in piece.chunks]


TWO_SECTIONS = (block(1, "一" * 40, "第一章"), block(3, "二" * 40, "第二章", "细则"), block(5, "三" * 40))


def test_a_title_known_before_the_text_stands_above_every_chunk() -> None:
    found = chunks(Facts("text/html", title=" 员工\n手册 "), *TWO_SECTIONS, Facts("text/html", title="员工手册"))
    assert [chunk.heading_path for chunk in found] == [
        ("员工 手册", "第一章"),
        ("员工 手册", "第二章", "细则"),
        ("员工 手册",),
    ]


def test_a_given_title_goes_before_the_one_that_was_read() -> None:
    found = chunks(Facts("text/html", title="Untitled"), *TWO_SECTIONS, title="员工手册")
    assert {chunk.heading_path[0] for chunk in found} == {"员工手册"}


@pytest.mark.parametrize("events", [TWO_SECTIONS, (Facts("text/plain"), *TWO_SECTIONS)])
def test_without_a_title_nothing_stands_above(events: tuple[ReadEvent, ...]) -> None:
    assert [chunk.heading_path for chunk in chunks(*events)] == [("第一章",), ("第二章", "细则"), ()]


def test_a_title_that_comes_among_the_blocks_changes_none_of_them() -> None:
    late = Facts("text/markdown", title="第一章")
    assert [chunk.heading_path for chunk in chunks(*TWO_SECTIONS[:2], late, TWO_SECTIONS[2], late)] == [
        ("第一章",),
        ("第二章", "细则"),
        (),
    ]


@pytest.mark.parametrize(
    ("title", "heading", "is_said"),
    [
        ("年假制度", "年假制度", True),
        ("年假制度 | 公司内网", "年假制度", True),
        ("年假", "年假制度（2026 版）", True),
        ("ANNUAL LEAVE", "Annual leave policy", True),
        ("Annual leave – Acme", "Annual leave", True),
        ("年假制度", "第一章", False),
        ("IT", "Security", False),
        ("IT", "IT security", True),
        ("c++", "C++ (2020)", True),
    ],
)
def test_a_heading_that_says_the_title_is_enough(title: str, heading: str, is_said: bool) -> None:
    (found,) = chunks(block(1, "内容", heading, "细则"), title=title)
    assert found.heading_path == ((heading, "细则") if is_said else (title, heading, "细则"))


def test_a_huge_title_is_cut() -> None:
    (found,) = chunks(block(1, "内容"), title="长" * 5000)
    assert found.heading_path == ("长" * 200,)


def test_facts_notices_and_blocks_are_counted() -> None:
    reading = Reading()
    chunks(Notice("n", "m"), *TWO_SECTIONS, Facts("text/plain", "utf-8"), reading=reading)
    assert reading.facts == Facts("text/plain", "utf-8")
    assert reading.notices == [Notice("n", "m")]
    assert reading.blocks == {"paragraph": 3}
