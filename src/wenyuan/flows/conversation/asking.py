"""What a conversation needs, what is asked of it, and what one question has on its way to an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from wenyuan import ports
from wenyuan.errors import WenyuanError
from wenyuan.flows.conversation.history import Summaries
from wenyuan.flows.conversation.model_calls import ModelCalls
from wenyuan.flows.conversation.sources import Sources
from wenyuan.flows.conversation.steps import Prefer, Telling
from wenyuan.flows.conversation.turns import AnswerTurn
from wenyuan.flows.retrieve import Retrieving, SearchOptions
from wenyuan.prompts.loading import Prompts
from wenyuan.store.database import Database
from wenyuan.types import JsonObject, KnowledgeBase, Message, Scope


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How long an answer may take in seconds, how often it may look things up, and how much of the past it is told."""

    seconds: float
    rounds: int
    history_turns: int
    save_seconds: float
    has_model_titles: bool = False
    has_model_routing: bool = False


@dataclass(frozen=True, slots=True)
class Conversing:
    """What conversations of a library need.

    `writer` and `helper` give the models that answer and that do small tasks, None where there is none; a name asks
    for another model that answers. They raise `ConfigurationError`.
    """

    retrieving: Retrieving
    writer: Callable[[str], ports.Generator | None]
    helper: Callable[[], ports.Generator | None]
    prompts: Prompts
    limits: AnswerLimits
    summaries: Summaries = field(default_factory=Summaries)
    told: Callable[[str, JsonObject], None] = lambda *_: None
    """Is told what was made of each question, under which trace."""


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that an answer does not rest on, and why."""

    name: str
    why: str
    document_id: str


@dataclass(frozen=True, slots=True)
class Asking:
    """One question. `session_id` is empty where nothing is kept; then `history` is what was said before, oldest first.

    `replaces` is the number of a question that this one takes the place of. Of what is attached, `attached` are the
    ids, `inline` those of documents that are handed over whole, and `unread` those that could not be read. `model`
    names a model other than the usual one. An answer that is wanted `whole` is not told of piece by piece, so that it
    can begin anew where a model fails in the middle. `stopped` is asked now and then whether to stop.
    """

    question: str
    options: SearchOptions
    prefer: Prefer = "auto"
    model: str = ""
    session_id: str = ""
    replaces: int | None = None
    history: tuple[Message, ...] = ()
    attached: tuple[str, ...] = ()
    inline: tuple[str, ...] = ()
    unread: tuple[UnreadFile, ...] = ()
    whole: bool = False
    seconds: float | None = None
    stopped: Callable[[], bool] | None = None


class Room:
    """How many tokens are left in the window of the model that answers."""

    def __init__(self) -> None:
        self._left = 0

    def begin(self, tokens: int) -> None:
        self._left = tokens

    def take(self, tokens: int) -> bool:
        """Take so many, if so many are left."""
        if tokens > self._left:
            return False
        self._left -= tokens
        return True


@dataclass(frozen=True, slots=True)
class Conversation:
    """One question on its way to an answer. What is gathered on the way stands in lists that grow.

    `bases` are the knowledge bases it may look into.
    """

    tools: Conversing
    asked: Asking
    scope: Scope
    bases: tuple[KnowledgeBase, ...]
    writer: ports.Generator | None
    language: str
    tell: Telling
    began: float
    calls: ModelCalls
    turn: AnswerTurn
    room: Room
    sources: Sources = field(default_factory=Sources)
    degradations: list[str] = field(default_factory=list)
    lookups: list[JsonObject] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    prompts_used: list[str] = field(default_factory=list)

    @property
    def database(self) -> Database:
        return self.tools.retrieving.database

    def milliseconds(self) -> float:
        return round((self.tools.retrieving.clock() - self.began) * 1000, 1)

    def degrade(self, stage: str, error: WenyuanError) -> None:
        """Record that a stage was done without."""
        self.degradations.append(f"{stage}: {error.code}")
