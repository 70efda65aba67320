"""Filters as people write them, and the conditions they mean."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import InvalidFilter
from wenyuan.rules.filters import read_filters, value_days, value_number, value_text
from wenyuan.types import Condition


def _day(text: str) -> int:
    return datetime.date.fromisoformat(text).toordinal()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"lang": "en"}, Condition("lang", texts=("en",))),
        ({"author": ["a", "b", "a"]}, Condition("author", texts=("a", "b"))),
        ({"draft": False}, Condition("draft", texts=("false",))),
        ({"price": 3.5}, Condition("price", texts=("3.5",))),
        ({"price": "3.50"}, Condition("price", texts=("3.50", "3.5"))),
        ({"price": "007"}, Condition("price", texts=("007",))),
        ({"pages": 12.0}, Condition("pages", texts=("12",))),
        ({"pages": {"from": 3, "to": 900}}, Condition("pages", numbers=((3.0, 900.0),))),
        ({"pages": {"to": -1}}, Condition("pages", numbers=((None, -1.0),))),
        ({"price": {"from": "1.5"}}, Condition("price", numbers=((1.5, None),))),
        ({"path": {"prefix": "/notes/"}}, Condition("path", prefixes=("/notes/",))),
        ({"tag": ["x", {"prefix": "y"}]}, Condition("tag", texts=("x",), prefixes=("y",))),
        (
            {"date": {"from": "2026-01-01", "to": "2026-03"}},
            Condition("date", days=((_day("2026-01-01"), _day("2026-03-31")),)),
        ),
        ({"date": "2024-02"}, Condition("date", days=((_day("2024-02-01"), _day("2024-02-29")),))),
        ({"date": 2024}, Condition("date", days=((_day("2024-01-01"), _day("2024-12-31")),))),
        ({"date": datetime.date(2026, 4, 14)}, Condition("date", days=((_day("2026-04-14"),) * 2,))),
        (
            {"date": {"from": "2026年4月"}},
            Condition("date", days=((_day("2026-04-01"), datetime.date.max.toordinal()),)),
        ),
        ({"ｄａｔｅ": {"to": "２０２６"}}, Condition("date", days=((1, _day("2026-12-31")),))),
        # A number may be a year: both are asked for.
        (
            {"year": {"from": 2020, "to": "2024"}},
            Condition("year", numbers=((2020.0, 2024.0),), days=((_day("2020-01-01"), _day("2024-12-31")),)),
        ),
        # An end that only a date has makes the other a date.
        (
            {"sent": {"from": 2020, "to": "2024-05"}},
            Condition("sent", days=((_day("2020-01-01"), _day("2024-05-31")),)),
        ),
        ({" 作 者 ": "王伟"}, Condition("作 者", texts=("王伟",))),
    ],
)
def test_what_a_filter_means(written: dict[str, Any], meant: Condition) -> None:
    assert read_filters(written) == (meant,)


def test_every_field_is_a_condition_and_all_of_a_list_are_several() -> None:
    assert read_filters({"tag": {"all": ["x", ["y", "z"]]}, "lang": "en"}) == (
        Condition("tag", texts=("x",)),
        Condition("tag", texts=("y", "z")),
        Condition("lang", texts=("en",)),
    )
    assert read_filters({}) == ()


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (None, "None is no text"),
        ("", "'' is no text"),
        ([], "names 0 values"),
        ([["nested"]], "is no text"),
        (["x"] * 101, "names 101 values"),
        ("x" * 1001, "1000 characters"),
        (b"bytes", "is no text"),
        (float("nan"), ""),
        ({}, "nothing cannot be asked for"),
        ({"gte": 1}, "gte cannot be asked for"),
        ({"from": 1, "prefix": "a"}, "from, prefix cannot be asked for"),
        ({"prefix": ""}, "a prefix is a text"),
        ({"prefix": 5}, "a prefix is a text"),
        ({"from": "a", "to": "b"}, "numbers, or both dates"),
        ({"from": 1, "to": "2024-05-06"}, "numbers, or both dates"),
        ({"from": None}, "numbers, or both dates"),
        ({"from": True}, "True is neither"),
        ({"from": float("inf")}, "inf is neither"),
        ({"from": 5, "to": 4}, "before it begins"),
        ({"from": "2024-05", "to": "2024-04"}, "before it begins"),
        ({"from": 2024, "to": 2020}, "before it begins"),
        ({"from": "2024-13"}, "numbers, or both dates"),
        ({"all": "x"}, '"all" stands alone'),
        ({"all": [], "from": 1}, '"all" stands alone'),
        ({"all": []}, '"all" stands alone'),
        ({"all": ["x"] * 30}, "20 conditions at most"),
        (1 << 4000, "is no text"),
    ],
)
def test_a_filter_that_makes_no_sense_names_its_field_and_why(wanted: Any, reason: str) -> None:
    with pytest.raises(InvalidFilter, match="作者") as error:
        read_filters({"lang": "en", "作者": wanted})
    assert reason in error.value.message
    assert "作者" in error.value.advice


@pytest.mark.parametrize("wanted", ["soon", "2026-02-30", "", {"from": 5}, {"from": "a"}, {"prefix": "x"}, 12])
def test_a_date_must_be_one(wanted: Any) -> None:
    with pytest.raises(InvalidFilter, match="date"):
        read_filters({"date": wanted})


@pytest.mark.parametrize("field", ["", "  ", "x" * 101, 5])
def test_a_field_must_have_a_name(field: Any) -> None:
    with pytest.raises(InvalidFilter, match="1 to 100 characters"):
        read_filters({field: "x"})


def test_there_may_be_twenty_conditions() -> None:
    assert len(read_filters({f"f{number}": "x" for number in range(20)})) == 20
    with pytest.raises(InvalidFilter, match="20 conditions at most"):
        read_filters({f"f{number}": "x" for number in range(21)})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["from", "to", "prefix", "all", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=5), _JSON, max_size=4))
def test_any_json_gives_conditions_or_the_coded_error(written: dict[str, Any]) -> None:
    try:
        conditions = read_filters(written)
    except InvalidFilter:
        return
    assert len(conditions) >= len(written)
    assert all(one.texts or one.prefixes or one.numbers or one.days for one in conditions)
    assert all(first <= last for one in conditions for first, last in one.days)


@given(st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31)))
def test_a_written_day_is_that_day(date: datetime.date) -> None:
    day = date.toordinal()
    assert value_days(date.isoformat()) == (day, day)
    assert value_days(f"{date.year}/{date.month}/{date.day}") == (day, day)
    assert value_days(f"{date.isoformat()}T10:20:30+08:00") == (day, day)
    first, last = value_days(f"{date:%Y-%m}") or (0, 0)
    assert first <= day <= last
    assert last - first in (27, 28, 29, 30)


@pytest.mark.parametrize("text", ["12", "0999", "3000", "2026-00", "2026-13", "2026-4-31", "v2026", "2026-04-14x"])
def test_what_is_no_date_has_no_days(text: str) -> None:
    assert value_days(text) is None


@given(st.integers(-(10**14), 10**14))
def test_a_whole_number_is_the_same_however_it_is_typed(number: int) -> None:
    assert value_text(float(number)) == value_text(number) == str(number)
    assert value_number(str(number)) == number
