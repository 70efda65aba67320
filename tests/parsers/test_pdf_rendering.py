"""A PDF page as a picture with a passage lit, as the child process makes it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from tests.parsers.pdf_files import Page, PdfFile, text
from wenyuan.errors import FileEncrypted, FileMalformed
from wenyuan.parsers.pdf.rendering import rendered_page
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block, Box

FILES = Path(__file__).parents[1] / "fixtures" / "files"
WHITE = (255, 255, 255)


def drawn(path: Path, page: int, boxes: tuple[Box, ...], scale: float = 1.0, password: str = "") -> Image.Image:
    return Image.open(io.BytesIO(rendered_page(path, page, boxes, scale, password)))


def test_what_a_reader_found_is_what_is_lit() -> None:
    path = FILES / "pdf-rotated.pdf"
    block = next(event for event in read_file(path, path.name) if isinstance(event, Block))
    plain, lit = drawn(path, 1, ()), drawn(path, 1, block.anchor.boxes)
    assert plain.size == lit.size == (842, 596)
    (box,) = block.anchor.boxes
    assert lit.getpixel((box.left + 1, box.top + 1)) != WHITE
    assert lit.getpixel((box.left - 10, box.top - 10)) == WHITE
    grey = plain.convert("L")
    around = [(x, y) for x in range(box.left - 20, box.right + 20) for y in range(60, 300)]
    ink = [place for place in around if grey.getpixel(place) < 99]  # type: ignore[operator]
    assert ink
    assert all(box.left <= x <= box.right and box.top <= y <= box.bottom for x, y in ink)


def test_scale_and_other_pages_boxes(tmp_path: Path) -> None:
    path = PdfFile([Page(text(72, 700, "One")), Page("")]).written(tmp_path / "two.pdf")
    picture = drawn(path, 2, (Box(1, 10, 10, 100, 100), Box(2, 200, 200, 300, 300)), 2.0)
    assert picture.size == (1190, 1684)
    assert picture.getpixel((50, 50)) == WHITE
    assert picture.getpixel((500, 500)) != WHITE


def test_a_huge_page_is_drawn_small(tmp_path: Path) -> None:
    path = PdfFile([Page("", size=(14_000, 14_000))]).written(tmp_path / "huge.pdf")
    width, height = drawn(path, 1, (), 6.0).size
    assert width * height <= 16_100_000


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    path = PdfFile([Page("")]).written(tmp_path / "one.pdf")
    for page in (0, 2):
        with pytest.raises(FileMalformed):
            rendered_page(path, page, ())
    with pytest.raises(FileEncrypted):
        rendered_page(FILES / "pdf-password.pdf", 1, ())
    assert rendered_page(FILES / "pdf-password.pdf", 1, (), 1.0, "secret").startswith(b"\x89PNG")
