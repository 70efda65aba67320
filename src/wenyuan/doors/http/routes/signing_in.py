"""Signing a browser in with a key, and out; who is asking."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from fastapi import APIRouter, Response
from pydantic_core import to_json
from starlette.requests import Request

from wenyuan.doors.http.answers import Me, SignedInAs
from wenyuan.doors.http.bodies import SignIn
from wenyuan.doors.http.call import JSON, Caller, client_of
from wenyuan.doors.http.cookies import forget_token, keep_token, token_of
from wenyuan.doors.http.house import House
from wenyuan.errors import KeyRequired
from wenyuan.runtime.access import Caller as Holder
from wenyuan.runtime.sign_ins import SignedIn, csrf_of

router = APIRouter(tags=["signing in"])

_LANGUAGES = ("en", "zh")
_KEY_OR_NONE: dict[str, Any] = {"security": [{}]}
"""What the description says of a route that answers those as well who are not let in."""


@router.post("/sign-in", response_model=SignedInAs)
async def sign_in(request: Request, body: SignIn) -> Response:
    """Sign a browser in with a key: it gets a cookie in its place, for requests of this server's own page.

    With the cookie, what is no GET needs the `csrf` of this answer in the header X-CSRF-Token. Needs no other key.
    """
    house: House = request.app.state.house
    house.sign_in_pace.take(client_of(request))

    def signed_in() -> tuple[SignedIn, bytes]:
        made, before = house.library.sign_ins.sign_in(body.key), token_of(request, house)
        if before:
            house.library.sign_ins.sign_out(before)
        return made, to_json(SignedInAs(made.caller.name, _scopes(made.caller), _granted(made.caller), made.csrf))

    made, answer = await house.pool.run(signed_in, house.settings.request_seconds)
    response = Response(answer, 200, media_type=JSON)
    keep_token(response, request, house, made.token)
    return response


@router.post("/sign-out", status_code=204, openapi_extra=_KEY_OR_NONE)
async def sign_out(call: Caller) -> Response:
    """Sign this browser out; its cookie opens nothing from now on."""
    await call.run(lambda: call.sign_out())
    response = Response(status_code=204)
    forget_token(response, call.request, call.house)
    return response


@router.get("/me", response_model=Me, openapi_extra=_KEY_OR_NONE)
async def me(call: Caller) -> Response:
    """Tell who asks, and what that one may do; whoever is not let in learns that a key is needed."""

    def told() -> bytes:
        try:
            caller = call.caller()
        except KeyRequired:
            return to_json(Me("", (), (), True, False, None, "", _LANGUAGES))
        csrf = csrf_of(call.token) if call.is_by_cookie() else None
        version = metadata.version("wenyuan")
        needs_key = bool(caller.key_id)
        return to_json(
            Me(caller.name, _scopes(caller), _granted(caller), needs_key, csrf is not None, csrf, version, _LANGUAGES)
        )

    return Response(await call.run(told), media_type=JSON)


def _scopes(caller: Holder) -> tuple[str, ...]:
    return tuple(sorted(caller.scopes))


def _granted(caller: Holder) -> tuple[str, ...] | None:
    return None if caller.knowledge_bases is None else tuple(sorted(caller.knowledge_bases))
