"""What all requests share: the library, the threads that ask it, and how much each caller may ask."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from wenyuan.doors.http.metrics import Metrics
from wenyuan.doors.http.pool import Pool
from wenyuan.doors.http.problems import Worded
from wenyuan.errors import ConfigurationInvalid, ServerBusy, TooManyRequests
from wenyuan.runtime.library import Library
from wenyuan.runtime.running_answers import RunningAnswers

BODY_IS_WHOLE = "wenyuan.body_is_whole"
"""In a request's scope once all of its body has come."""
_MOST_REMEMBERED = 10_000
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_WRITERS, _READERS, _MOST_UPLOADS, _BOTS = 2, 2, 16, 8
_THREADS_THAT_COMPUTE, _THREADS_THAT_ASK_A_DATABASE, _THREADS_THAT_WAIT = 2, 3, 4
_COMPUTING_HERE = frozenset(("built-in", "fastembed"))
"""Protocols of models that compute in this process."""
_WAITED_FOR = frozenset(("embedding", "rerank"))
"""Types of models that a search waits for."""
_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")


@dataclass(frozen=True, slots=True)
class Options:
    """How a library is served: under which address, and whether nobody is let in without a key.

    `hosts` are the names under which it is reached; empty for any. `path` is what goes before every path of it, such
    as `/library`; empty for nothing.
    """

    needs_key: bool
    hosts: frozenset[str]
    path: str = ""


def options_for(host: str, allowed: str, path: str = "") -> Options:
    """Without a key only where it is reached under a name of this machine itself, which no page elsewhere has."""
    named = frozenset(name.strip().lower() for name in allowed.split(",") if name.strip())
    if is_loopback(host):
        return Options(bool(named), _LOOPBACK_NAMES | {_in_address(host)} | named, _base(path))
    return Options(True, named, _base(path))


def _base(path: str) -> str:
    base = path.rstrip("/")
    if not _PATH.fullmatch(base):
        reason = f"{path!r} is no path such as /library, of letters, digits, '.', '_', '~' and '-'"
        raise ConfigurationInvalid(setting="server.path", source="the settings", reason=reason)
    return base


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host.lower()


@dataclass
class House:
    library: Library
    options: Options
    worded: Worded
    metrics: Metrics = field(default_factory=Metrics)
    stopping: threading.Event = field(default_factory=threading.Event)
    worker_problem: str = ""
    """Why no work is being done, where it should be."""
    connections: Collection[object] = ()
    """Those that are open."""

    def __post_init__(self) -> None:
        settings = self.library.settings.server
        self.settings = settings
        answers = self.library.settings.answer
        threads = settings.threads or _suitable_threads(self.library)
        self.pool = Pool(threads, settings.waiting, "ask")
        # Who waits for a model's whole answer keeps none of those waiting who search.
        self.answering = Pool(answers.running, settings.waiting, "answering")
        self.bots = Pool(_BOTS, settings.waiting, "bot")
        self.writers = Pool(_WRITERS, settings.connections, "write")
        self.readers = Pool(_READERS, settings.waiting, "read")
        self.streams = Turnstile(settings.streams)
        self.answers = RunningAnswers(
            answers.running,
            answers.resume_seconds,
            answers.kept_seconds,
            lambda: self.is_stopping,
            answers.key_share,
            looking=threads,
        )
        self.uploads = Turnstile(_MOST_UPLOADS)
        self.pace = Pace(settings.requests_per_minute)
        self.known = KnownSecrets()
        self.sign_in_pace = Pace(settings.sign_ins_per_minute)

    @property
    def is_stopping(self) -> bool:
        return self.stopping.is_set()

    def close(self) -> None:
        self.answers.close(self.settings.stop_seconds)
        self.pool.close()
        self.writers.close()
        self.readers.close()
        self.answering.close()
        self.bots.close()


def _suitable_threads(library: Library) -> int:
    """How many threads answer the most: those that compute get in each other's way, those that wait do not."""
    # Who waits for a model that writes does so elsewhere.
    asks_services = any(
        model.protocol not in _COMPUTING_HERE and not _WAITED_FOR.isdisjoint(model.types)
        for model in library.settings.models.values()
    )
    if asks_services:
        return _THREADS_THAT_WAIT
    return _THREADS_THAT_ASK_A_DATABASE if library.is_for_many_machines else _THREADS_THAT_COMPUTE


class Turnstile:
    """Lets in so many at once: `with turnstile:`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.inside = 0

    def __enter__(self) -> None:
        if self.inside >= self._most:
            raise ServerBusy()
        self.inside += 1

    def __exit__(self, *_: object) -> None:
        self.inside -= 1


class KnownSecrets:
    """Keys and cookies that let somebody in here, by their digests, and whose they are; those used last alone.

    Until it is known, what is sent as one may be invented: it must not be a caller of its own, with a pace of its own.
    """

    def __init__(self) -> None:
        self._owners: OrderedDict[str, str] = OrderedDict()
        self._changing = threading.Lock()

    def remember(self, secret: str, key_id: str) -> None:
        with self._changing:
            self._owners[_digest(secret)] = key_id
            while len(self._owners) > _MOST_REMEMBERED:
                self._owners.popitem(last=False)

    def owner(self, secret: str) -> str:
        """The id of the key; empty where that is not known."""
        with self._changing:
            digest = _digest(secret)
            if digest in self._owners:
                self._owners.move_to_end(digest)
            return self._owners.get(digest, "")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


class Pace:
    """A bucket of requests for each caller, refilled steadily; 0 a minute is any number."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Raises `TooManyRequests`."""
        if not self._per_minute:
            return
        now = self._clock()
        left, at = self._buckets.pop(caller, (float(self._per_minute), now))
        # Rounded, as a whole request may be a hair's breadth short of one.
        left = round(min(self._per_minute, left + (now - at) * self._per_minute / 60), 9)
        self._buckets[caller] = (left - 1 if left >= 1 else left, now)
        while len(self._buckets) > _MOST_REMEMBERED:
            self._buckets.popitem(last=False)
        if left < 1:
            raise TooManyRequests(retry_after=max(1, math.ceil((1 - left) * 60 / self._per_minute)))
