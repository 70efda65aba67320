"""Settings: read once, from `wenyuan.toml` in the library and the environment; unknown keys are refused.

An environment variable `WENYUAN_SECTION_KEY`, such as `WENYUAN_SEARCH_TOP_K`, outranks the file.
Keys of providers are references (`env:NAME` or `file:PATH`), so settings can be printed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from wenyuan.errors import ConfigurationInvalid
from wenyuan.parsers.sandbox import ReadLimits
from wenyuan.providers.settings import BUILT_IN_MODEL, EmbeddingModelSettings

FILE_NAME = "wenyuan.toml"


@dataclass(frozen=True, slots=True)
class DefaultSettings:
    """What a new knowledge base gets; an empty `embedding_model` means keyword search alone."""

    embedding_model: str = BUILT_IN_MODEL
    chunk_columns: int = 800
    chunk_overlap_columns: int = 0


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How many passages a search gives, and how long it waits for the model to embed a question."""

    top_k: int = 8
    embed_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """`threads` jobs are done side by side in one process. A silent worker keeps its job for
    `lease_seconds`; one that is busy but gets no further, for `stall_seconds`.

    A job is begun `max_attempts` times without progress before it fails; a writer waits
    `lock_seconds` for writers of other processes.
    """

    threads: int = 2
    lease_seconds: float = 30.0
    stall_seconds: float = 900.0
    poll_seconds: float = 0.5
    max_attempts: int = 6
    lock_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long traces of questions are kept, and the text and bytes of revisions that a newer one replaced,

    so that citations of them still open. Both go when a worker starts.
    """

    trace_days: int = 30
    superseded_days: int = 365


@dataclass(frozen=True, slots=True)
class Settings:
    defaults: DefaultSettings = field(default_factory=DefaultSettings)
    limits: ReadLimits = field(default_factory=ReadLimits)
    search: SearchSettings = field(default_factory=SearchSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    models: Mapping[str, EmbeddingModelSettings] = field(default_factory=dict)


_SECTIONS = ("defaults", "limits", "search", "worker", "retention")


def load_settings(library: Path, environment: Mapping[str, str]) -> Settings:
    """Read a library's settings. Raises `ConfigurationInvalid`, naming the setting and its source."""
    file = library / FILE_NAME
    settings = _built_in()
    if file.exists():
        try:
            stored = tomllib.loads(file.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise ConfigurationInvalid(setting="file", source=file, reason=str(error)) from error
        settings = _with_file(settings, stored, str(file))
    return _with_environment(settings, environment)


def _built_in() -> Settings:
    model = EmbeddingModelSettings(BUILT_IN_MODEL, "built-in", "multilingual-e5-small")
    return Settings(models={BUILT_IN_MODEL: model})


def _with_file(settings: Settings, stored: Mapping[str, Any], source: str) -> Settings:
    for name, values in stored.items():
        if name == "models" and isinstance(values, Mapping):
            models = {**settings.models, **{key: _model(key, value, source) for key, value in values.items()}}
            settings = replace(settings, models=models)
        elif name in _SECTIONS and isinstance(values, Mapping):
            settings = _with_section(settings, name, values, source)
        else:
            raise ConfigurationInvalid(setting=name, source=source, reason="there is no such section")
    return settings


def _with_section(settings: Settings, name: str, values: Mapping[str, Any], source: str) -> Settings:
    section = getattr(settings, name)
    known = {item.name: type(getattr(section, item.name)) for item in fields(section)}
    for key, value in values.items():
        setting = f"{name}.{key}"
        if key not in known:
            raise ConfigurationInvalid(setting=setting, source=source, reason="there is no such setting")
        section = replace(section, **{key: _typed(value, known[key], setting, source)})
    return replace(settings, **{name: section})


def _with_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    for name in _SECTIONS:
        for item in fields(getattr(settings, name)):
            variable = f"WENYUAN_{name}_{item.name}".upper()
            if variable in environment:
                values = {item.name: environment[variable]}
                settings = _with_section(settings, name, values, f"environment variable {variable}")
    return settings


def _typed(value: Any, kind: type, setting: str, source: str) -> Any:
    if kind is str and isinstance(value, str):
        return value
    try:
        if kind is str or isinstance(value, bool):
            raise TypeError
        # TOML knows the kinds of its values; the environment gives text alone.
        converted = int(value) if kind is int else float(value)
        if kind is int and isinstance(value, float):
            raise TypeError
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigurationInvalid(setting=setting, source=source, reason=f"{value!r} is not {_KINDS[kind]}") from error
    if not 0 <= converted < float("inf") or (converted == 0 and setting not in _MAY_BE_ZERO):
        raise ConfigurationInvalid(setting=setting, source=source, reason=f"{value!r} is out of range")
    return converted


_KINDS = {str: "text", int: "a whole number", float: "a number"}
# A zero limit or lease would stop all work; an overlap or a retention of nothing makes sense.
_MAY_BE_ZERO = frozenset({"defaults.chunk_overlap_columns", "retention.superseded_days", "retention.trace_days"})


def _model(name: str, values: Any, source: str) -> EmbeddingModelSettings:
    setting = f"models.{name}"
    if not isinstance(values, Mapping):
        raise ConfigurationInvalid(setting=setting, source=source, reason="a table is expected")
    known = {item.name for item in fields(EmbeddingModelSettings)} - {"name"}
    for key in values:
        if key not in known:
            raise ConfigurationInvalid(setting=f"{setting}.{key}", source=source, reason="there is no such setting")
    try:
        return EmbeddingModelSettings(name=name, **values)
    except (TypeError, ValueError) as error:
        raise ConfigurationInvalid(setting=setting, source=source, reason=str(error)) from error
