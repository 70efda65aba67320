"""`wenyuan keys`: what programs and people elsewhere open the library with."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from wenyuan.doors.cli.output import Column, Part, one_line
from wenyuan.doors.cli.session import OK, Given, Session

if TYPE_CHECKING:
    from wenyuan.runtime.access import AccessKey

commands = App(name="keys", help="Keys: what programs and people elsewhere open the library with.")

ScopeName = Literal["read", "write", "admin"]


@commands.command
def create(
    name: str,
    /,
    *,
    scope: Annotated[list[ScopeName] | None, Parameter(name="--scope")] = None,
    kb: list[str] | None = None,
    days: float | None = None,
    session: Given,
) -> int:
    """Make a key, and show it this once: the library keeps only a digest of it.

    From the first key on, nobody is let in over HTTP without one.

    Parameters
    ----------
    name
        What the key is for.
    scope
        What it may do: read (search and show, the default), write (add and change documents) or admin (everything);
        may be given several times.
    kb
        Knowledge base it is granted; may be given several times. Else all, those to come included.
    days
        After how many days it expires. Else never.
    """
    with session.open() as library:
        made = library.access_keys.create(name, scopes=scope or ("read",), kb=kb, days=days)
    session.show(made, lambda: session.out.line((session.say("keys.created"), "bold"), made.secret, whole=True))
    return OK


@commands.command(name="list")
def show_all(*, session: Given) -> int:
    """List the keys with what each may do; revoked ones stay listed."""
    with session.open() as library:
        keys = library.access_keys.list()
        names = {view.knowledge_base.id: view.knowledge_base.name for view in library.knowledge_bases.all()}
    session.show(keys, lambda: _show(session, keys, names))
    return OK


@commands.command
def revoke(name: str, /, *, session: Given) -> int:
    """Let a key open nothing from now on.

    Parameters
    ----------
    name
        Its name or id.
    """
    with session.open() as library:
        revoked = library.access_keys.revoke(name)
    session.show(revoked, lambda: session.out.line(session.say("keys.revoked", name=one_line(revoked.name))))
    return OK


def _show(session: Session, keys: Sequence[AccessKey], names: dict[str, str]) -> None:
    say = session.say
    if not keys:
        session.out.line(say("keys.none"))
        return
    columns = [
        Column(say("column.id"), whole=True),
        Column(say("column.name")),
        Column(say("keys.column.scopes"), whole=True),
        Column(say("column.kb")),
        Column(say("column.state"), whole=True),
        Column(say("keys.column.expires"), whole=True),
    ]
    rows: list[Sequence[Part]] = []
    for key in keys:
        granted = key.knowledge_bases
        bases = (
            say("keys.all") if granted is None else say("list.separator").join(names.get(one, one) for one in granted)
        )
        scopes, name = " ".join(key.scopes), one_line(key.name)
        rows.append([key.id, name, scopes, bases, say(_state(key)), _day(key.expires_at)])
    session.out.table(columns, rows)


def _state(key: AccessKey) -> str:
    if key.revoked_at is not None:
        return "keys.is-revoked"
    is_over = key.expires_at is not None and key.expires_at <= time.time_ns() // 1_000_000
    return "keys.expired" if is_over else "keys.usable"


def _day(moment: int | None) -> str:
    return datetime.datetime.fromtimestamp(moment / 1000).astimezone().date().isoformat() if moment is not None else ""
