"""A search within the documents that meet a filter, from the question to what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wenyuan as wy
from tests.embedding_server import serving
from wenyuan.errors import InvalidFilter
from wenyuan.runtime.library import Library

CROWD = 130


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Many notes that answer the question best, and in each of two knowledge bases one that is worse and by 王伟."""
    home = tmp_path_factory.mktemp("library")
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
        with wy.open(home, environment={}) as made:
            made.knowledge_bases.create("other")
            for number in range(CROWD):
                made.add_text(f"苍鹭 v2.1 备份 {number}", f"{number}.txt", metadata={"author": "Li"}, wait=False)
            one = {"author": ["ＷＡＮＧ", "王伟"], "year": 2021, "tags": ["运维"]}
            two = {"author": "王偉", "year": 2024, "date": "2024-05-03"}
            made.add_text(f"关于苍鹭 v2.1 的{'其他说明，' * 20}", "一.txt", metadata=one, wait=False)
            made.add_text(f"关于苍鹭 v2.1 的{'别的事情，' * 20}", "二.txt", kb="other", metadata=two)
            yield made


def _names(library: Library, filters: dict[str, Any], **options: Any) -> set[str]:
    hits = library.search("苍鹭 v2.1 备份", filters=filters, **options).hits
    return {hit.passage.document_name for hit in hits}


@pytest.mark.parametrize("arm", ["structured", "keyword", "vector"])
def test_every_list_looks_only_among_what_meets_the_filter(library: Library, arm: Any) -> None:
    assert "一.txt" not in _names(library, {}, arms=(arm,), kb="default", top_k=50)
    assert _names(library, {"author": "王伟"}, arms=(arm,)) == {"一.txt", "二.txt"}
    assert _names(library, {"author": "王伟"}, arms=(arm,), kb="other") == {"二.txt"}


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"author": "wang"}, {"一.txt"}),
        ({"author": "王伟", "year": {"to": 2022}}, {"一.txt"}),
        ({"date": {"from": "2024-05", "to": "2024-06"}}, {"二.txt"}),
        ({"tag": "運維"}, {"一.txt"}),
        ({"path": {"prefix": "text:二"}}, {"二.txt"}),
        ({"year": {"from": 2000}}, {"一.txt", "二.txt"}),
    ],
)
def test_filters_are_met(library: Library, filters: dict[str, Any], names: set[str]) -> None:
    assert _names(library, filters) == names


def test_a_filter_and_named_documents_must_both_let_a_document_through(library: Library) -> None:
    assert _names(library, {"author": "王伟"}, documents=["一.txt", "5.txt"]) == {"一.txt"}
    assert _names(library, {"author": "Li"}, documents=["一.txt", "5.txt"]) == {"5.txt"}


def test_what_is_excluded_altogether_is_said_with_its_number(library: Library) -> None:
    for filters, documents in (({"author": "nobody"}, None), ({"author": "Li"}, ["一.txt"])):
        result = library.search("苍鹭", filters=filters, documents=documents)
        assert (result.hits, result.why_empty) == ((), "filters-excluded-all")
        assert str(CROWD + 2) in result.explanation
    unmatched = library.search("zyzzyva", filters={"author": "王伟"}, arms=("keyword",))
    assert unmatched.why_empty == "no-match"


def test_a_trace_holds_the_filter_and_how_many_documents_met_it(library: Library) -> None:
    trace = library.trace(library.search("苍鹭", filters={"author": "王伟"}).trace_id)
    assert trace["scope"]["conditions"][0]["texts"] == ["王伟"]
    assert [stage["count"] for stage in trace["stages"] if stage["name"] == "filter"] == [2]


def test_an_answer_rests_on_what_meets_the_filter(library: Library) -> None:
    answer = library.ask("关于苍鹭的其他说明", filters={"author": "王伟"})
    assert [citation.document_name for citation in answer.citations] == ["一.txt"]
    assert {hit.passage.document_name for hit in answer.search.hits} == {"一.txt", "二.txt"}


def test_a_bad_filter_is_refused_before_anything_is_looked_up(library: Library) -> None:
    before = len(library.traces(1000))
    with pytest.raises(InvalidFilter, match="year"):
        library.search("苍鹭", filters={"year": {"from": "soon"}})
    with pytest.raises(InvalidFilter, match="author"):
        library.ask("苍鹭", filters={"author": None})
    assert len(library.traces(1000)) == before


def test_a_document_leaves_a_filter_when_its_metadata_changes(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}) as library:
        library.add_text("苍鹭", "x.txt", metadata={"state": "draft"})
        assert _names(library, {"state": "draft"}) == {"x.txt"}
        library.add_text("苍鹭 again", "x.txt", metadata={"state": "final"})
        assert _names(library, {"state": "draft"}) == set()
        assert _names(library, {"state": "final"}) == {"x.txt"}
        assert library.check() == []
