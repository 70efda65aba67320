"""How a model's words begin: the answer passes from its first character on, thoughts and actions do not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.conversation.answer_opening import AnswerOpening
from wenyuan.rules.conversation.search_action import parse_action

ACTION = '{"action": "search", "query": "屏幕"}'


def fed(text: str, *, may_act: bool, cuts: tuple[int, ...] = ()) -> tuple[str, str]:
    """What passed until the end, and what was held back then."""
    opening = AnswerOpening(may_act=may_act)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    passed = "".join(opening.feed(text[start:end]) for start, end in pairwise(places))
    return passed, opening.held


@pytest.mark.parametrize(
    ("text", "may_act", "passed"),
    [
        ("The display.", True, "The display."),
        ("  The display.", True, "The display."),
        ("<think>first this\nthen that</think>\n\nThe display.", True, "The display."),
        ("<thing> is a tag.", True, "<thing> is a tag."),
        (ACTION, True, ""),
        (f"```json\n{ACTION}\n```", True, ""),
        (f"<think>hm</think>{ACTION}", True, ""),
        (ACTION, False, ACTION),
        ("```python\nprint(1)\n```", True, "```python\nprint(1)\n```"),
    ],
)
def test_the_answer_passes_and_nothing_else_does(text: str, may_act: bool, passed: str) -> None:
    assert fed(text, may_act=may_act)[0] == passed


def test_what_was_held_back_is_the_action_or_comes_in_the_end() -> None:
    action = parse_action(fed(f"<think>hm</think>{ACTION}", may_act=True)[1])
    assert action is not None
    assert (action.name, action.query) == ("search", "屏幕")
    opening = AnswerOpening(may_act=True)
    assert opening.feed('{"no": "action"}') == ""
    assert opening.close() == '{"no": "action"}'
    thinking = AnswerOpening(may_act=True)
    assert thinking.feed("<think>on and on") + thinking.close() == ""


def test_no_object_is_held_back_without_end() -> None:
    long = '{"a": "' + "x" * 10_000
    assert fed(long, may_act=True)[0] == long


texts = st.text(st.sampled_from('<think>/ {}`json\n"a中'), max_size=60)


@given(texts, st.booleans(), st.lists(st.integers(0, 60), max_size=5).map(tuple))
def test_where_it_is_cut_makes_no_difference(text: str, may_act: bool, cuts: tuple[int, ...]) -> None:
    assert "".join(fed(text, may_act=may_act, cuts=cuts)) == "".join(fed(text, may_act=may_act))
