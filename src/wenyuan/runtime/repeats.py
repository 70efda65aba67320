"""Requests that may be sent again when nobody knows whether they arrived: done once, answered every time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from wenyuan.errors import RepeatDiffers, RepeatTooEarly
from wenyuan.identifiers import new_id
from wenyuan.store import repeatable_requests
from wenyuan.store.database import Database

_KEPT_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a request was answered with."""

    status: int
    location: str
    body: str


class Repeats:
    """Remembers for a day what was asked for under which key, and what it was answered."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._server = new_id("server")

    def once(self, key_id: str, repeat_key: str, request: bytes, do: Callable[[], Outcome]) -> Outcome:
        """Do what is asked, or repeat what it was answered when it was first done.

        One that failed may be made again. One that was cut short with its process is done again, which what
        is stored under a name of its own bears. Raises `RepeatDiffers` where the key was used for another
        request, `RepeatTooEarly` where the first is still being done, and what `do` raises.
        """
        digest = hashlib.sha256(request).hexdigest()
        known = self._begin(key_id, repeat_key, digest)
        if known is not None:
            return known
        is_done = False
        try:
            outcome = do()
            is_done = True
        finally:
            if not is_done:
                with self._database.write() as tx:
                    repeatable_requests.give_up(tx, key_id, repeat_key)
        with self._database.write() as tx:
            repeatable_requests.finish(tx, key_id, repeat_key, outcome.status, outcome.location, outcome.body)
        return outcome

    def _begin(self, key_id: str, repeat_key: str, digest: str) -> Outcome | None:
        with self._database.write() as tx:
            repeatable_requests.forget(tx, tx.now - _KEPT_MS)
            known = repeatable_requests.find(tx, key_id, repeat_key)
            if known is not None:
                if known.digest != digest:
                    raise RepeatDiffers(key=repeat_key)
                if known.status:
                    return Outcome(known.status, known.location, known.body)
                if known.server == self._server:
                    raise RepeatTooEarly(key=repeat_key)
            repeatable_requests.begin(tx, key_id, repeat_key, digest, self._server)
        return None
