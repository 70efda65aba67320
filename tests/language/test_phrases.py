"""Phrases in quotation marks are found however they are broken, and never as parts of words."""

from __future__ import annotations

import pytest

from wenyuan.language.folding import fold
from wenyuan.language.questions.phrases import holds_phrase


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("the annual\nhealth check", "annual health check"),
        ("员工健康\n体检由公司承担", "健康体检"),
        ("員工健康體檢", "健康体检"),
        ("Ｐｕｍｐ  seal.", "pump seal"),
        ("升级redis-cli后", "redis-cli"),
        ("见《差旅 规定》", "差旅规定"),
        ("C++ and Rust", "C++"),
    ],
)
def test_a_phrase_is_found(text: str, phrase: str) -> None:
    assert holds_phrase(fold(text), phrase)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("pump sealant", "pump seal"),
        ("seal pump", "pump seal"),
        ("健康的体检", "健康体检"),
        ("pumpseal", "pump seal"),
        ("anything", " "),
    ],
)
def test_another_is_not(text: str, phrase: str) -> None:
    assert not holds_phrase(fold(text), phrase)


def test_an_endless_phrase_is_looked_for_in_linear_time() -> None:
    assert not holds_phrase("a " * 50_000, "a " * 99 + "b")
