"""Calls to a model's service over HTTP: within one deadline, tried again where that helps, bounded, without the key."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from wenyuan.errors import (
    ProviderAnswerInvalid,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from wenyuan.providers.connections import DeadlineConnections
from wenyuan.providers.keys import Key, resolve_key
from wenyuan.providers.replies import LARGEST_ERROR_BYTES, REPEATABLE, excerpt, proxy_of
from wenyuan.providers.retrying import Failure, Success, Surroundings, call_with_retries, seconds_of_retry_after
from wenyuan.providers.stopping import Stopped, never, sleeping

if TYPE_CHECKING:
    import httpcore2

_CONNECT_SECONDS = 10.0
# Where nobody listens, somebody will hardly do so a few seconds later; a person waits meanwhile.
_CONNECTING_ATTEMPTS = 3
_KEPT_CONNECTIONS = 16
_KEPT_SECONDS = 30.0

Begun = TypeVar("Begun")
Taken = TypeVar("Taken")


def _never(_: bytes) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Call:
    """One thing to ask. `body` makes the request, anew for each attempt.

    `adjusts` is shown a refusal; where it says that the next request will be another one, that is tried at once.
    """

    url: str
    body: Callable[[], Mapping[str, Any]]
    headers: Mapping[str, str] = field(default_factory=dict)
    adjusts: Callable[[bytes], bool] = _never


class HttpService:
    """The service of one model, called `name` in errors; threads share it, and it keeps its connections.

    `key` is a reference, resolved anew for each call; it is sent as a bearer token, or under `key_header`. Unless
    `allow_link_local` says so, no machine is called at an address where clouds hand out credentials; whether it is
    one is seen when it is called, and `ConfigurationInvalid` raised.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        key: str,
        surroundings: Surroundings | None = None,
        key_header: str = "",
        *,
        allow_link_local: bool = False,
    ) -> None:
        self.name = name
        self._base_url = base_url
        self._reference = key
        self._key_header = key_header
        self._surroundings = surroundings or Surroundings()
        self._connections = DeadlineConnections(None if allow_link_local else name)
        self._opening = Lock()
        self._pool: httpcore2.ConnectionPool | None = None

    def ask(self, call: Call, timeout: float, limit: int, *, waits: bool = True) -> bytes:
        """Return the answer, of at most `limit` bytes.

        Attempts are repeated until `timeout` seconds are over; unless it `waits`, only while none has to be waited
        for. Raises `KeyMissing`, `ProviderRefused`, `ProviderAnswerInvalid`, and, worth trying again later,
        `ProviderTimeout`, `RateLimited` and `ProviderUnavailable`.
        """

        def whole(incoming: Incoming) -> bytes:
            body = bytearray()
            for piece in incoming:
                body += piece
            return bytes(body)

        _, body = self._begin(call, timeout, limit, whole, waits=waits)
        return body

    def stream(
        self, call: Call, timeout: float, limit: int, begin: Callable[[Incoming], Begun], *, stopped: Stopped = never
    ) -> tuple[Incoming, Begun]:
        """Open an answer that comes piece by piece, and read it as far as `begin` does.

        What fails until then is tried again. Whoever takes the answer closes it. Raises as `ask` does, and
        `CallStopped`; so does reading on.
        """
        return self._begin(call, timeout, limit, begin, waits=True, stopped=stopped)

    def close(self) -> None:
        """Close the connections that are kept; the next call opens new ones."""
        with self._opening:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def _begin(
        self,
        call: Call,
        timeout: float,
        limit: int,
        begin: Callable[[Incoming], Begun],
        *,
        waits: bool,
        stopped: Stopped = never,
    ) -> tuple[Incoming, Begun]:
        key = resolve_key(self._reference, self.name)
        if timeout <= 0:
            raise ProviderTimeout(provider=self.name, seconds=f"{timeout:g}")

        def attempt(left: float) -> Success[tuple[Incoming, Begun]] | Failure:
            steps = _Steps(self.name, key, timeout, time.monotonic() + left, self._connections, stopped)
            incoming = self._open(call, steps, left, limit)
            if isinstance(incoming, ProviderUnavailable):
                is_reached = incoming.details.get("is_reached", True)
                return Failure(incoming) if is_reached else Failure(incoming, attempts=_CONNECTING_ATTEMPTS)
            if incoming.status != 200:
                failure = self._failure(call, incoming, key)
                if isinstance(failure, Failure):
                    return failure
                raise failure
            try:
                return Success((incoming, begin(incoming)))
            except ProviderUnavailable as error:
                incoming.close()
                return Failure(error, error.retry_after)
            except BaseException:
                incoming.close()
                raise

        surroundings = replace(self._surroundings, sleep=sleeping(self._surroundings.sleep, stopped))
        return call_with_retries(attempt, timeout, surroundings, waits=waits)

    def _failure(self, call: Call, incoming: Incoming, key: Key | None) -> Failure | ProviderRefused:
        """Tell what to do about a status that is no success.

        An error is returned: a service may repeat the key, and what it said would be seen where one is raised.
        """
        status, body = incoming.status, incoming.beginning()
        reason = excerpt(body, key) or incoming.phrase
        later = seconds_of_retry_after(incoming.headers.get("retry-after"), self._surroundings.wall_clock)
        if status == 429:
            return Failure(RateLimited(provider=self.name, retry_after=later, status=status), later)
        unavailable = ProviderUnavailable(
            provider=self.name, reason=f"HTTP {status}: {reason}", retry_after=later, status=status
        )
        if status in REPEATABLE:
            return Failure(unavailable, later)
        if status in (400, 422) and call.adjusts(body):
            return Failure(unavailable, 0.0)
        return ProviderRefused(provider=self.name, status=status, reason=reason)

    def _open(self, call: Call, steps: _Steps, left: float, limit: int) -> Incoming | ProviderUnavailable:
        """Return the answer as it begins, or the error that stands for having none.

        The error is returned, so that it is raised outside of the `except` clauses: the exceptions of the network
        lead to the request, and with it to the key.
        """
        answer = steps.take(lambda: self._sent(call, steps.key, left))
        return answer if isinstance(answer, ProviderUnavailable) else Incoming(answer, limit, steps)

    def _sent(self, call: Call, key: Key | None, left: float) -> httpcore2.Response:
        import httpcore2
        import httpx2

        # Half of a surrogate pair, which text from broken files can hold, has no UTF-8.
        content = json.dumps(call.body(), ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json", **call.headers}
        request = httpx2.Request("POST", call.url, headers=headers, content=content)
        if key is not None:
            request = (key.sent_as(self._key_header) if self._key_header else key.authorise)(request)
        timeouts = {"connect": min(left, _CONNECT_SECONDS), "read": left, "write": left, "pool": left}
        raw, extensions = request.headers.raw, {"timeout": timeouts}
        return self._opened().handle_request(
            httpcore2.Request("POST", str(request.url), headers=raw, content=content, extensions=extensions)
        )

    def _opened(self) -> httpcore2.ConnectionPool:
        # Loading these takes longer than a program that calls no provider may wait for.
        import httpcore2
        import httpx2

        with self._opening:
            if self._pool is None:
                proxy = proxy_of(self._base_url)
                connections: Any = self._connections
                self._pool = httpcore2.ConnectionPool(
                    ssl_context=httpx2.create_ssl_context() if self._base_url.startswith("https:") else None,
                    proxy=httpcore2.Proxy(proxy) if proxy else None,
                    # Who calls is limited already, by `concurrency` and by how much is done at once; whoever waited
                    # here would wait unseen.
                    max_connections=None,
                    max_keepalive_connections=_KEPT_CONNECTIONS,
                    keepalive_expiry=_KEPT_SECONDS,
                    network_backend=connections,
                )
            return self._pool


class Incoming:
    """An answer as it comes in, piece by piece; raises what `HttpService.ask` does. Whoever has it closes it."""

    def __init__(self, response: httpcore2.Response, limit: int, steps: _Steps) -> None:
        self.status = response.status
        self.headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in response.headers}
        self.phrase = response.extensions.get("reason_phrase", b"").decode("latin-1")
        self.name = steps.name
        self._response = response
        self._limit = limit
        self._steps = steps

    def __iter__(self) -> Iterator[bytes]:
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise self.invalid("it is packed in a way that was not asked for")
        received = 0
        stream = self._response.iter_stream()
        while (piece := self._steps.take(lambda: next(stream, None))) is not None:
            if isinstance(piece, ProviderUnavailable):
                raise piece
            received += len(piece)
            if received > self._limit:
                raise self.invalid(f"it has more than {self._limit:,} bytes")
            yield piece
        self.close()

    def beginning(self) -> bytes:
        """As much of it as is of use in an error; it is closed then."""
        body = bytearray()
        stream = self._response.iter_stream()
        while len(body) < LARGEST_ERROR_BYTES:
            piece = self._steps.take(lambda: next(stream, None))
            if piece is None or isinstance(piece, ProviderUnavailable):
                break
            body += piece
        self.close()
        return bytes(body)

    def invalid(self, reason: str) -> ProviderAnswerInvalid:
        return ProviderAnswerInvalid(provider=self.name, reason=reason)

    def excerpt(self, said: bytes) -> str:
        """The beginning of something that was said, without the key."""
        return excerpt(said, self._steps.key)

    def close(self) -> None:
        """End the call; what did not come yet never comes."""
        self._response.close()


@dataclass(frozen=True, slots=True)
class _Steps:
    """How each step of one call is taken: by its deadline, on the monotonic clock, and its failures told apart."""

    name: str
    key: Key | None
    timeout: float
    deadline: float
    connections: DeadlineConnections
    stopped: Stopped = never

    def take(self, step: Callable[[], Taken]) -> Taken | ProviderUnavailable:
        import httpcore2
        import httpx2

        try:
            with self.connections.within(self.deadline, self.stopped):
                return step()
        except httpcore2.ConnectTimeout:
            return ProviderUnavailable(provider=self.name, reason="no connection could be made in time")
        except (httpcore2.TimeoutException, TimeoutError):
            return ProviderTimeout(provider=self.name, seconds=f"{self.timeout:g}")
        except httpcore2.ConnectError as error:
            reason = excerpt(f"ConnectError: {error}".encode(), self.key).rstrip(".")
            return ProviderUnavailable(provider=self.name, reason=reason, is_reached=False)
        except (
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.ProxyError,
            httpx2.InvalidURL,
            OSError,
        ) as error:
            reason = excerpt(f"{type(error).__name__}: {error}".encode(), self.key).rstrip(".")
            return ProviderUnavailable(provider=self.name, reason=reason)
