"""An endpoint on loopback that answers as a test tells it to, or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import serving_on_loopback

Answer = Callable[["Exchange"], None]


class Exchange:
    """One request, and the ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, request: dict[str, Any], over: threading.Event) -> None:
        self._handler = handler
        self._over = over
        self.request = request
        self.headers = handler.headers

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.begin(status, len(body), headers)
        self._handler.wfile.write(body)

    def begin(self, status: int, length: int, headers: dict[str, str] | None = None) -> None:
        self._handler.send_response(status)
        for name, value in (headers or {}).items():
            self._handler.send_header(name, value)
        self._handler.send_header("Content-Length", str(length))
        self._handler.end_headers()

    def send(self, part: bytes) -> None:
        self._handler.wfile.write(part)
        self._handler.wfile.flush()

    def hang(self, seconds: float | None = None) -> bool:
        """Do nothing until the test is over, or for so many seconds; tell whether it is over."""
        return self._over.wait(seconds)

    def cut(self) -> None:
        self._handler.close_connection = True


@dataclass
class ScriptedServer:
    """Gives one answer of the script to each request; the last one again and again."""

    base_url: str
    script: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    connections: set[tuple[str, int]] = field(default_factory=set)


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(request)
            state.keys.append(self.headers["Authorization"])
            state.paths.append(self.path)
            state.connections.add(self.client_address)
            answer = state.script.pop(0) if len(state.script) > 1 else state.script[0]
            try:
                answer(Exchange(self, request, over))
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with serving_on_loopback(Handler) as address:
        state = ScriptedServer(f"{address}/v1")
        try:
            yield state
        finally:
            over.set()
