"""Where a paragraph may be broken to fit a terminal, in Chinese as well as in English."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

_WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
_OPENING = "(\\[{“‘（［｛〔〈《「『【〖"
_CLOSING = ")\\]},.:;!?%”’…—·、。，．：；？！％）］｝〕〉》」』】〗～"
# A piece that stays together: white space; one wide character with the punctuation that belongs to
# it (no line begins with a closing mark or ends with an opening one); or a word of other characters.
_PIECE = re.compile(rf"\s+|[{_OPENING}]*[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+")


def breaks(paragraph: str, width: int) -> list[int]:
    """Offsets before which to break a paragraph, so that no line is wider than `width` columns.

    Lines may keep white space at their ends, which does not count. A piece wider than a line is
    broken wherever it must be.
    """
    found: list[int] = []
    column = 0
    for start, piece in _pieces(paragraph, width):
        wide = cell_len(piece)
        if piece.isspace():
            column += wide
            continue
        if column and column + wide > width:
            found.append(start)
            column = 0
        column += wide
    return found


def _pieces(paragraph: str, width: int) -> Iterator[tuple[int, str]]:
    for match in _PIECE.finditer(paragraph):
        if cell_len(match[0]) <= width or match[0].isspace():
            yield match.start(), match[0]
        else:
            yield from ((match.start() + offset, character) for offset, character in enumerate(match[0]))
