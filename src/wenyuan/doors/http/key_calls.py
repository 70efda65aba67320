"""Requests of programs that are known by their key alone: no cookie lets a page in here."""

from __future__ import annotations

from fastapi import Request

from wenyuan.doors.http.call import Call, paced_as
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
    house.pace.take(paced_as(request, secret if is_keyed else ""))
    return Call(request, secret if is_keyed else None)
