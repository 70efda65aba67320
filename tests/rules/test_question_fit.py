"""A passage about the same things may answer another question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.ranking.question_fit import QuestionFit, question_fit

ENGLISH = "The Grand Canal reached Beijing in 1293. Its locks were built by Guo Shoujing."
CHINESE = "运河全长1794公里，不收通行费。"


def fit(question: str, sentence: str = "The Grand Canal reached Beijing in 1293.") -> QuestionFit:
    return question_fit(question, [sentence], ENGLISH if question.isascii() else CHINESE, "canals.md")


@pytest.mark.parametrize(
    "question",
    ["When did the Grand Canal reach Beijing?", "Who built its locks?", "运河全长多少公里？", "what happened in 1293"],
)
def test_a_question_that_fits(question: str) -> None:
    assert fit(question) == QuestionFit((), is_denied=False)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("When did the Grand Canal reach Hangzhou?", ("Hangzhou",)),
        ("What did the Grand Canal reach in 1393?", ("1393",)),
        ("《运河志》说运河有多长？", ("运河志",)),
    ],
)
def test_what_the_passage_does_not_name_is_missing(question: str, missing: tuple[str, ...]) -> None:
    assert fit(question).missing == missing


def test_who_asks_what_is_not_so_is_not_answered_by_what_is() -> None:
    assert fit("Which city did the Grand Canal never reach?").is_denied
    assert not fit("哪条运河不收通行费？", "运河全长1794公里，不收通行费。").is_denied
    assert not fit("运河收不收通行费？", "运河全长1794公里，收通行费。").is_denied


@given(st.text(max_size=100), st.lists(st.text(max_size=60), max_size=3), st.text(max_size=200))
def test_any_text_is_compared(question: str, sentences: list[str], passage: str) -> None:
    made = question_fit(question, sentences, passage, "")
    assert all(isinstance(one, str) for one in made.missing)
