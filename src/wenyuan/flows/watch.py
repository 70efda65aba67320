"""Folders are followed: what changes in them is brought in soon after it has come to rest.

Events of the file system only say where to look, and when; a pass over a folder finds out what is
there. Events can be lost (a queue that overflows, a network share, a folder made while it was being
filled), so that every folder is looked through as a whole now and then.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wenyuan.errors import KnowledgeBaseArchived, StorageError, WatchImpossible, WatchLimitReached
from wenyuan.flows.file_paths import openable, readable
from wenyuan.flows.gather import IGNORE_FILE, is_excluded_name
from wenyuan.store.sources import Source
from wenyuan.types import Problem

_LOG = logging.getLogger("wenyuan.watch")
_TICK_SECONDS = 0.1
_STEP_MS, _TOGETHER_MS, _LOOK_UP_MS = 50, 200, 500
_MOST_PLACES = 2000
_LIMIT = "watch limit"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds.

    A burst of changes is taken in when it has been `quiet` for so long, what has come to rest of it
    after `longest_burst`, and after `longest` even what goes on changing. Folders are looked through
    as a whole every `resync`, those that cannot be watched every `unwatched`; every `refresh` it is
    asked which folders there are.
    """

    quiet: float = 1.0
    longest_burst: float = 10.0
    longest: float = 60.0
    resync: float = 600.0
    unwatched: float = 60.0
    refresh: float = 2.0


@dataclass(slots=True)
class _Touched:
    first: float
    last: float


@dataclass(slots=True)
class _Followed:
    """One folder that is followed. `touched` are paths relative to it, with when events spoke of them."""

    source: Source
    watcher: _Watcher
    touched: dict[str, _Touched] = field(default_factory=dict)
    next_pass: float = 0.0

    def note(self, now: float) -> None:
        """Take over what the watcher has seen."""
        for path in self.watcher.seen():
            known = self.touched.get(path)
            if known is None:
                self.touched[path] = _Touched(now, now)
            else:
                known.last = now

    def rested(self, now: float, patience: Patience) -> list[str]:
        """The paths that can be looked at now; they are forgotten."""
        if not self.touched:
            return []
        at_rest = [path for path, when in self.touched.items() if now - when.last >= patience.quiet]
        if len(at_rest) < len(self.touched):
            oldest = min(when.first for when in self.touched.values())
            # A file that is renamed and written on must not be seen to be gone before it is seen to be there.
            if now - oldest < patience.longest_burst:
                return []
            at_rest += [path for path, when in self.touched.items() if now - when.first >= patience.longest]
        for path in set(at_rest):
            del self.touched[path]
        return sorted(set(at_rest))


class Following:
    """Follows folders until it is asked to stop.

    `sources` tells which, `bring_in` makes a pass over one, within the given paths, and returns why
    the folder cannot be followed, if so; `tell` records a problem that the watching itself has.
    """

    def __init__(
        self,
        sources: Callable[[], Sequence[Source]],
        bring_in: Callable[[Source, Sequence[str]], Problem | None],
        tell: Callable[[Source, Problem], None],
        library: str,
        patience: Patience,
        stopping: threading.Event,
    ) -> None:
        self._sources = sources
        self._bring_in = bring_in
        self._tell = tell
        self._library = library
        self._patience = patience
        self._stopping = stopping
        self._followed: dict[str, _Followed] = {}

    def run(self) -> None:
        """Follow until stopped. What goes wrong with the library is waited out."""
        next_refresh = 0.0
        try:
            while not self._stopping.is_set():
                now = time.monotonic()
                try:
                    if now >= next_refresh:
                        self._refresh()
                        next_refresh = time.monotonic() + self._patience.refresh
                    for one in self._followed.values():
                        self._advance(one)
                except StorageError as error:
                    _LOG.warning("%s %s", error.message, error.advice)
                    self._stopping.wait(self._patience.refresh)
                self._stopping.wait(_TICK_SECONDS)
        finally:
            for one in self._followed.values():
                one.watcher.stop()

    def _refresh(self) -> None:
        wanted = {one.id: one for one in self._sources()}
        for source_id in [one for one in self._followed if one not in wanted]:
            self._followed.pop(source_id).watcher.stop()
        for source_id, source in wanted.items():
            known = self._followed.get(source_id)
            if known is not None:
                known.source = source
                if known.watcher.is_current():
                    continue
                # The folder was replaced, or is there again: what was watched is another one.
                known.watcher.stop()
            self._followed[source_id] = _Followed(source, self._watcher(source))

    def _watcher(self, source: Source) -> _Watcher:
        watcher = _Watcher(openable(source.location), self._library)
        watcher.start()
        return watcher

    def _advance(self, one: _Followed) -> None:
        now = time.monotonic()
        one.note(now)
        if now >= one.next_pass and one.watcher.is_settled:
            self._pass(one, [""])
            interval = self._patience.resync if one.watcher.failure is None else self._patience.unwatched
            one.next_pass = time.monotonic() + interval
        elif places := one.rested(now, self._patience):
            self._pass(one, places if len(places) <= _MOST_PLACES else [""])

    def _pass(self, one: _Followed, places: Sequence[str]) -> None:
        try:
            problem = self._bring_in(one.source, places)
        except KnowledgeBaseArchived as error:
            _LOG.info("%s", error.message)
            return
        except StorageError:
            for place in places:
                one.touched.setdefault(place, _Touched(time.monotonic(), time.monotonic()))
            raise
        failure = one.watcher.failure
        if problem is None and failure is not None and "" in places and one.watcher.is_current():
            kind = WatchLimitReached if _LIMIT in failure else WatchImpossible
            seconds = f"{self._patience.unwatched:g}"
            path = readable(openable(one.source.location))
            self._tell(one.source, kind(path=path, seconds=seconds, reason=failure).problem("watching"))


class _Watcher:
    """Collects, in a thread of its own, the paths in one folder at which something happened."""

    def __init__(self, root: str, library: str) -> None:
        self._root = root
        # The library may lie in the folder, and is written to by everything that is done about the folder.
        self._library = os.path.relpath(os.path.realpath(library), os.path.realpath(root))
        self._identity = _identity(root)
        self._seen: queue.SimpleQueue[set[str]] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self.failure: str | None = None
        """Why the folder cannot be watched; None while it is."""
        self.is_settled = False
        """Whether events are collected by now, or it is known that they cannot be."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    def is_current(self) -> bool:
        """Whether the folder is still the one that was there when this began."""
        return self._identity == _identity(self._root)

    def seen(self) -> set[str]:
        """The paths, relative to the folder, of which events spoke since this was last asked."""
        paths: set[str] = set()
        while True:
            try:
                paths |= self._seen.get_nowait()
            except queue.Empty:
                return paths

    def _run(self) -> None:
        try:
            self._watch()
        except ImportError as error:
            self.failure = f"{error.name} is not installed here"
        except (OSError, RuntimeError) as error:
            self.failure = str(error) or type(error).__name__
        finally:
            self.is_settled = True

    def _watch(self) -> None:
        # A part of it is compiled for each platform, and not for every one.
        import watchfiles

        changes = watchfiles.watch(
            self._root,
            watch_filter=None,
            step=_STEP_MS,
            debounce=_TOGETHER_MS,
            rust_timeout=_LOOK_UP_MS,
            yield_on_timeout=True,
            stop_event=self._stopping,
            raise_interrupt=False,
            # If set, it hides that the limit of watches is reached as well.
            ignore_permission_denied=False,
        )
        for batch in changes:
            self.is_settled = True
            if paths := {place for _, path in batch if (place := self._place(path)) is not None}:
                self._seen.put(paths)

    def _place(self, path: str) -> str | None:
        """Where to look for what happened at a path; None where nothing that happens is of interest."""
        relative = os.path.relpath(path, self._root)
        if relative == os.curdir:
            return ""
        if relative == self._library or relative.startswith(f"{self._library}/"):
            return None
        *folders, name = relative.split("/")
        if name == IGNORE_FILE:
            # It decides about everything beside and below it.
            relative, name = "/".join(folders), ""
        return None if any(is_excluded_name(one) for one in (*folders, name)) else relative


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
