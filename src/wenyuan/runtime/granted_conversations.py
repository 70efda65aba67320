"""Conversations, as far as a caller may have them: its own sessions, and knowledge bases that are granted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wenyuan.rules.evaluation.cases import Case
from wenyuan.runtime.access import Grants
from wenyuan.runtime.library import Library
from wenyuan.runtime.sessions import Keep as Keep
from wenyuan.runtime.turns import ExportFormat as ExportFormat
from wenyuan.runtime.turns import FeedbackValue as FeedbackValue
from wenyuan.runtime.turns import Turn as Turn
from wenyuan.runtime.turns import TurnFeedback as TurnFeedback
from wenyuan.runtime.turns import TurnPage as TurnPage
from wenyuan.store.sessions import Session
from wenyuan.types import JsonObject, Message


@dataclass(frozen=True, slots=True)
class GrantedConversations:
    library: Library
    grants: Grants

    def turns(self, session: str, before: int | None, limit: int) -> TurnPage:
        return self.library.turns.page(self._mine(session), before, limit)

    def judge(self, session: str, number: int, value: FeedbackValue, note: str) -> Turn:
        return self.library.turns.judge(self._mine(session), number, value, note)

    def add_case(self, session: str, number: int, set_name: str, expect: Sequence[str]) -> Case:
        """An evaluation set asks of any knowledge base, so that it is not for everyone."""
        self.grants.require_all()
        return self.library.turns.add_case(self._mine(session), number, set_name, expect)

    def export(self, session: str, form: ExportFormat) -> str:
        return self.library.turns.export(self._mine(session), form)

    def change(
        self, session: str, title: str | None, kb: Sequence[str] | Literal[Keep.AS_IT_IS] | None = Keep.AS_IT_IS
    ) -> Session:
        """Give a session another title, unless that is None, or other knowledge bases to ask: None is all granted."""
        mine = self._mine(session)
        if kb is not None and kb is not Keep.AS_IT_IS:
            kb = [self.grants.knowledge_base(name).name for name in kb]
        return self.library.sessions.change(mine, title=title, kb=kb)

    def answer_of_trace(self, trace_id: str) -> Turn | None:
        """The answer that was given under a trace, in a session of the caller's own."""
        self.grants.require("read")
        found = self.library.turns.of_trace(trace_id)
        return found[1] if found is not None and self.grants.has_session(found[0]) else None

    def answer_for_bot(
        self,
        question: str,
        kb: Sequence[str],
        *,
        session: str | None = None,
        history: Sequence[Message] = (),
        seconds: float | None = None,
    ) -> JsonObject:
        """The whole answer to a question that came through a bot; see `Conversations.answer_for_bot`."""
        self.grants.require("read")
        ids = self.grants.knowledge_bases(kb) or ()
        mine = None if session is None else self._mine(session)
        return self.library.conversations.answer_for_bot(question, ids, session=mine, history=history, seconds=seconds)

    def _mine(self, session: str) -> str:
        self.grants.require("read")
        return self.grants.session(session).id
