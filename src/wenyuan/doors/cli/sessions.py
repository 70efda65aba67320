"""`wenyuan sessions`: conversations, and the files that belong to one of them alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.output import Column, Part, one_line
from wenyuan.doors.cli.passwords import read_password
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import DOCUMENT_AT_FAULT, INTERRUPTED, OK, Given, Session
from wenyuan.errors import InvalidValue

if TYPE_CHECKING:
    from wenyuan.runtime.sessions import Attachment, Unread
    from wenyuan.runtime.turns import Turn

SessionOption = Annotated[str | None, Parameter(name="--session")]

commands = App(name="sessions", help="Sessions: conversations, and files that belong to one of them alone.")


@commands.command
def create(title: str = "", /, *, kb: list[str] | None = None, session: Given) -> int:
    """Begin a session.

    Parameters
    ----------
    title
        What it is about.
    kb
        Knowledge base it asks; may be given several times. Else all that are not archived.
    """
    with session.open(create=True) as library:
        made = library.sessions.create(title, kb=kb)
    session.show(made, lambda: session.out.line(session.say("sessions.created", session=made.id)))
    return OK


@commands.command(name="list")
def show_all(*, limit: int = 100, session: Given) -> int:
    """List the sessions, those used last first.

    Parameters
    ----------
    limit
        How many to show at most.
    """
    with session.open() as library:
        found = library.sessions.list(limit)
    say = session.say
    columns = [Column(say("column.id"), whole=True), Column(say("column.name")), Column(say("column.kb"))]
    rows: list[Sequence[Part]] = [
        [one.id, one_line(one.title), say("list.separator").join(one.knowledge_bases or ())] for one in found
    ]
    session.show(found, lambda: session.out.table(columns, rows) if found else session.out.line(say("sessions.none")))
    return OK


@commands.command
def show(name: str, /, *, session: Given) -> int:
    """Show what is attached to a session, and what of it a search cannot use yet and why.

    Parameters
    ----------
    name
        Id of the session.
    """
    with session.open() as library:
        found, attached = library.sessions.find(name), library.sessions.attachments(name)
    session.show({"session": found, "attachments": attached}, lambda: show_attachments(session, attached))
    return OK


@commands.command
def turns(name: str, /, *, limit: int = 50, session: Given) -> int:
    """Show what was said in a session, the newest last.

    Parameters
    ----------
    name
        Id of the session.
    limit
        How many turns to show at most, the newest ones.
    """
    with session.open() as library:
        page = library.turns.page(name, limit=limit)
    session.show(page, lambda: _show_turns(session, page.turns))
    return OK


@commands.command
def judge(
    name: str,
    number: int,
    value: Literal["up", "down", "none"],
    /,
    note: str = "",
    *,
    to_set: Annotated[str, Parameter(name="--case")] = "",
    expect: list[str] | None = None,
    session: Given,
) -> int:
    """Say whether an answer is good, and make a case of an evaluation set of it.

    Parameters
    ----------
    name
        Id of the session.
    number
        Number of the answer, as `wenyuan sessions turns` shows it.
    value
        up, down, or none to take it back.
    note
        Why.
    to_set
        Evaluation set of the library that the question is added to.
    expect
        Document that should be found, by id, path or name, or "nothing"; may be given several times. Else the
        documents that the answer cites.
    """
    with session.open() as library:
        turn = library.turns.judge(name, number, value, note)
        case = library.turns.add_case(name, number, to_set, expect or ()) if to_set else None

    def render() -> None:
        session.out.line(session.say("sessions.judged"))
        if case is not None:
            session.out.line(session.say("sessions.case", name=to_set, question=one_line(case.query)))

    session.show({"turn": turn, "case": case}, render)
    return OK


@commands.command
def export(
    name: str,
    /,
    *,
    form: Annotated[Literal["markdown", "json"], Parameter(name="--format")] = "markdown",
    session: Given,
) -> int:
    """Write a whole session to standard output, its citations as footnotes.

    Parameters
    ----------
    name
        Id of the session.
    form
        As Markdown what holds now, or as JSON all there is.
    """
    with session.open() as library:
        text = library.turns.export(name, form)
    sys.stdout.write(text)
    return OK


@commands.command
def rename(name: str, title: str, /, *, session: Given) -> int:
    """Give a session another title.

    Parameters
    ----------
    name
        Id of the session.
    title
        Its new title.
    """
    with session.open() as library:
        renamed = library.sessions.rename(name, title)
    session.show(renamed, lambda: session.out.line(session.say("sessions.renamed", title=one_line(renamed.title))))
    return OK


@commands.command(name="ask-in")
def ask_in(name: str, /, *kb: str, everywhere: bool = False, session: Given) -> int:
    """Let a session ask other knowledge bases from now on.

    Parameters
    ----------
    name
        Id of the session.
    kb
        Knowledge bases it asks from now on.
    everywhere
        All that are not archived, in place of some.
    """
    if everywhere == bool(kb):
        raise InvalidValue(what="The knowledge bases", value=", ".join(kb), reason="name some, or say --everywhere")
    with session.open() as library:
        changed = library.sessions.ask_others(name, kb or None)

    def render() -> None:
        names = session.say("list.separator").join(map(one_line, changed.knowledge_bases or ()))
        session.out.line(session.say("sessions.asks", kb=names) if names else session.say("sessions.asks-all"))

    session.show(changed, render)
    return OK


@commands.command
def delete(name: str, /, *, session: Given) -> int:
    """Delete a session with all that is attached to it.

    Parameters
    ----------
    name
        Id of the session.
    """
    with session.open() as library:
        library.sessions.delete(name)
    session.show({"deleted": name}, lambda: session.out.line(session.say("sessions.deleted", session=name)))
    return OK


@commands.command
def attach(
    name: str,
    /,
    *files: Path,
    password_file: str | None = None,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Attach files to a session: they are found within it alone, and deleted with it.

    Parameters
    ----------
    name
        Id of the session.
    files
        Files to attach; the same path again replaces what it held.
    password_file
        File whose first line is the password of the files; `-` reads it from standard input, or asks. It is kept in
        the library, to read them again.
    wait
        Read and embed the files now (the default), or leave that to `wenyuan worker`.
    """
    password = read_password(password_file, session.say("password.ask"))
    with session.open() as library:
        received = library.sessions.attach(name, *files, password=password)
        if wait:
            try:
                with Watching(session) as watch:
                    library.drain(watch=watch)
            except KeyboardInterrupt:
                show_interrupted(session, library)
                return INTERRUPTED
        attached = library.sessions.attachments(name)
    refused = [(one.source, one.problem) for one in received if one.problem is not None]

    def render() -> None:
        show_attachments(session, attached)
        session.show_problems(refused)

    session.show({"received": received, "attachments": attached}, render)
    return DOCUMENT_AT_FAULT if refused or any(one.index_status == "failed" for one in attached) else OK


@commands.command
def detach(name: str, attachment: str, /, *, session: Given) -> int:
    """Take an attachment out of a session.

    Parameters
    ----------
    name
        Id of the session.
    attachment
        Its id or file name.
    """
    with session.open() as library:
        library.sessions.detach(name, attachment)
    done = {"detached": attachment}
    session.show(done, lambda: session.out.line(session.say("sessions.detached", name=one_line(attachment))))
    return OK


def _show_turns(session: Session, said: Sequence[Turn]) -> None:
    say, out = session.say, session.out
    if not said:
        out.line(say("sessions.no-turns"))
    for turn in said:
        facts = [say("sessions.replaced", n=turn.replaced_by)] if turn.replaced_by is not None else []
        facts += [turn.answer["finish_reason"]] if turn.answer is not None else []
        facts += [f"{turn.feedback.value} {turn.feedback.note}".strip()] if turn.feedback is not None else []
        out.line((f"{turn.number}  {say(f'turn.{turn.role}')}", "bold"), ("  " + " · ".join(facts), "dim"))
        out.line(turn.text, indent=3)


def show_unread(session: Session, unread: Sequence[Unread]) -> None:
    """One line for each attachment that could not be searched."""
    for one in unread:
        why = session.say("sessions.unread", name=one_line(one.attachment.name), why=one.why)
        session.out.line((session.say("note"), "bold yellow"), why)


def show_attachments(session: Session, attached: Sequence[Attachment]) -> None:
    say, out = session.say, session.out
    if not attached:
        out.line(say("sessions.no-attachments"))
        return
    columns = [
        Column(say("column.id"), whole=True),
        Column(say("column.name")),
        Column(say("column.state"), whole=True),
        Column(say("column.chunks"), "right", whole=True),
        Column(say("sessions.column.mode"), whole=True),
    ]
    rows: list[Sequence[Part]] = [
        [
            one.id,
            one_line(one.name),
            say(f"attachment.{one.index_status if one.availability == 'allowed' else 'blocked'}"),
            str(one.chunks or ""),
            say(f"attachment.{one.rag_mode}") if one.rag_mode is not None else "",
        ]
        for one in attached
    ]
    out.table(columns, rows)
    session.show_problems([(one.name, one.problem) for one in attached if one.problem is not None])
