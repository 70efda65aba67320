"""The cookie by which a browser that is signed in is known (RFC 6265)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from wenyuan.doors.http.house import House

CSRF_HEADER = "X-CSRF-Token"
_LONGEST = 200
_DAY_SECONDS = 86_400


def cookie_name(library: Path) -> str:
    """Each library has its own: browsers share cookies between all ports of a machine."""
    return f"wenyuan_{hashlib.sha256(str(library).encode('utf-8', 'replace')).hexdigest()[:10]}"


def token_of(request: Request, house: House) -> str:
    """The token that a browser holds for this library; empty where it has none."""
    token = request.cookies.get(cookie_name(house.library.path), "")
    return token if len(token) <= _LONGEST else ""


def keep_token(response: Response, request: Request, house: House, token: str) -> None:
    """Give a browser a token that no script reads, and that no page of another site has it send."""
    response.set_cookie(
        cookie_name(house.library.path),
        token,
        max_age=int(house.settings.sign_in_days * _DAY_SECONDS),
        path=f"{house.options.path}/",
        # Behind a proxy, it is the one that is trusted who says that there is TLS before it.
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="strict",
    )


def forget_token(response: Response, request: Request, house: House) -> None:
    response.delete_cookie(
        cookie_name(house.library.path),
        path=f"{house.options.path}/",
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="strict",
    )
