"""The words and numbers in charts and diagrams (SmartArt) of office documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_STRICT_C = "{http://purl.oclc.org/ooxml/drawingml/chart}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
STRICT_A = "{http://purl.oclc.org/ooxml/drawingml/main}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_STRICT_DGM = "{http://purl.oclc.org/ooxml/drawingml/diagram}"

_MOST_POINTS = 2_000
_MOST_SERIES = 200
_MOST_NODES = 5_000


class Chart(NamedTuple):
    """A chart: its title, the titles of its axes, and its numbers as rows, of which the first names the series."""

    title: str
    axes: tuple[str, ...]
    rows: list[list[str]]


def chart_of(root: _Element) -> Chart:
    """Read a part of a chart; of numbers what the program that drew it has remembered of them."""
    # Strict documents have the same names in other namespaces.
    space = C if root.tag.startswith(C) else _STRICT_C
    title = ""
    axes = []
    for element in root.iter(f"{space}title"):
        parent = element.getparent()
        text = drawn_text(element)
        if parent is not None and parent.tag == f"{space}chart":
            title = text
        elif text:
            axes.append(text)
    series = [element for element, _ in zip(root.iter(f"{space}ser"), range(_MOST_SERIES), strict=False)]
    columns = [(_values(one, space, "tx"), _values(one, space, "val", "yVal", "bubbleSize")) for one in series]
    categories: dict[int, str] = {}
    for one in series:
        categories = categories or _values(one, space, "cat", "xVal")
    points = sorted(set(categories).union(*(values for _, values in columns)))
    if not points:
        return Chart(title, tuple(axes), [])
    names = [" ".join(name.values()) for name, _ in columns]
    rows = [["", *names]] if any(names) else []
    rows += [[categories.get(at, ""), *(values.get(at, "") for _, values in columns)] for at in points]
    return Chart(title, tuple(axes), rows)


def _values(series: _Element, space: str, *names: str) -> dict[int, str]:
    """The points of a part of a series by their index."""
    holder = next(series.iterchildren(*(space + name for name in names)), None)
    if holder is None:
        return {}
    found: dict[int, str] = {}
    for point in holder.iter(f"{space}pt"):
        index = point.get("idx", "")
        value = next(point.iterchildren(f"{space}v"), None)
        if index.isdecimal() and value is not None and value.text and len(found) < _MOST_POINTS:
            # Of categories in several levels the innermost comes first.
            found.setdefault(int(index), " ".join(value.text.split()))
    if not found:
        literal = next(holder.iterchildren(f"{space}v"), None)
        return {0: literal.text} if literal is not None and literal.text else {}
    return found


def drawn_text(element: _Element) -> str:
    """All text of DrawingML in an element, its paragraphs parted by spaces."""
    paragraphs = element.iter(f"{A}p", f"{STRICT_A}p")
    texts = ("".join(run.text or "" for run in paragraph.iter(f"{A}t", f"{STRICT_A}t")) for paragraph in paragraphs)
    return " ".join(" ".join(texts).split())


def diagram_items(root: _Element) -> Iterator[tuple[int, str]]:
    """Yield the texts of a diagram's data with the depth of each, the way its points hang together."""
    space = DGM if root.tag.startswith(DGM) else _STRICT_DGM
    texts: dict[str, str] = {}
    tops: list[str] = []
    for point in root.iter(f"{space}pt"):
        kind = point.get("type", "node")
        if kind == "doc":
            tops.append(point.get("modelId", ""))
        elif kind in ("node", "asst") and len(texts) < _MOST_NODES:
            texts[point.get("modelId", "")] = drawn_text(point)
    children: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter(f"{space}cxn"):
        if link.get("type", "parOf") == "parOf":
            order = link.get("srcOrd", "0")
            place = int(order) if order.isdecimal() else 0
            children.setdefault(link.get("srcId", ""), []).append((place, link.get("destId", "")))
    waiting = [(-1, top) for top in reversed(tops)]
    seen = set(tops)
    while waiting:
        depth, at = waiting.pop()
        if texts.get(at):
            yield depth, texts[at]
        for _, child in sorted(children.get(at, ()), reverse=True):
            if child not in seen:
                seen.add(child)
                waiting.append((depth + 1, child))
    for left, text in texts.items():
        if left not in seen and text:
            yield 0, text
