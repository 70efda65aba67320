"""Documents are listed by how they stand, page by page, and what has failed is retried together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.errors import InvalidValue, KnowledgeBaseArchived
from wenyuan.runtime.library import Library
from wenyuan.types import DocumentPolicy

KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "WENYUAN_WORKER_THREADS": "1"}
BROKEN = '{"a": [1, 2'


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as opened:
        yield opened


@pytest.fixture
def notes(tmp_path: Path, library: Library) -> Path:
    """Documents that stand in every way."""
    folder = tmp_path / "notes"
    folder.mkdir()
    library.knowledge_bases.set_policy("default", DocumentPolicy(forbidden_types=("csv",)))
    for name, text in {
        "ready.md": "好",
        "off.md": "停",
        "broken.json": BROKEN,
        "worse.json": BROKEN,
        "t.csv": "a,b",
    }.items():
        (folder / name).write_text(text, "utf-8")
    library.add(folder)
    library.documents.switch("off.md", enabled=False)
    (folder / "waiting.md").write_text("等", "utf-8")
    (folder / "stopped.md").write_text("停下", "utf-8")
    library.add(folder / "waiting.md", folder / "stopped.md", wait=False)
    library.documents.cancel("stopped.md")
    return folder


def names(library: Library, **how: object) -> set[str]:
    return {view.document.name for view in library.documents.list(**how)}  # type: ignore[arg-type]


@pytest.mark.usefixtures("notes")
def test_documents_are_listed_by_how_they_stand(library: Library) -> None:
    assert names(library, state="ready") == {"ready.md", "off.md"}
    assert names(library, state="pending") == {"waiting.md", "t.csv"}
    assert names(library, state="pending", blocked=True) == {"t.csv"}
    assert names(library, state="cancelled") == {"stopped.md"}
    assert names(library, failed=True) == names(library, state="failed") == {"broken.json", "worse.json"}
    assert names(library, blocked=True) == {"t.csv"}
    assert names(library, disabled=True) == {"off.md"}
    assert names(library, disabled=True, blocked=True) == set()
    assert len(names(library)) == 7
    with pytest.raises(InvalidValue):
        library.documents.list(state="gone")


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize("how", [{}, {"state": "ready"}, {"failed": True}])
def test_pages_follow_each_other(library: Library, how: dict[str, object]) -> None:
    paged, after = [], ""
    while page := library.documents.list(None, after, 1, **how):  # type: ignore[arg-type]
        paged += page
        after = page[-1].document.id
    assert paged == library.documents.list(**how)  # type: ignore[arg-type]


def test_everything_that_failed_is_retried_together(library: Library, notes: Path) -> None:
    library.drain()
    for name in ("broken.json", "worse.json"):
        document = library.documents.show(name)
        library._blobs.path(document.latest.blob_sha256).write_text('{"a": "琥珀"}', "utf-8")
    retried = library.documents.retry_failed()
    assert len(retried) == 2
    library.drain()
    assert names(library, failed=True) == set()
    assert {hit.passage.document_name for hit in library.search("琥珀").hits} <= {"broken.json", "worse.json"}
    assert library.search("琥珀").hits
    assert library.documents.retry_failed() == []
    assert notes.exists()


def test_an_archived_knowledge_base_is_kept_as_it_is(library: Library, tmp_path: Path) -> None:
    library.knowledge_bases.create("旧")
    path = tmp_path / "旧.md"
    path.write_text("琥珀", "utf-8")
    library.add(path, kb="旧")
    library.knowledge_bases.archive("旧")
    assert library.search("琥珀").hits == ()
    assert library.search("琥珀", kb="旧").why_empty == "kb-archived"
    assert not library.documents.show(str(path)).searchable
    changes = (
        lambda: library.add(path, kb="旧"),
        lambda: library.add_text("x", "x", kb="旧"),
        lambda: library.documents.switch(str(path), enabled=False),
        lambda: library.documents.switch_passage(str(path), 0, enabled=False),
        lambda: library.documents.retry(str(path)),
        lambda: library.documents.retry_failed("旧"),
        lambda: library.documents.move([str(path)], "default"),
    )
    for change in changes:
        with pytest.raises(KnowledgeBaseArchived):
            change()
    library.knowledge_bases.archive("旧", undo=True)
    assert library.search("琥珀").hits
    library.knowledge_bases.archive("旧")
    library.documents.delete(str(path))
    library.drain()
    assert library.documents.list("旧") == []
    assert library.check() == []
