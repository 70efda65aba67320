"""How what a model says begins: with thoughts that are nobody's business, with an action, or with the answer.

Thoughts between `<think>` and `</think>` are left out. What may be an action, one JSON object perhaps in a fence, is
held back until it is whole; an answer is let through from its first character on.
"""

from __future__ import annotations

import re

_THINK, _THOUGHT = "<think>", "</think>"
_LONGEST_ACTION = 4000
_action = re.compile(r"(?:```[A-Za-z]{0,10}\s*)?[{｛]")
_action_begun = re.compile(r"`{0,3}|```[A-Za-z]{0,10}\s*")


class AnswerOpening:
    """Takes what a model says piece by piece, and gives back what belongs to its answer.

    `may_act` is whether the model was told of actions.
    """

    def __init__(self, *, may_act: bool) -> None:
        self._may_act = may_act
        self._is_open = False
        self._held = ""

    @property
    def held(self) -> str:
        """What may be an action, or what is held back for another reason; to be looked at in the end."""
        return self._held

    def feed(self, piece: str) -> str:
        """What of the answer is certain now."""
        if self._is_open:
            return piece
        self._held += piece
        text = self._held.lstrip()
        if text.startswith(_THINK):
            _, ended, text = text.partition(_THOUGHT)
            if not ended:
                return ""
            text = text.lstrip()
            self._held = text
        if not text or _THINK.startswith(text) or (self._may_act and self._is_action(text)):
            return ""
        self._is_open, self._held = True, ""
        return text

    def close(self) -> str:
        """What was held back, where it was the answer after all; thoughts that never ended were not."""
        text, self._held = self._held.lstrip(), ""
        return "" if text.startswith(_THINK) else text

    def _is_action(self, text: str) -> bool:
        return len(text) <= _LONGEST_ACTION and bool(_action.match(text) or _action_begun.fullmatch(text))
