"""Keys are references until the moment of a call; what they name is never printed, logged or stored."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from wenyuan.errors import ConfigurationInvalid, KeyMissing

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
    """Return the key that `env:NAME` or `file:PATH` names, or None for an empty reference.

    Raises `KeyMissing` where there is none, and `ConfigurationInvalid` where there is something
    that cannot be sent as a key.
    """
    if not reference:
        return None
    kind, _, place = reference.partition(":")
    value = (_read_key_file(place) if kind == "file" else os.environ.get(place, "")).strip()
    if not value:
        raise KeyMissing(provider=provider, reference=reference)
    if len(value) > _LONGEST_KEY or not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigurationInvalid(
            setting=f"{section}.{provider}.key",
            source=reference,
            reason="what stands there is not a key: a key is one line of visible ASCII characters",
        )
    return Key(value)


def _read_key_file(place: str) -> str:
    try:
        with Path(place).expanduser().open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_KEY + 2)
    except OSError:
        return ""
