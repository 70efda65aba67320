"""An embedding service on loopback that speaks the OpenAI protocol, for tests that must not wait for a model.

Its vectors are a hashed bag of characters: texts that share characters are near each other.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from tests.loopback import serving_on_loopback

DIMENSIONS = 64


class EmbeddingServer:
    """Counts what it is asked. `before_answer` may return (status, headers, body) to answer that instead."""

    def __init__(self, address: str, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions
        self.base_url = f"{address}/v1"
        self.inputs: list[str] = []
        self.calls = 0
        self.before_answer: Callable[[list[str]], tuple[int, dict[str, str], bytes] | None] = lambda _: None

    def settings(self, name: str = "test/characters", dimensions: int = DIMENSIONS) -> str:
        """The part of wenyuan.toml that makes this server the default model."""
        return (
            f'[defaults]\nembedding_model = "{name}"\n\n[models."{name}"]\nprotocol = "openai-compatible"\n'
            f'model = "characters"\nbase_url = "{self.base_url}"\ndimensions = {dimensions}\n'
        )


def vector_of(text: str, dimensions: int = DIMENSIONS) -> Any:
    """The unit vector of a text, float32, shape (dimensions,)."""
    vector = np.full(dimensions, 0.01, dtype=np.float32)
    for character in text:
        vector[zlib.crc32(character.encode()) % dimensions] += 1.0
    return vector / np.linalg.norm(vector)


@contextmanager
def serving(port: int = 0, dimensions: int = DIMENSIONS) -> Iterator[EmbeddingServer]:
    """Serve on a free port, or on a given one, for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            sent = self.rfile.read(length)
            if len(sent) < length:
                return  # the caller was killed while it spoke
            request = json.loads(sent)
            texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
            state.calls += 1
            instead = state.before_answer(texts)
            if instead is not None:
                self._answer(*instead)
                return
            state.inputs += texts
            data = [
                {"object": "embedding", "index": number, "embedding": _encoded(vector_of(text, dimensions), request)}
                for number, text in enumerate(texts)
            ]
            body = {"object": "list", "model": request["model"], "data": data, "usage": {"total_tokens": 0}}
            self._answer(200, {"Content-Type": "application/json"}, json.dumps(body).encode())

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with serving_on_loopback(Handler, port) as address:
        state = EmbeddingServer(address, dimensions)
        yield state


def _encoded(vector: Any, request: dict[str, Any]) -> Any:
    if request.get("encoding_format") == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(value) for value in vector]
