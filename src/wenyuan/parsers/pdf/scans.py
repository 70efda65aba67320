"""Pages of a PDF that are pictures: drawn, and their text recognised."""

from __future__ import annotations

import math
from typing import Final

import pypdfium2

from wenyuan.parsers.pictures.recognition import allowance
from wenyuan.parsers.pictures.text import text_of
from wenyuan.types import Block

_DOTS_PER_INCH: Final = 200
_MOST_PIXELS: Final = 16_000_000
_LEAST_PIXELS: Final = 8
_POINTS_PER_INCH: Final = 72


def recognised_page(page: pypdfium2.PdfPage, number: int, name: str) -> list[Block] | None:  # noqa: ARG001
    """What text recognition reads on a page, its boxes in points of the page as it is shown.

    An empty list is a page on which nothing can be read. None: there is no recogniser, it is switched off, or
    the document has used up its pages. `number` counts from 1, `name` is the document's.
    """
    allowed = allowance()
    if not allowed.is_available:
        return None
    if allowed.is_used_up:
        allowed.left_out_pages.append(number)
        return None
    width, height = page.get_size()
    scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, math.sqrt(_MOST_PIXELS / max(1.0, width * height)))
    if min(width, height) * scale < _LEAST_PIXELS:
        return []
    bitmap = page.render(scale=scale, may_draw_forms=False, prefer_bgrx=True)
    try:
        picture = bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()
    found = text_of(picture, allowed, number, 1 / scale)
    if found.blocks:
        allowed.recognised_pages.append(number)
    if found.is_doubtful:
        allowed.doubtful_pages.append(number)
    return found.blocks
