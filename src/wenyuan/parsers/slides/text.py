"""Text in DrawingML: paragraphs with their levels and bullets (ECMA-376 part 1, 21.1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from wenyuan.parsers.office.math import formula_text
from wenyuan.parsers.office.numbers import numeral
from wenyuan.parsers.slides.shapes import child, local

if TYPE_CHECKING:
    from lxml.etree import _Element

_DEEPEST = 8
_NUMBERING = re.compile(r"(alphaLc|alphaUc|arabic|romanLc|romanUc|circleNum|ea1Ch[st]|ea1Jpn\w*?)?(\w*)")
_FORMS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "arabic": "decimal",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
    "ea1Chs": "chineseCounting",
    "ea1Cht": "chineseCounting",
}
_AROUND = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})"}


class DrawnParagraph(NamedTuple):
    """A paragraph in a shape. `label` is its bullet or number, "" without one, None where its style decides."""

    text: str
    level: int
    label: str | None


def paragraphs_of(body: _Element | None) -> Iterator[DrawnParagraph]:
    """Yield the paragraphs of a text body that hold anything."""
    numbers: dict[int, int] = {}
    for paragraph in body if body is not None else ():
        if local(paragraph) != "p":
            continue
        text = _text(paragraph)
        if text.strip():
            properties = child(paragraph, "pPr")
            level = _level(properties)
            yield DrawnParagraph(text, level, _label(properties, level, numbers))


def plain_text(body: _Element | None) -> str:
    """The paragraphs of a text body as one line."""
    return " ".join(" ".join(paragraph.text for paragraph in paragraphs_of(body)).split())


def _text(paragraph: _Element) -> str:
    parts: list[str] = []
    for element in paragraph:
        kind = local(element)
        if kind == "br":
            parts.append("\n")
        elif kind == "AlternateContent":
            chosen = child(element, "Choice")
            parts.append(formula_text(chosen) if chosen is not None else "")
        elif kind == "m":
            parts.append(formula_text(element))
        elif kind == "r" or (kind == "fld" and element.get("type") != "slidenum"):
            run = child(element, "t")
            parts.append(run.text or "" if run is not None else "")
    return "".join(parts)


def _level(properties: _Element | None) -> int:
    value = properties.get("lvl", "0") if properties is not None else "0"
    return min(int(value), _DEEPEST) if value.isdecimal() else 0


def _label(properties: _Element | None, level: int, numbers: dict[int, int]) -> str | None:
    for deeper in [one for one in numbers if one > level]:
        del numbers[deeper]
    bullet = next((one for one in properties if local(one).startswith("bu")), None) if properties is not None else None
    while bullet is not None and local(bullet) not in ("buNone", "buChar", "buBlip", "buAutoNum"):
        bullet = bullet.getnext()
    kind = local(bullet) if bullet is not None else ""
    if bullet is None or kind != "buAutoNum":
        numbers.pop(level, None)
        return {"": None, "buNone": ""}.get(kind, "•")
    start = bullet.get("startAt", "1")
    first = int(start) if start.isdecimal() else 1
    numbers[level] = number = numbers[level] + 1 if level in numbers else first
    found = _NUMBERING.fullmatch(bullet.get("type", ""))
    form, around = (found[1] or "arabic", found[2]) if found else ("arabic", "Period")
    return _AROUND.get(around, "{}").format(numeral(number, _FORMS.get(form, "decimal")))
