"""What the styles and lists of a WordprocessingML document make of its paragraphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wenyuan.parsers.office.numbers import LEVELS, Level, ListCounter, is_blank_bullet
from wenyuan.parsers.office.styles import role_of_style
from wenyuan.parsers.word.names import STRICT_W, W, attribute, first_child, flag

if TYPE_CHECKING:
    from lxml.etree import _Element

NO_LEVEL = -1
"""What body text has for a heading's level where that is said explicitly."""

_BODY_TEXT = 9
_DEEPEST_BASE = 50


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph's style says: `level` of a heading or None, its list, and what kind of text it is for."""

    level: int | None = None
    list_id: str = ""
    depth: int | None = None
    kind: str = ""


class Styles:
    """The paragraph styles of a document, each with what it inherits."""

    def __init__(self, root: _Element | None) -> None:
        self._elements: dict[str, _Element] = {}
        self._known: dict[str, Style] = {}
        self.default = ""
        self.list_styles: dict[str, str] = {}
        for element in root.iterchildren(f"{W}style", f"{STRICT_W}style") if root is not None else ():
            kind, style_id = attribute(element, "type"), attribute(element, "styleId")
            if kind == "paragraph":
                self._elements[style_id] = element
                if attribute(element, "default") in ("1", "true", "on"):
                    self.default = style_id
            elif kind == "numbering":
                self.list_styles[style_id] = list_of(first_child(element, "pPr"))[0]

    def __getitem__(self, style_id: str) -> Style:
        known = self._known.get(style_id)
        if known is None:
            known = self._known[style_id] = self._resolved(style_id)
        return known

    def _resolved(self, style_id: str) -> Style:
        level: int | None = None
        list_id, depth, kind = "", None, ""
        for _ in range(_DEEPEST_BASE):
            element = self._elements.get(style_id)
            if element is None:
                break
            name = first_child(element, "name")
            own_kind, own_level = role_of_style(attribute(name, "val") if name is not None else style_id)
            properties = first_child(element, "pPr")
            outline = first_child(properties, "outlineLvl")
            if outline is not None:
                own_level = outline_level(attribute(outline, "val"))
            level = own_level if level is None else level
            kind = kind or own_kind
            own_list, own_depth = list_of(properties)
            if own_list and not list_id:
                list_id, depth = own_list, own_depth
            base = first_child(element, "basedOn")
            style_id = attribute(base, "val") if base is not None else ""
        return Style(level if level != NO_LEVEL else None, list_id, depth, kind)


def outline_level(value: str) -> int:
    """The level of a heading by an outline level, which counts from 0; `NO_LEVEL` for body text."""
    return int(value) + 1 if value.isdecimal() and int(value) < _BODY_TEXT else NO_LEVEL


def list_of(properties: _Element | None) -> tuple[str, int | None]:
    """The list that a paragraph's properties put it in, or "", and how deep if they say so."""
    numbering = first_child(properties, "numPr")
    if numbering is None:
        return "", None
    list_id, depth = first_child(numbering, "numId"), first_child(numbering, "ilvl")
    value = attribute(depth, "val") if depth is not None else ""
    return attribute(list_id, "val") if list_id is not None else "", int(value) if value.isdecimal() else None


@dataclass(slots=True)
class _List:
    """A list (`w:num`): the definition it counts with, its levels, and what it makes some of them begin at."""

    definition: str
    levels: list[Level]
    restarts: dict[int, int] = field(default_factory=dict)
    style_levels: dict[str, int] = field(default_factory=dict)


class Lists:
    """The lists of a document and their counters."""

    def __init__(self, root: _Element | None, styles: Styles) -> None:
        self._definitions: dict[str, _Element] = {}
        self._numbers: dict[str, _Element] = {}
        self._known: dict[str, _List | None] = {}
        self._counter = ListCounter()
        self._list_styles: Mapping[str, str] = styles.list_styles
        for element in root if root is not None else ():
            kind = element.tag.rpartition("}")[2]
            if kind == "abstractNum":
                self._definitions[attribute(element, "abstractNumId")] = element
            elif kind == "num":
                self._numbers[attribute(element, "numId")] = element

    def label(self, list_id: str, depth: int | None, style_id: str) -> tuple[str, int, str] | None:
        """Count the next item; return its label, its depth and the number format. None where there is no such list."""
        if list_id not in self._known:
            self._known[list_id] = self._read(list_id)
        found = self._known[list_id]
        if found is None:
            return None
        if depth is None:
            depth = found.style_levels.get(style_id, 0)
        if not 0 <= depth < LEVELS:
            return None
        if depth in found.restarts:
            self._counter.restart(found.definition, depth, found.restarts.pop(depth))
        return self._counter.label(found.definition, depth, found.levels), depth, found.levels[depth].form

    def _read(self, list_id: str) -> _List | None:
        number = self._numbers.get(list_id)
        if number is None:
            return None
        definition, element = self._definition_of(number)
        if element is None:
            return None
        found = _List(definition, [Level("none", "")] * LEVELS)
        for level in element.iterchildren(f"{W}lvl", f"{STRICT_W}lvl"):
            _put_level(found, level)
        for override in number.iterchildren(f"{W}lvlOverride", f"{STRICT_W}lvlOverride"):
            own = first_child(override, "lvl")
            if own is not None:
                _put_level(found, own)
            start, depth = first_child(override, "startOverride"), attribute(override, "ilvl")
            if start is not None and depth.isdecimal():
                found.restarts[int(depth)] = _number(start, 1)
        return found

    def _definition_of(self, number: _Element) -> tuple[str, _Element | None]:
        """The definition that a list refers to, if need be by way of a list style."""
        for _ in range(_DEEPEST_BASE):
            reference = first_child(number, "abstractNumId")
            definition = attribute(reference, "val") if reference is not None else ""
            element = self._definitions.get(definition)
            link = first_child(element, "numStyleLink")
            linked = self._numbers.get(self._list_styles.get(attribute(link, "val"), "")) if link is not None else None
            if linked is None:
                return definition, element
            number = linked
        return "", None


def _put_level(found: _List, element: _Element) -> None:
    depth = attribute(element, "ilvl")
    if not depth.isdecimal() or int(depth) >= LEVELS:
        return
    form = _form(element)
    pattern = first_child(element, "lvlText")
    legal = first_child(element, "isLgl")
    text = attribute(pattern, "val") if pattern is not None else ""
    if form == "bullet" and is_blank_bullet(text):
        form = "none"
    start = _number(first_child(element, "start"), 0)
    found.levels[int(depth)] = Level(form, text, start, legal is not None and flag(legal))
    style = first_child(element, "pStyle")
    if style is not None:
        found.style_levels[attribute(style, "val")] = int(depth)


def _form(level: _Element) -> str:
    form = first_child(level, "numFmt")
    if form is None:
        # Formats that came later stand in an alternative, beside a plain one for older programs.
        form = next(level.iterdescendants(f"{W}numFmt", f"{STRICT_W}numFmt"), None)
    return attribute(form, "val") if form is not None else "decimal"


def _number(element: _Element | None, otherwise: int) -> int:
    value = attribute(element, "val") if element is not None else ""
    return int(value) if value.isdecimal() and len(value) < LEVELS else otherwise
