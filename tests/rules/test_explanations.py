"""Every reason has a sentence in both languages, with its numbers in it."""

from __future__ import annotations

import pytest

from wenyuan.rules.explanations import EMPTY_CODES, EmptyReason, explain_empty, explain_found, explain_unanswered

DETAILS = {
    "processing": 3,
    "failed": 2,
    "disabled": 4,
    "blocked": 8,
    "documents": 6,
    "missing": 5,
    "total": 9,
    "best": "0.12",
    "floor": 0.3,
    "tokens": "健康 (0)",
    "passages": 7,
    "words": "valve",
}


@pytest.mark.parametrize("code", EMPTY_CODES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_empty_result_is_explained(code: str, language: str) -> None:
    sentence = explain_empty(EmptyReason(code, DETAILS), language)
    assert "{" not in sentence
    assert sentence != explain_empty(EmptyReason(code, DETAILS), "zh" if language == "en" else "en")


def test_numbers_are_in_the_sentence() -> None:
    assert "3 in the queue, 2 failed" in explain_empty(EmptyReason("none-ready", DETAILS), "en")
    assert explain_found(1, 1, "en") == "Found 1 passage in 1 document."
    assert explain_found(2, 1, "zh") == "在 1 个文档中找到 2 段。"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_does_not_answer_is_told_by_its_place_unless_what_was_asked_for_stands_nowhere(language: str) -> None:
    said = explain_unanswered((), ["leave.md › Annual leave", "rota.csv"], language)
    assert "leave.md › Annual leave" in said
    assert "rota.csv" in said
    said = explain_unanswered(("PPR-9807",), ["rota.csv"], language)
    assert "PPR-9807" in said
    assert "rota.csv" not in said
