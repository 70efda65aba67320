"""Letters of a PDF whose font is neither in it nor on the machine keep their place."""

from __future__ import annotations

import io

import pytest
from PIL import ImageFont

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
