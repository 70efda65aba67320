"""Which part of a file is wanted (RFC 9110, 14.1.2)."""

from __future__ import annotations

import re

from fastapi import Request

from wenyuan.errors import RangeInvalid

_ONE_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*")


def checked_range(request: Request, tag: str, size: int) -> None:
    """Take a Range out of a request that is not to be followed: one that is malformed, of several ranges, or stale.

    Raises `RangeInvalid` for one that lies outside of the file.
    """
    wanted = request.headers.get("range")
    if wanted is None:
        return
    match = _ONE_RANGE.fullmatch(wanted)
    is_fresh = request.headers.get("if-range", tag) == tag
    if match is None or not is_fresh or not (match[1] or match[2]) or _is_backwards(match[1], match[2]):
        request.scope["headers"] = [(name, value) for name, value in request.scope["headers"] if name != b"range"]
        return
    begins_outside = bool(match[1]) and int(match[1]) >= size
    is_empty = not match[1] and int(match[2]) == 0
    if begins_outside or is_empty or size == 0:
        raise RangeInvalid(range=wanted[:100], size=size)


def _is_backwards(first: str, last: str) -> bool:
    return bool(first and last) and int(last) < int(first)
