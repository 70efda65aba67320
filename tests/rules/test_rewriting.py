"""A question is rewritten only where it leans on the conversation, and only by one line."""

from __future__ import annotations

import pytest

from wenyuan.rules.conversation.rewriting import accepted, needs_rewrite

HISTORY = ("体检由谁承担费用？", "费用由公司承担。")


@pytest.mark.parametrize(
    "question",
    [
        "那多久一次？",
        "它什么时候生效",
        "还有呢",
        "其中哪一条最重要，适用于哪些部门的员工",
        "When?",
        "And what about the new office in Berlin?",
    ],
)
def test_short_or_anaphoric_questions_need_the_conversation(question: str) -> None:
    assert needs_rewrite(question, HISTORY) is None


@pytest.mark.parametrize(
    "question",
    ["公司每年什么时候安排健康体检，在哪家医院", "Which hospital does the yearly medical check-up take place in"],
)
def test_a_question_that_stands_alone_stays(question: str) -> None:
    assert needs_rewrite(question, HISTORY) == "skipped-standalone"


def test_without_history_there_is_nothing_to_lean_on() -> None:
    assert needs_rewrite("那多久一次？", ()) == "skipped-no-history"


@pytest.mark.parametrize("output", ["", "  ", "a\nb", "x" * 500, "那多久一次？"])
def test_no_single_new_question_is_rejected(output: str) -> None:
    assert accepted(output, "那多久一次？") is None


def test_quotes_around_a_rewrite_are_dropped() -> None:
    assert accepted(" “健康体检多久一次？” ", "那多久一次？") == "健康体检多久一次？"
