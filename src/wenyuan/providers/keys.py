"""Keys are references until the moment of a call; what they name is never printed, logged or stored."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wenyuan.errors import ConfigurationInvalid, KeyMissing, PackageMissing

if TYPE_CHECKING:
    import httpx2

_LONGEST_KEY = 8_192


class Key:
    """A key that can be sent and looked for, but that no print, log or traceback shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Key(hidden)"

    def revealed(self) -> str:
        """The key itself, for what has to be computed with it, such as a signature."""
        return self._value

    def authorise(self, request: httpx2.Request) -> httpx2.Request:
        """Add the key to a request, as a bearer token (RFC 6750)."""
        request.headers["Authorization"] = f"Bearer {self._value}"
        return request

    def sent_as(self, header: str) -> Callable[[httpx2.Request], httpx2.Request]:
        """What adds the key to a request under a header of its own."""

        def add(request: httpx2.Request) -> httpx2.Request:
            request.headers[header] = self._value
            return request

        return add

    def removed_from(self, text: str) -> str:
        return text.replace(self._value, "***")


def resolve_key(reference: str, provider: str, section: str = "models") -> Key | None:
    """Return the key that `env:NAME`, `file:PATH` or `keyring:SERVICE/NAME` names, or None for an empty reference.

    Raises `KeyMissing` where there is none, `ConfigurationInvalid` where there is something that cannot be
    sent as a key, and `PackageMissing` where the keyring of the operating system cannot be asked.
    """
    if not reference:
        return None
    kind, _, place = reference.partition(":")
    value = _READ[kind](place).strip()
    if not value:
        raise KeyMissing(provider=provider, reference=reference)
    if len(value) > _LONGEST_KEY or not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigurationInvalid(
            setting=f"{section}.{provider}.key",
            source=reference,
            reason="what stands there is not a key: a key is one line of visible ASCII characters",
        )
    return Key(value)


def _read_keyring(place: str) -> str:
    service, _, name = place.rpartition("/")
    if importlib.util.find_spec("keyring") is None:
        what = f"The key {name} of {service}"
        raise PackageMissing(what=what, package="keyring", install="wenyuan[keyring]")
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(service, name) or ""
    except KeyringError:
        # Locked, or there is none here: the key cannot be had, which is what is told.
        return ""


def _read_key_file(place: str) -> str:
    try:
        with Path(place).expanduser().open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_KEY + 2)
    except OSError:
        return ""


_READ: Mapping[str, Callable[[str], str]] = {
    "env": lambda place: os.environ.get(place, ""),
    "file": _read_key_file,
    "keyring": _read_keyring,
}
