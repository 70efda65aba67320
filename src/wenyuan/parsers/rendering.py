"""A page of a file as a picture, with a passage lit; made in the child process, like everything that opens files."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from wenyuan.errors import UnsupportedType
from wenyuan.types import Box, ReadEvent

STAGE = "wenyuan.parsers.rendering:render"
"""What the child process is asked to do."""

LARGEST_PICTURE = 64_000_000
MOST_SCALE = 6.0

_PIECE_BYTES = 1 << 19
_RENDERERS = {
    "application/pdf": "wenyuan.parsers.pdf.rendering",
    "image/": "wenyuan.parsers.pictures.rendering",
}


class _Rendered(Protocol):
    def __call__(self, path: Path, page: int, boxes: tuple[Box, ...], scale: float, password: str) -> bytes: ...


def can_be_shown(media_type: str) -> bool:
    """Whether files of this type have pages that can be shown as pictures; loads nothing."""
    return _renderer(media_type) is not None


def render(events: Iterable[ReadEvent], arguments: Any) -> Iterator[str]:  # noqa: ARG001
    """Yield a page as PNG, in pieces as base64. The file is not read for it: its events are left alone.

    The arguments are a path, a name, a media type, the page (from 1), boxes of five numbers, the scale
    (pixels for each point of a page, or of a picture) and a password. Raises `DocumentError`.
    """
    path, name, media_type, page, boxes, scale, password = arguments
    module = _renderer(media_type)
    if module is None:
        raise UnsupportedType(name=name, media_type=media_type)
    rendered: _Rendered = import_module(module).rendered_page
    picture = rendered(Path(path), page, tuple(Box(*box) for box in boxes), scale, password)
    for start in range(0, len(picture), _PIECE_BYTES):
        yield base64.b64encode(picture[start : start + _PIECE_BYTES]).decode("ascii")


def _renderer(media_type: str) -> str | None:
    family = f"{media_type.partition('/')[0]}/"
    return _RENDERERS.get(media_type) or _RENDERERS.get(family)
