"""What a model without tool calling wants next: `{"action": "search", "query": …}` or `{"action": "answer"}`.

The action is read strictly, as one JSON object with these fields. What models get wrong about JSON most often is then
mended in a fixed order, each mending at most once and all of it within the first few thousand characters; what is
still no action is an answer in plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

ActionName = Literal["search", "answer"]

LONGEST_QUERY = 400
"""Characters of a query from which on it is cut."""

_LONGEST_ACTION = 4000
_SEARCHES = frozenset(("search", "retrieve", "lookup", "find", "query", "检索", "搜索", "查询"))
_ANSWERS = frozenset(("answer", "final", "respond", "reply", "finish", "回答", "作答", "答案"))
_QUERY_FIELDS = ("query", "question", "q", "keywords", "查询", "问题")
_TEXT_FIELDS = ("text", "answer", "content", "回答")

_fenced = re.compile(r"```[A-Za-z]{0,10}\s(.*?)(?:```|\Z)", re.DOTALL)
_thinking = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_full_width = str.maketrans("｛｝：，［］", "{}:,[]")
_curly = str.maketrans("“”„‟", '""""')
_trailing_comma = re.compile(r",\s*([}\]])")
_bare_field = re.compile(r"([{,]\s*)([A-Za-z_\u4e00-\u9fff]{1,12})(\s*:)")
_single_quoted = re.compile(r"'([^'\"\n]{0,500})'")


@dataclass(frozen=True, slots=True)
class Action:
    """What a model chose: to search for `query`, or to answer, with the `text` that it gave along or "".

    `repairs` names what had to be mended of it, in order.
    """

    name: ActionName
    query: str = ""
    text: str = ""
    repairs: tuple[str, ...] = ()


def parse_action(written: str) -> Action | None:
    """The action that a model wrote, or None where it wrote none: then what it wrote is its answer."""
    text = written.strip()
    action = _strict(text)
    if action is not None:
        return action
    # What is far longer than an action is an answer that mentions one.
    text, repairs = text[:_LONGEST_ACTION], []
    for name, repair in _REPAIRS.items():
        mended = repair(text)
        if mended == text:
            continue
        text = mended
        repairs.append(name)
        action = _read(text)
        if action is not None:
            return Action(action.name, action.query, action.text, tuple(repairs))
    return None


def _strict(text: str) -> Action | None:
    value = _json(text)
    if value is None or value.get("action") not in ("search", "answer"):
        return None
    return _read(text) if set(value) <= {"action", "query", "text"} else None


def _read(text: str) -> Action | None:
    """An action whose field names and values may be other words for the same."""
    value = _json(text)
    if value is None:
        return None
    named = value.get("action", value.get("动作", ""))
    name = named.strip().lower() if isinstance(named, str) else ""
    query = _first_text(value, _QUERY_FIELDS)
    if name in _SEARCHES or (not name and query and "action" not in value):
        return Action("search", " ".join(query.split())[:LONGEST_QUERY]) if query.strip() else None
    return Action("answer", text=_first_text(value, _TEXT_FIELDS)) if name in _ANSWERS else None


def _first_text(value: Mapping[str, Any], fields: tuple[str, ...]) -> str:
    return next((found for field in fields if isinstance(found := value.get(field), str)), "")


def _json(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _without_thinking(text: str) -> str:
    return _thinking.sub("", text, count=1)


def _without_fence(text: str) -> str:
    found = _fenced.search(text)
    return found[1].strip() if found else text


def _first_object(text: str) -> str:
    """The first object in braces, closed where it was not."""
    start = text.find("{")
    if start < 0:
        return text
    depth, quoted, escaped = 0, False, False
    for place in range(start, len(text)):
        character = text[place]
        if quoted:
            quoted, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if not depth:
                return text[start : place + 1]
    return text[start:] + '"' * quoted + "}" * min(depth, 8)


def _quoted_plainly(text: str) -> str:
    return text.translate(_curly)


def _double_quoted(text: str) -> str:
    return _single_quoted.sub(r'"\1"', text)


def _on_one_line(text: str) -> str:
    return re.sub(r"[\x00-\x1f]+", " ", text)


_REPAIRS: Mapping[str, Callable[[str], str]] = {
    "thinking": _without_thinking,
    "fence": _without_fence,
    "full-width": lambda text: text.translate(_full_width),
    "quotes": _quoted_plainly,
    "surroundings": _first_object,
    "line-breaks": _on_one_line,
    "comma": lambda text: _trailing_comma.sub(r"\1", text),
    "single-quotes": _double_quoted,
    "bare-names": lambda text: _bare_field.sub(r'\1"\2"\3', text),
}
