"""How good a ranked list is: the measures of the field, defined as trec_eval defines them.

A ranking is a sequence of names, best first, none twice; `grades` says which names are relevant and
how much. A name that is not in it, or has grade 0, is not relevant. All results lie between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

Grades = Mapping[str, int]


def ndcg(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, with the grade itself as the gain.

    Järvelin & Kekäläinen 2002, as trec_eval's `ndcg_cut`: rank r is discounted by log2(r + 1), and the
    ideal ranking holds the best of all grades. 0 where nothing is relevant.
    """
    ideal = _discounted(sorted(grades.values(), reverse=True)[:k])
    return _discounted(grades.get(name, 0) for name in ranked[:k]) / ideal if ideal else 0.0


def recall(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """The share of what is relevant that stands among the first `k`; trec_eval's `recall`."""
    relevant = sum(grade > 0 for grade in grades.values())
    return _found(ranked, grades, k) / relevant if relevant else 0.0


def precision(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """The share of `k` places that hold something relevant; trec_eval's `P`. A short list has empty places."""
    return _found(ranked, grades, k) / k


def reciprocal_rank(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """One over the rank of the first relevant name among the first `k`; 0 where there is none."""
    return next((1 / rank for rank, name in enumerate(ranked[:k], start=1) if grades.get(name, 0) > 0), 0.0)


def hit(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """1 if anything relevant stands among the first `k`, else 0; trec_eval's `success`."""
    return float(_found(ranked, grades, k) > 0)


def measured(ranked: Sequence[str], grades: Grades, k: int) -> dict[str, float]:
    """Every measure of one ranking by its name, such as `ndcg@10`; `mrr` is the reciprocal rank, before its mean."""
    return {
        f"ndcg@{k}": ndcg(ranked, grades, k),
        f"recall@{k}": recall(ranked, grades, k),
        f"mrr@{k}": reciprocal_rank(ranked, grades, k),
        f"hit@{k}": hit(ranked, grades, k),
        f"precision@{k}": precision(ranked, grades, k),
    }


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative, a tie counting half; None where either is missing.

    The area under the ROC curve, as the Mann-Whitney statistic of midranks (Hanley & McNeil 1982).
    """
    if not positives or not negatives:
        return None
    scored = sorted([(score, True) for score in positives] + [(score, False) for score in negatives])
    rank_sum, begin = 0.0, 0
    while begin < len(scored):
        end = begin
        while end < len(scored) and scored[end][0] == scored[begin][0]:
            end += 1
        midrank = (begin + 1 + end) / 2
        rank_sum += midrank * sum(positive for _, positive in scored[begin:end])
        begin = end
    least = len(positives) * (len(positives) + 1) / 2
    return (rank_sum - least) / (len(positives) * len(negatives))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of all values do not exceed: the nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _discounted(gains: Iterable[int]) -> float:
    return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _found(ranked: Sequence[str], grades: Grades, k: int) -> int:
    return sum(grades.get(name, 0) > 0 for name in ranked[:k])
