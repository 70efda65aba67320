"""Connections on which somebody waits for long: they ask, several times a second, whether to go on."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

    from httpcore2 import SOCKET_OPTION, NetworkStream

_GLANCE_SECONDS = 0.25
# What a socket that says it is writable takes without waiting.
_WRITTEN_AT_ONCE = 1 << 14


class PatientConnections:
    """Opens connections for httpcore2 whose every wait calls `on_wait`, and whose every step has to end by a deadline.

    The deadline is on the monotonic clock. What `on_wait` raises ends the wait, and with it the call: so a
    service that is silent for ten minutes keeps nobody from stopping.
    """

    def __init__(self, deadline: float, on_wait: Callable[[], None]) -> None:
        self._deadline = deadline
        self._on_wait = on_wait

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        import httpcore2

        self._on_wait()
        left = _left(self._deadline, timeout)
        stream = httpcore2.SyncBackend().connect_tcp(host, port, left, local_address, socket_options)
        return _patient(stream, self._deadline, self._on_wait)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SOCKET_OPTION] | None = None
    ) -> NetworkStream:
        import httpcore2

        del timeout, socket_options
        raise httpcore2.ConnectError(f"{path} is no host")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _Patient:
    """A connection that waits a little at a time."""

    def __init__(self, stream: NetworkStream, deadline: float, on_wait: Callable[[], None]) -> None:
        self._stream = stream
        self._deadline = deadline
        self._on_wait = on_wait

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        import httpcore2

        del timeout
        while True:
            left = _left(self._deadline, _GLANCE_SECONDS)
            try:
                return self._stream.read(max_bytes, left)
            except httpcore2.ReadTimeout:
                # A socket that had nothing to give yet, encrypted or not, can be asked again.
                self._on_wait()

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        view = memoryview(buffer)
        for start in range(0, len(view), _WRITTEN_AT_ONCE):
            self._wait_until_writable()
            piece = bytes(view[start : start + _WRITTEN_AT_ONCE])
            self._stream.write(piece, _left(self._deadline, None))

    def _wait_until_writable(self) -> None:
        import httpcore2

        connection = self._stream.get_extra_info("socket")
        while True:
            ready, writable, _ = select.select([connection], [connection], [], _left(self._deadline, _GLANCE_SECONDS))
            if writable:
                return
            if ready:
                # It has answered and reads no more; for httpcore2 this means that the answer is to be read.
                raise httpcore2.WriteError("the service stopped reading")
            self._on_wait()

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, _left(self._deadline, timeout))
        return _patient(secured, self._deadline, self._on_wait)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _patient(stream: NetworkStream, deadline: float, on_wait: Callable[[], None]) -> NetworkStream:
    # It does what a stream of httpcore2 does; to be one, that library would have to be loaded with this file.
    patient: Any = _Patient(stream, deadline, on_wait)
    return patient  # type: ignore[no-any-return]


def _left(deadline: float, timeout: float | None) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is over")
    return left if timeout is None else min(timeout, left)
