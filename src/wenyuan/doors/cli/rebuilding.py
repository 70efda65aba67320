"""`wenyuan kb rebuild`, `rollback` and `drop-index`: indexes that are built aside, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.output import as_json
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import INTERRUPTED, OK, Given, Session
from wenyuan.errors import ProviderError
from wenyuan.types import ChunkingConfig, KnowledgeBase

if TYPE_CHECKING:
    from wenyuan.runtime.library import Library
    from wenyuan.runtime.rebuilds import RebuildView

NO_MODEL = "none"
_ON = {"negative": ""}


def rebuild(
    kb: str | None = None,
    /,
    *,
    embedding_model: Annotated[str | None, Parameter(name=("--embedding-model", "--model"))] = None,
    chunk_columns: int | None = None,
    overlap: Annotated[int | None, Parameter(name=("--overlap", "--chunk-overlap"))] = None,
    rules: Annotated[bool, Parameter(**_ON)] = False,
    status: Annotated[bool, Parameter(**_ON)] = False,
    cancel: Annotated[bool, Parameter(**_ON)] = False,
    wait: Annotated[bool, Parameter(name=("--wait", "--watch"), negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Build the indexes of a knowledge base anew, while the old ones answer.

    Without options, builds what differs from the settings: after a model was changed in wenyuan.toml, its vectors. A
    rebuild that failed or was interrupted goes on where it was. When nothing is missing in the new indexes, they
    take the place of the old in one step; the old ones are kept for a while, to go back to.

    Parameters
    ----------
    kb
        Its name or id; else the default one.
    embedding_model
        Name of the configured model that is to make its vectors; `none` for keyword search alone.
    chunk_columns
        Size of a passage in display columns; a Chinese character counts two.
    overlap
        Columns that a passage repeats of the one before.
    rules
        Read every document anew from the bytes that were added, by today's readers and rules.
    status
        Only tell how the rebuild stands.
    cancel
        Give it up: what was built is taken away, and what answers has never changed.
    wait
        Do it now and show how far it is (the default), or leave it to `wenyuan worker`.
    """
    with session.open() as library:
        base = library.knowledge_bases.find(kb)
        if status:
            view = library.rebuilds.show(base.id)
        elif cancel:
            view = library.rebuilds.cancel(base.id)
        else:
            chunking = _chunking(base, chunk_columns, overlap)
            model = "" if embedding_model == NO_MODEL else embedding_model
            view = library.rebuilds.begin(base.id, embedding_model=model, chunking=chunking, rereads=rules)
            return _finish(session, library, base, view, wait=wait)
    _show(session, base, view)
    return OK


def rollback(
    kb: str | None = None,
    /,
    *,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Let the indexes answer again that the last rebuild replaced.

    At once where nothing has come in since; else what has is first added to them, while the others answer.

    Parameters
    ----------
    kb
        Its name or id; else the default one.
    wait
        Do it now (the default), or leave it to `wenyuan worker`.
    """
    with session.open() as library:
        base = library.knowledge_bases.find(kb)
        view = library.rebuilds.roll_back(base.id)
        return _finish(session, library, base, view, wait=wait)


def drop_index(kb: str | None = None, /, *, session: Given) -> int:
    """Take the indexes away that the last rebuild replaced; after that there is no way back.

    A worker does this by itself when they were kept for `retention.retired_index_days`.

    Parameters
    ----------
    kb
        Its name or id; else the default one.
    """
    with session.open() as library:
        base = library.knowledge_bases.find(kb)
        view = library.rebuilds.drop_replaced(base.id)
        library.drain()
    told = {"knowledge_base": base.name, "rebuild": as_json(view)}
    session.show(told, lambda: session.out.line(session.say("rebuild.dropped")))
    return OK


def begin_for(
    session: Session,
    library: Library,
    base: KnowledgeBase,
    embedding_model: str | None,
    chunk_columns: int | None,
    overlap: int | None,
) -> None:
    """Begin the rebuild that a change of a knowledge base's model or chunking needs, if it needs one."""
    chunking = _chunking(base, chunk_columns, overlap)
    if embedding_model is None and chunking is None:
        return
    model = "" if embedding_model == NO_MODEL else embedding_model
    view = library.rebuilds.begin(base.id, embedding_model=model, chunking=chunking)
    if view is not None and view.rebuild.state == "building":
        command = session.command(f"kb rebuild {quote(base.name)}")
        session.notes.line(session.say("rebuild.begun", name=base.name), command, whole=True)


def rebuild_lines(session: Session, base: KnowledgeBase, view: RebuildView) -> Iterator[tuple[str, str]]:
    """What is to be said of a rebuild, each sentence with the command to type next."""
    say, name, state = session.say, quote(base.name), view.rebuild.state
    change, reached = _change(session, view), view.reached
    if state == "building":
        key = "rebuild.reading" if view.rebuild.rereads else "rebuild.embedding"
        told = say(
            key,
            change=change,
            read=reached.read,
            documents=reached.documents,
            embedded=reached.embedded,
            passages=reached.passages,
        )
        yield told, session.command(f"kb rebuild {name} --cancel")
    elif state == "failed":
        yield say("rebuild.failed", change=change), session.command(f"kb rebuild {name}")
    elif state == "active" and view.keeps_replaced:
        yield say("rebuild.done", change=change), session.command(f"kb rollback {name}")
    elif state in ("active", "settled"):
        yield say("rebuild.changed", change=change), ""
    elif state == "cancelled":
        yield say("rebuild.cancelled", change=change), ""
    if reached.kept:
        yield say("rebuild.kept", n=reached.kept), ""
    if reached.failed:
        yield say("rebuild.refused", n=reached.failed), ""


def percent(view: RebuildView) -> int:
    """How far a rebuild is, in hundredths."""
    reached, rereads = view.reached, view.rebuild.rereads
    done = reached.embedded + (reached.read if rereads else 0)
    total = reached.passages + (reached.documents if rereads else 0)
    return 100 * done // total if total else 0


def _chunking(base: KnowledgeBase, columns: int | None, overlap: int | None) -> ChunkingConfig | None:
    if columns is None and overlap is None:
        return None
    known = base.chunking
    return ChunkingConfig(
        known.target_columns if columns is None else columns, known.overlap_columns if overlap is None else overlap
    )


def _change(session: Session, view: RebuildView) -> str:
    say, one = session.say, view.rebuild
    changes = []
    if one.from_model != one.to_model:
        before, after = (model or say("kb.no-model") for model in (one.from_model, one.to_model))
        changes.append(say("rebuild.change.model", before=before, after=after))
    if one.from_chunking != one.to_chunking:
        sizes = {"before": one.from_chunking.target_columns, "after": one.to_chunking.target_columns}
        changes.append(say("rebuild.change.chunking", **sizes))
    if not changes:
        changes.append(say("rebuild.change.reread" if one.rereads else "rebuild.change.vectors"))
    return say("list.separator").join(changes)


def _finish(session: Session, library: Library, base: KnowledgeBase, view: RebuildView | None, *, wait: bool) -> int:
    """Do what was begun, and tell how it stands then."""
    if wait and view is not None and view.rebuild.state == "building":
        try:
            with Watching(session) as watch:
                library.drain(watch=watch)
        except KeyboardInterrupt:
            show_interrupted(session, library)
            return INTERRUPTED
        view = library.rebuilds.show(base.id) or view
    _show(session, base, view)
    return ProviderError.exit_code if view is not None and view.rebuild.state == "failed" else OK


def _show(session: Session, base: KnowledgeBase, view: RebuildView | None) -> None:
    told = {"knowledge_base": base.name, "rebuild": as_json(view) if view is not None else None}
    session.show(told, lambda: _show_text(session, base, view))


def _show_text(session: Session, base: KnowledgeBase, view: RebuildView | None) -> None:
    if view is None:
        session.out.line(session.say("rebuild.nothing", name=base.name))
        return
    for sentence, command in rebuild_lines(session, base, view):
        session.out.line(sentence, command, whole=True)
    if (problem := view.waiting or view.rebuild.problem) is not None and view.rebuild.state != "cancelled":
        session.show_problem(problem, session.out)
