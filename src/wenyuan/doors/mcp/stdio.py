"""The server over standard input and output, for a client that starts it as its child."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import anyio
from anyio import CapacityLimiter, create_task_group, open_signal_receiver, to_thread
from mcp.server.stdio import stdio_server

from wenyuan.doors.mcp.server import create_server
from wenyuan.errors import WenyuanError
from wenyuan.runtime.access import OWNER
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.library import Library

Result = TypeVar("Result")
_THREADS = 4
_SIGNALLED = 128
_LOG = logging.getLogger("wenyuan.mcp")


def serve_stdio(library: Library, *, writes: bool) -> None:
    """Answer until standard input ends. With `writes`, what is added is read here as well.

    Whoever starts the program owns the library, as with every other command. Nothing but messages is written to
    standard output. Ctrl-C and SIGTERM end the process, after the work has stopped at its next batch.
    """
    work = _Work(library)
    if writes:
        work.begin()
    try:
        anyio.run(_serve, library, writes, work)
    finally:
        work.end()


async def _serve(library: Library, writes: bool, work: _Work) -> None:
    threads = CapacityLimiter(_THREADS)

    async def asking(_: Any, ask: Callable[[GrantedLibrary], Result]) -> Result:
        return await to_thread.run_sync(lambda: ask(GrantedLibrary(library, OWNER)), limiter=threads)

    server = create_server(asking, writes=writes)
    async with create_task_group() as tasks:
        tasks.start_soon(_end_at_signal, library, work)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_at_signal(library: Library, work: _Work) -> None:
    with open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            await to_thread.run_sync(_leave, library, work, _SIGNALLED + number)


def _leave(library: Library, work: _Work, code: int) -> NoReturn:
    """End the process at once: the thread that waits for standard input would wait for ever."""
    work.end()
    library.close()
    os._exit(code)


class _Work:
    """The library's work, done beside the server."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="work")

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        while self._thread.is_alive():
            # Asked again: it may have been about to begin when it was asked first.
            self._library.stop_working()
            self._thread.join(0.1)

    def _run(self) -> None:
        try:
            if not self._ending.is_set():
                self._library.work()
        except WenyuanError as error:
            _LOG.warning("%s %s", error.message, error.advice)
