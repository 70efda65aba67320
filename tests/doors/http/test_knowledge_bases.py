"""Knowledge bases, jobs, models and a server's own state over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, events_of, running
from tests.waiting import until
from wenyuan.errors import DiskFull

PATH = "/knowledge-bases"


def test_a_knowledge_base_is_made_changed_archived_and_deleted(server: Server) -> None:
    body = {"name": "handbooks", "description": "What everyone needs.", "tags": ["hr"], "policy": {"types": ["md"]}}
    made = server.client.post(PATH, json=body)
    assert made.status_code == 201
    base = made.json()["knowledge_base"]
    assert made.headers["location"] == f"/api/v1{PATH}/{base['id']}"
    assert (base["name"], base["tags"], base["policy"]["types"]) == ("handbooks", ["hr"], ["md"])
    assert server.client.post(PATH, json=body).json()["code"] == "kb-exists"
    changes = {"description": "Less.", "ready_when": "semantic", "policy": {"max_documents": 1}}
    changed = server.client.patch(f"{PATH}/handbooks", json=changes).json()["knowledge_base"]
    assert (changed["description"], changed["tags"], changed["ready_when"]) == ("Less.", ["hr"], "semantic")
    assert server.client.post(f"{PATH}/handbooks/archive").json()["knowledge_base"]["state"] == "archived"
    refused = server.client.post(f"{PATH}/handbooks/documents/text", json={"name": "a", "text": "b"})
    assert (refused.status_code, refused.json()["code"]) == (409, "kb-archived")
    assert server.client.post(f"{PATH}/handbooks/activate").json()["knowledge_base"]["state"] == "active"
    texts = [server.client.post(f"{PATH}/handbooks/documents/text", json={"name": n, "text": n}) for n in ("a", "b")]
    assert [one.json()["outcome"] for one in texts] == ["added", None]
    assert texts[1].json()["problem"]["code"] == "kb-full"
    assert server.client.delete(f"{PATH}/{base['id']}").status_code == 204
    assert server.client.get(f"{PATH}/handbooks").json()["code"] == "kb-not-found"
    assert server.client.delete(f"{PATH}/default").json()["code"] == "kb-default-protected"


def test_a_knowledge_base_that_cannot_be_is_refused(server: Server) -> None:
    for body, code in (
        ({"name": " "}, "invalid-value"),
        ({"name": "x", "embedding_model": "none"}, "model-not-configured"),
        ({"name": "x", "chunking": {"target_columns": 100, "overlap_columns": 90}}, "invalid-value"),
        ({"name": "x", "policy": {"duplicates": "sometimes"}}, "request-invalid"),
        ({}, "request-invalid"),
    ):
        answer = server.client.post(PATH, json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_indexes_are_rebuilt_followed_and_rolled_back(server: Server) -> None:
    server.library.knowledge_bases.create("rebuilt")
    server.add("long.md", "一句话。" * 400, "rebuilt")
    path = f"{PATH}/rebuilt/rebuild"
    assert server.client.get(path).json() == {"rebuild": None}
    assert server.client.post(f"{path}/cancel").json()["code"] == "rebuild-not-running"
    assert server.client.post(f"{path}/rollback").json()["code"] == "nothing-to-roll-back"
    begun = server.client.post(path, json={"chunking": {"target_columns": 200}})
    assert (begun.status_code, begun.json()["rebuild"]["rebuild"]["state"]) == (202, "building")
    server.settle()
    done = server.client.get(path).json()["rebuild"]
    assert (done["rebuild"]["state"], done["keeps_replaced"]) == ("active", True)
    assert server.client.post(f"{path}/rollback").status_code == 200
    server.settle()
    chunking = server.client.get(f"{PATH}/rebuilt").json()["knowledge_base"]["chunking"]
    assert chunking["target_columns"] == 800


def test_jobs_are_listed_followed_and_cancelled(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library, running(library) as idle:
        library.add_text("one", "one.md", wait=False)
        library.add_text("two", "two.md", wait=False)
        jobs = idle.client.get("/jobs", params={"live": True}).json()["jobs"]
        assert [job["state"] for job in jobs] == ["queued", "queued"]
        assert idle.client.get(f"/jobs/{jobs[0]['id']}").json()["id"] == jobs[0]["id"]
        assert idle.client.get("/jobs/none").json()["code"] == "job-not-found"
        with idle.client.stream("GET", "/jobs/events", params={"after": 0}) as stream:
            events = events_of(stream.iter_lines())
            seen = [next(events), next(events)]
            assert {event.name for event in seen} == {"job.queued"}
            assert idle.client.post(f"/jobs/{jobs[0]['id']}/cancel").json()["state"] == "cancelled"
            assert next(events).data["job"]["id"] == jobs[0]["id"]
            library.drain()
            assert next(one for one in events if one.name == "job.done").data["job"]["id"] == jobs[1]["id"]
        headers = {"Last-Event-ID": seen[0].id}
        with idle.client.stream("GET", "/jobs/events", headers=headers) as stream:
            again = events_of(stream.iter_lines())
            numbers = [next(again).data["seq"], next(again).data["seq"]]
        assert numbers == sorted(numbers)
        assert numbers[0] > int(seen[0].id)
        assert idle.client.get("/jobs/events", headers={"Last-Event-ID": "x"}).json()["code"] == "invalid-value"


def test_a_stream_shows_signs_of_life(tmp_path: Path) -> None:
    settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_HEARTBEAT_SECONDS": "0.02"}
    with wy.open(tmp_path / "library", environment=settings) as library, running(library) as idle:
        with idle.client.stream("GET", "/jobs/events") as stream:
            lines = stream.iter_lines()
            assert [next(lines), next(lines), next(lines)] == [": alive", "", ": alive"]
        until(lambda: "http_streams_open 0" in idle.client.get("/metrics").text)


def test_a_server_tells_how_it_is(server: Server) -> None:
    assert server.client.get("/health").json() == {"status": "ok"}
    assert server.client.get("/ready").json() == {"status": "ok"}
    server.client.get("/documents/none")
    text = server.client.get("/metrics").text
    assert 'wenyuan_http_requests_total{method="GET",route="/documents/{document}",status="404"} ' in text
    assert 'wenyuan_http_request_seconds_bucket{route="/health",le="+Inf"} ' in text
    assert "wenyuan_worker_up 1" in text


def test_a_server_whose_work_is_not_done_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library:

        def fails() -> None:
            raise DiskFull(path=library.path)

        monkeypatch.setattr(library, "work", fails)
        with running(library, works=True) as server:
            until(lambda: server.client.get("/ready").status_code == 503)
            answer = server.client.get("/ready", headers={"Accept-Language": "zh"}).json()
            assert (answer["code"], "disk-full" in answer["detail"]) == ("server-not-ready", True)
            assert server.client.get("/health").status_code == 200


def test_models_are_listed_and_one_that_is_not_there_is_named(server: Server) -> None:
    models = server.client.get("/models").json()["models"]
    assert [one["name"] for one in models] == ["built-in/multilingual-e5-small"]
    answer = server.client.post("/models/none/of/these/test")
    assert (answer.status_code, answer.json()["code"]) == (422, "model-not-configured")


def test_runs_of_evaluation_sets_are_shown(server: Server, tmp_path: Path) -> None:
    server.add("set.md", "体检每年一次。")
    cases = tmp_path / "set.jsonl"
    cases.write_text('{"query": "体检", "expect": {"document": "set.md"}}\n', "utf-8")
    run = server.library.evaluation.run(cases)
    listed = server.client.get("/evaluation/runs").json()["runs"]
    assert [one["id"] for one in listed] == [run.record.id]
    assert [one["query"] for one in server.client.get("/evaluation/runs/last").json()["cases"]] == ["体检"]
    assert server.client.get("/evaluation/runs/none").json()["code"] == "evaluation-run-not-found"


def test_what_is_not_there_says_so(server: Server) -> None:
    assert server.client.get("/nothing").json()["code"] == "route-not-found"
    answer = server.client.put("/search")
    assert (answer.status_code, answer.json()["code"]) == (405, "method-not-allowed")
    assert answer.headers["allow"] == "POST"
