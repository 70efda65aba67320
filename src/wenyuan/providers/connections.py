"""Connections whose every step ends by the deadline of the call that it is made for.

A timeout for each read is not enough: who sends a little again and again, be it in the headers, never meets it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

    from httpcore2 import SOCKET_OPTION, NetworkStream


class DeadlineConnections:
    """Opens connections for httpcore2, which may be kept and used for several calls, one after the other.

    What is done in a thread `within` a deadline, which is on the monotonic clock, raises `TimeoutError` after it.
    """

    def __init__(self) -> None:
        self._current = threading.local()

    @contextmanager
    def within(self, deadline: float) -> Iterator[None]:
        before = getattr(self._current, "deadline", None)
        self._current.deadline = deadline
        try:
            yield
        finally:
            self._current.deadline = before

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

        left = self.left(timeout)
        return self.watched(httpcore2.SyncBackend().connect_tcp(host, port, left, local_address, socket_options))

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
        return self._stream.read(max_bytes, self._connections.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._connections.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        left = self._connections.left(timeout)
        return self._connections.watched(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
