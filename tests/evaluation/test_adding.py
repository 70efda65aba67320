"""Cases added to a set: from a question or a trace, at the end of a file that otherwise stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from wenyuan.errors import (
    DocumentNotFound,
    EvaluationSetInvalid,
    ExpectationMissing,
    InvalidValue,
    TraceNotFound,
)
from wenyuan.rules.evaluation.cases import Case, Expected
from wenyuan.runtime.library import Library
from wenyuan.types import Anchor


def test_a_new_file_is_a_set(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    library.evaluation.add_case(path, "gateway clock", expect=["1.0.10.md"], tags=["clocks"], case_id="one")
    library.evaluation.add_case(
        path, "2026-04-14", expect=["nothing"], kb=["default"], filters={"year": {"from": 2020}}
    )
    first, second = library.evaluation.read(path).cases
    assert first == Case("one", "gateway clock", (Expected("1.0.10.md"),), tags=("clocks",))
    assert (second.query, second.expected, second.knowledge_bases) == ("2026-04-14", (), ("default",))
    assert second.filters == {"year": {"from": 2020}}
    assert library.evaluation.run(path).record.summary.passed == 2


@pytest.mark.parametrize(
    "before",
    [
        "# Kept.\n\ncases:\n  - query: a   # this too\n    expect: b.md\n",
        "cases:\n- query: a\n  expect: b.md",
        "- query: a\n  expect: b.md\n\n# The end.\n",
        "name: x\nknowledge_bases: [default]\ncases:\n    -   query: a\n        expect: nothing\n",
        "# Nothing yet.\n",
        "name: x\ncases:\n",
        "",
        "cases:\r\n  - query: a\r\n    expect: b.md\r\n",
    ],
)
def test_what_is_written_stays(library: Library, tmp_path: Path, before: str) -> None:
    path = tmp_path / "set.yaml"
    path.write_bytes(before.encode())
    added = library.evaluation.add_case(path, 'Is "this": - # {right}?', expect=["faq.md"])
    text = path.read_bytes().decode()
    assert text.startswith(before)
    assert ("\r\n" in before) == ("\r\n" in text)
    assert library.evaluation.read(path).cases[-1] == added
    assert added.query == 'Is "this": - # {right}?'


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("cases:\n- query: a\n  expect: b.md\nname: last\n", 4),
        ("cases: [{query: a, expect: b.md}]\n", 1),
        ("- query: a\n  expect: b.md\n...\n", 4),
        ("- query: a\n", 1),
        ("cases:\n  - query: same\n    expect: b.md\n", 4),
    ],
)
def test_where_nothing_can_be_added_nothing_is_written(
    library: Library, tmp_path: Path, before: str, line: int
) -> None:
    path = tmp_path / "set.yaml"
    path.write_text(before, "utf-8")
    with pytest.raises(EvaluationSetInvalid) as caught:
        library.evaluation.add_case(path, "same", expect=["faq.md"])
    assert path.read_text("utf-8") == before
    assert caught.value.details["line"] == line


def test_json_lines_grow_by_a_line(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"query": "a", "expect": "b"}', "utf-8")
    library.evaluation.add_case(path, "保修几年？", expect=["faq.md", "1.0.1.md"])
    assert path.read_text("utf-8").splitlines()[1] == '{"query": "保修几年？", "expect": ["faq.md", "1.0.1.md"]}'
    assert [case.query for case in library.evaluation.read(path).cases] == ["a", "保修几年？"]


def test_a_passage_is_written_as_the_place_it_stands_at(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "set.yaml"
    hit = library.search("delivery by bicycle").hits[0]
    case = library.evaluation.add_case(path, "delivery by bicycle", expect=[hit.passage.chunk_id])
    anchor = hit.passage.chunk.anchor
    assert case.expected == (Expected("faq.md", anchor=Anchor("lines", anchor.first, anchor.last)),)
    assert library.evaluation.run(path).cases[0].passed


def test_a_document_whose_name_is_not_its_own_is_written_with_its_path(own_library: Library, tmp_path: Path) -> None:
    other = tmp_path / "notes" / "archive" / "faq.md"
    other.parent.mkdir()
    other.write_text("# Old questions\n", "utf-8")
    own_library.add(other)
    case = own_library.evaluation.add_case(tmp_path / "set.yaml", "old", expect=[str(other)])
    assert case.expected == (Expected(str(other)),)


def test_a_trace_becomes_a_case(own_library: Library, tmp_path: Path) -> None:
    path = tmp_path / "set.yaml"
    everywhere = own_library.search("  gateway\n clock ").trace_id
    in_one = own_library.search("gateway clock", kb="default").trace_id
    case = own_library.evaluation.add_case(path, trace=everywhere, expect=["1.0.10.md"])
    assert (case.query, case.knowledge_bases) == ("gateway clock", ())
    case = own_library.evaluation.add_case(path, trace=in_one, expect=["1.0.10.md"])
    assert case.knowledge_bases == ("default",)
    case = own_library.evaluation.add_case(path, trace=everywhere, expect=["nothing"], kb=["default"], case_id="three")
    assert case.knowledge_bases == ("default",)


def test_what_a_trace_was_narrowed_by_is_not_forgotten_silently(own_library: Library, tmp_path: Path) -> None:
    path = tmp_path / "set.yaml"
    filtered = own_library.search("gateway", filters={"name": "faq.md"}).trace_id
    named = own_library.search("gateway", documents=["faq.md"]).trace_id
    for trace in (filtered, named):
        with pytest.raises(InvalidValue):
            own_library.evaluation.add_case(path, trace=trace, expect=["nothing"])
    case = own_library.evaluation.add_case(path, trace=filtered, expect=["nothing"], filters={"name": "faq.md"})
    assert case.filters == {"name": "faq.md"}


def test_a_case_needs_a_question_and_something_to_expect(library: Library, tmp_path: Path) -> None:
    path, add = tmp_path / "set.yaml", library.evaluation.add_case
    with pytest.raises(ExpectationMissing, match="gateway"):
        add(path, "gateway")
    with pytest.raises(InvalidValue):
        add(path, expect=["faq.md"])
    with pytest.raises(InvalidValue):
        add(path, expect=[])
    with pytest.raises(TraceNotFound):
        add(path, trace="trace_x", expect=["faq.md"])
    with pytest.raises(DocumentNotFound):
        add(path, "gateway", expect=["absent.md"])
    with pytest.raises(InvalidValue, match=r"\.yaml"):
        add(tmp_path / "set.txt", "gateway", expect=["faq.md"])
    with pytest.raises(EvaluationSetInvalid):
        add(path, " ", expect=["faq.md"])
    assert list(tmp_path.glob("set*")) == []
