"""Titles and metadata that the adder gives: stored with the revision, searched, and stronger than what is read."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import wenyuan as wy
from tests.embedding_server import serving
from wenyuan.errors import FileTooLarge, InvalidValue
from wenyuan.runtime.library import Library
from wenyuan.types import Given

KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as opened:
        yield opened


def found(library: Library, question: str) -> list[str]:
    return [hit.passage.document_name for hit in library.search(question).hits]


def test_what_is_given_is_found_and_shown(library: Library) -> None:
    given = {
        "date": datetime.date(2026, 4, 14),
        "文号": "国办发〔2026〕7号",
        "tags": ["水", "站"],
        "pages": 3,
        "x": None,
    }
    library.add_text("今日水位正常。", "站点/一号", title="水文观测日报", metadata=given)
    latest = library.documents.show("站点/一号").latest
    assert latest.title == "水文观测日报"
    assert latest.metadata == {**given, "date": "2026-04-14"}
    assert latest.given == Given("水文观测日报", latest.metadata, "text/plain")
    assert found(library, "观测日报") == ["站点/一号"]
    assert found(library, "2026年4月14日") == ["站点/一号"]
    (hit,) = library.search("水位").hits
    assert hit.passage.chunk.heading_path == ("水文观测日报",)


def test_what_is_given_goes_before_what_is_read(library: Library) -> None:
    source = "---\ntitle: 草稿\nauthor: 张三\ndate: 2020-01-01\n---\n\n正文在此。"
    library.add_text(source, "a.md", title="定稿", metadata={"date": "2026-03-08"})
    latest = library.documents.show("a.md").latest
    assert (latest.media_type, latest.title) == ("text/markdown", "定稿")
    assert latest.metadata == {"title": "草稿", "author": "张三", "date": "2026-03-08"}
    assert found(library, "2026年3月8日") == ["a.md"]
    assert library.search("2020年1月1日", arms=("structured",)).hits == ()


def test_the_same_text_with_other_facts_is_a_new_revision_whose_vectors_are_there(tmp_path: Path) -> None:
    home = tmp_path / "library"
    home.mkdir()
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings() + "[worker]\nthreads = 1\n", "utf-8")
        with wy.open(home, environment={}) as library:
            assert library.add_text("今日水位正常。", "one", metadata={"author": "张三"}).outcome == "added"
            embedded = len(server.inputs)
            assert library.add_text("今日水位正常。", "one", metadata={"author": "张三"}).outcome == "unchanged"
            assert library.add_text("今日水位正常。", "one", metadata={"author": "李四"}).outcome == "updated"
            view = library.documents.show("one")
            assert (view.latest.number, view.latest.metadata, view.semantic.state) == (2, {"author": "李四"}, "ready")
            assert len(server.inputs) == embedded == 1
            assert library.add_text("今日水位正常。", "one").outcome == "updated"
            assert library.documents.show("one").latest.metadata == {}
            assert library.check() == []


def test_a_name_without_a_type_is_plain_text_whatever_it_looks_like(library: Library) -> None:
    looks = ['{"a": 1}', "<html><b>x</b></html>", "#!/bin/sh\nls", "%PDF-1.7 水", "控制\0字符", "From: a\nTo: b\n\nc"]
    report = library.add_texts(wy.TextToAdd(text, f"text {number}") for number, text in enumerate(looks))
    assert [one.outcome for one in report.received] == ["added"] * len(looks)
    views = library.documents.list()
    assert {(view.latest.state, view.latest.media_type, view.latest.encoding) for view in views} == {
        ("ready", "text/plain", "utf-8")
    }
    assert "".join(chunk.text for chunk in library.documents.chunks("text 1")) == looks[1]
    library.add_text('{"a": 1}', "b.json")
    assert library.documents.show("b.json").latest.media_type == "application/json"


def test_many_texts_are_stored_in_groups_and_one_at_fault_is_reported(library: Library) -> None:
    def items() -> Iterator[wy.TextToAdd]:
        for number in range(100):
            yield wy.TextToAdd(
                f"第{number}份水位记录", f"{number}", metadata={"n": number} if number != 40 else {"": 1}
            )

    report = library.add_texts(items())
    problems = [(one.source, one.problem.code) for one in report.received if one.problem is not None]
    assert problems == [("text:40", "invalid-value")]
    assert len(library.documents.list()) == 99
    assert {view.latest.state for view in library.documents.list()} == {"ready"}
    assert library.check() == []
    assert list((library.path / "blobs" / "incoming").iterdir()) == []


def test_what_is_given_of_files_holds_until_something_else_is(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# 水位\n\n正常。", "utf-8")

    def add(metadata: dict[str, str] | None) -> tuple[str | None, object]:
        outcome = library.add(file, metadata=metadata).received[0].outcome
        return outcome, library.documents.show("a.md").latest.metadata

    assert add({"author": "张三"}) == ("added", {"author": "张三"})
    assert add(None) == ("unchanged", {"author": "张三"})
    file.write_text("# 水位\n\n偏高。", "utf-8")
    assert add(None) == ("updated", {"author": "张三"})
    assert add({}) == ("updated", {})
    with pytest.raises(InvalidValue):
        add({"": "x"})


DEEP: dict[str, Any] = {}
for _ in range(20):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    "metadata",
    [
        {"x": object()},
        {"x": b"bytes"},
        {"x": float("nan")},
        {"x": [1, {"y": {1: 2}}]},
        {1: "x"},
        {"": "x"},
        {"n" * 201: 1},
        {"x": "长" * 70_000},
        {str(number): 1 for number in range(101)},
        DEEP,
    ],
    ids=lambda value: repr(value)[:20],
)
def test_metadata_that_cannot_be_stored_is_refused(library: Library, metadata: Mapping[Any, Any]) -> None:
    with pytest.raises(InvalidValue):
        library.add_text("文", "a", metadata=metadata)
    assert library.documents.list() == []


def test_names_titles_and_texts_that_cannot_be_stored_are_refused(tmp_path: Path) -> None:
    with wy.open(tmp_path / "l", environment={**KEYWORD_ONLY, "WENYUAN_LIMITS_FILE_BYTES": "1000"}) as library:
        for name, title in (("", ""), (" \n", ""), ("n" * 1001, ""), ("a", "t" * 1001)):
            with pytest.raises(InvalidValue):
                library.add_text("文", name, title=title)
        with pytest.raises(FileTooLarge):
            library.add_text("长" * 1000, "a")
        assert library.documents.list() == []


def test_lone_surrogates_are_replaced(library: Library) -> None:
    library.add_text("水\ud800位", "n\udcff", title="t\udc80", metadata={"k\udfff": "v\ud9ff"})
    view = library.documents.list()[0]
    assert (view.document.name, view.latest.title, view.latest.metadata) == (
        "n\ufffd",
        "t\ufffd",
        {"k\ufffd": "v\ufffd"},
    )
    assert [chunk.text for chunk in library.documents.chunks("n\ufffd")] == ["水\ufffd位"]
