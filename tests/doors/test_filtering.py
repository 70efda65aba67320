"""`--filter` as it is typed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.doors.cli.filtering import filters_of
from wenyuan.errors import InvalidFilter


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ([], {}),
        (["lang=en"], {"lang": "en"}),
        (["author=Li, 王伟，x"], {"author": ["Li", "王伟", "x"]}),
        (["year=2020..2024"], {"year": {"from": "2020", "to": "2024"}}),
        (["year=..2024"], {"year": {"to": "2024"}}),
        (["date=2026-01-02.."], {"date": {"from": "2026-01-02"}}),
        (["date=2026年1月..2026年3月"], {"date": {"from": "2026年1月", "to": "2026年3月"}}),
        (["price=-1.5..2.5"], {"price": {"from": "-1.5", "to": "2.5"}}),
        (["path=/notes/*"], {"path": {"prefix": "/notes/"}}),
        (["path=../a..b"], {"path": "../a..b"}),
        (["tag=a*,b"], {"tag": [{"prefix": "a"}, "b"]}),
        (["tag=*"], {"tag": "*"}),
        (["tag=x", "tag=y,z", "lang=en"], {"tag": {"all": ["x", ["y", "z"]]}, "lang": "en"}),
        (["name=a=b"], {"name": "a=b"}),
        (
            ['{"author": ["Li, W."], "year": {"from": 2020}}', "lang=en"],
            {"author": ["Li, W."], "year": {"from": 2020}, "lang": "en"},
        ),
    ],
)
def test_what_is_typed_is_what_is_asked(typed: list[str], meant: dict[str, Any]) -> None:
    assert filters_of(typed) == meant


@pytest.mark.parametrize("typed", ["year", "", '{"a": 1', '{"a": nope}'])
def test_what_cannot_be_read_is_refused(typed: str) -> None:
    with pytest.raises(InvalidFilter):
        filters_of([typed])


@given(st.lists(st.text(max_size=12), max_size=3))
def test_anything_may_be_typed(typed: list[str]) -> None:
    try:
        filters_of(typed)
    except InvalidFilter:
        return
    assert all("=" in one or one.lstrip().startswith("{") for one in typed)
