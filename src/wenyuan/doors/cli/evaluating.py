"""`wenyuan eval`: questions with known answers are asked, measured, and compared with the last time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

from cyclopts import App, Parameter

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.evaluation_pages import show_comparison, show_failures, show_run, show_runs
from wenyuan.doors.cli.filtering import FilterOption, filters_of
from wenyuan.doors.cli.interrupting import Interruption, interrupted_between_steps
from wenyuan.doors.cli.output import json_line
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import DOCUMENT_AT_FAULT, INTERRUPTED, OK, REGRESSED, Given, Session
from wenyuan.errors import FileUnreadable

if TYPE_CHECKING:
    import rich.progress

    from wenyuan.runtime.evaluation import CaseResult, Comparison, Imported
    from wenyuan.runtime.library import Library

_NO_MODEL = "none"
_NO_RUN = "none"
_SECONDS_BETWEEN_LINES = 5.0
_CASES_SHOWN = 20

FailOn = Literal["auto", "significant", "case", "never"]


commands = App(name="eval", help="Evaluation: questions with known answers, asked and measured again and again.")


@commands.command
def run(
    evaluation_set: Path,
    /,
    *,
    kb: list[str] | None = None,
    tag: list[str] | None = None,
    sample: int | None = None,
    qrels: Path | None = None,
    cutoff: int = 10,
    arms: bool = False,
    jobs: int = 1,
    against: str | None = None,
    fail_on: FailOn = "auto",
    fail_below: list[str] | None = None,
    shown: int = _CASES_SHOWN,
    out: Path | None = None,
    trec_run: Path | None = None,
    trec_qrels: Path | None = None,
    session: Given,
) -> int:
    """Ask every question of a set, measure what was found, and compare it with the last run.

    Ends with exit code 7 where the run is not good enough: something became significantly worse (p below .05), a
    question of a set of fewer than 50 that passed before fails now, or a measure lies below --fail-below.

    Parameters
    ----------
    evaluation_set
        A YAML or JSON Lines file, a pack folder or its nosource.json, or TREC topics.
    kb
        Knowledge base to ask instead of those the set names; may be given several times.
    tag
        Ask only the questions with this tag; may be given several times.
    sample
        Ask so many questions only, evenly spread over the set.
    qrels
        Judgements that go with TREC topics.
    cutoff
        How far down a ranking counts.
    arms
        Search by each list alone as well.
    jobs
        How many questions to ask at a time; times are only comparable with 1.
    against
        Run to compare with, by its id; `none` for no comparison. Else the last complete run of the set.
    fail_on
        What makes the run fail: significant drops of a mean, each case that passed before, or never. With auto, cases
        count in sets of fewer than 50.
    fail_below
        The least a measure may be: MEASURE=VALUE or MEASURE[TAG]=VALUE, as in ndcg=0.9; may be given several times.
    shown
        How many questions to show at most, in each list of them.
    out
        File to write every result to as it comes, in JSON Lines.
    trec_run
        File to write the rankings to, as a TREC run.
    trec_qrels
        File to write what was expected to, as TREC judgements.
    """
    with session.open() as library:
        # What is asked for wrongly is told before anything is asked of the library, which may take long.
        thresholds = library.evaluation.thresholds(fail_below or (), cutoff)
        before = library.evaluation.show(against).record if against not in (None, _NO_RUN) else None
        asking = _Asking(session, out)
        try:
            with asking:
                made = library.evaluation.run(
                    evaluation_set,
                    qrels=qrels,
                    kb=kb or (),
                    tags=tag or (),
                    sample=sample,
                    cutoff=cutoff,
                    each_arm=arms,
                    jobs=jobs,
                    watch=asking,
                )
        except KeyboardInterrupt:
            _show_left(session, library, asking)
            return INTERRUPTED
        if against is None:
            before = library.evaluation.previous(made.record)
        comparison = library.evaluation.compare(before.id, made.record.id) if before is not None else None
        failed = library.evaluation.failures(made.record, comparison, fail_on, thresholds)
        _write(trec_run, library.evaluation.trec_run(made))
        _write(trec_qrels, library.evaluation.trec_qrels(made))
    value = {"run": made, "comparison": comparison, "failures": failed}

    def render() -> None:
        show_run(session, made, shown)
        if comparison is not None:
            session.out.line("")
            show_comparison(session, comparison, shown)
        show_failures(session, failed)

    session.show(value, render)
    return REGRESSED if failed else OK


@commands.command
def report(
    run: str | None = None,
    /,
    *,
    evaluation_set: Annotated[str | None, Parameter(name="--set")] = None,
    limit: int = 50,
    shown: int = _CASES_SHOWN,
    session: Given,
) -> int:
    """Show one run, or list all of them, newest first.

    Parameters
    ----------
    run
        Its id; `last` for the newest.
    evaluation_set
        List only the runs of the set with this name.
    limit
        How many runs to list at most.
    shown
        How many of the questions that did not pass to show at most.
    """
    with session.open() as library:
        if run is None:
            runs = library.evaluation.runs(evaluation_set, limit)
            session.show(runs, lambda: show_runs(session, runs))
            return OK
        found = library.evaluation.show(run)
    session.show(found, lambda: show_run(session, found, shown))
    return OK


@commands.command
def diff(before: str, after: str = "last", /, *, shown: int = _CASES_SHOWN, session: Given) -> int:
    """Show what changed between two runs, down to each question, with the probability that it is chance.

    Parameters
    ----------
    before
        Id of the earlier run.
    after
        Id of the later run; else the newest.
    shown
        How many questions to show at most, of those that became worse and of those that became better.
    """
    with session.open() as library:
        comparison: Comparison = library.evaluation.compare(before, after)
    session.show(comparison, lambda: show_comparison(session, comparison, shown))
    return OK


@commands.command
def add(
    evaluation_set: Path,
    question: str | None = None,
    /,
    *,
    trace: str | None = None,
    expect: list[str] | None = None,
    id: str | None = None,
    tag: list[str] | None = None,
    kb: list[str] | None = None,
    filters: FilterOption = None,
    session: Given,
) -> int:
    """Add a question to the end of a YAML or JSON Lines set; what is written there stays as it is.

    Parameters
    ----------
    evaluation_set
        The file; it is made where there is none.
    question
        The question; one that begins with a hyphen goes behind `--`.
    trace
        Take the question of this trace instead, as every search prints its id.
    expect
        What should be found: a document by id, path or name, or a passage by its id, as search shows it; may be given
        several times. The word nothing says that nothing should be found.
    id
        What to call the case; else it is known by its question.
    tag
        Word to group it by in reports; may be given several times.
    kb
        Knowledge base to ask; may be given several times. Else those of the trace, or all.
    filters
        Field of documents and what it must be, as in search; may be given several times.
    """
    with session.open() as library:
        case = library.evaluation.add_case(
            evaluation_set,
            question,
            trace=trace,
            expect=expect or (),
            case_id=id,
            tags=tag or (),
            kb=kb or (),
            filters=filters_of(filters),
        )
    session.show(case, lambda: session.out.line(session.say("eval.added", id=case.id, path=evaluation_set)))
    return OK


@commands.command(name="import")
def import_pack(
    pack: Path,
    /,
    *,
    kb: str | None = None,
    embedding_model: str | None = None,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Put the documents of a pack into a knowledge base of its own; run again, it adds what is missing.

    Parameters
    ----------
    pack
        Folder with corpus.jsonl, queries.jsonl and qrels.tsv.
    kb
        Knowledge base to put them in; else one named like the folder, made where there is none.
    embedding_model
        Name of a configured embedding model for a new one; `none` for keyword search alone. Else the default model.
    wait
        Read and embed the documents now (the default), or leave that to `wenyuan worker`.
    """
    model = "" if embedding_model == _NO_MODEL else embedding_model
    with session.open(create=True) as library:
        try:
            with Watching(session) as watch:
                made = library.evaluation.import_pack(pack, kb=kb, embedding_model=model, wait=wait, watch=watch)
        except KeyboardInterrupt:
            show_interrupted(session, library, taking_in=not watch.is_working)
            return INTERRUPTED
    session.show(made, lambda: _show_imported(session, made, pack))
    return DOCUMENT_AT_FAULT if any(one.refused or one.failed for one in made) else OK


@commands.command
def delete(run: str, /, *, session: Given) -> int:
    """Forget a run.

    Parameters
    ----------
    run
        Its id.
    """
    with session.open() as library:
        library.evaluation.delete(run)
    session.show({"deleted": run}, lambda: session.out.line(session.say("eval.deleted", run=run)))
    return OK


class _Asking:
    """Shows how a run goes on, and writes each result to a file as it comes."""

    def __init__(self, session: Session, out: Path | None) -> None:
        self.done = self.total = 0
        self._session = session
        self._path = out
        self._file: TextIO | None = None
        self._bar: rich.progress.Progress | None = None
        self._interruption = Interruption()
        self._open = ExitStack()
        self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __enter__(self) -> _Asking:
        if self._path is not None:
            self._file = self._open.enter_context(_writing(self._path))
        if self._session.notes.is_terminal:
            from rich.progress import Progress

            self._bar = self._open.enter_context(Progress(console=self._session.notes.console))
        self._interruption = self._open.enter_context(interrupted_between_steps())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def __call__(self, done: int, total: int, result: CaseResult) -> None:
        self.done, self.total = done, total
        if self._file is not None:
            self._file.write(json_line(result))
            self._file.flush()
        if self._bar is not None:
            if not self._bar.tasks:
                self._bar.add_task(self._session.say("eval.asking"), total=total)
            self._bar.update(self._bar.tasks[0].id, completed=done)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            self._session.notes.line(self._session.say("eval.asking.line", done=done, total=total))
        self._interruption.raise_if_pending()


@contextmanager
def _writing(path: Path) -> Iterator[TextIO]:
    try:
        with path.open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise FileUnreadable(path=path, reason=error.strerror or error) from error


def _write(path: Path | None, lines: Iterable[str]) -> None:
    if path is not None:
        with _writing(path) as file:
            file.writelines(lines)


def _show_left(session: Session, library: Library, asking: _Asking) -> None:
    kept = library.evaluation.runs(limit=1) if asking.done else []
    run = kept[0].id if kept else ""
    message = session.say("eval.interrupted", done=asking.done, total=asking.total, run=run or "-")
    value: dict[str, Any] = {"error": {"code": "interrupted", "message": message, "hint": ""}, "run": run or None}
    session.show(value, lambda: session.notes.line((message, "bold yellow")))


def _show_imported(session: Session, made: list[Imported], pack: Path) -> None:
    say, out = session.say, session.out
    for one in made:
        parts = [say(f"add.{outcome}", n=n) for outcome, n in one.counts.items()]
        counted = say("list.separator").join(parts) or say("add.none")
        out.line((say("add.summary", kb=one.knowledge_base, counts=counted), "bold"))
        session.show_problems(one.refused)
        if one.failed:
            command = session.command(f"docs list --kb {one.knowledge_base}")
            out.line((say("eval.import-failed", n=one.failed, command=command), "bold red"))
    out.line(say("next"), session.command(f"eval run {pack}"), whole=True)
