"""A text that comes in pieces ends at a stop sequence or at its longest length, wherever the pieces are cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

CutReason = Literal["stop", "length"]
_FIRST_WIDE = 0x2E80
_NARROW_PER_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """How many tokens a text comes to: one for a Chinese character, one for four Latin letters.

    The tokenizer of whoever asks is not known, so that no count is exact.
    """
    wide = _wide(text)
    return _tokens(wide, len(text) - wide)


def _wide(text: str) -> int:
    return sum(ord(character) >= _FIRST_WIDE for character in text)


def _tokens(wide: int, narrow: int) -> int:
    return wide + math.ceil(narrow / _NARROW_PER_TOKEN)


class Cutting:
    """Fed pieces, it gives what of them may be shown: never a part of what may yet become a stop sequence."""

    def __init__(self, stops: Sequence[str], most_tokens: int | None) -> None:
        self._stops = stops
        self._most_tokens = most_tokens
        self._held = ""
        self._shown: list[str] = []
        self._counts = (0, 0)
        self.reason: CutReason | None = None

    @property
    def text(self) -> str:
        """All that may be shown."""
        return "".join(self._shown)

    def feed(self, piece: str) -> str:
        """What may be shown now; empty once the text has ended."""
        if self.reason is not None:
            return ""
        self._held += piece
        found = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            self._held, self.reason = self._held[: min(found)], "stop"
            return self._show(len(self._held))
        return self._show(len(self._held) - self._begun())

    def end(self) -> str:
        """What was held back, and is no stop sequence as nothing follows."""
        return self._show(len(self._held)) if self.reason is None else ""

    def _begun(self) -> int:
        """The length of the longest end of what is held with which a stop sequence begins."""
        longest = max(map(len, self._stops), default=1) - 1
        return next(
            (
                length
                for length in range(min(longest, len(self._held)), 0, -1)
                if any(stop.startswith(self._held[-length:]) for stop in self._stops)
            ),
            0,
        )

    def _show(self, length: int) -> str:
        shown, self._held = self._held[:length], self._held[length:]
        if self._most_tokens is not None:
            fitting = self._fitting(shown, self._most_tokens)
            if len(fitting) < len(shown):
                shown, self.reason = fitting, "length"
        self._shown.append(shown)
        return shown

    def _fitting(self, text: str, most: int) -> str:
        """As much of a text as its tokens fit, with those before it; each character is looked at once."""
        wide, narrow = self._counts
        for at, character in enumerate(text):
            is_wide = ord(character) >= _FIRST_WIDE
            wide, narrow = wide + is_wide, narrow + (not is_wide)
            if _tokens(wide, narrow) > most:
                return text[:at]
        self._counts = wide, narrow
        return text
