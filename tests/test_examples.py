"""The example library with the built-in model: every question of examples/questions.toml, end to end."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wenyuan as wy
from wenyuan.runtime.library import Library

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ASKED = tomllib.loads((EXAMPLES / "questions.toml").read_text("utf-8"))
QUESTIONS = [*ASKED["question"], *ASKED["extra"]]
WITH_AN_ANSWER = [question for question in QUESTIONS if question.get("expect") != "nothing"]
WITHOUT_ONE = [question for question in QUESTIONS if question.get("expect") == "nothing"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with wy.open(tmp_path_factory.mktemp("examples") / "library", environment={}) as opened:
        opened.add(EXAMPLES / "library")
        yield opened


def asked(question: dict[str, Any]) -> str:
    return str(question["ask"])


def test_every_file_but_the_broken_one_is_ready(library: Library) -> None:
    views = library.documents.list()
    failed = {view.document.name: view.latest.problem.code for view in views if view.latest.problem is not None}
    assert failed == {"标定记录-H2.json": "file-malformed"}
    assert len(views) == 35
    assert {view.semantic.state for view in views if view.latest.state == "ready"} == {"ready"}
    assert not any("draft" in view.document.name for view in views)


@pytest.mark.parametrize("question", WITH_AN_ANSWER, ids=asked)
def test_the_passage_that_answers_is_found(library: Library, question: dict[str, Any]) -> None:
    result = library.search(question["ask"])
    assert result.degraded == ()
    found = [
        hit.passage.source.endswith(question["expect_document"]) and question["expect_text"] in hit.passage.chunk.text
        for hit in result.hits
    ]
    assert any(found[:5]), [hit.passage.document_name for hit in result.hits]


@pytest.mark.parametrize("question", ASKED["question"][:3], ids=asked)
def test_dates_versions_and_short_words_are_answered_first(library: Library, question: dict[str, Any]) -> None:
    answer = library.ask(question["ask"])
    assert answer.grounded == "likely"
    assert answer.citations[0].source.endswith(question["expect_document"])
    assert any(question["expect_text"] in citation.quote for citation in answer.citations)


@pytest.mark.parametrize("question", WITHOUT_ONE, ids=asked)
def test_what_is_not_there_is_not_answered(library: Library, question: dict[str, Any]) -> None:
    answer = library.ask(question["ask"])
    assert answer.citations == ()
    assert answer.finish_reason == "fallback"


def test_an_english_question_is_answered_from_a_chinese_file(library: Library) -> None:
    answer = library.ask("How long may a new father stay at home after his baby is born?")
    assert answer.finish_reason == "extractive"
    assert "十五天" in answer.text


def test_citations_open_the_lines_they_quote(library: Library) -> None:
    for question in WITH_AN_ANSWER:
        for citation in library.ask(question["ask"]).citations:
            place = library.documents.open(citation.chunk_id)
            assert citation.quote in place.passage
            if citation.source.endswith((".md", ".py", ".sh", ".ts")):
                lines = Path(citation.source).read_text("utf-8").splitlines()
                cited = "\n".join(lines[citation.anchor.first - 1 : citation.anchor.last])
                assert citation.quote in cited


def test_the_evaluation_set_is_answered(library: Library) -> None:
    run = library.evaluation.run(EXAMPLES / "evaluation.yaml")
    summary = run.record.summary
    assert (summary.cases, summary.nothing, summary.missing, dict(summary.degraded)) == (36, 6, 0, {})
    assert [case.id for case in run.cases if not case.passed] == []
    assert summary.overall.measures["ndcg@10"] > 0.85


def test_a_check_of_the_library_finds_nothing(library: Library) -> None:
    assert [finding for finding in library.check() if finding.severity != "ok"] == []
