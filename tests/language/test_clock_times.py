"""Times of day in both languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.dates.clock_times import clock_times
from wenyuan.language.folding import fold
from wenyuan.language.numerals import render_integer


def read(text: str) -> list[set[int]]:
    return [set(time.minutes) for time in clock_times(fold(text))]


@pytest.mark.parametrize(
    "text",
    ["14:30", "14:30:00", "2:30 pm", "2:30 p.m.", "2.30pm", "下午2点半", "下午两点半", "14时30分", "十四点三十分"],
)
def test_one_time_in_many_writings(text: str) -> None:
    assert read(f"从 {text} 开始") == [{14 * 60 + 30}]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("9:05", {545, 545 + 720}),
        ("09:05", {545}),
        ("早上九点", {540}),
        ("12:00 am", {0}),
        ("中午12点", {720}),
        ("十点一刻", {615, 615 + 720}),
        ("24:00", {0}),
    ],
)
def test_what_a_time_may_mean(text: str, minutes: set[int]) -> None:
    assert read(text) == [minutes]


@pytest.mark.parametrize("text", ["3:75", "1:2:3:4", "10:1", "26:00", "有时", "时间", "3.5点数", "a ratio of 16:9"])
def test_what_is_no_time(text: str) -> None:
    assert read(text) == []


@given(st.integers(0, 23), st.integers(1, 59))
def test_all_writings_meet(hour: int, minute: int) -> None:
    half, short = ("下午", hour - 12) if hour > 12 else ("上午", hour)
    writings = [f"{hour:02}:{minute:02}", f"{hour}时{minute}分", f"{render_integer(hour)}点{render_integer(minute)}分"]
    if hour not in (0, 12):
        writings += [f"{half}{short}点{minute}分", f"{short}:{minute:02} {'pm' if hour > 12 else 'am'}"]
    assert all(hour * 60 + minute in times for text in writings for times in read(text))
    assert all(len(read(text)) == 1 for text in writings)


@given(st.text(max_size=100))
def test_any_text_is_read(text: str) -> None:
    assert all(0 <= minute < 1440 for times in read(text) for minute in times)
