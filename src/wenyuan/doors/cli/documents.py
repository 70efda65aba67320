"""`wenyuan docs`: documents, how they stand, their passages, and the way back to a cited place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.output import Column, Part, as_json, one_line
from wenyuan.doors.cli.places import anchor_label, clickable, heading_label
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import DOCUMENT_AT_FAULT, INTERRUPTED, OK, Given, Session
from wenyuan.types import Chunk, Problem

if TYPE_CHECKING:
    from wenyuan.runtime.documents import DocumentView, Place
    from wenyuan.runtime.library import Library

_PAGE = 500
_STYLES = {"ready": "green", "failed": "bold red", "pending": "yellow", "processing": "yellow"}


commands = App(name="docs", help="Documents: how they stand, their passages, and the way back to a cited place.")


@commands.command(name="list")
def show_all(*, kb: str | None = None, paths: bool = False, session: Given) -> int:
    """List the documents of a knowledge base and how each stands.

    Parameters
    ----------
    kb
        Name or id of the knowledge base; else the default one.
    paths
        Show where each was added from; without this, only where several have the same name.
    """
    with session.open() as library:
        views = list(_all(library, kb))
    session.show(views, lambda: _show_list(session, views, paths=paths))
    return OK


@commands.command
def show(document: str, /, *, session: Given) -> int:
    """Show everything known about one document.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    """
    with session.open() as library:
        view = library.documents.show(document)
        jobs = library.documents.jobs(document)
    session.show({**as_json(view), "jobs": jobs}, lambda: _show_one(session, view))
    return OK


@commands.command(name="open")
def open_place(citation: str, /, *, session: Given) -> int:
    """Show a cited passage where it stands, with the text around it.

    Parameters
    ----------
    citation
        Id of a passage, as a search prints it.
    """
    with session.open() as library:
        place = library.documents.open(citation)
    session.show(place, lambda: _show_place(session, place))
    return OK


@commands.command
def chunks(document: str, /, *, first: int = 0, limit: int = 100, session: Given) -> int:
    """Show the passages a document was cut into.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    first
        Number of the first passage to show, from 0.
    limit
        How many to show at most.
    """
    with session.open() as library:
        found = library.documents.chunks(document, first, limit)
        revision = library.documents.show(document).document.serving_revision_id
    session.show(found, lambda: _show_chunks(session, found, revision or ""))
    return OK


@commands.command
def enable(document: str, /, *, session: Given) -> int:
    """Let a document be found again.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    """
    return _switch(session, document, enabled=True)


@commands.command
def disable(document: str, /, *, session: Given) -> int:
    """Keep a document, but out of every search.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    """
    return _switch(session, document, enabled=False)


@commands.command
def retry(
    document: str,
    /,
    *,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Put a failed or cancelled document, or its failed vectors, back to work.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    wait
        Do the work now (the default), or leave it to `wenyuan worker`.
    """
    with session.open() as library:
        view = library.documents.retry(document)
        if wait:
            try:
                with Watching(session) as watch:
                    library.drain(watch=watch)
            except KeyboardInterrupt:
                show_interrupted(session, library)
                return INTERRUPTED
            view = library.documents.show(view.document.id)
    session.show(view, lambda: _show_one(session, view))
    return DOCUMENT_AT_FAULT if view.latest.state == "failed" else OK


@commands.command
def cancel(document: str, /, *, session: Given) -> int:
    """Stop the work on a document; what it served before goes on being found.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    """
    with session.open() as library:
        view = library.documents.cancel(document)
    session.show(view, lambda: session.out.line(session.say("docs.cancelled", name=view.document.name)))
    return OK


@commands.command
def delete(document: str, /, *, session: Given) -> int:
    """Delete a document from the library; the file that was added stays where it is.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    """
    with session.open() as library:
        found = library.documents.show(document).document
        library.documents.delete(found.id)
    done = {"deleted": found.id, "name": found.name}
    session.show(done, lambda: session.out.line(session.say("docs.deleted", name=found.name)))
    return OK


def _switch(session: Session, document: str, *, enabled: bool) -> int:
    with session.open() as library:
        view = library.documents.switch(document, enabled=enabled)
    done = "docs.enabled" if enabled else "docs.disabled"
    session.show(view, lambda: session.out.line(session.say(done, name=view.document.name)))
    return OK


def _all(library: Library, kb: str | None) -> Iterator[DocumentView]:
    after = ""
    while page := library.documents.list(kb, after, _PAGE):
        yield from page
        after = page[-1].document.id


def _state(session: Session, view: DocumentView) -> Part:
    if not view.document.enabled:
        return session.say("state.disabled"), "dim"
    state = session.say(f"state.{view.latest.state}")
    text = session.say("docs.updating", state=state) if view.updating else state
    return text, _STYLES.get(view.latest.state, "")


def _semantic(session: Session, view: DocumentView) -> Part:
    semantic = view.semantic
    if semantic.state == "none":
        return "-"
    text = session.say(f"semantic.{semantic.state}")
    counted = semantic.state == "pending" and semantic.total
    return f"{text} {semantic.done}/{semantic.total}" if counted else text, _STYLES.get(semantic.state, "")


def _show_list(session: Session, views: list[DocumentView], *, paths: bool) -> None:
    say = session.say
    if not views:
        session.out.line(say("docs.none"), session.command(say("next.add")), whole=True)
        return
    out, noticed = session.out, any(view.latest.notices for view in views)
    paths = paths or len({view.document.name for view in views}) < len(views)
    columns = [
        Column(say("column.id"), whole=True),
        Column(say("column.source" if paths else "column.name")),
        Column(say("column.state"), whole=True),
        Column(say("column.semantic"), whole=True),
        Column(say("column.chunks"), "right", whole=True),
        *([Column(say("column.notices"), "right", whole=True)] if noticed else []),
        # A terminal is too narrow for sentences beside the rest: there they follow below.
        *([] if out.is_terminal else [Column(say("column.reason"))]),
    ]
    rows: list[list[Part]] = []
    for view in views:
        name = view.document.source if paths else view.document.name
        row = [view.document.id, name, _state(session, view), _semantic(session, view)]
        row.append(str(view.latest.chunk_count))
        row += [str(len(view.latest.notices))] if noticed else []
        rows.append(row if out.is_terminal else [*row, session.reason(_problem(view))])
    out.table(columns, rows)
    if out.is_terminal:
        problems = [(view.document.name, _problem(view)) for view in views]
        session.show_problems([(name, problem) for name, problem in problems if problem is not None])


def _problem(view: DocumentView) -> Problem | None:
    return view.latest.problem or view.waiting or view.semantic.problem


def _show_one(session: Session, view: DocumentView) -> None:
    say, out, latest = session.say, session.out, view.latest
    facts: list[tuple[str, Part]] = [
        ("column.name", view.document.name),
        ("column.id", view.document.id),
        ("column.source", view.document.source),
        ("column.kb", view.knowledge_base),
        ("column.state", _state(session, view)),
        ("column.searchable", say("yes") if view.searchable else say("no")),
        ("column.semantic", _semantic(session, view)),
        ("column.type", " · ".join(filter(None, (latest.media_type, latest.encoding, latest.language)))),
        ("column.title", latest.title),
        ("column.size", say("docs.size", size=latest.size, chunks=latest.chunk_count, length=latest.text_length)),
    ]
    for title, value in facts:
        if value:
            out.line((f"{say(title)}: ", "bold"), value, whole=True)
    for notice in latest.notices:
        out.line((say("note"), "bold yellow"), notice.message)
    for problem in (latest.problem, view.waiting, view.semantic.problem):
        if problem is not None:
            session.show_problem(problem, out)


def _show_place(session: Session, place: Place) -> None:
    say, out = session.say, session.out
    where = [anchor_label(say, place.anchor), heading_label(place.heading_path)]
    out.line((one_line(place.document.name), "bold cyan"), f"  {' · '.join(filter(None, where))}")
    out.line((clickable(place.document.source, place.anchor), "dim"), whole=True)
    if place.changed_since:
        out.line((say("note"), "bold yellow"), say("docs.changed-since"))
    out.line("")
    out.line((place.before, "dim"), (place.passage, "bold"), (place.after, "dim"))


def _show_chunks(session: Session, found: list[Chunk], revision: str) -> None:
    for chunk in found:
        where = [anchor_label(session.say, chunk.anchor), heading_label(chunk.heading_path)]
        session.out.line((f"{revision}.{chunk.seq}", "bold cyan"), f"  {' · '.join(filter(None, where))}")
        if chunk.context:
            session.out.line((chunk.context, "dim"), indent=2)
        session.out.line(chunk.text, indent=2)
        session.out.line("")
