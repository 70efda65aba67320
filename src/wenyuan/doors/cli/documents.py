"""`wenyuan docs`: documents, how they stand, their passages, and the way back to a cited place."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from wenyuan.doors.cli.document_pages import show_list, show_one, show_passages, show_place, show_texts
from wenyuan.doors.cli.documents_changing import (
    cancel,
    delete,
    disable,
    disable_chunk,
    enable,
    enable_chunk,
    move,
    retry,
)
from wenyuan.doors.cli.output import as_json
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.errors import InvalidValue

if TYPE_CHECKING:
    from wenyuan.runtime.documents import DocumentView
    from wenyuan.runtime.library import Library

_PAGE = 500

commands = App(name="docs", help="Documents: how they stand, their passages, and the way back to a cited place.")


@commands.command(name="list")
def show_all(
    *,
    kb: str | None = None,
    state: Literal["pending", "processing", "ready", "failed", "cancelled"] | None = None,
    failed: Annotated[bool, Parameter(negative="")] = False,
    blocked: Annotated[bool, Parameter(negative="")] = False,
    disabled: Annotated[bool, Parameter(negative="")] = False,
    doubtful: Annotated[bool, Parameter(negative="")] = False,
    after: str = "",
    limit: int = 0,
    paths: bool = False,
    session: Given,
) -> int:
    """List the documents of a knowledge base and how each stands.

    Parameters
    ----------
    kb
        Name or id of the knowledge base; else the default one.
    state
        Only those whose newest file is in this state.
    failed
        Only those that have failed, or whose vectors have.
    blocked
        Only those that the policy of the knowledge base keeps out of every search.
    disabled
        Only those that are switched off.
    doubtful
        Only those that may not have been read well, so that a person should look.
    after
        Go on behind the document with this id.
    limit
        How many to list at most; else all.
    paths
        Show where each was added from; without this, only where several have the same name.
    """
    how = {"state": state or "", "failed": failed, "blocked": blocked, "disabled": disabled, "doubtful": doubtful}
    with session.open() as library:
        views = list(islice(_all(library, kb, after, how), limit + 1 if limit > 0 else None))
    more = views[limit - 1].document.id if 0 < limit < len(views) else ""
    views = views[:limit] if limit > 0 else views
    options = [f"--kb {shlex.quote(kb)}"] if kb is not None else []
    options += [f"--state {state}"] if state else []
    options += [f"--{name}" for name in ("failed", "blocked", "disabled", "doubtful") if how[name]]
    options += ["--paths"] if paths else []
    next_page = " ".join(["docs list", *options, f"--limit {limit}", f"--after {more}"]) if more else ""
    session.show(views, lambda: _show_all(session, views, next_page, paths=paths, is_filtered=any(how.values())))
    return OK


def _show_all(session: Session, views: list[DocumentView], next_page: str, *, paths: bool, is_filtered: bool) -> None:
    show_list(session, views, paths=paths, is_filtered=is_filtered)
    if next_page:
        session.out.line(session.say("docs.more"), session.command(next_page), whole=True)


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
    session.show({**as_json(view), "jobs": jobs}, lambda: show_one(session, view))
    return OK


@commands.command(name="open")
def open_place(citation: str, /, *, image: Path | None = None, scale: float = 2.0, session: Given) -> int:
    """Show a cited passage where it stands, with the text around it.

    Parameters
    ----------
    citation
        Id of a passage, as a search prints it.
    image
        Write its page as a picture (PNG) to this file, the passage lit: for PDF files and pictures.
    scale
        How many pixels of that picture a point of the page takes (72 points are an inch).
    """
    with session.open() as library:
        place = library.documents.open(citation)
        picture = library.documents.picture(citation, scale) if image is not None else None
    if image is None or picture is None:
        session.show(place, lambda: show_place(session, place))
        return OK
    _write(image, picture.png)
    shown = {**as_json(place), "image": str(image), "page": picture.page}

    def render() -> None:
        show_place(session, place)
        session.out.line(session.say("docs.picture", page=picture.page), (str(image), "bold"), whole=True)

    session.show(shown, render)
    return OK


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InvalidValue(what="--image", value=str(path), reason=error.strerror or str(error)) from error


@commands.command
def chunks(document: str, /, *, first: int = 0, limit: int = 100, text: bool = False, session: Given) -> int:
    """Show the passages a document was cut into, and which of them may be found.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    first
        Number of the first passage to show, from 0.
    limit
        How many to show at most.
    text
        Show the passages whole, with the ids by which `docs open` finds them.
    """
    with session.open() as library:
        found = library.documents.passages(document, first, limit)
        revision = library.documents.show(document).document.serving_revision_id or ""
    as_chunks = [{**as_json(one.chunk), "enabled": one.enabled} for one in found]
    page = partial(show_texts, session, [one.chunk for one in found], revision) if text else None
    session.show(as_chunks, page or (lambda: show_passages(session, found)))
    return OK


for _changing in (enable, disable, retry, cancel, move, delete):
    commands.command(_changing)
commands.command(enable_chunk, name="enable-chunk")
commands.command(disable_chunk, name="disable-chunk")


def _all(library: Library, kb: str | None, after: str, how: dict[str, Any]) -> Iterator[DocumentView]:
    while page := library.documents.list(kb, after, _PAGE, **how):
        yield from page
        after = page[-1].document.id
