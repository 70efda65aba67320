"""A browser signs in with a key: its cookie is as good as the key, for pages of the server alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running

PROXIED = {
    **KEYWORD_ONLY,
    "WENYUAN_SERVER_PATH": "/library",
    "WENYUAN_SERVER_TRUSTED_PROXIES": "127.0.0.1",
    "WENYUAN_SERVER_SIGN_INS_PER_MINUTE": "100000",
}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("signing-in") / "library"
    with wy.open(path, environment=PROXIED) as library, running(library) as server:
        library.knowledge_bases.create("mine")
        library.access_keys.create("somebody", scopes=("admin",))
        yield server


def browser(server: Server, **headers: str) -> httpx2.Client:
    """A client that keeps cookies, and sends what a browser sends."""
    return httpx2.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=30)


def signed_in(server: Server, **grants: Any) -> tuple[httpx2.Client, dict[str, Any], Any]:
    made = server.library.access_keys.create(f"key {len(server.library.access_keys.list())}", **grants)
    client = browser(server)
    answer = client.post("/sign-in", json={"key": made.secret})
    assert answer.status_code == 200
    return client, answer.json(), made


def test_a_cookie_lets_in_as_the_key_does(keyed: Server) -> None:
    client, who, made = signed_in(keyed, scopes=("write", "read"), kb=["mine"])
    base = keyed.library.knowledge_bases.show("mine").knowledge_base.id
    assert (who["name"], who["scopes"], who["knowledge_bases"]) == (made.key.name, ["read", "write"], [base])
    me = client.get("/me").json()
    assert (me["name"], me["signed_in"], me["needs_key"], me["csrf"]) == (who["name"], True, True, who["csrf"])
    bases = client.get("/knowledge-bases").json()["knowledge_bases"]
    assert [one["knowledge_base"]["name"] for one in bases] == ["mine"]
    client.close()


def test_the_cookie_is_kept_from_scripts_and_other_sites(keyed: Server) -> None:
    made = keyed.library.access_keys.create("cookie")
    told = browser(keyed).post("/sign-in", json={"key": made.secret}).headers["set-cookie"]
    attributes = {part.strip().lower() for part in told.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/library/", "max-age=1209600"} <= attributes
    assert "secure" not in attributes
    over_tls = browser(keyed, **{"X-Forwarded-Proto": "https"}).post("/sign-in", json={"key": made.secret})
    assert "secure" in over_tls.headers["set-cookie"].lower()


def test_what_no_trusted_proxy_says_is_not_believed(server: Server) -> None:
    server.library.access_keys.create("anybody", scopes=("admin",))
    made = server.library.access_keys.create("plain")
    told = browser(server, **{"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.9"})
    assert "secure" not in told.post("/sign-in", json={"key": made.secret}).headers["set-cookie"].lower()


@pytest.mark.parametrize("csrf", [None, "", "guess", "0" * 64])
def test_a_change_by_cookie_needs_the_word_of_the_page(keyed: Server, csrf: str | None) -> None:
    client, who, _ = signed_in(keyed, scopes=("write", "read"))
    sent = {"name": "page.md", "text": "from a page"}
    headers = {} if csrf is None else {"X-CSRF-Token": csrf}
    at = "/knowledge-bases/mine/documents/text"
    refused = client.post(at, json=sent, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf-refused")
    upload = "/knowledge-bases/mine/documents/upload"
    assert client.post(upload, files={"file": ("a.md", b"x")}, headers=headers).json()["code"] == "csrf-refused"
    assert client.post("/sign-out", headers=headers).json()["code"] == "csrf-refused"
    assert client.post(at, json=sent, headers={"X-CSRF-Token": who["csrf"]}).status_code == 202


def test_the_word_of_one_browser_is_none_for_another(keyed: Server) -> None:
    _, one, made = signed_in(keyed)
    other = browser(keyed)
    assert other.post("/sign-in", json={"key": made.secret}).json()["csrf"] != one["csrf"]
    assert other.post("/sign-out", headers={"X-CSRF-Token": one["csrf"]}).status_code == 403


def test_signed_out_the_cookie_opens_nothing(keyed: Server) -> None:
    client, who, _ = signed_in(keyed)
    kept = dict(client.cookies)
    gone = client.post("/sign-out", headers={"X-CSRF-Token": who["csrf"]})
    assert gone.status_code == 204
    assert "max-age=0" in gone.headers["set-cookie"].lower()
    stolen = httpx2.Client(base_url=f"{keyed.url}/api/v1", cookies=kept)
    assert stolen.get("/knowledge-bases").json()["code"] == "key-required"
    me = stolen.get("/me").json()
    assert (me["signed_in"], me["needs_key"], me["scopes"], me["version"]) == (False, True, [], "")
    assert stolen.post("/sign-out").status_code == 204


def test_a_revoked_key_signs_its_browsers_out(keyed: Server) -> None:
    client, _, made = signed_in(keyed)
    assert client.get("/knowledge-bases").status_code == 200
    keyed.library.access_keys.revoke(made.key.id)
    assert client.get("/knowledge-bases").json()["code"] == "key-required"


def test_an_expired_key_or_sign_in_opens_nothing(keyed: Server) -> None:
    key = keyed.library.access_keys.create("soon over", days=1e-9)
    assert browser(keyed).post("/sign-in", json={"key": key.secret}).json()["code"] == "key-refused"
    client, _, _ = signed_in(keyed)
    database = keyed.library._database
    with database.write() as tx:
        tx.run("UPDATE sign_ins SET expires_at = 1")
    assert client.get("/knowledge-bases").json()["code"] == "key-required"
    signed_in(keyed)
    with database.read() as tx:
        assert tx.first("SELECT count(*) FROM sign_ins WHERE expires_at = 1") == (0,)


def test_the_library_keeps_a_digest_alone(keyed: Server) -> None:
    client, who, made = signed_in(keyed)
    (token,) = dict(client.cookies).values()
    with keyed.library._database.read() as tx:
        rows = str(tx.all("SELECT * FROM sign_ins"))
    assert hashlib.sha256(token.encode()).hexdigest() in rows
    for secret in (token, who["csrf"], made.secret):
        assert secret not in rows
    assert token not in str(who)


def test_a_key_that_is_sent_goes_before_the_cookie(keyed: Server) -> None:
    client, _, _ = signed_in(keyed)
    other = keyed.library.access_keys.create("sent as well", scopes=("write",))
    headers = {"Authorization": f"Bearer {other.secret}"}
    sent = {"name": "x.md", "text": "x"}
    assert client.post("/knowledge-bases/mine/documents/text", json=sent, headers=headers).status_code == 202
    me = client.get("/me", headers=headers).json()
    assert (me["name"], me["signed_in"], me["csrf"]) == ("sent as well", False, None)


def test_tries_to_sign_in_are_limited(server: Server) -> None:
    with browser(server) as client:
        tries = [client.post("/sign-in", json={"key": f"wyk_guess{n}"}) for n in range(20)]
    assert {one.status_code for one in tries} == {401, 429}
    assert tries[-1].json()["code"] == "too-many-requests"
    assert int(tries[-1].headers["retry-after"]) > 0


def test_without_keys_nobody_signs_in_and_everybody_is_the_owner(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("open") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library) as server:
        name = "wenyuan_" + hashlib.sha256(str(library.path).encode()).hexdigest()[:10]
        with browser(server, Cookie=f"{name}=stale") as client:
            me = client.get("/me").json()
            assert (me["needs_key"], me["signed_in"], me["scopes"]) == (False, False, ["admin", "read", "write"])
            assert client.post("/sessions", json={}).status_code == 201
            assert client.post("/sessions", json={}, headers={"Origin": "https://example.org"}).status_code == 403


def test_a_browser_signs_in_no_more_often_than_is_kept(keyed: Server) -> None:
    made = keyed.library.access_keys.create("many browsers")
    tokens = [keyed.library.sign_ins.sign_in(made.secret).token for _ in range(102)]
    known = [keyed.library.sign_ins.caller(token) is not None for token in tokens]
    assert sum(known) == 100
    assert known[-1]
