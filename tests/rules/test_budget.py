"""What fits into a window: the answer and the question come first, nothing is cut in silence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import ContextTooSmall
from wenyuan.rules.conversation.budget import FittedContext, estimate_tokens, fit, shortened
from wenyuan.types import Message

# Counted with the tokenizers cl100k_base (GPT-4) and o200k_base (GPT-4o).
COUNTED = (
    ("The quick brown fox jumps over the lazy dog, and nobody minds.", 14, 14),
    ("本公司每年为员工安排健康体检一次，费用由公司承担。", 27, 17),
    ("def fit(window_tokens: int) -> int:\n    return window_tokens // 2\n", 18, 18),
)


def messages(*texts: str) -> list[Message]:
    return [Message("assistant" if place % 2 else "user", text) for place, text in enumerate(texts)]


def fitted(window: int, history: list[Message], sources: list[str], most: int = 12) -> FittedContext:
    return fit(
        window_tokens=window,
        answer_tokens=100,
        system="Answer.",
        question="What?",
        history=history,
        sources=sources,
        max_context_messages=most,
    )


@pytest.mark.parametrize(("text", "older", "newer"), COUNTED)
def test_the_estimate_is_rather_more_than_fewer(text: str, older: int, newer: int) -> None:
    assert max(older, newer) <= estimate_tokens(text) <= 2 * older


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_is_not_fewer_tokens(text: str, more: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + "\n" + more)


def test_what_fits_is_left_alone() -> None:
    history = messages("one", "two")
    made = fitted(2000, history, ["a source", "another"])
    assert (made.history, made.older, made.left_out) == (tuple(history), (), ())
    assert [source.text for source in made.sources] == ["a source", "another"]


def test_old_messages_go_first_and_are_counted() -> None:
    history = messages(*(f"message {number} " + "word " * 40 for number in range(30)))
    made = fitted(2000, history, ["a source " * 50])
    assert made.history == tuple(history[-len(made.history) :])
    assert made.older == tuple(history[: -len(made.history)])
    assert made.left_out == (f"history: {len(made.older)} messages",)
    assert len(made.history) >= 2


def test_no_more_messages_than_asked_for() -> None:
    made = fitted(100_000, messages(*"abcdef"), [], most=4)
    assert [message.text for message in made.history] == ["c", "d", "e", "f"]
    assert made.left_out == ("history: 2 messages",)
    assert fitted(100_000, messages("a", "b"), [], most=0).history == ()


def test_the_last_turn_stays_if_only_in_part() -> None:
    made = fitted(1000, messages("short", "word " * 5000), ["a source"])
    assert made.history[-1].text.endswith(" […]")
    assert "history: a message shortened" in made.left_out


def test_short_sources_leave_their_room_to_long_ones() -> None:
    made = fitted(1000, [], ["short", "long sentence here. " * 400, "short too"])
    assert [source.shortened for source in made.sources] == [False, True, False]
    assert made.sources[1].text.endswith(" […]")
    assert made.sources[1].tokens > 400
    assert made.left_out == ("source 2: shortened",)


def test_sources_without_room_are_named() -> None:
    made = fitted(400, [], ["long sentence here. " * 50] * 6)
    assert 0 < len(made.sources) < 6
    assert made.left_out[-1] == "source 6: no room"
    assert len(made.left_out) == 6


def test_a_question_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ContextTooSmall):
        fitted(80, [], [])


def test_a_text_is_cut_where_a_sentence_ends() -> None:
    assert (
        shortened("First one here. Second one here. Third one here. " * 2, 14) == "First one here. Second one here. […]"
    )
    assert shortened("短的。", 50) == "短的。"
    assert shortened("anything", 0) == ""


@given(
    st.integers(150, 3000),
    st.lists(st.text(max_size=300), max_size=12),
    st.lists(st.text(max_size=900), max_size=8),
    st.integers(0, 14),
)
def test_all_that_is_sent_fits(window: int, said: list[str], sources: list[str], most: int) -> None:
    history = messages(*said)
    made = fitted(window, history, sources, most)
    assert made.tokens <= window - 100
    assert len(made.history) <= most
    assert len(made.history) + len(made.older) == len(history)
    cut = len(made.older) + sum(a.text != b.text for a, b in zip(made.history[::-1], history[::-1], strict=False))
    lost = len(sources) - len(made.sources) + sum(source.shortened for source in made.sources)
    assert bool(made.left_out) == bool(cut + lost)
    assert all(sources[source.number] == source.text for source in made.sources if not source.shortened)
