"""The protocols of remote readers over real HTTP: what is sent, and what becomes of every way to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reader_server import ReaderServer, reading_server, status
from wenyuan.errors import (
    ConfigurationInvalid,
    FileVanished,
    KeyMissing,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    ReaderAnswerInvalid,
    ReaderRefused,
    WorkerStopping,
)
from wenyuan.providers.readers.remote_reader import RemoteReader
from wenyuan.providers.readers.settings import READER_KINDS, ReaderSettings

KEY = "sesame-open-4711"
FIRST_REQUESTS = {
    "unstructured": "POST /general/v0/general",
    "tika": "PUT /tika",
    "mineru": "POST /file_parse",
    "mineru-tasks": "POST /v1/tasks",
}
CONTENT = b"%PDF-1.7 " + bytes(range(256)) * 200


@pytest.fixture
def server() -> Iterator[ReaderServer]:
    with reading_server() as serving:
        yield serving


@pytest.fixture
def convert(server: ReaderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    """Has a file converted by the server and returns the answer; settings may be given."""
    monkeypatch.setenv("READER_KEY", KEY)
    path = tmp_path / "stored"
    path.write_bytes(CONTENT)

    def converting(
        kind: str, name: str = "扫描件.PDF", on_wait: Callable[[], None] = lambda: None, **settings: Any
    ) -> bytes:
        described = {"base_url": server.base_url, "types": ("application/pdf",), "key": "env:READER_KEY"}
        reader = RemoteReader(ReaderSettings(name="scans", kind=kind, **(described | settings)))
        answer = bytearray()
        assert kind in reader.convert(path, name, "application/pdf", answer.extend, on_wait)
        return bytes(answer)

    return converting


# --- What is sent ---------------------------------------------------------------------------------


def test_unstructured_is_sent_a_form(server: ReaderServer, convert: Callable[..., bytes]) -> None:
    assert convert("unstructured", options={"strategy": "hi_res"}).startswith(b"[")
    (request,) = server.requests
    assert request.path == "/general/v0/general"
    assert request.form == {"coordinates": "true", "output_format": "application/json", "strategy": "hi_res"}
    assert (request.file_name, request.body) == ("document.pdf", CONTENT)
    assert request.headers["unstructured-api-key"] == KEY
    assert "authorization" not in request.headers


def test_tika_is_sent_the_bytes(server: ReaderServer, convert: Callable[..., bytes]) -> None:
    assert b"<title>" in convert("tika", options={"X-Tika-OCRLanguage": "chi_sim+eng"})
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("PUT", "/tika", CONTENT)
    sent = {name: request.headers[name] for name in ("accept", "content-type", "x-tika-ocrlanguage")}
    assert sent == {"accept": "text/html", "content-type": "application/pdf", "x-tika-ocrlanguage": "chi_sim+eng"}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "transfer-encoding" not in request.headers


def test_mineru_is_sent_a_form(server: ReaderServer, convert: Callable[..., bytes]) -> None:
    assert b"content_list" in convert("mineru", options={"backend": "pipeline"})
    (request,) = server.requests
    assert request.path == "/file_parse"
    assert request.form == {"return_content_list": "true", "return_md": "false", "backend": "pipeline"}
    assert (request.file_name, request.body) == ("document.pdf", CONTENT)


def test_a_task_is_made_fed_asked_for_and_fetched(server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.polls_until_done = 3
    assert convert("mineru-tasks").startswith(b"PK")
    asked = ["GET /v1/tasks/task-1"] * 3
    assert server.paths() == [
        *("POST /v1/tasks", "PUT /v1/tasks/task-1/uploads/file-1", *asked, "GET /v1/tasks/task-1/result")
    ]
    assert server.uploads == {"/v1/tasks/task-1/uploads/file-1": CONTENT}
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


def test_a_service_that_has_the_bytes_already_is_not_sent_them(
    server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    server.faults = [status(202, b'{"task_id": "task-1", "files": [{"file_id": "file-1", "upload": null}]}')]
    assert convert("mineru-tasks").startswith(b"PK")
    assert not server.uploads


@pytest.mark.parametrize("kind", READER_KINDS)
def test_the_name_of_a_file_is_not_told(kind: str, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    convert(kind, name='secret plans"\r\nX: y.docx')
    for request in server.requests:
        assert "secret" not in f"{request.headers} {request.file_name}"
        assert b"secret" not in request.body


@pytest.mark.parametrize(("kind", "first"), FIRST_REQUESTS.items())
def test_an_address_may_have_a_path_or_be_whole(
    kind: str, first: str, server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    convert(kind, base_url=server.base_url + first.partition(" ")[2])
    assert server.paths()[0] == first
    server.faults = [status(418)]
    with pytest.raises(ReaderRefused):
        convert(kind, base_url=f"{server.base_url}/behind/a/proxy/")
    method, _, path = first.partition(" ")
    assert server.paths()[-1] == f"{method} /behind/a/proxy{path}"


# --- What a failure comes to ----------------------------------------------------------------------

OUTCOMES: list[tuple[int, type[Exception]]] = [
    *((code, ProviderUnavailable) for code in (408, 500, 502, 503, 504)),
    *((code, ProviderRefused) for code in (401, 403, 404, 405)),
    *((code, ReaderRefused) for code in (301, 400, 409, 413, 415, 422)),
    (429, RateLimited),
]


@pytest.mark.parametrize("kind", READER_KINDS)
@pytest.mark.parametrize(("code", "expected"), OUTCOMES)
def test_statuses_are_told_apart(
    kind: str, code: int, expected: type[Exception], server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    server.faults = [status(code, b'{"detail": "because of this"}')]
    with pytest.raises(expected) as raised:
        convert(kind)
    assert type(raised.value) is expected
    assert server.paths() == [FIRST_REQUESTS[kind]]
    assert "because of this" in str(raised.value) or code == 429


@pytest.mark.parametrize("kind", READER_KINDS)
def test_when_to_come_back_is_passed_on(kind: str, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.faults = [status(429, b"", {"Retry-After": "7"})]
    with pytest.raises(RateLimited) as raised:
        convert(kind)
    assert raised.value.retry_after == 7


@pytest.mark.parametrize("kind", READER_KINDS)
def test_a_service_that_is_silent_is_given_up(kind: str, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.faults = [lambda exchange: exchange.hang()]
    waited: list[None] = []
    with pytest.raises(ProviderTimeout):
        convert(kind, timeout_seconds=0.8, on_wait=lambda: waited.append(None))
    assert waited


@pytest.mark.parametrize("kind", READER_KINDS)
def test_a_silent_service_keeps_nobody_from_stopping(
    kind: str, server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    server.faults = [lambda exchange: exchange.hang()]

    def stop() -> None:
        if server.arrived.is_set():
            raise WorkerStopping

    with pytest.raises(WorkerStopping):
        convert(kind, timeout_seconds=300, on_wait=stop)


def test_who_does_not_take_the_bytes_keeps_nobody_from_stopping(tmp_path: Path) -> None:
    import socket

    path = tmp_path / "large"
    path.write_bytes(bytes(64 << 20))
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        settings = ReaderSettings("scans", "tika", f"http://127.0.0.1:{deaf.getsockname()[1]}", ("*/*",))
        calls: list[None] = []

        def stop() -> None:
            calls.append(None)
            if len(calls) > 2:
                raise WorkerStopping

        with pytest.raises(WorkerStopping):
            RemoteReader(settings).convert(path, "large", "application/pdf", lambda _: None, stop)


@pytest.mark.parametrize("kind", READER_KINDS)
def test_an_answer_that_is_cut_is_unavailable(kind: str, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.faults = [lambda exchange: exchange.cut(200, b'[{"type": "Title"')]
    with pytest.raises(ProviderUnavailable):
        convert(kind)


def test_nobody_there_is_unavailable(convert: Callable[..., bytes]) -> None:
    with pytest.raises(ProviderUnavailable):
        convert("tika", base_url="http://127.0.0.1:1")


@pytest.mark.parametrize("kind", ["unstructured", "tika", "mineru"])
def test_an_answer_that_is_too_large_is_refused(kind: str, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.results = {FIRST_REQUESTS[kind]: b" " * 5000}
    assert len(convert(kind, answer_bytes=5000)) == 5000
    with pytest.raises(ReaderAnswerInvalid, match="4,999 bytes"):
        convert(kind, answer_bytes=4999)


def test_an_endless_message_is_refused(server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.faults = [status(202, b" " * ((1 << 20) + 1))]
    with pytest.raises(ReaderAnswerInvalid, match="bytes"):
        convert("mineru-tasks")


@pytest.mark.parametrize("kind", READER_KINDS)
def test_a_packed_answer_is_refused(kind: str, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.faults = [status(200, b"\x1f\x8b", {"Content-Encoding": "gzip"})]
    with pytest.raises(ReaderAnswerInvalid, match="packed"):
        convert(kind)
    assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("kind", READER_KINDS)
def test_no_error_shows_the_key(kind: str, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.faults = [status(400, f"the key {KEY} is not mine".encode())]
    with pytest.raises(ReaderRefused) as raised:
        convert(kind)
    assert KEY not in f"{raised.value!r} {raised.value.problem()}"


def test_a_key_that_is_not_there_is_told(server: ReaderServer, convert: Callable[..., bytes]) -> None:
    with pytest.raises(KeyMissing):
        convert("tika", key="env:NO_SUCH_KEY_4711")
    with pytest.raises(ConfigurationInvalid, match=r"readers\.scans\.key"):
        convert("tika", key=f"file:{Path(__file__)}")
    assert not server.requests


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    reader = RemoteReader(ReaderSettings("scans", "tika", "http://127.0.0.1:1", ("*/*",)))
    with pytest.raises(FileVanished):
        reader.convert(tmp_path / "none", "none", "application/pdf", lambda _: None, lambda: None)


# --- Tasks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["failed", "canceled", "partial", "unheard of"])
def test_a_task_that_ends_otherwise_is_refused_with_its_reason(
    ending: str, server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    server.task_ends = ending
    with pytest.raises(ReaderRefused, match="the pages could not be rendered"):
        convert("mineru-tasks")


def test_a_task_that_is_never_done_is_given_up_and_cancelled(
    server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    server.polls_until_done = 10**9
    with pytest.raises(ProviderTimeout):
        convert("mineru-tasks", timeout_seconds=2.5)
    assert server.paths()[-1] == "POST /v1/tasks/task-1/cancel"


def test_a_task_outlives_a_service_that_is_busy_for_a_while(
    server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    busy = [status(503), status(429, b"", {"Retry-After": "0.1"})]

    def after_upload(exchange: Any) -> None:
        server.faults = list(busy)
        exchange.reply(200, b"{}")

    made = b'{"task_id": "task-1", "files": [{"upload": {"url": "/v1/tasks/task-1/uploads/file-1"}}]}'
    server.faults = [status(202, made), after_upload]
    assert convert("mineru-tasks").startswith(b"PK")
    assert server.paths().count("GET /v1/tasks/task-1") == 3


def test_a_service_that_forgot_the_task_is_asked_anew_later(
    server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    made = b'{"task_id": "task-2", "files": [{"upload": null}]}'
    server.faults = [status(202, made), *[status(404)] * 6]
    with pytest.raises(ProviderUnavailable, match="lost the task"):
        convert("mineru-tasks")


@pytest.mark.parametrize(
    "made",
    [
        b"[]",
        b"{}",
        b"not JSON",
        b'{"task_id": "../../admin", "files": [{}]}',
        b'{"task_id": "task-1", "files": []}',
        b'{"task_id": "task-1", "files": [{"upload": "there"}]}',
        b'{"task_id": "task-1", "files": [{"upload": {"url": "file:///etc/passwd"}}]}',
        b'{"task_id": "task-1", "files": [{"upload": {"url": "http://169.254.169.254/latest"}}]}',
        b'{"task_id": "task-1", "files": [{"upload": {"url": "http://[::1"}}]}',
    ],
)
def test_an_answer_that_is_no_task_is_refused(made: bytes, server: ReaderServer, convert: Callable[..., bytes]) -> None:
    server.faults = [status(202, made)]
    with pytest.raises(ReaderAnswerInvalid):
        convert("mineru-tasks")
    assert not server.uploads


def test_another_host_is_asked_only_if_it_is_named_and_without_the_key(
    server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    with reading_server() as storage:
        server.upload_url = storage.base_url.replace("127.0.0.1", "localhost") + "/bucket/file-1"
        with pytest.raises(ReaderAnswerInvalid, match="localhost"):
            convert("mineru-tasks")
        assert not storage.requests
        convert("mineru-tasks", hosts=("localhost",))
        assert storage.uploads == {"/bucket/file-1": CONTENT}
        assert "authorization" not in storage.requests[0].headers


def test_a_task_that_is_not_waited_for_any_more_is_cancelled(
    server: ReaderServer, convert: Callable[..., bytes]
) -> None:
    server.polls_until_done = 10**9

    def stop() -> None:
        if "GET /v1/tasks/task-1" in server.paths():
            raise WorkerStopping

    with pytest.raises(WorkerStopping):
        convert("mineru-tasks", on_wait=stop)
    assert server.paths()[-1] == "POST /v1/tasks/task-1/cancel"


# --- Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "docling"},
        {"base_url": "127.0.0.1:8000"},
        {"base_url": "http://user:secret@127.0.0.1"},
        {"types": ()},
        {"types": ("pdf",)},
        {"key": KEY},
        {"timeout_seconds": 0},
        {"timeout_seconds": float("inf")},
        {"answer_bytes": 0},
        {"fallback": "remote"},
        {"options": {"X-Tika\r\nX": "y"}},
        {"options": {"Authorization": "y"}},
        {"options": {"X-Tika-OCRLanguage": "a\r\nb"}},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"name": "scans", "kind": "tika", "base_url": "http://127.0.0.1", "types": ("*/*",)}
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        ReaderSettings(**(right | wrong))
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    "wrong",
    [{"types": "application/pdf"}, {"timeout_seconds": True}, {"key": 7}, {"options": {"x": 1}}, {"hosts": [1]}],
)
def test_settings_of_another_type_are_refused(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"name": "scans", "kind": "mineru", "base_url": "http://127.0.0.1", "types": ["*/*"]}
    with pytest.raises(TypeError):
        ReaderSettings(**(right | wrong))


def test_types_may_be_patterns() -> None:
    settings = ReaderSettings("scans", "tika", "http://127.0.0.1", ("application/pdf", "Image/*"))
    assert [settings.converts(one) for one in ("application/pdf", "image/png", "text/html")] == [True, True, False]
