"""Text that can be stored: JSON may hold halves of characters, and nothing else takes them."""

from __future__ import annotations


def whole_characters(text: str) -> str:
    """The same text with halves that belong together made one character, and others replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class WholeCharacters:
    """Takes a text piece by piece; the half of a character at the end of a piece waits for the next one."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole_characters(text)

    def close(self) -> str:
        return whole_characters(self._half)
