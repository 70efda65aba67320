"""Server-sent events and thoughts, however the bytes that carry them are cut."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.providers.event_stream import LONGEST_EVENT_BYTES, ServerEvent, server_events
from wenyuan.providers.reasoning import ReasoningFilter

LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12)
EVENTS = st.lists(st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), max_size=4)


class TooLong(Exception):
    pass


def read(pieces: Sequence[bytes]) -> list[ServerEvent]:
    return list(server_events(pieces, TooLong))


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(ends)]


@given(EVENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 10_000), max_size=8))
def test_events_are_the_same_however_they_are_cut(
    events: list[tuple[str, list[str]]], end: str, places: list[int]
) -> None:
    sent = "".join(
        f"event: {kind}{end}: a remark{end}" + "".join(f"data: {line}{end}" for line in lines) + end
        for kind, lines in events
    )
    expected = [ServerEvent(kind, "\n".join(lines)) for kind, lines in events]
    assert read(cut(sent.encode(), places)) == expected
    assert read([bytes([byte]) for byte in sent.encode()]) == expected


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"data: cut off", []),
        (b"data: cut off\n", []),
        (b"event: x\n\n", []),
        (b"data:no space\n\n", [ServerEvent("", "no space")]),
        (b"data\n\n", [ServerEvent("", "")]),
        (b"data: \xff\n\n", [ServerEvent("", "\ufffd")]),
        (b"id: 1\nretry: 2\nunheard: of\ndata: x\n\n\n\n", [ServerEvent("", "x")]),
        (b"data: \xe2\x80\xa8\n\n", [ServerEvent("", "\u2028")]),
    ],
)
def test_what_is_no_event_is_none(sent: bytes, expected: list[ServerEvent]) -> None:
    assert read([sent]) == expected


def test_a_line_and_an_event_are_bounded() -> None:
    almost = b"data: " + b"x" * (LONGEST_EVENT_BYTES - 100) + b"\n\n"
    assert len(read(cut(almost, range(0, len(almost), 65_536)))) == 1
    for endless in ([b"x" * 65_536] * 17, [b"data: x\n" * 8_192] * 20, [b": x\n" * 8_192] * 60):
        with pytest.raises(TooLong):
            read(endless)


@given(st.text("<think>/ ab\n", max_size=40), st.lists(st.integers(0, 100), max_size=6))
def test_thoughts_are_passed_over_however_they_are_cut(text: str, places: list[int]) -> None:
    pieces = [piece.decode() for piece in cut(text.encode(), places)]
    whole = ReasoningFilter()
    expected = whole.feed(text) + whole.end()
    parts = ReasoningFilter()
    assert "".join(map(parts.feed, pieces)) + parts.end() == expected


@given(st.text(max_size=30), st.text(max_size=30))
def test_what_follows_a_thought_is_the_answer(thought: str, answer: str) -> None:
    text = f"\n<think>{thought.replace('</think>', '')}</think>\n\n{answer}"
    reading = ReasoningFilter()
    assert reading.feed(text) + reading.end() == answer.lstrip()


@given(st.text(max_size=30).filter(lambda text: not re.match(r"\s*<think>", text)))
def test_a_text_without_a_thought_stays_as_it_is(text: str) -> None:
    reading = ReasoningFilter()
    assert reading.feed(text) + reading.end() == text
