"""What was said before a question, as a model is told it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wenyuan.rules.citations.stream import CitationFilter
from wenyuan.store import conversation_turns
from wenyuan.store.conversation_turns import StoredTurn
from wenyuan.store.database import Database
from wenyuan.store.rows import anchor_from
from wenyuan.types import Citation, JsonObject, Message

_MOST_REMEMBERED = 256
_BLOCK = 8


@dataclass(frozen=True, slots=True)
class Past:
    """The messages before a question, oldest first, and the citations of the last answer among them."""

    messages: tuple[Message, ...] = ()
    citations: tuple[Citation, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(message.text for message in self.messages)

    def without_markers(self) -> tuple[Message, ...]:
        """The messages without their citations, whose numbers mean other sources now."""
        return tuple(
            Message(one.role, _without_markers(one.text)) if one.role == "assistant" else one for one in self.messages
        )


def past_of_session(database: Database, session_id: str, before: int, turns: int) -> Past:
    """The last turns of a session before the turn with that number, as far as nothing replaced them."""
    with database.read() as tx:
        found = conversation_turns.in_force(tx, session_id, before, turns)
    said = [turn for turn in found if turn.text]
    last = next((turn for turn in reversed(said) if turn.role == "assistant"), None)
    return Past(tuple(map(_message, said)), _citations(last) if last is not None else ())


def past_of_messages(history: Sequence[Message]) -> Past:
    return Past(tuple(one for one in history if one.role in ("user", "assistant") and one.text.strip()))


def _message(turn: StoredTurn) -> Message:
    return Message("user" if turn.role == "person" else "assistant", turn.text)


def _citations(turn: StoredTurn) -> tuple[Citation, ...]:
    return tuple(map(citation_from, (turn.answer or {}).get("citations", ())))


def citation_from(stored: JsonObject) -> Citation:
    known = {name: stored[name] for name in Citation.__slots__ if name in stored}
    anchor = anchor_from(json.dumps(stored["anchor"]))
    return Citation(**{**known, "anchor": anchor, "heading_path": tuple(stored["heading_path"])})


def _without_markers(text: str) -> str:
    citations = CitationFilter(())
    return citations.feed(text) + citations.close()


def in_blocks(older: int) -> int:
    """How many of the oldest messages a summary is to stand for, where at least so many do not fit.

    They are taken in blocks, so that the summary stays the same for some questions.
    """
    return -(-older // _BLOCK) * _BLOCK


class Summaries:
    """Summaries of the beginnings of conversations, remembered by the very words they stand for.

    So none outlives an answer whose words were erased. Threads may share it.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, str] = OrderedDict()
        self._changing = threading.Lock()

    def of(self, messages: Sequence[Message], summarise: Callable[[str, Sequence[Message]], str]) -> str:
        """The summary of messages, made of that of the longest known beginning and the messages after it.

        Raises what `summarise` raises.
        """
        for length in range(len(messages), 0, -1):
            known = self._get(messages[:length])
            if known is not None:
                break
        else:
            length, known = 0, ""
        if length == len(messages):
            return known
        made = summarise(known, messages[length:])
        with self._changing:
            self._known[_key(messages)] = made
            while len(self._known) > _MOST_REMEMBERED:
                self._known.popitem(last=False)
        return made

    def _get(self, messages: Sequence[Message]) -> str | None:
        with self._changing:
            return self._known.get(_key(messages))


def _key(messages: Sequence[Message]) -> bytes:
    return hashlib.sha256(json.dumps([[one.role, one.text] for one in messages]).encode()).digest()
