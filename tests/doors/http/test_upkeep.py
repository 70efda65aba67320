"""Looking after a library over HTTP: keys, backups, storage, examples, vocabulary, statistics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.waiting import until
from wenyuan.runtime.backups import restore


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, httpx2.Client]]:
    """A server that needs a key, and whoever has one for everything."""
    path = tmp_path_factory.mktemp("upkeep") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        yield server, server.with_key(scopes=("admin",))


def test_a_key_is_made_told_once_used_and_revoked(kept: tuple[Server, httpx2.Client]) -> None:
    server, admin = kept
    asked = {"name": "agent", "scopes": ["read"], "knowledge_bases": ["default"], "days": 30}
    made = admin.post("/keys", json=asked, headers={"Idempotency-Key": "once"})
    assert made.status_code == 201
    secret = made.json()["secret"]
    agent = httpx2.Client(base_url=admin.base_url, headers={"Authorization": f"Bearer {secret}"})
    assert agent.get("/me").json()["name"] == "agent"
    assert agent.get("/keys").json()["code"] == "permission-missing"
    # Not even an Idempotency-Key has the server keep it.
    assert admin.post("/keys", json=asked, headers={"Idempotency-Key": "once"}).json()["code"] == "access-key-exists"
    listed = admin.get("/keys")
    assert [one["name"] for one in listed.json()["keys"]][-1] == "agent"
    assert secret not in listed.text
    with server.library._database.read() as tx:
        assert secret not in str(tx.all("SELECT * FROM repeatable_requests"))
    assert admin.delete("/keys/agent").json()["revoked_at"] is not None
    assert agent.get("/me").json()["code"] == "key-refused"
    assert admin.delete("/keys/agent").json()["code"] == "access-key-not-found"


@pytest.mark.parametrize(
    "body", [{"name": "x", "scopes": []}, {"name": "x", "scopes": ["root"]}, {"name": "x", "days": 0}, {"name": ""}]
)
def test_a_key_that_makes_no_sense_is_refused(kept: tuple[Server, httpx2.Client], body: Any) -> None:
    assert kept[1].post("/keys", json=body).status_code == 422


def test_a_backup_is_made_in_the_background_and_can_be_restored(
    kept: tuple[Server, httpx2.Client], tmp_path: Path
) -> None:
    server, admin = kept
    server.add("kept.md", "体检每年一次。")
    assert admin.get("/backups").json() == {"folder": f"{server.library.path}-backups", "backups": [], "last": None}
    begun = admin.post("/backups", json={"name": "nightly"})
    assert (begun.status_code, begun.json()["name"]) == (202, "nightly")
    until(lambda: not admin.get("/backups").json()["last"]["running"])
    view = admin.get("/backups").json()
    assert view["last"]["problem"] is None
    assert view["last"]["done"] == view["last"]["total"] > 0
    assert [one["name"] for one in view["backups"]] == ["nightly"]
    restore(Path(view["folder"]) / "nightly", tmp_path / "restored")
    with wy.open(tmp_path / "restored") as restored:
        assert any(one.document.name == "kept.md" for one in restored.documents.list())
    for name in ("../elsewhere", "a/b", "", ".."):
        assert admin.post("/backups", json={"name": name}).status_code == 422


def test_a_backup_that_fails_says_why(kept: tuple[Server, httpx2.Client]) -> None:
    server, admin = kept
    folder = Path(admin.get("/backups").json()["folder"])
    (folder / "taken").mkdir(parents=True)
    (folder / "taken" / "mine.txt").write_text("not a backup", "utf-8")
    admin.post("/backups", json={"name": "taken"})
    until(lambda: not admin.get("/backups").json()["last"]["running"])
    assert admin.get("/backups").json()["last"]["problem"]["code"] == "folder-not-empty"
    assert (folder / "taken" / "mine.txt").read_text("utf-8") == "not a backup"
    assert server.library.check() == []


def test_storage_counts_what_is_there(kept: tuple[Server, httpx2.Client]) -> None:
    server, admin = kept
    before = admin.get("/storage").json()
    server.add("more.md", "新的文件。" * 100)
    after = admin.get("/storage").json()
    assert after["files"] == before["files"] + 1
    assert after["file_bytes"] == before["file_bytes"] + len("新的文件。" * 100) * 3
    assert after["documents"] == before["documents"] + 1
    assert after["free_bytes"] > 0
    assert after["database_bytes"] > 0


def test_examples_are_read_and_found(kept: tuple[Server, httpx2.Client]) -> None:
    server, admin = kept
    english = admin.post("/examples", json={})
    chinese = admin.post("/examples", json={}, headers={"Accept-Language": "zh"})
    again = admin.post("/examples", json={})
    names = [one.json()["knowledge_base"]["name"] for one in (english, chinese, again)]
    assert names == ["Examples", "示例", "Examples 2"]
    server.settle()
    for name in names:
        documents = admin.get(f"/knowledge-bases/{name}/documents").json()["documents"]
        assert len(documents) == 6
        assert [one["document"]["name"] for one in documents if not one["searchable"]] == []
        assert [one["document"]["name"] for one in documents if one["doubts"]] == []

    def found(question: str) -> str:
        asked = {"question": question, "knowledge_bases": ["示例"]}
        passage: str = admin.post("/retrieve", json=asked).json()["passages"][0]["document_name"]
        return passage

    assert found("PPR-9087 的数量") in ("库存 2026-04.xlsx", "周会 2026-04-14.md")
    assert found("How long does a repair take in Leeds?") == "warranty-and-calibration.pdf"


def test_a_vocabulary_is_replaced_as_a_whole(kept: tuple[Server, httpx2.Client]) -> None:
    _, admin = kept
    path = "/knowledge-bases/default/vocabulary"
    given = {"terms": ["转换体验课", "service level"], "synonyms": [["人工智能", "AI"]]}
    changed = admin.put(path, json=given).json()
    assert {name: changed[name] for name in given} == given
    assert changed["documents"] > 0
    fewer = {"terms": ["service level"], "synonyms": []}
    assert {name: admin.put(path, json=fewer).json()[name] for name in fewer} == fewer
    for wrong in ({"terms": ["x"], "synonyms": []}, {"terms": [], "synonyms": [["alone"]]}):
        assert admin.put(path, json=wrong).json()["code"] == "invalid-value"
    assert admin.get(path).json()["terms"] == fewer["terms"]


def test_statistics_tell_what_a_knowledge_base_holds(kept: tuple[Server, httpx2.Client]) -> None:
    server, admin = kept
    admin.post("/knowledge-bases", json={"name": "counted", "embedding_model": ""})
    path = "/knowledge-bases/counted/statistics"
    empty = admin.get(path).json()
    assert (empty["documents"], empty["types"], empty["last_added"]) == (0, [], None)
    server.add("one.md", "# 一\n\n内容", "counted")
    server.add("two.md", "# 二\n\n内容", "counted")
    held = admin.get(path).json()
    assert (held["documents"], held["passages"], held["states"]) == (2, 2, {"ready": 2})
    (only,) = held["types"]
    assert (only["documents"], only["bytes"]) == (2, held["bytes"])
    assert held["last_activity"] >= held["last_added"] >= empty["last_activity"]
