"""What a key is not granted looks, through every route, like what does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running
from wenyuan.doors.http.application import described_routes

SECRET_WORD = "江川路"


@dataclass
class Guarded:
    """A server with a knowledge base that a caller is granted, and one that holds a secret."""

    server: Server
    mine: httpx2.Client
    admin: httpx2.Client
    secrets: dict[str, str]
    """Ids of what is not granted, by the name that routes give it."""
    granted: dict[str, str]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    path = tmp_path_factory.mktemp("access") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        library.knowledge_bases.create("mine")
        library.knowledge_bases.create("secret")
        admin = server.with_key(scopes=("admin",))
        mine = server.with_key(scopes=("admin",), kb=["mine"])
        folders = {kb: str(tmp_path_factory.mktemp(kb)) for kb in ("secret", "mine")}
        secrets = _ids(server, admin, "secret", folders["secret"])
        yield Guarded(server, mine, admin, secrets, _ids(server, mine, "mine", folders["mine"]))


def _ids(server: Server, client: httpx2.Client, kb: str, folder: str) -> dict[str, str]:
    """One of everything in a knowledge base, with a file attached to a session, and a folder for a source."""
    document = server.add(f"{SECRET_WORD} {kb}.md", f"{MEETING}\n{SECRET_WORD}四号 {kb}", kb)
    found = client.post("/retrieve", json={"question": SECRET_WORD, "knowledge_bases": [kb]}).json()
    session = client.post("/sessions", json={"title": SECRET_WORD, "knowledge_bases": [kb]}).json()["id"]
    sent = {"name": f"{SECRET_WORD}附件.md", "text": f"附件 {SECRET_WORD}"}
    attachment = client.post(f"/sessions/{session}/attachments/text", json=sent).json()["document_id"]
    server.settle()
    within = client.post("/retrieve", json={"question": "附件", "session": session}).json()
    base = server.library.knowledge_bases.show(kb).knowledge_base.id
    job = next(job for job in server.library.jobs.list() if job.knowledge_base_id == base)
    return {
        "kb": base,
        "kb_name": kb,
        "document": document,
        "citation": found["passages"][0]["citation"],
        "trace": found["trace_id"],
        "session": session,
        "attachment": attachment,
        "attachment_citation": within["passages"][0]["citation"],
        "attachment_trace": within["trace_id"],
        "attachment_job": next(j.id for j in server.library.jobs.list() if j.knowledge_base_id not in _bases(server)),
        "job": job.id,
        "source": server.library.sources.add(folder, kb=kb).id,
        "folder": folder,
    }


def _bases(server: Server) -> set[str]:
    return {view.knowledge_base.id for view in server.library.knowledge_bases.all()}


def _values(ids: dict[str, str]) -> dict[str, list[str]]:
    """What a guesser may put where a route has a parameter."""
    return {
        "kb": [ids["kb"], ids["kb_name"]],
        "document": [ids["document"], ids["attachment"], f"text:{SECRET_WORD} secret.md", f"{SECRET_WORD} secret.md"],
        "citation": [ids["citation"], ids["attachment_citation"]],
        "trace": [ids["trace"], ids["attachment_trace"]],
        "session": [ids["session"]],
        "attachment": [ids["attachment"]],
        "job": [ids["job"], ids["attachment_job"]],
        "source": [ids["source"]],
        "number": ["0"],
        "turn": ["1"],
    }


BODIES: dict[str, Any] = {
    "/text": {"name": "guess", "text": "x"},
    "/url": {"url": "https://example.org/"},
    "/move": {"knowledge_base": "mine"},
    "/rebuild": {},
    "/retry": {},
    "/preview-chunking": {},
    "/vocabulary": {"terms": ["guess"], "synonyms": []},
    "/feedback": {"value": "up", "note": ""},
    "/case": {"set": "guess"},
}
QUERIES = {"/picture": {"page": 1}, "/find": {"text": SECRET_WORD}}


def _guesses(ids: dict[str, str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every route with a parameter, every method, every id."""
    described = described_routes().openapi()
    values = _values(ids)
    for path, operations in described["paths"].items():
        names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        if not names or names[0] not in values:
            continue
        for method in operations:
            for value in values[names[0]]:
                filled = path.replace(f"{{{names[0]}}}", quote(value, safe=":"))
                for name in names[1:]:
                    filled = filled.replace(f"{{{name}}}", values[name][0])
                asked = next((one for end, one in QUERIES.items() if path.endswith(end)), None)
                more: dict[str, Any] = {} if asked is None else {"params": asked}
                if path.endswith("/upload"):
                    more = {"files": {"file": ("guess.txt", b"x")}}
                elif method in ("post", "patch", "put"):
                    body = next((one for end, one in BODIES.items() if path.endswith(end)), {"title": "x"})
                    more = {"json": {} if method == "patch" and "knowledge-bases" in path else body}
                yield method.upper(), filled.removeprefix("/api/v1"), more


def test_no_guess_of_an_id_leads_to_what_is_not_granted(guarded: Guarded) -> None:
    before = guarded.admin.get(f"/documents/{guarded.secrets['document']}").json()
    guesses = list(_guesses(guarded.secrets))
    assert len(guesses) > 60
    for method, path, more in guesses:
        answer = guarded.mine.request(method, path, **more)
        nothing = guarded.mine.request(method, _renamed(path, guarded.secrets), **more)
        # The same as for an id that nothing ever had; only the name that was asked for differs.
        assert (answer.status_code, answer.json()["code"]) == (nothing.status_code, nothing.json()["code"]), path
        assert answer.status_code in (403, 404), (method, path, answer.text)
        assert "四号" not in answer.text
    assert guarded.admin.get(f"/documents/{guarded.secrets['document']}").json() == before


def _renamed(path: str, ids: dict[str, str]) -> str:
    """The same path with names that nothing has."""
    for value in sorted((value for values in _values(ids).values() for value in values), key=len, reverse=True):
        if len(value) > 1:
            path = path.replace(quote(value, safe=":"), "nothing")
    return path


def test_the_same_routes_lead_to_what_is_granted(guarded: Guarded) -> None:
    ids = guarded.granted
    for path in (
        f"/knowledge-bases/{ids['kb']}",
        f"/knowledge-bases/{ids['kb']}/documents",
        f"/documents/{ids['document']}",
        f"/documents/{ids['document']}/text",
        f"/documents/{ids['document']}/chunks",
        f"/documents/{ids['document']}/original",
        f"/documents/{ids['attachment']}",
        f"/citations/{ids['citation']}",
        f"/citations/{ids['attachment_citation']}",
        f"/traces/{ids['trace']}",
        f"/traces/{ids['attachment_trace']}",
        f"/jobs/{ids['job']}",
        f"/sessions/{ids['session']}/attachments",
        f"/documents/{ids['document']}/find?text={SECRET_WORD}",
        f"/knowledge-bases/{ids['kb']}/statistics",
        f"/knowledge-bases/{ids['kb']}/vocabulary",
        f"/sources/{ids['source']}",
    ):
        assert guarded.mine.get(path).status_code == 200, path


def test_lists_hold_what_is_granted_and_nothing_else(guarded: Guarded) -> None:
    bases = guarded.mine.get("/knowledge-bases").json()["knowledge_bases"]
    assert [view["knowledge_base"]["name"] for view in bases] == ["mine"]
    assert [one["id"] for one in guarded.mine.get("/sessions").json()["sessions"]] == [guarded.granted["session"]]
    seen = {job["knowledge_base_id"] for job in guarded.mine.get("/jobs").json()["jobs"]}
    assert guarded.secrets["kb"] not in seen
    assert guarded.granted["kb"] in seen
    with guarded.mine.stream("GET", "/jobs/events", params={"after": 0}) as stream:
        lines = [next(line for line in stream.iter_lines() if line.startswith("data: "))]
    assert all(guarded.secrets["kb"] not in line for line in lines)
    sources = guarded.mine.get("/sources")
    assert [one["source"]["id"] for one in sources.json()["sources"]] == [guarded.granted["source"]]
    # Where folders of the server lie is for its administrator alone.
    assert guarded.granted["folder"] not in sources.text
    assert guarded.granted["folder"] in guarded.admin.get("/sources").text


def test_traces_that_are_listed_are_of_what_is_granted(guarded: Guarded) -> None:
    """Also page by page, where most of what is looked at is hidden."""
    for _ in range(3):
        guarded.admin.post("/retrieve", json={"question": SECRET_WORD, "knowledge_bases": ["secret"]})
        guarded.admin.post("/retrieve", json={"question": SECRET_WORD, "knowledge_bases": ["mine", "secret"]})
        guarded.mine.post("/retrieve", json={"question": SECRET_WORD})
    seen: list[Any] = []
    cursor = ""
    while cursor is not None:
        page = guarded.mine.get("/traces", params={"limit": 2, "cursor": cursor}).json()
        seen += page["traces"]
        cursor = page["next_cursor"]
    assert len({one["id"] for one in seen}) == len(seen) >= 3
    assert {name for one in seen for name in one["knowledge_bases"] if "secret" in name} == set()
    assert [one["created_at"] for one in seen] == sorted((one["created_at"] for one in seen), reverse=True)
    everything = guarded.admin.get("/traces", params={"limit": 200}).json()["traces"]
    assert len(everything) >= len(seen) + 6
    with guarded.server.with_key(scopes=("read",)) as reader:
        assert reader.get("/traces").json()["code"] == "permission-missing"


def test_a_citation_opens_in_its_own_document_alone(guarded: Guarded) -> None:
    path = f"/documents/{guarded.granted['document']}/picture"
    for citation in (guarded.secrets["citation"], guarded.granted["attachment_citation"]):
        answer = guarded.mine.get(path, params={"citation": citation})
        assert (answer.status_code, answer.json()["code"]) == (404, "citation-not-found")
    shown = guarded.mine.get(path, params={"citation": guarded.granted["citation"]})
    assert shown.json()["code"] == "place-has-no-picture"


def test_in_bulk_nothing_is_done_to_what_is_not_granted(guarded: Guarded) -> None:
    ids = [guarded.secrets["document"], guarded.granted["document"], "nothing"]
    for action in ("disable", "enable"):
        answer = guarded.mine.post("/documents/bulk", json={"ids": ids, "action": action}).json()["outcomes"]
        assert [one["outcome"] for one in answer] == ["refused", "done", "refused"]
        assert {one["problem"]["code"] for one in answer if one["problem"]} == {"document-not-found"}
    moved = guarded.mine.post("/documents/bulk", json={"ids": ids, "action": "move", "to": "secret"})
    assert moved.json()["code"] == "kb-not-found"
    assert guarded.admin.get(f"/documents/{guarded.secrets['document']}").json()["document"]["enabled"]


def test_problems_that_are_listed_are_of_what_is_granted(guarded: Guarded) -> None:
    for kb in ("mine", "secret"):
        sent = {"file": (f"bad {kb}.pdf", b"%PDF-1.7\nand nothing more")}
        guarded.admin.post(f"/knowledge-bases/{kb}/documents/upload", files=sent)
    guarded.server.settle()
    listed = guarded.mine.get("/problems").json()["problems"]
    assert [one["document"] for one in listed] == ["bad mine.pdf"]
    assert {one["document"] for one in guarded.admin.get("/problems").json()["problems"]} == {
        "bad mine.pdf",
        "bad secret.pdf",
    }


@pytest.mark.parametrize("body", [{}, {"knowledge_bases": ["mine"]}])
def test_searches_look_into_what_is_granted_alone(guarded: Guarded, body: Any) -> None:
    for path in ("/search", "/retrieve", "/ask", "/chat"):
        answer = guarded.mine.post(path, json={"question": SECRET_WORD, **body})
        assert answer.status_code == 200
        assert guarded.secrets["document"] not in answer.text
        assert guarded.secrets["kb"] not in answer.text
        assert "四号 secret" not in answer.text


@pytest.mark.parametrize("where", ["knowledge_bases", "documents", "session"])
def test_a_search_cannot_name_what_is_not_granted(guarded: Guarded, where: str) -> None:
    named = {
        "knowledge_bases": [guarded.secrets["kb"]],
        "documents": [guarded.secrets["document"]],
        "session": guarded.secrets["session"],
    }[where]
    for path in ("/search", "/retrieve", "/ask", "/chat"):
        answer = guarded.mine.post(path, json={"question": SECRET_WORD, where: named})
        assert answer.status_code == 404, path
    assert guarded.mine.post("/sessions", json={"knowledge_bases": ["secret"]}).status_code == 404


def test_a_session_that_names_nothing_asks_what_is_granted(guarded: Guarded) -> None:
    session = guarded.mine.post("/sessions", json={"title": "open"}).json()["id"]
    found = guarded.mine.post("/retrieve", json={"question": SECRET_WORD, "session": session}).json()
    assert {one["knowledge_base_id"] for one in found["passages"]} == {guarded.granted["kb"]}


def test_a_document_cannot_be_moved_out_of_sight(guarded: Guarded) -> None:
    path = f"/documents/{guarded.granted['document']}/move"
    assert guarded.mine.post(path, json={"knowledge_base": "secret"}).json()["code"] == "kb-not-found"


# --- Scopes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "allowed"),
    [
        ("GET", "/knowledge-bases", None, {"read", "admin"}),
        ("POST", "/search", {"question": "x"}, {"read", "admin"}),
        ("POST", "/knowledge-bases/mine/documents/text", {"name": "scoped", "text": "x"}, {"write", "admin"}),
        ("PATCH", "/knowledge-bases/mine", {"description": ""}, {"admin"}),
        ("POST", "/knowledge-bases", {"name": ""}, set()),
        ("GET", "/metrics", None, {"admin"}),
        ("GET", "/evaluation/runs", None, {"admin"}),
        ("GET", "/evaluation/sets", None, {"admin"}),
        ("GET", "/traces", None, {"admin"}),
        ("GET", "/keys", None, {"admin"}),
        ("GET", "/backups", None, {"admin"}),
        ("GET", "/storage", None, {"admin"}),
        ("GET", "/sources", None, {"read", "admin"}),
        ("GET", "/problems", None, {"read", "admin"}),
        ("POST", "/documents/bulk", {"ids": ["nothing"], "action": "enable"}, {"write", "admin"}),
        ("PUT", "/knowledge-bases/mine/vocabulary", {"terms": [], "synonyms": []}, {"admin"}),
        ("POST", "/keys", {"name": " "}, set()),
        ("POST", "/sources/folders", {"knowledge_base": "mine", "path": "/"}, set()),
    ],
)
def test_a_scope_allows_what_it_is_for(guarded: Guarded, method: str, path: str, body: Any, allowed: set[str]) -> None:
    for scope in ("read", "write", "admin"):
        with guarded.server.with_key(scopes=(scope,)) as client:
            answer = client.request(method, path, json=body) if body is not None else client.request(method, path)
            assert (answer.status_code < 300) == (scope in allowed), (scope, answer.text)
            assert scope in allowed or answer.status_code in (403, 422)


def test_an_admin_of_one_knowledge_base_rules_that_one_alone(guarded: Guarded) -> None:
    with guarded.server.with_key(scopes=("admin",), kb=["mine"]) as client:
        assert client.patch("/knowledge-bases/mine", json={"description": "ours"}).status_code == 200
        assert client.patch("/knowledge-bases/secret", json={"description": "ours"}).status_code == 404
        for path in ("/metrics", "/evaluation/runs", "/evaluation/running", "/keys", "/storage", "/backups"):
            assert client.get(path).json()["code"] == "permission-missing"
        for path, body in (
            ("/knowledge-bases", {"name": "another"}),
            ("/examples", {}),
            ("/keys", {"name": "another"}),
            ("/backups", {}),
            ("/evaluation/runs", {"set": "any"}),
            ("/sources/folders", {"knowledge_base": "mine", "path": "/tmp"}),
        ):
            assert client.post(path, json=body).json()["code"] == "permission-missing"
        assert client.delete("/keys/any").json()["code"] == "permission-missing"


# --- Keys ----------------------------------------------------------------------------------------


def test_without_a_key_nothing_is_open_once_there_is_one(guarded: Guarded) -> None:
    answer = guarded.server.client.get("/knowledge-bases")
    assert (answer.status_code, answer.json()["code"]) == (401, "key-required")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert guarded.server.client.get("/health").status_code == 200
    for header in ("Bearer nonsense", "Basic eDp5", "Bearer"):
        refused = guarded.server.client.get("/knowledge-bases", headers={"Authorization": header})
        assert (refused.status_code, refused.json()["code"]) == (401, "key-refused")


def test_a_revoked_or_expired_key_opens_nothing_from_then_on(guarded: Guarded) -> None:
    keys = guarded.server.library.access_keys
    revoked, expired = keys.create("to revoke"), keys.create("to expire", days=1e-9)
    headers = {"Authorization": f"Bearer {revoked.secret}"}
    assert guarded.server.client.get("/models", headers=headers).status_code == 200
    keys.revoke("to revoke")
    assert guarded.server.client.get("/models", headers=headers).json()["code"] == "key-refused"
    headers = {"Authorization": f"Bearer {expired.secret}"}
    assert guarded.server.client.get("/models", headers=headers).json()["code"] == "key-refused"


def test_a_stream_ends_when_its_key_is_revoked(guarded: Guarded) -> None:
    made = guarded.server.library.access_keys.create("follower")
    headers = {"Authorization": f"Bearer {made.secret}"}
    with guarded.server.client.stream("GET", "/jobs/events", headers=headers) as stream:
        guarded.server.library.access_keys.revoke("follower")
        assert any('"code":"key-refused"' in line for line in stream.iter_lines())
