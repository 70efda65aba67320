"""Asking over HTTP gives what the Python API gives, and a chat tells of its steps in their order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_core import to_json

from tests.doors.http.running import MEETING, Event, Server, events_of

QUESTION = "四月十四号的会议定了什么？"
ORDER = [
    "router.decision",
    "rag.rewrite",
    "rag.embed",
    "tool.call.start",
    "tool.call.end",
    "rag.sources",
    "assistant.delta",
    "assistant.message",
]
UNLIKE = {"trace_id", "search"}


@pytest.fixture(scope="module", autouse=True)
def documents(server: Server) -> None:
    server.library.knowledge_bases.create("other")
    server.add("周会.md", MEETING)
    server.add("另一次周会.md", "# 周会\n\n## 2026年4月14日\n\n决定：外壳改为蓝色。\n", "other")


def chat(server: Server, **body: Any) -> list[Event]:
    with server.client.stream("POST", "/chat", json={"question": QUESTION, **body}) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        return list(events_of(answer.iter_lines()))


def same(over_http: Any, in_python: Any) -> bool:
    plain = json.loads(to_json(in_python))
    return {k: v for k, v in over_http.items() if k not in UNLIKE} == {
        k: v for k, v in plain.items() if k not in UNLIKE
    }


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ({}, {}),
        ({"knowledge_bases": ["other"]}, {"kb": ["other"]}),
        ({"top_k": 1}, {"top_k": 1}),
        ({"lists": ["keyword"]}, {"arms": ("keyword",)}),
        ({"filters": {"name": "周会.md"}}, {"filters": {"name": "周会.md"}}),
    ],
)
def test_a_search_finds_what_it_finds_in_python(server: Server, body: Any, options: Any) -> None:
    over_http = server.client.post("/search", json={"question": QUESTION, **body}).json()
    assert over_http["hits"]
    assert same(over_http, server.library.search(QUESTION, **options))


def test_an_answer_is_what_it_is_in_python(server: Server) -> None:
    body = {"question": QUESTION, "knowledge_bases": ["default"]}
    over_http = server.client.post("/ask", json=body).json()
    assert "PPR-9087" in over_http["text"]
    assert same(over_http, server.library.ask(QUESTION, kb="default"))
    plain = server.client.post("/chat", json={**body, "stream": False}).json()
    assert (plain["text"], plain["finish_reason"]) == (over_http["text"], "extractive")
    assert plain["sources"][0]["document_name"] == "周会.md"


def test_a_chat_tells_of_each_step_in_order(server: Server) -> None:
    events = chat(server, knowledge_bases=["default"])
    assert list(dict.fromkeys(event.name for event in events)) == ORDER
    assert [event.data["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event.id for event in events] == [str(event.data["seq"]) for event in events]
    assert len({event.data["trace_id"] for event in events}) == 1
    by_name = {event.name: event.data for event in events}
    assert by_name["router.decision"] | {"route": "knowledge", "prefer": "auto"} == by_name["router.decision"]
    assert by_name["tool.call.end"]["structured_hits"] >= 1
    deltas = "".join(event.data["text"] for event in events if event.name == "assistant.delta")
    message = by_name["assistant.message"]
    assert message["text"] == deltas
    assert "PPR-9087" in deltas
    assert message["citations"][0]["document_name"] == "周会.md"


def test_a_chat_leaves_the_trace_it_names(server: Server) -> None:
    trace_id = chat(server)[0].data["trace_id"]
    trace = server.client.get(f"/traces/{trace_id}").json()
    assert (trace["id"], trace["question"]) == (trace_id, QUESTION)
    assert trace["answer"]["finish_reason"] == "extractive"
    assert server.client.get("/traces/none").json()["code"] == "trace-not-found"


def test_a_question_without_evidence_ends_with_a_message(server: Server) -> None:
    with server.client.stream("POST", "/chat", json={"question": "zzqqxx"}) as answer:
        events = list(events_of(answer.iter_lines()))
    assert events[-1].name == "assistant.message"
    assert (events[-1].data["finish_reason"], events[-1].data["citations"]) == ("fallback", [])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"question": " "}, 422, "empty-question"),
        ({"question": ""}, 422, "request-invalid"),
        ({"question": "x", "knowledge_bases": ["none"]}, 404, "kb-not-found"),
        ({"question": "x", "session": "none"}, 404, "session-not-found"),
        ({"question": "x", "documents": ["none"]}, 404, "document-not-found"),
        ({"question": "x", "filters": {"date": {"from": "soon"}}}, 422, "invalid-filter"),
        ({"question": "x", "unknown": 1}, 422, "request-invalid"),
        ({"question": "\ud800"}, 422, "request-invalid"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_streamed(
    server: Server, body: Any, status: int, code: str
) -> None:
    sent = json.dumps(body).encode()
    for path in ("/search", "/retrieve", "/ask", "/chat"):
        answer = server.client.post(path, content=sent, headers={"Content-Type": "application/json"})
        assert (path, answer.status_code, answer.json()["code"]) == (path, status, code)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_in_the_middle_ends_the_stream_with_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wenyuan.flows.converse.extract", _fails)
    events = chat(server)
    assert [event.name for event in events] == [*ORDER[:6], "error"]
    assert events[-1].data["code"] == "internal"


def _fails(*_: object) -> None:
    raise ZeroDivisionError


def test_a_session_has_files_of_its_own(server: Server) -> None:
    made = server.client.post("/sessions", json={"title": "体检", "knowledge_bases": ["default"]})
    assert made.status_code == 201
    session = made.json()["id"]
    path = f"/sessions/{session}/attachments"
    assert server.client.post(f"{path}/upload", files={"file": ("报告.md", "血压正常。")}).status_code == 202
    assert server.client.post(f"{path}/text", json={"name": "发票.md", "text": "体检发票三百元。"}).status_code == 202
    server.settle()
    attached = server.client.get(path).json()["attachments"]
    assert [(one["name"], one["index_status"]) for one in attached] == [("报告.md", "ready"), ("发票.md", "ready")]
    found = server.client.post("/retrieve", json={"question": "血压", "session": session}).json()
    assert [one["document_name"] for one in found["passages"]] == ["报告.md"]
    assert server.client.post("/retrieve", json={"question": "血压"}).json()["passages"] == []
    assert server.client.patch(f"/sessions/{session}", json={"title": "年检"}).json()["title"] == "年检"
    assert server.client.delete(f"{path}/发票.md").status_code == 204
    assert [one["id"] for one in server.client.get("/sessions").json()["sessions"]] == [session]
    assert server.client.delete(f"/sessions/{session}").status_code == 204
    assert server.client.get(f"/sessions/{session}").json()["code"] == "session-not-found"
