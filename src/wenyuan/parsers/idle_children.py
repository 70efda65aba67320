"""Child processes that wait for their next file, kept while anybody may have one.

Starting a child takes a fifth of a second of a processor, which is more than reading most files. So
whoever is done with a healthy one leaves it here, and the next who needs the same kind takes it.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class Idle(Protocol):
    @property
    def is_usable(self) -> bool:
        """Whether it lives and waits for a file."""

    def close(self) -> None:
        """End it."""


Child = TypeVar("Child", bound=Idle)


class IdleChildren(Generic[Child]):
    """At most so many, the longest idle ended first; threads may share it. Empty while nobody holds it."""

    def __init__(self, most: int = 2) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._holders = 0
        self._waiting: list[tuple[Hashable, Child]] = []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Children may wait here for as long as the context lasts."""
        with self._lock:
            self._holders += 1
        try:
            yield
        finally:
            self._release()

    def _release(self) -> None:
        with self._lock:
            self._holders -= 1
            ended, self._waiting = ([], self._waiting) if self._holders else (self._waiting, [])
        for _, child in ended:
            child.close()

    def take(self, kind: Hashable) -> Child | None:
        """A usable child of this kind, which is the caller's from now on."""
        while (child := self._taken(kind)) is not None:
            if child.is_usable:
                return child
            child.close()
        return None

    def _taken(self, kind: Hashable) -> Child | None:
        with self._lock:
            for place, (its_kind, child) in enumerate(self._waiting):
                if its_kind == kind:
                    del self._waiting[place]
                    return child
        return None

    def give(self, kind: Hashable, child: Child) -> None:
        """Leave a child here, or end it where it is unusable or nobody would have it."""
        is_usable = child.is_usable
        with self._lock:
            if is_usable and self._holders:
                self._waiting.append((kind, child))
                ended = self._waiting[: -self._most]
                del self._waiting[: -self._most]
            else:
                ended = [(kind, child)]
        for _, one in ended:
            one.close()
