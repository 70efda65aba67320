"""Citation markers: those of the sources stay, others go, and where the pieces were cut does not matter."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.citations.stream import CitationFilter

NUMBERS = (1, 2, 3)

# Answers out of what markers are made of and what stands around them.
pieces = st.sampled_from(
    [
        *(
            "[1]",
            "[2]",
            "[9]",
            "[1, 9]",
            "[1-3]",
            "[7–9]",
            "【1】",
            "【9】",
            "［3］",
            "[^1]",
            "[^9]",
            "[document 3]",
            "[文档 9]",
        ),
        *(
            "【3†source】",
            "[1](http://a)",
            "[9](b)",
            "[1]: x",
            "[^1]: y",
            "a[1]",
            "[0]",
            "[2024]",
            "[",
            "]",
            "(",
            ")",
            ":",
            "^",
        ),
        *(
            "`",
            "``",
            "```",
            "~~~",
            "```\n",
            "\n```\n",
            "`a[9]`",
            "\n",
            "\n\n",
            " ",
            "  ",
            "\t",
            ".",
            "。",
            ",",
            "!",
            "\\",
            "|",
        ),
        *("word", "字", "1", "9", "doc", "document ", "文档", "†", "-", "\u200b", "- ", "# ", "½", "９", "［９］"),
    ]
)
answers = st.lists(pieces | st.text(max_size=4), max_size=30).map("".join)


def whole(text: str, numbers: tuple[int, ...] = NUMBERS) -> str:
    made = CitationFilter(numbers)
    return made.feed(text) + made.close()


@pytest.mark.parametrize(
    ("written", "shown", "invented"),
    [
        ("It is [1].", "It is [1].", ()),
        ("It is [9].", "It is.", ("[9]",)),
        ("It is [9] so.", "It is so.", ("[9]",)),
        ("It is [1][9].", "It is [1].", ("[9]",)),
        ("It is [1] [9]!", "It is [1]!", ("[9]",)),
        ("It is [1, 9].", "It is [1].", ("[9]",)),
        ("It is [1、2].", "It is [1][2].", ()),
        ("It is [1; 3].", "It is [1][3].", ()),
        ("It is [1-3].", "It is [1][2][3].", ()),
        ("It is [2–9].", "It is [2][3].", ("[4]", "[5]", "[6]", "[7]", "[8]", "[9]")),
        ("费用为三万元【1】。", "费用为三万元[1]。", ()),
        ("费用为三万元［９］。", "费用为三万元。", ("[9]",)),
        ("It is [^1].", "It is [1].", ()),
        ("It is [document 3].", "It is [3].", ()),
        ("It is [Document 12].", "It is.", ("[12]",)),
        ("见[文档 2]。", "见[2]。", ()),
        ("It is 【3†source】.", "It is [3].", ()),
        ("It is 【4:0†a.md】.", "It is.", ("[4]",)),
        ("[9] It is so.\n[9] And so.", "It is so.\nAnd so.", ("[9]",)),
        ("- [9] one\n- two [9]\n", "- one\n- two\n", ("[9]",)),
        ("[1, 2](x)", "[1, 2](x)", ()),
        ("【1】(page 3)", "[1] (page 3)", ()),
    ],
)
def test_markers(written: str, shown: str, invented: tuple[str, ...]) -> None:
    made = CitationFilter(NUMBERS)
    assert made.feed(written) + made.close() == shown
    assert made.invented == invented


@pytest.mark.parametrize(
    "text",
    [
        "Take `a[9]` or ``b`[9]``.",
        "```python\nx = a[9]\n```\nSo.",
        "~~~\n[9]\n~~~~\n",
        "  ```\n  a[9]\n  ```",
        "```\nunclosed [9]",
        "See [9](https://example.org) and [1](b).",
        "[9]: https://example.org\n[^9]: a footnote",
        "from [0] to [2024], [a], [], [ ], [x]",
        "\\[9\\] is escaped, and so is \\[9].",
        "a [note 9] and [see 9 below] [9 lives]",
        "(9) {9} <9>",
        "",
        "[",
        "an end [9",
    ],
)
def test_what_is_no_marker_stays(text: str) -> None:
    made = CitationFilter(NUMBERS)
    assert made.feed(text) + made.close() == text
    assert made.invented == ()


def test_a_tick_that_is_never_closed_hides_nothing() -> None:
    assert whole("a ` tick [9] and [1]\nnext [9]") == "a ` tick and [1]\nnext"


def test_where_citations_stand_is_told() -> None:
    made = CitationFilter(NUMBERS)
    text = made.feed("Yes【1】, `[2]` and [2-3].") + made.close()
    assert [(text[mark.start : mark.end], mark.number) for mark in made.marks] == [("[1]", 1), ("[2]", 2), ("[3]", 3)]
    assert [text[start:end] for start, end in made.code] == ["`[2]`"]


@pytest.mark.parametrize("text", ["Text comes at once", "字字", "a.b", "see (9)"])
def test_nothing_is_held_back_that_is_certain(text: str) -> None:
    assert CitationFilter(NUMBERS).feed(text) == text


@pytest.mark.parametrize(
    ("text", "certain"), [("So [", "So"), ("So [docu", "So"), ("So [see", "So [see"), ("So [1]", "So"), ("a ", "a")]
)
def test_only_what_may_become_a_marker_waits(text: str, certain: str) -> None:
    assert CitationFilter(NUMBERS).feed(text) == certain


@given(answers, st.lists(st.integers(0, 400), max_size=12))
def test_where_the_pieces_were_cut_does_not_matter(text: str, cuts: list[int]) -> None:
    made, at_once = CitationFilter(NUMBERS), CitationFilter(NUMBERS)
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    given_back = [made.feed(text[first:last]) for first, last in pairwise(bounds)]
    assert "".join([*given_back, made.close()]) == at_once.feed(text) + at_once.close()
    assert (made.marks, made.code, made.invented) == (at_once.marks, at_once.code, at_once.invented)


@given(answers)
def test_one_character_at_a_time_gives_the_same(text: str) -> None:
    made = CitationFilter(NUMBERS)
    assert "".join([*map(made.feed, text), made.close()]) == whole(text)


@given(answers)
def test_what_is_left_has_no_invented_marker(text: str) -> None:
    once = whole(text)
    again = CitationFilter(NUMBERS)
    assert again.feed(once) + again.close() == once
    assert again.invented == ()


@given(answers)
def test_marks_are_where_they_are_said_to_be(text: str) -> None:
    made = CitationFilter(NUMBERS)
    shown = made.feed(text) + made.close()
    assert all(shown[mark.start : mark.end] == f"[{mark.number}]" for mark in made.marks)


@given(st.text(st.characters(exclude_characters="[【［〔"), max_size=200))
def test_a_text_without_brackets_stays_as_it_is(text: str) -> None:
    assert whole(text) == text


@pytest.mark.parametrize("piece", ["[", "`", "``` ", "[9", "[9]", " ", "\n```", "[1,", "~", "\\", "[document ", "`a"])
def test_no_text_takes_long(piece: str) -> None:
    # Far more than an answer can be; what would take time with the square of it would not end here.
    text = piece * 8_000
    made = CitationFilter(NUMBERS)
    shown = "".join([made.feed(text[start : start + 4096]) for start in range(0, len(text), 4096)] + [made.close()])
    assert len(shown) <= len(text) + len(text) // 3 + 16
