"""Connections to machines that may be asked, within one deadline."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wenyuan.errors import AddressInvalid, AddressRefused
from wenyuan.fetching.addresses import IPAddress, why_private

if TYPE_CHECKING:
    import ssl

    from httpcore2 import SOCKET_OPTION, NetworkStream


class GuardedConnections:
    """Opens connections for httpcore2: to the very address that was judged, so that no second answer of a

    name server can lead elsewhere. `deadline` is on the monotonic clock; whoever sends a little again
    and again never meets the timeout of one read, but meets that.
    """

    def __init__(self, deadline: float, *, allow_private: bool) -> None:
        self._deadline = deadline
        self._allow_private = allow_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        import httpcore2

        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in permitted_addresses(host, port, allow_private=self._allow_private):
            try:
                left = _least(timeout, self._left())
                stream = httpcore2.SyncBackend().connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _within(stream, self._deadline)
        raise failure

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SOCKET_OPTION] | None = None
    ) -> NetworkStream:
        del timeout, socket_options
        raise AddressRefused(address=path, reason="it is no address of a page")

    def sleep(self, seconds: float) -> None:
        time.sleep(min(seconds, self._left()))

    def _left(self) -> float:
        import httpcore2

        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ConnectTimeout("the time is over")
        return left


def permitted_addresses(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The addresses of a host, in the order in which they should be tried.

    Raises `AddressRefused` if any of them is not a public one and `allow_private` is not set, and
    `OSError` (`socket.gaierror`) where the name cannot be resolved.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise AddressInvalid(address=host, reason="it names no host") from error
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    if not allow_private:
        for text in addresses:
            if reason := why_private(_ip_address(text)):
                raise AddressRefused(address=host, reason=f"it leads to {text}, {reason}")
    return addresses


def _ip_address(text: str) -> IPAddress:
    # A scope such as %eth0 says by which interface, not to whom.
    return ipaddress.ip_address(text.partition("%")[0])


class _Within:
    """A connection whose every step has to end by a deadline."""

    def __init__(self, stream: NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        import httpcore2

        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the time is over")
        return self._stream.read(max_bytes, _least(timeout, left))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _least(timeout, max(0.001, self._deadline - time.monotonic())))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        left = _least(timeout, max(0.001, self._deadline - time.monotonic()))
        return _within(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _within(stream: NetworkStream, deadline: float) -> NetworkStream:
    # It does what a stream of httpcore2 does; to be one, that library would have to be loaded with this file.
    guarded: Any = _Within(stream, deadline)
    return guarded  # type: ignore[no-any-return]


def _least(timeout: float | None, left: float) -> float:
    return left if timeout is None else min(timeout, left)
