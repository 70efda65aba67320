"""The figures of a run, from the results of its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

from wenyuan.rules.evaluation.metrics import auroc, mean, percentile
from wenyuan.rules.evaluation.results import CaseResult, Figures, ListFigures, Separation, Summary
from wenyuan.types import ArmName

ARMS: tuple[ArmName, ...] = get_args(ArmName)


def summarised(cases: Sequence[CaseResult]) -> Summary:
    """A run in figures, over all cases, by tag, by language and by list."""
    answerable = [case for case in cases if not case.expects_nothing]
    nothing = [case for case in cases if case.expects_nothing]
    return Summary(
        cases=len(cases),
        answerable=len(answerable),
        nothing=len(nothing),
        passed=sum(case.passed for case in cases),
        overall=figures(answerable),
        tags={tag: figures(some) for tag, some in _grouped(answerable, lambda case: case.tags).items()},
        languages={name: figures(some) for name, some in _grouped(answerable, _languages).items()},
        lists=_lists(answerable),
        alone=_alone(answerable),
        separation=_separation(answerable, nothing),
        verdicts={
            "answerable": sum(case.verdict == "likely" for case in answerable),
            "nothing": sum(case.verdict == "unlikely" for case in nothing),
        },
        milliseconds=_milliseconds(cases),
        degraded=dict(Counter(name for case in cases for name in case.degraded)),
        errors=dict(Counter(case.error for case in cases if case.error is not None)),
        missing=sum(bool(case.missing) for case in cases),
    )


def figures(cases: Sequence[CaseResult]) -> Figures:
    """The means over cases that expect something; no measures where there is none."""
    names = cases[0].measures if cases else ()
    return Figures(len(cases), {name: mean([case.measures[name] for case in cases]) for name in names})


def _lists(cases: Sequence[CaseResult]) -> dict[str, ListFigures]:
    """What each list did for the questions it had anything for, and what it alone brought."""
    done: dict[str, ListFigures] = {}
    found = [{name for name, measures in case.lists.items() if _hit(measures)} for case in cases]
    for arm in ARMS:
        seen = [case.lists[arm] for case in cases if arm in case.lists]
        if seen:
            means = {name: mean([measures[name] for measures in seen]) for name in seen[0]}
            found_by_it = sum(arm in names for names in found)
            done[arm] = ListFigures(means, found_by_it, sum({arm} == names for names in found), len(seen))
    return done


def _hit(measures: Mapping[str, float]) -> bool:
    return any(value > 0 for name, value in measures.items() if name.startswith("hit@"))


def _alone(cases: Sequence[CaseResult]) -> dict[str, Figures]:
    done: dict[str, Figures] = {}
    for arm in ARMS:
        made = [case.alone[arm] for case in cases if arm in case.alone]
        if made:
            done[arm] = Figures(len(made), {name: mean([one[name] for one in made]) for name in made[0]})
    return done


def _separation(answerable: Sequence[CaseResult], nothing: Sequence[CaseResult]) -> dict[str, Separation]:
    """For all cases, and for each tag of those that expect nothing.

    A tag's are told from the answerable ones with the same tag, or from all where there are none.
    """
    if not answerable or not nothing:
        return {}
    done = {"": _told_apart(answerable, nothing)}
    with_tag = _grouped(answerable, lambda case: case.tags)
    for tag, some in _grouped(nothing, lambda case: case.tags).items():
        done[tag] = _told_apart(with_tag.get(tag, answerable), some)
    return done


def _told_apart(answerable: Sequence[CaseResult], nothing: Sequence[CaseResult]) -> Separation:
    scores = [
        auroc(_scores(score, answerable), _scores(score, nothing))
        for score in (lambda case: case.grounded, lambda case: case.similarity)
    ]
    return Separation(len(answerable), len(nothing), scores[0], scores[1])


def _scores(score: Callable[[CaseResult], float | None], cases: Sequence[CaseResult]) -> list[float]:
    return [value for case in cases if (value := score(case)) is not None]


def _milliseconds(cases: Sequence[CaseResult]) -> dict[str, dict[str, float]]:
    """The median and the 95th percentile of each stage, over the cases that had it; all of a search first."""
    by_stage: dict[str, list[float]] = {"total": []}
    for case in cases:
        for stage, taken in case.milliseconds.items():
            by_stage.setdefault(stage, []).append(taken)
    return {
        stage: {"p50": percentile(taken, 0.5), "p95": percentile(taken, 0.95)}
        for stage, taken in by_stage.items()
        if taken
    }


def _languages(case: CaseResult) -> tuple[str, ...]:
    return (case.language,) if case.language else ()


def _grouped(cases: Iterable[CaseResult], names: Callable[[CaseResult], Iterable[str]]) -> dict[str, list[CaseResult]]:
    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        for name in names(case):
            groups.setdefault(name, []).append(case)
    return groups
