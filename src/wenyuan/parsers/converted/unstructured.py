"""What Unstructured makes of a file: a JSON list of elements.

https://docs.unstructured.io/ui/document-elements
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wenyuan.parsers.converted.answer import Conversion, answered_json, opened_answer
from wenyuan.parsers.converted.blocks import ConvertedBlocks
from wenyuan.parsers.converted.places import Places, Share, share_of
from wenyuan.types import Block, BlockKind, ReadEvent

_KINDS: Mapping[str, BlockKind] = {
    "CodeSnippet": "code",
    "FigureCaption": "caption",
    "TableCaption": "caption",
    "Image": "caption",
}
_RUNNING = frozenset({"Header", "Footer", "PageNumber"})
_SAID_OF_MAIL = {"subject": "subject", "sent_from": "from", "sent_to": "to"}
_LONGEST_FACT = 1_000
_LONGEST_LENGTH = 1e9


class UnstructuredParser:
    """Reads such a list; every block has the page that its element has, and its box where that is told."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Raises `ReaderAnswerInvalid`."""
        with opened_answer(path) as (conversion, file):
            elements = answered_json(conversion, file.read(), name)
        if not isinstance(elements, list) or not all(isinstance(element, dict) for element in elements):
            raise conversion.invalid(name, "it is no list of elements")
        yield from _blocks(conversion, elements)


def _blocks(conversion: Conversion, elements: list[dict[str, Any]]) -> Iterator[ReadEvent]:
    builder = ConvertedBlocks(Places(conversion), conversion.reader)
    for element in elements:
        yield from _block(builder, element, _object(element.get("metadata")))
    first = _object(elements[0].get("metadata")) if elements else {}
    yield builder.facts(metadata=_metadata(first))


def _block(builder: ConvertedBlocks, element: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Block]:
    kind, text = element.get("type"), element.get("text")
    page, depth = metadata.get("page_number"), metadata.get("category_depth")
    share = _share(_object(metadata.get("coordinates")))
    match kind:
        case "Title":
            return builder.heading(text, depth + 1 if type(depth) is int else 1, page, share)
        case "ListItem":
            return builder.item(text, depth, page, share)
        case "Table":
            return builder.table(metadata.get("text_as_html"), text, page, share)
        case str() if kind in _RUNNING:
            builder.left_out()
            return iter(())
    return builder.text(_KINDS.get(str(kind), "paragraph"), text, page, share)


def _share(coordinates: Mapping[str, Any]) -> Share | None:
    """The rectangle around an element's corners, of which only those in pixels of the page are understood."""
    width, height = (_length(coordinates.get(key)) for key in ("layout_width", "layout_height"))
    points = coordinates.get("points")
    if coordinates.get("system") != "PixelSpace" or not width or not height or not isinstance(points, list):
        return None
    corners = [point for point in points if isinstance(point, list) and len(point) == 2]
    try:
        xs, ys = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    except (TypeError, ValueError, OverflowError):
        return None
    return share_of([min(xs), min(ys), max(xs), max(ys)], width, height) if corners else None


def _length(value: Any) -> float:
    """A length, or 0 for what is none."""
    is_number = isinstance(value, int | float) and 0 < value < _LONGEST_LENGTH
    return float(value) if is_number else 0.0


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _metadata(said: Mapping[str, Any]) -> dict[str, str]:
    """What messages say of themselves; of other files nothing is told that their own words do not tell."""
    found = {}
    for key, name in _SAID_OF_MAIL.items():
        value = said.get(key)
        words = ", ".join(map(str, value)) if isinstance(value, list) else value
        if isinstance(words, str) and words.strip():
            found[name] = words[:_LONGEST_FACT]
    return found
