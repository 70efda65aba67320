"""Evaluation over HTTP: sets that the library keeps grow by cases, and are run in the background."""

from __future__ import annotations

from typing import Any

import pytest

from tests.doors.http.running import MEETING, Server
from tests.waiting import until


def run(server: Server, name: str) -> Any:
    begun = server.client.post("/evaluation/runs", json={"set": name})
    assert begun.status_code == 202
    until(lambda: not server.client.get("/evaluation/running").json()["deed"]["running"])
    return server.client.get("/evaluation/running").json()["deed"]


def test_a_set_grows_is_run_and_compared(server: Server) -> None:
    assert server.client.get("/evaluation/running").json() == {"deed": None}
    assert server.client.get("/evaluation/sets").json() == {"sets": []}
    server.add("周会.md", MEETING)
    found = server.client.post("/search", json={"question": "屏幕改用什么？"}).json()
    path = "/evaluation/sets/回归 one/cases"
    by_trace = server.client.post(path, json={"trace": found["trace_id"], "expect": ["周会.md"]})
    assert by_trace.status_code == 201
    assert by_trace.json()["query"] == "屏幕改用什么？"
    server.client.post(path, json={"question": "PPR-9087", "expect": ["周会.md"], "tags": ["codes"]})
    assert [one["query"] for one in server.client.get(path).json()["cases"]] == ["屏幕改用什么？", "PPR-9087"]

    first = run(server, "回归 one")
    assert (first["problem"], first["done"], first["total"]) == (None, 2, 2)
    whole = server.client.get(f"/evaluation/runs/{first['result']}").json()
    assert [one["passed"] for one in whole["cases"]] == [True, True]
    (view,) = server.client.get("/evaluation/sets").json()["sets"]
    assert (view["name"], view["cases"], view["last_run"]["id"]) == ("回归 one", 2, first["result"])

    second = run(server, "回归 one")
    asked = {"before": first["result"], "after": second["result"]}
    assert server.client.get("/evaluation/compare", params=asked).json()["compared"] == 2
    listed = server.client.get("/evaluation/runs", params={"set_name": "回归 one"}).json()["runs"]
    assert [one["id"] for one in listed] == [second["result"], first["result"]]
    assert server.client.delete(f"/evaluation/runs/{first['result']}").status_code == 204
    assert server.client.get(f"/evaluation/runs/{first['result']}").json()["code"] == "evaluation-run-not-found"


@pytest.mark.parametrize("name", ["..", "../x", ".hidden", "a/b", "x" * 101, " x"])
def test_a_name_of_a_set_is_no_path(server: Server, name: str) -> None:
    for answer in (
        server.client.post("/evaluation/runs", json={"set": name}),
        server.client.post(f"/evaluation/sets/{name}/cases", json={"question": "x", "expect": ["nothing"]}),
    ):
        assert answer.status_code in (404, 405, 422), answer.text
    assert not (server.library.path / "x.yaml").exists()


def test_what_cannot_be_run_says_why(server: Server) -> None:
    missing = server.client.post("/evaluation/runs", json={"set": "missing"})
    assert (missing.status_code, missing.json()["code"]) == (404, "evaluation-set-not-found")
    folder = server.library.path / "evaluation"
    folder.mkdir(exist_ok=True)
    (folder / "broken.yaml").write_text("cases: [{", "utf-8")
    broken = next(one for one in server.client.get("/evaluation/sets").json()["sets"] if one["name"] == "broken")
    assert broken["problem"]["code"] == "evaluation-set-invalid"
    assert run(server, "broken")["problem"]["code"] == "evaluation-set-invalid"
    (folder / "broken.yaml").unlink()
