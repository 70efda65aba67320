"""`wenyuan mcp`: the library for agents, by the Model Context Protocol over standard input and output."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from wenyuan.doors.cli.session import OK, Given
from wenyuan.errors import PackageMissing

if TYPE_CHECKING:
    from collections.abc import Callable

# Loaded when an agent is served: printing help must not load a server.
_SERVER = "wenyuan.doors.mcp.stdio"


def mcp(*, write: bool = False, session: Given) -> int:
    """Serve the library to a program that starts this as its child, by the Model Context Protocol.

    It has tools that search, list and read, and documents as resources; `wenyuan serve` has the same at /mcp. Messages
    go over standard input and output, and it ends with its input.

    Parameters
    ----------
    write
        Have tools that add texts and delete documents, too.
    """
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    try:
        serve: Callable[..., None] = import_module(_SERVER).serve_stdio
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise PackageMissing(what="The Model Context Protocol", package="mcp", install="wenyuan[mcp]") from error
    with session.open(create=True) as library:
        serve(library, writes=write)
    return OK
