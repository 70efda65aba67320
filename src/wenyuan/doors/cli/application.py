"""The commands by name, and the options that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from cyclopts import App, Parameter

from wenyuan.doors.cli.adding import STANDARD_INPUT, add, init
from wenyuan.doors.cli.asking import ask, search
from wenyuan.doors.cli.backing_up import backup, restore
from wenyuan.doors.cli.chatting import chat
from wenyuan.doors.cli.explaining import explain
from wenyuan.doors.cli.help_pages import HelpPages
from wenyuan.doors.cli.preview import preview
from wenyuan.doors.cli.serving import serve
from wenyuan.doors.cli.serving_agents import mcp
from wenyuan.doors.cli.session import new_session
from wenyuan.doors.cli.sources import sync, watch
from wenyuan.doors.cli.upkeep import check, doctor, migrate
from wenyuan.doors.cli.working import worker

_HELP = "A knowledge base you can trust: exact search in Chinese and English documents, answers that can be checked."

_COMMANDS: tuple[Callable[..., int], ...] = (
    init,
    add,
    sync,
    watch,
    search,
    ask,
    chat,
    explain,
    preview,
    worker,
    serve,
    mcp,
    check,
    doctor,
    backup,
    restore,
    migrate,
)

# Groups are loaded when one of their commands is asked for.
_GROUPS = {
    "kb": "wenyuan.doors.cli.knowledge_bases:commands",
    "docs": "wenyuan.doors.cli.documents:commands",
    "sources": "wenyuan.doors.cli.sources:commands",
    "jobs": "wenyuan.doors.cli.jobs:commands",
    "sessions": "wenyuan.doors.cli.sessions:commands",
    "eval": "wenyuan.doors.cli.evaluating:commands",
    "keys": "wenyuan.doors.cli.keys:commands",
    "models": "wenyuan.doors.cli.models:commands",
}
_GROUP_HELP = {
    "kb": "Knowledge bases: documents that are searched together, cut and embedded alike.",
    "docs": "Documents: how they stand, their passages, and the way back to a cited place.",
    "sources": "Sources: folders and pages that a knowledge base keeps in step with.",
    "jobs": "Jobs: what is being done, what waits, and what went wrong.",
    "sessions": "Sessions: conversations, and files that belong to one of them alone.",
    "models": "Models: what embeds documents, writes answers and reranks, here or at a provider.",
    "keys": "Keys: what programs and people elsewhere open the library with.",
    "eval": "Evaluation: questions with known answers, asked and measured again and again.",
}


def application(after_delimiter: Sequence[str] = ()) -> App:
    """The program, ready to be called with its arguments up to `--`; those after it are given here.

    Options shared by all commands are taken out first, wherever they stand. What follows `--` must
    be kept from that, so that a question may begin with a hyphen.
    """
    app = App(
        name="wenyuan",
        help=_HELP,
        version=_version,
        help_format="plaintext",
        version_format="plaintext",
        help_formatter=HelpPages(),
        group_parameters="Options",
        default_parameter=Parameter(negative=(), show_default=False),
    )
    for order, command in enumerate(_COMMANDS):
        app.command(command, sort_key=order)
    for order, (name, path) in enumerate(_GROUPS.items(), start=len(_COMMANDS)):
        app.command(path, name=name, help=_GROUP_HELP[name], sort_key=order)

    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        library: Annotated[str | None, Parameter(metavar="PATH")] = None,
        json: bool = False,
    ) -> int:
        """Run one command.

        Parameters
        ----------
        library
            Folder of the library, or a postgresql:// address; else $WENYUAN_LIBRARY, else the usual folder.
        json
            Write one JSON document to standard output, and nothing else.
        """
        # A hyphen alone is taken for an unfinished option before a command sees it.
        if tokens[:1] == ("add",) or "--password-file" in tokens:
            tokens = tuple(STANDARD_INPUT if token == "-" else token for token in tokens)
        delimited = ("--", *after_delimiter) if after_delimiter else ()
        command, bound, ignored = app.parse_args([*tokens, *delimited], exit_on_error=False, print_error=False)
        given = {"session": new_session(library, json=json)} if "session" in ignored else {}
        exit_code: int | None = command(*bound.args, **bound.kwargs, **given)
        return exit_code or 0

    return app


def _version() -> str:
    from importlib.metadata import version

    return f"wenyuan {version('wenyuan')}"
