"""Names of elements and attributes in OpenDocument (ODF 1.3 part 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

_ODF = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{_ODF}office:1.0}}"
TEXT = f"{_ODF}text:1.0}}"
TABLE = f"{_ODF}table:1.0}}"
STYLE = f"{_ODF}style:1.0}}"
DRAW = f"{_ODF}drawing:1.0}}"
SVG = f"{_ODF}svg-compatible:1.0}}"
META = f"{_ODF}meta:1.0}}"
CHART = f"{_ODF}chart:1.0}}"
PRESENTATION = f"{_ODF}presentation:1.0}}"
DC = "{http://purl.org/dc/elements/1.1/}"
XLINK = "{http://www.w3.org/1999/xlink}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
LOEXT = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"

_LARGEST = 1_000_000_000


def number(element: _Element, name: str, otherwise: int = 1) -> int:
    """A whole number in an attribute."""
    value = element.get(name, "")
    return int(value) if value.isdecimal() and len(value) < len(str(_LARGEST)) else otherwise


def child(element: _Element | None, *path: str) -> _Element | None:
    """The first child of that name, its first child of the next name, and so on."""
    for name in path:
        if element is None:
            return None
        element = next(element.iterchildren(name), None)
    return element
