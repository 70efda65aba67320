"""Paths as text: to be shown and searched by, and to be stored and opened again."""

from __future__ import annotations

import os
from pathlib import Path

_IN_BYTES = "bytes:"


def readable(path: str | Path) -> str:
    """A path as text for people, and the source of its document: names from old archives are often in

    GB18030, and some in no encoding at all. Two names may look alike.
    """
    raw = os.fsencode(path)
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "backslashreplace")


def storable(path: str) -> str:
    """A path as a database can hold it: itself, or its bytes in hexadecimal where they are not UTF-8."""
    if path.isascii() and not path.startswith(_IN_BYTES):
        return path
    raw = os.fsencode(path)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return _IN_BYTES + raw.hex()
    return _IN_BYTES + raw.hex() if text.startswith(_IN_BYTES) else text


def openable(stored: str) -> str:
    """The path that `storable` was given."""
    return os.fsdecode(bytes.fromhex(stored.removeprefix(_IN_BYTES))) if stored.startswith(_IN_BYTES) else stored
