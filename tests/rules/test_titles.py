"""Titles made of questions: one line that fits, of any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.columns import columns
from wenyuan.rules.conversation.titles import title_of


def test_a_short_question_is_its_own_title_and_a_long_one_is_cut_between_words() -> None:
    assert title_of("  屏幕\n改用什么？ ") == "屏幕 改用什么？"
    assert title_of("What was decided about the display, " * 5) == (
        "What was decided about the display, What was decided about…"
    )
    assert title_of("屏" * 100) == "屏" * 29 + "…"


@given(st.text())
def test_any_text_makes_a_title_that_can_be_shown(text: str) -> None:
    title = title_of(text)
    assert columns(title) <= 60
    assert title.isprintable()
    assert title == title.strip()
