"""What a knowledge base takes: files it does not take are kept, found by nobody, and let in when that changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.errors import InvalidValue, TypeBlocked
from wenyuan.runtime.library import Library
from wenyuan.types import DocumentPolicy, DuplicateRule

KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as opened:
        yield opened
        opened.drain()
        assert opened.check() == []


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "体检.md").write_text("# 体检\n\n每年安排一次健康体检。", "utf-8")
    (folder / "log.txt").write_text("健康体检的日志。" * 200, "utf-8")
    (folder / "page.html").write_text("<h1>健康</h1><p>体检网页</p>", "utf-8")
    return folder


def found(library: Library, question: str = "健康体检") -> set[str]:
    return {hit.passage.document_name for hit in library.search(question, top_k=50).hits}


def outcomes(library: Library, *paths: Path) -> dict[str, str | None]:
    return {Path(one.source).name: one.outcome for one in library.add(*paths).received}


def work_left(library: Library) -> list[tuple[str, str]]:
    return [(job.kind, job.state) for job in library.jobs.list(only_live=True)]


def test_what_is_not_taken_is_kept_and_found_by_nobody_until_it_is(library: Library, notes: Path) -> None:
    library.knowledge_bases.set_policy("default", DocumentPolicy(types=("md",)))
    assert outcomes(library, notes) == {"体检.md": "added", "log.txt": "blocked", "page.html": "blocked"}
    assert found(library) == {"体检.md"}
    view = library.documents.show("page.html")
    assert (view.availability, view.searchable, view.document.blocked_reason) == ("blocked", False, "policy: type")
    assert view.blocked is not None
    assert (view.blocked.code, "page.html" in view.blocked.message, "kb set default" in view.blocked.hint) == (
        "blocked-type",
        True,
        True,
    )
    assert library.documents.jobs("page.html") == []
    assert library.knowledge_bases.show("default").documents == {"ready": 1, "blocked": 2}
    assert outcomes(library, notes) == dict.fromkeys(("体检.md", "log.txt", "page.html"), "unchanged")

    done = library.knowledge_bases.set_policy("default", DocumentPolicy(types=("md", "text/html")))
    assert (done.blocked, done.allowed) == (0, 1)
    assert work_left(library) == [("ingest", "queued")]
    library.drain()
    assert found(library) == {"体检.md", "page.html"}
    library.knowledge_bases.set_policy("default", DocumentPolicy())
    library.drain()
    assert found(library) == {"体检.md", "page.html", "log.txt"}


def test_a_stricter_policy_hides_at_once_and_a_looser_one_shows_without_work(library: Library, notes: Path) -> None:
    library.add(notes)
    revisions = {view.document.name: view.latest.id for view in library.documents.list()}
    done = library.knowledge_bases.set_policy("default", DocumentPolicy(max_file_bytes=200))
    assert (done.blocked, done.allowed, found(library)) == (1, 0, {"体检.md", "page.html"})
    problem = library.documents.show("log.txt").blocked
    assert problem is not None
    assert (problem.code, "200" in problem.message) == ("blocked-size", True)
    library.knowledge_bases.set_policy("default", DocumentPolicy(forbidden_types=("text/*",)))
    assert found(library) == set()
    result = library.search("健康体检")
    assert (result.why_empty, "docs list --blocked" in result.explanation) == ("all-blocked", True)
    library.knowledge_bases.set_policy("default", DocumentPolicy())
    assert (found(library), work_left(library)) == ({"体检.md", "log.txt", "page.html"}, [])
    assert {view.document.name: view.latest.id for view in library.documents.list()} == revisions


def test_queued_work_is_held_back_and_taken_up(library: Library, notes: Path) -> None:
    library.add(notes, wait=False)
    library.knowledge_bases.set_policy("default", DocumentPolicy(types=("txt",)))
    assert work_left(library) == [("ingest", "queued")]
    library.drain()
    assert found(library) == {"log.txt"}
    assert library.check() == []
    library.knowledge_bases.set_policy("default", DocumentPolicy(types=("txt", "md")))
    library.drain()
    assert found(library) == {"log.txt", "体检.md"}


def test_a_file_whose_content_is_not_what_its_name_says_is_kept_out_once_it_is_read(
    library: Library, tmp_path: Path
) -> None:
    library.knowledge_bases.set_policy("default", DocumentPolicy(forbidden_types=("text/html",)))
    path = tmp_path / "plain.txt"
    path.write_text("<!doctype html><html><body><p>健康体检</p></body></html>", "utf-8")
    assert outcomes(library, path) == {"plain.txt": "added"}
    assert found(library) == set()
    assert library.documents.show("plain.txt").document.blocked_reason == "policy: type"


def test_a_file_that_grows_or_shrinks_is_judged_again(library: Library, notes: Path) -> None:
    library.knowledge_bases.set_policy("default", DocumentPolicy(max_file_bytes=500))
    path = notes / "体检.md"
    assert outcomes(library, path) == {"体检.md": "added"}
    path.write_text("健康体检" * 100, "utf-8")
    assert outcomes(library, path) == {"体检.md": "blocked"}
    assert found(library) == set()
    path.write_text("健康体检，改短了。", "utf-8")
    assert outcomes(library, path) == {"体检.md": "updated"}
    assert found(library, "改短") == {"体检.md"}


def test_what_is_blocked_cannot_be_retried_but_switched_and_deleted(library: Library, notes: Path) -> None:
    library.knowledge_bases.set_policy("default", DocumentPolicy(types=("txt",)))
    library.add(notes)
    with pytest.raises(TypeBlocked):
        library.documents.retry("体检.md")
    library.documents.switch("体检.md", enabled=False)
    assert library.documents.show("体检.md").availability == "blocked"
    library.documents.delete("体检.md")
    library.drain()
    library.knowledge_bases.set_policy("default", DocumentPolicy())
    library.drain()
    assert found(library) == {"log.txt", "page.html"}


def test_only_so_many_documents_are_taken_and_nothing_is_stored_of_others(library: Library, notes: Path) -> None:
    library.knowledge_bases.set_policy("default", DocumentPolicy(max_documents=2))
    report = library.add(notes)
    full = [one for one in report.received if one.outcome is None]
    assert [one.problem.code if one.problem else None for one in full] == ["kb-full"]
    assert len(library.documents.list()) == 2
    assert len(list(library._blobs.stored())) == 2
    # What is there may change; and when one goes, there is room again.
    kept = next(one.source for one in report.received if one.outcome == "added")
    Path(kept).write_text("改过了", "utf-8")
    assert outcomes(library, Path(kept)) == {Path(kept).name: "updated"}
    library.documents.delete(kept)
    assert outcomes(library, Path(full[0].source)) == {Path(full[0].source).name: "added"}
    library.knowledge_bases.set_policy("default", DocumentPolicy(max_documents=1))
    assert len(library.documents.list()) == 2


@pytest.mark.parametrize(
    "policy", [DocumentPolicy(types=("a b",)), DocumentPolicy(max_documents=0), DocumentPolicy(max_file_bytes=-1)]
)
def test_a_policy_that_makes_no_sense_changes_nothing(library: Library, policy: DocumentPolicy) -> None:
    with pytest.raises(InvalidValue):
        library.knowledge_bases.set_policy("default", policy)
    with pytest.raises(InvalidValue):
        library.knowledge_bases.create("side", policy=policy)
    assert library.knowledge_bases.find(None).policy == DocumentPolicy()
    assert [view.knowledge_base.name for view in library.knowledge_bases.all()] == ["default"]


# --- The same bytes under another path -----------------------------------------------------------


def twins(folder: Path, text: str = "班车早上七点发车。") -> tuple[Path, Path]:
    paths = folder / "two" / "a" / "班车.md", folder / "two" / "b" / "发车.md"
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    return paths


def base_with(library: Library, rule: DuplicateRule) -> None:
    library.knowledge_bases.set_policy("default", DocumentPolicy(duplicates=rule))


def sources(library: Library, question: str = "班车七点发车") -> list[str]:
    return sorted(hit.passage.source for hit in library.search(question).hits)


def test_both_are_kept_if_nothing_else_is_said(library: Library, tmp_path: Path) -> None:
    a, b = twins(tmp_path)
    assert outcomes(library, a, b) == {a.name: "added", b.name: "added"}
    # Both came in one transaction, and ids of one millisecond are in no order.
    assert sorted(view.document.source for view in library.documents.list()) == [str(a), str(b)]


def test_the_newer_is_skipped_and_reported(library: Library, tmp_path: Path) -> None:
    base_with(library, "skip")
    a, b = twins(tmp_path)
    received = library.add(tmp_path / "two").received
    assert [(one.outcome, one.document_id is None, one.duplicate_of) for one in received] == [
        ("added", False, ""),
        ("skipped", True, str(a)),
    ]
    assert [view.document.source for view in library.documents.list()] == [str(a)]
    assert sources(library) == [str(a)]
    b.write_text("班车七点发车，改了。", "utf-8")
    assert outcomes(library, a, b) == {a.name: "unchanged", b.name: "added"}
    # What has a document already is no newcomer, whatever its bytes become.
    b.write_bytes(a.read_bytes())
    assert outcomes(library, b) == {b.name: "updated"}


def test_the_newer_path_takes_the_place_of_the_older(library: Library, tmp_path: Path) -> None:
    base_with(library, "replace")
    a, b = twins(tmp_path)
    (first,) = library.add(a).received
    before = library.documents.show(str(a))
    (second,) = library.add(b).received
    assert (second.outcome, second.document_id, second.duplicate_of) == ("replaced", first.document_id, str(a))
    (view,) = library.documents.list()
    assert (view.document.source, view.document.name, view.latest.id) == (str(b), b.name, before.latest.id)
    assert sources(library) == [str(b)]
    assert [hit.passage.source for hit in library.search("发车.md").hits] == [str(b)]
    assert library.search("x", filters={"path": str(a)}).hits == ()
    assert library.search("班车", filters={"path": str(b)}).hits != ()
    # The older path comes by again: it is known to be an older place of the same.
    again = library.add(tmp_path / "two").received
    assert [one.outcome for one in again] == ["skipped", "unchanged"]
    assert work_left(library) == []
    # With other bytes it is a document of its own.
    a.write_text("班车八点发车。", "utf-8")
    assert outcomes(library, a) == {a.name: "added"}


@pytest.mark.parametrize("wait", [True, False])
def test_a_place_is_taken_while_the_older_is_not_read_yet(library: Library, tmp_path: Path, wait: bool) -> None:
    base_with(library, "replace")
    a, b = twins(tmp_path)
    library.add(a, b, wait=wait)
    library.drain()
    assert [view.document.source for view in library.documents.list()] == [str(b)]
    assert sources(library) == [str(b)]
    assert [hit.passage.source for hit in library.search("发车.md").hits] == [str(b)]


def test_a_place_is_taken_from_one_that_is_being_read(library: Library, tmp_path: Path) -> None:
    base_with(library, "replace")
    a, b = twins(tmp_path)
    library.add(a, wait=False)
    with library._database.write() as tx:
        tx.run("UPDATE revisions SET state = 'processing'")
    (second,) = library.add(b).received
    assert second.outcome == "replaced"
    (view,) = library.documents.list()
    assert (view.document.source, view.latest.state, view.latest.number) == (str(b), "ready", 2)
