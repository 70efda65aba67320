"""The commands by name, and the options that all of them share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from wenyuan.doors.cli import adding, asking, documents, explaining, jobs, knowledge_bases, preview, upkeep
from wenyuan.doors.cli.session import new_session

_HELP = "A knowledge base you can trust: exact search in Chinese and English documents, answers that can be checked."


def application(after_delimiter: Sequence[str] = ()) -> App:
    """The program, ready to be called with its arguments up to `--`; those after it are given here.

    Options shared by all commands are taken out first, wherever they stand. What follows `--` must
    be kept from that, so that a question may begin with a hyphen.
    """
    app = App(
        name="wenyuan",
        help=_HELP,
        version=lambda: f"wenyuan {version('wenyuan')}",
        help_format="plaintext",
        version_format="plaintext",
        # Boxes are for terminals; a pipe gets plain lines.
        help_formatter="default" if sys.stdout.isatty() else "plain",
        default_parameter=Parameter(negative=(), show_default=False),
    )
    for register in (adding, asking, explaining, knowledge_bases, documents, preview, jobs, upkeep):
        register.register(app)

    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        library: Path | None = None,
        json: bool = False,
    ) -> int:
        """Run one command.

        Parameters
        ----------
        library
            Folder of the library; else $WENYUAN_LIBRARY, else the usual folder for a user's data.
        json
            Write one JSON document to standard output, and nothing else.
        """
        delimited = ("--", *after_delimiter) if after_delimiter else ()
        command, bound, ignored = app.parse_args([*tokens, *delimited], exit_on_error=False, print_error=False)
        given = {"session": new_session(library, json=json)} if "session" in ignored else {}
        exit_code: int | None = command(*bound.args, **bound.kwargs, **given)
        return exit_code or 0

    return app
