"""The measures agree with trec_eval, and the AUROC with the count of all pairs."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.evaluation.metrics import (
    auroc,
    hit,
    mean,
    measured,
    ndcg,
    percentile,
    precision,
    recall,
    reciprocal_rank,
)

NAMES = [f"d{number}" for number in range(30)]
RANKINGS = st.lists(st.sampled_from(NAMES), max_size=30, unique=True)
GRADES = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 4), min_size=1, max_size=30).filter(
    lambda grades: any(grades.values())
)
OURS = {"ndcg": "nDCG", "recall": "R", "mrr": "RR", "hit": "Success", "precision": "P"}


def told_by_trec_eval(rankings: list[list[str]], judged: list[dict[str, int]], k: int) -> dict[str, float]:
    """The means over all queries; trec_eval orders by score, so that no two of a query may be equal."""
    names = {name: ir_measures.parse_measure(f"{theirs}@{k}") for name, theirs in OURS.items()}
    qrels = [
        ir_measures.Qrel(str(query), name, grade)
        for query, grades in enumerate(judged)
        for name, grade in grades.items()
    ]
    run = [
        ir_measures.ScoredDoc(str(query), name, float(-rank))
        for query, ranked in enumerate(rankings)
        for rank, name in enumerate(ranked)
    ]
    means = ir_measures.calc_aggregate(list(names.values()), qrels, run)
    return {f"{name}@{k}": float(means[measure]) for name, measure in names.items()}


@given(st.lists(st.tuples(RANKINGS, GRADES), min_size=1, max_size=8), st.sampled_from([1, 3, 10, 20]))
def test_every_measure_agrees_with_trec_eval(queries: list[tuple[list[str], dict[str, int]]], k: int) -> None:
    ours = [measured(ranked, grades, k) for ranked, grades in queries]
    theirs = told_by_trec_eval([ranked for ranked, _ in queries], [grades for _, grades in queries], k)
    assert {name: mean([one[name] for one in ours]) for name in ours[0]} == pytest.approx(theirs, abs=1e-6)


def test_measures_of_a_ranking_worked_out_by_hand() -> None:
    ranked, grades = ["a", "x", "b", "y"], {"a": 1, "b": 3, "c": 2}
    # Gains 1, 0, 3 at discounts log2 2, 3 and 4; ideally 3, 2, 1.
    assert ndcg(ranked, grades, 10) == pytest.approx((1 + 3 / 2) / (3 + 2 / 1.5849625007 + 1 / 2))
    assert recall(ranked, grades, 10) == pytest.approx(2 / 3)
    assert recall(ranked, grades, 2) == pytest.approx(1 / 3)
    assert precision(ranked, grades, 5) == pytest.approx(2 / 5)
    assert reciprocal_rank(["x", "b"], grades, 10) == 0.5
    assert reciprocal_rank(["x", "b"], grades, 1) == 0.0
    assert (hit(["x", "b"], grades, 1), hit(["x", "b"], grades, 2)) == (0.0, 1.0)


@pytest.mark.parametrize("measure", [ndcg, recall, precision, reciprocal_rank, hit])
def test_where_nothing_is_found_or_relevant_a_measure_is_zero(measure: object) -> None:
    assert callable(measure)
    assert measure([], {"a": 1}, 10) == 0.0
    assert measure(["a"], {"a": 0}, 10) == 0.0
    assert measure(["a"], {}, 10) == 0.0


SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=20)


@given(SCORES, SCORES)
def test_the_auroc_is_the_share_of_pairs_in_order(positives: list[float], negatives: list[float]) -> None:
    pairs = [(positive, negative) for positive in positives for negative in negatives]
    share = sum(1.0 if one > other else 0.5 if one == other else 0.0 for one, other in pairs) / len(pairs)
    assert auroc(positives, negatives) == pytest.approx(share, abs=1e-12)


def test_the_auroc_needs_both_kinds() -> None:
    assert auroc([], [0.5]) is None
    assert auroc([0.5], []) is None


def test_a_percentile_is_a_value_that_occurred() -> None:
    values = [float(number) for number in range(1, 21)]
    assert percentile(values, 0.5) == 10.0
    assert percentile(values, 0.95) == 19.0
    assert percentile([7.0], 0.95) == 7.0
