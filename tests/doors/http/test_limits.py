"""What is too much, too slow or from elsewhere is refused with a reason, and nothing of it stays."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.waiting import until
from wenyuan.doors.http.house import Pace
from wenyuan.errors import TooManyRequests
from wenyuan.runtime.library import Library

SMALL = {
    **KEYWORD_ONLY,
    "WENYUAN_SERVER_BODY_BYTES": "10000",
    "WENYUAN_SERVER_BODY_SECONDS": "0.2",
    "WENYUAN_LIMITS_FILE_BYTES": "100000",
    "WENYUAN_SERVER_THREADS": "1",
    "WENYUAN_SERVER_WAITING": "1",
    "WENYUAN_SERVER_REQUEST_SECONDS": "0.5",
    "WENYUAN_SERVER_STREAMS": "1",
}


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Server]:
    with wy.open(tmp_path / "library", environment=SMALL) as library, running(library) as server:
        yield server


def _raw(server: Server, request: bytes) -> bytes:
    """What is answered to bytes that no client would send."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        answered = b""
        while piece := connection.recv(65536):
            answered += piece
    return answered


def test_a_body_that_is_too_large_is_refused(small: Server) -> None:
    text = {"name": "long", "text": "x" * 20_000}
    announced = small.client.post("/knowledge-bases/default/documents/text", json=text)
    assert (announced.status_code, announced.json()["code"]) == (413, "body-too-large")
    chunked = small.client.post(
        "/search", content=iter([b" " * 6_000] * 3), headers={"Content-Type": "application/json"}
    )
    assert (chunked.status_code, chunked.json()["code"]) == (413, "body-too-large")


def test_a_file_that_is_too_large_leaves_nothing(small: Server) -> None:
    path = "/knowledge-bases/default/documents/upload"
    answer = small.client.post(path, files={"file": ("big.txt", b"x" * 200_000)})
    assert (answer.status_code, answer.json()["code"]) == (413, "file-too-large")
    far = small.client.post(path, files={"file": ("big.txt", b"x" * 3_000_000)})
    assert (far.status_code, far.json()["code"]) == (413, "body-too-large")
    assert small.library.documents.list() == []
    assert list((small.library.path / "blobs" / "incoming").iterdir()) == []


def test_a_body_that_stands_still_is_given_up(small: Server) -> None:
    host = small.url.removeprefix("http://")
    head = f"POST /api/v1/search HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n"
    answered = _raw(small, f"{head}Content-Type: application/json\r\n\r\n{{".encode())
    assert b" 408 " in answered.split(b"\r\n")[0]
    assert b'"code":"body-too-slow"' in answered


class Blocked:
    """Holds every question until it is let go."""

    def __init__(self, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.asked = 0
        search = library.search

        def blocked(*arguments: object, **options: object) -> object:
            self.asked += 1
            self.go.wait(30)
            return search(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(library, "search", blocked)


def test_more_than_can_be_done_is_refused_with_a_time_to_ask_again(
    small: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = Blocked(small.library, monkeypatch)
    answers: list[httpx2.Response] = []
    threads = [
        threading.Thread(target=lambda: answers.append(small.client.post("/search", json={"question": "x"})))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    codes = sorted(answer.json()["code"] for answer in answers)
    assert set(codes) == {"request-timed-out", "server-busy"}
    assert all(answer.status_code == 503 and int(answer.headers["retry-after"]) >= 1 for answer in answers)
    # What waited and was given up was never begun.
    assert blocked.asked == 1
    blocked.go.set()
    until(lambda: small.client.post("/search", json={"question": "x"}).status_code == 200)


def test_what_nobody_waits_for_any_more_is_not_begun(small: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = Blocked(small.library, monkeypatch)
    first = threading.Thread(target=lambda: small.client.post("/search", json={"question": "x"}))
    first.start()
    until(lambda: blocked.asked == 1)
    with pytest.raises(httpx2.ReadTimeout), httpx2.Client(base_url=small.url, timeout=0.1) as hasty:
        hasty.post("/api/v1/search", json={"question": "y"})
    first.join()
    blocked.go.set()
    until(lambda: small.client.get("/ready").status_code == 200)
    assert blocked.asked == 1


def test_only_so_many_streams_are_open(small: Server) -> None:
    with small.client.stream("GET", "/jobs/events") as first:
        assert first.status_code == 200
        second = small.client.get("/jobs/events")
        assert (second.status_code, second.json()["code"]) == (503, "server-busy")


def test_each_key_has_its_own_pace(tmp_path: Path) -> None:
    settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_REQUESTS_PER_MINUTE": "3"}
    with (
        wy.open(tmp_path / "library", environment=settings) as library,
        running(library) as server,
        server.with_key() as hasty,
        server.with_key() as other,
    ):
        # The first is counted where it comes from, as the key is not known yet.
        statuses = [hasty.get("/models").status_code for _ in range(6)]
        assert statuses == [200, 200, 200, 200, 429, 429]
        refused = hasty.get("/models")
        assert (refused.json()["code"], int(refused.headers["retry-after"]) >= 1) == ("too-many-requests", True)
        assert other.get("/models").status_code == 200


def test_a_parameter_that_is_misspelt_is_refused(server: Server) -> None:
    answer = server.client.get("/knowledge-bases/default/documents", params={"sate": "failed"})
    assert (answer.status_code, answer.json()["code"]) == (422, "request-invalid")
    assert "query.sate" in answer.json()["detail"]
    twice = server.client.get("/knowledge-bases/default/documents?limit=1&limit=2")
    assert (twice.status_code, twice.json()["code"]) == (422, "request-invalid")


# --- From elsewhere ------------------------------------------------------------------------------


@pytest.mark.parametrize(("host", "is_served"), [("localhost", True), ("127.0.0.1", True), ("evil.example", False)])
def test_a_name_that_leads_here_is_not_enough(server: Server, host: str, is_served: bool) -> None:
    port = server.url.rpartition(":")[2]
    answer = server.client.get("/knowledge-bases", headers={"Host": f"{host}:{port}"})
    assert answer.status_code == (200 if is_served else 421)
    assert is_served or answer.json()["code"] == "host-refused"


def test_pages_of_other_sites_are_refused(server: Server) -> None:
    upload = {"files": {"file": ("x.txt", b"x")}}
    path = "/knowledge-bases/default/documents/upload"
    foreign = server.client.post(path, headers={"Origin": "https://evil.example"}, **upload)  # type: ignore[arg-type]
    assert (foreign.status_code, foreign.json()["code"]) == (403, "origin-refused")
    senseless = server.client.get("/models", headers={"Origin": "http://["})
    assert (senseless.status_code, senseless.json()["code"]) == (403, "origin-refused")
    assert server.client.get("/models", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    own = server.client.get("/models", headers={"Origin": server.url, "Sec-Fetch-Site": "same-origin"})
    assert own.status_code == 200
    assert not [name for name in own.headers if name.startswith("access-control")]


def test_answers_are_safe_in_a_browser(server: Server) -> None:
    document = server.add("page.html", "<script>alert(1)</script><p>text</p>")
    for path in ("/models", f"/documents/{document}/original", "/none"):
        headers = server.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in headers["content-security-policy"]
        assert "cache-control" in headers
        assert "server" not in headers
    original = server.client.get(f"/documents/{document}/original")
    assert original.headers["content-disposition"].startswith("attachment")


def test_a_surprise_is_told_without_its_inside(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret of the inside")

    monkeypatch.setattr(server.library, "search", fails)
    answer = server.client.post("/search", json={"question": "x"})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


@given(st.integers(1, 200), st.lists(st.floats(0.0, 30.0), min_size=1, max_size=60))
def test_who_comes_back_when_told_to_is_let_in(per_minute: int, pauses: list[float]) -> None:
    now = 0.0
    pace = Pace(per_minute, lambda: now)
    for pause in (*[0.0] * per_minute, *pauses):
        now += pause
        try:
            pace.take("caller")
        except TooManyRequests as refused:
            now += refused.details["retry_after"]
            pace.take("caller")
