"""Letters of a PDF whose font is neither in it nor on the machine keep their place."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import ImageFont

from tests.parsers.pdf_files import HAN_VERTICAL, Page, PdfFile, text
from wenyuan.parsers.pdf.stand_in_font import font_file


@pytest.mark.parametrize("letter", ["字", "⼀", "あ", "한", "，", "Ａ"])
def test_every_wide_letter_is_a_box_of_the_size_of_its_field(letter: str) -> None:
    font = ImageFont.truetype(io.BytesIO(font_file()), 1000)
    assert font.getlength(letter) == 1000
    left, top, right, bottom = font.getbbox(letter)
    assert (left, right, bottom - top) == (0, 1000, 1000)


def test_other_letters_are_not_in_it() -> None:
    font = ImageFont.truetype(io.BytesIO(font_file()), 1000)
    assert font.getmask("字").getbbox() is not None
    assert font.getmask("a").getbbox() is None


# PDFium is told of fonts once in a process, and the machine may have one: what it has is left out here.
_READ = """
import sys
from pathlib import Path
from wenyuan.parsers.pdf import stand_in_font
from wenyuan.parsers.pdf.parser import PdfParser
from wenyuan.types import Block

def map_font(self, _, weight, italic, charset, pitch, face, exact):
    if charset in stand_in_font._CHARSETS:
        return stand_in_font._HANDLE if sys.argv[2] == "offered" else None
    return self.default.MapFont(self.default, weight, italic, charset, pitch, face, exact)

stand_in_font._StandIn.MapFont = map_font
path = Path(sys.argv[1])
print(*(event.text for event in PdfParser().read(path, path.name) if isinstance(event, Block)))
"""


@pytest.mark.parametrize(("fonts", "is_read"), [("offered", True), ("none", False)])
def test_letters_without_any_font_are_read_by_the_one_that_is_offered(
    tmp_path: Path, fonts: str, is_read: bool
) -> None:
    content = text(300, 700, "床前明月光，", 12, HAN_VERTICAL) + text(280, 700, "疑是地上霜。", 12, HAN_VERTICAL)
    path = PdfFile([Page(content)]).written(tmp_path / "poem.pdf")
    command = [sys.executable, "-c", _READ, str(path), fonts]
    read = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert ("床前明月光，疑是地上霜。" in read) == is_read
