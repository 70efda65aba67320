"""Names and quotations that a source must hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.proper_names import names_said


def names(text: str) -> list[str]:
    return [name.written for name in names_said(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The office in Berlin was opened by Alice Zhang.", ["Berlin", "Alice", "Zhang"]),
        ("Refunds are paid by the bank.", []),
        ("**Refunds:** Paid by the bank. Then it ends.", []),
        ("Alice's fee is paid to Bob's bank.", ["Bob"]),
        ("由 Alice 负责 PostgreSQL 的备份", ["Alice", "PostgreSQL"]),
        ("《员工手册》规定“先到先得”。", ["员工手册", "先到先得"]),
        ('They call it "the upper key" here.', ["the upper key"]),
        ("How To Care For Your Pump", []),
        ("I think that I know.", []),
        ("no names at all", []),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    assert sorted(names(text)) == sorted(found)


def test_a_long_quotation_is_no_name() -> None:
    assert names(f"“{'字' * 81}”") == []


@given(st.text(max_size=200))
def test_a_name_stands_in_its_text(text: str) -> None:
    assert all(name.written.replace("’", "'") in text.replace("’", "'") and name.folded for name in names_said(text))
