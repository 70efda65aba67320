"""Errors in the shape and with the statuses that clients of OpenAI's API expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wenyuan.doors.http.problems import Worded, problem_body, status_of
from wenyuan.errors import WenyuanError

PREFIX = "/v1"

# What no such client knows, said with what it does know.
_STATUS: Mapping[int, int] = {422: 400, 410: 404, 421: 403, 502: 500, 504: 500, 507: 500}
_KIND: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def speaks_openai(path: str) -> bool:
    """Whether a path belongs to those who expect such errors."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def error_status(kind: type[WenyuanError]) -> int:
    status = status_of(kind)
    return _STATUS.get(status, status)


def error_body(error: WenyuanError, worded: Worded, accepted: str) -> dict[str, Any]:
    """The error, its hint said in the message too: of the rest, most programs show nothing."""
    status, problem = error_status(type(error)), problem_body(error, worded, accepted)
    kind = "server_error" if status >= 500 else _KIND.get(status, "invalid_request_error")
    message = f"{problem['detail']} {problem['hint']}"
    where = error.details.get("where")
    return {
        "error": {
            "message": message,
            "type": kind,
            "param": where.removeprefix("body.") if isinstance(where, str) and where != "body" else None,
            "code": problem["code"],
        }
    }
