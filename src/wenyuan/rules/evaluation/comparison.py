"""What changed between two runs of a set, and whether it is a regression."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wenyuan.errors import InvalidValue
from wenyuan.rules.evaluation.metrics import mean
from wenyuan.rules.evaluation.results import CaseResult, EvaluationRun, Summary
from wenyuan.rules.evaluation.significance import randomisation_test
from wenyuan.rules.evaluation.summary import summarised

SIGNIFICANT = 0.05
SMALL_SET = 50
"""With fewer compared cases than this, hardly any difference is significant, and each case counts."""

_GUARDED = ("ndcg", "recall", "mrr", "hit")
_AUROC = "auroc"
_MEASURES = (*_GUARDED, "precision", _AUROC)

FailOn = Literal["auto", "significant", "case", "never"]


@dataclass(frozen=True, slots=True)
class Change:
    """A measure's mean over the same cases before and after, and the p-value of the difference."""

    cases: int
    before: float
    after: float
    p: float

    @property
    def is_a_significant_drop(self) -> bool:
        return self.after < self.before and self.p < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class CaseChange:
    """One case before and after. `by` is how much better the ranking became, by its nDCG."""

    id: str
    query: str
    by: float
    before: CaseResult
    after: CaseResult

    @property
    def began_to_fail(self) -> bool:
        return self.before.passed and not self.after.passed

    @property
    def began_to_pass(self) -> bool:
        return self.after.passed and not self.before.passed

    @property
    def is_worse(self) -> bool:
        return self.began_to_fail or (self.by < 0 and not self.began_to_pass)

    @property
    def is_better(self) -> bool:
        return self.began_to_pass or (self.by > 0 and not self.began_to_fail)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over the cases that both have and that ask and expect the same.

    `tags` have the nDCG alone. `worse` and `better` begin with what changed most. `separation` is the
    AUROC of the ground before and after, by tag. `uncompared` cases are in one run alone or were rewritten in between.
    """

    before: str
    after: str
    compared: int
    uncompared: int
    measures: Mapping[str, Change]
    tags: Mapping[str, Change]
    separation: Mapping[str, tuple[float, float]]
    worse: tuple[CaseChange, ...]
    better: tuple[CaseChange, ...]
    settings: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least a measure may be, over all cases or those with a tag."""

    measure: str
    least: float
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run is not good enough: a measure below its threshold, a significant drop, or a case that began to fail."""

    kind: Literal["below", "dropped", "case"]
    subject: str
    value: float | None = None
    bound: float | None = None
    p: float | None = None


_THRESHOLD = re.compile(r"([a-z]+)(?:@([0-9]{1,3}))?(?:\[(.+)\])?=([01](?:\.[0-9]+)?|\.[0-9]+)")


def read_threshold(text: str, cutoff: int) -> Threshold:
    """A threshold as it is typed: `ndcg=0.9`, `recall@10=0.95`, `mrr[dates]=0.8`, `auroc=0.9`.

    Raises `InvalidValue`.
    """
    match = _THRESHOLD.fullmatch(text)
    if match is None or float(match[4]) > 1:
        reason = "it is written MEASURE=VALUE or MEASURE[TAG]=VALUE, the value from 0 to 1"
        raise InvalidValue(what="A threshold", value=text, reason=reason)
    name, depth, tag, least = match.groups()
    if name not in _MEASURES or (depth is not None and (name == _AUROC or int(depth) != cutoff)):
        known = ", ".join(one if one == _AUROC else f"{one}@{cutoff}" for one in _MEASURES)
        raise InvalidValue(what="A threshold", value=text, reason=f"what is measured is {known}")
    return Threshold(name if name == _AUROC else f"{name}@{cutoff}", float(least), tag or "")


def compared(before: EvaluationRun, after: EvaluationRun) -> Comparison:
    """What changed from one run to another, over all their common cases and down to each of them."""
    old = {case.id: case for case in before.cases}
    pairs = [(old[case.id], case) for case in after.cases if case.id in old and old[case.id].digest == case.digest]
    changes = [_case_change(one, other) for one, other in pairs]
    worse = [change for change in changes if change.is_worse]
    better = [change for change in changes if change.is_better]
    return Comparison(
        before=before.record.id,
        after=after.record.id,
        compared=len(pairs),
        uncompared=len(before.cases) + len(after.cases) - 2 * len(pairs),
        measures=_changes(pairs),
        tags=_changes_by_tag(pairs),
        separation=_separations(pairs),
        worse=tuple(sorted(worse, key=lambda change: (not change.began_to_fail, change.by, change.id))),
        better=tuple(sorted(better, key=lambda change: (not change.began_to_pass, -change.by, change.id))),
        settings=_differences(before.record.settings, after.record.settings),
    )


def failures(
    summary: Summary, comparison: Comparison | None, fail_on: FailOn, thresholds: Sequence[Threshold]
) -> tuple[Failure, ...]:
    """Everything that makes a run fail. Raises `InvalidValue` for a threshold on what was not measured.

    A significant drop is one of the mean of nDCG, recall, MRR or hit rate with p below .05. With
    `auto`, sets of fewer than 50 compared cases also fail with each case that passed before and does
    not now; `case` does that for every set, `significant` for none, and `never` compares nothing.
    """
    found = [failure for one in thresholds if (failure := _below(summary, one)) is not None]
    if comparison is None or fail_on == "never":
        return tuple(found)
    found += [
        Failure("dropped", name, change.after, change.before, change.p)
        for name, change in comparison.measures.items()
        if name.partition("@")[0] in _GUARDED and change.is_a_significant_drop
    ]
    if fail_on == "case" or (fail_on == "auto" and comparison.compared < SMALL_SET):
        found += [Failure("case", change.id) for change in comparison.worse if change.began_to_fail]
    return tuple(found)


def _below(summary: Summary, threshold: Threshold) -> Failure | None:
    figures = summary.tags.get(threshold.tag) if threshold.tag else summary.overall
    measured: dict[str, float | None] = dict(figures.measures) if figures is not None else {}
    apart = summary.separation.get(threshold.tag)
    if apart is not None:
        measured[_AUROC] = apart.grounded
    subject = f"{threshold.measure}[{threshold.tag}]" if threshold.tag else threshold.measure
    value = measured.get(threshold.measure)
    if value is None:
        known = ", ".join(name for name, one in measured.items() if one is not None) or "nothing"
        raise InvalidValue(what="A threshold", value=subject, reason=f"what was measured there is {known}")
    return Failure("below", subject, value, threshold.least) if value < threshold.least else None


def _case_change(before: CaseResult, after: CaseResult) -> CaseChange:
    by = sum(value - before.measures.get(name, value) for name, value in after.measures.items() if _is_ndcg(name))
    return CaseChange(after.id, after.query, by, before, after)


Pairs = Sequence[tuple[CaseResult, CaseResult]]


def _changes(pairs: Pairs) -> dict[str, Change]:
    answerable = [(before, after) for before, after in pairs if not after.expects_nothing]
    names = [name for name in answerable[0][1].measures if name in answerable[0][0].measures] if answerable else []
    return {name: _change(name, answerable) for name in names}


def _changes_by_tag(pairs: Pairs) -> dict[str, Change]:
    with_tag: dict[str, list[tuple[CaseResult, CaseResult]]] = {}
    for before, after in pairs:
        for tag in after.tags if not after.expects_nothing else ():
            with_tag.setdefault(tag, []).append((before, after))
    names = {tag: next(filter(_is_ndcg, some[0][1].measures), "") for tag, some in with_tag.items()}
    return {tag: _change(name, with_tag[tag]) for tag, name in names.items() if name in with_tag[tag][0][0].measures}


def _change(name: str, pairs: Pairs) -> Change:
    before, after = [one.measures[name] for one, _ in pairs], [one.measures[name] for _, one in pairs]
    p = randomisation_test([new - old for old, new in zip(before, after, strict=True)])
    return Change(len(pairs), mean(before), mean(after), p)


def _is_ndcg(name: str) -> bool:
    return name.startswith("ndcg@")


def _separations(pairs: Pairs) -> dict[str, tuple[float, float]]:
    before, after = (summarised([pair[side] for pair in pairs]).separation for side in (0, 1))
    changes = {}
    for tag, one in before.items():
        old, new = one.grounded, after[tag].grounded if tag in after else None
        if old is not None and new is not None:
            changes[tag] = (old, new)
    return changes


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = [*before, *(name for name in after if name not in before)]
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
