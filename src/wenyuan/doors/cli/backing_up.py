"""`wenyuan backup` and `wenyuan restore`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from wenyuan.doors.cli.copying import Copies, size
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.errors import StorageError

if TYPE_CHECKING:
    from wenyuan.runtime.backups import BackupReport, Restored

# Loaded when it is needed: printing help must not load what reads, searches and embeds.
_BACKUPS = "wenyuan.runtime.backups"


def backup(target: Path, /, *, quick: bool = False, session: Given) -> int:
    """Copy the library while it is used: `wenyuan backup /mnt/disk/library-backup` or `wenyuan backup library.tar`.

    Into a folder that holds a backup already, only what is new is copied; it stays whole until the new one is.
    What was written is read back and checked. Ends with exit code 6 where the library itself has lost something:
    the backup then holds everything else.

    Parameters
    ----------
    target
        Folder for the backup, new, empty or holding one; or a file whose name ends in `.tar`.
    quick
        Trust what was written, now and by an earlier backup: much faster for a large library.
    """
    with session.open() as library, Copies(session) as copies:
        made = library.backup(target, quick=quick, watch=copies)
    session.show(made, lambda: _show_backup(session, made))
    return StorageError.exit_code if made.missing or made.findings else OK


def restore(backup: Path, /, *, to: str, session: Given) -> int:
    """Make a library of a backup: `wenyuan restore library.tar --to ~/library`.

    A backup of a library in PostgreSQL may become one in a folder, and the other way round: `--to postgresql://…`
    names an empty database, and `$WENYUAN_BLOBS` where its files are to be.

    Keys of models are not in it, only where they are kept: `wenyuan doctor` says whether they are there.

    Parameters
    ----------
    backup
        The folder or file that `wenyuan backup` wrote.
    to
        Folder for the library, new or empty, or the address of an empty PostgreSQL database.
    """
    with Copies(session) as copies:
        made: Restored = import_module(_BACKUPS).restore(backup, to, blobs=session.blobs, watch=copies)
    session.show(made, lambda: _show_restored(session, made))
    return OK


def _show_backup(session: Session, made: BackupReport) -> None:
    say, out = session.say, session.out
    out.line(
        say("backup.made", documents=made.documents, files=made.files, size=size(made.bytes)),
        (str(made.path), "bold"),
        whole=True,
    )
    out.line(say("backup.copied", files=made.copied_files, size=size(made.copied_bytes)))
    if made.passwords:
        out.line((say("note"), "bold yellow"), say("backup.passwords", n=made.passwords))
    if made.missing:
        out.line((say("note"), "bold yellow"), say("backup.missing", n=len(made.missing)))
    for finding in made.findings:
        out.line((f"error[{finding.code}]: ", "bold red"), finding.message)
    if made.missing or made.findings:
        out.line((say("hint"), "bold"), say("backup.check", command=session.command("check --repair")), whole=True)
    out.line(say("next"), f"wenyuan restore {quote(str(made.path))} --to {say('next.folder')}", whole=True)


def _show_restored(session: Session, made: Restored) -> None:
    say = session.say
    told = say("restore.made", documents=made.documents, files=made.files)
    place = made.address or str(made.path)
    session.out.line(told, (place, "bold"), whole=True)
    session.out.line(say("next"), f"wenyuan --library {quote(place)} doctor", whole=True)
