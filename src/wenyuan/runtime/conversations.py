"""Questions that are answered, as a door asks them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wenyuan import ports
from wenyuan.config import Settings
from wenyuan.errors import KnowledgeBaseNotFound
from wenyuan.flows.attach import Attachment, Unread
from wenyuan.flows.conversation.asking import AnswerLimits, Asking, Conversing, UnreadFile
from wenyuan.flows.conversation.steps import Prefer, Step
from wenyuan.flows.converse import answer, converse, last
from wenyuan.flows.retrieve import Retrieving, SearchOptions
from wenyuan.prompts.loading import Prompts
from wenyuan.runtime.models import Models
from wenyuan.runtime.sessions import Sessions
from wenyuan.types import Answer, JsonObject, Message, Scope

PROMPTS = "prompts"
"""The folder of a library for prompts of its own."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where to look for an answer: as in `Library.search`."""

    kb: str | Sequence[str] | None = None
    documents: Sequence[str] | None = None
    filters: Mapping[str, Any] | None = None
    session: str | None = None


class Conversations:
    """Answers to questions: whole, step by step, or within the deadline of a bot."""

    def __init__(
        self,
        path: Path,
        settings: Settings,
        models: Models,
        sessions: Sessions,
        retrieving: Retrieving,
        scope_of: Callable[[Where, Sequence[str]], Scope],
        told: Callable[[str, JsonObject], None],
    ) -> None:
        self._settings = settings
        self._models = models
        self._sessions = sessions
        self._scope_of = scope_of
        limits = settings.answer
        self._conversing = Conversing(
            retrieving=retrieving,
            writer=self._writer,
            helper=lambda: models.generator_for("task"),
            prompts=Prompts(path / PROMPTS),
            told=told,
            limits=AnswerLimits(
                seconds=limits.seconds,
                rounds=limits.rounds,
                history_turns=limits.history_turns,
                save_seconds=limits.save_seconds,
                has_model_titles=limits.model_titles,
                has_model_routing=limits.model_routing,
            ),
        )

    def ask(self, question: str, where: Where, model: str = "", seconds: float | None = None) -> Answer:
        """Raises what `Library.ask` raises."""
        asking, scope = self._asking(question, where, model=model, seconds=seconds, keeps=False)
        return answer(self._conversing, asking, scope)

    def converse(
        self,
        question: str,
        where: Where,
        *,
        top_k: int | None = None,
        prefer: Prefer = "auto",
        history: Sequence[Message] = (),
        model: str = "",
        replaces: int | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Generator[Step, None, None]:
        """Raises what `Library.converse` raises."""
        asking, scope = self._asking(
            question, where, top_k=top_k, prefer=prefer, history=history, model=model, replaces=replaces
        )
        return converse(self._conversing, replace(asking, stopped=stopped), scope)

    def answer_for_bot(
        self,
        question: str,
        kb: Sequence[str],
        *,
        session: str | None = None,
        history: Sequence[Message] = (),
        seconds: float | None = None,
    ) -> JsonObject:
        """The whole message to a question that came through a bot, which is bound to knowledge bases.

        Of the steps nobody is told, so that what fails in the middle begins anew without a model. Raises
        `KnowledgeBaseNotFound` for a binding that is missing, as everywhere: there is no other in its place.
        """
        if not kb:
            raise KnowledgeBaseNotFound(name="")
        where = Where(kb=kb, session=session)
        seconds = self._settings.answer.bot_seconds if seconds is None else seconds
        asking, scope = self._asking(question, where, history=history, whole=True, seconds=seconds)
        return last(list(converse(self._conversing, asking, scope)))

    def _writer(self, name: str) -> ports.Generator | None:
        return self._models.generator(name) if name else self._models.generator_for("answer")

    def _asking(
        self,
        question: str,
        where: Where,
        *,
        top_k: int | None = None,
        prefer: Prefer = "auto",
        history: Sequence[Message] = (),
        model: str = "",
        replaces: int | None = None,
        whole: bool = False,
        seconds: float | None = None,
        keeps: bool = True,
    ) -> tuple[Asking, Scope]:
        """The question with what is attached to its session as it stands now, and where to look."""
        ready: tuple[Attachment, ...] = ()
        unread: tuple[Unread, ...] = ()
        if where.session is not None:
            ready, unread = self._sessions.usable(where.session)
        asking = Asking(
            question=question,
            options=SearchOptions(self._settings.search.top_k if top_k is None else top_k),
            prefer=prefer,
            model=model,
            session_id=where.session if where.session is not None and keeps else "",
            replaces=replaces,
            history=tuple(history),
            attached=tuple(one.id for one in (*ready, *(other.attachment for other in unread))),
            inline=tuple(one.id for one in ready if one.rag_mode == "inline"),
            unread=tuple(UnreadFile(one.attachment.name, one.why, one.attachment.id) for one in unread),
            whole=whole,
            seconds=seconds,
        )
        return asking, self._scope_of(where, [one.id for one in ready])
