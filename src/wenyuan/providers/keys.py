"""Keys are references until the moment of a call; what they name is never printed, logged or stored."""

from __future__ import annotations

import os
from pathlib import Path

from wenyuan.errors import ConfigurationInvalid, KeyMissing

_LONGEST_KEY = 8_192


def resolve_key(reference: str, provider: str) -> str:
    """Return the key that `env:NAME` or `file:PATH` names, or an empty string for an empty reference.

    Raises `KeyMissing` where there is none, and `ConfigurationInvalid` where there is something
    that cannot be sent as a key.
    """
    if not reference:
        return ""
    kind, _, place = reference.partition(":")
    key = (_read_key_file(place) if kind == "file" else os.environ.get(place, "")).strip()
    if not key:
        raise KeyMissing(provider=provider, reference=reference)
    if len(key) > _LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationInvalid(
            setting=f"models.{provider}.key",
            source=reference,
            reason="what stands there is not a key: a key is one line of visible ASCII characters",
        )
    return key


def _read_key_file(place: str) -> str:
    try:
        with Path(place).expanduser().open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_KEY + 2)
    except OSError:
        return ""
