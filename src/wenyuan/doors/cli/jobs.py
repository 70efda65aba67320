"""`wenyuan jobs`: what is being done, what waits, and what went wrong."""

from __future__ import annotations

import datetime

from cyclopts import App

from wenyuan.doors.cli.following import Following
from wenyuan.doors.cli.output import Column, Part
from wenyuan.doors.cli.session import INTERRUPTED, OK, Given, Session
from wenyuan.types import Job

_STYLES = {"done": "green", "failed": "bold red", "running": "cyan", "waiting": "yellow"}
_JOBS_SHOWN = 100


commands = App(name="jobs", help="Jobs: what is being done, what waits, and what went wrong.")


@commands.default
def overview(*, watch: bool = False, until_idle: bool = False, after: int | None = None, session: Given) -> int:
    """Show the jobs that are queued, running or put off, or follow what happens to them.

    Followed, each thing that happens is a line, on a terminal a live table, with --json a line of JSON: the file, how
    far it is, how fast, how long that will take, until when it is put off and why.

    Parameters
    ----------
    watch
        Follow what happens, until Ctrl-C.
    until_idle
        With --watch, end when nothing is left to do but what is put off.
    after
        With --watch, go on after the event of this number, as --json tells it.
    """
    if not watch:
        return show_all(live=True, session=session)
    with session.open() as library, Following(session) as follow:
        try:
            for event in library.jobs.watch(after, until_idle=until_idle):
                follow(event)
        except KeyboardInterrupt:
            return INTERRUPTED
    return OK


@commands.command(name="list")
def show_all(*, live: bool = False, limit: int = _JOBS_SHOWN, session: Given) -> int:
    """List the jobs, newest first.

    Parameters
    ----------
    live
        Only those that are queued, running or put off.
    limit
        How many to show at most.
    """
    with session.open() as library:
        jobs = library.jobs.list(only_live=live, limit=limit)
    session.show(jobs, lambda: _show_list(session, jobs))
    return OK


@commands.command
def show(job: str, /, *, session: Given) -> int:
    """Show one job.

    Parameters
    ----------
    job
        Its id.
    """
    with session.open() as library:
        found = library.jobs.show(job)
    session.show(found, lambda: _show_one(session, found))
    return OK


@commands.command
def cancel(job: str, /, *, session: Given) -> int:
    """Cancel a job: at once where it waits, at its next batch where it runs.

    Parameters
    ----------
    job
        Its id.
    """
    with session.open() as library:
        found = library.jobs.cancel(job)
    session.show(found, lambda: _show_one(session, found))
    return OK


def _state(session: Session, job: Job) -> Part:
    state = "cancelling" if job.cancel_requested and job.state == "running" else job.state
    return session.say(f"job.{state}"), _STYLES.get(job.state, "")


def _progress(job: Job) -> str:
    return f"{job.done}/{job.total}" if job.total else ""


def _time(milliseconds: int | None) -> str:
    """A moment in local time, to the second (ISO 8601)."""
    if milliseconds is None:
        return ""
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000).astimezone()
    return moment.isoformat(sep=" ", timespec="seconds")


def _show_list(session: Session, jobs: list[Job]) -> None:
    say = session.say
    if not jobs:
        session.out.line(say("jobs.none"))
        return
    out = session.out
    columns = [
        Column(say("column.id"), whole=True),
        Column(say("column.job"), whole=True),
        Column(say("column.state"), whole=True),
        Column(say("column.progress"), "right", whole=True),
        Column(say("column.created"), whole=True),
        # A terminal is too narrow for sentences beside the rest: there they follow below.
        *([] if out.is_terminal else [Column(say("column.reason"))]),
    ]
    rows: list[list[Part]] = []
    for job in jobs:
        kind = say(f"job.kind.{job.kind}")
        row = [job.id, kind, _state(session, job), _progress(job), _time(job.created_at)[:19]]
        rows.append(row if out.is_terminal else [*row, session.reason(job.problem)])
    out.table(columns, rows)
    if out.is_terminal:
        session.show_problems([(job.id, job.problem) for job in jobs if job.problem is not None])


def _show_one(session: Session, job: Job) -> None:
    say = session.say
    facts: list[tuple[str, Part]] = [
        ("column.id", job.id),
        ("column.job", f"{say(f'job.kind.{job.kind}')} · {job.subject_id}"),
        ("column.state", _state(session, job)),
        ("column.stage", job.stage),
        ("column.progress", _progress(job)),
        ("column.attempts", str(job.attempts)),
        ("column.created", _time(job.created_at)),
        ("column.started", _time(job.started_at)),
        ("column.finished", _time(job.finished_at)),
    ]
    for title, value in facts:
        if value:
            session.out.line((f"{say(title)}: ", "bold"), value)
    if job.problem is not None:
        session.show_problem(job.problem, session.out)
