"""`wenyuan kb export` and `wenyuan kb import`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from wenyuan.doors.cli.copying import Copies, size
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.errors import StorageError

if TYPE_CHECKING:
    from wenyuan.runtime.transfer import Exported, Imported


def export(kb: str, file: Path, /, *, session: Given) -> int:
    """Write a knowledge base to one file, which any library can take in: `wenyuan kb export work work.wenyuan`.

    The file holds the original files, their passages and vectors, what is known of them, the settings, and the runs of
    evaluation sets that asked this knowledge base alone. docs/reference/archive.md describes it.

    Parameters
    ----------
    kb
        Name or id of the knowledge base.
    file
        File to write; one that is there is replaced when the new one is complete.
    """
    with session.open() as library, Copies(session) as copies:
        made = library.knowledge_bases.export(kb, file, watch=copies.counting("documents"))
    session.show(made, lambda: _show_exported(session, made))
    return StorageError.exit_code if made.missing else OK


def import_(
    file: Path,
    /,
    *,
    name: Annotated[str | None, Parameter(name="--as")] = None,
    vectors: Annotated[bool, Parameter(name="--vectors", negative="--no-vectors")] = True,
    session: Given,
) -> int:
    """Take in a knowledge base that `wenyuan kb export` wrote; nothing is read or embedded again.

    Parameters
    ----------
    file
        The file.
    name
        Name for the knowledge base; else the one it had.
    vectors
        Take its vectors, if they were made by a model that is configured here (the default); or have all of its
        passages embedded anew, for a file from someone you do not trust.
    """
    with session.open(create=True) as library, Copies(session) as copies:
        made = library.knowledge_bases.import_(file, name=name, with_vectors=vectors, watch=copies.counting("import"))
    session.show(made, lambda: _show_imported(session, made))
    return OK


def _show_exported(session: Session, made: Exported) -> None:
    say = session.say
    told = say("export.made", documents=made.documents, chunks=made.chunks, size=size(made.bytes))
    session.out.line(told, (str(made.path), "bold"), whole=True)
    if made.missing:
        session.out.line((say("note"), "bold yellow"), say("backup.missing", n=len(made.missing)))
    session.out.line(
        say("next"), f"wenyuan --library {say('next.folder')} kb import {quote(str(made.path))}", whole=True
    )


def _show_imported(session: Session, made: Imported) -> None:
    say, base = session.say, made.knowledge_base
    session.out.line(say("import.made", name=base.name, documents=made.documents, chunks=made.chunks))
    if made.to_embed or made.to_read:
        told = say("import.left", embed=made.to_embed, read=made.to_read)
        session.out.line((say("note"), "bold yellow"), told, session.command("worker --drain"), whole=True)
    session.out.line(say("next"), session.command(f"search --kb {quote(base.name)} {say('next.question')}"), whole=True)
