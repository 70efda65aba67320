"""What fits into a model's window: the answer is reserved first, the newest question stays whole, the rest is shared.

Nothing is cut in silence: what was left out or shortened is named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wenyuan.errors import ContextTooSmall
from wenyuan.language.scripts import HAN, HANGUL, KANA
from wenyuan.rules.sentences import last_sentence_end, wrapped_newlines
from wenyuan.types import Message

MAX_CONTEXT_MESSAGES = 12
"""How many messages of a conversation are shown to a model at most, where nobody says otherwise."""

_MESSAGE_TOKENS = 6
"""What a chat template puts around a message."""
_SOURCE_TOKENS = 48
"""What stands around a source: its markers, and facts such as its file name."""

_HISTORY_SHARE = 0.35
_LEAST_SOURCE_TOKENS = 80
_LEAST_MESSAGE_TOKENS = 24
_CUT = " […]"

_east_asian = re.compile(f"[{HAN}{KANA}{HANGUL}\u3000-\u303f\uff00-\uffef]+")
_word = re.compile(r"[A-Za-z]+|[0-9]+|[^\x00-\x7f]+|[^\sA-Za-z0-9]")
_TOKENS_OF_EAST_ASIAN = 1.5
_LETTERS_OF_TOKEN = 5
_DIGITS_OF_TOKEN = 2


@dataclass(frozen=True, slots=True)
class FittedSource:
    """A source as far as there is room; `number` is its place among those given, from 0 on."""

    number: int
    text: str
    tokens: int
    shortened: bool


@dataclass(frozen=True, slots=True)
class FittedContext:
    """What is shown to a model.

    `history` are the messages that are kept, oldest first; `older` those before them, which a summary may stand for;
    `sources` those that fit, in their order. `left_out` names what is missing of it all, such as `history: 8 messages`,
    `source 3: shortened` or `source 7: no room`.
    """

    history: tuple[Message, ...]
    older: tuple[Message, ...]
    sources: tuple[FittedSource, ...]
    left_out: tuple[str, ...]
    tokens: int
    """An estimate of all that is sent, the answer's reserve left out."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is to a model, rather more than fewer.

    A character of Chinese, Japanese or Korean counts one and a half, a word one for every five letters, digits one for
    every two, any other sign and a new line one. That is 1.0 to 1.4 times what the tokenizer of GPT-4 makes of English,
    of Chinese in both scripts, of code and of tables, and more than what those made since do.
    """
    if not text:
        return 0
    east_asian = sum(map(len, _east_asian.findall(text)))
    count = east_asian * _TOKENS_OF_EAST_ASIAN + text.count("\n")
    for word in _word.findall(_east_asian.sub(" ", text)):
        if word.isdigit():
            count += -(-len(word) // _DIGITS_OF_TOKEN)
        elif word[0].isascii() and word.isalpha():
            count += -(-len(word) // _LETTERS_OF_TOKEN)
        else:
            count += len(word.encode("utf-8", "surrogatepass")) / 2 if not word.isascii() else 1
    return int(count) + 1


def fit(
    *,
    window_tokens: int,
    answer_tokens: int,
    system: str,
    question: str,
    history: Sequence[Message] = (),
    sources: Sequence[str] = (),
    max_context_messages: int = MAX_CONTEXT_MESSAGES,
) -> FittedContext:
    """Share a window of so many tokens among the messages before the question and the sources, best first.

    The answer's reserve, the system message and the question are taken off first. The newest messages are kept, up to
    about a third of the rest and `max_context_messages`, the last two at any price, shortened if need be. Sources share
    what is then left evenly; what a short one does not need, longer ones get. Raises `ContextTooSmall` where the
    question alone does not fit.
    """
    fixed = estimate_tokens(system) + estimate_tokens(question) + 2 * _MESSAGE_TOKENS
    room = window_tokens - answer_tokens - fixed
    if room < 0:
        raise ContextTooSmall(window=window_tokens, needed=fixed + answer_tokens)
    kept, left_out = _fitted_history(history, int(room * (_HISTORY_SHARE if sources else 1.0)), max_context_messages)
    used = sum(map(_message_tokens, kept))
    fitted, missing = _fitted_sources(sources, room - used)
    return FittedContext(
        history=tuple(kept),
        older=tuple(history[: len(history) - len(kept)]),
        sources=tuple(fitted),
        left_out=(*left_out, *missing),
        tokens=fixed + used + sum(one.tokens for one in fitted),
    )


def shortened(text: str, tokens: int) -> str:
    """A text's beginning of at most about so many tokens, up to a sentence's end where there is one, marked as cut."""
    if estimate_tokens(text) <= tokens:
        return text
    low, high = 0, min(len(text), max(0, tokens) * _LETTERS_OF_TOKEN)
    room = tokens - estimate_tokens(_CUT)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= room else (low, middle - 1)
    end = last_sentence_end(text, wrapped_newlines(text), low // 2, low)
    return text[: end if end > low // 2 else low].rstrip() + _CUT if low else ""


def _message_tokens(message: Message) -> int:
    return estimate_tokens(message.text) + _MESSAGE_TOKENS


def _fitted_history(history: Sequence[Message], room: int, most: int) -> tuple[list[Message], list[str]]:
    kept: list[Message] = []
    left_out: list[str] = []
    for message in reversed(history[-most:] if most > 0 else ()):
        tokens = _message_tokens(message)
        if tokens > room:
            # Of the last question and its answer something stays, whatever else there is no room for.
            if len(kept) > 1 or room < _LEAST_MESSAGE_TOKENS:
                break
            message = replace(message, text=shortened(message.text, room - _MESSAGE_TOKENS))
            tokens = _message_tokens(message)
            left_out.append("history: a message shortened")
        kept.append(message)
        room -= tokens
    dropped = len(history) - len(kept)
    if dropped:
        left_out.append(f"history: {dropped} messages")
    return kept[::-1], left_out


def _fitted_sources(sources: Sequence[str], room: int) -> tuple[list[FittedSource], list[str]]:
    needed = [estimate_tokens(text) + _SOURCE_TOKENS for text in sources]
    count = len(sources)
    # So many of the best as can have a share that says something.
    while count and _share(needed[:count], room) < min(_LEAST_SOURCE_TOKENS, max(needed[:count])):
        count -= 1
    share = _share(needed[:count], room)
    fitted: list[FittedSource] = []
    left_out: list[str] = []
    for number, text in enumerate(sources[:count]):
        if needed[number] <= share:
            fitted.append(FittedSource(number, text, needed[number], shortened=False))
            continue
        cut = shortened(text, share - _SOURCE_TOKENS)
        fitted.append(FittedSource(number, cut, estimate_tokens(cut) + _SOURCE_TOKENS, shortened=True))
        left_out.append(f"source {number + 1}: shortened")
    left_out += [f"source {number + 1}: no room" for number in range(count, len(sources))]
    return fitted, left_out


def _share(needed: Sequence[int], room: int) -> int:
    """The most that each may have, where what the modest leave over is for the others."""
    rest, share = room, 0
    for place, one in enumerate(sorted(needed)):
        share = rest // (len(needed) - place)
        if one > share:
            return share
        rest -= one
    return max(needed, default=0)
