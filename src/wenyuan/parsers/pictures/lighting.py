"""The place where a passage stands, lit on a picture of its page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

from PIL import Image, ImageChops, ImageDraw

from wenyuan.types import Box

MOST_PIXELS: Final = 16_000_000
"""A picture of a page is made no larger than this."""

_LIGHT: Final = (255, 232, 120)
_MARGIN: Final = 3


def lit(picture: Image.Image, page: int, boxes: Sequence[Box], factor: float) -> bytes:
    """The picture of `page` as a PNG with its boxes lit, whose distances are `factor` pixels each.

    Boxes of other pages are left out.
    """
    mask = Image.new("L", picture.size)
    pen = ImageDraw.Draw(mask)
    for box in boxes:
        if box.page == page:
            left, top, right, bottom = (distance * factor for distance in box[1:])
            pen.rectangle((left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN), fill=255)
    # Multiplied, as by a marker pen: what is dark stays dark.
    marked = ImageChops.multiply(picture, Image.new("RGB", picture.size, _LIGHT))
    encoded = io.BytesIO()
    Image.composite(marked, picture, mask).save(encoded, "PNG", compress_level=3)
    return encoded.getvalue()
