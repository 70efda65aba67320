"""A service on loopback that speaks the protocols of remote readers, and fails as a test wants it to.

It converts every file to the same two pages. What was sent is taken apart as strictly as the real
services do: forms by the standard library's MIME parser, lengths byte by byte.
"""

from __future__ import annotations

import email.parser
import email.policy
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import serving_on_loopback

Fault = Callable[["Exchange"], None]

ELEMENTS: list[dict[str, Any]] = [
    {"type": "Header", "text": "Confidential", "metadata": {"page_number": 1}},
    {
        "type": "Title",
        "text": "年度报告 Annual report",
        "metadata": {
            "page_number": 1,
            "category_depth": 0,
            "coordinates": {
                "system": "PixelSpace",
                "layout_width": 1000,
                "layout_height": 2000,
                "points": [[100, 200], [100, 400], [900, 400], [900, 200]],
            },
        },
    },
    {"type": "NarrativeText", "text": "The dam was inspected in April.", "metadata": {"page_number": 1}},
    {"type": "ListItem", "text": "gate three", "metadata": {"page_number": 1}},
    {"type": "ListItem", "text": "gate four", "metadata": {"page_number": 1}},
    {
        "type": "Table",
        "text": "Gate Level Three 41",
        "metadata": {
            "page_number": 2,
            "text_as_html": "<table><tr><th>Gate</th><th>Level</th></tr><tr><td>Three</td><td>41</td></tr></table>",
        },
    },
]
CONTENT_LIST: list[dict[str, Any]] = [
    {"type": "header", "text": "Confidential", "page_idx": 0},
    {"type": "text", "text": "年度报告 Annual report", "text_level": 1, "bbox": [100, 100, 900, 200], "page_idx": 0},
    {"type": "text", "text": "The dam was inspected in April.", "page_idx": 0},
    {"type": "list", "list_items": ["gate three", "gate four"], "page_idx": 0},
    {
        "type": "table",
        "table_caption": ["Table 1: levels"],
        "table_body": "<table><tr><th>Gate</th><th>Level</th></tr><tr><td>Three</td><td>41</td></tr></table>",
        "page_idx": 1,
    },
]
TREE: dict[str, Any] = {
    "pages": [
        {
            "page_idx": 0,
            "blocks": [
                {"type": "header", "content": "Confidential"},
                {
                    "type": "doc_title",
                    "level": 1,
                    "content": "年度报告 Annual report",
                    "bbox": [0.1, 0.1, 0.9, 0.2],
                },
                {"type": "text", "content": "The dam was inspected in April\\."},
                {"type": "list", "content": "- gate three\n- gate four"},
            ],
        },
        {
            "page_idx": 1,
            "blocks": [
                {
                    "type": "table",
                    "content": "| Gate | Level |\n| --- | --- |\n| Three | 41 |",
                    "captions": [{"content": "Table 1: levels"}],
                }
            ],
        },
    ]
}
XHTML = """<html xmlns="http://www.w3.org/1999/xhtml"><head>
<meta name="dc:creator" content="Lin"/><meta name="dcterms:created" content="2024-03-01T08:00:00Z"/>
<title>Annual report</title></head><body>
<div class="page"><h1>年度报告 Annual report</h1><p>The dam was inspected in April.</p>
<ul><li>gate three</li><li>gate four</li></ul></div>
<div class="page"><table><tr><th>Gate</th><th>Level</th></tr><tr><td>Three</td><td>41</td></tr></table></div>
</body></html>"""


@dataclass(frozen=True)
class Request:
    """What was asked: the form of a form, else the body; only the last value of a field that was sent twice."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    form: dict[str, str] = field(default_factory=dict)
    file_name: str = ""


class Exchange:
    """One request, and the ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, request: Request, over: threading.Event) -> None:
        self.request = request
        self._handler = handler
        self._over = over

    def reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.begin(status, len(body), headers)
        self.send(body)

    def begin(self, status: int, length: int, headers: dict[str, str] | None = None) -> None:
        self._handler.send_response(status)
        for name, value in (headers or {}).items():
            self._handler.send_header(name, value)
        self._handler.send_header("Content-Length", str(length))
        self._handler.end_headers()

    def send(self, part: bytes) -> None:
        self._handler.wfile.write(part)
        self._handler.wfile.flush()

    def hang(self) -> None:
        """Say nothing until the test is over."""
        self._over.wait()
        self._handler.close_connection = True

    def cut(self, status: int, body: bytes) -> None:
        """Promise twice the body and close the connection behind it."""
        self.begin(status, 2 * len(body))
        self.send(body)
        self._handler.close_connection = True


def status(code: int, body: bytes = b"", headers: dict[str, str] | None = None) -> Fault:
    return lambda exchange: exchange.reply(code, body, headers)


@dataclass
class ReaderServer:
    """Answers rightly, but for the faults in the list, each of which is for one request."""

    base_url: str
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    polls_until_done: int = 1
    """How often a task is asked for before it is done."""
    task_ends: str = "completed"
    results: dict[str, bytes] = field(default_factory=dict)
    """What is answered for each path instead of the two pages."""
    upload_url: str | None = None
    result_url: str | None = None
    uploads: dict[str, bytes] = field(default_factory=dict)

    def settings(self, kind: str, more: str = "", types: str = '["application/pdf", "image/*"]') -> str:
        """The part of wenyuan.toml that makes this server the reader `scans`."""
        return (
            f'[readers.scans]\nkind = "{kind}"\nbase_url = "{self.base_url}"\ntypes = {types}\n'
            f"timeout_seconds = 20\n{more}\n"
        )

    def paths(self) -> list[str]:
        return [f"{one.method} {one.path}" for one in self.requests]


@contextmanager
def reading_server() -> Iterator[ReaderServer]:
    """Serve on a free port for as long as the context lasts."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            assert "Transfer-Encoding" not in self.headers, "not every service takes chunks"
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if len(body) < length:
                return  # the caller was killed while it spoke
            request = _request(self, body)
            state.requests.append(request)
            state.arrived.set()
            answer = state.faults.pop(0) if state.faults else _right(state)
            try:
                answer(Exchange(self, request, over))
            except ConnectionError:
                self.close_connection = True

        def do_POST(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with serving_on_loopback(Handler) as address:
        state = ReaderServer(address)
        try:
            yield state
        finally:
            over.set()


def _request(handler: BaseHTTPRequestHandler, body: bytes) -> Request:
    headers = {name.lower(): value for name, value in handler.headers.items()}
    kind = headers.get("content-type", "")
    if not kind.startswith("multipart/form-data"):
        return Request(handler.command, handler.path, headers, body)
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
        b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body
    )
    form, file_name, content = {}, "", b""
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        if name == "files":
            file_name, content = part.get_filename() or "", data
        else:
            form[str(name)] = data.decode()
    return Request(handler.command, handler.path, headers, content, form, file_name)


def _right(state: ReaderServer) -> Fault:
    """What a service that works answers."""

    def answer(exchange: Exchange) -> None:
        request = exchange.request
        asked = f"{request.method} {request.path}"
        if asked in state.results:
            exchange.reply(200, state.results[asked], {"Content-Type": "application/json"})
        elif asked == "POST /general/v0/general":
            exchange.reply(200, json.dumps(ELEMENTS).encode(), {"Content-Type": "application/json"})
        elif asked == "PUT /tika":
            exchange.reply(200, XHTML.encode(), {"Content-Type": "text/html"})
        elif asked == "POST /file_parse":
            contents = json.dumps(CONTENT_LIST, ensure_ascii=False)
            result = {"backend": "pipeline", "version": "3.4.5", "results": {"document": {"content_list": contents}}}
            exchange.reply(200, json.dumps(result).encode(), {"Content-Type": "application/json"})
        else:
            _answer_of_tasks(state, exchange)

    return answer


def _answer_of_tasks(state: ReaderServer, exchange: Exchange) -> None:
    request, link = exchange.request, f"{state.base_url}/v1/tasks/task-1/uploads/file-1"
    if (request.method, request.path) == ("POST", "/v1/tasks"):
        (file,) = json.loads(request.body)["files"]
        assert set(file) == {"file_name", "bytes"}
        upload = {"url": state.upload_url or link, "expires_at": "2030-01-01T00:00:00Z"}
        made = {"task_id": "task-1", "status": "waiting-file", "files": [{"file_id": "file-1", "upload": upload}]}
        exchange.reply(202, json.dumps(made).encode())
    elif request.method == "PUT":
        state.uploads[request.path] = request.body
        exchange.reply(200, b"{}")
    elif request.path == "/v1/tasks/task-1":
        exchange.reply(200, json.dumps(_task(state)).encode())
    elif request.path == "/v1/tasks/task-1/result":
        exchange.reply(200, archive({"structured_content.json": json.dumps(TREE).encode()}))
    elif request.path == "/v1/tasks/task-1/cancel":
        exchange.reply(200, b"{}")
    else:
        exchange.reply(404, b'{"error": {"message": "no such route"}}')


def _task(state: ReaderServer) -> dict[str, Any]:
    state.polls_until_done -= 1
    if state.polls_until_done > 0:
        return {"task_id": "task-1", "status": "running", "files": [{"file_id": "file-1", "status": "running"}]}
    file: dict[str, Any] = {"file_id": "file-1", "status": state.task_ends}
    if state.task_ends == "completed":
        file["result_url"] = state.result_url or f"{state.base_url}/v1/tasks/task-1/result"
    else:
        file["error"] = {"code": "parse_failed", "message": "the pages could not be rendered"}
    return {"task_id": "task-1", "status": state.task_ends, "files": [file]}


def archive(members: dict[str, bytes]) -> bytes:
    """A ZIP archive of these members."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return data.getvalue()
