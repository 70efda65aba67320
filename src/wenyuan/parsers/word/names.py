"""Names of elements and attributes in WordprocessingML, which has two namespaces: everyday and strict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
STRICT_W = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
STRICT_M = "{http://purl.oclc.org/ooxml/officeDocument/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

_OFF = frozenset({"0", "false", "off"})


def attribute(element: _Element, name: str) -> str:
    """An attribute in WordprocessingML's own namespace, or ""."""
    return element.get(W + name) or element.get(STRICT_W + name) or ""


def first_child(element: _Element | None, name: str) -> _Element | None:
    """The first child of that name."""
    return None if element is None else next(element.iterchildren(W + name, STRICT_W + name), None)


def flag(element: _Element) -> bool:
    """Whether a property that is there is switched on."""
    return attribute(element, "val") not in _OFF


def both(*names: str) -> tuple[str, ...]:
    """Those names in both namespaces."""
    return tuple(space + name for name in names for space in (W, STRICT_W))
