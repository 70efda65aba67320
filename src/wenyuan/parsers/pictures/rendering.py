"""A picture with the place lit where a passage stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from wenyuan.errors import FileMalformed
from wenyuan.parsers.pictures.files import opened_picture, shown
from wenyuan.parsers.pictures.lighting import MOST_PIXELS, lit
from wenyuan.types import Box


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
    factor = min(scale * frame.scale, (MOST_PIXELS / (frame.picture.width * frame.picture.height)) ** 0.5)
    size = (max(1, round(frame.picture.width * factor)), max(1, round(frame.picture.height * factor)))
    drawn = frame.picture.resize(size, Image.Resampling.LANCZOS) if size != frame.picture.size else frame.picture
    return lit(drawn, page, boxes, factor / frame.scale)
