"""The text within a paragraph of WordprocessingML, and what hangs on it: notes, comments, text boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from wenyuan.parsers.office.graphics import DGM, C
from wenyuan.parsers.office.math import formula_text
from wenyuan.parsers.office.numbers import numeral
from wenyuan.parsers.office.package import RELATIONSHIPS, STRICT_RELATIONSHIPS
from wenyuan.parsers.word.names import MC, STRICT_M, STRICT_W, M, W, attribute, both, flag
from wenyuan.parsers.word.symbols import symbol

if TYPE_CHECKING:
    from lxml.etree import _Element

HangerKind = Literal["footnote", "endnote", "comment", "box", "chart", "diagram", "object"]

_OFFICE = "{urn:schemas-microsoft-com:office:office}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_STRICT_WP = "{http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing}"
_STRICT_C = "{http://purl.oclc.org/ooxml/drawingml/chart}"
_STRICT_DGM = "{http://purl.oclc.org/ooxml/drawingml/diagram}"
_VANISH = both("vanish")

_HANDLING: dict[str, str] = {}


def _handle(handling: str, *names: str) -> None:
    _HANDLING.update(dict.fromkeys(names, handling))


_handle("text", *both("t"))
_handle("run", *both("r"))
_handle("skip", *both("pPr", "rPr", "sdtPr", "sdtEndPr", "instrText", "delText", "delInstrText", "rt", "tbl", "rubyPr"))
_handle("skip", *both("bookmarkStart", "bookmarkEnd", "proofErr", "lastRenderedPageBreak", "softHyphen"))
_handle("skip", *both("commentRangeStart", "commentRangeEnd", "footnoteRef", "endnoteRef", "annotationRef"))
_handle("field", *both("fldChar"))
_handle("break", *both("br", "cr"))
_handle("tab", *both("tab", "ptab"))
_handle("hyphen", *both("noBreakHyphen"))
_handle("symbol", *both("sym"))
_handle("footnote", *both("footnoteReference"))
_handle("endnote", *both("endnoteReference"))
_handle("comment", *both("commentReference"))
_handle("box", *both("txbxContent"))
_handle("alternatives", f"{MC}AlternateContent")
_handle("formula", f"{M}oMath", f"{STRICT_M}oMath")
_handle("object", f"{_OFFICE}OLEObject")
_handle("description", f"{_WP}docPr", f"{_STRICT_WP}docPr")
_handle("chart", f"{C}chart", f"{_STRICT_C}chart")
_handle("diagram", f"{DGM}relIds", f"{_STRICT_DGM}relIds")
_handle("deleted", *both("del", "moveFrom"))
_handle("inserted", *both("ins", "moveTo"))


class Hanger(NamedTuple):
    """Something that hangs on a paragraph: its id or its part's, how it is shown, its content if that is here."""

    kind: HangerKind
    target: str
    shown: str = ""
    element: _Element | None = None


class Runs:
    """Reads paragraphs one after the other: fields may go on from one to the next, and notes are counted."""

    def __init__(self) -> None:
        self.hangers: list[Hanger] = []
        self.insertions = 0
        self.deletions = 0
        self.hidden = 0
        self._parts: list[str] = []
        self._fields: list[bool] = []
        """Of each open field whether its result has begun, which is all that is shown of it."""
        self._is_shown = True
        self._notes = {"footnote": 0, "endnote": 0}

    def text(self, paragraph: _Element) -> str:
        """The text of a paragraph; `take_hangers` returns what hangs on it."""
        if self._is_shown:
            # Nearly every paragraph holds nothing but text, which is then quickly gathered.
            inner = [(element.tag, element) for element in paragraph.iter()]
            if _SPECIAL.isdisjoint([tag for tag, _ in inner]):
                return "".join([element.text or "" for tag, element in inner if tag in _TEXT])
        self._look_into(paragraph)
        text = "".join(self._parts)
        self._parts.clear()
        return text

    def take_hangers(self) -> list[Hanger]:
        """What hung on the paragraphs read since this was last asked."""
        hangers, self.hangers = self.hangers, []
        return hangers

    def _look_into(self, element: _Element) -> None:
        parts = self._parts
        for child in element:
            handling = _HANDLING.get(child.tag)
            if handling == "run":
                self._run(child)
            elif handling == "skip":
                continue
            elif handling == "text":
                if self._is_shown:
                    parts.append(child.text or "")
            elif handling is None:
                self._look_into(child)
            else:
                self._special(handling, child)

    def _run(self, run: _Element) -> None:
        first = next(iter(run), None)
        if first is not None and first.tag in _RUN_PROPERTIES:
            vanish = next(first.iterchildren(*_VANISH), None)
            if vanish is not None and flag(vanish):
                self._hide(run)
                return
        self._look_into(run)

    def _hide(self, run: _Element) -> None:
        """Hidden text is not read, but a field may begin or end in it."""
        for child in run:
            handling = _HANDLING.get(child.tag)
            if handling == "field":
                self._field(child)
            elif handling == "text" and self._is_shown:
                self.hidden += len(child.text or "")

    def _special(self, handling: str, element: _Element) -> None:
        if handling == "field":
            self._field(element)
        elif handling == "deleted":
            self.deletions += 1
        elif handling == "inserted":
            self.insertions += 1
            self._look_into(element)
        elif handling == "alternatives":
            self._alternatives(element)
        elif self._is_shown:
            self._shown_special(handling, element)

    def _shown_special(self, handling: str, element: _Element) -> None:
        if handling == "tab":
            self._parts.append("\t")
        elif handling == "break":
            self._parts.append("\n")
        elif handling == "hyphen":
            self._parts.append("-")
        elif handling == "symbol":
            self._parts.append(symbol(attribute(element, "font"), attribute(element, "char")))
        elif handling == "formula":
            self._parts.append(formula_text(element))
        elif handling == "description":
            self._parts.append(" ".join(element.get("descr", "").split()))
        elif handling == "footnote":
            self._note("footnote", element)
        elif handling == "endnote":
            self._note("endnote", element)
        elif handling == "comment":
            self.hangers.append(Hanger("comment", attribute(element, "id")))
        elif handling == "box":
            self.hangers.append(Hanger("box", "", element=element))
        elif handling == "chart":
            self.hangers.append(Hanger("chart", _relation(element, "id")))
        elif handling == "diagram":
            self.hangers.append(Hanger("diagram", _relation(element, "dm")))
        elif handling == "object":
            self.hangers.append(Hanger("object", _relation(element, "id"), element.get("ProgID", "")))

    def _note(self, kind: Literal["footnote", "endnote"], element: _Element) -> None:
        self._notes[kind] += 1
        number = self._notes[kind]
        shown = f"[{number if kind == 'footnote' else numeral(number, 'lowerRoman')}]"
        self._parts.append(shown)
        self.hangers.append(Hanger(kind, attribute(element, "id"), shown))

    def _field(self, element: _Element) -> None:
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            self._fields.append(False)
        elif self._fields and kind == "separate":
            self._fields[-1] = True
        elif self._fields and kind == "end":
            self._fields.pop()
        self._is_shown = all(self._fields)

    def _alternatives(self, element: _Element) -> None:
        """The same thing several times over, for newer and older programs: it is read once."""
        choice = next(element.iterchildren(f"{MC}Choice"), None)
        if choice is None:
            choice = next(element.iterchildren(f"{MC}Fallback"), None)
        if choice is not None:
            self._look_into(choice)


_TEXT = frozenset(both("t"))
_SPECIAL = frozenset(tag for tag, handling in _HANDLING.items() if handling not in ("text", "run", "skip")) | frozenset(
    both("rt", "tbl", "sdtPr", "vanish")
)
_RUN_PROPERTIES = frozenset({f"{W}rPr", f"{STRICT_W}rPr"})


def _relation(element: _Element, name: str) -> str:
    return element.get(RELATIONSHIPS + name) or element.get(STRICT_RELATIONSHIPS + name) or ""
