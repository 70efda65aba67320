"""Looking after a library: does everything hold, and is everything there that it needs?"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import resource
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from wenyuan.config import FILE_NAME, Settings
from wenyuan.errors import BuiltInModelMissing, ConfigurationError, StorageError
from wenyuan.flows.embed import fingerprint
from wenyuan.flows.reread import count_behind, forgotten_rereading
from wenyuan.providers.e5.convert import is_converted
from wenyuan.providers.e5.weights import find_weights
from wenyuan.providers.keys import resolve_key
from wenyuan.providers.settings import EmbeddingModelSettings
from wenyuan.runtime.models import Models, cache_directory
from wenyuan.store import indexes, journal, knowledge_bases, queue
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.checking import check_library
from wenyuan.store.checking.invariants import DATABASE_SOUND
from wenyuan.store.database import Database, Reading
from wenyuan.store.sqlite import SqliteDatabase
from wenyuan.types import LOCAL_PRINCIPAL, KnowledgeBase, Scope

Severity = Literal["ok", "warning", "error"]

_LITTLE_SPACE, _NO_SPACE = 1 << 30, 64 << 20
_SECTIONS = ("defaults", "limits", "search", "worker", "retention")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it where something is wrong."""

    code: str
    severity: Severity
    message: str
    hint: str = ""


def check(database: SqliteDatabase, blobs: BlobDirectory) -> list[Finding]:
    """Every invariant of a library that does not hold; nothing is changed."""
    violations = [Finding(one.code, one.severity, one.message, one.hint) for one in check_library(database, blobs)]
    damaged = any(one.code == DATABASE_SOUND.code for one in violations)
    return violations if damaged else [*violations, *_behind(database, forgotten_rereading)]


def doctor(path: Path, settings: Settings, database: SqliteDatabase, models: Models) -> list[Finding]:
    """What the library runs on and with; calls no model and no network."""
    return [
        _program(),
        _database(database),
        *_libraries(),
        _folder(path),
        _space(path),
        *_settings(path, settings),
        *_models(settings, database, models),
        _memory(settings),
        *_work(database),
        *_behind(database, count_behind),
        _traces(database),
    ]


# --- The machine ---------------------------------------------------------------------------------


def _program() -> Finding:
    version = importlib.metadata.version("wenyuan")
    return Finding("program", "ok", f"Wenyuan {version}, Python {platform.python_version()}, {platform.platform()}.")


def _database(database: SqliteDatabase) -> Finding:
    version = database.version()
    if "without" in version:
        return Finding("sqlite", "error", f"SQLite is {version}.", "Install the apsw of PyPI, which has it.")
    return Finding("sqlite", "ok", f"SQLite {version}.")


def _libraries() -> Iterator[Finding]:
    installed = []
    for name in _required():
        try:
            installed.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            yield Finding("library-missing", "error", f"The package {name} is missing.", "Install Wenyuan again.")
    yield Finding("libraries", "ok", f"{', '.join(installed)}.")


def _required() -> list[str]:
    """Names of the packages that Wenyuan always needs: those without a condition."""
    wanted = importlib.metadata.requires("wenyuan") or []
    return sorted(re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in wanted if ";" not in one)


def _folder(path: Path) -> Finding:
    closed = [one for one in (path, *path.glob("*.db*"), path / "blobs") if not os.access(one, os.W_OK)]
    if closed:
        hint = "Check the owner and permissions of the folder, and that its disk is not read-only."
        return Finding("folder-read-only", "error", f"{closed[0]} cannot be written.", hint)
    return Finding("folder", "ok", f"The library is in {path}.")


def _space(path: Path) -> Finding:
    free = shutil.disk_usage(path).free
    severity: Severity = "error" if free < _NO_SPACE else "warning" if free < _LITTLE_SPACE else "ok"
    hint = "" if severity == "ok" else "Free some space: what cannot be written waits."
    return Finding("disk-space", severity, f"The disk has {_size(free)} free.", hint)


def _memory(settings: Settings) -> Finding:
    wanted = settings.limits.parse_memory_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if hard != resource.RLIM_INFINITY and hard < wanted:
        message = f"Reading a file may use {_size(wanted)} of memory, but the system allows {_size(hard)}."
        return Finding("memory-limit", "warning", message, "Raise `ulimit -v`, or lower `limits.parse_memory_bytes`.")
    if wanted > physical:
        message = f"Reading a file may use {_size(wanted)} of memory; the machine has {_size(physical)}."
        return Finding("memory-limit", "warning", message, "Lower `limits.parse_memory_bytes` in wenyuan.toml.")
    return Finding("memory-limit", "ok", f"Reading a file may use {_size(wanted)} of {_size(physical)} of memory.")


def _size(count: int) -> str:
    return f"{count / (1 << 30):.1f} GB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MB"


# --- The settings --------------------------------------------------------------------------------


def _settings(path: Path, settings: Settings) -> Iterator[Finding]:
    stored = _stored(path / FILE_NAME)
    for section in _SECTIONS:
        values = getattr(settings, section)
        told = (
            f"{one.name} = {getattr(values, one.name)!r}{_source(section, one.name, stored)}" for one in fields(values)
        )
        yield Finding("settings", "ok", f"{section}: {', '.join(told)}.")


def _stored(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The settings in use were read from it when the library was opened; it was changed since.
        return {}


def _source(section: str, key: str, stored: Mapping[str, Any]) -> str:
    variable = f"WENYUAN_{section}_{key}".upper()
    if variable in os.environ:
        return f" (from {variable})"
    return f" (from {FILE_NAME})" if key in stored.get(section, {}) else ""


# --- The models ----------------------------------------------------------------------------------


def _models(settings: Settings, database: Database, models: Models) -> Iterator[Finding]:
    with database.read() as tx:
        bases = knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL))
    used = {base.embedding_model for base in bases if base.embedding_model}
    for name, model in sorted(settings.models.items()):
        found = _built_in(model) if model.protocol == "built-in" else _remote(model)
        # What nobody uses may be wrong.
        yield (
            found
            if name in used or found.severity == "ok"
            else Finding(found.code, "warning", found.message, found.hint)
        )
    for base in bases:
        if base.embedding_model:
            yield from _index(base, database, models)


def _built_in(model: EmbeddingModelSettings) -> Finding:
    try:
        find_weights()
    except BuiltInModelMissing as error:
        return Finding(error.code, "error", error.message, error.advice)
    state = "is ready" if is_converted(cache_directory()) else "will be made ready when it is first used (seconds)"
    return Finding("model", "ok", f"The built-in model {model.name} {state}, in {cache_directory()}.")


def _remote(model: EmbeddingModelSettings) -> Finding:
    try:
        resolve_key(model.key, model.name)
    except ConfigurationError as error:
        return Finding(error.code, "error", error.message, error.advice)
    key = f"the key {model.key}" if model.key else "no key"
    return Finding(
        "model", "ok", f"The model {model.name} is {model.model} at {model.base_url}, with {key}; not called."
    )


def _index(base: KnowledgeBase, database: Database, models: Models) -> Iterator[Finding]:
    """Whether the model that a knowledge base names is there, and is the one its vectors were made with."""
    try:
        identity = models.embedder(base.embedding_model).identity
    except ConfigurationError as error:
        yield Finding(error.code, "error", f"{base.name}: {error.message}", error.advice)
        return
    with database.read() as tx:
        generation = indexes.active(tx, base.id, "vector")
    if generation is not None and generation.fingerprint != fingerprint(identity):
        message = f"The vectors of {base.name} were made with another model than {base.embedding_model} is now."
        hint = "Configure the model they were made with; keyword search goes on meanwhile."
        yield Finding("index-incompatible", "error", message, hint)


# --- The work ------------------------------------------------------------------------------------


def _work(database: Database) -> Iterator[Finding]:
    with database.read() as tx:
        counts = queue.counts(tx)
        workers = queue.workers_at_work(tx)
        bases = knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL))
        failed = {base.name: knowledge_bases.document_counts(tx, base.id).get("failed", 0) for base in bases}
    by_state = {
        state: sum(n for (_, one), n in counts.items() if one == state) for state in ("queued", "running", "waiting")
    }
    told = ", ".join(f"{number} {state}" for state, number in by_state.items())
    at_work = f" At work: {', '.join(workers)}." if workers else ""
    waiting = by_state["waiting"] > 0
    hint = "`wenyuan jobs list` says what they wait for." if waiting else ""
    yield Finding("jobs", "warning" if waiting else "ok", f"Jobs: {told}.{at_work}", hint)
    for name, number in failed.items():
        if number:
            message = f"{number} documents of {name} could not be read."
            yield Finding("documents-failed", "warning", message, f"`wenyuan docs list --kb {name}` says why.")


def _behind(database: Database, count: Callable[[Reading, str], int]) -> Iterator[Finding]:
    """Documents that were read by other rules than today's, as `count` counts them."""
    with database.read() as tx:
        behind = {base.name: count(tx, base.id) for base in knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL))}
    for name, number in behind.items():
        if number:
            message = f"{number} documents of {name} were read by older rules; they are found by those."
            hint = f"The next worker reads them again; `wenyuan kb refresh-aliases {name}` does so now."
            yield Finding("rules-behind", "warning", message, hint)


def _traces(database: Database) -> Finding:
    try:
        with database.traces.read() as tx:
            count = journal.count(tx)
    except StorageError as error:
        return Finding("traces", "warning", f"Searches go on without traces. {error.message}", error.advice)
    return Finding("traces", "ok", f"The traces of {count} searches are kept.")
