"""Identifiers that exist before anything is stored, sortable by the time they were made."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(kind: str) -> str:
    """A new identifier such as `doc_01k9...`: 48 bits of milliseconds, then 80 random bits.

    The layout is that of a ULID (Crockford base 32), in lower case behind the name of its kind.
    """
    return identifier(kind, time.time_ns() // 1_000_000, secrets.randbits(80))


def identifier(kind: str, milliseconds: int, randomness: int) -> str:
    number = (milliseconds & ((1 << 48) - 1)) << 80 | randomness & ((1 << 80) - 1)
    digits = "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
    return f"{kind}_{digits}"
