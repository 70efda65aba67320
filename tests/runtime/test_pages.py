"""Pages: fetched by jobs, looked at again, and what becomes of them when their server changes its mind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.web_server import Answer, WebServer
from wenyuan.errors import AddressInvalid, InvalidValue
from wenyuan.runtime.library import Library
from wenyuan.runtime.opening import open_library
from wenyuan.store import sources
from wenyuan.store.sources import Source

ENVIRONMENT = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_FETCH_ALLOW_PRIVATE": "true"}


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer().running() as running:
        yield running


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(tmp_path / "library", environment=ENVIRONMENT) as opened:
        yield opened


def source_of(library: Library) -> Source:
    (view,) = library.sources.list()
    return view.source


def with_etag(body: bytes, tag: str) -> object:
    def answer(headers: Mapping[str, str]) -> Answer:
        status = 304 if headers.get("if-none-match") == tag else 200
        return Answer(b"" if status == 304 else body, status, {"ETag": tag, "Content-Type": "text/html"})

    return answer


def test_a_page_becomes_a_document_whose_citation_opens_its_address(library: Library, server: WebServer) -> None:
    server.pages["/a/page"] = Answer(status=301, headers={"Location": "/b"})
    server.pages["/b"] = Answer(
        "<h1>榅桲</h1><p>Quince jelly sets.</p>".encode(), headers={"Content-Type": "text/html"}
    )
    report = library.add(server.url("/a/page#part"))
    (received,) = report.received
    assert (received.outcome, received.source) == ("added", server.url("/a/page"))
    (hit,) = library.search("quince").hits
    assert hit.passage.source == server.url("/a/page")
    shown = library.documents.show(server.url("/a/page"))
    assert (shown.document.name, shown.latest.media_type) == ("page", "text/html")
    assert shown.latest.metadata["url"] == server.url("/b")
    assert str(shown.latest.metadata["fetched_at"]).startswith("20")
    assert library.ask("What sets?").citations[0].source == server.url("/a/page")
    assert [one for one in library.check() if one.severity != "ok"] == []


def test_a_page_is_stored_with_its_job_before_anything_is_fetched(library: Library, server: WebServer) -> None:
    server.pages["/a"] = Answer(b"pear", headers={"Content-Type": "text/plain"})
    library.add(server.url("/a"), wait=False)
    assert server.asked == []
    assert [job.kind for job in library.jobs.list(only_live=True)] == ["fetch"]
    library.drain()
    assert library.search("pear").hits != ()


def test_an_unchanged_page_costs_an_empty_answer(library: Library, server: WebServer) -> None:
    server.pages["/a"] = with_etag(b"<p>pear</p>", '"1"')  # type: ignore[assignment]
    library.add(server.url("/a"))
    before = library.documents.show(server.url("/a"))
    (report,) = library.sources.sync()
    assert (report.changes, report.unchanged) == ((), 1)
    assert server.asked[-1][1]["if-none-match"] == '"1"'
    assert library.documents.show(server.url("/a")).latest.id == before.latest.id
    server.pages["/a"] = with_etag(b"<p>plum</p>", '"2"')  # type: ignore[assignment]
    (report,) = library.sources.sync()
    assert [change.what for change in report.changes] == ["updated"]
    assert library.documents.show(server.url("/a")).latest.number == before.latest.number + 1
    assert library.search("plum").hits != ()


def test_the_same_bytes_without_validators_make_no_revision(library: Library, server: WebServer) -> None:
    server.pages["/a"] = Answer(b"<p>pear</p>", headers={"Content-Type": "text/html"})
    library.add(server.url("/a"))
    before = library.documents.show(server.url("/a")).latest
    library.sources.sync()
    assert library.documents.show(server.url("/a")).latest == before


def test_a_page_deleted_by_hand_is_fetched_in_full_again(library: Library, server: WebServer) -> None:
    server.pages["/a"] = with_etag(b"<p>pear</p>", '"1"')  # type: ignore[assignment]
    library.add(server.url("/a"))
    library.documents.delete(server.url("/a"))
    library.drain()
    library.add(server.url("/a"))
    assert library.search("pear").hits != ()


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_gone_stays_and_its_source_says_so(library: Library, server: WebServer, status: int) -> None:
    server.pages["/a"] = Answer(b"<p>pear</p>", headers={"Content-Type": "text/html"})
    library.sources.add(server.url("/a"), every=3600)
    library.sources.sync()
    server.pages["/a"] = Answer(b"no", status)
    (report,) = library.sources.sync()
    assert report.problem is not None
    assert report.problem.code == "page-missing"
    assert library.search("pear").hits != ()
    source = source_of(library)
    # Who says "gone" says not to ask again; who says "not found" may be asked again.
    assert (source.state, source.due_at is None) == (("paused", True) if status == 410 else ("active", False))
    server.pages["/a"] = Answer(b"<p>plum</p>", headers={"Content-Type": "text/html"})
    library.sources.sync(server.url("/a"))
    assert source_of(library).problem is None
    assert library.search("plum").hits != ()


def test_a_server_that_is_busy_is_asked_again_when_it_says(library: Library, server: WebServer) -> None:
    server.pages["/a"] = Answer(b"later", 503, {"Retry-After": "3600"})
    (received,) = library.add(server.url("/a")).received
    assert received.problem is not None
    assert received.problem.code == "page-unavailable"
    (job,) = [job for job in library.jobs.list() if job.kind == "fetch"]
    assert job.state == "waiting"
    assert 3_500_000 < job.run_after - job.created_at < 3_700_000
    problem = source_of(library).problem
    assert problem is not None
    assert problem.code == "page-unavailable"


@pytest.mark.parametrize(("status", "code"), [(403, "page-refused"), (204, "page-refused"), (304, "page-refused")])
def test_an_answer_without_a_document_fails_the_job(
    library: Library, server: WebServer, status: int, code: str
) -> None:
    server.pages["/a"] = Answer(status=status)
    (received,) = library.add(server.url("/a")).received
    assert (received.document_id, received.problem and received.problem.code) == (None, code)
    assert [job.state for job in library.jobs.list()] == ["failed"]


def test_a_page_that_is_too_large_is_refused_before_it_is_all_there(tmp_path: Path, server: WebServer) -> None:
    server.pages["/a"] = Answer(b"x" * 2000)
    with open_library(tmp_path / "library", environment={**ENVIRONMENT, "WENYUAN_FETCH_PAGE_BYTES": "1000"}) as library:
        (received,) = library.add(server.url("/a")).received
        assert received.problem is not None
        assert received.problem.code == "file-too-large"
        assert list((tmp_path / "library" / "blobs" / "incoming").iterdir()) == []


def test_a_private_address_needs_to_be_allowed(tmp_path: Path, server: WebServer) -> None:
    server.pages["/a"] = Answer(b"pear", headers={"Content-Type": "text/plain"})
    with open_library(tmp_path / "library", environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}) as library:
        (received,) = library.add(server.url("/a")).received
        assert received.problem is not None
        assert received.problem.code == "address-refused"
        assert server.asked == []
        (received,) = library.add(server.url("/a"), allow_private=True).received
        assert received.outcome == "added"
        library.sources.sync()
        assert len(server.asked) == 2


@pytest.mark.parametrize(("encoding", "text"), [("euc-kr", "배나무"), ("windows-1251", "Груша зелёная")])
def test_the_charset_of_the_answer_is_evidence(library: Library, server: WebServer, encoding: str, text: str) -> None:
    """In encodings that a text alone does not tell."""
    body = f"<p>{text}</p>".encode(encoding)
    server.pages["/a"] = Answer(body, headers={"Content-Type": f"text/html; charset={encoding}"})
    library.add(server.url("/a"))
    (chunk,) = library.documents.chunks(server.url("/a"))
    assert chunk.text == text


def test_what_servers_say_of_any_text_does_not_hide_its_type(library: Library, server: WebServer) -> None:
    server.pages["/notes.md"] = Answer(b"# Pears\n\nThey keep.", headers={"Content-Type": "text/plain"})
    library.add(server.url("/notes.md"))
    assert library.documents.show("notes.md").latest.media_type == "text/markdown"


def test_a_page_is_looked_at_again_when_it_is_due(library: Library, server: WebServer) -> None:
    server.pages["/a"] = Answer(b"<p>pear</p>", headers={"Content-Type": "text/html"})
    source = library.sources.add(server.url("/a"), every=3600)
    library.drain()
    asked = len(server.asked)
    assert library.sources.enqueue_due() == 0
    with library._database.write() as tx:
        sources.checked(tx, source.id, None, tx.now - 1)
    # A worker that begins looks for what is due.
    library.drain()
    assert len(server.asked) == asked + 1
    due = source_of(library).due_at
    assert due is not None
    assert due > source.created_at


def test_a_source_that_is_removed_takes_its_page_with_it(library: Library, server: WebServer) -> None:
    server.pages["/a"] = Answer(b"<p>pear</p>", headers={"Content-Type": "text/html"})
    library.add(server.url("/a"))
    library.add(server.url("/a"), wait=False)
    assert library.sources.remove(server.url("/a"), keep_documents=False) == 1
    library.drain()
    assert library.search("pear").hits == ()
    assert library.sources.list() == []


def test_what_cannot_be_asked_for_is_refused_at_once(library: Library, tmp_path: Path) -> None:
    with pytest.raises(AddressInvalid):
        library.add("http://user:secret@example.org/")
    with pytest.raises(InvalidValue):
        library.add("http://example.org/", metadata={"author": "Li"})
    with pytest.raises(InvalidValue):
        library.sources.add("http://example.org/", watch=True)
    with pytest.raises(InvalidValue):
        library.sources.add("http://example.org/", every=1)
    with pytest.raises(InvalidValue):
        library.sources.add(tmp_path, every=3600)
    assert library.sources.list() == []
