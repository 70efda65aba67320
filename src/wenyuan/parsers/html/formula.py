"""A formula of an HTML page (MathML), which often stands there twice: as it is drawn, and in TeX."""

from __future__ import annotations

import html
import re
from typing import Final

from wenyuan.parsers.html.tokens import Token, attributes

FORMULA_TAGS: Final = frozenset({"math", "annotation", "annotation-xml"})

_DISPLAYED = re.compile(r"\{\\(?:displaystyle|textstyle)\s*(.*)\}", re.S)
_LONGEST: Final = 1 << 16


class Formula:
    """Gathers one formula, from its `<math>` on.

    Its TeX, where a page has it (MathML 3, 5.1.3), says what the drawn symbols one after the other do not, such as
    which of them are a fraction; it goes before them, and neither is repeated.
    """

    def __init__(self, source: str, line: int) -> None:
        self.line = line
        self._described = attributes(source).get("alttext", "")
        self._drawn: list[str] = []
        self._tex: list[str] = []
        self._annotation = ""
        self._size = 0

    def take(self, token: Token) -> bool:
        """Take the next token, and return whether it belongs to the formula and more of that may come."""
        kind, value, source, _ = token
        if kind == "text":
            self._size += len(value)
            if self._annotation != "other":
                (self._tex if self._annotation else self._drawn).append(value)
            return self._size <= _LONGEST
        if value not in FORMULA_TAGS or value == "math":
            return False
        if kind == "end":
            self._annotation = ""
        else:
            is_tex = value == "annotation" and "tex" in attributes(source).get("encoding", "").lower()
            self._annotation = "tex" if is_tex else "other"
        return True

    @property
    def text(self) -> str:
        """What it says, on one line."""
        said = html.unescape("".join(self._tex)) or self._described or html.unescape("".join(self._drawn))
        return plain_formula(said)


def plain_formula(tex: str) -> str:
    """TeX, or other words, on one line and without what only says how large it is drawn."""
    said = " ".join(tex.split())
    whole = _DISPLAYED.fullmatch(said)
    return whole[1].strip() if whole else said
