"""What services have in common that are called over HTTP: their addresses, and what they say when they fail."""

from __future__ import annotations

import ipaddress
import json
import urllib.request
from typing import Any, Final
from urllib.parse import urlsplit

from wenyuan.providers.keys import Key

REPEATABLE: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same call may succeed later."""
LARGEST_ERROR_BYTES: Final = 65_536

_LONGEST_EXCERPT = 300


def address_fault(url: str) -> str:
    """Why a service cannot be called at this base address; empty where it can."""
    try:
        address = urlsplit(url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        return "it must begin with http:// or https:// and name a host"
    if address.username or address.password or address.query or address.fragment:
        return "it must hold no user, password, query or fragment; a key belongs into `key`"
    return ""


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def proxy_of(url: str) -> str:
    """The proxy of the environment for an address, or ""; none for this machine, which it could not reach."""
    parts = urlsplit(url)
    if is_loopback(url) or urllib.request.proxy_bypass(parts.netloc):
        return ""
    proxy = urllib.request.getproxies().get(parts.scheme, "")
    return proxy if proxy.startswith(("http://", "https://")) else ""


def excerpt(body: bytes, key: Key | None) -> str:
    """Return the beginning of what a service said, on one line and without the key."""
    text = body[:LARGEST_ERROR_BYTES].decode("utf-8", "replace")
    try:
        message = _message(json.loads(text)) or text
    except (ValueError, RecursionError):
        message = text
    words = " ".join(message.split())
    if key:
        words = key.removed_from(words)
    visible = "".join(character if character.isprintable() else "�" for character in words)
    return visible if len(visible) <= _LONGEST_EXCERPT else visible[:_LONGEST_EXCERPT] + "…"


def _message(said: Any) -> str:
    """The words in an error as services write it: `{"error": {"message": …}}`, `{"detail": …}` and their kin."""
    for name in ("error", "message", "detail"):
        value = said.get(name) if isinstance(said, dict) else None
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value:
            return value
    return ""
