"""Errors that a server tells of, raised here as the classes that they are there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2

from wenyuan.client.event_streams import Event
from wenyuan.errors import RequestError, ServerUnreachable, WenyuanError


def _kinds(kind: type[WenyuanError]) -> Iterator[type[WenyuanError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _kinds(one)


def error_of(response: httpx2.Response) -> WenyuanError:
    """The error of an answer whose body was read (RFC 9457)."""
    try:
        body = response.json()
        code, message, hint = str(body["code"]), str(body["detail"]), str(body["hint"])
    except (ValueError, TypeError, KeyError):
        return ServerUnreachable(url=_origin(response), reason=f"HTTP {response.status_code}")
    return told_error(code, message, hint, is_ours=response.status_code < 500, retry_after=_retry_after(response))


def told_error(
    code: str, message: str, hint: str, *, is_ours: bool = False, retry_after: float | None = None
) -> WenyuanError:
    """The error with that code, in the server's words.

    A server may be newer and know others: these are a `RequestError` where the request is at fault (`is_ours`).
    """
    known = {kind.code: kind for kind in _kinds(WenyuanError)}
    kind = known.get(code, RequestError if is_ours else WenyuanError)
    details: dict[str, Any] = {"code": code}
    if retry_after is not None:
        details["retry_after"] = retry_after
    return kind.retold(message, hint, **details)


def event_error(event: Event) -> WenyuanError:
    """The error that a stream ends with; `saved` in its details is what was kept of an answer."""
    data = event.data
    error = told_error(str(data.get("code")), str(data.get("message", "")), str(data.get("hint", "")))
    if "saved" in data:
        error.details["saved"] = data["saved"]
    return error


def _retry_after(response: httpx2.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdigit() else None


def _origin(response: httpx2.Response) -> str:
    return str(response.request.url.copy_with(path="/", query=None)).rstrip("/")
