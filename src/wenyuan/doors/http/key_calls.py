"""Requests of programs that are known by their key alone: no cookie lets a page in here."""

from __future__ import annotations

import hashlib

from fastapi import Request

from wenyuan.doors.http.call import Call, client_of
from wenyuan.doors.http.house import House
from wenyuan.errors import KeyRefused

_NO_KEY = "none"
"""What programs are given that insist on a key, for a library that has none."""


def key_call(request: Request) -> Call:
    """Who makes a request, by its bearer key. Raises `KeyRefused` for another scheme, or `TooManyRequests`."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    secret = given.strip()
    if (scheme or secret) and (scheme.lower() != "bearer" or not secret):
        raise KeyRefused()
    house: House = request.app.state.house
    is_keyed = secret not in ("", _NO_KEY)
    known_by = hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest() if is_keyed else client_of(request)
    house.pace.take(known_by)
    return Call(request, secret if is_keyed else None)
