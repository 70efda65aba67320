"""The commands of `wenyuan docs` that change how documents stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.document_pages import show_one
from wenyuan.doors.cli.output import as_json
from wenyuan.doors.cli.passwords import read_password
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import DOCUMENT_AT_FAULT, INTERRUPTED, OK, Given, Session
from wenyuan.errors import InvalidValue

if TYPE_CHECKING:
    from wenyuan.runtime.documents import DocumentView
    from wenyuan.runtime.library import Library


def enable(document: str, /, *, session: Given) -> int:
    """Let a document be found again.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    """
    return _switch(session, document, enabled=True)


def disable(document: str, /, *, session: Given) -> int:
    """Keep a document, but out of every search.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    """
    return _switch(session, document, enabled=False)


def enable_chunk(document: str, number: int, /, *, session: Given) -> int:
    """Let a passage be found again, and those of the document with the same words.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    number
        Number of the passage, as `docs chunks` shows it.
    """
    return _switch_passage(session, document, number, enabled=True)


def disable_chunk(document: str, number: int, /, *, session: Given) -> int:
    """Keep a passage out of every search, and those of the document with the same words.

    It stays so when the document changes, as long as these words are in it, and when they come back.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    number
        Number of the passage, as `docs chunks` shows it.
    """
    return _switch_passage(session, document, number, enabled=False)


def retry(
    document: str | None = None,
    /,
    *,
    failed: Annotated[bool, Parameter(negative="")] = False,
    kb: str | None = None,
    password_file: str | None = None,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Put a failed or cancelled document, or its failed vectors, back to work; or all that have failed.

    Parameters
    ----------
    document
        Its id, its path, or its name where no other document has the same.
    failed
        Retry everything in the knowledge base that has failed.
    kb
        Name or id of the knowledge base, with --failed; else the default one.
    password_file
        File whose first line is the password of the document's file; `-` reads it from standard input, or asks.
        It is kept in the library, to read the file again.
    wait
        Do the work now (the default), or leave it to `wenyuan worker`.
    """
    if failed == (document is not None):
        raise InvalidValue(what="docs retry", value=document or "", reason="name one document, or give --failed")
    if failed and password_file is not None:
        raise InvalidValue(what="--password-file", value=password_file, reason="it is for one document")
    password = read_password(password_file, session.say("password.ask"))
    with session.open() as library:
        if document is None:
            return _retry_failed(session, library, kb, wait=wait)
        view = library.documents.retry(document, password=password)
        if not _done(session, library, wait=wait):
            return INTERRUPTED
        view = library.documents.show(view.document.id)
    session.show(view, lambda: show_one(session, view))
    return DOCUMENT_AT_FAULT if view.latest.state == "failed" else OK


def _retry_failed(session: Session, library: Library, kb: str | None, *, wait: bool) -> int:
    retried = library.documents.retry_failed(kb)
    if retried and not _done(session, library, wait=wait):
        return INTERRUPTED
    views = [library.documents.show(one) for one in retried]
    left = [view for view in views if view.latest.state == "failed"]
    done = {"retried": retried, "failed": [as_json(view) for view in left]}
    session.show(done, lambda: _show_retried(session, len(retried), left))
    return DOCUMENT_AT_FAULT if left else OK


def _show_retried(session: Session, count: int, left: Sequence[DocumentView]) -> None:
    session.out.line(session.say("docs.retried", n=count) if count else session.say("docs.nothing-failed"))
    problems = [(view.document.name, view.latest.problem) for view in left]
    session.show_problems([(name, problem) for name, problem in problems if problem is not None])


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


def move(
    *documents: Annotated[str, Parameter(required=True)],
    to: str,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Move documents to another knowledge base, all of them or none.

    Each is found where it is until it is ready there. Nothing is read or embedded again where both cut and embed
    alike. Moving one to where it is calls off a move that is not done.

    Parameters
    ----------
    documents
        Their ids, their paths, or their names where no other document has the same.
    to
        Name or id of the knowledge base to move them to.
    wait
        Do the work now (the default), or leave it to `wenyuan worker`.
    """
    with session.open() as library:
        moved = library.documents.move(documents, to)
        if not _done(session, library, wait=wait):
            return INTERRUPTED
        views = [library.documents.show(view.document.id) for view in moved]
    session.show(views, lambda: _show_moved(session, views))
    return DOCUMENT_AT_FAULT if any(view.latest.state == "failed" for view in views) else OK


def _show_moved(session: Session, views: Sequence[DocumentView]) -> None:
    for view in views:
        name, home = view.document.name, view.knowledge_base
        if view.moving_to:
            session.out.line(session.say("docs.moving", name=name, kb=view.moving_to, home=home))
        else:
            session.out.line(session.say("docs.moved", name=name, kb=home))
        if view.latest.problem is not None:
            session.show_problem(view.latest.problem, session.out, indent=2)


def delete(*documents: Annotated[str, Parameter(required=True)], session: Given) -> int:
    """Delete documents from the library; the files that were added stay where they are.

    Parameters
    ----------
    documents
        Their ids, their paths, or their names where no other document has the same.
    """
    with session.open() as library:
        found = [library.documents.show(document).document for document in dict.fromkeys(documents)]
        library.documents.delete(*(one.id for one in found))
    done = [{"deleted": one.id, "name": one.name} for one in found]

    def told() -> None:
        for one in found:
            session.out.line(session.say("docs.deleted", name=one.name))

    session.show(done[0] if len(done) == 1 else done, told)
    return OK


def _switch(session: Session, document: str, *, enabled: bool) -> int:
    with session.open() as library:
        view = library.documents.switch(document, enabled=enabled)
    done = "docs.enabled" if enabled else "docs.disabled"
    session.show(view, lambda: session.out.line(session.say(done, name=view.document.name)))
    return OK


def _switch_passage(session: Session, document: str, number: int, *, enabled: bool) -> int:
    with session.open() as library:
        name = library.documents.show(document).document.name
        count = library.documents.switch_passage(document, number, enabled=enabled)
    done = {"document": name, "number": number, "enabled": enabled, "passages": count}
    said = "docs.passage-enabled" if enabled else "docs.passage-disabled"
    session.show(done, lambda: session.out.line(session.say(said, name=name, number=number, n=count)))
    return OK


def _done(session: Session, library: Library, *, wait: bool) -> bool:
    """Do the work, if it is to be done now; False where it was interrupted, which is told then."""
    if wait:
        try:
            with Watching(session) as watch:
                library.drain(watch=watch)
        except KeyboardInterrupt:
            show_interrupted(session, library)
            return False
    return True
