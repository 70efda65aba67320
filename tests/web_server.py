"""A web server on loopback that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Answer:
    """What to answer; `stream` writes the body itself, piece by piece."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: Callable[[Callable[[bytes], None]], None] | None = None


class WebServer:
    def __init__(self, address: str = "127.0.0.1") -> None:
        self.pages: dict[str, Answer | Callable[[Mapping[str, str]], Answer]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.asked.append((self.path, headers))
                page = server.pages.get(self.path, Answer(b"not here", 404))
                answer = page(headers) if callable(page) else page
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.stream is None:
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                try:
                    if answer.stream is None:
                        self.wfile.write(answer.body)
                    else:
                        answer.stream(self._write)
                except OSError:
                    # Whoever asked has had enough.
                    self.close_connection = True

            def _write(self, piece: bytes) -> None:
                self.wfile.write(piece)
                self.wfile.flush()

            def log_message(self, format: str, *args: object) -> None: ...

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self.port = self._server.server_address[1]

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @contextmanager
    def running(self) -> Iterator[WebServer]:
        thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
