"""What every command shares: where the library is, how to speak, and where to write."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import platformdirs
from cyclopts import Parameter

from wenyuan.doors.cli.errors_zh import in_chinese
from wenyuan.doors.cli.messages import Messages
from wenyuan.doors.cli.output import Output, one_line, write_json
from wenyuan.types import Problem

if TYPE_CHECKING:
    from wenyuan.runtime.library import Library
    from wenyuan.runtime.upkeep import Finding

# Loaded when a library is opened: printing help must not load what reads, searches and embeds.
_RUNTIME, _DOCTOR = "wenyuan.runtime.opening", "wenyuan.runtime.doctor"

OK, DOCUMENT_AT_FAULT, REGRESSED, INTERRUPTED = 0, 4, 7, 130


@dataclass(frozen=True, slots=True)
class Session:
    """One run of the program. `path` is the library asked for, or None for the usual one."""

    path: str | None
    json: bool
    say: Messages
    out: Output
    notes: Output

    @property
    def library(self) -> str:
        """`--library`, else `$WENYUAN_LIBRARY`, else the folder that the platform has for a user's data."""
        chosen = self.path or os.environ.get("WENYUAN_LIBRARY")
        return chosen or str(Path(platformdirs.user_data_dir("wenyuan")) / "library")

    @property
    def blobs(self) -> str | None:
        """`$WENYUAN_BLOBS`: where a library in PostgreSQL has its files."""
        return os.environ.get("WENYUAN_BLOBS")

    def open(self, *, create: bool = False, replica: str | None = None) -> Library:
        runtime = import_module(_RUNTIME)
        library: Library = runtime.open_library(self.library, blobs=self.blobs, replica=replica, create=create)
        return library

    def migrate(self) -> int:
        """Bring the library to the schema of this program, and return its number."""
        schema: int = import_module(_RUNTIME).migrate_library(self.library)
        return schema

    def examine(self) -> list[Finding]:
        """What is to be said of the library and what it runs on, whether or not it can be opened."""
        findings: list[Finding] = import_module(_DOCTOR).examine(self.library, blobs=self.blobs)
        return findings

    def command(self, text: str) -> str:
        """A command to type next, aimed at the same library."""
        option = f"--library {shlex.quote(str(self.path))} " if self.path is not None else ""
        return f"wenyuan {option}{text}"

    def show(self, value: Any, render: Callable[[], None]) -> None:
        """Write a result: as JSON where that was asked for, else as `render` does it."""
        if self.json:
            write_json(value)
        else:
            render()

    def worded(self, problem: Problem) -> Problem:
        """A problem in the language of this session."""
        return in_chinese(problem) if self.say.chinese else problem

    def show_problems(self, found: Sequence[tuple[str, Problem]]) -> None:
        """Each thing that has a problem, with its reason and what to do about it below."""
        for title, problem in found:
            self.out.line(one_line(title), indent=2, whole=True)
            self.show_problem(problem, self.out, indent=4)

    def reason(self, problem: Problem | None) -> str:
        """A problem in one line, for a table."""
        return f"{problem.code}: {self.worded(problem).message}" if problem is not None else ""

    def show_problem(self, problem: Problem, output: Output, indent: int = 0) -> None:
        worded = self.worded(problem)
        output.line((f"error[{worded.code}]: ", "bold red"), worded.message, indent=indent)
        if worded.hint:
            output.line((self.say("hint"), "bold"), worded.hint, indent=indent)


Given = Annotated[Session, Parameter(parse=False)]
"""A command's session, handed to it by the program and never read from the command line."""


def new_session(path: str | None, *, json: bool) -> Session:
    return Session(path, json, Messages.of_environment(os.environ), Output(sys.stdout), Output(sys.stderr))
