"""How well a file was read, by what was counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.quality import TextMeasures, doubts, is_doubtful
from wenyuan.types import Notice


def counted(*texts: str) -> dict[str, int]:
    measures = TextMeasures()
    for text in texts:
        measures.feed(text)
    return measures.counted()


def test_what_is_odd_in_a_text_is_counted() -> None:
    text = "年报\ufffd\ufffd \ue000\U000f1234 a\x01\x07\tb\n\r\x85"
    assert counted(text[:4], text[4:]) == {
        "characters": len(text),
        "lost_characters": 2,
        "private_characters": 2,
        "control_characters": 2,
    }
    assert counted("Nothing odd.\n") == {"characters": 13}


@given(st.lists(st.text(max_size=30), max_size=6))
def test_it_does_not_matter_how_a_text_comes(pieces: list[str]) -> None:
    assert counted(*pieces) == counted("".join(pieces))


@pytest.mark.parametrize(
    ("quality", "codes"),
    [
        ({}, []),
        ({"characters": 1000, "lost_characters": 2}, []),
        ({"characters": 1000, "lost_characters": 3}, ["characters-lost"]),
        ({"characters": 100_000, "lost_characters": 50}, []),
        ({"characters": 500, "private_characters": 9}, []),
        ({"characters": 500, "private_characters": 10}, ["characters-private"]),
        ({"characters": 900, "control_characters": 10}, ["characters-control"]),
        ({"characters": 9000, "pages": 10, "pages_without_text": 2}, []),
        ({"characters": 9000, "pages": 10, "pages_without_text": 3}, ["pages-empty"]),
        ({"characters": 70, "pages": 2}, []),
        ({"characters": 100, "pages": 3}, ["little-text"]),
        ({"characters": 10, "pages": 3, "pages_without_text": 3}, ["pages-empty"]),
        ({"characters": "many", "pages": None, "lost_characters": True}, []),
    ],
)
def test_from_when_on_a_person_should_look(quality: dict[str, object], codes: list[str]) -> None:
    assert [doubt.code for doubt in doubts(quality, [])] == codes
    assert is_doubtful(quality, []) == bool(codes)
    assert all(str(doubt.details["n"]) in doubt.message for doubt in doubts(quality, []))


def test_a_notice_may_be_reason_enough() -> None:
    doubtful, harmless = Notice("encoding-doubtful", "Which encoding?"), Notice("hidden-rows", "Three rows are hidden.")
    assert [(one.code, one.message) for one in doubts({}, [harmless, doubtful])] == [
        ("encoding-doubtful", "Which encoding?")
    ]
