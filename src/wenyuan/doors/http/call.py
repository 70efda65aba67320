"""One request: who makes it, what it asks of the library, and how that is answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic_core import to_json

from wenyuan.doors.http.house import BODY_IS_WHOLE, House
from wenyuan.doors.http.problems import problem_body
from wenyuan.errors import KeyRefused, RequestInvalid, WenyuanError
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.repeats import Outcome

Result = TypeVar("Result")
Ask = Callable[[GrantedLibrary], Result]

JSON = "application/json"
KNOWN: dict[int | str, dict[str, Any]] = {304: {"description": "It is what the caller has."}}
"""How a route that answers with an ETag may answer as well."""

_BEARER = HTTPBearer(auto_error=False, scheme_name="key", description="A key made with `wenyuan keys create`.")
_LONGEST_REPEAT_KEY = 255
_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE"})


class Call:
    def __init__(self, request: Request, secret: str | None) -> None:
        self.request = request
        self.house: House = request.app.state.house
        self._secret = secret

    async def ask(self, ask: Ask[Result]) -> Result:
        """Ask the library, as the caller may use it, in a thread."""
        until_left = self._until_left if self._is_heard_out() else None
        return await self.house.pool.run(lambda: ask(self._granted()), self.house.settings.request_seconds, until_left)

    async def go_on(self, ask: Ask[Result]) -> Result:
        """The same for an answer that has begun: never refused for want of room, and given up by its stream alone."""
        return await self.house.pool.run(
            lambda: ask(self._granted()), self.house.settings.request_seconds, is_admitted=True
        )

    async def write(self, do: Callable[[], Result]) -> Result:
        """Write a piece of a file, in a thread kept for that."""
        return await self.house.writers.run(do, self.house.settings.request_seconds)

    async def reply(self, ask: Ask[Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
        """Answer with what the library says, as JSON."""
        body = await self.ask(lambda library: to_json(ask(library)))
        return Response(body, status, headers, JSON)

    async def reply_tagged(self, ask: Ask[Any]) -> Response:
        """The same with an ETag (RFC 9110, 8.8.3), or 304 where the caller has that already."""
        body = await self.ask(lambda library: to_json(ask(library)))
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if is_known(self.request, tag):
            return Response(status_code=304, headers=headers)
        return Response(body, 200, headers, JSON)

    async def create(self, asked: object, make: Ask[tuple[int, str, Any]], discriminator: bytes = b"") -> Response:
        """Answer with what is made: its status, its location and itself; once for each Idempotency-Key.

        What was `asked`, and the `discriminator`, tell one request from another.
        """
        repeat_key = self.request.headers.get("idempotency-key", "")
        if len(repeat_key) > _LONGEST_REPEAT_KEY:
            raise RequestInvalid(
                where="Idempotency-Key", reason=f"it may have {_LONGEST_REPEAT_KEY} characters at most"
            )

        def made(library: GrantedLibrary) -> Outcome:
            def do() -> Outcome:
                status, location, value = make(library)
                return Outcome(status, location, to_json(value).decode())

            if not repeat_key:
                return do()
            request = b"\0".join((self.request.url.path.encode(), to_json(asked), discriminator))
            return self.house.library.repeats.once(library.caller.key_id, repeat_key, request, do)

        outcome = await self.ask(made)
        headers = {"Location": outcome.location} if outcome.location else None
        return Response(outcome.body, outcome.status, headers, JSON)

    def told(self, error: WenyuanError) -> dict[str, object]:
        """An error as an event tells it, in the language that is preferred."""
        body = problem_body(error, self.house.worded, self.request.headers.get("accept-language", ""))
        return {"code": body["code"], "message": body["detail"], "hint": body["hint"]}

    def _granted(self) -> GrantedLibrary:
        library = self.house.library
        caller = library.access_keys.caller(self._secret, needs_key=self.house.options.needs_key)
        return GrantedLibrary(library, caller)

    def _is_heard_out(self) -> bool:
        """Whether nothing but the client's leaving can be received any more: else a piece of the body would be lost."""
        return self.request.method in _WITHOUT_BODY or BODY_IS_WHOLE in self.request.scope

    def _until_left(self) -> asyncio.Task[None]:
        return asyncio.create_task(_until_left(self.request))


async def _until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def is_known(request: Request, tag: str) -> bool:
    """Whether the caller's If-None-Match names this tag."""
    known = request.headers.get("if-none-match", "")
    return known.strip() == "*" or tag in {one.strip().removeprefix("W/") for one in known.split(",")}


async def refuse_unknown_parameters(request: Request) -> None:
    """A parameter that is misspelt must not be passed over, as if everything had been asked for."""
    route: APIRoute = request.scope["route"]
    known = {parameter.alias for parameter in route.dependant.query_params}
    for name in request.query_params:
        if name not in known:
            raise RequestInvalid(where=f"query.{name[:100]}", reason="there is no such parameter")


async def _call(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Call:
    if credentials is None and "authorization" in request.headers:
        raise KeyRefused()
    secret = credentials.credentials if credentials is not None else None
    house: House = request.app.state.house
    client = request.client.host if request.client is not None else ""
    house.pace.take(client if secret is None else hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest())
    return Call(request, secret)


Caller = Annotated[Call, Depends(_call)]
"""What every route takes to answer its request."""
