"""The shapes on a slide of PresentationML: where they stand and what kind each is (ECMA-376 part 1, 19.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from wenyuan.parsers.slides.places import EMU_PER_POINT, Area, Frame

if TYPE_CHECKING:
    from lxml.etree import _Element

_DEEPEST_GROUP = 50
_LARGEST_COORDINATE = 10**12


class Placeholder(NamedTuple):
    """The role of a shape on its slide, and its number in its layout."""

    kind: str
    number: str


class Shape(NamedTuple):
    """A shape that is no group; `path` are the numbers of the groups around it."""

    kind: str
    element: _Element
    area: Area | None
    placeholder: Placeholder | None
    description: str


class Group(NamedTuple):
    """Shapes that belong together."""

    area: Area | None
    members: list[Shape | Group]


Areas = dict[tuple[str, str], Area]
"""Where the placeholders of a layout stand: by their number and by their kind."""


def local(element: _Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def child(element: _Element | None, *path: str) -> _Element | None:
    """The first child of that name, its first child of the next name, and so on."""
    for name in path:
        if element is None:
            return None
        element = next((one for one in element if local(one) == name), None)
    return element


def shapes_of(tree: _Element, inherited: list[Areas]) -> list[Shape | Group]:
    """The shapes in a shape tree, in their order from back to front; groups as groups."""
    return _members(tree, Frame(), inherited, 0)


def placeholder_areas(tree: _Element) -> Areas:
    """Where the placeholders of a layout or master stand."""
    areas: Areas = {}
    for shape in _flat(shapes_of(tree, [])):
        if shape.placeholder is not None and shape.area is not None:
            kind, number = shape.placeholder
            areas.setdefault(("number", number), shape.area)
            areas.setdefault(("kind", kind), shape.area)
    return areas


def _flat(members: list[Shape | Group]) -> Iterator[Shape]:
    for member in members:
        if isinstance(member, Group):
            yield from _flat(member.members)
        else:
            yield member


def _members(tree: _Element, frame: Frame, inherited: list[Areas], depth: int) -> list[Shape | Group]:
    found: list[Shape | Group] = []
    for element in tree:
        kind = local(element)
        if kind == "AlternateContent":
            chosen = child(element, "Choice")
            # Newer programs read the first; the other one is a picture of the same for older ones.
            found.extend(_members(chosen, frame, inherited, depth) if chosen is not None else [])
        elif kind == "grpSp" and depth < _DEEPEST_GROUP:
            area, inner = _group_place(element, frame)
            found.append(Group(area, _members(element, inner, inherited, depth + 1)))
        elif kind in ("sp", "graphicFrame", "pic", "cxnSp"):
            found.append(_shape(kind, element, frame, inherited))
    return found


def _shape(kind: str, element: _Element, frame: Frame, inherited: list[Areas]) -> Shape:
    properties = next((one for one in element if local(one).startswith("nv")), None)
    description = child(properties, "cNvPr")
    mark = child(properties, "nvPr", "ph")
    placeholder = Placeholder(mark.get("type", "obj"), mark.get("idx", "0")) if mark is not None else None
    transform = child(element, "xfrm") if kind == "graphicFrame" else child(element, "spPr", "xfrm")
    numbers = _numbers(transform, "off", "ext")
    area = frame.placed(*numbers) if numbers is not None else None
    if area is None and placeholder is not None:
        area = _inherited(placeholder, inherited)
    return Shape(kind, element, area, placeholder, description.get("descr", "") if description is not None else "")


def _inherited(placeholder: Placeholder, inherited: list[Areas]) -> Area | None:
    kind = {"ctrTitle": "title", "subTitle": "body", "obj": "body"}.get(placeholder.kind, placeholder.kind)
    for distance, areas in enumerate(inherited):
        keys = [("kind", placeholder.kind), ("kind", kind)]
        if distance == 0 and placeholder.number != "0":
            keys.insert(0, ("number", placeholder.number))
        for key in keys:
            if key in areas:
                return areas[key]
    return None


def _group_place(element: _Element, frame: Frame) -> tuple[Area | None, Frame]:
    transform = child(element, "grpSpPr", "xfrm")
    outer, inner = _numbers(transform, "off", "ext"), _numbers(transform, "chOff", "chExt")
    if outer is None:
        return None, frame
    area = frame.placed(*outer)
    if inner is None or not inner[2] or not inner[3]:
        return area, frame
    across, down = (area.right - area.left) / inner[2], (area.bottom - area.top) / inner[3]
    return area, Frame(area.left - inner[0] * across, area.top - inner[1] * down, across, down)


def _numbers(transform: _Element | None, offset: str, extent: str) -> tuple[float, float, float, float] | None:
    """An offset and an extent in points."""
    start, size = child(transform, offset), child(transform, extent)
    if start is None or size is None:
        return None
    try:
        values = [int(start.get("x", "")), int(start.get("y", "")), int(size.get("cx", "")), int(size.get("cy", ""))]
    except ValueError:
        return None
    if any(abs(value) > _LARGEST_COORDINATE for value in values):
        return None
    left, top, width, height = (value / EMU_PER_POINT for value in values)
    return left, top, width, height
