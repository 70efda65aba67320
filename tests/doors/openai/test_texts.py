"""What is made of texts for programs that speak OpenAI's API: cuts, footnotes, and answers to chores."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.doors.http.openai.chores import chore_answer
from wenyuan.doors.http.openai.cutting import Cutting, estimated_tokens
from wenyuan.runtime.footnotes import footnotes, without_footnotes
from wenyuan.types import Anchor, Citation

SMALL = st.text("ab\n", max_size=12)
STOPS = st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3)


@given(st.lists(SMALL, max_size=6), STOPS)
def test_a_text_ends_before_the_first_stop_sequence_wherever_it_is_cut(pieces: list[str], stops: list[str]) -> None:
    text, cutting = "".join(pieces), Cutting(stops, None)
    shown = "".join(cutting.feed(piece) for piece in pieces) + cutting.end()
    assert shown == cutting.text == text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=None)]
    assert (cutting.reason == "stop") == any(stop in text for stop in stops)


@given(st.lists(st.text("a水", max_size=12), max_size=6), st.integers(1, 10))
def test_a_text_fills_its_tokens_and_no_more(pieces: list[str], most: int) -> None:
    text, cutting = "".join(pieces), Cutting([], most)
    for piece in pieces:
        cutting.feed(piece)
    assert text.startswith(cutting.text)
    assert estimated_tokens(cutting.text) <= most
    if cutting.reason == "length":
        assert estimated_tokens(text[: len(cutting.text) + 1]) > most
    else:
        assert cutting.text == text


def test_a_text_far_too_long_is_looked_at_once() -> None:
    cutting = Cutting([], 1)
    assert cutting.feed("水" * 300_000) == "水"
    assert (cutting.feed("水"), cutting.reason) == ("", "length")


def cited(number: int, name: str, *headings: str) -> Citation:
    return Citation(number, "c", "d", "r", name, name, Anchor("page", 3, 3), headings, "", 0, 0)


def test_footnotes_name_what_the_text_cites() -> None:
    citations = [cited(1, "a.pdf"), cited(2, "b.pdf", "Pumps"), cited(3, "never.pdf")]
    text = "It runs [2]. It stops [1]."
    below = footnotes(text, citations)
    assert below == "\n\n---\n[1] a.pdf, page 3\n[2] b.pdf › Pumps, page 3"
    assert without_footnotes(text + below) == text
    assert footnotes("Nothing is known.", citations) == ""
    assert footnotes("它在转 [1]。", citations) == "\n\n---\n[1] a.pdf, 第 3 页"


@given(st.text("a\n-[]1 ", max_size=20))
def test_a_text_of_ones_own_loses_nothing_but_footnotes(text: str) -> None:
    kept = without_footnotes(text)
    assert text.startswith(kept)
    assert kept == text or text[len(kept) :].startswith("\n\n---\n[1] ")


TITLE = '### Task:\nGenerate a title.\n### Output:\nJSON format: { "title": "your title" }\n'


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("USER: 水泵\nASSISTANT: 在转。", "水泵"),
        ("USER: a question\nof two lines\nASSISTANT: yes\nUSER: more", "a question of two lines"),
        ("USER: " + "word " * 20 + "\nASSISTANT: yes", "word word word word word word word word…"),
        ("USER: " + "水" * 60, "水" * 40 + "…"),
        ("nothing that is known", ""),
    ],
)
def test_a_title_is_made_of_the_first_question(said: str, title: str) -> None:
    answer = chore_answer(f"{TITLE}<chat_history>\n{said}\n</chat_history>")
    assert answer is not None
    assert json.loads(answer) == {"title": title}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ('### Task:\nSuggest.\nJSON format: { "follow_ups": ["Question 1?"] }', {"follow_ups": []}),
        ('### Task:\nSearch.\n{ "queries": ["query1"] }', {"queries": []}),
        ('### Task:\nYou are an autocompletion system.\n{ "text": "<your_completion>" }', {"text": ""}),
        ("### Task:\nExplain the minutes.", None),
        ('What does { "title": 1 } mean?', None),
    ],
)
def test_other_chores_are_answered_with_nothing_and_questions_are_no_chores(
    asked: str, answer: dict[str, object] | None
) -> None:
    made = chore_answer(asked)
    assert (None if made is None else json.loads(made)) == answer
