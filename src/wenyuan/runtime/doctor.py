"""What a library runs on and with, and what is wrong with it; looked at even where it cannot be opened."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import resource
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from wenyuan.config import FILE_NAME, Settings, examine_settings
from wenyuan.errors import (
    BuiltInModelMissing,
    ConfigurationError,
    IndexIncompatible,
    LibraryNotFound,
    StorageError,
    WenyuanError,
)
from wenyuan.flows.embed import fingerprint
from wenyuan.flows.reread import count_behind
from wenyuan.parsers.pictures.recognition import is_installed
from wenyuan.providers.e5.convert import is_converted
from wenyuan.providers.e5.weights import find_weights
from wenyuan.providers.keys import resolve_key
from wenyuan.providers.readers.settings import ReaderSettings
from wenyuan.providers.settings import ROLE_TYPES, ModelSettings, Role
from wenyuan.runtime.models import PURPOSES, Models, cache_directory
from wenyuan.runtime.rebuild_views import latest_rebuild
from wenyuan.runtime.storage import storage_of
from wenyuan.runtime.upkeep import Finding, Severity, behind
from wenyuan.store import indexes, journal, knowledge_bases, migrate, queue, vectors
from wenyuan.store.database import Database, LibraryDatabase
from wenyuan.store.opening import is_address, open_postgres
from wenyuan.store.replica import ReplicaFirst
from wenyuan.store.sqlite import sqlite_version
from wenyuan.types import LOCAL_PRINCIPAL, KnowledgeBase, Scope

_LITTLE_SPACE, _NO_SPACE = 1 << 30, 64 << 20
_SECTIONS = ("defaults", "roles", "limits", "reading", "search", "worker", "retention", "sessions")


def examine(
    path: str | os.PathLike[str],
    environment: Mapping[str, str] | None = None,
    *,
    blobs: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> list[Finding]:
    """The same as `Library.doctor`, where the library cannot be opened as well: of that the reasons are told."""
    if is_address(path):
        environment = os.environ if environment is None else environment
        folder = storage_of(str(path), blobs or os.curdir, home, environment).home
        return _examine_address(str(path), folder, environment)
    folder = Path(path).expanduser().absolute()
    settings, wrong = examine_settings(folder, os.environ if environment is None else environment)
    told = [_error(error) for error in wrong]
    if not (folder / "wenyuan.db").exists():
        return [*told, _error(LibraryNotFound(path=folder)), *_machine(), _memory(settings), _recognition(settings)]
    try:
        database = migrate.open_database(folder, settings.worker.lock_seconds)
        try:
            return [*told, *doctor(folder, settings, database, Models(settings))]
        finally:
            database.close()
    except WenyuanError as error:
        machine = [*_machine(), _folder(folder), _space(folder), *_settings(folder, settings), _memory(settings)]
        return [*told, _error(error), *machine]


def _examine_address(address: str, folder: Path, environment: Mapping[str, str] | None) -> list[Finding]:
    settings, wrong = examine_settings(folder, os.environ if environment is None else environment)
    told = [_error(error) for error in wrong]
    try:
        database = open_postgres(address, settings.worker.lock_seconds, create=False)
    except WenyuanError as error:
        return [*told, _error(error), *_machine(), _memory(settings)]
    try:
        return [*told, *doctor(folder, settings, database, Models(settings))]
    finally:
        database.close()


def doctor(path: Path, settings: Settings, database: LibraryDatabase, models: Models) -> list[Finding]:
    """What the library runs on and with; calls no model and no network."""
    return [
        *_machine(),
        _folder(path),
        _space(path),
        *_settings(path, settings),
        *_models(settings, database, models),
        *map(_remote_reader, settings.readers.values()),
        _memory(settings),
        _recognition(settings),
        *_work(database),
        *behind(database, count_behind),
        _traces(database),
    ]


def _error(error: WenyuanError) -> Finding:
    return Finding(error.code, "error", error.message, error.advice)


# --- The machine ---------------------------------------------------------------------------------


def told_of_replica(reading: ReplicaFirst) -> list[Finding]:
    """Whether the copy that searches read answers, where there is one."""
    if not reading.is_there:
        return []
    failure = reading.failure()
    if failure is None:
        return [Finding("replica", "ok", "Searches are read from the replica.")]
    return [Finding("replica", "warning", f"Searches are read without the replica: {failure.message}", failure.advice)]


def _machine() -> Iterator[Finding]:
    yield _program()
    yield _database()
    yield from _libraries()


def _program() -> Finding:
    version = importlib.metadata.version("wenyuan")
    return Finding("program", "ok", f"Wenyuan {version}, Python {platform.python_version()}, {platform.platform()}.")


def _database() -> Finding:
    version = sqlite_version()
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


def _recognition(settings: Settings) -> Finding:
    if settings.reading.ocr == "off":
        return Finding("recognition", "ok", "Text in pictures and scans is not recognised: `reading.ocr` is off.")
    if not is_installed():
        hint = "`pip install 'wenyuan[ocr]'` brings what it needs."
        return Finding("recognition", "ok", "Text in pictures and scans is not recognised.", hint)
    return Finding("recognition", "ok", "Text in pictures and scans is recognised.")


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
    for role in ROLE_TYPES:
        if name := models.role(role):
            used.add(name)
            yield from _role(role, name, models)
    for name, model in sorted(settings.models.items()):
        found = _built_in(model) if model.protocol == "built-in" else _described(model, models)
        # What nobody uses may be wrong.
        yield (
            found
            if name in used or found.severity == "ok"
            else Finding(found.code, "warning", found.message, found.hint)
        )
    for base in bases:
        if base.embedding_model:
            yield from _index(base, database, models)
        yield from _rebuild(base, database)


def _built_in(model: ModelSettings) -> Finding:
    try:
        find_weights()
    except BuiltInModelMissing as error:
        return Finding(error.code, "error", error.message, error.advice)
    state = "is ready" if is_converted(cache_directory()) else "will be made ready when it is first used (seconds)"
    return Finding("model", "ok", f"The built-in model {model.name} {state}, in {cache_directory()}.")


def _role(role: Role, name: str, models: Models) -> Iterator[Finding]:
    """Whether the model that a role was given to is there, and is of the type that the role takes."""
    try:
        models.check(name, ROLE_TYPES[role])
    except ConfigurationError as error:
        hint = f"`wenyuan models assign {role}` with another one, or none. {error.advice}"
        yield Finding(error.code, "error", f"The role {role}: {error.message}", hint)


def _described(model: ModelSettings, models: Models) -> Finding:
    try:
        models.check_usable(model.name)
    except ConfigurationError as error:
        return Finding(error.code, "error", error.message, error.advice)
    key = f"the key {model.key}" if model.key else "no key"
    purposes = ", ".join(PURPOSES[one] for one in model.types)
    message = f"The model {model.name}, for {purposes}, is {model.model} at {model.base_url or 'this machine'}"
    hint = f"`wenyuan models test {model.name}` calls it."
    return Finding("model", "ok", f"{message}, with {key}; not called.", hint)


def _remote_reader(reader: ReaderSettings) -> Finding:
    try:
        resolve_key(reader.key, reader.name, "readers")
    except ConfigurationError as error:
        return Finding(error.code, "error", error.message, error.advice)
    key = f"the key {reader.key}" if reader.key else "no key"
    types = ", ".join(reader.types)
    told = (
        f"The remote reader {reader.name} is {reader.kind} at {reader.base_url}, with {key}, for {types}; not called."
    )
    return Finding("remote-reader", "ok", told)


def _index(base: KnowledgeBase, database: Database, models: Models) -> Iterator[Finding]:
    """Whether the model that a knowledge base names is there, and is the one its vectors were made with."""
    with database.read() as tx:
        generation = indexes.active(tx, base.id, "vector")
        lacks_sentences = vectors.lack_sentences(tx, base.id, generation)
    hint = f"`wenyuan kb rebuild {base.name}` makes its vectors with {base.embedding_model}."
    try:
        embedder = models.embedder(base.embedding_model)
        if lacks_sentences and embedder.embeds_sentences:
            message = (
                f"The sentences of some passages of {base.name} have no vectors, so that these are judged as a whole."
            )
            yield Finding("index-without-sentences", "warning", message, hint)
        if generation is not None and generation.fingerprint != fingerprint(embedder.identity):
            made_by = models.model_of(generation)
            message = f"The vectors of {base.name} were made by the model that is now called {made_by}, which answers."
            yield Finding("index-outdated", "warning", message, hint)
    except IndexIncompatible:
        message = f"The vectors of {base.name} were made with another model than {base.embedding_model} is now."
        yield Finding("index-incompatible", "error", message, hint)
    except ConfigurationError as error:
        yield Finding(error.code, "error", f"{base.name}: {error.message}", error.advice)


def _rebuild(base: KnowledgeBase, database: Database) -> Iterator[Finding]:
    """How what is built aside for a knowledge base stands."""
    with database.read() as tx:
        view = latest_rebuild(tx, base.id)
    if view is None or view.rebuild.state not in ("building", "failed"):
        return
    told = f"{view.reached.embedded} of {view.reached.passages} passages embedded"
    if view.rebuild.state == "building":
        yield Finding("rebuild", "ok", f"{base.name} is being rebuilt, {told}; the old index answers meanwhile.")
        return
    reason = view.rebuild.problem.message if view.rebuild.problem is not None else ""
    message = f"The rebuild of {base.name} failed, {told}; the old index goes on answering. {reason}"
    hint = f"`wenyuan kb rebuild {base.name}` goes on; with `--cancel` it is given up."
    yield Finding("rebuild-failed", "warning", message, hint)


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


def _traces(database: Database) -> Finding:
    try:
        with database.traces.read() as tx:
            count = journal.count(tx)
    except StorageError as error:
        return Finding("traces", "warning", f"Searches go on without traces. {error.message}", error.advice)
    return Finding("traces", "ok", f"The traces of {count} searches are kept.")
