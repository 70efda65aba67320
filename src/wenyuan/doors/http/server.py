"""Serves a library: its address, the server that listens there, and the work that is done beside it."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import gc
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from wenyuan.doors.http.application import create_application
from wenyuan.doors.http.bots_endpoint import connected_bots
from wenyuan.doors.http.connections import allow_connections, connections_of
from wenyuan.doors.http.event_loop import watch_lag
from wenyuan.doors.http.guard import Guard
from wenyuan.doors.http.house import House, is_loopback, options_for
from wenyuan.doors.http.page import BUILT, Page, read_page
from wenyuan.doors.http.problems import Worded
from wenyuan.errors import AddressTaken, AddressUnusable, LibraryServed, WenyuanError
from wenyuan.runtime.library import Library

_LOG = logging.getLogger("wenyuan.http")
_LOCK = "server.lock"
# How many may wait to be accepted, and how many are accepted before anything else is done.
_BACKLOG, _ACCEPTED_AT_ONCE = 2048, 64
# Threads that compute give way to the event loop after so long; the interpreter's own 5 ms, for each of them, would be
# time in which nobody is answered.
_SWITCH_SECONDS = 0.0005
# A collection of garbage holds up all threads.
_OBJECTS_BETWEEN_COLLECTIONS = 5_000
_LARGEST_HEADERS = 64 << 10
# Whoever is told to come back after some seconds finds the connection still open; else it may end just as it is used.
_KEEP_ALIVE_SECONDS = 15
_WORK_AGAIN_SECONDS = 5.0
_LOOK_SECONDS = 0.1
_FIRST_KEY = "first"


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that is about to answer. `first_key` is a key for its administrator, made just now, or empty."""

    url: str
    library: Path
    first_key: str
    needs_key: bool


def serve(
    library: Library,
    *,
    host: str,
    port: int,
    works: bool,
    worded: Worded,
    on_ready: Callable[[Serving, Callable[[], None]], None],
) -> None:
    """Serve a library until SIGINT or SIGTERM, or until the function that `on_ready` is given is called.

    Requests that are under way are finished, and work stops at its next batch. Port 0 is any free one. Raises
    `AddressTaken`, `AddressUnusable` or `LibraryServed`.
    """
    with ExitStack() as stack:
        listening = stack.enter_context(_listening(host, port))
        url = _url(host, listening.getsockname()[1])
        stack.enter_context(_alone(library.path, url))
        stack.enter_context(_giving_way())
        stack.enter_context(_collecting_seldom())
        settings = library.settings.server
        options = options_for(host, settings.allowed_hosts, settings.path)
        first_key = _first_key(library) if not is_loopback(host) else ""
        house = House(library, options, worded)
        stack.enter_context(library.telling())
        stack.callback(house.close)
        allow_connections(settings.connections)
        server = _Server(house)
        stack.enter_context(connected_bots(house))
        if works:
            stack.enter_context(_working(house))
        on_ready(Serving(url + options.path, library.path, first_key, options.needs_key), server.stop)
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    def __init__(self, house: House) -> None:
        settings = house.settings
        config = uvicorn.Config(
            Guard(Page(create_application(house), read_page(BUILT, house.options.path)), house),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            http=connections_of(settings),
            # What any other client says of where it comes from is not believed.
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies,
            backlog=_ACCEPTED_AT_ONCE,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
            h11_max_incomplete_event_size=_LARGEST_HEADERS,
        )
        super().__init__(config)
        self._house = house
        house.connections = self.server_state.connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            # What asyncio accepts in one turn is all that it lets wait; that is the kernel's to say.
            one.listen(_BACKLOG)
        _settle()
        self._watching_lag = asyncio.create_task(watch_lag(self._house.metrics.note_lag))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._watching_lag.cancel()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._end()
        super().handle_exit(sig, frame)
        # Being stopped is how a server ends: the signal is not raised again afterwards.
        self._captured_signals.clear()

    def stop(self) -> None:
        """Ask the server to end; from any thread."""
        self._end()
        self.should_exit = True

    def _end(self) -> None:
        # Streams end by themselves, and the work at its next batch, while requests are finished.
        self._house.stopping.set()
        self._house.library.stop_working()


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    address = f"{host}:{port}"
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise AddressTaken(address=address) from error
        reason = getattr(error, "strerror", None) or str(error)
        raise AddressUnusable(address=address, reason=reason) from error
    with listening:
        yield listening


@contextmanager
def _giving_way() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _settle() -> None:
    """What a server is made of is never garbage: a collection that went through it would keep everybody waiting."""
    gc.collect()
    gc.freeze()


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _alone(library: Path, url: str) -> Iterator[None]:
    """Hold the lock of a library's one server; the kernel lets go of it however the process ends."""
    with (library / _LOCK).open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            raise LibraryServed(path=library, address=file.read().strip() or "another address") from error
        file.truncate(0)
        file.write(url)
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _first_key(library: Library) -> str:
    """A key for whoever starts a server that others can reach, unless somebody holds one that may do everything."""
    if library.access_keys.have_admin():
        return ""
    return library.access_keys.create(f"{_FIRST_KEY}-{os.urandom(3).hex()}", scopes=("admin",)).secret


@contextmanager
def _working(house: House) -> Iterator[None]:
    """Work beside the server, and begin again where that ended by an error."""
    thread = threading.Thread(target=_work, args=(house,), name="work")
    thread.start()
    try:
        yield
    finally:
        house.stopping.set()
        while thread.is_alive():
            # Asked again: it may have been about to begin when it was asked first.
            house.library.stop_working()
            thread.join(_LOOK_SECONDS)


def _work(house: House) -> None:
    try:
        while not house.is_stopping:
            try:
                house.worker_problem = ""
                house.library.work()
            except WenyuanError as error:
                _LOG.warning("%s %s", error.message, error.advice)
                house.worker_problem = f"no work is done ({error.code})"
                house.stopping.wait(_WORK_AGAIN_SECONDS)
    finally:
        house.worker_problem = house.worker_problem or "no work is done"
