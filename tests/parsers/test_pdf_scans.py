"""Pages of a PDF that are pictures: recognised one by one, each where its words are seen."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

from wenyuan.errors import NeedsOcr, NoText
from wenyuan.parsers.pdf.scans import recognised_page
from wenyuan.parsers.pictures.recognition import ReadingSettings, Recognition, recognition_allowed
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block, Facts, Notice, ReadEvent

FILES = Path(__file__).parent.parent / "fixtures" / "files"
LINE_TEXT = "发票号码03481927金额12,800.00元"
FAST = ReadingSettings("fast")


def read(path: Path, settings: ReadingSettings = FAST) -> list[ReadEvent]:
    return list(read_file(path, path.name, recognition=Recognition(settings)))


def blocks_of(events: list[ReadEvent]) -> list[Block]:
    return [event for event in events if isinstance(event, Block)]


def notices_of(events: list[ReadEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, Notice)]


def _scanned(path: Path, count: int = 2, size: tuple[int, int] = (1000, 800)) -> Path:
    """A document of scans, at 144 dots per inch: two pixels to a point."""
    with Image.open(FILES / "picture-line.png") as line:
        page = Image.new("L", size, 255)
        page.paste(line.convert("L"), (100, 200))
    page.save(path, "PDF", resolution=144, save_all=True, append_images=[page] * (count - 1))
    return path


@pytest.mark.proves("scan", "text", "anchors", "recognition")
def test_scanned_pages_are_read_with_their_places_in_points(tmp_path: Path) -> None:
    events = read(_scanned(tmp_path / "scan.pdf"))
    assert ["".join(block.text.split()) for block in blocks_of(events)] == [LINE_TEXT] * 2
    assert [block.anchor.first for block in blocks_of(events)] == [1, 2]
    for page, block in enumerate(blocks_of(events), 1):
        [box] = block.anchor.boxes
        assert box.page == page
        # The words stand at (131, 242) to (734, 284) in pixels.
        assert box[1:] == pytest.approx((65, 121, 367, 142), abs=4)
    facts = [event for event in events if isinstance(event, Facts)][-1]
    assert facts.quality["pages_recognised"] == 2
    assert [event.message for event in events if isinstance(event, Notice)] == [
        "The text of pages 1–2 was recognised from a picture."
    ]


def test_a_turned_page_has_its_places_as_it_is_shown(tmp_path: Path) -> None:
    path = _scanned(tmp_path / "scan.pdf", 1)
    document = pypdfium2.PdfDocument(path)
    document[0].set_rotation(180)
    document.save(tmp_path / "turned.pdf")
    [block] = blocks_of(read(tmp_path / "turned.pdf"))
    assert "".join(block.text.split()) == LINE_TEXT
    assert block.anchor.boxes[0][1:] == pytest.approx((500 - 367, 400 - 142, 500 - 65, 400 - 121), abs=4)


def test_pages_beyond_the_limit_are_named(tmp_path: Path) -> None:
    events = read(_scanned(tmp_path / "scan.pdf", 3), ReadingSettings("fast", ocr_pages=2))
    assert [block.anchor.first for block in blocks_of(events)] == [1, 2]
    assert "pages-not-recognised" in notices_of(events)


def test_a_scan_without_a_recogniser_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(NeedsOcr, match=r"scan\.pdf"):
        read(_scanned(tmp_path / "scan.pdf"), ReadingSettings("off"))


def test_a_scan_of_nothing_has_no_text(tmp_path: Path) -> None:
    Image.new("L", (400, 300), 200).save(tmp_path / "empty.pdf", "PDF")
    with pytest.raises(NoText):
        read(tmp_path / "empty.pdf")


@pytest.mark.proves("scan", "limits")
def test_a_huge_page_is_drawn_no_larger_than_can_be_read() -> None:
    document = pypdfium2.PdfDocument.new()
    huge, thin = document.new_page(14_400, 14_400), document.new_page(14_400, 1)
    before = recognition_allowed.set(Recognition(FAST))
    try:
        assert recognised_page(huge, 1, "poster.pdf") == []
        assert recognised_page(thin, 2, "poster.pdf") == []
    finally:
        recognition_allowed.reset(before)
