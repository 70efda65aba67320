"""Requests to a server: with the key, tried again where that is safe, and answered with values or errors."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from wenyuan.client.event_streams import Event, events_of
from wenyuan.client.remote_errors import error_of
from wenyuan.errors import ServerUnreachable, WenyuanError

Value = TypeVar("Value")

_PREFIX = "/api/v1"
_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 120.0
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 5.0
_LATER = (429, 503)
_SAFE = frozenset({"GET", "HEAD"})


class Connection:
    """One server; threads may share it.

    What did not reach the server is sent again, and so is what may be sent twice without being done twice: what
    changes nothing, and what carries an Idempotency-Key.
    """

    def __init__(self, url: str, key: str, timeout: float, attempts: int) -> None:
        self.url = url.rstrip("/")
        self._attempts = max(1, attempts)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
        self._http = httpx2.Client(base_url=self.url + _PREFIX, headers=headers, timeout=limits)

    def close(self) -> None:
        self._http.close()

    def get(self, kind: type[Value], path: str, **parameters: Any) -> Value:
        """Raises what the server tells of, and `ServerUnreachable`."""
        return decoded(kind, self._sent("GET", path, params=_given(parameters)), self.url)

    def get_bytes(self, path: str) -> bytes:
        return self._sent("GET", path).content

    def ask(self, kind: type[Value], path: str, body: Mapping[str, Any]) -> Value:
        """Ask something that changes nothing; what is None is left to the server."""
        return decoded(kind, self._sent("POST", path, is_safe=True, json=_given(body)), self.url)

    def change(
        self,
        kind: type[Value],
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        says_null: bool = False,
    ) -> Value:
        """Change something, once; what is None is left as it is, unless the request `says_null` where it means that."""
        sent = body if body is None or says_null else _given(body)
        return decoded(kind, self._sent(method, path, json=sent), self.url)

    def delete(self, path: str) -> None:
        self._sent("DELETE", path)

    def create(self, kind: type[Value], path: str, body: Mapping[str, Any]) -> Value:
        """Make something, once, however often it has to be sent."""
        headers = {"Idempotency-Key": _new_key()}
        return decoded(kind, self._sent("POST", path, is_safe=True, headers=headers, json=_given(body)), self.url)

    def upload(self, kind: type[Value], path: str, form: Callable[[], Mapping[str, Any]]) -> Value:
        """Send a form, which `form` makes anew for each time it is sent."""
        headers = {"Idempotency-Key": _new_key()}
        return decoded(kind, self._sent("POST", path, form, is_safe=True, headers=headers), self.url)

    @contextmanager
    def events(self, method: str, path: str, **more: Any) -> Iterator[Iterator[Event]]:
        """The events of a stream. Raises what the server tells of before it begins, and `ServerUnreachable`."""
        # The server gives a sign of life every few seconds: silence is a connection that nobody is at any more.
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_SILENCE_SECONDS)
        with self._told(), self._http.stream(method, path, timeout=timeout, **more) as response:
            if response.is_error:
                response.read()
                raise error_of(response)
            yield events_of(response.iter_lines())

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ServerUnreachable(url=self.url, reason=_reason(error)) from error

    def _sent(
        self,
        method: str,
        path: str,
        form: Callable[[], Mapping[str, Any]] = dict,
        *,
        is_safe: bool = False,
        **more: Any,
    ) -> httpx2.Response:
        may_repeat = is_safe or method in _SAFE
        for attempt in range(1, self._attempts + 1):
            is_last = attempt == self._attempts
            try:
                response = self._http.request(method, path, **form(), **more)
            except httpx2.ConnectError as error:
                if is_last:
                    raise ServerUnreachable(url=self.url, reason=_reason(error)) from error
                wait = _wait(attempt, None)
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                if is_last or not may_repeat:
                    raise ServerUnreachable(url=self.url, reason=_reason(error)) from error
                wait = _wait(attempt, None)
            else:
                if not response.is_error:
                    return response
                error_told = error_of(response)
                if is_last or not may_repeat or response.status_code not in _LATER:
                    raise error_told
                wait = _wait(attempt, error_told)
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def _wait(attempt: int, error: WenyuanError | None) -> float:
    """Seconds until the next attempt: what the server asks for, within bounds; else a little longer each time."""
    asked = error.details.get("retry_after") if error is not None else None
    return min(_FIRST_WAIT * 2 ** (attempt - 1) if asked is None else float(asked), _LONGEST_WAIT)


def _new_key() -> str:
    return secrets.token_urlsafe(18)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    """What decodes values of a kind; it is made once, which takes longer than to use it."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def decoded(kind: type[Value], response: httpx2.Response, url: str) -> Value:
    """The value that an answer holds. Raises `ServerUnreachable` where it holds no such value."""
    try:
        value: Value = _adapter(kind).validate_json(response.content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its answer"
        raise ServerUnreachable(url=url, reason=f"{where}: {first['msg']}") from error
    return value


def value_of(kind: type[Value], data: Any) -> Value:
    """The value that decoded JSON stands for. Raises `pydantic.ValidationError`."""
    value: Value = _adapter(kind).validate_python(data)
    return value
