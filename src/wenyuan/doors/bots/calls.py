"""Calls to a chat platform's own interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from wenyuan.errors import ProviderAnswerInvalid, ProviderRefused, ProviderUnavailable

_SECONDS = 10.0
_ATTEMPTS = 2
_LONGEST_REASON = 200


class PlatformCalls:
    """Calls that send JSON and are answered JSON; one that did not reach the platform is made once more."""

    def __init__(self, bot: str, base_url: str) -> None:
        self._bot = bot
        self._http = httpx2.Client(base_url=base_url, timeout=_SECONDS)

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        """Raises `ProviderUnavailable`, `ProviderRefused` or `ProviderAnswerInvalid`."""
        response = self._sent(path, body, dict(headers or {}))
        if response.status_code >= 500:
            raise ProviderUnavailable(provider=self._bot, reason=f"HTTP {response.status_code}", retry_after=None)
        if response.is_error:
            reason = response.text[:_LONGEST_REASON]
            raise ProviderRefused(provider=self._bot, status=response.status_code, reason=reason)
        try:
            answer = response.json()
        except ValueError as error:
            raise ProviderAnswerInvalid(provider=self._bot, reason="it is not JSON") from error
        if not isinstance(answer, dict):
            raise ProviderAnswerInvalid(provider=self._bot, reason="it is not an object")
        return answer

    def _sent(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> httpx2.Response:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._http.post(path, json=body, headers=headers)
            except httpx2.HTTPError as error:
                if attempt == _ATTEMPTS or not isinstance(error, httpx2.ConnectError):
                    reason = str(error) or type(error).__name__
                    raise ProviderUnavailable(provider=self._bot, reason=reason, retry_after=None) from error
        raise AssertionError("the last attempt returns or raises")
