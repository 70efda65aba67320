"""Formulas of office documents as a line of text (Office Math, ECMA-376 part 1, 22.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element


def formula_text(element: _Element) -> str:
    """`(a+b)/2`, `x^2`, `√(x)`: what a person would type. Nesting is bounded by the XML's own depth."""
    pieces = []
    for child in element:
        kind = child.tag.rpartition("}")[2]
        if kind == "t":
            pieces.append(child.text or "")
        elif kind in _WRITERS:
            pieces.append(_WRITERS[kind](child))
        elif not kind.endswith("Pr"):
            pieces.append(formula_text(child))
    return "".join(pieces)


def _part(element: _Element, name: str) -> str:
    found = next((child for child in element if child.tag.rpartition("}")[2] == name), None)
    return formula_text(found).strip() if found is not None else ""


def _grouped(text: str) -> str:
    return text if len(text) <= 1 or text.isdigit() else f"({text})"


def _fraction(element: _Element) -> str:
    return f"{_grouped(_part(element, 'num'))}/{_grouped(_part(element, 'den'))}"


def _scripts(element: _Element) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    return _part(element, "e") + (f"_{_grouped(below)}" if below else "") + (f"^{_grouped(above)}" if above else "")


def _root(element: _Element) -> str:
    degree = _part(element, "deg")
    return f"{degree if degree != '2' else ''}√{_grouped(_part(element, 'e'))}"


def _property(element: _Element, group: str, name: str, otherwise: str) -> str:
    for child in element:
        if child.tag.rpartition("}")[2] == group:
            for found in child:
                if found.tag.rpartition("}")[2] == name:
                    return str(next(iter(found.attrib.values()), ""))
    return otherwise


def _sum(element: _Element) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    sign = _property(element, "naryPr", "chr", "∫")
    limits = (f"_{_grouped(below)}" if below else "") + (f"^{_grouped(above)}" if above else "")
    return f"{sign}{limits} {_part(element, 'e')}"


def _fence(element: _Element) -> str:
    opening, closing = _property(element, "dPr", "begChr", "("), _property(element, "dPr", "endChr", ")")
    inner = [formula_text(child).strip() for child in element if child.tag.rpartition("}")[2] == "e"]
    return f"{opening}{', '.join(inner)}{closing}"


def _matrix(element: _Element) -> str:
    rows = [
        ", ".join(formula_text(cell).strip() for cell in row)
        for row in element
        if row.tag.rpartition("}")[2] in ("mr", "e")
    ]
    return "; ".join(rows)


def _function(element: _Element) -> str:
    return f"{_part(element, 'fName')} {_part(element, 'e')}"


_WRITERS = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "rad": _root,
    "nary": _sum,
    "d": _fence,
    "m": _matrix,
    "eqArr": _matrix,
    "func": _function,
}


def mathml_text(element: _Element) -> str:
    """The same of a formula in MathML."""
    kind = element.tag.rpartition("}")[2]
    if kind in ("annotation", "annotation-xml"):
        return ""
    parts = [mathml_text(child) for child in element]
    if kind == "mfrac" and len(parts) == 2:
        return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
    if kind in ("msup", "msub", "mover", "munder") and len(parts) == 2:
        return f"{parts[0]}{'^' if kind in ('msup', 'mover') else '_'}{_grouped(parts[1])}"
    if kind in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    if kind == "msqrt":
        return f"√{_grouped(''.join(parts))}"
    if kind == "mroot" and len(parts) == 2:
        return f"{parts[1]}√{_grouped(parts[0])}"
    return " ".join((element.text or "").split()) + "".join(parts)
