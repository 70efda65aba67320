"""Where to cut a text that is too long: at the best boundary that still fits."""

from __future__ import annotations

import re
import unicodedata

from wenyuan.rules.columns import fitting
from wenyuan.rules.sentences import last_sentence_end, wrapped_newlines

_CLAUSE_END = re.compile(r"[，、：；）—–]+\s*|[,:;)]+\s+")
_SPACES = " \n\t\u3000"
_ZERO_WIDTH_JOINER = "\u200d"
_LONGEST_CLUSTER = 16


class Cutter:
    """Finds cuts in one text, front to back.

    With `at_lines` the text consists of lines that mean something each, as in a table; otherwise
    sentences come first.
    """

    def __init__(self, text: str, at_lines: bool) -> None:
        self._text = text
        self._at_lines = at_lines
        self._wraps: frozenset[int] | None = None

    def cut(self, start: int, limit: int, natural: bool) -> int:
        """Return the best `end` with `columns(text[start:end]) <= limit`.

        Lines and sentences are natural boundaries. Where there is none in the last three quarters
        of the room, the answer is `start` if it must be `natural`, and otherwise a clause, a word
        or, at last, a place between two characters.
        """
        furthest = fitting(self._text, start, limit)
        if furthest == len(self._text):
            return furthest
        lower = start + (furthest - start) // 4
        orders = (self._last_line, self._last_sentence) if self._at_lines else (self._last_sentence, self._last_line)
        for search in orders:
            end = search(lower, furthest)
            if end > lower:
                return end
        if natural:
            return start
        return self._forced(start, furthest)

    def _last_line(self, lower: int, furthest: int) -> int:
        found = self._text.rfind("\n", lower, furthest + 1)
        return min(found + 1, furthest)

    def _last_sentence(self, lower: int, furthest: int) -> int:
        if self._wraps is None:
            self._wraps = wrapped_newlines(self._text)
        return last_sentence_end(self._text, self._wraps, lower, furthest)

    def _forced(self, start: int, furthest: int) -> int:
        text = self._text
        middle = start + (furthest - start) // 2
        clause = max((mark.end() for mark in _CLAUSE_END.finditer(text, middle, furthest)), default=-1)
        if clause > start:
            return clause
        if text[furthest].isspace():
            return furthest
        space = max(text.rfind(character, middle, furthest) for character in _SPACES)
        return space + 1 if space >= 0 and space + 1 > start else _between_characters(text, start, furthest)


def _between_characters(text: str, start: int, end: int) -> int:
    """Move `end` back so that it does not part what is seen as one character (UAX #29, roughly)."""
    for earlier in range(end, max(start, end - _LONGEST_CLUSTER), -1):
        character = text[earlier]
        joined = (
            unicodedata.combining(character) or character == _ZERO_WIDTH_JOINER or "\ufe00" <= character <= "\ufe0f"
        )
        if not joined and text[earlier - 1] != _ZERO_WIDTH_JOINER:
            return earlier
    return end
