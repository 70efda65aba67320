"""What a description of a model refuses."""

from __future__ import annotations

from typing import Any

import pytest

from wenyuan.providers.settings import EmbeddingModelSettings

COMPLETE: dict[str, Any] = {"name": "n", "protocol": "p", "model": "m"}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": 1},
        {"model": None},
        {"dimensions": "3"},
        {"dimensions": True},
        {"dimensions": 3.0},
        {"send_dimensions": 1},
        {"timeout_seconds": "60"},
        {"query_prefix": b"q"},
    ],
)
def test_values_of_another_type_are_refused_by_name(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(changes))):
        EmbeddingModelSettings(**{**COMPLETE, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"dimensions": -1},
        {"max_batch_texts": 0},
        {"max_batch_characters": 0},
        {"threads": 0},
        {"timeout_seconds": 0},
        {"timeout_seconds": float("nan")},
        {"timeout_seconds": float("inf")},
    ],
)
def test_values_out_of_range_are_refused_by_name(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        EmbeddingModelSettings(**{**COMPLETE, **changes})


def test_a_key_that_is_no_reference_is_refused_without_showing_it() -> None:
    with pytest.raises(ValueError, match="must be a reference") as caught:
        EmbeddingModelSettings(**COMPLETE, key="sk-secret")
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["", "env:NAME", "file:~/key"])
def test_references_are_kept(key: str) -> None:
    assert EmbeddingModelSettings(**COMPLETE, key=key, timeout_seconds=5).key == key
