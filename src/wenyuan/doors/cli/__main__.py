"""Runs one command and ends with its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import CycloptsError

from wenyuan.doors.cli.application import application
from wenyuan.doors.cli.output import write_json
from wenyuan.doors.cli.session import INTERRUPTED, Session, new_session
from wenyuan.errors import WenyuanError
from wenyuan.types import Problem

_USAGE, _BROKEN_PIPE = 2, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, which follows the class of the error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    end = given.index("--") if "--" in given else len(given)
    options, questions = given[:end], given[end + 1 :]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        exit_code = _run(options, questions)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough. What is left in the buffer must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return exit_code


def _run(options: list[str], questions: list[str]) -> int:
    session = new_session(None, json="--json" in options)
    try:
        app = application(questions).meta
        result = app(options, exit_on_error=False, print_error=False, result_action="return_value")
        return result if isinstance(result, int) else 0
    except CycloptsError as error:
        return _failed(session, _usage(session, error), _USAGE)
    except WenyuanError as error:
        return _failed(session, error.problem(), error.exit_code)
    except KeyboardInterrupt:
        return _failed(session, Problem("interrupted", session.say("interrupted"), ""), INTERRUPTED)


def _usage(session: Session, error: CycloptsError) -> Problem:
    error.verbose = False
    command = " ".join(("wenyuan", *(error.command_chain or ()), "--help"))
    return Problem("usage", session.say("usage", reason=str(error)), session.say("usage.hint", command=command))


def _failed(session: Session, problem: Problem, exit_code: int) -> int:
    if session.json:
        worded = session.worded(problem)
        write_json({"error": {"code": worded.code, "message": worded.message, "hint": worded.hint}})
    else:
        session.show_problem(problem, session.notes)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
