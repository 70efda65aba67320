"""What a text asserts: values by what they are, words in their order, and what is denied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.assertions import VALUES, read_assertions


def values(text: str) -> list[tuple[str, str]]:
    reading = read_assertions(text)
    return [(unit.kind, reading.written(unit.start, unit.end)) for unit in reading.units if unit.kind in VALUES]


def denials(text: str) -> int:
    return sum(unit.kind == "negation" for unit in read_assertions(text).units)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("会议在 2026年4月14日 14:30 开始", [("date", "2026年4月14日"), ("time", "14:30")]),
        ("PPR-9087 costs 1,200 yuan", [("code", "PPR-9087"), ("number", "1,200")]),
        ("升级到 v1.2.3", [("code", "v1.2.3")]),
        ("call read_config with --force", [("code", "read_config"), ("code", "--force")]),
        ("a well-known state-of-the-art pump", []),
        ("since the mid-1930s", [("number", "1930")]),
    ],
)
def test_values(text: str, found: list[tuple[str, str]]) -> None:
    assert values(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("35,000 yuan", "三万五千 yuan"),
        ("on April 14, 2026", "on 2026-04-14"),
        ("PPR-9087", "ppr9087"),
        ("at 14:30", "at 2:30 pm"),
    ],
)
def test_two_writings_of_a_value_are_one_unit(one: str, other: str) -> None:
    keys = [[unit.key for unit in read_assertions(text).units if unit.kind in VALUES] for text in (one, other)]
    assert keys[0] == keys[1] != []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("员工不得吸烟", 1),
        ("并非如此，他没有来", 2),
        ("不得不说，不同的人不断地来", 0),
        ("去不去都可以", 0),
        ("未来的无线产品是非金属的", 0),
        ("She does not and never did", 2),
        ("It isn't so", 1),
        ("It isn’t so", 1),
        ("nothing without a knot", 2),
    ],
)
def test_denials(text: str, count: int) -> None:
    assert denials(text) == count


def test_words_weigh_more_than_what_is_between_them() -> None:
    tokens = read_assertions("the seal of the pump").tokens
    assert tokens["seal"] == tokens["pump"] > tokens["the"]
    assert read_assertions("公司的水泵").tokens["公司"] > read_assertions("公司的水泵").tokens["的水"]


@given(st.text(max_size=200))
def test_units_stand_one_behind_the_other(text: str) -> None:
    reading = read_assertions(text)
    assert all(unit.start < unit.end <= len(reading.folded.text) for unit in reading.units)
    assert all(a.end <= b.start for a, b in zip(reading.units, reading.units[1:], strict=False))
    assert all(weight > 0 for weight in reading.tokens.values())


@given(st.text(alphabet="0123456789-/.:年月日 万千百e,PV", max_size=60))
def test_no_digit_is_passed_over(text: str) -> None:
    reading = read_assertions(text)
    covered = {place for unit in reading.units for place in range(unit.start, unit.end)}
    digits = {place for place, character in enumerate(reading.folded.text) if character in "0123456789"}
    assert digits <= covered
