"""Sources over HTTP: pages by who may write, folders of the machine below those alone that the settings name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running


@dataclass
class Rooted:
    """A server that lets folders below `root` become sources; beside it lies one that it must not."""

    server: Server
    admin: httpx2.Client
    root: Path
    outside: Path


@pytest.fixture(scope="module")
def rooted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooted]:
    folder = tmp_path_factory.mktemp("sources")
    root, outside = folder / "shared", folder / "shared-not"
    for one in (root / "notes", outside):
        one.mkdir(parents=True)
        (one / "a.md").write_text(f"notes of {one.name}", "utf-8")
    (root / "out").symlink_to(outside)
    settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_FOLDERS": f"{root}{os.pathsep}{folder / 'missing'}"}
    with wy.open(folder / "library", environment=settings) as library, running(library, works=True) as server:
        yield Rooted(server, server.with_key(scopes=("admin",)), root, outside)


def add(client: httpx2.Client, path: str) -> httpx2.Response:
    return client.post("/sources/folders", json={"knowledge_base": "default", "path": path})


def test_a_folder_is_followed_synced_and_ended(rooted: Rooted) -> None:
    added = add(rooted.admin, str(rooted.root / "notes"))
    assert added.status_code == 201
    source = added.json()["source"]["id"]
    path = f"/sources/{source}"
    dry = rooted.admin.post(f"{path}/sync", params={"dry_run": True}).json()
    assert (dry["changes"], dry["is_dry_run"]) == ({"added": 1}, True)
    assert rooted.admin.post(f"{path}/sync").json()["changes"] == {"added": 1}
    rooted.server.settle()
    assert rooted.admin.get(path).json()["counts"] == {"files": 1, "problems": 0, "documents": 1}
    assert rooted.admin.post(f"{path}/pause").json()["source"]["state"] == "paused"
    assert rooted.admin.post(f"{path}/resume").json()["source"]["state"] == "active"
    assert add(rooted.admin, str(rooted.root / "notes")).json()["code"] == "source-exists"
    with rooted.server.with_key(scopes=("read", "write")) as writer:
        seen = writer.get(path)
        assert seen.json()["location"] == "notes"
        assert str(rooted.root) not in seen.text
        assert str(rooted.root) not in writer.post(f"{path}/sync").text
    assert rooted.admin.delete(path).json() == {"documents": 1}
    assert rooted.admin.get(path).json()["code"] == "source-not-found"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/etc",
        "{outside}",
        "{root}/out",
        "{root}/notes/../../shared-not",
        "{root}-not",
        "notes",
        "~",
        "{root}/../shared-not",
        "\0",
        "{root}/notes\0",
        "/nowhere/at/all",
    ],
)
def test_no_path_leads_out_of_the_folders_that_are_named(rooted: Rooted, path: str) -> None:
    refused = add(rooted.admin, path.format(root=rooted.root, outside=rooted.outside))
    assert (refused.status_code, refused.json()["code"]) == (403, "folder-refused")
    assert rooted.admin.get("/sources").json()["sources"] == []


def test_a_link_within_may_be_followed_as_far_as_it_stays_within(rooted: Rooted) -> None:
    link = rooted.root / "again"
    link.symlink_to(rooted.root / "notes")
    added = add(rooted.admin, str(link)).json()
    assert added["location"] == str((rooted.root / "notes").resolve())
    rooted.admin.delete(f"/sources/{added['source']['id']}")


def test_folders_are_for_the_administrator_of_everything(rooted: Rooted) -> None:
    assert rooted.admin.get("/sources/folders").json()["folders"][0] == str(rooted.root.resolve())
    for grants in ({"scopes": ("read", "write")}, {"scopes": ("admin",), "kb": ["default"]}):
        with rooted.server.with_key(**grants) as client:
            assert add(client, str(rooted.root / "notes")).json()["code"] == "permission-missing"
            assert client.get("/sources/folders").json()["code"] == "permission-missing"


def test_without_folders_named_there_are_none(server: Server, tmp_path: Path) -> None:
    assert server.client.get("/sources/folders").json() == {"folders": []}
    assert add(server.client, str(tmp_path)).json()["code"] == "folder-refused"


def test_a_page_is_followed_by_who_may_write(rooted: Rooted) -> None:
    body = {"knowledge_base": "default", "url": "http://127.0.0.1:9/notes", "every_seconds": 3600}
    with rooted.server.with_key(scopes=("read", "write")) as writer:
        added = writer.post("/sources/pages", json=body)
        assert added.status_code == 201
        assert added.json()["source"]["every_ms"] == 3_600_000
        # A page that is no page is not a path of the machine's either.
        for url in ("file:///etc/passwd", "/etc/passwd", str(rooted.root)):
            refused = writer.post("/sources/pages", json={**body, "url": url})
            assert refused.json()["code"] == "folder-refused"
        rooted.server.settle()
        path = f"/sources/{added.json()['source']['id']}"
        assert writer.get(path).json()["source"]["problem"]["code"] == "address-refused"
        assert writer.delete(path).status_code == 200
    with rooted.server.with_key(scopes=("read",)) as reader:
        assert reader.post("/sources/pages", json=body).json()["code"] == "permission-missing"
