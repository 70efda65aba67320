"""What is looked at before any route: under which name the server is asked, from which page, and how much comes."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wenyuan.doors.http.error_answers import error_response
from wenyuan.doors.http.house import BODY_IS_WHOLE, House
from wenyuan.doors.http.page import is_for_people
from wenyuan.errors import BodyTooLarge, BodyTooSlow, HostRefused, OriginRefused, ServerBusy, WenyuanError

_LOG = logging.getLogger("wenyuan.http")
_UPLOAD = "/upload"
_PREFIX = "/api/v1"
_HEALTH = f"{_PREFIX}/health"
_ASKING = frozenset(("/api/v1/search", "/api/v1/retrieve", "/api/v1/chat", "/v1/chat/completions"))
_BESIDES_THE_FILE = 1 << 20
_AN_ERROR = 400
_RETRY_SECONDS = (2, 6)
_HEARD_OUT, _HEARD_OUT_SECONDS = 8 << 20, 2.0
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _Refused(Exception):
    """The request was answered already; whatever the routes do with it now is not sent."""


class Guard:
    def __init__(self, app: ASGIApp, house: House) -> None:
        self._app = app
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = _below(scope, self._house.options.path)
        guarded = _Guarded(self._house, scope, receive, send)
        with self._house.library.telemetry.request(scope["method"], scope["path"], guarded.headers) as outcome:
            try:
                guarded.check()
                await self._app(scope, guarded.receive, guarded.send)
            except WenyuanError as error:
                await guarded.refuse(error)
            except _Refused:
                pass
            finally:
                outcome.update(guarded.count())


class _Guarded:
    """One request on its way."""

    def __init__(self, house: House, scope: Scope, receive: Receive, send: Send) -> None:
        self._house = house
        self._scope = scope
        self._receive = receive
        self._send = send
        self.headers = Headers(scope=scope)
        self._began = time.perf_counter()
        self._size = 0
        self._is_whole = False
        self._is_slow = False
        self._is_refused = False
        self._status = 0
        is_upload = scope["method"] == "POST" and scope["path"].endswith(_UPLOAD)
        files = house.library.settings.limits.file_bytes + _BESIDES_THE_FILE
        self._limit = files if is_upload else house.settings.body_bytes

    def check(self) -> None:
        """Raises `HostRefused`, `OriginRefused`, `BodyTooLarge` or `ServerBusy`."""
        host = self.headers.get("host", "").lower()
        hosts = self._house.options.hosts
        # A page elsewhere can make its own name lead here, but has that name in its requests (DNS rebinding).
        if hosts and _without_port(host) not in hosts:
            raise HostRefused(host=host[:200])
        origin = self.headers.get("origin")
        if origin is not None and _host_of(origin) != host:
            raise OriginRefused(origin=origin[:200])
        if self.headers.get("sec-fetch-site", "same-origin") == "cross-site" and not self._is_opening_the_page():
            raise OriginRefused(origin="another site")
        announced = self.headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > self._limit:
            raise BodyTooLarge(limit=self._limit)
        # Whoever looks whether the server is alive must not take one that has much to do for dead.
        has_too_many = len(self._house.connections) > self._house.settings.connections
        if has_too_many and self._scope["path"] != _HEALTH:
            raise ServerBusy()
        # It would be refused in the end: before it is read and looked at, that costs least of what is scarce.
        if self._house.pool.is_full and self._scope["path"] in _ASKING:
            # Whoever is sent away is not sent back all at once with the others: to refuse costs time as well.
            raise ServerBusy(retry_after=random.randint(*_RETRY_SECONDS))

    def _is_opening_the_page(self) -> bool:
        """Whether somebody followed a link to the page: it shows nothing before it has asked for itself."""
        is_navigation = self.headers.get("sec-fetch-mode") == "navigate"
        return is_navigation and self._scope["method"] == "GET" and is_for_people(self._scope["path"])

    async def receive(self) -> Message:
        message = await self._next()
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            if not message.get("more_body", False):
                self._is_whole = True
                self._scope[BODY_IS_WHOLE] = True
            if self._size > self._limit:
                await self.refuse(BodyTooLarge(limit=self._limit))
                raise _Refused()
        return message

    async def _next(self) -> Message:
        if self._is_whole:
            return await self._receive()
        seconds = self._house.settings.body_seconds
        try:
            return await asyncio.wait_for(self._receive(), seconds)
        except TimeoutError as error:
            self._is_slow = True
            await self.refuse(BodyTooSlow(seconds=seconds))
            raise _Refused() from error

    async def send(self, message: Message) -> None:
        if self._is_refused:
            raise _Refused()
        await self._send_safely(message)

    async def refuse(self, error: WenyuanError) -> None:
        if self._status == 0:
            accepted = self.headers.get("accept-language", "")
            response = error_response(self._scope["path"], error, self._house.worded, accepted)
            await response(self._scope, self._receive, self._send_safely)
        self._is_refused = True

    async def _send_safely(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            if self._status >= _AN_ERROR:
                await self._hear_out()
            headers = MutableHeaders(scope=message)
            for name, value in _SAFE.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def _hear_out(self) -> None:
        """Receive what is left of the body, within bounds: closing on unread bytes would lose the answer."""
        left = 0 if self._is_slow or not self._is_sending() else _HEARD_OUT
        while left > 0 and not self._is_whole:
            try:
                message = await asyncio.wait_for(self._receive(), _HEARD_OUT_SECONDS)
            except TimeoutError:
                return
            if message["type"] != "http.request":
                return
            left -= len(message.get("body", b""))
            self._is_whole = not message.get("more_body", False)

    def _is_sending(self) -> bool:
        """Whether there is a body, and its sender does not wait to be asked for it (RFC 9110, 10.1.1)."""
        announced = self.headers.get("content-length", "0") != "0" or "transfer-encoding" in self.headers
        return announced and (self._size > 0 or "expect" not in self.headers)

    def count(self) -> dict[str, object]:
        """Count it, and tell what it came to: its `route`, and its `status`."""
        seconds = time.perf_counter() - self._began
        route = getattr(self._scope.get("route"), "path", "none")
        self._house.metrics.count(self._scope["method"], route, self._status, seconds)
        _LOG.info("%s %s %d %.1f ms", self._scope["method"], self._scope["path"], self._status, seconds * 1000)
        # The template of a route does not hold what stands before all of them.
        is_ours = self._scope["path"].startswith(f"{_PREFIX}/") and route.startswith("/")
        return {"route": f"{_PREFIX}{route}" if is_ours else route, "status": self._status}


def _below(scope: Scope, base: str) -> Scope:
    """The request without the path that goes before every path, where a proxy has left that in it."""
    path = scope["path"]
    if not base or not (path == base or path.startswith(f"{base}/")):
        return scope
    return {**scope, "path": path[len(base) :] or "/", "raw_path": None}


def _host_of(origin: str) -> str:
    """The name and port in an origin; empty in what is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if name and port.isdigit() else host
