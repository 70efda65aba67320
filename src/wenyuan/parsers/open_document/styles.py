"""The styles of an OpenDocument file: what its paragraphs and lists are for (ODF 1.3 part 3, 16)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from wenyuan.parsers.office.blocks import marker
from wenyuan.parsers.office.numbers import LEVELS, Level
from wenyuan.parsers.office.styles import role_of_style
from wenyuan.parsers.open_document.names import LOEXT, PRESENTATION, STYLE, TEXT, child, number

if TYPE_CHECKING:
    from lxml.etree import _Element

STYLE_TAGS = (f"{STYLE}style", f"{TEXT}list-style", f"{TEXT}outline-style")

_DEEPEST_BASE = 50
_ESCAPED = re.compile(r"_([0-9a-f]{1,5})_")
_SHOWN_LEVEL = re.compile(r"%(\d+)%")
_FORMS = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    "一": "chineseCounting",
    "壹": "chineseLegalSimplified",
    "甲": "ideographTraditional",
    "子": "ideographZodiac",
    "①": "decimalEnclosedCircle",
    "１": "decimalFullWidth",
    "〇": "ideographDigital",
}


class TextStyle(NamedTuple):
    """What a paragraph's style says: a kind of text, the level of a heading or None, and the name of a list style."""

    kind: str
    level: int | None
    list_style: str


class DocumentStyles:
    """The styles read so far; automatic ones stand before the text, the others in a part of their own."""

    def __init__(self) -> None:
        self.outline: list[Level] = []
        self._parents: dict[tuple[str, str], str] = {}
        self._own: dict[str, tuple[str, int | None, str | None]] = {}
        self._known: dict[str, TextStyle] = {}
        self._hidden: dict[str, bool] = {}
        self._hidden_slides: set[str] = set()
        self._lists: dict[str, list[Level]] = {}

    def add(self, element: _Element) -> None:
        """Take an element with one of `STYLE_TAGS`."""
        name = element.get(f"{STYLE}name", "")
        if element.tag == f"{TEXT}list-style":
            self._lists[name] = _levels(element)
        elif element.tag == f"{TEXT}outline-style":
            self.outline = _levels(element)
        else:
            family = element.get(f"{STYLE}family", "")
            self._parents[family, name] = element.get(f"{STYLE}parent-style-name", "")
            if family == "paragraph":
                self._add_paragraph_style(name, element)
            elif family == "drawing-page":
                properties = child(element, f"{STYLE}drawing-page-properties")
                if properties is not None and properties.get(f"{PRESENTATION}visibility") == "hidden":
                    self._hidden_slides.add(name)
            elif family == "text":
                properties = child(element, f"{STYLE}text-properties")
                self._hidden[name] = properties is not None and properties.get(f"{TEXT}display") == "none"

    def _add_paragraph_style(self, name: str, element: _Element) -> None:
        shown = element.get(f"{STYLE}display-name") or _shown_name(name)
        kind, level = role_of_style(shown)
        outline = element.get(f"{STYLE}default-outline-level")
        if outline:
            level = int(outline) if outline.isdecimal() and int(outline) else None
        self._own[name] = (kind, level, element.get(f"{STYLE}list-style-name"))

    def paragraph(self, name: str) -> TextStyle:
        """What a paragraph style says, with what it inherits."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._resolved(name)
        return known

    def _resolved(self, name: str) -> TextStyle:
        kind, level = "", None
        list_style: str | None = None
        for _ in range(_DEEPEST_BASE):
            if not name:
                break
            # What is not described anywhere may still have a name that says everything.
            own_kind, own_level, own_list = self._own.get(name) or (*role_of_style(_shown_name(name)), None)
            kind = kind or own_kind
            level = own_level if level is None else level
            list_style = own_list if list_style is None else list_style
            name = self._parents.get(("paragraph", name), "")
        return TextStyle(kind, level, list_style or "")

    def is_hidden(self, name: str) -> bool:
        """Whether a text style hides what it is put on."""
        return self._hidden.get(name, False)

    def hides_slide(self, name: str) -> bool:
        """Whether a slide's style leaves it out when the slides are shown."""
        return name in self._hidden_slides

    def list_levels(self, name: str) -> list[Level]:
        """How a list style numbers its levels; nothing for one that is not known."""
        return self._lists.get(name, [])


def _shown_name(name: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def _levels(element: _Element) -> list[Level]:
    levels = [Level("none", "")] * LEVELS
    for one in element:
        depth = number(one, f"{TEXT}level") - 1
        if 0 <= depth < LEVELS:
            levels[depth] = _level(one, depth)
    return levels


def _level(element: _Element, depth: int) -> Level:
    kind = element.tag.rpartition("}")[2]
    if kind in ("list-level-style-bullet", "list-level-style-image"):
        shown = element.get(f"{TEXT}bullet-char", "•").strip()
        return Level("bullet" if shown and marker(shown) else "none", "")
    form = _FORMS.get(element.get(f"{STYLE}num-format", "")[:1], "")
    pattern = element.get(f"{LOEXT}num-list-format")
    if pattern is None:
        first = depth - number(element, f"{TEXT}display-levels") + 1
        places = ".".join(f"%{place + 1}" for place in range(max(0, first), depth + 1))
        pattern = element.get(f"{STYLE}num-prefix", "") + places + element.get(f"{STYLE}num-suffix", "")
    else:
        pattern = _SHOWN_LEVEL.sub(r"%\1", pattern)
    if not form:
        return Level("none", "")
    return Level(form, pattern, number(element, f"{TEXT}start-value"))
