"""The page is served where people look for it, as it was built, and programs are answered as before."""

from __future__ import annotations

import gzip
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from wenyuan.doors.http import server as serving
from wenyuan.errors import ConfigurationInvalid

SCRIPT = "console.log('文渊');\n" * 50


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a page of two files, under a path of its own."""
    folder = tmp_path_factory.mktemp("page")
    built, path = folder / "web", folder / "library"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html><html><head><title>Page</title></head></html>", "utf-8")
    (built / "assets" / "index-abc.js").write_text(SCRIPT, "utf-8")
    (folder / "secret.txt").write_text("not of the page", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "BUILT", built)
        settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_PATH": "/library/"}
        with wy.open(path, environment=settings) as library, running(library) as server:
            yield server


def get(page: Server, path: str, **headers: str) -> httpx2.Response:
    site = urlsplit(page.url)
    return httpx2.get(f"{site.scheme}://{site.netloc}{path}", headers=headers)


@pytest.mark.parametrize("path", ["/", "/library", "/library/", "/library/read/abc", "/knowledge-bases/周会"])
def test_every_path_of_people_is_the_index(page: Server, path: str) -> None:
    answer = get(page, path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert '<head><base href="/library/"><title>' in answer.text
    assert answer.headers["cache-control"] == "no-cache"
    assert get(page, path, **{"If-None-Match": answer.headers["etag"]}).status_code == 304


def test_the_page_may_load_from_its_own_server_alone(page: Server) -> None:
    policy = get(page, "/").headers["content-security-policy"]
    rules = dict(re.findall(r"([a-z-]+) ([^;]+)", policy))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy
    assert "sandbox" in get(page, "/api/v1/health").headers["content-security-policy"]


@pytest.mark.parametrize("prefix", ["", "/library"])
def test_its_files_are_kept_by_browsers_and_sent_small(page: Server, prefix: str) -> None:
    answer = get(page, f"{prefix}/assets/index-abc.js")
    assert (answer.status_code, answer.text) == (200, SCRIPT)
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < len(SCRIPT) / 4
    plain = get(page, f"{prefix}/assets/index-abc.js", **{"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in plain.headers
    assert plain.text == SCRIPT
    assert gzip.compress(SCRIPT.encode(), mtime=0)[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "//secret.txt",
    ],
)
def test_no_path_leads_out_of_the_page(page: Server, path: str) -> None:
    site = urlsplit(page.url)
    with socket.create_connection((site.hostname or "", site.port or 0)) as connection:
        # As bytes: a client would tidy the path up.
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {site.netloc}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"HTTP/1.1 404" in answer
    assert b"not of the page" not in answer


@pytest.mark.parametrize("path", ["/api", "/api/v1/nothing", "/library/api/v1/nothing", "/v1/nothing", "/missing.js"])
def test_programs_are_told_that_there_is_nothing(page: Server, path: str) -> None:
    answer = get(page, path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] in ("application/problem+json", "application/json")


def test_the_interface_answers_below_the_path_and_names_it(page: Server) -> None:
    assert page.client.get("/health").status_code == 200
    assert get(page, "/api/v1/health").status_code == 200
    made = page.client.post("/sessions", json={})
    assert made.headers["location"] == f"/library/api/v1/sessions/{made.json()['id']}"


def test_a_link_of_another_site_opens_the_page_and_nothing_else(page: Server) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert get(page, "/library/", **followed).status_code == 200
    assert get(page, "/api/v1/knowledge-bases", **followed).status_code == 403
    assert get(page, "/", **{**followed, "Sec-Fetch-Mode": "no-cors"}).status_code == 403


def test_a_path_that_is_none_is_refused(tmp_path: Path) -> None:
    settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_PATH": "library/../x"}
    with wy.open(tmp_path / "library", environment=settings) as library:
        worded = lambda problem: problem  # noqa: E731
        with pytest.raises(ConfigurationInvalid) as refused:
            serving.serve(
                library, host="127.0.0.1", port=0, works=False, worded=worded, on_ready=lambda _, stop: stop()
            )
    assert refused.value.code == "configuration-invalid"
