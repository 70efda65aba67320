"""Answers of remote readers become blocks that lead back to the original, and nothing in them is believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.reader_server import CONTENT_LIST, ELEMENTS, TREE, XHTML, archive
from wenyuan.errors import DocumentError, FileMalformed, NoText, ReaderAnswerInvalid
from wenyuan.parsers.converted.answer import CONVERTED, Conversion
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block, Box, Facts

Read = Callable[..., tuple[list[Block], Facts]]

HEADING = "年度报告 Annual report"


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """A PDF of two pages, one of them shown turned."""
    document = pypdfium2.PdfDocument.new()
    document.new_page(600, 800)
    document.new_page(600, 800).set_rotation(90)
    path = tmp_path / "original"
    document.save(path)
    return path


@pytest.fixture
def read(tmp_path: Path, original: Path) -> Read:
    """Reads an answer of a kind; what it is an answer for may be told."""

    def reading(
        kind: str, answer: bytes, media_type: str = "application/pdf", path: Path = original
    ) -> tuple[list[Block], Facts]:
        place = tmp_path / "answer"
        place.write_bytes(Conversion(path, media_type, "scans (test)").encoded() + answer)
        events = list(read_file(place, "report.pdf", f"{CONVERTED}{kind}"))
        facts = [event for event in events if isinstance(event, Facts)]
        return [event for event in events if isinstance(event, Block)], facts[-1]

    return reading


def said(blocks: list[Block]) -> list[tuple[str, str, int]]:
    return [(block.kind, block.text, block.anchor.first) for block in blocks]


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


ANSWERS = {
    "unstructured": as_json(ELEMENTS),
    "tika": XHTML.encode(),
    "mineru": as_json({"results": {"document": {"content_list": json.dumps(CONTENT_LIST)}}}),
    "mineru-tasks": archive({"full/structured_content.json": as_json(TREE), "full/markdown.md": b"# other"}),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_protocol_gives_the_same_document(kind: str, read: Read) -> None:
    blocks, facts = read(kind, ANSWERS[kind])
    texts = [block.text for block in blocks]
    assert texts[0] == HEADING
    assert blocks[0].kind == "heading"
    assert "The dam was inspected in April." in texts
    assert "gate three" in " ".join(texts)
    header, row = (block for block in blocks if block.kind == "table")
    assert (header.text, row.text) == ("| Gate | Level |", "| Three | 41 |")
    assert (row.context, row.joiner) == (header.text, "\n")
    assert {block.anchor.kind for block in blocks} == {"page"}
    assert (blocks[0].anchor.first, row.anchor.first) == (1, 2)
    assert row.heading_path == (HEADING,)
    assert "Confidential" not in texts
    assert facts.quality["reader"] == "scans (test)"
    assert facts.quality["pages"] == 2
    assert facts.quality["pages_without_text"] == 0
    assert facts.quality["tables"] == 1


def test_elements_keep_their_kinds_and_pages(read: Read) -> None:
    blocks, facts = read("unstructured", as_json(ELEMENTS))
    assert said(blocks) == [
        ("heading", HEADING, 1),
        ("paragraph", "The dam was inspected in April.", 1),
        ("list", "- gate three", 1),
        ("list", "- gate four", 1),
        ("table", "| Gate | Level |", 2),
        ("table", "| Three | 41 |", 2),
    ]
    assert blocks[3].joiner == "\n"
    assert facts.quality["headers_removed"] == 1


def test_boxes_are_points_of_the_page_as_it_is_shown(read: Read) -> None:
    blocks, _ = read("unstructured", as_json(ELEMENTS))
    # A tenth to nine tenths of 600 points, a tenth to a fifth of 800.
    assert blocks[0].anchor.boxes == (Box(1, 60, 80, 540, 160),)
    assert blocks[1].anchor.boxes == ()
    blocks, _ = read("mineru", ANSWERS["mineru"])
    assert blocks[0].anchor.boxes == (Box(1, 60, 80, 540, 160),)
    turned = [{"type": "text", "text": "on its side", "bbox": [0, 0, 500, 1000], "page_idx": 1}]
    blocks, _ = read("mineru-tasks", as_json(turned))
    assert blocks[0].anchor.boxes == (Box(2, 0, 0, 400, 600),)


def test_boxes_on_a_picture_are_its_pixels(read: Read, tmp_path: Path) -> None:
    picture = tmp_path / "picture"
    Image.new("L", (300, 200)).save(picture, "png")
    items = [{"type": "text", "text": "a sign", "bbox": [0, 500, 1000, 1000], "page_idx": 0}]
    blocks, _ = read("mineru-tasks", as_json(items), "image/png", picture)
    assert blocks[0].anchor.boxes == (Box(1, 0, 100, 300, 200),)


def test_a_picture_that_is_shown_turned_has_no_boxes(read: Read, tmp_path: Path) -> None:
    picture, exif = tmp_path / "picture", Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (300, 200)).save(picture, "jpeg", exif=exif)
    items = [{"type": "text", "text": "a sign", "bbox": [0, 500, 1000, 1000], "page_idx": 0}]
    blocks, _ = read("mineru-tasks", as_json(items), "image/jpeg", picture)
    assert (blocks[0].anchor.kind, blocks[0].anchor.boxes) == ("page", ())


def test_what_has_no_pages_is_counted(read: Read) -> None:
    elements = [{"type": "NarrativeText", "text": word} for word in ("one", "two")]
    blocks, facts = read("unstructured", as_json(elements), "text/x-thing")
    assert [(block.anchor.kind, block.anchor.first) for block in blocks] == [("paragraph", 1), ("paragraph", 2)]
    assert "pages" not in facts.quality


def test_the_pages_of_a_presentation_are_slides(read: Read) -> None:
    elements = [{"type": "Title", "text": "Hello", "metadata": {"page_number": 3}}]
    kind = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    blocks, _ = read("unstructured", as_json(elements), kind)
    assert (blocks[0].anchor.kind, blocks[0].anchor.first) == ("slide", 3)


def test_deeper_headings_stand_below_higher_ones(read: Read) -> None:
    elements = [
        {"type": "Title", "text": text, "metadata": {"page_number": 1, "category_depth": depth}}
        for text, depth in (("Book", 0), ("Part", 1), ("Chapter", 2), ("Second part", 1))
    ]
    blocks, facts = read("unstructured", as_json([*elements, {"type": "Text", "text": "words"}]))
    assert blocks[-1].heading_path == ("Book", "Second part")
    assert facts.title == "Book"


def test_a_table_without_cells_is_read_as_its_plain_text(read: Read) -> None:
    table = {"type": "Table", "text": "Gate Three 41", "metadata": {"page_number": 1, "text_as_html": None}}
    blocks, _ = read("unstructured", as_json([table]))
    assert said(blocks) == [("table", "Gate Three 41", 1)]


def test_what_a_message_says_of_itself_is_metadata(read: Read) -> None:
    said_of = {"subject": "Levels", "sent_from": ["Lin <lin@example.org>"], "sent_to": ["a@b.c", "d@e.f"]}
    elements = [{"type": "NarrativeText", "text": "Hello", "metadata": said_of}]
    _, facts = read("unstructured", as_json(elements), "message/rfc822")
    assert facts.metadata == {"subject": "Levels", "from": "Lin <lin@example.org>", "to": "a@b.c, d@e.f"}


def test_tika_tells_title_author_and_dates(read: Read) -> None:
    _, facts = read("tika", XHTML.encode())
    assert facts.title == "Annual report"
    assert facts.metadata == {"author": "Lin", "created": "2024-03-01T08:00:00Z"}


def test_captions_footnotes_code_and_formulas_are_kept(read: Read) -> None:
    items = [
        {
            "type": "image",
            "img_path": "a.jpg",
            "image_caption": ["Figure 1"],
            "image_footnote": ["by Lin"],
            "page_idx": 0,
        },
        {"type": "code", "code_body": "x = 1\ny = 2", "code_caption": ["Listing 1"], "page_idx": 0},
        {"type": "equation", "text": "$$E = mc^2$$", "page_idx": 0},
        {"type": "page_number", "text": "17", "page_idx": 0},
    ]
    blocks, _ = read("mineru", as_json({"results": {"d": {"content_list": items}}}))
    assert [(block.kind, block.text) for block in blocks] == [
        ("caption", "Figure 1"),
        ("paragraph", "by Lin"),
        ("caption", "Listing 1"),
        ("code", "x = 1\ny = 2"),
        ("paragraph", "$$E = mc^2$$"),
    ]


def test_the_tree_is_read_before_the_list_and_the_list_before_markdown(read: Read) -> None:
    contents = as_json([{"type": "text", "text": "from the list", "page_idx": 0}])
    blocks, _ = read("mineru-tasks", archive({"x_content_list.json": contents, "x.md": b"from Markdown"}))
    assert said(blocks) == [("paragraph", "from the list", 1)]
    blocks, _ = read("mineru-tasks", archive({"x.md": "# 标题\n\nfrom Markdown".encode()}))
    assert [(block.kind, block.anchor.kind) for block in blocks] == [
        ("heading", "paragraph"),
        ("paragraph", "paragraph"),
    ]
    assert blocks[1].heading_path == ("标题",)


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("unstructured", b"[{"),
        ("unstructured", b'{"detail": "no"}'),
        ("unstructured", b"[[]]"),
        ("unstructured", b"[" * 100_000),
        ("unstructured", b"\xff\xfe\x00"),
        ("mineru", b"{}"),
        ("mineru", b'{"results": {"a": {}, "b": {}}}'),
        ("mineru", b'{"results": {"a": {"content_list": null}}}'),
        ("mineru", b'{"results": {"a": {"content_list": "[1]"}}}'),
        ("mineru-tasks", b"<html>"),
        ("mineru-tasks", archive({"picture.png": b"x"})),
        ("mineru-tasks", archive({"structured_content.json": b"{"})),
    ],
)
def test_an_answer_that_is_none_is_refused(kind: str, answer: bytes, read: Read) -> None:
    with pytest.raises(ReaderAnswerInvalid) as raised:
        read(kind, answer)
    assert raised.value.details["reader"] == "scans (test)"


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("unstructured", b"[]"), ("tika", b""), ("mineru", b'{"results": {"a": {"content_list": []}}}')],
)
def test_an_answer_without_text_is_an_error(kind: str, answer: bytes, read: Read) -> None:
    with pytest.raises(NoText):
        read(kind, answer)


def test_pages_that_the_original_does_not_have_are_not_believed(read: Read) -> None:
    items = [{"type": "text", "text": "far away", "page_idx": 10**9}, {"type": "text", "text": "near", "page_idx": 1}]
    blocks, facts = read("mineru-tasks", as_json(items))
    assert [(block.anchor.kind, block.anchor.first) for block in blocks] == [("paragraph", 1), ("page", 2)]
    assert facts.quality["pages"] == 2


@pytest.mark.parametrize("box", [[5, 5, 1, 1], [float("nan")] * 4, [0, 0, 10**400, 1], ["a"] * 4, [1, 2, 3], None, {}])
def test_a_box_that_is_none_is_left_out(box: Any, read: Read) -> None:
    blocks, _ = read("mineru-tasks", json.dumps([{"type": "text", "text": "x", "bbox": box, "page_idx": 0}]).encode())
    assert blocks[0].anchor.boxes == ()


def test_an_original_that_cannot_be_opened_has_pages_but_no_boxes(read: Read, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"%PDF-1.7 and no more")
    blocks, _ = read("mineru", ANSWERS["mineru"], path=broken)
    assert (blocks[0].anchor.first, blocks[0].anchor.boxes) == (1, ())


def test_a_file_that_only_claims_to_be_an_answer_is_malformed(tmp_path: Path) -> None:
    path = tmp_path / "claims"
    for content in (b"plain text", b"[1, 2, 3]\n[]", b"\xff" * 300_000, b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(FileMalformed):
            list(read_file(path, "claims", f"{CONVERTED}unstructured"))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_KEYS = (
    *("type", "text", "metadata", "page_number", "category_depth", "text_as_html", "coordinates", "points", "system"),
    *("layout_width", "layout_height", "text_level", "page_idx", "bbox", "table_body", "table_caption", "list_items"),
    *("code_body", "content", "captions", "blocks", "level"),
)
_KINDS = st.sampled_from(
    ["Title", "Table", "ListItem", "Header", "table", "list", "code", "text", "doc_title", "image"]
)
_ITEM = st.dictionaries(st.sampled_from(_KEYS), _JSON | _KINDS | st.just([[1, 2], [3, 4]]), max_size=8)


@given(items=st.lists(_ITEM, max_size=5), kind=st.sampled_from(["unstructured", "mineru", "mineru-tasks", "tree"]))
def test_whatever_is_answered_is_read_or_refused(
    items: list[Any], kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    value: Any = items
    if kind == "mineru":
        value = {"results": {"document": {"content_list": items}}}
    elif kind == "tree":
        kind, value = "mineru-tasks", {"pages": [{"page_idx": 0, "blocks": items}]}
    place = tmp_path_factory.getbasetemp() / "any-answer"
    header = Conversion(Path("/nowhere"), "application/pdf", "scans (test)").encoded()
    place.write_bytes(header + json.dumps(value).encode())
    try:
        events = list(read_file(place, "any", f"{CONVERTED}{kind}"))
    except DocumentError:
        return
    assert all(event.text for event in events if isinstance(event, Block))
