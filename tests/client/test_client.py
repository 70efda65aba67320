"""A served library is used as one that is opened here: the same methods, results and errors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from itertools import islice
from pathlib import Path

import httpx2
import pytest

import wenyuan as wy
from tests.client.relays import answer, relaying
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running
from wenyuan import errors
from wenyuan.client.event_streams import events_of
from wenyuan.client.files import Sending
from wenyuan.store import queue
from wenyuan.types import ChunkingConfig, DocumentPolicy

QUESTION = "四月十四号的会议定了什么？"


# --- The same results ------------------------------------------------------------------------------


def test_a_search_gives_the_very_values(client: wy.Client, server: Server) -> None:
    here, there = server.library.search(QUESTION, top_k=3), client.search(QUESTION, top_k=3)
    assert replace(there, trace_id="") == replace(here, trace_id="")
    assert there.hits
    assert client.trace(there.trace_id)["question"] == QUESTION


def test_a_search_is_narrowed_as_it_is_here(client: wy.Client, server: Server) -> None:
    document = server.add("年报.md", "# 年报\n\n2025 年的收入是 90 万。")
    found = client.search("收入", kb="default", documents=[document], filters={"name": "年报.md"}, arms=["keyword"])
    assert {hit.passage.document_id for hit in found.hits} == {document}
    client.documents.delete(document)


def test_an_answer_has_its_citations(client: wy.Client, server: Server) -> None:
    here, there = server.library.ask(QUESTION), client.ask(QUESTION)
    assert (there.text, there.citations) == (here.text, here.citations)
    assert client.retrieve(QUESTION).passages[0].citation == here.citations[0].chunk_id
    assert client.documents.open(here.citations[0].chunk_id) == server.library.documents.open(
        here.citations[0].chunk_id
    )


def test_a_chat_is_told_step_by_step(client: wy.Client, server: Server) -> None:
    here, there = list(server.library.converse(QUESTION)), list(client.chat(QUESTION))
    assert [step.name for step in there] == [step.name for step in here]
    assert there[-1].data["citations"] == here[-1].data["citations"]
    assert "".join(step.data["text"] for step in there if step.name == "assistant.delta") == there[-1].data["text"]
    assert len({step.trace_id for step in there}) == 1


# --- Taking in -------------------------------------------------------------------------------------


def test_a_folder_is_sent_and_found(client: wy.Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "会议.md").write_text("# 三号会议\n\n水泵改用 KX-77。", "utf-8")
    (notes / "deep" / "large.txt").write_text("the boiler is blue\n" * 20_000, "utf-8")
    (notes / ".hidden").write_text("secret", "utf-8")
    sending: list[Sending] = []
    report = client.add(notes, metadata={"author": "Wang"}, on_sending=sending.append)
    assert [one.source for one in report.received] == ["upload:notes/会议.md", "upload:notes/deep/large.txt"]
    assert report.passed_over == {"excluded": 1}
    large = [one for one in sending if one.name.endswith("large.txt")]
    assert large[-1].sent == large[-1].size == (notes / "deep" / "large.txt").stat().st_size
    assert len(large) > 1
    found = client.search("KX-77", filters={"author": "Wang"}).hits[0]
    assert found.passage.document_name == "notes/会议.md"
    assert client.documents.original(found.passage.document_id) == (notes / "会议.md").read_bytes()
    assert "KX-77" in client.documents.text(found.passage.document_id).text
    again = client.add(notes / "会议.md", wait=False)
    assert again.received[0].outcome == "added"


def test_what_cannot_be_added_is_told(client: wy.Client, tmp_path: Path) -> None:
    with pytest.raises(errors.PathNotFound):
        client.add(tmp_path / "nowhere")
    with pytest.raises(errors.AddressInvalid):
        client.add("http://user:password@example.org/")
    empty = tmp_path / "empty.md"
    empty.touch()
    received = client.add(empty).received[0]
    assert received.document_id is not None
    problem = client.documents.show(received.document_id).latest.problem
    assert problem is not None
    assert problem.code == "file-empty"


def test_knowledge_bases_documents_and_sessions(client: wy.Client, server: Server, tmp_path: Path) -> None:
    bases, documents, sessions = client.knowledge_bases, client.documents, client.sessions
    made = bases.create("pumps", description="Pumps", chunking=ChunkingConfig(400, 0), tags=["a"])
    assert made == server.library.knowledge_bases.find("pumps")
    assert bases.set_policy("pumps", DocumentPolicy(types=("md",))).policy.types == ("md",)
    assert bases.describe("pumps", description="All pumps").description == "All pumps"
    added = client.add_text("# 泵\n\n四号水泵。", "泵.md", kb="pumps").document_id
    assert added is not None
    assert [one.document.id for one in documents.list("pumps")] == [added]
    assert documents.show(added) == server.library.documents.show(added)
    assert documents.passages(added)[0].chunk.text == "# 泵\n\n四号水泵。"
    assert not documents.switch(added, enabled=False).searchable
    assert documents.switch(added, enabled=True).searchable
    assert documents.switch_passage(added, 0, enabled=False) == 1
    assert client.rebuilds.show("pumps") is None
    assert bases.archive("pumps").state == "archived"
    assert bases.archive("pumps", undo=True).state == "active"
    documents.delete(added)
    bases.delete("pumps")
    assert [one.knowledge_base.name for one in bases.all()] == ["default"]

    session = sessions.create("泵", kb="default")
    file = tmp_path / "附件.md"
    file.write_text("五号水泵的型号是 QX-5。", "utf-8")
    sessions.attach(session.id, file)
    sessions.attach_text(session.id, "六号水泵。", "六.md")
    server.settle()
    assert [one.name for one in sessions.attachments(session.id)] == ["附件.md", "六.md"]
    assert "QX-5" in client.ask("五号水泵的型号是什么？", session=session.id).text
    assert sessions.rename(session.id, "水泵").title == sessions.find(session.id).title == "水泵"
    assert sessions.ask_others(session.id, None).knowledge_bases is None
    assert sessions.ask_others(session.id, ["default"]).knowledge_bases == ("default",)
    sessions.detach(session.id, "六.md")
    sessions.delete(session.id)
    assert session.id not in [one.id for one in sessions.list()]


def test_what_nobody_works_on_is_told_and_kept(tmp_path: Path) -> None:
    with (
        wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library,
        running(library, works=False) as server,
        wy.Client(server.url, patience=0.2) as client,
    ):
        with pytest.raises(errors.NothingWorks, match=r"note\.md was taken in"):
            client.add_text("text", "note.md")
        assert [view.document.name for view in client.documents.list()] == ["note.md"]
        assert not client.jobs.are_worked_on()
        library.drain()
        assert client.add_text("text", "note.md").outcome == "unchanged"


def test_a_lease_that_has_run_out_is_no_work(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library:
        library.add_text("text", "note.md", wait=False)
        (lease,) = queue.claim(library._database, "worker", 60_000, ("ingest",), 1, 1 << 20, look_first=False)
        assert library.jobs.are_worked_on()
        with library._database.write() as tx:
            tx.run("UPDATE jobs SET lease_until = :now WHERE id = :job", {"now": tx.now, "job": lease.job.id})
        assert not library.jobs.are_worked_on()


# --- Errors ----------------------------------------------------------------------------------------


def test_errors_are_the_classes_that_they_are_there(client: wy.Client, server: Server) -> None:
    with pytest.raises(errors.KnowledgeBaseNotFound) as raised:
        client.search("?", kb="nowhere/or here")
    with pytest.raises(errors.KnowledgeBaseNotFound) as here:
        server.library.search("?", kb="nowhere/or here")
    assert raised.value.problem() == here.value.problem()
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (type(copy), copy.problem()) == (errors.KnowledgeBaseNotFound, here.value.problem())
    with pytest.raises(errors.EmptyQuestion):
        list(client.chat("  "))
    with pytest.raises(errors.DocumentNotFound):
        client.documents.show("doc_nowhere")
    with wy.Client(server.url, "wyk_wrong") as other, pytest.raises(errors.KeyRefused):
        other.knowledge_bases.all()


def test_a_server_that_is_not_there_is_named() -> None:
    with wy.Client("http://127.0.0.1:9", attempts=1) as client, pytest.raises(errors.ServerUnreachable) as raised:
        client.knowledge_bases.all()
    assert "http://127.0.0.1:9" in raised.value.message


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"knowledge_bases": 3}'])
def test_what_is_no_library_is_not_believed(server: Server, key: str, body: bytes) -> None:
    def other(_: int, handler: BaseHTTPRequestHandler, __: httpx2.Response) -> bool:
        answer(handler, 200, body)
        return True

    with relaying(server.url, other) as relay, wy.Client(relay.url, key) as client:
        with pytest.raises(errors.ServerUnreachable):
            client.knowledge_bases.all()
        assert len(relay.seen) == 1


# --- Sent again ------------------------------------------------------------------------------------


def busy_at_first(number: int, handler: BaseHTTPRequestHandler, _: httpx2.Response) -> bool:
    """Two requests are refused; the third is let through."""
    if number < 3:
        answer(handler, 503, b'{"code": "server-busy", "detail": "Busy.", "hint": "Wait."}', "application/problem+json")
    return number < 3


def lost_at_first(number: int, handler: BaseHTTPRequestHandler, response: httpx2.Response) -> bool:
    """The first request is done, and its answer lost."""
    if number == 1:
        response.read()
        handler.close_connection = True
    return number == 1


def test_what_changes_nothing_is_asked_again(server: Server, key: str) -> None:
    with relaying(server.url, busy_at_first) as relay, wy.Client(relay.url, key) as client:
        assert client.search(QUESTION).hits
        assert len(relay.seen) == 3


def test_what_was_done_is_not_done_again(server: Server, key: str, tmp_path: Path) -> None:
    file = tmp_path / "once.md"
    file.write_text(MEETING, "utf-8")
    makes: tuple[Callable[[wy.Client], str | None], ...] = (
        lambda client: client.add_text(MEETING, "again.md").document_id,
        lambda client: client.add(file).received[0].document_id,
    )
    for make in makes:
        with relaying(server.url, lost_at_first) as relay, wy.Client(relay.url, key) as client:
            document = make(client)
            assert document is not None
            assert client.documents.show(document).latest.number == 1
            keys = [headers["idempotency-key"] for _, _, headers in relay.seen if "idempotency-key" in headers]
            assert len(keys) == 2
            assert len(set(keys)) == 1


def test_what_may_have_been_done_is_not_tried_again(server: Server, key: str) -> None:
    with relaying(server.url, lost_at_first) as relay, wy.Client(relay.url, key) as client:
        with pytest.raises(errors.ServerUnreachable):
            client.knowledge_bases.describe("default", description="x")
        assert len(relay.seen) == 1
    with relaying(server.url, busy_at_first) as relay, wy.Client(relay.url, key) as client:
        with pytest.raises(errors.ServerBusy) as raised:
            client.knowledge_bases.describe("default", description="x")
        assert (raised.value.message, raised.value.advice) == ("Busy.", "Wait.")


# --- Streams ---------------------------------------------------------------------------------------


def cut_short(number: int, handler: BaseHTTPRequestHandler, response: httpx2.Response) -> bool:
    """Of the first stream, one event comes through."""
    if number > 1:
        return False
    handler.send_response(200)
    handler.end_headers()
    for line in response.iter_lines():
        handler.wfile.write(f"{line}\n".encode())
        if not line:
            return True
    return True


def test_an_answer_whose_stream_breaks_is_taken_up_again(server: Server, client: wy.Client, key: str) -> None:
    with relaying(server.url, cut_short) as relay, wy.Client(relay.url, key) as other:
        steps = list(other.chat(QUESTION))
        assert [step.name for step in steps] == [step.name for step in client.chat(QUESTION)]
        (_, _, _), (method, path, headers) = relay.seen
        assert (method, path, headers["last-event-id"]) == ("GET", f"/api/v1/chat/{steps[0].trace_id}", "1")


def test_an_answer_that_cannot_be_taken_up_again_is_no_answer(server: Server, key: str) -> None:
    def cut_each(number: int, handler: BaseHTTPRequestHandler, response: httpx2.Response) -> bool:
        if number > 1:
            handler.close_connection = True
            return True
        return cut_short(number, handler, response)

    with relaying(server.url, cut_each) as relay, wy.Client(relay.url, key) as client:
        steps = client.chat(QUESTION)
        assert next(steps).name == "router.decision"
        with pytest.raises(errors.ServerUnreachable):
            list(steps)


def test_jobs_are_followed_on_behind_a_break(server: Server, client: wy.Client, key: str) -> None:
    def cut_each(_: int, handler: BaseHTTPRequestHandler, response: httpx2.Response) -> bool:
        return cut_short(1, handler, response)

    begun = server.library.jobs.begun()[0]
    for number in range(3):
        client.add_text(f"{number} 号水泵。", f"{number}.md")
    expected = [event.number for event in server.library.jobs.changes(begun)][:3]
    with relaying(server.url, cut_each) as relay, wy.Client(relay.url, key) as other:
        watched = other.jobs.watch(begun)
        events = list(islice(watched, 3))
        watched.close()
        assert [event.number for event in events] == expected
        assert [headers.get("last-event-id") for _, _, headers in relay.seen] == [
            str(number) for number in (begun, *expected[:2])
        ]
    assert events[0].job == client.jobs.show(events[0].job.id)
    assert len(client.jobs.list(limit=2)) == 2


def test_events_are_read_as_browsers_read_them() -> None:
    lines = [": alive", "id: 1", "event:a", 'data: {"x":', "data: 1}", "", "", ":", "data:2", ""]
    assert [(one.id, one.name, one.data) for one in events_of(iter(lines))] == [
        ("1", "a", {"x": 1}),
        ("", "message", 2),
    ]
