"""The turn in which an answer is kept while it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from wenyuan.errors import StorageError
from wenyuan.store import conversation_turns, sessions
from wenyuan.store.database import Database
from wenyuan.types import JsonObject

_SAVE_LOCK_SECONDS = 2.0


class AnswerTurn:
    """The answer to one question of a session, saved now and then as it grows. Without a session nothing is kept.

    `clock` gives seconds that never go back. An answer is worth more than its copy: where it cannot be saved,
    that is named in `degraded`.
    """

    def __init__(self, database: Database, clock: Callable[[], float], save_seconds: float) -> None:
        self._database = database
        self._clock = clock
        self._save_seconds = save_seconds
        self._saved_at = clock()
        self._session_id = ""
        self._text = self._saved = ""
        self.number: int | None = None
        """The number of the answer's turn; None where nothing is kept."""
        self.is_finished = False
        self.degraded = ""

    @property
    def text(self) -> str:
        """What was said so far."""
        return self._text

    def begin(
        self,
        session_id: str,
        question: str,
        trace_id: str,
        attachments: Sequence[str],
        replaces: int | None,
        title: str,
    ) -> None:
        """Keep the question before anything is done about it; a session without a title gets one.

        Raises `SessionNotFound` or `TurnNotFound`.
        """
        with self._database.write() as tx:
            number = conversation_turns.begin(tx, session_id, question, trace_id, attachments, replaces)
            if number == 1:
                sessions.give_title(tx, session_id, title)
        self._session_id, self.number = session_id, number + 1

    def say(self, piece: str) -> None:
        """Add to the answer."""
        self._text += piece
        self.save_if_due()

    def save_if_due(self) -> None:
        """Save what was said since the last time, if that is long ago; to be called also while nothing comes."""
        is_due = self._clock() - self._saved_at >= self._save_seconds
        if is_due and self.number is not None and self._text != self._saved:
            self.save()

    def begin_anew(self) -> None:
        """Forget what was said: another answer takes its place."""
        self._text = ""

    def save(self) -> None:
        """Save what was said so far."""
        self._saved_at, self._saved = self._clock(), self._text
        if self.number is None:
            return
        try:
            with self._database.write(durable=False, lock_seconds=_SAVE_LOCK_SECONDS) as tx:
                conversation_turns.save_text(tx, self._session_id, self.number, self._text)
        except StorageError as error:
            self.degraded = f"turn: {error.code}"

    def finish(self, text: str, answer: JsonObject, named: Mapping[str, bool]) -> None:
        """Save the whole answer, with the ids of the documents it names, and whether it quotes them."""
        self.is_finished = True
        if self.number is None:
            return
        try:
            with self._database.write() as tx:
                is_kept = conversation_turns.finish(tx, self._session_id, self.number, text, answer, named)
        except StorageError as error:
            self.degraded = f"turn: {error.code}"
            return
        if not is_kept:
            self.number = None
