"""The way back to the original from what a remote reader made of it.

Services count pages, and say where on a page something stands as a share of its width and height. How
large the pages are, the original itself tells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from wenyuan.parsers.converted.answer import Conversion
from wenyuan.types import Anchor, AnchorKind, Box

_MOST_PAGES = 1_000_000
_UPRIGHT = 1
_ORIENTATION_TAG = 0x0112


class Share(NamedTuple):
    """A rectangle on a page, each side as a share of the page's width or height, from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class Places:
    """Gives anchors in one original."""

    def __init__(self, conversion: Conversion) -> None:
        self._kind: AnchorKind = "slide" if "presentation" in conversion.media_type else "page"
        self._is_picture = conversion.media_type.startswith("image/")
        self._sizes = _page_sizes(conversion)
        # A picture file may hold more than the one picture whose size is known.
        self._last_page = len(self._sizes) if self._sizes and not self._is_picture else _MOST_PAGES
        self._paragraphs = 0
        self._pages_with_text: set[int] = set()

    def counted(self) -> dict[str, int]:
        """How many pages there are, and without text, as far as the original and its text tell."""
        pages = max(len(self._sizes), max(self._pages_with_text, default=0))
        if not pages:
            return {}
        # A service that tells no pages does not say that they are empty.
        empty = pages - len(self._pages_with_text) if self._pages_with_text else 0
        return {"pages": pages, "pages_without_text": empty}

    def at(self, page: object, share: Share | None = None) -> Anchor:
        """The place on a page, which counts from 1; where the service counts none, the paragraph that is next."""
        if type(page) is not int or not 0 < page <= self._last_page:
            if not self._is_picture:
                self._paragraphs += 1
                return Anchor("paragraph", self._paragraphs, self._paragraphs)
            page = 1
        self._pages_with_text.add(page)
        return Anchor(self._kind, page, page, boxes=self._boxes(page, share))

    def _boxes(self, page: int, share: Share | None) -> tuple[Box, ...]:
        if share is None or page > len(self._sizes):
            return ()
        sides = [min(max(float(side), 0.0), 1.0) for side in share]
        if not all(map(math.isfinite, share)) or sides[0] >= sides[2] or sides[1] >= sides[3]:
            return ()
        width, height = self._sizes[page - 1]
        left, top = math.floor(sides[0] * width), math.floor(sides[1] * height)
        return (Box(page, left, top, math.ceil(sides[2] * width), math.ceil(sides[3] * height)),)


def share_of(sides: object, width: float = 1.0, height: float = 1.0) -> Share | None:
    """The rectangle that a service names by its left, top, right and bottom on a page of that size; else None."""
    if not isinstance(sides, list) or len(sides) != len(Share._fields):
        return None
    if not all(isinstance(side, int | float) for side in sides):
        return None
    try:
        left, top, right, bottom = map(float, sides)
    except OverflowError:
        return None
    return Share(left / width, top / height, right / width, bottom / height)


def _page_sizes(conversion: Conversion) -> list[tuple[float, float]]:
    """Width and height of every page as it is shown: points in a PDF, pixels of a picture; nothing if not known."""
    if conversion.media_type == "application/pdf":
        return _sizes_in_pdf(conversion)
    return _size_of_picture(conversion) if conversion.media_type.startswith("image/") else []


def _sizes_in_pdf(conversion: Conversion) -> list[tuple[float, float]]:
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(conversion.path) as document:
            return [document.get_page_size(number) for number in range(min(len(document), _MOST_PAGES))]
    except (pypdfium2.PdfiumError, OSError):
        # The service could read it; without sizes there are pages, but no boxes on them.
        return []


def _size_of_picture(conversion: Conversion) -> list[tuple[float, float]]:
    from PIL import Image

    try:
        with Image.open(conversion.path) as picture:
            # Of one that is shown turned, it is not known which way the service has seen it.
            is_upright = picture.getexif().get(_ORIENTATION_TAG, _UPRIGHT) == _UPRIGHT
            return [picture.size] if is_upright else []
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return []
