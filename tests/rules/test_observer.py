"""A journey observed: stages are timed, what is done without is named."""

from __future__ import annotations

import pytest

from wenyuan.errors import EmptyQuestion, IndexMissing, ProviderTimeout, ProviderUnavailable, WenyuanError
from wenyuan.rules.observer import Observer, degradation


class Clock:
    def __init__(self) -> None:
        self.seconds = 10.0

    def __call__(self) -> float:
        self.seconds += 0.5
        return self.seconds


def failing(error: WenyuanError) -> int:
    raise error


def test_a_stage_is_recorded_with_its_time_and_count() -> None:
    observe = Observer(Clock())
    with observe.stage("keyword") as stage:
        stage.count = 7
    assert observe.stages() == [{"name": "keyword", "start_ms": 500.0, "ms": 500.0, "status": "ok", "count": 7}]


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (ProviderTimeout(provider="p", seconds=3), "embed: failed-timeout"),
        (ProviderUnavailable(provider="p", reason="refused"), "embed: failed-provider"),
        (IndexMissing(name="notes"), "embed: index-missing"),
    ],
)
def test_what_can_be_lived_without_is_named(error: WenyuanError, name: str) -> None:
    observe = Observer(Clock())
    assert observe.or_keep(0, "embed", failing, error) == 0
    assert observe.degraded == (name,)
    assert observe.stages()[-1]["reason"] == error.message


def test_a_mistake_in_the_request_passes_through() -> None:
    with pytest.raises(EmptyQuestion):
        Observer(Clock()).or_keep(0, "read", failing, EmptyQuestion())


def test_a_failing_stage_is_recorded_under_its_code() -> None:
    observe = Observer(Clock())
    error = ProviderTimeout(provider="p", seconds=3)
    with pytest.raises(ProviderTimeout), observe.stage("embed"):
        raise error
    assert observe.stages()[0]["status"] == "provider-timeout"
    assert degradation(error) == "failed-timeout"


def test_one_degradation_is_named_once() -> None:
    observe = Observer(Clock())
    observe.degrade("vector-partial: 1 of 2 documents")
    observe.degrade("vector-partial: 1 of 2 documents")
    assert observe.degraded == ("vector-partial: 1 of 2 documents",)
