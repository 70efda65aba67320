"""A picture with the place lit where a passage stands."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PIL import Image, ImageChops, ImageDraw

from wenyuan.errors import FileMalformed
from wenyuan.parsers.pictures.files import opened_picture, shown
from wenyuan.types import Box

_LIGHT: Final = (255, 232, 120)
_MARGIN: Final = 3
_MOST_PIXELS: Final = 16_000_000


def rendered_page(path: Path, page: int, boxes: Sequence[Box], scale: float = 1.0, password: str = "") -> bytes:  # noqa: ARG001
    """Return page `page` (from 1) of a picture file as a PNG, `scale` times its size, with its boxes lit.

    The boxes are pixels of the picture as it is shown; those of other pages are left out. It is made no larger than
    16 million pixels. No picture has a password. Raises `FileMalformed`, also for a page that is not there, and
    `FileOverLimit`.
    """
    with opened_picture(path, path.name) as picture:
        try:
            picture.seek(page - 1)
        except EOFError as error:
            raise FileMalformed(name=path.name, format="picture data", reason=f"it has no page {page}") from error
        frame = shown(picture, path.name)
    factor = min(scale * frame.scale, (_MOST_PIXELS / (frame.picture.width * frame.picture.height)) ** 0.5)
    size = (max(1, round(frame.picture.width * factor)), max(1, round(frame.picture.height * factor)))
    drawn = frame.picture.resize(size, Image.Resampling.LANCZOS) if size != frame.picture.size else frame.picture
    lit = _lit(drawn, [box for box in boxes if box.page == page], factor / frame.scale)
    encoded = io.BytesIO()
    lit.save(encoded, "PNG", compress_level=3)
    return encoded.getvalue()


def _lit(picture: Image.Image, boxes: Sequence[Box], factor: float) -> Image.Image:
    mask = Image.new("L", picture.size)
    pen = ImageDraw.Draw(mask)
    for box in boxes:
        left, top, right, bottom = (distance * factor for distance in box[1:])
        pen.rectangle((left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN), fill=255)
    # Multiplied, as by a marker pen: what is dark stays dark.
    marked = ImageChops.multiply(picture, Image.new("RGB", picture.size, _LIGHT))
    return Image.composite(marked, picture, mask)
