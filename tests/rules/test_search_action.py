"""What a model without tool calling asks for, read strictly, then mended within bounds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.conversation.search_action import LONGEST_QUERY, Action, parse_action

SEARCH = Action("search", "seal of the pump")


@pytest.mark.parametrize(
    ("written", "action"),
    [
        ('{"action": "search", "query": "seal of the pump"}', SEARCH),
        (' {"action":"search","query":"seal of\\nthe pump"}\n', SEARCH),
        ('{"action": "answer"}', Action("answer")),
        ('{"action": "answer", "text": "It is so [1]."}', Action("answer", text="It is so [1].")),
    ],
)
def test_an_action_as_it_should_be(written: str, action: Action) -> None:
    assert parse_action(written) == action


@pytest.mark.parametrize(
    ("written", "repairs"),
    [
        ('```json\n{"action": "search", "query": "seal of the pump"}\n```', ("fence",)),
        ('<think>Hm {"action": "answer"}</think>{"action": "search", "query": "seal of the pump"}', ("thinking",)),
        ('I will search.\n{"action": "search", "query": "seal of the pump"} Wait.', ("surroundings",)),
        ('{"action": "search", "query": "seal of the pump"', ("surroundings",)),
        ('{"action": "search", "query": "seal of the pump', ("surroundings",)),
        ("{“action”： “search”， “query”： “seal of the pump”}", ("full-width", "quotes")),
        ('{"action": "search", "query": "seal of\nthe pump"}', ("line-breaks",)),
        ('{"action": "search", "query": "seal of the pump",}', ("comma",)),
        ("{'action': 'search', 'query': 'seal of the pump'}", ("single-quotes",)),
        ('{action: "search", query: "seal of the pump"}', ("bare-names",)),
    ],
)
def test_what_models_get_wrong_is_mended_and_named(written: str, repairs: tuple[str, ...]) -> None:
    assert parse_action(written) == Action("search", "seal of the pump", repairs=repairs)


@pytest.mark.parametrize(
    "written",
    [
        "The seal is changed every 500 hours [1].",
        "",
        "{}",
        "[]",
        "null",
        '{"action": "delete", "query": "everything"}',
        '{"action": "search"}',
        '{"action": "search", "query": "  "}',
        '{"action": 3, "query": "x"}',
        'Set `{"debug": true}` in the file [1].',
        "[" * 5000,
        '{"a":' * 5000,
    ],
)
def test_what_is_no_action_is_an_answer(written: str) -> None:
    assert parse_action(written) is None


def test_a_query_has_an_end() -> None:
    action = parse_action(json.dumps({"action": "search", "query": "pump " * 500}))
    assert action is not None
    assert len(action.query) == LONGEST_QUERY


@given(st.text(min_size=1, max_size=100).filter(lambda text: text.strip() != ""))
def test_any_query_comes_back(query: str) -> None:
    written = json.dumps({"action": "search", "query": query})
    assert parse_action(written) == Action("search", " ".join(query.split()))


@given(st.text(max_size=200) | st.text(alphabet="{}[]\"',:`action search query\n\\", max_size=200))
def test_nothing_that_a_model_writes_is_an_error(written: str) -> None:
    action = parse_action(written)
    assert action is None or action.name == "answer" or action.query
