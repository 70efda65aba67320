"""Chatting over HTTP with a model: streamed, taken up again, stopped, kept in sessions, and granted to few."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.http.running import MEETING, Event, Server, events_of, running
from tests.waiting import until

QUESTION = "屏幕改用什么？"
ANSWER = Reply("屏幕改用 PPR-9087 [1]。")
SETTINGS = '[defaults]\nembedding_model = ""\n[answer]\nresume_seconds = 0.05\nsave_seconds = 0.000001\n'


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with chatting(ANSWER) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: ChatServer) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("chatting") / "library"
    path.mkdir()
    (path / "wenyuan.toml").write_text(SETTINGS + model.settings(more="tools = true"), "utf-8")
    with wy.open(path, environment={}) as library, running(library, works=True) as server:
        server.add("周会.md", MEETING)
        yield server


@pytest.fixture
def session(server: Server, model: ChatServer) -> str:
    model.replies[:] = [ANSWER]
    made: str = server.client.post("/sessions", json={}).json()["id"]
    return made


def streamed(client: httpx2.Client, **body: Any) -> list[Event]:
    with client.stream("POST", "/chat", json={"question": QUESTION, **body}) as answer:
        assert answer.status_code == 200
        return list(events_of(answer.iter_lines()))


def begun(client: httpx2.Client, pieces: int, **body: Any) -> list[Event]:
    """The events of a stream up to so many pieces of text; then its client is gone."""
    seen: list[Event] = []
    with client.stream("POST", "/chat", json={"question": QUESTION, **body}) as answer:
        for one in events_of(answer.iter_lines()):
            seen.append(one)
            if sum(event.name == "assistant.delta" for event in seen) == pieces:
                break
    return seen


def resumed(client: httpx2.Client, trace: str, after: int) -> list[Event]:
    with client.stream("GET", f"/chat/{trace}", headers={"Last-Event-ID": str(after)}) as answer:
        assert answer.status_code == 200
        return list(events_of(answer.iter_lines()))


def turns(server: Server, session: str, **parameters: Any) -> Any:
    return server.client.get(f"/sessions/{session}/turns", params=parameters).json()


def test_a_stream_ends_with_the_message_that_the_session_keeps(server: Server, session: str) -> None:
    events = streamed(server.client, session=session)
    message = events[-1].data
    assert (events[-1].name, message["finish_reason"], message["turn"]) == ("assistant.message", "stop", 2)
    page = turns(server, session)
    assert [turn["text"] for turn in page["turns"]] == [QUESTION, message["text"]]
    assert page["turns"][1]["answer"]["citations"] == message["citations"]
    assert page["turns"][1]["trace_id"] == events[0].data["trace_id"]
    plain = server.client.post("/chat", json={"question": QUESTION, "session": session, "stream": False, "replaces": 1})
    assert (plain.json()["text"], plain.json()["turn"]) == (message["text"], 4)
    assert plain.json()["sources"][0]["document_name"] == "周会.md"
    assert [turn["replaced_by"] for turn in turns(server, session)["turns"]] == [3, 3, None, None]
    assert turns(server, session, limit=1)["next_before"] == 4


def test_a_stream_is_taken_up_again_where_it_was_lost(server: Server, session: str) -> None:
    whole = streamed(server.client, session=session)
    trace = whole[0].data["trace_id"]
    for after in (0, 3, len(whole) - 1):
        again = resumed(server.client, trace, after)
        assert [(one.id, one.name) for one in again] == [(one.id, one.name) for one in whole[after:]]
    assert server.client.get("/chat/trace_none").json()["code"] == "trace-not-found"
    refused = server.client.get(f"/chat/{trace}", headers={"Last-Event-ID": "x"})
    assert refused.json()["code"] == "request-invalid"


def test_an_answer_that_is_left_is_stopped_and_keeps_what_it_said(
    server: Server, model: ChatServer, session: str
) -> None:
    slow = Reply("屏幕改用 PPR-9087 [1]。" + "还有。 " * 4000)
    model.replies[:] = [slow]
    seen = begun(server.client, 2, session=session)
    until(lambda: turns(server, session)["turns"][1]["answer"]["finish_reason"] == "stopped")
    kept = turns(server, session)["turns"][1]
    assert kept["text"].startswith("".join(one.data["text"] for one in seen if one.name == "assistant.delta"))
    assert len(kept["text"]) < len(slow.text)


def test_an_answer_is_stopped_at_once_though_the_model_says_nothing(
    server: Server, model: ChatServer, session: str
) -> None:
    model.replies[:] = [Reply("屏幕改用 PPR-9087 [1]。还有别的。", hangs_after=3)]
    with server.client.stream("POST", "/chat", json={"question": QUESTION, "session": session}) as answer:
        events = events_of(answer.iter_lines())
        trace = next(one.data["trace_id"] for one in events if one.name == "assistant.delta")
        assert server.client.delete(f"/chat/{trace}").status_code == 204
        last = list(events)[-1]
    assert (last.name, last.data["finish_reason"]) == ("assistant.message", "stopped")
    kept = turns(server, session)["turns"][1]
    assert (kept["text"], kept["answer"]["finish_reason"]) == (last.data["text"], "stopped")
    assert kept["text"].startswith("屏幕改用")


def test_an_error_in_the_middle_says_what_was_saved(server: Server, model: ChatServer, session: str) -> None:
    model.replies[:] = [Reply("屏幕改用 PPR-9087 [1]。还有别的事情要说。", breaks_after=3)]
    events = streamed(server.client, session=session)
    kept = turns(server, session)["turns"][1]
    assert events[-1].name == "error"
    assert events[-1].data["code"].startswith("provider-")
    assert events[-1].data["saved"] == {"text": kept["text"], "turn": 2}
    # Another process would find the turn alone.
    again = resumed(server.client, events[0].data["trace_id"], 0)
    assert [one.name for one in again] == [one.name for one in events]


def test_after_a_crash_the_turn_tells_what_was_saved(server: Server, session: str) -> None:
    streamed(server.client, session=session)
    with server.library._database.write() as tx:
        for trace, role, number in (("trace_gone", "person", 3), ("trace_gone", "assistant", 4)):
            tx.run(
                "INSERT INTO turns (session_id, number, role, text, trace_id, created_at, answer) VALUES (:session, "
                ":number, :role, 'so far', :trace, 0, :answer)",
                {
                    "session": session,
                    "number": number,
                    "role": role,
                    "trace": trace,
                    "answer": json.dumps({"finish_reason": "interrupted"}),
                },
            )
    (only,) = resumed(server.client, "trace_gone", 7)
    assert (only.id, only.name, only.data["code"]) == ("8", "error", "interrupted")
    assert only.data["saved"] == {"text": "so far", "turn": 4}


def test_an_answer_is_judged_exported_and_made_a_case(server: Server, session: str) -> None:
    streamed(server.client, session=session)
    path = f"/sessions/{session}/turns/2"
    judged = server.client.put(f"{path}/feedback", json={"value": "down", "note": "too short"})
    assert judged.json()["feedback"] == {"value": "down", "note": "too short"}
    assert server.client.put(f"{path}/feedback", json={"value": "well"}).status_code == 422
    assert server.client.put(f"/sessions/{session}/turns/1/feedback", json={"value": "up"}).json()["code"] == (
        "turn-not-found"
    )
    case = server.client.post(f"{path}/case", json={"set": "chats"})
    assert (case.status_code, case.json()["query"]) == (201, QUESTION)
    exported = server.client.get(f"/sessions/{session}/export")
    assert exported.headers["content-type"].startswith("text/markdown")
    assert "- [1] 周会.md" in exported.text
    assert len(server.client.get(f"/sessions/{session}/export?format=json").json()["turns"]) == 2
    changed = server.client.patch(f"/sessions/{session}", json={"knowledge_bases": ["default"]}).json()
    assert (changed["title"], changed["knowledge_bases"]) == (QUESTION, ["default"])
    # What is absent stays, and null is every knowledge base again.
    titled = server.client.patch(f"/sessions/{session}", json={"title": "屏幕"}).json()
    assert (titled["title"], titled["knowledge_bases"]) == ("屏幕", ["default"])
    everywhere = server.client.patch(f"/sessions/{session}", json={"knowledge_bases": None}).json()
    assert (everywhere["title"], everywhere["knowledge_bases"]) == ("屏幕", None)
    # Nothing is changed where something cannot be.
    refused = server.client.patch(f"/sessions/{session}", json={"title": "x", "knowledge_bases": ["none"]})
    assert refused.json()["code"] == "kb-not-found"
    assert server.client.patch(f"/sessions/{session}", json={"title": "a\nb", "knowledge_bases": []}).status_code == 422
    assert server.client.get(f"/sessions/{session}").json() == everywhere


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"replaces": 9}, 404, "turn-not-found"),
        ({"model": "none"}, 422, "model-not-configured"),
        ({"knowledge_bases": ["none"]}, 404, "kb-not-found"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_streamed(
    server: Server, session: str, body: Any, status: int, code: str
) -> None:
    for stream in (True, False):
        sent = {"question": QUESTION, "session": session, "stream": stream, **body}
        answer = server.client.post("/chat", json=sent)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert turns(server, session)["turns"] == []


@pytest.mark.usefixtures("session")
def test_what_was_said_with_one_key_is_nothing_to_another(server: Server) -> None:
    # Keys lock the server for who has none, so that this comes last.
    with server.with_key(scopes=["admin"]) as admin, server.with_key() as mine, server.with_key() as other:
        own = mine.post("/sessions", json={}).json()["id"]
        trace = streamed(mine, session=own)[0].data["trace_id"]
        for path in (f"/sessions/{own}/turns", f"/sessions/{own}/export"):
            assert (mine.get(path).status_code, other.get(path).json()["code"]) == (200, "session-not-found")
        judged = other.put(f"/sessions/{own}/turns/2/feedback", json={"value": "up"})
        assert judged.json()["code"] == "session-not-found"
        assert mine.post(f"/sessions/{own}/turns/2/case", json={"set": "x"}).json()["code"] == "permission-missing"
        assert other.get(f"/chat/{trace}").json()["code"] == "trace-not-found"
        assert other.post("/chat", json={"question": QUESTION, "session": own}).json()["code"] == "session-not-found"
        assert [one.name for one in resumed(mine, trace, 0)][-1] == "assistant.message"
        assert admin.get(f"/sessions/{own}/turns").status_code == 200
