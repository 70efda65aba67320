"""Answers while they grow, and what was said before, of one bot; in memory, and never more than so many."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from wenyuan.runtime.footnotes import without_footnotes
from wenyuan.types import Message

_MOST_ANSWERS = 1000
_MOST_CONVERSATIONS = 1000
_MOST_MESSAGES = 6


@dataclass(slots=True)
class GrowingAnswer:
    """One answer; whoever writes it appends, whoever is asked for it looks."""

    begun: float
    text: str = ""
    is_whole: bool = False
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def add(self, text: str) -> None:
        with self._changing:
            if not self.is_whole:
                self.text += text

    def end(self, text: str) -> bool:
        """Let this be the whole of it; False where it had ended already."""
        with self._changing:
            if self.is_whole:
                return False
            self.text, self.is_whole = text, True
            return True

    def shown(self) -> tuple[str, bool]:
        with self._changing:
            return self.text, self.is_whole


class Answers:
    """Answers by their ids; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, GrowingAnswer] = OrderedDict()
        self._changing = threading.Lock()

    def begin(self, stream: str, now: float) -> GrowingAnswer:
        answer = GrowingAnswer(now)
        with self._changing:
            self._answers[stream] = answer
            while len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        return answer

    def find(self, stream: str) -> GrowingAnswer | None:
        with self._changing:
            return self._answers.get(stream)


class RecentMessages:
    """The last messages of each person in each conversation."""

    def __init__(self) -> None:
        self._said: OrderedDict[tuple[str, str], deque[Message]] = OrderedDict()
        self._changing = threading.Lock()

    def history(self, conversation: str, person: str) -> tuple[Message, ...]:
        with self._changing:
            return tuple(self._said.get((conversation, person), ()))

    def add(self, conversation: str, person: str, question: str, answer: str) -> None:
        key = (conversation, person)
        with self._changing:
            said = self._said.pop(key, deque(maxlen=_MOST_MESSAGES))
            said += (Message("user", question), Message("assistant", without_footnotes(answer)))
            self._said[key] = said
            while len(self._said) > _MOST_CONVERSATIONS:
                self._said.popitem(last=False)
