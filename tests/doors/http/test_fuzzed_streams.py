"""Clients of streams that do anything: cut off, come back anywhere, send nonsense; the server outlives them."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wenyuan as wy
from tests.chat_server import Reply, chatting
from tests.doors.http.running import MEETING, Server, running
from tests.waiting import until

SETTINGS = (
    '[defaults]\nembedding_model = ""\n[answer]\nresume_seconds = 0.01\n[server]\nheartbeat_seconds = 0.01\n'
    "head_seconds = 0.2\n"
)
BODY = b'{"question": "\xe5\xb1\x8f\xe5\xb9\x95\xe6\x94\xb9\xe7\x94\xa8\xe4\xbb\x80\xe4\xb9\x88"}'

paths = st.sampled_from(["/chat", "/chat/trace_none", "/jobs/events", "/jobs/events?after=3", "/chat/\u202e"])
last_event_ids = st.one_of(
    st.integers(-5, 1 << 70).map(str), st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=20)
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("streams") / "library"
    path.mkdir()
    with chatting(Reply("屏幕改用 PPR-9087 [1]。还有别的。")) as model:
        (path / "wenyuan.toml").write_text(SETTINGS + model.settings(), "utf-8")
        with wy.open(path, environment={}) as library, running(library, works=True) as server:
            server.add("周会.md", MEETING)
            yield server


def _request(server: Server, path: str, last_event_id: str) -> bytes:
    host = server.url.removeprefix("http://")
    method = "POST" if path == "/chat" else "GET"
    body = BODY if method == "POST" else b""
    quoted = "".join(one if one.isascii() else "%E2%80%AE" for one in path)
    head = f"{method} /api/v1{quoted} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    named = b"Last-Event-ID: " + last_event_id.encode("latin-1") + b"\r\n"
    return head.encode() + named + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def _listen(server: Server, request: bytes, sent: int, taken: int, *, resets: bool) -> bytes:
    """Send so many bytes of a request, take so many of its answer, and go."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request[:sent])
        answer = b""
        while len(answer) < taken and sent >= len(request):
            piece = connection.recv(min(4096, taken - len(answer)))
            if not piece:
                break
            answer += piece
        if resets:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        return answer


def _fuzz(server: Server, examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(paths, last_event_ids, st.floats(0, 1.3), st.integers(0, 500), st.booleans())
    def send(path: str, last_event_id: str, share: float, taken: int, resets: bool) -> None:
        request = _request(server, path, last_event_id)
        answer = _listen(server, request, int(share * len(request)), taken, resets=resets)
        status = answer[9:12]
        assert len(status) < 3 or status in (b"200", b"400", b"404", b"422", b"503")

    send()
    # Nothing of them is left: no answer, no stream, no connection but this one.
    until(lambda: _gauge(server, "answers_under_way") == _gauge(server, "http_streams_open") == 0)
    until(lambda: _gauge(server, "http_connections_open") == 1)
    assert server.client.post("/search", json={"question": "屏幕"}).json()["hits"]


def _gauge(server: Server, name: str) -> int:
    lines = server.client.get("/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith(f"wenyuan_{name} "))
    return int(line.split()[1])


def test_clients_of_streams_may_do_anything(server: Server) -> None:
    _fuzz(server, 15)


@pytest.mark.soak
def test_many_clients_of_streams_may_do_anything(server: Server) -> None:
    _fuzz(server, 3_000)
