"""One request: who makes it, what it asks of the library, and how that is answered."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic_core import to_json

from wenyuan.doors.http.cookies import CSRF_HEADER, token_of
from wenyuan.doors.http.house import BODY_IS_WHOLE, House
from wenyuan.doors.http.known import is_known
from wenyuan.doors.http.problems import is_chinese, problem_body
from wenyuan.doors.http.wording import reworded
from wenyuan.errors import CsrfRefused, KeyRefused, RequestInvalid, WenyuanError
from wenyuan.runtime.access import Caller as Holder
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.repeats import Outcome
from wenyuan.runtime.sign_ins import is_csrf_of

Result = TypeVar("Result")
Ask = Callable[[GrantedLibrary], Result]

JSON = "application/json"
KNOWN: dict[int | str, dict[str, Any]] = {304: {"description": "It is what the caller has."}}
"""How a route that answers with an ETag may answer as well."""

_BEARER = HTTPBearer(auto_error=False, scheme_name="key", description="A key made with `wenyuan keys create`.")
_LONGEST_REPEAT_KEY = 255
_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE"})
_SAFE = frozenset({"GET", "HEAD"})
# RFC 6177: a site has a network of its own, whose last 64 bits it gives as it likes.
_ONE_MACHINE_BITS = 64


class Call:
    """`token` is what the cookie of a browser holds, empty without one; a key that is sent as well goes before it."""

    def __init__(self, request: Request, secret: str | None, token: str = "") -> None:
        self.request = request
        self.house: House = request.app.state.house
        self.token = token if secret is None else ""
        self._secret = secret

    async def ask(self, ask: Ask[Result]) -> Result:
        """Ask the library, as the caller may use it, in a thread."""
        until_left = self.until_left if self._is_heard_out() else None
        return await self.house.pool.run(lambda: ask(self._granted()), self.house.settings.request_seconds, until_left)

    async def run(self, do: Callable[[], Result]) -> Result:
        """Do something in a thread for whoever asks, let in or not."""
        return await self.house.pool.run(do, self.house.settings.request_seconds)

    async def go_on(self, ask: Ask[Result]) -> Result:
        """The same for an answer that has begun: never refused for want of room, and given up by its stream alone."""
        return await self.house.pool.run(
            lambda: ask(self._granted()), self.house.settings.request_seconds, is_admitted=True
        )

    async def write(self, do: Callable[[], Result]) -> Result:
        """Write a piece of a file, in a thread kept for that."""
        return await self.house.writers.run(do, self.house.settings.request_seconds)

    async def read(self, ask: Ask[Result]) -> Result:
        """Ask what opens a file in a process of its own: a few at a time, and others are not kept waiting by it."""
        until_left = self.until_left if self._is_heard_out() else None
        seconds = self.house.settings.request_seconds
        return await self.house.readers.run(lambda: ask(self._granted()), seconds, until_left)

    async def wait_for_model(self, ask: Ask[Result]) -> Result:
        """Ask what waits for a model's whole answer: in threads of their own."""
        until_left = self.until_left if self._is_heard_out() else None
        seconds = self.house.settings.request_seconds
        return await self.house.answering.run(lambda: ask(self._granted()), seconds, until_left)

    async def reply(self, ask: Ask[Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
        """Answer with what the library says, as JSON."""
        body = await self.ask(lambda library: self.json(ask(library)))
        return Response(body, status, headers, JSON)

    async def reply_tagged(self, ask: Ask[Any]) -> Response:
        """The same with an ETag (RFC 9110, 8.8.3), or 304 where the caller has that already."""
        body = await self.ask(lambda library: self.json(ask(library)))
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if is_known(self.request.headers, tag):
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
                return Outcome(status, location, self.json(value).decode())

            if not repeat_key:
                return do()
            request = b"\0".join((self.request.url.path.encode(), to_json(asked), discriminator))
            return self.house.library.repeats.once(library.caller.key_id, repeat_key, request, do)

        outcome = await self.ask(made)
        headers = {"Location": self.house.options.path + outcome.location} if outcome.location else None
        return Response(outcome.body, outcome.status, headers, JSON)

    def json(self, value: Any) -> bytes:
        """A value as JSON, its problems in the language that is preferred."""
        return to_json(self.in_language(value))

    def in_language(self, value: Any) -> Any:
        """The same value, its problems in the language that is preferred."""
        is_reworded = is_chinese(self.request.headers.get("accept-language", ""))
        return reworded(value, self.house.worded) if is_reworded else value

    def told(self, error: WenyuanError) -> dict[str, object]:
        """An error as an event tells it, in the language that is preferred."""
        body = problem_body(error, self.house.worded, self.request.headers.get("accept-language", ""))
        return {"code": body["code"], "message": body["detail"], "hint": body["hint"]}

    def caller(self) -> Holder:
        """Who asks: whoever holds the key, is signed in, or owns the library.

        Raises `KeyRequired` or `KeyRefused`, and `CsrfRefused` for a change that came by the cookie alone.
        """
        library = self.house.library
        signed_in = library.sign_ins.caller(self.token) if self.token else None
        if signed_in is None:
            # A cookie that opens nothing any more is as good as none.
            holder = library.access_keys.caller(self._secret, needs_key=self.house.options.needs_key)
            if self._secret is not None:
                self.house.known.remember(self._secret, holder.key_id)
            return holder
        self.house.known.remember(self.token, signed_in.key_id)
        if self.request.method not in _SAFE and not is_csrf_of(self.token, self.request.headers.get(CSRF_HEADER, "")):
            raise CsrfRefused()
        return signed_in

    def is_by_cookie(self) -> bool:
        """Whether a cookie lets the caller in."""
        return bool(self.token) and self.house.library.sign_ins.caller(self.token) is not None

    def sign_out(self) -> None:
        """End what the cookie stands for. Raises `CsrfRefused`."""
        if self.is_by_cookie():
            self.caller()
            self.house.library.sign_ins.sign_out(self.token)

    def _granted(self) -> GrantedLibrary:
        return GrantedLibrary(self.house.library, self.caller())

    def _is_heard_out(self) -> bool:
        """Whether nothing but the client's leaving can be received any more: else a piece of the body would be lost."""
        return self.request.method in _WITHOUT_BODY or BODY_IS_WHOLE in self.request.scope

    def until_left(self) -> asyncio.Task[None]:
        """Ends when the client has left; to be cancelled."""
        return asyncio.create_task(_until_left(self.request))


async def _until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def refuse_unknown_parameters(request: Request) -> None:
    """A parameter that is misspelt, or said twice, must not be passed over, as if everything had been asked for."""
    route: APIRoute = request.scope["route"]
    known = {parameter.alias for parameter in route.dependant.query_params}
    for name in request.query_params:
        if name not in known:
            raise RequestInvalid(where=f"query.{name[:100]}", reason="there is no such parameter")
        if len(request.query_params.getlist(name)) > 1:
            raise RequestInvalid(where=f"query.{name}", reason="it is given more than once")


async def _call(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Call:
    if credentials is None and "authorization" in request.headers:
        raise KeyRefused()
    secret = credentials.credentials if credentials is not None else None
    house: House = request.app.state.house
    token = token_of(request, house)
    house.pace.take(paced_as(request, secret if secret is not None else token))
    return Call(request, secret, token)


def paced_as(request: Request, secret: str) -> str:
    """Whose requests one counts among: those of its key, or, until it has let somebody in, of where it comes from."""
    house: House = request.app.state.house
    return (house.known.owner(secret) if secret else "") or client_of(request)


def client_of(request: Request) -> str:
    """The address that a request comes from; of IPv6, the network of which one machine has all addresses."""
    host = request.client.host if request.client is not None else ""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], _ONE_MACHINE_BITS), strict=False))
    except ValueError:
        return host


Caller = Annotated[Call, Depends(_call)]
"""What every route takes to answer its request."""
