"""One page fetched: redirects followed, limits kept, and only asked for in full if it has changed."""

from __future__ import annotations

import socket
import ssl
import time
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from wenyuan.errors import AddressRefused, PageUnavailable, PageUnusable, WenyuanError
from wenyuan.fetching.addresses import joined
from wenyuan.fetching.connections import GuardedConnections, permitted_addresses

if TYPE_CHECKING:
    import httpcore2

Kept = TypeVar("Kept")

MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONNECT_SECONDS = 15.0
_READ_SECONDS = 30.0
_PIECE_BYTES = 1 << 18
_WANTED = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.8"


@dataclass(frozen=True, slots=True)
class FetchRules:
    """How pages may be fetched: how long one may take altogether, and whether private addresses may be asked.

    With `use_proxies` the proxies of the environment are used; where a page may lead is then, in the
    end, for the proxy to say.
    """

    seconds: float = 60.0
    allow_private: bool = False
    use_proxies: bool = False
    agent: str = "wenyuan"


@dataclass(frozen=True, slots=True)
class Validators:
    """What a page is known by since it was last fetched (RFC 9110, section 8.8)."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Page(Generic[Kept]):
    """What a server answered, in the end. `kept` is what became of the body, of a success alone."""

    status: int
    address: str
    media_type: str
    charset: str
    validators: Validators
    retry_after: str | None
    kept: Kept | None = None


def fetch(
    address: str,
    known: Validators,
    rules: FetchRules,
    keep: Callable[[Iterator[bytes]], Kept],
) -> Page[Kept]:
    """Ask for a page, conditionally if validators are known, and hand the body of a success to `keep`.

    Raises `AddressRefused` and `AddressInvalid`, also for where it is redirected, `PageUnusable`,
    and `PageUnavailable` where it may be tried again later; whatever `keep` raises ends it too.
    """
    deadline = time.monotonic() + rules.seconds
    seen = [address]
    while True:
        answer = _asked(seen[-1], known, rules, keep, deadline)
        if isinstance(answer, Page):
            return answer
        if len(seen) > MOST_REDIRECTS or answer in seen:
            raise PageUnusable(address=address, reason=f"it redirects in a circle, or more than {MOST_REDIRECTS} times")
        seen.append(answer)


def _asked(
    address: str,
    known: Validators,
    rules: FetchRules,
    keep: Callable[[Iterator[bytes]], Kept],
    deadline: float,
) -> Page[Kept] | str:
    """What a server answers, or the address to which it sends us."""
    # Loading them takes longer than a program that fetches nothing may wait for.
    import httpcore2

    try:
        with (
            _connections(address, rules, deadline) as pool,
            pool.stream("GET", address, headers=_headers(known, rules), extensions=_timeouts()) as response,
        ):
            headers = _read_headers(response)
            if response.status in _REDIRECTS and headers["location"]:
                return joined(address, headers["location"])
            body = _body(response, headers["content-encoding"], address) if response.status == 200 else None
            return _page(response.status, address, headers, keep(body) if body is not None else None)
    except WenyuanError:
        raise
    except (httpcore2.TimeoutException, TimeoutError) as error:
        raise PageUnavailable(address=address, reason=f"it did not answer within {rules.seconds:g} s") from error
    except (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, zlib.error) as error:
        raise PageUnusable(address=address, reason=_said(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProxyError, OSError) as error:
        raise _unreachable(address, error) from error


def _unreachable(address: str, error: BaseException) -> WenyuanError:
    causes = _causes(error)
    certificate = next((one for one in causes if isinstance(one, ssl.SSLCertVerificationError)), None)
    if certificate is not None:
        return PageUnusable(address=address, reason=f"its certificate is not valid ({certificate.verify_message})")
    if isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME:
        return PageUnusable(address=address, reason="there is no host of that name")
    return PageUnavailable(address=address, reason=_said(error))


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _said(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _connections(address: str, rules: FetchRules, deadline: float) -> httpcore2.ConnectionPool:
    import httpcore2

    proxy = _proxy(address) if rules.use_proxies else None
    if proxy is not None and not rules.allow_private:
        _refuse_what_is_known_private(address)
    # The proxy itself was chosen by whoever runs this, and may be anywhere.
    guarded: Any = GuardedConnections(deadline, allow_private=rules.allow_private or proxy is not None)
    return httpcore2.ConnectionPool(
        ssl_context=httpcore2.default_ssl_context(),
        proxy=httpcore2.Proxy(proxy) if proxy is not None else None,
        network_backend=guarded,
        max_connections=1,
    )


def _proxy(address: str) -> str | None:
    parts = urlsplit(address)
    if urllib.request.proxy_bypass(parts.netloc):
        return None
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        raise AddressRefused(address=address, reason="only proxies with an http or https address are used")
    return proxy


def _refuse_what_is_known_private(address: str) -> None:
    parts = urlsplit(address)
    try:
        permitted_addresses(parts.hostname or "", parts.port or 0, allow_private=False)
    except OSError:
        # Behind a proxy a name may be unknown here and known there.
        return


def _headers(known: Validators, rules: FetchRules) -> Mapping[bytes | str, bytes | str]:
    headers: dict[bytes | str, bytes | str] = {"User-Agent": rules.agent, "Accept": _WANTED}
    headers["Accept-Encoding"] = "gzip, deflate"
    if known.etag:
        headers["If-None-Match"] = known.etag
    if known.last_modified:
        headers["If-Modified-Since"] = known.last_modified
    return headers


def _timeouts() -> dict[str, Any]:
    seconds = {"connect": _CONNECT_SECONDS, "read": _READ_SECONDS, "write": _READ_SECONDS, "pool": _READ_SECONDS}
    return {"timeout": seconds}


def _read_headers(response: httpcore2.Response) -> Mapping[str, str]:
    names = ("location", "content-type", "content-encoding", "etag", "last-modified", "retry-after")
    found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
    return {name: found.get(name, "").strip() for name in names}


def _page(status: int, address: str, headers: Mapping[str, str], kept: Kept | None) -> Page[Kept]:
    message = Message()
    message["content-type"] = headers["content-type"] or "application/octet-stream"
    media_type = message.get_content_type() if headers["content-type"] else ""
    return Page(
        status,
        address,
        media_type,
        message.get_content_charset() or "",
        Validators(headers["etag"], headers["last-modified"]),
        headers["retry-after"] or None,
        kept,
    )


def _body(response: httpcore2.Response, encoding: str, address: str) -> Iterator[bytes]:
    """The content in pieces, unpacked a piece at a time: what little bytes can become is bounded by who reads them."""
    pieces = response.iter_stream()
    match encoding.lower():
        case "" | "identity":
            return iter(pieces)
        case "gzip" | "x-gzip" | "deflate":
            return _unpacked(pieces, address)
    raise PageUnusable(address=address, reason=f"it is packed as {encoding!r}, which was not asked for")


def _unpacked(pieces: Iterator[bytes], address: str) -> Iterator[bytes]:
    # With 32 added, zlib takes what gzip and zlib made alike (RFC 1950 and 1952).
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
    for piece in pieces:
        left = piece
        while left and not unpacking.eof:
            yield unpacking.decompress(left, _PIECE_BYTES)
            left = unpacking.unconsumed_tail
    if not unpacking.eof:
        raise PageUnusable(address=address, reason="it ends too early")
