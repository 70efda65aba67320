"""Settings: read once, from `wenyuan.toml` in the library and the environment; unknown keys are refused.

An environment variable `WENYUAN_SECTION_KEY`, such as `WENYUAN_SEARCH_TOP_K`, outranks the file.
Keys of providers are references (such as `env:NAME`), so settings can be printed.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from wenyuan.errors import ConfigurationInvalid
from wenyuan.parsers.pictures.recognition import OCR_CHOICES, ReadingSettings
from wenyuan.parsers.sandbox import ReadLimits
from wenyuan.providers.presets import with_preset
from wenyuan.providers.readers.settings import ReaderSettings
from wenyuan.providers.settings import BUILT_IN_MODEL, ModelSettings
from wenyuan.types.bots import BotSettings

FILE_NAME = "wenyuan.toml"

Described = TypeVar("Described", ModelSettings, ReaderSettings, BotSettings)


@dataclass(frozen=True, slots=True)
class DefaultSettings:
    """What a new knowledge base gets; an empty `embedding_model` means keyword search alone."""

    embedding_model: str = BUILT_IN_MODEL
    chunk_columns: int = 800
    chunk_overlap_columns: int = 0


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """Which model does what: writes answers, does small tasks such as rewriting a question (the one that answers,
    where none is named), embeds the documents of new knowledge bases (`defaults.embedding_model`, where none is
    named), and reranks what a search has found. Empty means none.
    """

    answer: str = ""
    task: str = ""
    embedding: str = ""
    rerank: str = ""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How many passages a search gives, and how long it waits for the model to embed a question. Of a library in
    PostgreSQL, `replica` is the address of a copy that follows it, which searches read.

    Where a model has the role `rerank`, it puts the best `rerank_candidates` in order if it does so within
    `rerank_seconds`; then only the first `rerank_top_n` are kept, and none that it scores below `rerank_threshold`,
    which is on the model's own scale; 0 keeps all.
    """

    top_k: int = 8
    embed_seconds: float = 10.0
    rerank_candidates: int = 30
    rerank_seconds: float = 4.0
    rerank_top_n: int = 0
    rerank_threshold: float = 0.0
    replica: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """A language model has `seconds` for an answer, and may look things up in `rounds` rounds while it writes it; a
    bot waits `bot_seconds`. Of a session it is told the last `history_turns` turns, as far as they fit.

    What it has said is saved every `save_seconds`. So many answers may be `running` in a server, and one key has at
    most `key_share` of them, 1 being all; one whose client is gone is stopped after `resume_seconds`, and its events
    are kept for `kept_seconds`, to be taken up again. With `model_titles` the model of the role `task` gives a session
    its title, else that is made of the first question; with `model_routing` it says what a message wants, where no rule
    knows.
    """

    seconds: float = 180.0
    rounds: int = 4
    bot_seconds: float = 60.0
    history_turns: int = 40
    save_seconds: float = 1.0
    running: int = 32
    key_share: float = 0.5
    resume_seconds: float = 10.0
    kept_seconds: float = 300.0
    model_titles: bool = False
    model_routing: bool = False


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """`threads` jobs are done side by side in one process. A silent worker keeps its job for
    `lease_seconds`; one that is busy but gets no further, for `stall_seconds`.

    A job is begun `max_attempts` times without progress before it fails; a writer waits
    `lock_seconds` for writers of other processes. The new version of a document takes the place of
    the old when its vectors are there, or after `replace_wait_seconds` without them.
    """

    threads: int = 2
    lease_seconds: float = 30.0
    stall_seconds: float = 900.0
    poll_seconds: float = 0.5
    max_attempts: int = 6
    lock_seconds: float = 30.0
    replace_wait_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long traces of questions are kept, and the text and bytes of revisions that a newer one replaced, so that
    citations of them still open. An index that a rebuilt one replaced can be gone back to for
    `retired_index_days`; jobs that ended are listed for `job_days`. All of them go when a worker starts,
    and now and then while it works.
    """

    trace_days: int = 30
    job_days: int = 30
    superseded_days: int = 365
    retired_index_days: int = 7


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """An attachment of at most `inline_characters` is given to a conversation whole; a longer one is searched."""

    inline_characters: int = 8000


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """A page may take `seconds` and have `page_bytes`. Addresses that are not public are refused, as a page could
    lead into your own network, unless `allow_private` is set; `use_proxies` uses the proxies of the environment.
    """

    seconds: float = 60.0
    page_bytes: int = 100 << 20
    allow_private: bool = False
    use_proxies: bool = False


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Changes in a watched folder are taken in when it has been quiet for `quiet_seconds`.

    Every `resync_seconds` it is looked through as a whole; one that cannot be watched, every `unwatched_seconds`.
    """

    quiet_seconds: float = 1.0
    resync_seconds: float = 600.0
    unwatched_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`threads` requests are worked on at once and `waiting` more may wait; one is given up after `request_seconds`.
    As they share one interpreter, more threads answer later, not sooner: 0 is two, three where they
    wait for PostgreSQL, or four where they wait for the service of a model that embeds or reranks.

    So many `connections` are answered. The head of a request has `head_seconds` to come, and whoever takes nothing of
    what is sent for `send_seconds` is left. A body other than a file may have `body_bytes`, and must not stand still
    for `body_seconds`. Each key may send `requests_per_minute`, and so may each address without one, 0 being any
    number; `streams` event streams may be open, each with a sign of life every `heartbeat_seconds`. `allowed_hosts` are
    further names, separated by commas, under which the server is reached. Ending, it gives requests `stop_seconds` to
    be done. Without `works` it leaves the work to `wenyuan worker`. With `mcp_writes`, `/mcp` has tools that change the
    library, for keys that may.

    `path` is where a proxy shows it, such as `/library`. Of the proxies at the addresses `trusted_proxies`,
    separated by commas, it believes who asks, and whether over TLS. A browser is signed in for `sign_in_days`; each
    address may try `sign_ins_per_minute`. Folders of this machine become sources over HTTP only below `folders`, and
    backups are written into `backups`; several folders are separated by colons.
    """

    host: str = "127.0.0.1"
    port: int = 8420
    threads: int = 0
    waiting: int = 64
    connections: int = 1000
    request_seconds: float = 60.0
    head_seconds: float = 10.0
    send_seconds: float = 60.0
    body_bytes: int = 4 << 20
    body_seconds: float = 30.0
    requests_per_minute: int = 0
    streams: int = 100
    heartbeat_seconds: float = 15.0
    stop_seconds: float = 10.0
    allowed_hosts: str = ""
    works: bool = True
    mcp_writes: bool = False
    path: str = ""
    trusted_proxies: str = ""
    sign_in_days: float = 14.0
    sign_ins_per_minute: int = 10
    folders: str = ""
    backups: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    defaults: DefaultSettings = field(default_factory=DefaultSettings)
    roles: RoleSettings = field(default_factory=RoleSettings)
    limits: ReadLimits = field(default_factory=ReadLimits)
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    fetch: FetchSettings = field(default_factory=FetchSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    readers: Mapping[str, ReaderSettings] = field(default_factory=dict)
    bots: Mapping[str, BotSettings] = field(default_factory=dict)


_SECTIONS = (
    *("defaults", "roles", "limits", "reading", "search", "answer", "worker", "retention"),
    *("sessions", "fetch", "watch", "server"),
)


def load_settings(library: Path, environment: Mapping[str, str]) -> Settings:
    """Read a library's settings. Raises `ConfigurationInvalid`, naming the setting and its source."""
    file = library / FILE_NAME
    settings = _with_file(_built_in(), _stored(file), str(file))
    return _with_default_model(_with_environment(settings, environment))


def examine_settings(
    library: Path, environment: Mapping[str, str]
) -> tuple[Settings, tuple[ConfigurationInvalid, ...]]:
    """A library's settings as far as they can be used, and everything that is wrong with the others."""
    file = library / FILE_NAME
    settings, wrong = _built_in(), []
    stored: Mapping[str, Any] = {}
    try:
        stored = _stored(file)
    except ConfigurationInvalid as error:
        wrong.append(error)
    changes: list[Callable[[Settings], Settings]] = [
        partial(_with_file, stored=piece, source=str(file)) for piece in _pieces(stored)
    ]
    changes += [partial(_with_environment, environment={variable: value}) for variable, value in environment.items()]
    for change in changes:
        try:
            settings = change(settings)
        except ConfigurationInvalid as error:
            wrong.append(error)
    return _with_default_model(settings), tuple(wrong)


def _with_default_model(settings: Settings) -> Settings:
    """The role, which is newer, outranks the default that says the same."""
    if not settings.roles.embedding:
        return settings
    return replace(settings, defaults=replace(settings.defaults, embedding_model=settings.roles.embedding))


def _stored(file: Path) -> Mapping[str, Any]:
    if not file.exists():
        return {}
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigurationInvalid(setting="file", source=file, reason=str(error)) from error


def _pieces(stored: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a file says, one setting at a time."""
    for name, values in stored.items():
        if isinstance(values, Mapping):
            yield from ({name: {key: value}} for key, value in values.items())
        else:
            yield {name: values}


def _built_in() -> Settings:
    # It computes on this machine: that it takes long means that the machine is slow or busy, not that it hangs.
    model = ModelSettings(BUILT_IN_MODEL, "built-in", "multilingual-e5-small", sentences=True, timeout_seconds=600.0)
    return Settings(models={BUILT_IN_MODEL: model})


def _with_file(settings: Settings, stored: Mapping[str, Any], source: str) -> Settings:
    for name, values in stored.items():
        if name == "models" and isinstance(values, Mapping):
            models = {**settings.models, **{key: _model(key, value, source) for key, value in values.items()}}
            settings = replace(settings, models=models)
        elif name == "readers" and isinstance(values, Mapping):
            readers = {**settings.readers, **{key: _reader(key, value, source) for key, value in values.items()}}
            settings = replace(settings, readers=readers)
        elif name == "bots" and isinstance(values, Mapping):
            bots = {key: _described(BotSettings, "bots", key, value, source) for key, value in values.items()}
            settings = replace(settings, bots={**settings.bots, **bots})
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
        if value not in _CHOICES.get(setting, (value,)):
            choices = ", ".join(_CHOICES[setting])
            raise ConfigurationInvalid(setting=setting, source=source, reason=f"{value!r} is none of: {choices}")
        return value
    try:
        if kind is bool:
            return value if isinstance(value, bool) else _SWITCHES[str(value).lower()]
        if kind is str or isinstance(value, bool):
            raise TypeError
        # TOML knows the kinds of its values; the environment gives text alone.
        converted = int(value) if kind is int else float(value)
        if kind is int and isinstance(value, float):
            raise TypeError
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ConfigurationInvalid(setting=setting, source=source, reason=f"{value!r} is not {_KINDS[kind]}") from error
    is_within = 0 <= converted <= _AT_MOST.get(setting, sys.float_info.max)
    if not is_within or (converted == 0 and setting not in _MAY_BE_ZERO):
        raise ConfigurationInvalid(setting=setting, source=source, reason=f"{value!r} is out of range")
    return converted


_CHOICES = {"reading.ocr": OCR_CHOICES}
_AT_MOST = {"answer.key_share": 1.0}
_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
# The environment gives text alone.
_SWITCHES = {"true": True, "1": True, "false": False, "0": False}
# A zero limit or lease would stop all work; an overlap or a retention of nothing makes sense.
_MAY_BE_ZERO = frozenset(
    (
        "answer.history_turns",
        "answer.resume_seconds",
        "answer.rounds",
        "defaults.chunk_overlap_columns",
        "worker.replace_wait_seconds",
        "retention.job_days",
        "retention.retired_index_days",
        "retention.superseded_days",
        "retention.trace_days",
        "search.rerank_threshold",
        "search.rerank_top_n",
        "server.requests_per_minute",
        "server.threads",
    )
)


def _model(name: str, values: Any, source: str) -> ModelSettings:
    try:
        complete = with_preset(values) if isinstance(values, Mapping) else values
    except (TypeError, ValueError) as error:
        raise ConfigurationInvalid(setting=f"models.{name}", source=source, reason=str(error)) from error
    if isinstance(complete, Mapping) and complete.get("protocol") == "built-in":
        complete = {"sentences": True, **complete}
    return _described(ModelSettings, "models", name, complete, source)


def _reader(name: str, values: Any, source: str) -> ReaderSettings:
    return _described(ReaderSettings, "readers", name, values, source)


def _described(kind: type[Described], section: str, name: str, values: Any, source: str) -> Described:
    """What a table of a section says of the model or reader that it is named for."""
    setting = f"{section}.{name}"
    if not isinstance(values, Mapping):
        raise ConfigurationInvalid(setting=setting, source=source, reason="a table is expected")
    known = {item.name for item in fields(kind)} - {"name"}
    for key in values:
        if key not in known:
            raise ConfigurationInvalid(setting=f"{setting}.{key}", source=source, reason="there is no such setting")
    if missing := [key for key in known if _is_required(kind, key) and key not in values]:
        reason = f"{' and '.join(sorted(missing))} must be given"
        raise ConfigurationInvalid(setting=setting, source=source, reason=reason)
    try:
        return kind(name=name, **values)
    except (TypeError, ValueError) as error:
        raise ConfigurationInvalid(setting=setting, source=source, reason=str(error)) from error


def _is_required(kind: type[Described], key: str) -> bool:
    item = next(one for one in fields(kind) if one.name == key)
    return item.default is MISSING and item.default_factory is MISSING
