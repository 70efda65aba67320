"""Watching a journey: what each stage found, how long it took, and what went on without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from wenyuan.errors import ConfigurationError, ProviderError, WenyuanError
from wenyuan.types import JsonObject

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


@dataclass(slots=True)
class Stage:
    """One stage of a trace; `count` is how much it found, `details` what a person may want to know."""

    name: str
    start_ms: float
    ms: float = 0.0
    status: str = "ok"
    count: int | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        return {
            "name": self.name,
            "start_ms": round(self.start_ms, 2),
            "ms": round(self.ms, 2),
            "status": self.status,
            "count": self.count,
            **self.details,
        }


class Observer:
    """Collects the stages of one journey; stages may run in several threads.

    `clock` gives seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._stages: list[Stage] = []
        self._degraded: list[str] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        began = self._clock()
        stage = Stage(name, (began - self._began) * 1000)
        self._stages.append(stage)
        try:
            yield stage
        except WenyuanError as error:
            stage.status = error.code
            raise
        finally:
            stage.ms = (self._clock() - began) * 1000

    def or_keep(
        self,
        kept: Result,
        name: str,
        run: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Result:
        """Run a stage the journey can live without; where it fails, name the failure and return `kept`.

        What a model or its configuration is not to blame for, such as a mistake in the request or a
        database that cannot be read, is the caller's to know and passes through.
        """
        try:
            return run(*arguments, **options)
        except (ProviderError, ConfigurationError) as error:
            self.degrade(f"{name}: {degradation(error)}", error.message)
            return kept

    def degrade(self, name: str, reason: str = "") -> None:
        """Record under a stable name that something was done without."""
        if name not in self._degraded:
            self._degraded.append(name)
            stage = Stage(name, (self._clock() - self._began) * 1000, status="degraded")
            stage.details["reason"] = reason
            self._stages.append(stage)

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(self._degraded)

    def elapsed_ms(self) -> float:
        return (self._clock() - self._began) * 1000

    def stages(self) -> list[JsonObject]:
        return [stage.as_json() for stage in sorted(self._stages, key=lambda stage: stage.start_ms)]


_DEGRADATIONS = {
    "provider-timeout": "failed-timeout",
    "index-missing": "index-missing",
    "index-incompatible": "index-incompatible",
    "model-not-configured": "fallback-no-config",
    "built-in-model-missing": "fallback-no-config",
    "key-missing": "fallback-no-config",
}


def degradation(error: WenyuanError) -> str:
    """The stable name under which an error appears in a trace as something done without."""
    return _DEGRADATIONS.get(error.code, "failed-provider")
