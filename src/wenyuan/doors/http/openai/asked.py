"""What a chat completion asks: its messages as a question and what was said before."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.doors.http.openai.bodies import ChatCompletion, ChatMessage
from wenyuan.errors import RequestInvalid
from wenyuan.runtime.footnotes import without_footnotes
from wenyuan.types import Message

_LONGEST_QUESTION = 4000


def question_of(body: ChatCompletion) -> str:
    """The last message, which is the user's, unless it answers one of the chores that need no search.

    Raises `RequestInvalid`.
    """
    last = body.messages[-1]
    if last.role != "user":
        raise RequestInvalid(where="messages", reason="the last one must be the user's")
    return _text(last, len(body.messages) - 1)


def check_length(question: str) -> str:
    """Raises `RequestInvalid`."""
    if len(question) > _LONGEST_QUESTION:
        reason = f"the last one may have {_LONGEST_QUESTION} characters at most"
        raise RequestInvalid(where="messages", reason=reason)
    return question


def history_of(messages: Sequence[ChatMessage]) -> tuple[Message, ...]:
    """What was said before the question; of answers, what we added to them is taken out."""
    said: list[Message] = []
    for number, one in enumerate(messages[:-1]):
        text = _text(one, number)
        match one.role:
            case "user":
                said.append(Message("user", text))
            case "assistant":
                said.append(Message("assistant", without_footnotes(text)))
            case "system" | "developer":
                said.append(Message("system", text))
            case _:
                # What tools gave belongs to calls that another model made.
                continue
    return tuple(one for one in said if one.text.strip())


def check_possible(body: ChatCompletion) -> None:
    """Refuse what cannot be done and would change the answer. Raises `RequestInvalid`."""
    if body.n not in (None, 1):
        raise RequestInvalid(where="n", reason="there is one answer to a question")
    if body.response_format is not None and body.response_format.type != "text":
        raise RequestInvalid(where="response_format", reason="answers are text")
    if body.logprobs:
        raise RequestInvalid(where="logprobs", reason="answers have none")
    if body.tool_choice not in (None, "auto", "none"):
        raise RequestInvalid(where="tool_choice", reason="a knowledge base calls no tools of others")


def _text(message: ChatMessage, number: int) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    for part in message.content:
        if part.type != "text" or part.text is None:
            where = f"messages.{number}.content"
            raise RequestInvalid(where=where, reason=f"a part of type {part.type[:40]!r} cannot be read; send text")
    return "\n".join(part.text or "" for part in message.content)
