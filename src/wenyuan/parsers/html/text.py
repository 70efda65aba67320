"""The text between two block boundaries of an HTML page."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from wenyuan.rules.columns import WIDE

# Stands for <br> while text is gathered. Decoding leaves it in no file.
_BREAK = "\v"
# Between wide characters a newline in the source is not a space (CSS Text 3, segment breaks).
_WRAPPED_WIDE = re.compile(rf"(?<=[{WIDE}])[ \t]*\n\s*(?=[{WIDE}])")


class TakenText(NamedTuple):
    """Text, the lines where it begins and ends, and the white space that was cut off around it."""

    text: str
    first: int
    last: int
    before: str
    after: str
    has_breaks: bool


class HtmlText:
    """Gathers text until it is taken."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._first = 0
        self._last = 0
        self.size = 0

    def add(self, source: str, line: int) -> None:
        """Add text as it stands in the source, where it begins on `line`."""
        if not source.isspace():
            first = last = line
            if "\n" in source:
                start = len(source) - len(source.lstrip())
                first += source.count("\n", 0, start)
                last = first + source.count("\n", start, len(source.rstrip()))
            self._first = self._first or first
            self._last = last
            if "&" in source:
                source = html.unescape(source)
        self._parts.append(source)
        self.size += len(source)

    def add_words(self, words: str, line: int) -> None:
        """Add words that a tag on `line` carries, such as a picture's description."""
        if words:
            self._first = self._first or line
            self._last = line
            self._parts.append(words)
            self.size += len(words)

    def add_break(self) -> None:
        if self._parts:
            self._parts.append(_BREAK)

    def take(self, verbatim: bool) -> TakenText:
        """Return what was gathered, with white space as a browser shows it unless `verbatim`."""
        raw = "".join(self._parts)
        first, last = self._first, self._last
        has_breaks = _BREAK in raw
        self._parts, self.size, self._first, self._last = [], 0, 0, 0
        if verbatim:
            text = raw.replace(_BREAK, "\n").strip("\n").rstrip()
            space = "\n"
        else:
            space = " "
            if "\n" in raw and not raw.isascii():
                raw = _WRAPPED_WIDE.sub("", raw)
            if has_breaks:
                lines = (" ".join(part.split()) for part in raw.split(_BREAK))
                text = "\n".join(line for line in lines if line)
            else:
                text = " ".join(raw.split())
        before = space if raw[:1].isspace() else ""
        after = space if raw[-1:].isspace() else ""
        return TakenText(text, first, last, before, after, has_breaks)
