"""How an error is answered: to programs written for OpenAI's API in their shape, to all others as a problem."""

from __future__ import annotations

from fastapi import Response
from pydantic_core import to_json

from wenyuan.doors.http.openai.problems import error_body, error_status, speaks_openai
from wenyuan.doors.http.problems import Worded, problem_response
from wenyuan.errors import WenyuanError

_JSON = "application/json"


def error_response(path: str, error: WenyuanError, worded: Worded, accepted: str) -> Response:
    """The answer to a request for that path; `accepted` is its Accept-Language."""
    problem = problem_response(error, worded, accepted)
    if not speaks_openai(path):
        return problem
    headers = {name: value for name, value in problem.headers.items() if not name.startswith("content-")}
    return Response(to_json(error_body(error, worded, accepted)), error_status(type(error)), headers, _JSON)
