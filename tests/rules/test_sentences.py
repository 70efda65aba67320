from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.columns import columns, fitting
from wenyuan.rules.sentences import last_sentence_end, split_sentences, wrapped_newlines

TEXTS = st.text(st.sampled_from("ab 1字，。！？；…”』).!?\n\"'"), max_size=80)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@given(st.one_of(TEXTS, st.text(max_size=80)))
def test_ranges_partition_the_text(text: str) -> None:
    ranges = split_sentences(text)
    assert "".join(text[start:end] for start, end in ranges) == text
    assert all(start < end for start, end in ranges)


@given(TEXTS, st.integers(0, 80), st.integers(0, 80))
def test_the_last_end_is_an_end(text: str, start: int, stop: int) -> None:
    start, stop = sorted((min(start, len(text)), min(stop, len(text))))
    found = last_sentence_end(text, wrapped_newlines(text), start, stop)
    assert found == -1 or start < found <= stop
    # White space after a sentence is where a cut at `stop` may fall, hence the comparison without it.
    ends = [text[:end].rstrip() for _, end in split_sentences(text)]
    assert found == -1 or text[:found].rstrip() in ends


@pytest.mark.parametrize(
    "expected",
    [
        ["你好。", "我们走吧！", "真的？", "好；", "再见…", "完"],
        ["他说：“走吧。”", "她没有动。"],
        ["真的吗?!", "是的!", "走"],
        ["One. ", "Two! ", "Three? ", "Four"],
        ['He said "Stop." ', "Then he left."],
        ["v1.2.3 costs 3.14 at a.example.com/x.html?q=1!a now."],
        ["Use tools, e.g. Ruff. ", "The U.S. Army and Dr. Smith agree."],
        ["See Fig. 3 and No. 5. ", "In 2026. ", "Then J. Smith came."],
        ["So do I. ", "He agreed. ", "Wait... what"],
        ["1. First\n", "2. Second\n"],
        ["第一行\n", "第二行"],
        ["End e.g.\n\n", "New paragraph"],
        [],
    ],
)
def test_sentences_end_where_a_reader_says(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


def test_a_wrapped_line_does_not_end_its_sentence() -> None:
    wrapped = (
        "This paragraph was wrapped by hand at some sixty columns, as\n"
        "plain text files are. It has a second sentence that is also\n"
        "wrapped.\n"
    )
    assert sentences(wrapped) == [
        "This paragraph was wrapped by hand at some sixty columns, as\nplain text files are. ",
        "It has a second sentence that is also\nwrapped.\n",
    ]
    chinese = (
        "这一段中文是按照每行三十个字的宽度手工折行的，所以在行末的\n"
        "换行并不是句子的结尾。第二句也是这样，它比较长，所以又一次\n"
        "折了行。"
    )
    assert [part.replace("\n", "")[-1] for part in sentences(chinese)] == ["。", "。"]


@given(st.text(st.sampled_from("a字，。👩🏽\u0301ｱＡ한"), max_size=40), st.integers(0, 90))
def test_fitting_is_the_longest_that_fits(text: str, limit: int) -> None:
    end = fitting(text, 0, limit)
    assert columns(text[:end]) <= limit
    assert end == len(text) or columns(text[: end + 1]) > limit
