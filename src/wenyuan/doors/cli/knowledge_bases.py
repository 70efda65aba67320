"""`wenyuan kb`: knowledge bases."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cyclopts import App

from wenyuan.doors.cli.output import Column
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.types import ChunkingConfig, KnowledgeBase

if TYPE_CHECKING:
    from wenyuan.runtime.knowledge_bases import KnowledgeBaseView

_NO_MODEL = "none"


commands = App(name="kb", help="Knowledge bases: documents that are searched together, cut and embedded alike.")


@commands.command(name="list")
def show_all(*, session: Given) -> int:
    """List the knowledge bases, with how many of their documents stand how."""
    with session.open() as library:
        views = library.knowledge_bases.all()
    session.show(views, lambda: _show_list(session, views))
    return OK


@commands.command
def create(
    name: str,
    /,
    *,
    description: str = "",
    embedding_model: str | None = None,
    chunk_columns: int | None = None,
    overlap: int | None = None,
    tag: list[str] | None = None,
    session: Given,
) -> int:
    """Make a knowledge base.

    Parameters
    ----------
    name
        Its name, 1 to 200 characters.
    description
        What it holds, for people.
    embedding_model
        Name of a configured embedding model; `none` for keyword search alone. Else the default model.
    chunk_columns
        Size of a passage in display columns; a Chinese character counts two.
    overlap
        Columns that a passage repeats of the one before.
    tag
        Word to sort it by; may be given several times.
    """
    with session.open() as library:
        defaults = library.settings.defaults
        made = library.knowledge_bases.create(
            name,
            description=description,
            embedding_model="" if embedding_model == _NO_MODEL else embedding_model,
            chunking=ChunkingConfig(
                defaults.chunk_columns if chunk_columns is None else chunk_columns,
                defaults.chunk_overlap_columns if overlap is None else overlap,
            ),
            tags=tag or (),
        )
    session.show(made, lambda: session.out.line(session.say("kb.created", name=made.name)))
    return OK


@commands.command
def show(name: str, /, *, session: Given) -> int:
    """Show one knowledge base.

    Parameters
    ----------
    name
        Its name or id.
    """
    with session.open() as library:
        view = library.knowledge_bases.show(name)
    session.show(view, lambda: _show_one(session, view))
    return OK


@commands.command
def archive(name: str, /, *, undo: bool = False, session: Given) -> int:
    """Take a knowledge base out of every search, or bring it back.

    Parameters
    ----------
    name
        Its name or id.
    undo
        Bring it back.
    """
    with session.open() as library:
        found = library.knowledge_bases.archive(name, undo=undo)
    done = "kb.restored" if undo else "kb.archived"
    session.show(found, lambda: session.out.line(session.say(done, name=found.name)))
    return OK


@commands.command
def delete(name: str, /, *, yes: bool = False, session: Given) -> int:
    """Delete a knowledge base with all its documents; the files that were added stay where they are.

    Parameters
    ----------
    name
        Its name or id.
    yes
        Do not ask first. Nothing is asked either where input does not come from a terminal.
    """
    with session.open() as library:
        view = library.knowledge_bases.show(name)
        if not yes and not _confirmed(session, view):
            return OK
        library.knowledge_bases.delete(name)
    deleted = {"deleted": view.knowledge_base.name, "documents": _total(view)}
    session.show(deleted, lambda: session.out.line(session.say("kb.deleted", name=view.knowledge_base.name)))
    return OK


def _confirmed(session: Session, view: KnowledgeBaseView) -> bool:
    if session.json or not sys.stdin.isatty() or not session.notes.is_terminal or not _total(view):
        return True
    question = session.say("kb.delete-confirm", name=view.knowledge_base.name, n=_total(view))
    return session.notes.console.input(f"{question} ").strip().casefold() in ("y", "yes", "是")


def _total(view: KnowledgeBaseView) -> int:
    return sum(view.documents.values())


def _model(session: Session, base: KnowledgeBase) -> str:
    return base.embedding_model or session.say("kb.no-model")


def _counts(session: Session, view: KnowledgeBaseView) -> str:
    parts = [f"{session.say(f'state.{state}')} {n}" for state, n in view.documents.items() if n]
    return session.say("list.separator").join(parts) or "0"


def _show_list(session: Session, views: list[KnowledgeBaseView]) -> None:
    say = session.say
    columns = [
        Column(say("column.name")),
        Column(say("column.state")),
        Column(say("column.documents")),
        Column(say("column.semantic")),
        Column(say("column.model")),
    ]
    rows = []
    for view in views:
        base = view.knowledge_base
        semantic = f"{view.semantic}/{view.searchable}" if base.embedding_model else "-"
        state = say(f"kb.state.{base.state}")
        rows.append([base.name, state, _counts(session, view), semantic, _model(session, base)])
    session.out.table(columns, rows)


def _show_one(session: Session, view: KnowledgeBaseView) -> None:
    say, base = session.say, view.knowledge_base
    semantic = say("kb.semantic", done=view.semantic, total=view.searchable) if base.embedding_model else "-"
    facts: list[tuple[str, Any]] = [
        ("column.name", base.name),
        ("column.id", base.id),
        ("column.description", base.description),
        ("column.state", say(f"kb.state.{base.state}")),
        ("column.documents", _counts(session, view)),
        ("column.semantic", semantic),
        ("column.model", _model(session, base)),
        ("column.chunking", say("kb.chunking", n=base.chunking.target_columns, overlap=base.chunking.overlap_columns)),
        ("column.tags", say("list.separator").join(base.tags)),
    ]
    for title, value in facts:
        if value:
            session.out.line((f"{say(title)}: ", "bold"), str(value))
