"""Figures of a run, what changed between two, and when that is a regression."""

from __future__ import annotations

import dataclasses
import json

import pytest

from wenyuan.errors import InvalidValue
from wenyuan.rules.evaluation.comparison import (
    FailOn,
    Failure,
    Threshold,
    compared,
    failures,
    read_threshold,
)
from wenyuan.rules.evaluation.metrics import measured
from wenyuan.rules.evaluation.results import (
    CaseResult,
    EvaluationRun,
    Found,
    RunRecord,
    as_json,
    case_from_json,
    summary_from_json,
)
from wenyuan.rules.evaluation.summary import summarised


def answered(name: str, rank: int | None, *tags: str, language: str = "", **more: object) -> CaseResult:
    """A case that expects one document and found it at a rank, or not."""
    ranked = tuple("right" if place == rank else f"wrong {place}" for place in range(1, 11))
    case = CaseResult(
        id=name,
        digest="d",
        query=f"question {name}",
        tags=tags,
        language=language,
        expected=(Found("right", 1, rank),),
        ranked=ranked,
        measures=measured(ranked, {"right": 1}, 10),
        passed=rank is not None,
        grounded=0.8,
        verdict="likely",
    )
    return dataclasses.replace(case, **more)  # type: ignore[arg-type]


def unanswered(name: str, grounded: float, *tags: str) -> CaseResult:
    verdict = "likely" if grounded > 0.5 else "unlikely"
    return CaseResult(name, "d", "?", tags, "", (), (), {}, verdict == "unlikely", grounded=grounded, verdict=verdict)


def run_of(*cases: CaseResult, name: str = "run", **settings: object) -> EvaluationRun:
    return EvaluationRun(RunRecord(name, "set", "digest", 0, True, settings, summarised(cases)), cases)


# --- Figures -------------------------------------------------------------------------------------


def test_figures_are_means_over_what_has_an_answer_in_all_and_by_group() -> None:
    summary = summarised(
        [
            answered("a", 1, "dates", language="zh"),
            answered("b", 2, "dates", "hard", language="en"),
            answered("c", None, language="en"),
            unanswered("d", 0.1, "dates"),
        ]
    )
    assert (summary.cases, summary.answerable, summary.nothing, summary.passed) == (4, 3, 1, 3)
    assert summary.overall.measures["mrr@10"] == pytest.approx((1 + 1 / 2) / 3)
    assert {tag: (one.cases, one.measures["mrr@10"]) for tag, one in summary.tags.items()} == {
        "dates": (2, 0.75),
        "hard": (1, 0.5),
    }
    assert {name: one.cases for name, one in summary.languages.items()} == {"zh": 1, "en": 2}


def test_each_list_is_told_by_what_it_found_and_what_it_alone_found() -> None:
    good, bad = measured(["right"], {"right": 1}, 10), measured([], {"right": 1}, 10)
    summary = summarised(
        [
            answered("a", 1, lists={"keyword": good, "vector": good}),
            answered("b", 1, lists={"keyword": bad, "vector": good}, alone={"vector": good}),
            answered("c", 1, lists={"keyword": bad}),
            answered("d", 1),
        ]
    )
    keyword, vector = summary.lists["keyword"], summary.lists["vector"]
    assert (keyword.found, keyword.found_alone) == (1, 0)
    assert keyword.measures["hit@10"] == pytest.approx(1 / 3)
    assert (vector.found, vector.found_alone, vector.measures["hit@10"]) == (2, 1, 1.0)
    assert "structured" not in summary.lists
    assert {arm: one.cases for arm, one in summary.alone.items()} == {"vector": 1}


def test_answers_are_told_from_their_absence_in_all_and_by_tag() -> None:
    summary = summarised(
        [
            answered("a", 1, "en", grounded=0.9),
            answered("b", 1, "zh", grounded=0.3),
            unanswered("c", 0.5, "en"),
            unanswered("d", 0.1, "absent"),
        ]
    )
    assert {tag: one.grounded for tag, one in summary.separation.items()} == {"": 0.75, "en": 1.0, "absent": 1.0}
    assert (summary.separation["en"].answerable, summary.separation["absent"].answerable) == (1, 2)
    assert summary.separation[""].similarity is None


def test_a_run_without_an_answerable_question_has_no_measures() -> None:
    summary = summarised([unanswered("a", 0.1)])
    assert (summary.overall.cases, dict(summary.overall.measures), dict(summary.separation)) == (0, {}, {})
    assert summarised([]).cases == 0


def test_degradations_errors_and_times_are_counted() -> None:
    summary = summarised(
        [
            answered("a", 1, degraded=("embed: failed-timeout",), milliseconds={"total": 10.0, "keyword": 4.0}),
            answered("b", None, error="invalid-filter"),
            answered("c", 1, degraded=("embed: failed-timeout", "x"), milliseconds={"total": 30.0}),
        ]
    )
    assert summary.degraded == {"embed: failed-timeout": 2, "x": 1}
    assert summary.errors == {"invalid-filter": 1}
    assert summary.milliseconds == {"total": {"p50": 10.0, "p95": 30.0}, "keyword": {"p50": 4.0, "p95": 4.0}}


def test_results_are_read_back_as_they_were_written_even_by_an_older_program() -> None:
    cases = [
        answered("a", 3, "x", lists={"keyword": {"hit@10": 1.0}}, milliseconds={"total": 1.5}),
        unanswered("b", 0.4, "y"),
    ]
    summary = summarised(cases)
    for case in cases:
        stored = json.loads(json.dumps({**as_json(case), "added later": 1}))
        assert case_from_json(stored) == case
    assert summary_from_json(json.loads(json.dumps({**as_json(summary), "added later": 1}))) == summary


# --- Changes -------------------------------------------------------------------------------------


def test_what_changed_is_told_down_to_the_question() -> None:
    before = run_of(
        answered("same", 1),
        answered("lost", 2),
        answered("fell", 1),
        answered("rose", 5, "x"),
        unanswered("quiet", 0.2),
    )
    after = run_of(
        answered("same", 1),
        answered("lost", None),
        answered("fell", 2),
        answered("rose", 1, "x"),
        unanswered("quiet", 0.9),
    )
    comparison = compared(before, after)
    assert (comparison.compared, comparison.uncompared) == (5, 0)
    assert [change.id for change in comparison.worse] == ["lost", "quiet", "fell"]
    assert [change.id for change in comparison.better] == ["rose"]
    assert [change.began_to_fail for change in comparison.worse] == [True, True, False]
    change = comparison.measures["mrr@10"]
    assert [change.before, change.after] == pytest.approx([2.7 / 4, 2.5 / 4])
    # The differences are -.5, -.5 and .8: no assignment of signs brings their sum closer to zero.
    assert (change.cases, change.p) == (4, 1.0)
    assert set(comparison.tags) == {"x"}
    assert comparison.separation[""] == (1.0, 0.0)


def test_only_what_is_asked_and_expected_alike_is_compared() -> None:
    before = run_of(answered("a", 1), answered("gone", 1), answered("rewritten", 1))
    after = run_of(answered("a", 1), answered("new", None), answered("rewritten", None, digest="other"))
    comparison = compared(before, after)
    assert (comparison.compared, comparison.uncompared) == (1, 4)
    assert comparison.worse == comparison.better == ()


def test_settings_that_differ_are_told() -> None:
    comparison = compared(
        run_of(answered("a", 1), cutoff=10, rules="1"), run_of(answered("a", 1), cutoff=10, rules="2")
    )
    assert comparison.settings == {"rules": ("1", "2")}


def test_runs_measured_to_another_depth_share_no_measures() -> None:
    shallow = answered("a", 1)
    shallow = dataclasses.replace(shallow, measures={"ndcg@5": 1.0})
    comparison = compared(run_of(shallow), run_of(answered("a", 2)))
    assert (comparison.measures, comparison.tags, comparison.worse) == ({}, {}, ())


# --- Regressions ---------------------------------------------------------------------------------


def many(count: int, lost: int) -> tuple[EvaluationRun, EvaluationRun]:
    """A run, and one in which some of its questions are no longer answered."""
    before = [answered(f"{number}", 1) for number in range(count)]
    after = [answered(f"{number}", None if number < lost else 1) for number in range(count)]
    return run_of(*before), run_of(*after)


@pytest.mark.parametrize(
    ("count", "lost", "fail_on", "kinds"),
    [
        (20, 1, "auto", ["case"]),
        (20, 1, "significant", []),
        (20, 1, "never", []),
        (200, 1, "auto", []),
        (200, 1, "case", ["case"]),
        (200, 10, "auto", ["dropped"]),
        (200, 10, "never", []),
        (20, 0, "case", []),
    ],
)
def test_when_a_change_is_a_regression(count: int, lost: int, fail_on: FailOn, kinds: list[str]) -> None:
    before, after = many(count, lost)
    found = failures(after.record.summary, compared(before, after), fail_on, ())
    assert list(dict.fromkeys(one.kind for one in found)) == kinds


def test_a_gain_is_never_a_regression() -> None:
    after, before = many(200, 20)
    assert failures(after.record.summary, compared(before, after), "case", ()) == ()


def test_without_a_run_before_only_thresholds_count() -> None:
    _, after = many(20, 5)
    assert failures(after.record.summary, None, "case", ()) == ()
    failed = failures(after.record.summary, None, "auto", [Threshold("hit@10", 0.8)])
    assert failed == (Failure("below", "hit@10", 0.75, 0.8),)
    assert failures(after.record.summary, None, "auto", [Threshold("hit@10", 0.75)]) == ()


def test_a_threshold_may_be_for_a_tag_or_for_what_has_no_answer() -> None:
    run = run_of(answered("a", 2, "dates"), answered("b", 1), unanswered("c", 0.9), unanswered("d", 0.1))
    wanted = [Threshold("mrr@10", 0.6, "dates"), Threshold("mrr@10", 0.6), Threshold("auroc", 0.9)]
    assert [one.subject for one in failures(run.record.summary, None, "auto", wanted)] == ["mrr@10[dates]", "auroc"]
    for absent in (Threshold("ndcg@10", 0.5, "no such tag"), Threshold("ndcg@5", 0.5), Threshold("auroc", 1, "dates")):
        with pytest.raises(InvalidValue):
            failures(run.record.summary, None, "auto", [absent])


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("ndcg=0.9", Threshold("ndcg@10", 0.9)),
        ("recall@10=1", Threshold("recall@10", 1.0)),
        ("mrr[task-en>zh]=.75", Threshold("mrr@10", 0.75, "task-en>zh")),
        ("hit@10[a=b]=0.5", Threshold("hit@10", 0.5, "a=b")),
        ("auroc=0.85", Threshold("auroc", 0.85)),
    ],
)
def test_a_threshold_is_read_as_it_is_typed(text: str, threshold: Threshold) -> None:
    assert read_threshold(text, 10) == threshold


@pytest.mark.parametrize(
    "text",
    ["", "ndcg", "ndcg=", "ndcg=90%", "ndcg=2.0", "ndcg=1.5", "ndcg@5=0.9", "map=0.5", "auroc@10=0.5", "ndcg[]=0.5"],
)
def test_a_threshold_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        read_threshold(text, 10)
