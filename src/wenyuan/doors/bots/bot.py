"""One bot: what it hears becomes a question, and what the library says becomes its answer."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator

from wenyuan.doors.bots.answers import Answers, GrowingAnswer, RecentMessages
from wenyuan.doors.bots.port import Asked, Delivery, Entered, Fetching, Handshake, Platform, Refreshed, Reply, Sending
from wenyuan.errors import AnswerInterrupted, ProviderError, RepeatTooEarly, WenyuanError
from wenyuan.runtime.bots import BotSettings, granted_to_bot, known_delivery
from wenyuan.runtime.footnotes import footnotes, written_in
from wenyuan.runtime.granted import Question, Step
from wenyuan.runtime.library import Library
from wenyuan.types import JsonObject, Problem

Work = Callable[[], None]
_LOG = logging.getLogger("wenyuan.bots")
_LONGEST_QUESTION = 4000
_WELCOME = ("Ask me about your documents.", "请直接提问，我会在文档里找答案。")
_NO_TEXT = ("I can only read text. Please write your question.", "我只能读文字，请把问题写下来。")
_TOO_LONG = ("That is too long for a question.", "问题太长了，请缩短后再问。")
_LOST = ("This answer was interrupted. Please ask again.", "这次回答中断了，请再问一次。")
_TOO_LATE = ("This took too long. Please ask again.", "回答超时了，请再问一次。")


class Bot:
    """Safe to be used by several threads."""

    def __init__(
        self,
        library: Library,
        settings: BotSettings,
        platform: Platform,
        worded: Callable[[Problem], Problem],
        is_stopping: Callable[[], bool],
    ) -> None:
        self._library = library
        self._settings = settings
        self._platform = platform
        self._worded = worded
        self._is_stopping = is_stopping
        self._answers = Answers()
        self._recent = RecentMessages()

    @property
    def answer_seconds(self) -> float:
        """How long the work on an answer may take."""
        return self._platform.answer_seconds

    def deliver(self, delivery: Delivery) -> tuple[Reply, Work | None]:
        """What a delivery is answered at once, and the work that is to follow. Raises `BotDeliveryRefused`."""
        heard = self._platform.hear(delivery)
        match heard:
            case Handshake(reply):
                return reply, None
            case Asked():
                return self._asked(heard)
            case Refreshed(stream) if isinstance(self._platform, Fetching):
                return self._refreshed(self._platform, stream), None
            case Entered():
                return self._platform.said(self._settings.welcome or " ".join(reversed(_WELCOME))), None
            case _:
                return self._platform.accepted(), None

    def give_up(self, work: Work, error: WenyuanError) -> None:
        """Say why an answer was not begun."""
        if isinstance(work, _Answering):
            work.fail(error)

    def _asked(self, asked: Asked) -> tuple[Reply, Work | None]:
        """A message that is delivered again is answered as it was: its answer is under way, or was given."""
        platform = self._platform
        made: list[str] = []

        def make() -> str:
            made.append(secrets.token_urlsafe(18))
            return made[0]

        try:
            stream = known_delivery(self._library, self._settings.name, asked.message, make)
        except RepeatTooEarly:
            return platform.accepted(), None
        if not made:
            return (self._refreshed(platform, stream) if isinstance(platform, Fetching) else platform.accepted()), None
        answering = _Answering(self, asked, self._answers.begin(stream, time.monotonic()))
        if isinstance(platform, Fetching):
            return platform.shown(stream, "", is_whole=False), answering
        return platform.accepted(), answering

    def _refreshed(self, platform: Fetching, stream: str) -> Reply:
        answer = self._answers.find(stream)
        if answer is None:
            # The server was started anew meanwhile.
            return platform.shown(stream, " ".join(reversed(_LOST)), is_whole=True)
        if time.monotonic() - answer.begun > platform.answer_seconds:
            answer.end(f"{answer.text}\n\n{' '.join(reversed(_TOO_LATE))}".strip())
        text, is_whole = answer.shown()
        return platform.shown(stream, text, is_whole=is_whole)

    def answer(self, asked: Asked, answer: GrowingAnswer) -> None:
        """Write an answer, and send it where it is not fetched."""
        if not asked.text:
            self.end(asked, answer, " ".join(reversed(_NO_TEXT)))
        elif len(asked.text) > _LONGEST_QUESTION:
            self.end(asked, answer, _in_language_of(asked, _TOO_LONG))
        else:
            try:
                self.end(asked, answer, self._written(asked, answer))
            except WenyuanError as error:
                self.end(asked, answer, self.reason(asked, error))

    def _written(self, asked: Asked, answer: GrowingAnswer) -> str:
        history = self._recent.history(asked.conversation, asked.person)
        library = granted_to_bot(self._library, self._settings)
        bases = sorted(library.caller.knowledge_bases or ())
        try:
            if isinstance(self._platform, Fetching):
                question = Question(asked.text, bases, history=history)
                message = self._shown(library.chat(question, "auto", self._is_stopping), answer)
            else:
                message = library.conversations.answer_for_bot(asked.text, bases, history=history)
        except ProviderError:
            # A model that failed in the middle of what was shown; begun anew, it is answered without one if need be.
            message = library.conversations.answer_for_bot(asked.text, bases, history=history)
        text: str = message["text"] + footnotes(message["text"], message["citations"])
        if message["finish_reason"] == "stopped":
            return f"{text}\n\n{_in_language_of(asked, _LOST)}".strip()
        self._recent.add(asked.conversation, asked.person, asked.text, text)
        return text

    def _shown(self, steps: Iterator[Step], answer: GrowingAnswer) -> JsonObject:
        """The message at the end, each piece of it shown as it comes."""
        for step in steps:
            if step.name == "assistant.delta":
                answer.add(step.data["text"])
            elif step.name == "assistant.message":
                return step.data
        raise AnswerInterrupted()

    def end(self, asked: Asked, answer: GrowingAnswer, text: str) -> None:
        if answer.end(text) and isinstance(self._platform, Sending):
            try:
                self._platform.send(asked, text)
            except WenyuanError as error:
                _LOG.warning("bot %s: %s %s", self._settings.name, error.message, error.advice)

    def reason(self, asked: Asked, error: WenyuanError) -> str:
        """Why there is no answer, in the language that was asked in."""
        problem = error.problem()
        return (self._worded(problem) if written_in(asked.text) == "zh" else problem).message


class _Answering:
    """An answer that is to be written: called, it is."""

    def __init__(self, bot: Bot, asked: Asked, answer: GrowingAnswer) -> None:
        self._bot = bot
        self._asked = asked
        self._answer = answer

    def __call__(self) -> None:
        self._bot.answer(self._asked, self._answer)

    def fail(self, error: WenyuanError) -> None:
        self._bot.end(self._asked, self._answer, self._bot.reason(self._asked, error))


def _in_language_of(asked: Asked, words: tuple[str, str]) -> str:
    return words[written_in(asked.text) == "zh"]
