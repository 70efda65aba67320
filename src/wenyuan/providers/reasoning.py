"""What a model thinks before it answers, where it writes that into the answer itself, between `<think>` tags."""

from __future__ import annotations

from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"


class ReasoningFilter:
    """Passes over the thoughts at the beginning of a text that comes in pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["begin", "thought", "after", "text"] = "begin"

    def feed(self, piece: str) -> str:
        """What of the text can be shown now; may be empty."""
        if self._place == "text":
            return piece
        self._held += piece
        if self._place == "begin":
            begun = self._held.lstrip()
            if begun.startswith(_OPEN):
                self._place, self._held = "thought", begun[len(_OPEN) :]
            elif not _OPEN.startswith(begun):
                return self._release(self._held)
        if self._place == "thought":
            _, close, after = self._held.partition(_CLOSE)
            if not close:
                # Only as much is kept as may be the beginning of the closing tag.
                self._held = self._held[-len(_CLOSE) :]
                return ""
            self._place, self._held = "after", after
        if self._place == "after" and (text := self._held.lstrip()):
            return self._release(text)
        return ""

    def end(self) -> str:
        """What was held back, the text being over: a beginning that turned out to be none of a thought."""
        held, self._held = self._held, ""
        return held if self._place == "begin" else ""

    def _release(self, text: str) -> str:
        self._place, self._held = "text", ""
        return text
