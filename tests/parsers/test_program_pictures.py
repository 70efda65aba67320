"""Pages that programs drew as pictures: text recognition must find what was written, in its order."""

from __future__ import annotations

import unicodedata

import pytest

from tests.parsers.program_files import FILES, source_parts
from tests.parsers.reading_blocks import facts, of
from wenyuan.parsers.pictures.recognition import ReadingSettings, Recognition, is_installed
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block

pytestmark = pytest.mark.skipif(not is_installed(), reason="text recognition is not installed")


@pytest.mark.proves("picture", "text", "recognition", "anchors", file="reading-room-chromium.png")
@pytest.mark.proves("scan", "text", "recognition", file="observatory-img2pdf.pdf")
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("reading-room-chromium.png", "reading-room"),
        pytest.param("bakery-pillow.jpg", "bakery", marks=pytest.mark.soak),
        ("observatory-img2pdf.pdf", "observatory"),
        pytest.param("bakery-chromium.png", "bakery", marks=pytest.mark.soak),
        pytest.param("reading-room-pillow.webp", "reading-room", marks=pytest.mark.soak),
        pytest.param("reading-room-scanned.pdf", "reading-room", marks=pytest.mark.soak),
        pytest.param("observatory-ghostscript.tiff", "observatory", marks=pytest.mark.soak),
    ],
)
def test_a_drawn_page_has_every_text_in_its_order(name: str, source: str) -> None:
    events = list(read_file(FILES / name, name, recognition=Recognition(ReadingSettings("fast"))))
    blocks = of(Block, events)
    said = _letters("".join(block.text for block in blocks))
    at = 0
    for _, text, _ in source_parts(source):
        at = said.index(_letters(text), at)
    assert facts(events).quality["pages_recognised"] == 1
    width, height = 2500, 2500
    for block in blocks:
        assert block.anchor.boxes
        assert all(
            0 <= box.left < box.right < width and 0 <= box.top < box.bottom < height for box in block.anchor.boxes
        )


def _letters(text: str) -> str:
    """Letters and digits alone: spaces, rules and the width of punctuation are not what recognition is about."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text)))
