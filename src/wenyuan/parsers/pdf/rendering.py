"""A page of a PDF as a picture, with the place lit where a passage stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pypdfium2
from PIL import Image

from wenyuan.errors import FileMalformed
from wenyuan.parsers.pdf.opening import opened_pdf
from wenyuan.parsers.pictures.lighting import MOST_PIXELS, lit
from wenyuan.types import Box

_LONGEST_SIDE: Final = 16_000


def rendered_page(path: Path, page: int, boxes: Sequence[Box], scale: float = 1.0, password: str = "") -> bytes:
    """Return page `page` (from 1) as a PNG of `scale` pixels for each point, with its boxes lit.

    The boxes are in points of the page as it is shown; those of other pages are left out. The picture is made
    no larger than 16 million pixels. Raises `FileEncrypted`, `PasswordWrong` and `FileMalformed`, the last also
    for a page that is not there.
    """
    document = opened_pdf(path, path.name, password)
    try:
        if not 1 <= page <= len(document):
            raise FileMalformed(name=path.name, format="PDF", reason=f"it has no page {page}")
        try:
            loaded = document[page - 1]
        except pypdfium2.PdfiumError as error:
            raise FileMalformed(name=path.name, format="PDF", reason=f"page {page} is damaged") from error
        picture, factor = _drawn(loaded, scale)
        loaded.close()
    finally:
        document.close()
    return lit(picture, page, boxes, factor)


def _drawn(page: pypdfium2.PdfPage, scale: float) -> tuple[Image.Image, float]:
    """The page, and how many pixels a point takes on it."""
    width, height = page.get_size()
    factor = min(scale, math.sqrt(MOST_PIXELS / (width * height)), _LONGEST_SIDE / max(width, height))
    bitmap = page.render(scale=factor, prefer_bgrx=True)
    try:
        return bitmap.to_pil().convert("RGB"), factor
    finally:
        bitmap.close()
