"""Whether a hyphen at the end of a line divides a word or belongs to it, by the words the document has elsewhere."""

from __future__ import annotations

_MOST_WORDS = 200_000
_SHORTEST_PART = 2
_LONGEST_AVERAGE = 20
"""Where spaces are rarer, as in Chinese, a text has no words to learn."""

_PUNCTUATION = str.maketrans(dict.fromkeys('.,;:!?()[]"“”', " "))


class Hyphenation:
    """The words that were seen whole, page by page."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._divided = 0
        self._kept = 0

    def learn(self, text: str) -> None:
        """Take note of the words of a page."""
        if len(self._seen) < _MOST_WORDS and text.count(" ") * _LONGEST_AVERAGE > len(text):
            # A part that ends with a hyphen or its mark is taken in with it, and found by nobody.
            self._seen.update(text.lower().translate(_PUNCTUATION).split())

    def divides(self, before: str, after: str) -> bool:
        """Whether the parts before and after a hyphen at a line's end are one word without it.

        They are if that word occurs elsewhere; they are not if it does with its hyphen, or if both parts are
        words by themselves. Where the document says nothing, its program is taken to divide words, unless it has
        mostly kept hyphens so far and what follows is a word.
        """
        before, after = before.lower(), after.lower()
        if before + after in self._seen:
            self._divided += 1
            return True
        if f"{before}-{after}" in self._seen:
            self._kept += 1
            return False
        ends_word = after in self._seen and len(after) > _SHORTEST_PART
        if ends_word and before in self._seen and len(before) > _SHORTEST_PART:
            return False
        return not (ends_word and self._kept > self._divided)
