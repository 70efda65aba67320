"""Browsers that are signed in: a person gives a key once, and the browser holds a token in its place."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from wenyuan.runtime.access import AccessKeys, Caller, holder_of
from wenyuan.store import access_keys, sign_ins
from wenyuan.store.database import Database

_TOKEN_BYTES = 32
_MOST_PER_KEY = 100
_DAY_MS = 86_400_000
_FOR_WRITING = b"wenyuan: a page of ours sends this"


@dataclass(frozen=True, slots=True)
class SignedIn:
    """`token` is for the browser's cookie alone; `csrf` is what a page of ours sends with what it changes."""

    caller: Caller
    token: str
    csrf: str


class SignIns:
    def __init__(self, database: Database, principal: str, keys: AccessKeys, days: float) -> None:
        self._database = database
        self._principal = principal
        self._keys = keys
        self._lasts_ms = int(days * _DAY_MS)

    def sign_in(self, secret: str) -> SignedIn:
        """Sign a browser in with a key, for so many days or until the key ends. Raises `KeyRefused`."""
        caller = self._keys.caller(secret, needs_key=True)
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with self._database.write() as tx:
            sign_ins.forget_expired(tx)
            sign_ins.keep_newest(tx, caller.key_id, _MOST_PER_KEY - 1)
            sign_ins.add(tx, _digest(token), caller.key_id, tx.now + self._lasts_ms)
        return SignedIn(caller, token, csrf_of(token))

    def caller(self, token: str) -> Caller | None:
        """Who is signed in with this token; None where nobody is, for its time is up or its key was revoked."""
        with self._database.read() as tx:
            key_id = sign_ins.key_of(tx, _digest(token), tx.now)
            key = access_keys.by_id(tx, key_id) if key_id is not None else None
            return holder_of(key, self._principal, tx.now)

    def sign_out(self, token: str) -> None:
        with self._database.write() as tx:
            sign_ins.remove(tx, _digest(token))


def csrf_of(token: str) -> str:
    """What requests that change something must bring besides the cookie.

    Only a page that was told of it has it, and it tells nothing of the token (OWASP, HMAC-based token pattern).
    """
    return hmac.new(token.encode("utf-8", "replace"), _FOR_WRITING, hashlib.sha256).hexdigest()


def is_csrf_of(token: str, given: str) -> bool:
    return hmac.compare_digest(csrf_of(token).encode(), given.encode("utf-8", "replace"))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
