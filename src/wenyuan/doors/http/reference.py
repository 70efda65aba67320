"""The reference page of the HTTP interface, made from its own description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import dedent
from typing import Any

from wenyuan.doors.http.application import PREFIX, described_routes
from wenyuan.doors.http.problems import status_of
from wenyuan.errors import WenyuanError, WorkInterrupted

_INTRODUCTION = """\
    # The HTTP interface

    This page is made from the program: `python -m tests.docs.reference_pages`.
    How to start a server and ask it is told in [how to serve a library](../how-to-serve.md).

    Every path below begins with `/api/v1`; `/api/v1/openapi.json` describes each request and answer in full (OpenAPI
    3.1). Answers are the same values that the Python interface gives, as JSON.

    ## Keys

    `Authorization: Bearer KEY`. On an address of its own machine alone, a server is open until the first key is made;
    from then on, and on any other address, everyone needs one. A key has scopes (`read` searches and shows, `write`
    adds and changes documents, `admin` does everything) and may be granted some knowledge bases alone. What is not
    granted looks like what does not exist: 404. Sessions are seen by the key they were begun with.

    A browser gives its key once, to `POST /sign-in`, and is known by a cookie from then on. What it changes needs the
    `csrf` of that answer, or of `GET /me`, as X-CSRF-Token; otherwise it is refused (403, `csrf-refused`).

    ## Errors

    Errors are `application/problem+json` (RFC 9457) with a `code` that never changes, a `detail` and a `hint`, in
    English or Chinese as Accept-Language prefers. With 429 and 503 comes Retry-After.

    ```json
    {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "There is no document 'doc_01'.",
     "code": "document-not-found", "hint": "`wenyuan docs list` shows the documents with their ids."}
    ```

    ## Pages, tags and repeats

    Lists of documents and passages come in pages: `next_cursor` is given again as `cursor`, and is null at the end.
    Documents, knowledge bases and original files have an ETag, and If-None-Match answers 304. What makes something
    takes an `Idempotency-Key`: sent again with it within a day, it is done once and answered as it was at first. A
    request that was cut short because its server was killed is done again; documents are known by their names, so that
    it gives the same document.

    ## Events

    `POST /chat` and `GET /jobs/events` answer with server-sent events, each with a `seq` that grows, and a comment as
    a sign of life now and then. A chat tells of `router.decision`, `rag.rewrite`, `rag.embed`, `tool.call.start`,
    `tool.call.end`, `rag.sources`, any number of `assistant.delta` and at the end of one `assistant.message` or
    `error`. Job events go on behind the number in Last-Event-ID.
    """


def reference() -> str:
    """The page, in Markdown."""
    return dedent(_INTRODUCTION) + "\n" + "\n".join([*_routes(), *_codes(), ""])


def _routes() -> Iterator[str]:
    document = described_routes().openapi()
    by_tag: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name = f"{method.upper()} {path.removeprefix(PREFIX)}"
            by_tag.setdefault(operation["tags"][-1], []).append((name, operation))
    for tag, routes in by_tag.items():
        yield f"## {tag.capitalize()}\n"
        for name, operation in routes:
            yield f"### `{name}`\n\n{operation['description']}\n"
            asked = list(_parameters(operation))
            yield from [*asked, ""] if asked else []
            yield f"Answers: {', '.join(_statuses(operation))}.\n"


def _parameters(operation: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query":
            told = parameter.get("description", "")
            yield f"- `{parameter['name']}`{_default(parameter['schema'])}{': ' if told else ''}{told}"
    body = operation.get("requestBody", {}).get("content", {})
    for kind, content in body.items():
        schema = content["schema"].get("$ref", "").rpartition("/")[2]
        yield f"- body: {f'`{schema}` ' if schema else ''}as {kind}"


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    return f" ({value})" if value not in (None, "", False) else ""


def _statuses(operation: Mapping[str, Any]) -> Iterator[str]:
    for status, answer in sorted(operation["responses"].items()):
        if int(status) >= 400:
            continue
        schemas = [content.get("schema", {}).get("$ref", "") for content in answer.get("content", {}).values()]
        name = schemas[0].rpartition("/")[2] if schemas else ""
        yield f"{status} `{name}`" if name else status


def _codes() -> Iterator[str]:
    yield "## Codes\n\n| code | status |\n|---|---|"
    seen: dict[str, int] = {}
    for kind in _family(WenyuanError):
        if "code" in vars(kind) and not issubclass(kind, WorkInterrupted):
            seen.setdefault(kind.code, status_of(kind))
    for code, status in sorted(seen.items(), key=lambda one: (one[1], one[0])):
        yield f"| `{code}` | {status} |"


def _family(kind: type[WenyuanError]) -> Iterator[type[WenyuanError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)
