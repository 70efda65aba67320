"""`wenyuan sources`, `wenyuan sync` and `wenyuan watch`: folders and pages that are kept in step with."""

from __future__ import annotations

import datetime
import logging
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from wenyuan.doors.cli.adding import reason_text, show_interrupted
from wenyuan.doors.cli.output import Column, Part, json_line, one_line
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import DOCUMENT_AT_FAULT, INTERRUPTED, OK, Given, Session
from wenyuan.errors import InvalidValue

if TYPE_CHECKING:
    from wenyuan.runtime.library import Library
    from wenyuan.runtime.sources import SourceView, SyncReport

_CHANGES_SHOWN = 50
_INTERVAL = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(s|m|min|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_STYLES = {"active": "green", "paused": "dim", "removing": "yellow"}


commands = App(name="sources", help="Sources: folders and pages that a knowledge base keeps in step with.")


@commands.command
def add(
    location: str,
    /,
    *,
    kb: str | None = None,
    exclude: list[str] | None = None,
    watch: bool = False,
    adopt: bool = False,
    every: str | None = None,
    allow_private: bool = False,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Keep a knowledge base in step with a folder or a page, beginning now.

    Parameters
    ----------
    location
        A folder, or the URL of a page.
    kb
        Knowledge base to keep in step; else the default one.
    exclude
        Glob pattern of names or paths in the folder to leave out; may be given several times.
    watch
        Let every `wenyuan worker` that runs on follow the folder; else it is brought in by `wenyuan sync`.
    adopt
        Take documents of the folder that were added by hand before as its own, to be deleted with their files.
    every
        How often to look at the page again, such as 12h or 1d; else only by `wenyuan sync`.
    allow_private
        Fetch the page even if it lies in your own network.
    wait
        Bring in and read now what is there (the default), or leave that to `wenyuan sync` and `wenyuan worker`.
    """
    with session.open(create=True) as library:
        source = library.sources.add(
            location,
            kb=kb,
            exclude=exclude or (),
            watch=watch,
            adopt=adopt,
            every=_interval(every),
            allow_private=allow_private,
        )
        if not wait:
            view = library.sources.show(source.id)
            session.show(view, lambda: _show_one(session, view))
            return OK
        return _synced(session, library, (source.id,), dry_run=False, allow_empty=False, wait=True)


@commands.command(name="list")
def show_all(*, session: Given) -> int:
    """List the sources and how they stand."""
    with session.open() as library:
        views = library.sources.list()
    session.show(views, lambda: _show_list(session, views))
    return OK


@commands.command
def show(source: str, /, *, session: Given) -> int:
    """Show one source, with the files that could not be taken in.

    Parameters
    ----------
    source
        Its id, folder or URL.
    """
    with session.open() as library:
        view = library.sources.show(source)
    session.show(view, lambda: _show_one(session, view))
    return OK


@commands.command
def pause(source: str, /, *, session: Given) -> int:
    """Let a source be until it is resumed; its documents stay as they are.

    Parameters
    ----------
    source
        Its id, folder or URL.
    """
    with session.open() as library:
        view = library.sources.pause(source)
    session.show(view, lambda: session.out.line(session.say("sources.paused", location=view.location), whole=True))
    return OK


@commands.command
def resume(source: str, /, *, session: Given) -> int:
    """Keep a source in step again.

    Parameters
    ----------
    source
        Its id, folder or URL.
    """
    with session.open() as library:
        view = library.sources.resume(source)
    session.show(view, lambda: session.out.line(session.say("sources.resumed", location=view.location), whole=True))
    return OK


@commands.command
def remove(source: str, /, *, keep_documents: bool = False, delete_documents: bool = False, session: Given) -> int:
    """End a source. Your own files stay where they are; say what becomes of their documents.

    Parameters
    ----------
    source
        Its id, folder or URL.
    keep_documents
        They stay, as if they had been added by hand.
    delete_documents
        They go. Without either option you are asked, if there is a terminal to ask at.
    """
    with session.open() as library:
        view = library.sources.show(source)
        keep = keep_documents if keep_documents != delete_documents else _asked_to_keep(session, view)
        deleted = library.sources.remove(source, keep_documents=keep)
    done = {"removed": view.location, "deleted": deleted, "kept": view.counts.documents if keep else 0}
    session.show(done, lambda: session.out.line(session.say("sources.removed", location=view.location, n=deleted)))
    return OK


@commands.command(name="sync")
def sync_group(
    *sources: str,
    kb: str | None = None,
    dry_run: bool = False,
    allow_empty: Annotated[bool, Parameter(name=["--allow-empty", "--force"])] = False,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Bring sources in: the same as `wenyuan sync`.

    Parameters
    ----------
    sources
        Ids, folders or URLs; else all that are not paused. A folder that is no source yet becomes one.
    kb
        Knowledge base that such a folder is kept in step with; else the default one.
    dry_run
        Show what would happen, and change nothing.
    allow_empty
        Delete the documents even of a folder in which nothing is left.
    wait
        Read and embed now what was brought in (the default), or leave that to `wenyuan worker`.
    """
    return sync(*sources, kb=kb, dry_run=dry_run, allow_empty=allow_empty, wait=wait, session=session)


def sync(
    *sources: str,
    kb: str | None = None,
    dry_run: bool = False,
    allow_empty: Annotated[bool, Parameter(name=["--allow-empty", "--force"])] = False,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Bring folders and pages that are kept in step up to date, once.

    Ends with exit code 4 where a source or a file could not be read; what is known of it stays.

    Parameters
    ----------
    sources
        Ids, folders or URLs; else all that are not paused. A folder that is no source yet becomes one.
    kb
        Knowledge base that such a folder is kept in step with; else the default one.
    dry_run
        Show what would happen, and change nothing.
    allow_empty
        Delete the documents even of a folder in which nothing is left.
    wait
        Read and embed now what was brought in (the default), or leave that to `wenyuan worker`.
    """
    with session.open(create=bool(sources)) as library:
        return _synced(session, library, sources, kb=kb, dry_run=dry_run, allow_empty=allow_empty, wait=wait)


def watch(
    *sources: str,
    kb: str | None = None,
    work: Annotated[bool, Parameter(name="--work", negative="--no-work")] = True,
    session: Given,
) -> int:
    """Follow folders, and bring in what changes, until Ctrl-C or SIGTERM.

    With --json, one line of JSON is written for each pass.

    Parameters
    ----------
    sources
        Ids or folders; else all that are not paused. A folder that is no source yet becomes one.
    kb
        Knowledge base that such a folder is kept in step with; else the default one.
    work
        Also read and embed what was brought in (the default), or leave that to `wenyuan worker`.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    # A request to end takes the way of Ctrl-C, which stops everything cleanly.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with session.open(create=bool(sources)) as library:
        session.notes.line(session.say("watch.started"))
        try:
            with Watching(session) as progress:
                library.sources.watch(
                    *sources, kb=kb, work=work, on_report=lambda report: _tell(session, report), watch=progress
                )
        except KeyboardInterrupt:
            show_interrupted(session, library)
            return INTERRUPTED
    return OK


def _synced(
    session: Session,
    library: Library,
    sources: tuple[str, ...],
    *,
    kb: str | None = None,
    dry_run: bool,
    allow_empty: bool,
    wait: bool,
) -> int:
    progress = Watching(session)
    try:
        with progress:
            reports = library.sources.sync(
                *sources,
                kb=kb,
                dry_run=dry_run,
                allow_empty=allow_empty,
                wait=wait,
                on_change=lambda one: progress.received() if one.what in ("added", "updated") else None,
                watch=progress,
            )
    except KeyboardInterrupt:
        show_interrupted(session, library, taking_in=not progress.is_working)
        return INTERRUPTED
    failed = _failed(library, reports) if wait and not dry_run else 0
    session.show(reports, lambda: _show_reports(session, library, reports, failed))
    at_fault = failed or any(report.problem is not None or report.problems for report in reports)
    return DOCUMENT_AT_FAULT if at_fault else OK


def _failed(library: Library, reports: Iterable[SyncReport]) -> int:
    """How many documents of sources could not be read."""
    bases = {report.source.knowledge_base_id for report in reports}
    sources = {report.source.id for report in reports}
    views = (view for base in bases for view in library.documents.list(base, failed=True))
    return sum(view.document.source_id in sources for view in views)


def _interval(every: str | None) -> float | None:
    if every is None:
        return None
    found = _INTERVAL.fullmatch(every.strip().lower())
    if found is None:
        raise InvalidValue(what="--every", value=every, reason="it must be a number and s, m, h, d or w, such as 12h")
    return float(found[1]) * _SECONDS[found[2]]


def _asked_to_keep(session: Session, view: SourceView) -> bool:
    """Whether the documents are to stay. Raises `InvalidValue` where nobody can be asked."""
    if session.json or not sys.stdin.isatty():
        reason = "say --keep-documents or --delete-documents"
        raise InvalidValue(what="What becomes of the documents", value="left open", reason=reason)
    session.notes.line(session.say("sources.keep?", n=view.counts.documents))
    return sys.stdin.readline().strip().lower() not in ("n", "no", "否")


# --- What is shown -------------------------------------------------------------------------------


def _show_reports(session: Session, library: Library, reports: list[SyncReport], failed: int) -> None:
    say, out = session.say, session.out
    if not reports and library.sources.list():
        out.line(say("sources.paused"), session.command("sources list"), whole=True)
    elif not reports:
        out.line(say("sources.none"), session.command(say("next.source")), whole=True)
    for report in reports:
        _show_report(session, report)
    if failed:
        out.line(
            (say("note"), "bold yellow"), say("sync.failed", n=failed, command=session.command("docs list --failed"))
        )


def _show_report(session: Session, report: SyncReport) -> None:
    say, out = session.say, session.out
    counts = Counter(change.what for change in report.changes)
    parts = [say(f"sync.{what}", n=n) for what, n in counts.items()]
    if report.unchanged or not parts:
        parts.append(say("add.unchanged", n=report.unchanged))
    key = "sync.would" if report.is_dry_run else "sync.did"
    counted = say("list.separator").join(parts)
    out.line((say(key, location=_location(report), counts=counted), "bold"), whole=True)
    for change in report.changes[:_CHANGES_SHOWN]:
        moved = say("sync.from", path=one_line(change.previous)) if change.previous else ""
        out.line(f"{say(f'sync.what.{change.what}')} {one_line(change.path)}{moved}", indent=2, whole=True)
    if len(report.changes) > _CHANGES_SHOWN:
        out.line(say("sync.more", n=len(report.changes) - _CHANGES_SHOWN), indent=2)
    if report.passed_over:
        reasons = say("list.separator").join(f"{n} {reason_text(session, why)}" for why, n in report.passed_over)
        out.line(say("add.passed-over", reasons=reasons))
    if report.kept:
        out.line(say("sync.kept", n=report.kept))
    if report.problem is not None:
        session.show_problem(report.problem, out)
    session.show_problems(report.problems)


def _tell(session: Session, report: SyncReport) -> None:
    """One pass of many, while folders are followed."""
    if session.json:
        sys.stdout.write(json_line(report))
    elif report.changes or report.problems or report.problem is not None:
        moment = datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")[:19]
        session.out.line((moment, "dim"))
        _show_report(session, report)
    sys.stdout.flush()


def _location(report: SyncReport) -> str:
    return one_line(report.location)


def _show_list(session: Session, views: list[SourceView]) -> None:
    say = session.say
    if not views:
        session.out.line(say("sources.none"), session.command(say("next.source")), whole=True)
        return
    columns = [
        Column(say("column.id"), whole=True),
        Column(say("column.source")),
        Column(say("column.kb")),
        Column(say("column.state"), whole=True),
        Column(say("column.documents"), "right", whole=True),
        Column(say("column.checked"), whole=True),
    ]
    rows: list[list[Part]] = []
    for view in views:
        source = view.source
        documents = str(view.counts.documents)
        state = _state(session, view)
        rows.append([source.id, view.location, view.knowledge_base, state, documents, _time(source.checked_at)])
    session.out.table(columns, rows)
    session.show_problems([(view.location, one) for view in views if (one := view.source.problem) is not None])


def _state(session: Session, view: SourceView) -> Part:
    source = view.source
    if source.problem is not None:
        return session.say("source.problem"), "bold red"
    key = "watched" if source.watch and source.state == "active" else source.state
    return session.say(f"source.{key}"), _STYLES[source.state]


def _show_one(session: Session, view: SourceView) -> None:
    say, source = session.say, view.source
    every = say("source.every", seconds=source.every_ms // 1000) if source.every_ms else ""
    facts: list[tuple[str, Part]] = [
        ("column.id", source.id),
        ("column.source", view.location),
        ("column.kb", view.knowledge_base),
        ("column.state", _state(session, view)),
        ("column.documents", str(view.counts.documents)),
        ("column.files", str(view.counts.files) if source.kind == "folder" else ""),
        ("column.excluded", say("list.separator").join(source.exclude)),
        ("column.interval", every),
        ("column.checked", _time(source.checked_at)),
        ("column.fetched", _time(source.fetched.at or None)),
        ("column.address", source.fetched.address if source.fetched.address != source.location else ""),
    ]
    for title, value in facts:
        if value:
            session.out.line((f"{say(title)}: ", "bold"), value, whole=True)
    if source.problem is not None:
        session.show_problem(source.problem, session.out)
    session.show_problems(view.file_problems)


def _time(milliseconds: int | None) -> str:
    """A moment in local time, to the second (ISO 8601)."""
    if milliseconds is None:
        return ""
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000).astimezone()
    return moment.isoformat(sep=" ", timespec="seconds")[:19]
