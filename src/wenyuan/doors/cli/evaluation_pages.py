"""How a run of an evaluation is shown, and what changed between two of them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wenyuan.doors.cli.asking import degradation
from wenyuan.doors.cli.output import Column, Part, one_line
from wenyuan.doors.cli.session import Session

if TYPE_CHECKING:
    from wenyuan.runtime.evaluation import (
        CaseChange,
        CaseResult,
        Comparison,
        EvaluationRun,
        Failure,
        Figures,
        RunRecord,
        Summary,
    )

_SHOWN_MEASURES = ("ndcg", "recall", "mrr", "hit")
_TITLES = {"ndcg": "nDCG", "recall": "recall", "mrr": "MRR", "hit": "hit", "precision": "precision"}
_LONGEST_QUERY = 100
_MOST_EXPECTED = 3


def show_runs(session: Session, runs: Sequence[RunRecord]) -> None:
    say = session.say
    if not runs:
        session.out.line(say("eval.none"), session.command("eval run SET.yaml"), whole=True)
        return
    names = [name for name in runs[0].summary.overall.measures if _kind(name) in ("ndcg", "recall")]
    columns = [
        Column(say("column.id"), whole=True),
        Column(say("column.set")),
        Column(say("column.created"), whole=True),
        Column(say("column.cases"), "right"),
        Column(say("column.passed"), "right"),
        *(Column(_title(name), "right") for name in names),
    ]
    rows: list[list[Part]] = []
    for one in runs:
        set_name = one.set_name if one.complete else one.set_name + say("eval.incomplete")
        counts = [str(one.summary.cases), str(one.summary.passed)]
        rows.append([one.id, set_name, _time(one.created_at), *counts, *_numbers(one.summary.overall.measures, names)])
    session.out.table(columns, rows)


def show_run(session: Session, run: EvaluationRun, shown: int) -> None:
    """Figures first, then the questions that did not pass."""
    say, out, record, summary = session.say, session.out, run.record, run.record.summary
    passed = say("eval.passed", name=record.set_name, passed=summary.passed, cases=summary.cases)
    out.line((passed, "bold"), "" if record.complete else (say("eval.incomplete"), "bold yellow"))
    if summary.answerable:
        _show_figures(session, summary)
        _show_lists(session, summary)
    _show_separation(session, summary)
    _show_circumstances(session, summary)
    _show_not_passed(session, run.cases, shown)
    out.line((say("eval.run", run=record.id), "dim"), whole=True)


def show_comparison(session: Session, comparison: Comparison, shown: int) -> None:
    say, out = session.say, session.out
    counts = {"worse": len(comparison.worse), "better": len(comparison.better)}
    out.line((say("eval.compared", before=comparison.before, compared=comparison.compared, **counts), "bold"))
    if comparison.uncompared:
        out.line(say("eval.uncompared", n=comparison.uncompared))
    if comparison.settings:
        out.line((say("eval.settings"), "bold"))
        for name, (before, after) in comparison.settings.items():
            out.line(say("eval.setting", name=name, before=_value(before), after=_value(after)), indent=2)
    if not comparison.worse and not comparison.better:
        out.line(say("eval.unchanged"))
        return
    _show_changes(session, comparison)
    for key, changes in (("eval.worse", comparison.worse), ("eval.better", comparison.better)):
        if changes:
            out.line("")
            out.line((say(key, n=len(changes), shown=min(shown, len(changes))), "bold"))
        for change in changes[:shown]:
            _show_change(session, change)


def show_failures(session: Session, failures: Sequence[Failure]) -> None:
    if failures:
        session.out.line("")
        session.out.line((session.say("eval.failed"), "bold red"))
    for one in failures:
        details = {"subject": one.subject, "value": one.value, "bound": one.bound, "p": one.p}
        session.out.line(session.say(f"eval.failed.{one.kind}", **details), indent=2)


def _show_figures(session: Session, summary: Summary) -> None:
    say = session.say
    names = _shown_measures(summary.overall.measures)
    groups: list[tuple[str, Figures]] = [(say("eval.all"), summary.overall)]
    for key, figures in (("eval.tag", summary.tags), ("eval.language", summary.languages)):
        # A single group that is everything says nothing new.
        if len(figures) > 1 or any(one.cases != summary.overall.cases for one in figures.values()):
            groups += ((say(key, name=name), one) for name, one in figures.items())
    columns = [
        Column(say("column.group")),
        Column(say("column.cases"), "right"),
        *(Column(_title(name), "right") for name in names),
    ]
    rows: list[list[Part]] = [[name, str(one.cases), *_numbers(one.measures, names)] for name, one in groups]
    session.out.line("")
    session.out.table(columns, rows)


def _show_lists(session: Session, summary: Summary) -> None:
    say = session.say
    if not summary.lists:
        return
    names = _shown_measures(summary.overall.measures)
    rows: list[list[Part]] = [
        [say(f"arm.{arm}"), str(one.cases), *_numbers(one.measures, names), str(one.found), str(one.found_alone)]
        for arm, one in summary.lists.items()
    ]
    rows += [
        [say("eval.alone", arm=say(f"arm.{arm}")), str(one.cases), *_numbers(one.measures, names), "", ""]
        for arm, one in summary.alone.items()
    ]
    columns = [
        Column(say("column.list")),
        Column(say("column.cases"), "right"),
        *(Column(_title(name), "right") for name in names),
        Column(say("column.found"), "right"),
        Column(say("column.found-alone"), "right"),
    ]
    session.out.line("")
    session.out.line((say("eval.lists"), "bold"))
    session.out.table(columns, rows)


def _show_separation(session: Session, summary: Summary) -> None:
    say, out = session.say, session.out
    if not summary.nothing:
        return
    out.line("")
    out.line((say("eval.nothing"), "bold"))
    if summary.separation:
        columns = [
            Column(say("column.group")),
            Column(say("column.cases"), "right"),
            Column("AUROC", "right"),
            Column("AUROC cosine", "right"),
        ]
        rows: list[list[Part]] = [
            [name or say("eval.all"), str(one.nothing), _number(one.grounded), _number(one.similarity)]
            for name, one in summary.separation.items()
        ]
        out.table(columns, rows)
    counts = {"answerable": summary.answerable, "nothing": summary.nothing}
    right = {"likely": summary.verdicts["answerable"], "unlikely": summary.verdicts["nothing"]}
    out.line(say("eval.verdicts", **counts, **right))


def _show_circumstances(session: Session, summary: Summary) -> None:
    """How long it took, and what went wrong on the way."""
    say, out = session.say, session.out
    if summary.milliseconds:
        stages = [say("eval.time.stage", stage=stage, **taken) for stage, taken in summary.milliseconds.items()]
        out.line("")
        out.line((say("eval.time"), "bold"))
        out.line(say("list.separator").join(stages))
    for name, count in summary.degraded.items():
        out.line((say("eval.degraded", n=count), "bold yellow"), degradation(session, name))
    for code, count in summary.errors.items():
        out.line((say("eval.errors", n=count), "bold red"), code)
    if summary.missing:
        out.line((say("eval.missing", n=summary.missing), "bold yellow"))


def _show_not_passed(session: Session, cases: Sequence[CaseResult], shown: int) -> None:
    failed = [case for case in cases if not case.passed]
    if not failed:
        return
    say, out = session.say, session.out
    out.line("")
    out.line((say("eval.not-passed", n=len(failed), shown=min(shown, len(failed))), "bold"))
    for case in failed[:shown]:
        out.line((f"{case.id}  ", "bold"), _query(case.query))
        out.line(say("eval.expects"), _expected(session, case), indent=4)
        if case.error is not None or case.ranked:
            found = case.error or say("list.separator").join(map(one_line, case.ranked[:_MOST_EXPECTED]))
            out.line(say("eval.found-instead"), (found, "dim"), indent=4)
        if case.trace_id:
            out.line((session.command(f"explain {case.trace_id}"), "dim"), indent=4, whole=True)


def _expected(session: Session, case: CaseResult) -> str:
    say = session.say
    if not case.expected:
        return say("eval.nothing-expected")
    parts = []
    for one in case.expected[:_MOST_EXPECTED]:
        name = one_line(one.name)
        parts.append(f"{name} ({_rank(session, one.rank)})" if one.is_there else say("eval.not-there", name=name))
    return say("list.separator").join(parts) + ("…" if len(case.expected) > _MOST_EXPECTED else "")


def _show_changes(session: Session, comparison: Comparison) -> None:
    say = session.say
    columns = [
        Column(say("column.measure")),
        Column(say("column.cases"), "right"),
        Column(say("column.before"), "right"),
        Column(say("column.after"), "right"),
        Column(say("column.change"), "right"),
        Column("p", "right"),
    ]
    changes = [(_title(name), change) for name, change in comparison.measures.items()]
    changes += [(f"nDCG · {tag}", change) for tag, change in comparison.tags.items() if len(comparison.tags) > 1]
    rows: list[list[Part]] = [
        [
            name,
            str(one.cases),
            _number(one.before),
            _number(one.after),
            f"{one.after - one.before:+.3f}",
            (f"{one.p:.3f}", "bold red" if one.is_a_significant_drop else ""),
        ]
        for name, one in changes
    ]
    for tag, (before, after) in comparison.separation.items():
        name = f"AUROC · {tag}" if tag else "AUROC"
        rows.append([name, "", _number(before), _number(after), f"{after - before:+.3f}", ""])
    session.out.line("")
    session.out.table(columns, rows)


def _show_change(session: Session, change: CaseChange) -> None:
    say, out = session.say, session.out
    out.line((f"{change.id}  ", "bold"), _query(change.query))
    if change.after.expects_nothing:
        verdicts = [say(f"grounded.{case.verdict}") if case.verdict else "-" for case in (change.before, change.after)]
        out.line(" → ".join(verdicts), indent=4)
        return
    before, after = change.before.first_rank, change.after.first_rank
    out.line(f"{_rank(session, before)} → {_rank(session, after)}  ", (f"nDCG {change.by:+.3f}", "dim"), indent=4)
    lists = [_lists(session, case) for case in (change.before, change.after)]
    if lists[0] != lists[1]:
        out.line((" → ".join(lists), "dim"), indent=4)


def _lists(session: Session, case: CaseResult) -> str:
    """Where each list had the first of what was found, or of what should have been."""
    found = min(case.expected, key=lambda one: one.rank if one.rank is not None else 1 << 30)
    places = [session.say("search.rank", arm=session.say(f"arm.{arm}"), rank=rank) for arm, rank in found.lists.items()]
    return session.say("list.separator").join(places) or "-"


def _rank(session: Session, rank: int | None) -> str:
    return session.say("eval.rank", rank=rank) if rank is not None else session.say("eval.not-found")


def _query(query: str) -> str:
    line = one_line(query)
    return line if len(line) <= _LONGEST_QUERY else f"{line[:_LONGEST_QUERY]}…"


def _value(value: Any) -> str:
    return "-" if value is None else str(value)


def _shown_measures(measures: Mapping[str, float]) -> list[str]:
    return [name for name in measures if _kind(name) in _SHOWN_MEASURES]


def _kind(measure: str) -> str:
    return measure.partition("@")[0]


def _title(measure: str) -> str:
    kind, at, depth = measure.partition("@")
    return f"{_TITLES.get(kind, kind)}{at}{depth}"


def _numbers(measures: Mapping[str, float], names: Sequence[str]) -> list[Part]:
    return [_number(measures.get(name)) for name in names]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _time(milliseconds: int) -> str:
    """A moment in local time, to the minute."""
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000).astimezone()
    return moment.isoformat(sep=" ", timespec="minutes")[:16]
