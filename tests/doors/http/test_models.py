"""Models over HTTP: who may see them, and who may change and call them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.http.running import Server, running

WORDS_ALONE = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


@pytest.fixture(scope="module")
def writing() -> Iterator[ChatServer]:
    with chatting(Reply("ready")) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests, each of which leaves its models as they were."""
    home = tmp_path_factory.mktemp("models") / "library"
    with wy.open(home, environment=WORDS_ALONE) as library, running(library) as server:
        yield server


def test_a_model_is_added_has_its_role_is_called_and_taken_out(server: Server, writing: ChatServer) -> None:
    described = {
        "name": "team/writer",
        "types": ["chat"],
        "protocol": "openai-compatible",
        "model": "scripted-1",
        "base_url": writing.base_url,
        "tools": True,
    }
    made = server.client.post("/models", json=described)
    assert (made.status_code, made.json()["roles"]) == (201, ["answer", "task"])
    assert server.client.post("/models", json=described).json()["code"] == "model-exists"
    listed = server.client.get("/models").json()
    assert listed["roles"]["answer"] == "team/writer"
    assert [one["types"] for one in listed["models"]] == [["embedding"], ["chat"]]
    (test,) = server.client.post("/models/team/writer/test").json()["tests"]
    assert (test["ok"], test["said"]) == (True, "ready")
    roles = server.client.put("/model-roles/answer", json={"model": ""}).json()["roles"]
    assert roles["answer"] == ""
    assert server.client.delete("/models/team/writer").status_code == 204
    assert server.client.delete("/models/team/writer").json()["code"] == "model-not-configured"


def test_the_providers_that_are_known_are_listed(server: Server) -> None:
    presets = {one["name"]: one for one in server.client.get("/model-presets").json()["presets"]}
    assert presets["deepseek"]["base_urls"] == {"chat": "https://api.deepseek.com/v1"}
    assert presets["deepseek"]["key"] == "env:DEEPSEEK_API_KEY"


@pytest.mark.parametrize(
    "values",
    [
        {"preset": "deepseek", "key": "file:/etc/passwd"},
        {"preset": "deepseek", "key": "env:AWS_SECRET_ACCESS_KEY"},
        {"preset": "openai", "types": ["chat"], "key": "env:OPENAI_API_KEY", "base_url": "http://evil.example/v1"},
        {"preset": "deepseek", "key": "env:OPENAI_API_KEY"},
        # It may hold the password of a database.
        {"preset": "deepseek", "key": "env:WENYUAN_LIBRARY"},
        {"preset": "deepseek", "key": "keyring:login/me"},
        {"preset": "deepseek", "key": "sk-secret-4711"},
    ],
)
def test_nothing_of_this_machine_is_sent_where_somebody_elsewhere_wants_it(
    server: Server, values: dict[str, object]
) -> None:
    answer = server.client.post("/models", json={"name": "x", "model": "m", **values})
    assert answer.json()["code"] == "configuration-invalid"
    assert "sk-secret" not in answer.text
    assert len(server.client.get("/models").json()["models"]) == 1


@pytest.mark.parametrize("key", ["env:WENYUAN_KEY_TEAM", "keyring:wenyuan/team"])
def test_what_was_set_aside_for_it_may_be_named(server: Server, key: str) -> None:
    described = {"name": "x", "types": ["chat"], "protocol": "anthropic", "model": "m", "base_url": "http://h/v1"}
    made = server.client.post("/models", json={**described, "key": key})
    assert (made.status_code, made.json()["key"]) == (201, key)
    assert server.client.delete("/models/x").status_code == 204


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "types": ["video"]},
        {"name": "x", "colour": "red"},
        {"name": "x", "dimensions": 0},
        {"name": "x", "types": ["chat"], "protocol": "anthropic", "model": "m", "base_url": "http://me:secret@h/v1"},
        {},
    ],
)
def test_a_body_that_is_not_as_it_must_be_is_refused(server: Server, body: dict[str, object]) -> None:
    assert server.client.post("/models", json=body).status_code == 422


def test_who_does_not_administer_everything_sees_but_does_not_touch(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=WORDS_ALONE) as library, running(library) as server:
        _touch_nothing(server)


def _touch_nothing(server: Server) -> None:
    library = server.library
    library.knowledge_bases.create("手册", embedding_model="")
    reader = library.access_keys.create("reader", scopes=("read",), kb=None, days=None).secret
    part = library.access_keys.create("part", scopes=("admin",), kb=["手册"], days=None).secret
    for secret in (reader, part):
        headers = {"Authorization": f"Bearer {secret}"}
        assert server.client.get("/models", headers=headers).status_code == 200
        for method, path, body in (
            ("POST", "/models", {"name": "x", "preset": "deepseek", "model": "m"}),
            ("DELETE", "/models/built-in/multilingual-e5-small", None),
            ("POST", "/models/built-in/multilingual-e5-small/test", None),
            ("PUT", "/model-roles/answer", {"model": ""}),
        ):
            answer = server.client.request(method, path, json=body, headers=headers)
            assert answer.json()["code"] == "permission-missing", path
