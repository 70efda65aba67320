"""The same document, saved in several formats, gives the same blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parsers.office_files import word
from tests.parsers.reading_blocks import FIXTURES, codes, events_of, facts, of, shown
from wenyuan.errors import ParserMemory
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader
from wenyuan.types import Block

HANDBOOKS = ("handbook.odt", "handbook.doc", "handbook.rtf")
FEATURES = ("features.odt", "features.doc", "features.rtf")
DECKS = ("deck.odp", "deck.ppt")


@pytest.mark.proves("doc", "text", "tables", "headings", "anchors", file="handbook.doc")
@pytest.mark.proves("odt", "text", "tables", "headings", "anchors", file="handbook.odt")
@pytest.mark.proves("rtf", "text", "tables", "headings", "anchors", file="handbook.rtf")
@pytest.mark.parametrize("name", HANDBOOKS)
def test_a_handbook_is_the_same_in_every_format(name: str) -> None:
    events, expected = events_of(name), events_of("handbook.docx")
    assert of(Block, events) == of(Block, expected)
    assert facts(events).title == facts(expected).title == "员工手册"
    assert facts(events).quality == facts(expected).quality


@pytest.mark.proves("doc", "metadata", file="features.doc")
@pytest.mark.proves("odt", "metadata", file="features.odt")
@pytest.mark.proves("rtf", "metadata", file="features.rtf")
@pytest.mark.parametrize("name", FEATURES)
def test_unusual_things_are_the_same_in_every_format(name: str) -> None:
    events, expected = events_of(name), events_of("features.docx")
    # LibreOffice writes the date of a field in its own way, and of an author in RTF only question marks; Word 97
    # keeps text boxes apart from the text around them.
    changed = {"日期：2026年": "日期：2026"}
    if name.endswith(".rtf"):
        changed["Comment by 赵六: 请核对数字"] = "Comment by ??: 请核对数字"
    box = ("paragraph", "文本框内容一次")
    wanted = [(kind, changed.get(text, text)) for kind, text in shown(expected)]
    found = shown(events)
    if name.endswith(".doc"):
        assert found.pop() == box
        wanted.remove(box)
    assert found == wanted
    assert codes(events) == {"tracked-changes", "hidden-text"}
    assert facts(events).metadata["header"] == "内部资料 Confidential"
    assert "footer" not in facts(events).metadata
    assert {"comments": 1, "tables": 2, "insertions": 1, "deletions": 1}.items() <= facts(events).quality.items()


@pytest.mark.proves("odp", "text", "tables", "headings", "anchors", file="deck.odp")
@pytest.mark.proves("ppt", "text", "tables", "headings", "anchors", file="deck.ppt")
@pytest.mark.parametrize("name", DECKS)
def test_slides_are_the_same_in_every_format(name: str) -> None:
    events, expected = events_of(name), events_of("deck.pptx")
    wanted = of(Block, expected)
    if name.endswith(".ppt"):
        # A chart is an object of another program there.
        wanted = [block for block in wanted if block.anchor.first != 3 or block.kind in ("heading", "paragraph")]
        assert codes(events) == {"embedded-objects", "hidden-slides", "slides-without-text"}
    assert [(b.kind, b.text, b.heading_path, b.anchor.first, b.context) for b in of(Block, events)] == [
        (b.kind, b.text, b.heading_path, b.anchor.first, b.context) for b in wanted
    ]
    for found, block in zip(of(Block, events), wanted, strict=True):
        assert bool(found.anchor.boxes) == bool(block.anchor.boxes)
    assert facts(events).quality["hidden_slides"] == [5]
    assert facts(events).quality["slides"] == 6


def test_what_pandoc_writes_is_the_same_in_both_formats() -> None:
    events, expected = events_of("policy.odt"), events_of("policy.docx")
    # It calls captions differently, and sums have no space after their limits.
    assert [text.replace("n k", "nk") for _, text in shown(events)] == [
        text.replace("n k", "nk") for _, text in shown(expected)
    ]


def test_the_limited_process_reads_them_the_same() -> None:
    names = "handbook.docx features.doc deck.pptx deck.ppt policy.odt deck.odp guide.epub handbook.rtf".split()
    with SandboxedReader(ReadLimits()) as reader:
        for name in names:
            assert list(reader.read(FIXTURES / name, name)) == events_of(name)


def test_a_document_that_needs_more_memory_than_there_is(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(word("<w:p>" + "<w:r><w:t>x</w:t></w:r>" * 1_200_000 + "</w:p>"))
    limits = ReadLimits(parse_memory_bytes=300 << 20)
    with SandboxedReader(limits) as reader:
        with pytest.raises(ParserMemory):
            list(reader.read(path, "a.docx"))
        assert list(reader.read(FIXTURES / "handbook.docx", "handbook.docx")) == events_of("handbook.docx")
