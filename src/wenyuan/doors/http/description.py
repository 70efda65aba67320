"""The OpenAPI description: every answer of every route, errors included."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from pydantic_core import to_json

from wenyuan.doors.http.answers import ProblemBody
from wenyuan.doors.http.house import House
from wenyuan.doors.http.problems import PROBLEM_JSON

_ABOUT = """Search and answers from a library of documents.

Errors are `application/problem+json` (RFC 9457) with a `code` that never changes. Sentences are in English or
Chinese, as Accept-Language prefers. `Idempotency-Key` on what makes something has it made once, however often it is
sent within a day.
"""
# A `Problem` is what the library keeps beside what failed.
_PROBLEM = "ProblemDetails"
_EXAMPLE = {
    "type": "about:blank",
    "title": "Not Found",
    "status": 404,
    "detail": "There is no document 'doc_01'.",
    "code": "document-not-found",
    "hint": "`wenyuan docs list` shows the documents with their ids.",
}
_ALWAYS = {
    400: "The request cannot be read.",
    403: "The key may not do this, or a page of another site asked.",
    421: "The server does not answer to this name.",
    422: "The request is not as it must be.",
    429: "Too many requests; Retry-After says when to ask again.",
    500: "Something went wrong inside.",
    503: "Not now; Retry-After says when to ask again.",
}
_KEYED = {401: "A key is needed, or this one is not known."}
_NAMED = {404: "There is nothing of that name, or it is not granted."}
_STORED = {409: "How things stand does not allow it.", 507: "The disk is full."}
_BODY = {408: "The body came too slowly.", 413: "The body is too large."}
_MODEL = {502: "A model's provider failed.", 504: "A model's provider did not answer in time."}
_FILE = {410: "The file is gone.", 416: "The range is not in the file."}


def describe(app: FastAPI, path: str) -> None:
    """Let the application publish its description at a path, made in a thread when it is first asked for."""

    def made() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    async def published(request: Request) -> Response:
        house: House = request.app.state.house
        body = await house.pool.run(lambda: to_json(app.openapi()), house.settings.request_seconds)
        return Response(body, media_type="application/json")

    app.openapi = made  # type: ignore[method-assign]
    app.add_route(path, published, include_in_schema=False)


def _described(app: FastAPI) -> dict[str, Any]:
    described = get_openapi(title=app.title, version="1", description=_ABOUT, routes=app.routes)
    schemas = described["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas[_PROBLEM] = {**TypeAdapter(ProblemBody).json_schema(), "title": _PROBLEM, "examples": [_EXAMPLE]}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            _complete(path, method, operation)
    return described


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    responses: dict[str, Any] = operation["responses"]
    responses.pop("422", None)
    statuses = dict(_ALWAYS)
    for applies, more in (
        ("security" in operation or path.endswith("/sign-in"), _KEYED),
        ("{" in path or method == "post" or path.endswith(_NAMING), _NAMED),
        (method != "get", {**_STORED, **_BODY, **_MODEL}),
        (path.endswith("/original"), _FILE),
    ):
        statuses |= more if applies else {}
    for status, meaning in statuses.items():
        responses[str(status)] = {
            "description": meaning,
            "content": {PROBLEM_JSON: {"schema": {"$ref": f"#/components/schemas/{_PROBLEM}"}}},
        }
    # What is no HTTP never reaches the routes: the server itself says so, in plain text.
    responses["400"]["content"]["text/plain"] = {"schema": {"type": "string"}}
    if method == "post" and path.endswith(_REPEATABLE):
        operation.setdefault("parameters", []).append(_REPEAT_KEY)


_NAMING = ("/sources", "/compare")
_REPEATABLE = ("/knowledge-bases", "/sessions", "/upload", "/text", "/url", "/examples")
_REPEAT_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A value of your own: sent again with it within a day, the request is answered as it was at first.",
    "schema": {"type": "string", "maxLength": 255},
}
