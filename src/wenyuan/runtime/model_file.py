"""Models in `wenyuan.toml`: a table is added or taken out, and everything else in the file stays as it was written."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wenyuan.config import FILE_NAME, Settings, load_settings
from wenyuan.errors import ConfigurationInvalid, DiskFull, LibraryReadOnly
from wenyuan.providers.settings import Role

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_NEW_MODE = 0o644


def add_model(folder: Path, name: str, values: Mapping[str, Any], roles: Mapping[Role, str]) -> Settings:
    """Describe a model under a name that is free, and give it roles; returns the settings as they are then.

    Nothing is changed where the settings could not be read afterwards. Raises `ConfigurationInvalid`,
    `LibraryReadOnly` or `DiskFull`.
    """

    import tomlkit

    def change(document: TOMLDocument) -> None:
        models = _table(document, "models")
        models[name] = _written(values)
        _set_roles(document, roles)

    return _changed(folder, change, f"[models.{tomlkit.key(name).as_string()}]")


def remove_model(folder: Path, name: str, roles: Mapping[Role, str]) -> Settings:
    """Take a model out, and change roles. Raises as `add_model`."""

    def change(document: TOMLDocument) -> None:
        models = _table(document, "models")
        if name in models:
            del models[name]
        _set_roles(document, roles)

    return _changed(folder, change)


def set_roles(folder: Path, roles: Mapping[Role, str]) -> Settings:
    """Give roles to models; an empty name takes one away. Raises as `add_model`."""
    return _changed(folder, lambda document: _set_roles(document, roles))


def _set_roles(document: TOMLDocument, roles: Mapping[Role, str]) -> None:
    if roles:
        table = _table(document, "roles")
        for role, name in roles.items():
            table[role] = name


def _table(document: TOMLDocument, name: str) -> Any:
    import tomlkit

    if name not in document:
        # A table of tables is written as its parts alone: `[models.x]`, without a `[models]` above.
        document[name] = tomlkit.table(is_super_table=name == "models")
    return document[name]


def _written(values: Mapping[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.table()
    for key, value in values.items():
        if isinstance(value, Mapping):
            inline = tomlkit.inline_table()
            inline.update(value)
            table[key] = inline
        else:
            table[key] = list(value) if isinstance(value, tuple) else value
    return table


def _changed(folder: Path, change: Callable[[TOMLDocument], None], new_header: str = "") -> Settings:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    file = folder / FILE_NAME
    with _alone(folder):
        before = _read(file)
        try:
            document = tomlkit.parse(before)
            change(document)
            after = _set_apart(tomlkit.dumps(document), new_header)
        except (TOMLKitError, TypeError, ValueError) as error:
            raise ConfigurationInvalid(setting="file", source=file, reason=str(error)) from error
        settings = _checked(after)
        if after != before:
            _replace(file, after)
        return settings


def _set_apart(text: str, header: str) -> str:
    """The text with an empty line before a table that was added."""
    before, found, after = text.partition(f"\n{header}")
    return f"{before}\n\n{header}{after}" if header and found and before and not before.endswith("\n") else text


def _checked(text: str) -> Settings:
    """The settings that a text gives, without the environment. Raises `ConfigurationInvalid`."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / FILE_NAME).write_text(text, "utf-8")
        return load_settings(Path(folder), {})


def _read(file: Path) -> str:
    try:
        # Line ends stay as they are.
        with file.open(encoding="utf-8", newline="") as opened:
            return opened.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationInvalid(setting="file", source=file, reason=str(error)) from error


def _replace(file: Path, text: str) -> None:
    """The file as a whole, or as it was: never half of it."""
    target = file.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else _NEW_MODE
    beside = ""
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{FILE_NAME}.", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as written:
            written.write(text)
            written.flush()
            os.fsync(written.fileno())
        Path(beside).chmod(mode)
        Path(beside).replace(target)
    except OSError as error:
        if beside:
            Path(beside).unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(path=target.parent) from error
        raise LibraryReadOnly(path=target, reason=error.strerror or str(error)) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else changes the file meanwhile, in this process or another."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
