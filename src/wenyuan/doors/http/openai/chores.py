"""What chat programs ask of a model beside the conversation: a title for it, tags, what to ask next.

They are known by the form in which Open WebUI asks for them. What a title needs stands in the conversation, so that
neither documents are searched for it nor a model asked; the others are answered with nothing, in the form that is
asked for, and the program shows nothing.
"""

from __future__ import annotations

import json
import re

_BEGINS = "### Task:"
_ASKED = re.compile(r'\{\s*"(title|tags|follow_ups|queries|text)"\s*:')
_HISTORY = re.compile(r"<chat_history>\s*(.*?)\s*</chat_history>", re.DOTALL)
_FIRST_QUESTION = re.compile(r"\s*USER:\s*(.*?)\s*(?:\n(?:ASSISTANT|USER):|\Z)", re.DOTALL)
_LONGEST_TITLE = 40


def chore_answer(question: str) -> str | None:
    """The answer to such a task, as JSON; None for a question that a person asks."""
    if not question.lstrip().startswith(_BEGINS):
        return None
    asked = _ASKED.search(question)
    if asked is None:
        return None
    empty: str | list[str] = _title(question) if asked[1] == "title" else "" if asked[1] == "text" else []
    return json.dumps({asked[1]: empty}, ensure_ascii=False)


def _title(question: str) -> str:
    """The words of the first question, cut where a word ends."""
    history = _HISTORY.search(question)
    first = _FIRST_QUESTION.match(history[1]) if history is not None else None
    words = " ".join(first[1].split()) if first is not None else ""
    if len(words) <= _LONGEST_TITLE:
        return words
    cut = words[:_LONGEST_TITLE]
    return f"{cut.rpartition(' ')[0] or cut}…"
