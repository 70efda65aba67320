"""The reference page of the command line, made from the commands themselves.

`python -m wenyuan.doors.cli.reference > docs/reference/cli.md` writes it anew.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from textwrap import dedent

from cyclopts import App
from rich.console import Console

from wenyuan.doors.cli.application import application
from wenyuan.doors.cli.session import REGRESSED
from wenyuan.errors import (
    ConfigurationError,
    DocumentError,
    ProviderError,
    RequestError,
    StorageError,
    WenyuanError,
)

_WIDTH = 100

_EXIT_CODES: tuple[tuple[type[WenyuanError], str], ...] = (
    (WenyuanError, "something went wrong inside Wenyuan"),
    (RequestError, "the request must change: a wrong option, an unknown name, an empty question"),
    (ConfigurationError, "a setting or a model is wrong or missing"),
    (DocumentError, "a file could not be read; after `add`, everything else is in"),
    (ProviderError, "a model's provider failed for good"),
    (StorageError, "the library, its disk or its database will not do it now"),
)

_INTRODUCTION = """\
    # The command line

    This page is made from the program: `python -m wenyuan.doors.cli.reference > docs/reference/cli.md`.

    ## Where the library is

    `--library PATH`, else `$WENYUAN_LIBRARY`, else `library` in the platform's folder for a user's data.
    `init` and `add` make it where there is none.

    ## Output

    Results go to standard output; errors, progress and notes go to standard error.
    Into a pipe nothing is coloured, drawn or cut, and progress becomes a line now and then.
    With `--json` standard output holds one JSON document and nothing else. An error is then
    `{"error": {"code": ..., "message": ..., "hint": ...}}`; its code never changes, its words may.

    Messages are Chinese if `$WENYUAN_LANG` is `zh`, or, where that is not set, if the locale
    (`LC_ALL`, `LC_MESSAGES`, `LANG`) is Chinese; else English.

    ## Interrupting

    Ctrl-C stops the work at its next batch and loses nothing: `wenyuan worker --drain` goes on from there.
    `wenyuan worker` treats SIGTERM the same way.

    ## Exit codes

    | Code | Meaning |
    |---|---|
    | 0 | done |
    """


def reference() -> str:
    """The page, in Markdown."""
    codes = [f"| {kind.exit_code} | {meaning} |" for kind, meaning in _EXIT_CODES]
    codes += [f"| {REGRESSED} | an evaluation is not good enough: see `wenyuan eval run` |"]
    codes += ["| 130 | interrupted by Ctrl-C |", "| 141 | whoever read the output had seen enough |"]
    pages = [f"## `{' '.join(path)}`\n\n```text\n{page}\n```\n" for path, page in _pages()]
    return dedent(_INTRODUCTION) + "\n".join(codes) + "\n\n" + "\n".join(pages)


def _pages() -> Iterator[tuple[tuple[str, ...], str]]:
    app = application()
    for path in _paths(app, ()):
        text = io.StringIO()
        app.meta([*path, "--help"], console=Console(file=text, width=_WIDTH), result_action="return_value")
        yield ("wenyuan", *path), text.getvalue().rstrip()


def _paths(app: App, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every command, each group before what is in it."""
    yield path
    for name, command in app.resolved_commands().items():
        if not name.startswith("-"):
            yield from _paths(command, (*path, name))


if __name__ == "__main__":
    sys.stdout.write(reference())
