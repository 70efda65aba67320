"""A relay before a server, which fails in a way of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import httpx2

from tests.loopback import serving_on_loopback


@dataclass
class Relay:
    """Where it is, and what came: the method, path and headers of each request."""

    url: str = ""
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


Fault = Callable[[int, BaseHTTPRequestHandler, httpx2.Response], bool]
"""Given the number of a request, and what the server answers: whether it answered in another way itself."""


@contextmanager
def relaying(url: str, fault: Fault) -> Iterator[Relay]:
    relay = Relay()

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items() if name.lower() != "host"}
            relay.seen.append((self.command, self.path, headers))
            with httpx2.stream(self.command, url + self.path, content=body, headers=headers, timeout=30) as response:
                if fault(len(relay.seen), self, response):
                    return
                response.read()
                answer(self, response.status_code, response.content, response.headers.get("content-type", ""))

        do_GET = do_POST = do_PATCH = do_DELETE = handle_one  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with serving_on_loopback(Handler) as relay.url:
        yield relay


def answer(handler: BaseHTTPRequestHandler, status: int, body: bytes, media_type: str = "text/plain") -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", media_type)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
