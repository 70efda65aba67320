"""`/mcp`: the Model Context Protocol on the same server, with the same keys and limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, TypeVar

from fastapi import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from wenyuan.doors.http.call import Call
from wenyuan.doors.http.house import House
from wenyuan.doors.http.key_calls import key_call
from wenyuan.errors import MethodNotAllowed, PackageMissing
from wenyuan.runtime.granted import GrantedLibrary

Result = TypeVar("Result")

PATH = "/mcp"
_CALL = "wenyuan.call"
# Loaded when first asked for: most servers are never asked by this protocol.
_APPLICATION = "wenyuan.doors.mcp.http"


class McpEndpoint:
    def __init__(self, house: House) -> None:
        self._house = house
        self._application: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises `KeyRequired`, `KeyRefused`, `MethodNotAllowed` or `PackageMissing` before anything is answered."""
        request = Request(scope)
        call = key_call(request)
        # Whoever is not let in learns so before the protocol begins.
        await call.run(call.caller)
        if request.method != "POST":
            # Nothing is told without being asked, and there are no sessions to end.
            raise MethodNotAllowed(path=PATH, method=request.method, allowed="POST")
        if self._application is None:
            self._application = await call.run(self._load)
        await self._application({**scope, _CALL: call}, receive, send)

    def _load(self) -> ASGIApp:
        settings = self._house.settings
        try:
            make: Callable[..., ASGIApp] = import_module(_APPLICATION).StreamableHttp
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types"):
                raise
            raise PackageMissing(what="The Model Context Protocol", package="mcp", install="wenyuan[mcp]") from error
        return make(_asking, writes=settings.mcp_writes, body_bytes=settings.body_bytes)


def _asking(context: Any, ask: Callable[[GrantedLibrary], Result]) -> Awaitable[Result]:
    call: Call = context.request.scope[_CALL]
    return call.run(lambda: ask(GrantedLibrary(call.house.library, call.caller())))


def mcp_route(house: House) -> Route:
    """Where the protocol is spoken."""
    return Route(PATH, endpoint=McpEndpoint(house), include_in_schema=False)
