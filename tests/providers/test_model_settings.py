"""What a description of a model refuses, and what a preset fills."""

from __future__ import annotations

from typing import Any

import pytest

from wenyuan.providers.presets import PRESETS, with_preset
from wenyuan.providers.settings import ModelSettings

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
        {"types": "chat"},
        {"types": [1]},
        {"options": [1]},
        {"tools": "yes"},
        {"context_tokens": 1.5},
    ],
)
def test_values_of_another_type_are_refused_by_name(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(changes))):
        ModelSettings(**{**COMPLETE, **changes})


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
        {"types": []},
        {"types": ["chat", "chat"]},
        {"types": ["video"]},
        {"context_tokens": 0},
        {"max_output_tokens": 0},
        {"concurrency": -1},
        {"preset": "nobody"},
    ],
)
def test_values_out_of_range_are_refused_by_name(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        ModelSettings(**{**COMPLETE, **changes})


def test_a_key_that_is_no_reference_is_refused_without_showing_it() -> None:
    with pytest.raises(ValueError, match="must be a reference") as caught:
        ModelSettings(**COMPLETE, key="sk-secret")
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["", "env:NAME", "file:~/key", "keyring:wenyuan/deepseek"])
def test_references_are_kept(key: str) -> None:
    assert ModelSettings(**COMPLETE, key=key, timeout_seconds=5).key == key


def test_types_are_kept_in_one_order() -> None:
    settings = ModelSettings(**COMPLETE, types=["rerank", "embedding"])  # type: ignore[arg-type]  # as TOML gives them
    assert settings.types == ("embedding", "rerank")
    assert ModelSettings(**COMPLETE).types == ("embedding",)


def test_every_preset_makes_settings_of_each_of_its_types() -> None:
    for name, preset in PRESETS.items():
        for kind in preset.connections:
            settings = ModelSettings(name="n", model="m", **with_preset({"preset": name, "types": [kind]}))
            assert (settings.provider, settings.types, settings.key) == (name, (kind,), preset.key)
            assert settings.base_url.startswith("http")


def test_what_a_table_says_itself_goes_before_its_preset() -> None:
    said = {"preset": "openai", "types": ["chat"], "tools": False, "key": "env:MINE", "base_url": "http://h/v1"}
    assert {**with_preset(said), **said} == with_preset(said)


def test_a_table_without_a_preset_stays_as_it_is() -> None:
    assert with_preset({"protocol": "tei"}) == {"protocol": "tei"}
