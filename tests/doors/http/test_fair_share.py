"""Nobody keeps the others from asking: not by many answers, invented keys, nor connections that stand still."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Event, Server, events_of, running
from tests.waiting import until

QUESTION = {"question": "屏幕改用什么？"}
HANGS = Reply("屏幕改用 PPR-9087 [1]。", hangs_after=1)
SETTINGS = '[defaults]\nembedding_model = ""\n[answer]\nrunning = 4\nkey_share = 0.5\nresume_seconds = {grace}\n'


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with chatting(HANGS) as server:
        yield server


@pytest.fixture
def server(tmp_path: Path, model: ChatServer) -> Iterator[Server]:
    yield from served(tmp_path, model, grace=0.05)


@pytest.fixture
def patient(tmp_path: Path, model: ChatServer) -> Iterator[Server]:
    """A server where whoever left may come back for as long as the test lasts."""
    yield from served(tmp_path, model, grace=600.0)


def served(folder: Path, model: ChatServer, grace: float) -> Iterator[Server]:
    path = folder / "library"
    path.mkdir()
    (path / "wenyuan.toml").write_text(SETTINGS.format(grace=grace) + model.settings(), "utf-8")
    with wy.open(path, environment={}) as library, running(library) as server:
        library.add_text(MEETING, "周会.md")
        library.drain()
        yield server


def begun(client: httpx2.Client) -> tuple[int, str]:
    """Begin an answer and leave it: its status, and its trace or the code of the refusal."""
    with client.stream("POST", "/chat", json=QUESTION) as answer:
        if answer.status_code != 200:
            return answer.status_code, json.loads(answer.read())["code"]
        return 200, _first_words(events_of(answer.iter_lines())).data["trace_id"]


def _first_words(events: Iterator[Event]) -> Event:
    return next(one for one in events if one.name == "assistant.delta")


def test_answers_that_one_key_leaves_behind_keep_nobody_else_from_asking(patient: Server) -> None:
    with patient.with_key() as hasty, patient.with_key() as other:
        assert [begun(hasty)[0] for _ in range(2)] == [200, 200]
        refused = hasty.post("/chat", json=QUESTION)
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-answers")
        assert int(refused.headers["retry-after"]) >= 1
        url = f"{patient.url}/v1/chat/completions"
        assert hasty.post(url, json=OPENAI).json()["error"]["code"] == "too-many-answers"
        traces = [begun(other) for _ in range(2)]
        assert [status for status, _ in traces] == [200, 200]
        assert begun(other)[1] == "too-many-answers"
        with patient.with_key() as third:
            assert begun(third) == (503, "server-busy")
            # One that is stopped makes room at once, though its model says nothing.
            assert other.delete(f"/chat/{traces[0][1]}").status_code == 204
            until(lambda: begun(third)[0] == 200)


def test_an_answer_that_is_left_ends_its_call_to_the_model(server: Server, model: ChatServer) -> None:
    assert begun(server.client)[0] == 200
    until(lambda: len(model.left) == 1)


OPENAI = {"model": "kb:*", "messages": [{"role": "user", "content": QUESTION["question"]}]}


@pytest.mark.parametrize(
    ("path", "body"), [("/api/v1/chat", {**QUESTION, "stream": False}), ("/v1/chat/completions", OPENAI)]
)
def test_whoever_waits_for_a_whole_answer_and_leaves_has_it_stopped(
    patient: Server, model: ChatServer, path: str, body: dict[str, object]
) -> None:
    with connected(patient) as connection:
        content = json.dumps(body).encode()
        host = patient.url.removeprefix("http://")
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        until(model.spoken.is_set)
    # Nobody can come back to it: there was no event with its trace.
    until(lambda: len(model.left) == 1)


def test_the_owner_without_a_key_shares_with_nobody(patient: Server) -> None:
    assert [begun(patient.client)[0] for _ in range(5)] == [200, 200, 200, 200, 503]


# --- Invented keys -------------------------------------------------------------------------------


def test_invented_keys_and_cookies_have_the_pace_of_where_they_come_from(tmp_path: Path) -> None:
    settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_REQUESTS_PER_MINUTE": "1"}
    with (
        wy.open(tmp_path / "library", environment=settings) as library,
        running(library) as server,
        server.with_key() as known,
    ):
        # Until it has let somebody in, a key is as good as an invented one.
        assert known.get("/models").status_code == 200
        cookie = next(iter(_cookies(server, known)))
        invented = [{"Authorization": "Bearer wyk_1"}, {"Authorization": "Bearer wyk_2"}, {"Cookie": f"{cookie}=1"}]
        assert [server.client.get("/models", headers=one).status_code for one in invented] == [429] * 3
        openai = [server.client.get(f"{server.url}/v1/models", headers=one).status_code for one in invented]
        assert openai == [429] * 3
        # A key that is known is nobody else's business.
        assert [known.get("/models").status_code for _ in range(2)] == [200, 429]


def _cookies(server: Server, client: httpx2.Client) -> dict[str, str]:
    with httpx2.Client(base_url=f"{server.url}/api/v1", timeout=30) as browser:
        key = client.headers["authorization"].removeprefix("Bearer ")
        assert browser.post("/sign-in", json={"key": key}).status_code == 200
        return dict(browser.cookies)


# --- Connections that stand still ----------------------------------------------------------------


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Server]:
    settings = {
        **KEYWORD_ONLY,
        "WENYUAN_SERVER_CONNECTIONS": "3",
        "WENYUAN_SERVER_HEAD_SECONDS": "0.3",
        "WENYUAN_SERVER_SEND_SECONDS": "0.3",
        "WENYUAN_SERVER_HEARTBEAT_SECONDS": "0.01",
    }
    with wy.open(tmp_path / "library", environment=settings) as library, running(library) as server:
        yield server


def connected(server: Server) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    return connection


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(65536) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET /api/v1/health HTTP/1.1\r\nHo"], ids=["nothing", "half a head"])
def test_a_request_that_does_not_come_is_not_waited_for(narrow: Server, sent: bytes) -> None:
    with connected(narrow) as connection:
        connection.sendall(sent)
        assert is_closed(connection)


def test_the_second_request_of_a_connection_does_not_wait_for_good_either(narrow: Server) -> None:
    host = narrow.url.removeprefix("http://")
    with connected(narrow) as connection:
        connection.sendall(f"GET /api/v1/health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(65536)
        assert b" 200 " in answer
        connection.sendall(b"GET /api/v1/hea")
        assert is_closed(connection)


def test_more_connections_than_are_answered_are_told_so(narrow: Server) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connected(narrow)) for _ in range(3)]
        answer = narrow.client.get("/models")
        assert (answer.status_code, answer.json()["code"]) == (503, "server-busy")
        assert int(answer.headers["retry-after"]) >= 1
        # Whoever asks whether the server is alive learns that it is.
        assert narrow.client.get("/health").status_code == 200
        assert all(is_closed(one) for one in held)
    until(lambda: narrow.client.get("/models").status_code == 200)


def test_of_far_too_many_connections_the_newest_are_closed(narrow: Server) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connected(narrow)) for _ in range(12)]
        assert all(is_closed(one) for one in held)
    until(lambda: narrow.client.get("/models").status_code == 200)


def test_whoever_takes_nothing_of_an_answer_is_left(narrow: Server) -> None:
    narrow.library.add_text("水" * 300_000, "long.txt", wait=False)
    (document,) = (view.document.id for view in narrow.library.documents.list())
    host, port = narrow.url.removeprefix("http://").split(":")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((host, int(port)))
        # More than the buffers of both sides hold.
        request = f"GET /api/v1/documents/{document}/original HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
        connection.sendall(request.encode() * 40)
        until(lambda: open_connections(narrow) == 2)
        until(lambda: open_connections(narrow) == 1)


def open_connections(server: Server) -> int:
    lines = server.client.get("/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith("wenyuan_http_connections_open "))
    return int(line.split()[1])
