"""Serving HTTP on this machine, for as long as a test needs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers are killed in the middle of a call, on purpose."""


@contextmanager
def serving_on_loopback(handler: type[BaseHTTPRequestHandler], port: int = 0) -> Iterator[str]:
    """Serve on a free port, or on a given one, and yield the address, such as `http://127.0.0.1:41217`."""
    server = _Server(("127.0.0.1", port), handler)
    # The default poll of half a second would be waited out at every shutdown.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
