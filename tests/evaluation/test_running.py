"""Sets run against a real library: what is found, what is kept, and what is told when it cannot be."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tests.evaluation.conftest import keyword_only
from wenyuan.errors import (
    EvaluationRunNotFound,
    EvaluationSetInvalid,
    InvalidValue,
    KnowledgeBaseNotFound,
    PackNotImported,
    TraceNotFound,
)
from wenyuan.rules.evaluation.results import CaseResult, Found
from wenyuan.runtime.library import Library

SET = """
- id: meeting
  query: PPR-9087 什么时候供货
  expect: 周会.md
  tags: [codes]
- id: release
  query: What is new in 1.0.10?
  expect:
    - {document: releases/1.0.10.md, grade: 2}
    - releases/1.0.1.md
  tags: [versions]
- id: place
  query: How long does delivery by bicycle take?
  expect: {document: Questions, lines: 7}
- id: words
  query: How long is the warranty?
  expect: {document: faq.md, text: three years}
- id: absent
  query: Quarterly dividends of the shareholders
  expect: nothing
"""


def written(folder: Path, text: str, name: str = "set.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def by_id(cases: tuple[CaseResult, ...]) -> dict[str, CaseResult]:
    return {case.id: case for case in cases}


def test_a_run_says_what_was_found_and_where(library: Library, tmp_path: Path) -> None:
    run = library.evaluation.run(written(tmp_path, SET))
    assert run.record.complete
    assert [case.id for case in run.cases] == ["meeting", "release", "place", "words", "absent"]
    assert all(case.passed for case in run.cases), [case for case in run.cases if not case.passed]
    cases = by_id(run.cases)
    assert cases["meeting"].expected == (Found("周会.md", 1, 1, {"structured": 1, "keyword": 1}),)
    assert cases["meeting"].language == "zh"
    assert cases["meeting"].measures["ndcg@10"] == 1.0
    assert cases["release"].expected[0].rank == 1
    assert cases["place"].expected[0].name == "Questions#lines=7-7"
    assert cases["place"].ranked[0] == "Questions#lines=7-7"
    assert (cases["absent"].measures, cases["absent"].verdict) == ({}, "unlikely")
    summary = run.record.summary
    assert (summary.cases, summary.answerable, summary.nothing, summary.passed) == (5, 4, 1, 5)
    assert (summary.tags["codes"].cases, summary.languages["en"].cases) == (1, 3)
    assert summary.lists["keyword"].found == 4
    assert summary.separation[""].grounded == 1.0
    likely = sum(case.verdict == "likely" for case in run.cases[:4])
    assert summary.verdicts == {"answerable": likely, "nothing": 1}
    assert summary.milliseconds["total"]["p95"] >= summary.milliseconds["total"]["p50"] > 0
    assert "keyword" in summary.milliseconds


def test_a_passage_at_another_place_is_not_what_was_expected(library: Library, tmp_path: Path) -> None:
    text = (
        "- {query: How long does delivery by bicycle take?, expect: {document: faq.md, text: three years}, within: 1}\n"
    )
    (case,) = library.evaluation.run(written(tmp_path, text)).cases
    assert case.ranked[0] == "faq.md"
    assert not case.passed


def test_what_the_library_does_not_have_is_told_apart_from_what_was_not_found(
    own_library: Library, tmp_path: Path
) -> None:
    text = (
        "- {id: absent, query: gateway clock, expect: absent.md}\n"
        "- {id: elsewhere, query: gateway clock, expect: {document: faq.md, lines: 90}}\n"
        "- {id: stale, query: gateway clock, expect: {chunk: rev_0.3}}\n"
        "- {id: unfound, query: gateway clock, expect: 周会.md}\n"
    )
    own_library.documents.switch(str(tmp_path / "notes/releases/1.0.1.md"), enabled=False)
    text += "- {id: disabled, query: Release logs, expect: 1.0.1.md}\n"
    run = own_library.evaluation.run(written(tmp_path, text))
    assert {case.id: bool(case.missing) for case in run.cases} == {
        "absent": True,
        "elsewhere": True,
        "stale": True,
        "unfound": False,
        "disabled": True,
    }
    assert run.record.summary.missing == 4
    assert not any(case.passed for case in run.cases)


def test_a_document_may_be_named_in_many_ways(library: Library, tmp_path: Path) -> None:
    document = library.documents.find("1.0.10.md").document
    chunk = library.search("gateway clock").hits[0].passage.chunk_id
    ways = [document.id, document.source, "1.0.10.md", "releases/1.0.10.md", "Release 1.0.10"]
    rows = [{"id": way, "query": "gateway clock", "expect": way} for way in ways]
    rows.append({"id": "chunk", "query": "gateway clock", "expect": {"chunk": chunk}})  # type: ignore[dict-item]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    run = library.evaluation.run(written(tmp_path, text, "set.jsonl"))
    assert {case.id: case.first_rank for case in run.cases} == dict.fromkeys([*ways, "chunk"], 1)


def test_a_name_that_stands_for_several_documents_is_met_by_any(own_library: Library, tmp_path: Path) -> None:
    other = tmp_path / "notes" / "archive" / "1.0.10.md"
    other.parent.mkdir()
    other.write_text("# Old\n\nNothing about readings.\n", "utf-8")
    own_library.add(other)
    run = own_library.evaluation.run(written(tmp_path, "- {query: gateway clock, expect: 1.0.10.md}\n"))
    assert run.cases[0].first_rank == 1
    run = own_library.evaluation.run(written(tmp_path, "- {query: gateway clock, expect: archive/1.0.10.md}\n"))
    assert run.cases[0].first_rank is None


def test_several_passages_of_a_document_count_once(own_library: Library, tmp_path: Path) -> None:
    long = "\n\n".join(
        f"# Part {number}\n\nBicycle bell number {number}. " + "filler words " * 60 for number in range(40)
    )
    own_library.add_text(long, "bells.md")
    for number in range(9):
        own_library.add_text(f"One bicycle bell of kind {number}.", f"kind-{number}.md", wait=False)
    own_library.drain()
    (case,) = own_library.evaluation.run(
        written(tmp_path, "- {query: bicycle bell, expect: faq.md}\n"), cutoff=10
    ).cases
    assert len(set(case.ranked)) == len(case.ranked) >= 10
    assert case.ranked.count("bells.md") == 1


def test_filters_and_knowledge_bases_of_a_case_are_those_of_its_search(own_library: Library, tmp_path: Path) -> None:
    own_library.knowledge_bases.create("other")
    own_library.add_text("The gateway is blue.", "a.txt", kb="other", metadata={"lang": "en"})
    own_library.add_text("The gateway is red.", "b.txt", kb="other", metadata={"lang": "fr"})
    text = (
        "- {id: here, query: gateway, expect: a.txt, knowledge_bases: other, filters: {lang: en}}\n"
        "- {id: there, query: gateway, expect: b.txt, knowledge_bases: other, filters: {lang: fr}}\n"
        "- {id: default, query: gateway, expect: 1.0.10.md, knowledge_bases: default}\n"
    )
    run = own_library.evaluation.run(written(tmp_path, text))
    assert {case.id: case.ranked for case in run.cases} == {
        "here": ("a.txt",),
        "there": ("b.txt",),
        "default": ("1.0.10.md",),
    }
    assert set(run.record.settings["knowledge_bases"]) == {"other", "default"}
    run = own_library.evaluation.run(written(tmp_path, text), kb=["other"])
    assert [case.missing for case in run.cases] == [(), (), ("1.0.10.md",)]


def test_a_case_that_cannot_be_asked_fails_alone(library: Library, tmp_path: Path) -> None:
    text = (
        "- {id: bad, query: gateway, expect: 1.0.10.md, filters: {year: {between: 3}}}\n"
        "- {id: good, query: gateway, expect: 1.0.10.md}\n"
    )
    run = library.evaluation.run(written(tmp_path, text))
    assert {case.id: (case.passed, case.error) for case in run.cases} == {
        "bad": (False, "invalid-filter"),
        "good": (True, None),
    }
    assert run.record.summary.errors == {"invalid-filter": 1}
    assert run.record.summary.overall.measures["hit@10"] == 0.5


def test_each_list_alone(library: Library, tmp_path: Path) -> None:
    (case, *_) = library.evaluation.run(written(tmp_path, SET), each_arm=True).cases
    assert set(case.alone) == {"structured", "keyword", "vector"}
    assert (case.alone["keyword"]["ndcg@10"], case.alone["vector"]["ndcg@10"]) == (1.0, 0.0)


def test_many_at_a_time_find_what_one_at_a_time_finds(library: Library, tmp_path: Path) -> None:
    text = "".join(
        json.dumps({"id": f"{number}", "query": f"gateway clock {number}", "expect": "1.0.10.md"}) + "\n"
        for number in range(40)
    )
    path = written(tmp_path, text, "many.jsonl")
    seen: list[tuple[int, int, str]] = []
    together = library.evaluation.run(path, jobs=4, watch=lambda done, total, case: seen.append((done, total, case.id)))
    assert seen == [(number + 1, 40, f"{number}") for number in range(40)]
    one_by_one = library.evaluation.run(path)
    assert [case.ranked for case in together.cases] == [case.ranked for case in one_by_one.cases]


def test_a_part_of_a_set(library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, SET)
    assert [case.id for case in library.evaluation.run(path, tags=["codes", "versions"]).cases] == [
        "meeting",
        "release",
    ]
    assert [case.id for case in library.evaluation.run(path, sample=2).cases] == ["meeting", "place"]
    assert len(library.evaluation.run(path, sample=1000).cases) == len(library.evaluation.run(path).cases)
    for wrong in ({"tags": ["none"]}, {"sample": 0}, {"cutoff": 0}, {"cutoff": 101}, {"jobs": 0}):
        with pytest.raises(InvalidValue):
            library.evaluation.run(path, **wrong)


def test_traces_are_kept_of_what_did_not_pass(own_library: Library, tmp_path: Path) -> None:
    own_library.search("a person's own question")
    text = "- {id: good, query: gateway, expect: 1.0.10.md}\n- {id: bad, query: gateway, expect: 周会.md}\n"
    good, bad = own_library.evaluation.run(written(tmp_path, text), each_arm=True).cases
    assert good.trace_id == ""
    assert own_library.trace(bad.trace_id)["question"] == "gateway"
    assert [trace["question"] for trace in own_library.traces()] == ["gateway", "a person's own question"]


def test_runs_are_kept_listed_and_forgotten(own_library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, SET)
    with pytest.raises(EvaluationRunNotFound):
        own_library.evaluation.show("last")
    first, second = own_library.evaluation.run(path), own_library.evaluation.run(path)
    other = own_library.evaluation.run(written(tmp_path, SET, "other.yaml"))
    assert [run.id for run in own_library.evaluation.runs()] == [other.record.id, second.record.id, first.record.id]
    assert [run.id for run in own_library.evaluation.runs("set", limit=1)] == [second.record.id]
    assert own_library.evaluation.show("last") == other
    assert own_library.evaluation.show(first.record.id) == first
    before = own_library.evaluation.previous(second.record)
    assert before is not None
    assert before == first.record
    assert own_library.evaluation.previous(other.record) is None
    own_library.evaluation.delete(first.record.id)
    assert own_library.evaluation.previous(second.record) is None
    for action in (own_library.evaluation.delete, own_library.evaluation.show):
        with pytest.raises(EvaluationRunNotFound):
            action(first.record.id)


def test_a_run_is_compared_with_one_over_the_same_part_of_the_set(own_library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, SET)
    whole = own_library.evaluation.run(path)
    part = own_library.evaluation.run(path, sample=2)
    assert own_library.evaluation.previous(part.record) is None
    before = own_library.evaluation.previous(own_library.evaluation.run(path).record)
    assert before is not None
    assert before.id == whole.record.id
    before = own_library.evaluation.previous(own_library.evaluation.run(path, sample=2).record)
    assert before is not None
    assert before.id == part.record.id


def test_the_settings_that_may_make_a_difference_are_kept(library: Library, tmp_path: Path) -> None:
    settings = library.evaluation.run(written(tmp_path, SET), cutoff=5).record.settings
    assert settings["program"].startswith("wenyuan ")
    assert settings["cutoff"] == 5
    assert settings["knowledge_bases"]["default"] == {"model": "", "fingerprint": None, "documents": 4}


class _Interrupted(BaseException):
    pass


def test_an_interrupted_run_keeps_what_was_finished(own_library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, SET)
    complete = own_library.evaluation.run(path)

    def interrupt(done: int, total: int, case: CaseResult) -> None:  # noqa: ARG001
        if done == 3:
            raise _Interrupted

    with pytest.raises(_Interrupted):
        own_library.evaluation.run(path, watch=interrupt)
    (newest, *_) = own_library.evaluation.runs()
    assert (newest.complete, newest.summary.cases) == (False, 3)
    assert not [one for one in threading.enumerate() if one.name.startswith("evaluation")]
    # It is no measure of what comes next.
    again = own_library.evaluation.run(path)
    before = own_library.evaluation.previous(again.record)
    assert before is not None
    assert before.id == complete.record.id


def test_a_run_that_cannot_begin_says_why_and_keeps_nothing(own_library: Library, tmp_path: Path) -> None:
    with pytest.raises(EvaluationSetInvalid):
        own_library.evaluation.run(written(tmp_path, "- a\n"))
    with pytest.raises(KnowledgeBaseNotFound):
        own_library.evaluation.run(written(tmp_path, SET), kb=["absent"])
    assert own_library.evaluation.runs() == []


# --- Packs ---------------------------------------------------------------------------------------


def a_pack(folder: Path, documents: int = 60) -> Path:
    folder.mkdir()
    words = [f"word{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(documents)]
    corpus = [
        {
            "id": f"d{number:03}",
            "title": f"About {word}",
            "text": f"This is all of {word}.",
            "meta": {"half": number % 2},
        }
        for number, word in enumerate(words)
    ]
    queries = [
        {"id": f"q{number:03}", "text": f"what of {word}", "group": "main", "lang": "en", "answerable": True}
        for number, word in enumerate(words)
    ]
    queries[1]["filter"] = {"half": 0}
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus), "utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries), "utf-8")
    judged = "".join(f"q{number:03}\td{number:03}\t1\n" for number in range(documents))
    (folder / "qrels.tsv").write_text("qid\tdocid\trel\n" + judged, "utf-8")
    removal = {"remove_docs": ["d000", "d002"], "unanswerable": ["q000", "q002"]}
    (folder / "nosource.json").write_text(json.dumps(removal), "utf-8")
    return folder


def test_a_pack_is_imported_and_run(tmp_path: Path) -> None:
    folder = a_pack(tmp_path / "words")
    with keyword_only(tmp_path / "library") as library:
        with pytest.raises(PackNotImported, match="words"):
            library.evaluation.run(folder)
        made = library.evaluation.import_pack(folder)
        assert [(one.knowledge_base, one.counts, one.refused) for one in made] == [
            ("words", {"added": 60}, ()),
            ("words-nosource", {"added": 58}, ()),
        ]
        run = library.evaluation.run(folder)
        missed = [case.id for case in run.cases if not case.passed]
        assert missed == ["q001"], "its filter leaves its document out"
        assert run.record.summary.overall.measures["mrr@10"] == pytest.approx(59 / 60)
        without = library.evaluation.run(folder / "nosource.json")
        assert without.record.set_name == "words-nosource"
        assert {case.id for case in without.cases if case.expects_nothing} == {"q000", "q002"}
        assert all("d000" not in case.ranked for case in without.cases)
        assert without.record.summary.separation["no source"].nothing == 2
        assert library.check() == []


def test_an_import_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    folder = a_pack(tmp_path / "words", 300)
    corpus = (folder / "corpus.jsonl").read_text("utf-8")
    with keyword_only(tmp_path / "library") as library:
        # Where the file breaks off, what came before is in, but for the group that was being gathered.
        (folder / "corpus.jsonl").write_text(corpus[: corpus.index("d290")], "utf-8")
        with pytest.raises(EvaluationSetInvalid):
            library.evaluation.import_pack(folder)
        (folder / "corpus.jsonl").write_text(corpus, "utf-8")
        counts = library.evaluation.import_pack(folder, wait=False)[0].counts
        assert counts["unchanged"] > 100
        assert counts["unchanged"] + counts["added"] == 300
        assert library.evaluation.import_pack(folder, wait=False)[0].counts == {"unchanged": 300}
        assert len(library.documents.list("words")) == 300


def test_an_import_without_a_corpus_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with keyword_only(tmp_path / "library") as library:
        with pytest.raises(Exception, match=r"corpus\.jsonl"):
            library.evaluation.import_pack(tmp_path / "empty")
        assert [view.knowledge_base.name for view in library.knowledge_bases.all()] == ["default"]


def test_documents_that_are_refused_are_told(tmp_path: Path) -> None:
    folder = a_pack(tmp_path / "words", 3)
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"id": "empty", "text": ""}\n{"id": "' + "x" * 5000 + '", "text": "a"}\n')
    with keyword_only(tmp_path / "library") as library:
        made = library.evaluation.import_pack(folder)[0]
        assert (made.counts, made.failed) == ({"added": 4}, 1)
        assert [(source, problem.code) for source, problem in made.refused] == [(f"text:{'x' * 5000}", "invalid-value")]


# --- TREC ----------------------------------------------------------------------------------------


def test_a_run_is_exported_for_other_tools(library: Library, tmp_path: Path) -> None:
    run = library.evaluation.run(written(tmp_path, SET))
    lines = [line.split() for line in library.evaluation.trec_run(run)]
    assert ["meeting", "Q0", "周会.md", "1"] in [line[:4] for line in lines]
    assert {len(line) for line in lines} == {6}
    judged = [line.split() for line in library.evaluation.trec_qrels(run)]
    assert ["release", "0", "releases/1.0.10.md", "2"] in judged
    assert len(judged) == 5


def test_a_question_whose_trace_could_not_be_kept_is_measured_all_the_same(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_trace(trace_id: str) -> dict[str, object]:
        raise TraceNotFound(trace=trace_id)

    monkeypatch.setattr(library.evaluation, "_trace", no_trace)
    (case, *_) = library.evaluation.run(written(tmp_path, SET)).cases
    assert case.passed
    assert (case.lists, case.milliseconds) == ({}, {})
