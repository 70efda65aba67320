"""`wenyuan serve`: the library over HTTP."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from wenyuan.doors.cli.errors_zh import in_chinese
from wenyuan.doors.cli.output import json_line
from wenyuan.doors.cli.session import OK, Given, Session

if TYPE_CHECKING:
    from collections.abc import Callable

# Loaded when a library is served: printing help must not load a server.
_SERVER = "wenyuan.doors.http.server"


def serve(
    *,
    host: str | None = None,
    port: int | None = None,
    work: Annotated[bool | None, Parameter(name="--work", negative="--no-work")] = None,
    replica: str | None = None,
    session: Given,
) -> int:
    """Serve the library over HTTP, and do its work, until it is stopped by Ctrl-C or SIGTERM.

    On an address of this machine alone no key is needed until one is made with `wenyuan keys create`. On any other
    address everyone needs a key; the first one is made and shown when the server starts.

    Parameters
    ----------
    host
        Address to listen on; else `server.host` of the settings, which is 127.0.0.1.
    port
        Port to listen on, 0 for any free one; else `server.port` of the settings, which is 8420.
    work
        Read and embed what is added (the default), or leave that to `wenyuan worker`.
    replica
        Address of a copy that follows a library in PostgreSQL, for searches; else `search.replica` of the settings.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    with session.open(create=True, replica=replica) as library:
        settings = library.settings.server
        run: Callable[..., None] = import_module(_SERVER).serve
        run(
            library,
            host=settings.host if host is None else host,
            port=settings.port if port is None else port,
            works=settings.works if work is None else work,
            worded=in_chinese,
            on_ready=lambda serving, _: _show(session, serving),
        )
    if not session.json:
        session.notes.line(session.say("serve.stopped"))
    return OK


def _show(session: Session, serving: Any) -> None:
    """Tell where the server is. Of what is written to standard output, scripts wait for the line."""
    if session.json:
        session.out.line(json_line(serving).rstrip("\n"), whole=True)
    else:
        ready = session.say("serve.ready", library=str(serving.library), url=serving.url)
        session.out.line(ready, whole=True)
        if serving.first_key:
            session.out.line((session.say("serve.first-key"), "bold"), serving.first_key, whole=True)
        elif not serving.needs_key:
            command = session.command("keys create NAME")
            session.notes.line((session.say("serve.open", command=command), "dim"), whole=True)
    sys.stdout.flush()
