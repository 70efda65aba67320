"""`wenyuan init` and `wenyuan add`."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from wenyuan.doors.cli.passwords import read_password
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import DOCUMENT_AT_FAULT, INTERRUPTED, OK, Given, Session
from wenyuan.errors import DocumentNotFound, InvalidValue
from wenyuan.types import Problem

if TYPE_CHECKING:
    from wenyuan.runtime.documents import DocumentView
    from wenyuan.runtime.library import Library


STANDARD_INPUT = "/dev/stdin"
"""What a hyphen stands for among the paths to add."""

_ALWAYS_COUNTED = ("added", "updated", "unchanged", "retried")
_OUTCOMES = (*_ALWAYS_COUNTED, "replaced", "skipped", "blocked")
_PUT_OFF = ("page-unavailable",)
"""Problems that pass by themselves."""


def init(path: Path | None = None, /, *, session: Given) -> int:
    """Make a library, with its default knowledge base.

    Parameters
    ----------
    path
        Folder to make it in; else the one that --library or $WENYUAN_LIBRARY names, or the usual one.
    """
    if path is not None:
        session = replace(session, path=str(path))
    existed = Path(session.library, "wenyuan.db").exists()
    with session.open(create=True) as library:
        session.show({"library": library.path, "created": not existed}, lambda: _show_made(session, library, existed))
    return OK


def _show_made(session: Session, library: Library, existed: bool) -> None:
    say, out = session.say, session.out
    out.line(say("init.existed" if existed else "init.made"), (str(library.path), "bold"), whole=True)
    out.line(say("next"), session.command(say("next.add")), whole=True)


def add(
    *paths: Annotated[str, Parameter(required=True)],
    kb: str | None = None,
    exclude: list[str] | None = None,
    meta: list[str] | None = None,
    name: str | None = None,
    allow_private: bool = False,
    password_file: str | None = None,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Add files, folders and pages; what was added before is updated where it changed.

    Ends with exit code 4 where a file could not be read; the others are in nevertheless.

    Parameters
    ----------
    paths
        Files, folders and URLs to add; a single `-` adds the text that comes from standard input.
    kb
        Knowledge base to add to; else the default one.
    exclude
        Glob pattern of names or paths to leave out; may be given several times.
    meta
        What is known of these files, as `name=value`; may be given several times. A date or a version given here is
        found like one that stands in the file, and goes before it; all of it serves `--filter`.
    name
        What to call the text from standard input; the same name again replaces it.
    allow_private
        Fetch pages even from your own network.
    password_file
        File whose first line is the password of the files that are named; `-` reads it from standard input, or asks.
        It is kept in the library, to read them again.
    wait
        Read and embed the files now (the default), or leave that to `wenyuan worker`.
    """
    text = _standard_input(name) if paths == (STANDARD_INPUT,) else ""
    if name is not None and paths != (STANDARD_INPUT,):
        raise InvalidValue(what="--name", value=name, reason="it is for the text from standard input, `add -`")
    password = read_password(password_file, session.say("password.ask"))
    with session.open(create=True) as library:
        _show_missing_model(session, library, kb)
        watch = Watching(session)
        try:
            with watch:
                if name is not None:
                    received = [library.add_text(text, name, kb=kb, metadata=_metadata(meta), wait=False)]
                    passed_over: dict[str, int] = {}
                    if wait:
                        library.drain(watch=watch)
                else:
                    report = library.add(
                        *paths,
                        kb=kb,
                        exclude=exclude or (),
                        metadata=_metadata(meta),
                        wait=wait,
                        watch=watch,
                        on_received=lambda one: watch.received() if one.outcome not in (None, "unchanged") else None,
                        allow_private=allow_private,
                        password=password,
                    )
                    received, passed_over = list(report.received), dict(report.passed_over)
        except KeyboardInterrupt:
            show_interrupted(session, library, taking_in=not watch.is_working)
            return INTERRUPTED
        taken = [Added(one.source, one.outcome, one.document_id, one.problem) for one in received]
        summary = _summary(library, kb, taken, passed_over, settled=wait)
    session.show(summary, lambda: _show_summary(session, summary))
    return DOCUMENT_AT_FAULT if summary.failed else OK


def _show_missing_model(session: Session, library: Library, kb: str | None) -> None:
    """Say before anything is read that what is added will be found by its words alone, and what to do about it."""
    base = library.knowledge_bases.find(kb)
    problem = library.model_registry.embedding_problem(base)
    if problem is not None:
        session.notes.line((session.say("note"), "bold yellow"), session.say("add.no-model", kb=base.name))
        session.show_problem(problem, session.notes, indent=2)


def _standard_input(name: str | None) -> str:
    """The text from standard input. Raises `InvalidValue` where it has no name, or is not UTF-8."""
    if name is None:
        raise InvalidValue(what="A text from standard input", value="-", reason="it needs a --name")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValue(what="A text from standard input", value=name, reason="it is not in UTF-8") from error


def _metadata(pairs: list[str] | None) -> dict[str, str] | None:
    if pairs is None:
        return None
    for pair in pairs:
        if "=" not in pair:
            raise InvalidValue(what="--meta", value=pair, reason="it must be a name, an equals sign and a value")
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one file. `outcome` is None where it was not even taken in."""

    source: str
    outcome: str | None
    document_id: str | None
    problem: Problem | None = None
    semantic: str = ""
    notices: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    knowledge_base: str
    counts: dict[str, int]
    passed_over: dict[str, int]
    files: list[Added]
    failed: list[Added] = field(default_factory=list)
    waiting: list[Problem] = field(default_factory=list)
    semantic_problems: list[Problem] = field(default_factory=list)
    settled: bool = True
    blocked: list[Added] = field(default_factory=list)


def _summary(
    library: Library, kb: str | None, taken: list[Added], passed_over: dict[str, int], *, settled: bool
) -> Summary:
    waiting: dict[str, Problem] = {}
    semantic: dict[str, Problem] = {}
    files = []
    for one in taken:
        view = _view(library, one) if settled else None
        if view is not None:
            failed = view.latest.state == "failed"
            problem = view.latest.problem if failed else _lasting(one)
            one = replace(one, problem=problem, semantic=view.semantic.state, notices=len(view.latest.notices))
            if view.waiting is not None:
                waiting[view.waiting.message] = view.waiting
            if view.semantic.problem is not None:
                semantic[view.semantic.problem.message] = view.semantic.problem
        files.append(one)
    for one in files:
        if one.problem is not None and one.problem.code in _PUT_OFF:
            waiting[one.problem.message] = one.problem
    blocked = [one for one in files if one.outcome == "blocked" and one.problem is not None]
    failed_files = [
        one for one in files if one.problem is not None and one.problem.code not in _PUT_OFF and one not in blocked
    ]
    counts = Counter(one.outcome for one in files if one not in failed_files and one.outcome is not None)
    return Summary(
        library.knowledge_bases.find(kb).name,
        {outcome: counts[outcome] for outcome in _OUTCOMES if counts[outcome] or outcome in _ALWAYS_COUNTED},
        passed_over,
        files,
        failed_files,
        list(waiting.values()),
        list(semantic.values()),
        settled,
        blocked,
    )


def _lasting(one: Added) -> Problem | None:
    """The problem of a file that was taken in: that it is blocked, or could not be fetched now."""
    return one.problem if one.outcome == "blocked" or (one.problem and one.problem.code in _PUT_OFF) else None


def _view(library: Library, one: Added) -> DocumentView | None:
    if one.document_id is None:
        return None
    try:
        return library.documents.show(one.document_id)
    except DocumentNotFound:
        # Deleted by someone else since it was added.
        return None


def _show_summary(session: Session, summary: Summary) -> None:
    say, out = session.say, session.out
    taken = sum(summary.counts.values())
    if not summary.files:
        out.line(say("add.nothing"))
    else:
        parts = [say(f"add.{outcome}", n=n) for outcome, n in summary.counts.items() if n]
        counted = say("list.separator").join(parts) or say("add.none")
        out.line((say("add.summary", kb=summary.knowledge_base, counts=counted), "bold"))
    if summary.passed_over:
        reasons = say("list.separator").join(
            f"{n} {reason_text(session, why)}" for why, n in summary.passed_over.items()
        )
        out.line(say("add.passed-over", reasons=reasons))
    _show_problems(session, summary)
    if noted := sum(1 for one in summary.files if one.notices):
        out.line(say("add.notices", n=noted, command=session.command("docs list")))
    if taken and not summary.settled:
        out.line(say("add.queued"), session.command("worker --drain"), whole=True)
    elif taken:
        out.line(say("next"), session.command(say("next.ask")), whole=True)


def reason_text(session: Session, why: str) -> str:
    """Why something was passed over: a type as it is written, or a sentence."""
    return why if why.startswith(".") else session.say(f"passed-over.{why}")


def _show_problems(session: Session, summary: Summary) -> None:
    say, out = session.say, session.out
    if summary.failed:
        out.line((say("add.failed", n=len(summary.failed)), "bold red"))
    session.show_problems([(one.source, one.problem) for one in summary.failed if one.problem is not None])
    if summary.blocked:
        out.line((say("add.kept-blocked", n=len(summary.blocked)), "bold yellow"))
    session.show_problems([(one.source, one.problem) for one in summary.blocked if one.problem is not None])
    for heading, problems in (("add.waiting", summary.waiting), ("add.semantic-failed", summary.semantic_problems)):
        for problem in problems:
            out.line((say(heading), "bold yellow"))
            session.show_problem(problem, out, indent=2)


def show_interrupted(session: Session, library: Library, *, taking_in: bool = False) -> None:
    """Say what is left and how to go on, after Ctrl-C; `taking_in` if not every file was even stored."""
    progress = library.jobs.progress()
    files = progress.files_queued + sum(job.kind == "ingest" for job in progress.running)
    passages = max(0, progress.chunks_total - progress.chunks_embedded)
    command = session.command("worker --drain")
    value: dict[str, Any] = {
        "error": {
            "code": "interrupted",
            "message": session.say("interrupted.left", files=files, passages=passages),
            "hint": session.say("interrupted.again") if taking_in else session.say("interrupted.hint", command=command),
        },
        "files_left": files,
        "passages_left": passages,
    }
    session.show(value, lambda: _show_left(session, value["error"]))


def _show_left(session: Session, error: dict[str, str]) -> None:
    session.notes.line((error["message"], "bold yellow"))
    session.notes.line((session.say("hint"), "bold"), error["hint"], whole=True)
