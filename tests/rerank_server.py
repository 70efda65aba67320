"""A reranking service on loopback, in every shape that it is served in; its scores are the share of common characters.

Best first, as the real ones answer, so that whoever pairs scores and passages by their order is found out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any

from tests.loopback import serving_on_loopback

Instead = Callable[["RerankServer", list[str]], tuple[int, bytes] | None]


class RerankServer:
    """Counts what it is asked. `instead` may return (status, body) to answer that, or hang until the test is `over`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[dict[str, Any]] = []
        self.passages: list[list[str]] = []
        self.instead: Instead = lambda _server, _passages: None
        self.over = Event()

    def base_url(self, protocol: str) -> str:
        """Where the service is that speaks a protocol."""
        return f"{self.address}/{protocol}"

    def settings(self, name: str = "judge", protocol: str = "cohere", search: str = "") -> str:
        """The part of wenyuan.toml that makes this server the model that reranks; `search` are lines of [search]."""
        return (
            f'[roles]\nrerank = "{name}"\n\n[search]\n{search}\n[models."{name}"]\ntypes = ["rerank"]\n'
            f'protocol = "{protocol}"\nmodel = "judge-1"\nbase_url = "{self.base_url(protocol)}"\n'
        )


def score_of(question: str, passage: str) -> float:
    """How many of the question's characters a passage has, 0 to 1."""
    asked, held = set(question), set(passage)
    return round(len(asked & held) / len(asked | held), 4)


@contextmanager
def reranking() -> Iterator[RerankServer]:
    """Serve for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            protocol = self.path.split("/")[1]
            inner = request["input"] if protocol == "dashscope" else request
            passages = inner["texts"] if protocol == "tei" else inner["documents"]
            state.requests.append(request)
            state.passages.append(passages)
            status, body = state.instead(state, passages) or (200, _answer(protocol, inner["query"], passages))
            with suppress(ConnectionError):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with serving_on_loopback(Handler) as address:
        state = RerankServer(address)
        try:
            yield state
        finally:
            state.over.set()


def _answer(protocol: str, question: str, passages: Sequence[str]) -> bytes:
    name = "score" if protocol == "tei" else "relevance_score"
    scores = [{"index": number, name: score_of(question, text)} for number, text in enumerate(passages)]
    return json.dumps(shaped(protocol, sorted(scores, key=lambda one: -one[name]))).encode()


def shaped(protocol: str, results: list[dict[str, Any]]) -> Any:
    """Results as a protocol has them."""
    if protocol == "tei":
        return results
    if protocol == "dashscope":
        return {"request_id": "r", "output": {"results": results}, "usage": {"total_tokens": 1}}
    return {"object": "list", "data" if protocol == "voyage" else "results": results}
