"""A model writes the answer, and looks up what it lacks, in a bounded number of rounds."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from wenyuan import ports
from wenyuan.errors import ProviderAnswerInvalid
from wenyuan.flows.conversation.asking import Conversation
from wenyuan.flows.conversation.context import window_of
from wenyuan.flows.conversation.lookups import SEARCH, offered, run_lookup
from wenyuan.flows.conversation.steps import Step
from wenyuan.rules.citations.stream import CitationFilter
from wenyuan.rules.conversation.answer_opening import AnswerOpening
from wenyuan.rules.conversation.search_action import Action, parse_action
from wenyuan.rules.whole_characters import WholeCharacters
from wenyuan.store.rows import to_json
from wenyuan.types import (
    GenerationEnd,
    GenerationEndReason,
    GenerationRequest,
    Message,
    TokenUsage,
    Tool,
    ToolCall,
)

Lookups = Literal["none", "tools", "action"]
"""How a model says that it wants to look something up: not at all, by calling tools, or by an action in its text."""

_MOST_CALLS = 6
_LONGEST_ANSWER = 100_000
_ENOUGH = "Nothing more can be looked up for this question. Answer now, with what you have."
_TOO_MANY = f"Only {_MOST_CALLS} lookups can be made at once; this one was not made."


@dataclass(frozen=True, slots=True)
class Written:
    """How a model's answer ended, which model it was as its provider names it, and the citations that it invented."""

    reason: Literal["stop", "length", "filtered", "stopped"]
    model: str
    invented: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    """What a model said in one call: to be told to it again as `raw`, and the action it chose, if it chose one."""

    raw: str
    end: GenerationEnd
    invented: tuple[str, ...]
    action: Action | None


def generate(
    conversation: Conversation,
    generator: ports.Generator,
    messages: Sequence[Message],
    lookups: Lookups,
    cited: frozenset[int] = frozenset(),
    *,
    needs_sources: bool = False,
) -> Generator[Step, None, Written]:
    """Have the answer written, tell of it piece by piece, and of what is looked up on the way.

    What is told holds no citation but of sources that the model was shown, or of the numbers `cited`. An answer that
    `needs_sources` is passed over as long as the model was shown none. Raises `ProviderError`; what was said until then
    stands in the conversation's turn.
    """
    thread, invented = list(messages), dict[str, None]()
    most = conversation.tools.limits.rounds if lookups != "none" else 0
    # The first search was made for the person; the model's own rounds follow, and then one to answer in.
    for number in range(2, most + 4):
        tools = offered() if lookups == "tools" and most else ()
        is_mute = needs_sources and not conversation.sources.shown
        said = yield from _listen(conversation, generator, thread, tools, lookups == "action", cited, is_mute)
        invented |= dict.fromkeys(said.invented)
        if conversation.calls.is_stopped:
            return Written("stopped", generator.profile.model, tuple(invented))
        calls = said.end.tool_calls if tools else ()
        if not calls and said.action is None:
            break
        thread += yield from _look_up(conversation, number, said, calls, is_over=number > most + 1)
    if not conversation.turn.text.strip() and (conversation.sources.shown or not needs_sources):
        reason = "it said nothing" if said.end.reason != "filtered" else "it was kept from answering"
        raise ProviderAnswerInvalid(provider=generator.profile.name, reason=reason)
    return Written(_reason(said.end.reason), said.end.model or generator.profile.model, tuple(invented))


def _reason(reason: GenerationEndReason) -> Literal["stop", "length", "filtered"]:
    return "stop" if reason == "tool-calls" else reason


def _listen(
    conversation: Conversation,
    generator: ports.Generator,
    thread: Sequence[Message],
    tools: tuple[Tool, ...],
    may_act: bool,
    cited: frozenset[int],
    is_mute: bool,
) -> Generator[Step, None, _Said]:
    """One call: what belongs to the answer is told as it comes, without citations of what is no source."""
    opening = AnswerOpening(may_act=may_act)
    citations = CitationFilter({source.number for source in conversation.sources.shown} | cited)
    speaking = _Speaking(conversation, is_mute=is_mute)
    raw, end, whole = "", GenerationEnd("length", "", TokenUsage()), WholeCharacters()
    request = GenerationRequest(tuple(thread), max_output_tokens=window_of(generator)[1], tools=tools)
    with closing(conversation.calls.stream(generator, "answer", request)) as events:
        for event in events:
            if isinstance(event, GenerationEnd):
                end = event
                break
            piece = whole.feed(event.text)
            raw += piece
            yield from speaking.say(citations.feed(opening.feed(piece)))
            if len(raw) > _LONGEST_ANSWER:
                break
    action = parse_action(opening.held) if may_act and opening.held else None
    rest = opening.close() if action is None else action.text
    yield from speaking.say(citations.feed(rest) + citations.close())
    if action is not None and action.name == "answer" and action.text:
        action = None
    return _Said(raw, end, citations.invented, action)


class _Speaking:
    """Adds to the answer and tells of it; what is said after a lookup begins a paragraph."""

    def __init__(self, conversation: Conversation, *, is_mute: bool) -> None:
        self._conversation = conversation
        self._is_mute = is_mute
        self._joint = "\n\n" if conversation.turn.text else ""

    def say(self, text: str) -> Generator[Step, None, None]:
        if not text or self._is_mute:
            return
        piece, self._joint = self._joint + text, ""
        self._conversation.turn.say(piece)
        if not self._conversation.asked.whole:
            yield self._conversation.tell("assistant.delta", text=piece)


def _look_up(
    conversation: Conversation, number: int, said: _Said, calls: Sequence[ToolCall], *, is_over: bool
) -> Generator[Step, None, list[Message]]:
    """Look up what the model asked for; the messages that tell it what came of that."""
    if said.action is not None:
        wants = said.action.name == "search" and not is_over
        text = _ENOUGH
        if wants:
            query = ToolCall("action", SEARCH.name, to_json({"query": said.action.query}))
            text = yield from run_lookup(conversation, number, query)
        return [Message("assistant", said.raw), Message("user", text)]
    answers = []
    for position, call in enumerate(calls):
        if is_over or position >= _MOST_CALLS:
            text = _ENOUGH if is_over else _TOO_MANY
        else:
            text = yield from run_lookup(conversation, number, call)
        answers.append(Message("tool", text, tool_call_id=call.id))
    return [Message("assistant", said.raw, tuple(calls)), *answers]
