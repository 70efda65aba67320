"""One conversion as a conversation over HTTP: within one deadline, bounded, and with its failures told apart."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from wenyuan.errors import (
    DocumentError,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    ReaderAnswerInvalid,
    ReaderRefused,
)
from wenyuan.providers.keys import Key
from wenyuan.providers.readers.connections import PatientConnections
from wenyuan.providers.readers.settings import ReaderSettings
from wenyuan.providers.replies import LARGEST_ERROR_BYTES, REPEATABLE, excerpt, proxy_of
from wenyuan.providers.retrying import seconds_of_retry_after

if TYPE_CHECKING:
    import httpcore2
    import httpx2

_CONNECT_SECONDS = 10.0
_LARGEST_MESSAGE_BYTES = 1 << 20
_GLANCE_SECONDS = 0.25
_PARTING_SECONDS = 2.0
# What says that the service does not know us, or is not the one that it was taken for.
_NOT_FOR_US = frozenset({401, 403, 404, 405, 407})


@dataclass(frozen=True, slots=True)
class Original:
    """The file to be converted. `file_name` is none of its own: all that it says is what kind of file it is."""

    file: IO[bytes] = field(repr=False)
    size: int
    name: str
    file_name: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service answered; the body of what was written elsewhere is empty."""

    status: int
    phrase: str
    retry_after: str | None
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class Service:
    """Calls a service about one file, called `name`, until its time is over. A context; it keeps its connections.

    Every wait calls `on_wait`. The key goes to the service's own address alone.
    """

    def __init__(
        self,
        settings: ReaderSettings,
        key: Key | None,
        name: str,
        on_wait: Callable[[], None],
        seconds: float | None = None,
    ) -> None:
        self.settings = settings
        self.label = f"{settings.name} ({settings.kind})"
        self._key = key
        self._name = name
        self._on_wait = on_wait
        self._deadline = time.monotonic() + (settings.timeout_seconds if seconds is None else seconds)
        self._pools: dict[str, httpcore2.ConnectionPool] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for pool in self._pools.values():
            pool.close()

    def address(self, path: str) -> str:
        """The service's address of this path, which the configured one may end with already."""
        base = self.settings.base_url.rstrip("/")
        return base if base.endswith(path) else base + path

    def ask(
        self,
        method: str,
        url: str,
        *,
        key_header: str = "",
        write: Callable[[bytes], None] | None = None,
        **content: Any,
    ) -> Reply:
        """Send a request; `content` is what `httpx2.Request` takes of it. Returns the reply, whatever its status.

        The body of a success goes to `write`, if given. Raises `ProviderUnavailable` or
        `ProviderTimeout` where none came, and `ReaderAnswerInvalid` for one that is too large.
        """
        import httpx2

        request = httpx2.Request(method, url, **content)
        request.headers["Accept-Encoding"] = "identity"
        request.headers["User-Agent"] = "wenyuan"
        if self._key is not None and self._is_own(url):
            (self._key.sent_as(key_header) if key_header else self._key.authorise)(request)
        reply = self._exchange(request, write)
        if isinstance(reply, Reply):
            return reply
        # Outside of the `except` clauses: what is raised there would carry the request, and with it the key.
        raise reply

    def accepted(self, reply: Reply) -> Reply:
        """The reply, if it is a success.

        Raises `RateLimited` or `ProviderUnavailable` for what may pass, `ProviderRefused` where
        nothing would be converted, and `ReaderRefused` for what is wrong with this file.
        """
        if reply.is_success:
            return reply
        reason = excerpt(reply.body, self._key).rstrip(".") or reply.phrase
        later = seconds_of_retry_after(reply.retry_after, time.time)
        if reply.status == 429:
            raise RateLimited(provider=self.label, retry_after=later)
        if reply.status in REPEATABLE:
            raise ProviderUnavailable(provider=self.label, reason=f"HTTP {reply.status}: {reason}", retry_after=later)
        if reply.status in _NOT_FOR_US:
            raise ProviderRefused(provider=self.label, status=reply.status, reason=reason)
        raise self.refused(f"HTTP {reply.status}: {reason}")

    def message(self, reply: Reply) -> Mapping[str, Any]:
        """The JSON object that a success says. Raises what `accepted` does, and `ReaderAnswerInvalid`."""
        try:
            said = json.loads(self.accepted(reply).body)
        except (ValueError, RecursionError) as error:
            raise self.invalid("it is not JSON") from error
        if not isinstance(said, dict):
            raise self.invalid("it is no JSON object")
        return said

    def send_form(
        self,
        path: str,
        form: Mapping[str, str],
        original: Original,
        write: Callable[[bytes], None],
        *,
        key_header: str = "",
    ) -> None:
        """Send the file as part `files` of a form; `write` gets the answer. Raises as `ask` and `accepted`."""
        reply = self.ask(
            "POST",
            self.address(path),
            key_header=key_header,
            write=write,
            headers={"Accept": "application/json"},
            data=dict(form),
            files={"files": (original.file_name, original.file, original.media_type)},
        )
        self.accepted(reply)

    def foreign(self, address: str) -> str:
        """An address that the service gave, if it may be asked. Raises `ReaderAnswerInvalid`."""
        import httpx2

        try:
            url = httpx2.URL(self.settings.base_url).join(address)
        except httpx2.InvalidURL as error:
            raise self.invalid("it names no address to go on with") from error
        host = url.host.lower()
        is_listed = url.scheme in ("http", "https") and host in self.settings.hosts
        if not self._is_own(str(url)) and not is_listed:
            raise self.invalid(f"it points to {url.scheme}://{host}, which `hosts` does not name")
        return str(url)

    def last_word(self, method: str, url: str) -> None:
        """Tell the service something without staying for the answer, whatever time is left. Raises as `ask`."""
        with Service(self.settings, self._key, self._name, lambda: None, _PARTING_SECONDS) as parting:
            parting.ask(method, url)

    def wait(self, seconds: float) -> None:
        """Let some time pass. Raises `ProviderTimeout` where the deadline is nearer."""
        until = time.monotonic() + seconds
        if until >= self._deadline:
            raise self.timeout()
        while (left := until - time.monotonic()) > 0:
            self._on_wait()
            time.sleep(min(left, _GLANCE_SECONDS))
        self._on_wait()

    # --- The errors of this conversation ---

    def refused(self, reason: str) -> ReaderRefused:
        return ReaderRefused(reader=self.label, name=self._name, reason=reason)

    def invalid(self, reason: str) -> ReaderAnswerInvalid:
        return ReaderAnswerInvalid(reader=self.label, name=self._name, reason=reason)

    def timeout(self) -> ProviderTimeout:
        return ProviderTimeout(provider=self.label, seconds=f"{self.settings.timeout_seconds:g}")

    # --- One exchange ---

    def _exchange(
        self, request: httpx2.Request, write: Callable[[bytes], None] | None
    ) -> Reply | DocumentError | ProviderError:
        import httpcore2

        try:
            return self._received(self._connections(str(request.url)), request, write)
        except httpcore2.ConnectTimeout:
            return ProviderUnavailable(provider=self.label, reason="no connection could be made in time")
        except (httpcore2.TimeoutException, TimeoutError):
            return self.timeout()
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, OSError) as error:
            reason = excerpt(f"{type(error).__name__}: {error}".encode(), self._key).rstrip(".")
            return ProviderUnavailable(provider=self.label, reason=reason)

    def _received(
        self, pool: httpcore2.ConnectionPool, request: httpx2.Request, write: Callable[[bytes], None] | None
    ) -> Reply | DocumentError:
        timeouts = {"timeout": {"connect": _CONNECT_SECONDS}}
        body = bytearray()
        with pool.stream(
            request.method,
            str(request.url),
            headers=request.headers.raw,
            # Even an empty one would be announced as chunks.
            content=request.stream if "Content-Length" in request.headers else None,  # type: ignore[arg-type]
            extensions=timeouts,
        ) as response:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            is_success = 200 <= response.status < 300
            if is_success and headers.get("content-encoding", "identity").lower() != "identity":
                return self.invalid("it is packed in a way that was not asked for")
            limit = self.settings.answer_bytes if write is not None else _LARGEST_MESSAGE_BYTES
            received = 0
            for piece in response.iter_stream():
                received += len(piece)
                if is_success and received > limit:
                    return self.invalid(f"it has more than {limit:,} bytes; see `answer_bytes`")
                if is_success and write is not None:
                    write(piece)
                elif len(body) < LARGEST_ERROR_BYTES or is_success:
                    body += piece
                else:
                    break
            phrase = response.extensions.get("reason_phrase", b"").decode("latin-1")
            return Reply(response.status, phrase, headers.get("retry-after"), bytes(body))

    def _connections(self, url: str) -> httpcore2.ConnectionPool:
        import httpcore2

        proxy = proxy_of(url)
        if proxy not in self._pools:
            patient: Any = PatientConnections(self._deadline, self._on_wait)
            self._pools[proxy] = httpcore2.ConnectionPool(
                proxy=httpcore2.Proxy(proxy) if proxy else None,
                network_backend=patient,
                max_connections=1,
            )
        return self._pools[proxy]

    def _is_own(self, url: str) -> bool:
        own, other = urlsplit(self.settings.base_url), urlsplit(url)
        return (own.scheme, own.hostname, _port(own)) == (other.scheme, other.hostname, _port(other))


def _port(address: Any) -> int | None:
    return address.port or {"http": 80, "https": 443}.get(address.scheme)
