"""Connections whose every step ends by the deadline of the call that it is made for.

A timeout for each read is not enough: who sends a little again and again, be it in the headers, never meets it. And
a call that nobody waits for any more ends soon, also while its other side says nothing.
"""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wenyuan.providers.model_addresses import judged_addresses
from wenyuan.providers.stopping import GLANCE_SECONDS, Stopped, check, never, unless_stopped

if TYPE_CHECKING:
    import ssl

    from httpcore2 import SOCKET_OPTION, NetworkStream


_PIECE = 16 << 10


class DeadlineConnections:
    """Opens connections for httpcore2, which may be kept and used for several calls, one after the other.

    What is done in a thread `within` a deadline, which is on the monotonic clock, raises `TimeoutError` after it, and
    `CallStopped` once `stopped` says so. Unless `model` is None, connections of the model of that name lead to no
    machine at which clouds hand out credentials, by whatever name it is called.
    """

    def __init__(self, model: str | None = None) -> None:
        self._model = model
        self._current = threading.local()

    @contextmanager
    def within(self, deadline: float, stopped: Stopped = never) -> Iterator[None]:
        before = getattr(self._current, "deadline", None), self.stopped
        self._current.deadline, self._current.stopped = deadline, stopped
        try:
            yield
        finally:
            self._current.deadline, self._current.stopped = before

    @property
    def stopped(self) -> Stopped:
        """Whether what is done now is to end."""
        stopped: Stopped = getattr(self._current, "stopped", never)
        return stopped

    def left(self, timeout: float | None) -> float | None:
        """How many seconds a step may take. Raises `TimeoutError` where none are left."""
        deadline: float | None = getattr(self._current, "deadline", None)
        if deadline is None:
            return timeout
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is over")
        return left if timeout is None else min(timeout, left)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        import httpcore2

        left, backend = self.left(timeout), httpcore2.SyncBackend()
        over = None if left is None else time.monotonic() + left

        def connect() -> NetworkStream:
            if self._model is None:
                return backend.connect_tcp(host, port, left, local_address, socket_options)
            failure: Exception = httpcore2.ConnectError(f"{host} has no address")
            # To the very address that was judged: a name server may answer otherwise the next time.
            for address in judged_addresses(host, port, self._model):
                left_now = None if over is None else max(over - time.monotonic(), 0.001)
                try:
                    return backend.connect_tcp(address, port, left_now, local_address, socket_options)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    failure = error
            raise failure

        return self.watched(unless_stopped(connect, self.stopped, lambda stream: stream.close()))

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SOCKET_OPTION] | None = None
    ) -> NetworkStream:
        import httpcore2

        del timeout, socket_options
        raise httpcore2.ConnectError(f"{path} is no host")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def watched(self, stream: NetworkStream) -> NetworkStream:
        # It does what a stream of httpcore2 does; to be one, that library would have to be loaded with this file.
        watched: Any = _Watched(stream, self)
        return watched  # type: ignore[no-any-return]


class _Watched:
    """A connection that knows when to stop."""

    def __init__(self, stream: NetworkStream, connections: DeadlineConnections) -> None:
        self._stream = stream
        self._connections = connections

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        import httpcore2

        if self._connections.stopped is never:
            return self._stream.read(max_bytes, self._connections.left(timeout))
        for seconds in self._glances(timeout):
            try:
                return self._stream.read(max_bytes, seconds)
            except httpcore2.ReadTimeout:
                # Nothing was taken off the connection, so that it can be read from again.
                continue
        raise httpcore2.ReadTimeout("the time is over")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        import httpcore2

        if self._connections.stopped is never:
            self._stream.write(buffer, self._connections.left(timeout))
            return
        # A write that times out does not tell how much of it was sent, so that only what will fit is begun.
        for begin in range(0, len(buffer), _PIECE):
            if not any(self._takes_more(seconds) for seconds in self._glances(timeout)):
                raise httpcore2.WriteTimeout("the time is over")
            self._stream.write(buffer[begin : begin + _PIECE], self._connections.left(timeout))

    def _glances(self, timeout: float | None) -> Iterator[float]:
        """How long to wait at once, until the time is over. Raises `CallStopped`, and `TimeoutError` as `left` does."""
        over = time.monotonic() + timeout if timeout is not None else None
        while over is None or time.monotonic() < over:
            check(self._connections.stopped)
            left = self._connections.left(None if over is None else max(over - time.monotonic(), 0.001))
            yield GLANCE_SECONDS if left is None else min(left, GLANCE_SECONDS)

    def _takes_more(self, seconds: float) -> bool:
        socket = self._stream.get_extra_info("socket")
        waiting = select.poll()
        waiting.register(socket, select.POLLOUT)
        return bool(waiting.poll(seconds * 1000))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        left, stream = self._connections.left(timeout), self._stream
        return self._connections.watched(
            unless_stopped(
                lambda: stream.start_tls(ssl_context, server_hostname, left),
                self._connections.stopped,
                lambda begun: begun.close(),
            )
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
