"""Connections whose every step has its time: one that says nothing, or takes nothing, holds no place for good."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from wenyuan.config import ServerSettings

_BESIDES = 256
"""Files and connections that a server has open besides those of its clients."""


class Connection(H11Protocol):
    """One client's connection; `settings` are those of the server, set by `connections_of`.

    The head of a request has to come whole within `head_seconds` of its first byte, or of the connection's beginning
    (RFC 9110, 15.5.9, allows an answer, which whoever sends nothing would not read). Who takes nothing of what is sent
    for `send_seconds` is left. Of twice as many connections as are answered, the newest are closed at once: each holds
    a file of the process.
    """

    settings = ServerSettings()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head = _Countdown(self._give_up)
        self._sending = _Countdown(self._give_up)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # asyncio does so for sockets of its own alone; else an answer's second piece waits for the client to
        # acknowledge the first, which may take it 40 ms (Nagle's algorithm, and delayed acknowledgements).
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if len(self.connections) > 2 * self.settings.connections:
            transport.abort()
            return
        self._head.begin(self.settings.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head.end()
        self._sending.end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        known = self.cycle
        if known is None or known.response_complete:
            self._head.begin(self.settings.head_seconds)
        super().data_received(data)
        if self.cycle is not known:
            self._head.end()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._sending.begin(self.settings.send_seconds)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._sending.end()

    def _give_up(self) -> None:
        self.transport.abort()


class _Countdown:
    """Calls `over` so long after it has begun, unless it is ended before; to begin it again changes nothing."""

    def __init__(self, over: Callable[[], None]) -> None:
        self._over = over
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._over)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def connections_of(settings: ServerSettings) -> type[Connection]:
    """What a server with these settings makes of each connection."""
    return type("Connection", (Connection,), {"settings": settings})


def allow_connections(number: int) -> None:
    """Let this process have as many files open as so many connections need, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * number + _BESIDES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
