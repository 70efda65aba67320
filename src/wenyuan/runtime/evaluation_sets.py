"""Evaluation sets that a library keeps itself, by name: listed, added to, and run in the background."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wenyuan.errors import EvaluationSetInvalid, EvaluationSetNotFound, FileUnreadable, InvalidValue
from wenyuan.rules.evaluation.cases import Case
from wenyuan.rules.evaluation.results import CaseResult, RunRecord
from wenyuan.runtime.background import Background, Deed, Report
from wenyuan.runtime.evaluation import Evaluation
from wenyuan.types import Problem

FOLDER = "evaluation"
"""Where in the folder of a library its sets lie."""

_NAME = re.compile(r"\w[\w -]{0,98}\w|\w")
# With a suffix, it goes into a backup in hex.
_MOST_BYTES = 110
_NEW, _SUFFIXES = ".yaml", (".yaml", ".yml", ".jsonl")


@dataclass(frozen=True, slots=True)
class SetView:
    """A set: how many cases it has, its newest run, and why it cannot be read, if it cannot."""

    name: str
    cases: int
    last_run: RunRecord | None
    problem: Problem | None


class EvaluationSets:
    def __init__(self, library: Path, evaluation: Evaluation) -> None:
        self._folder = library / FOLDER
        self._evaluation = evaluation
        self._background = Background("A run of an evaluation set")

    def list(self) -> list[SetView]:
        found = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        return [self._view(path) for path in found if path.suffix in _SUFFIXES and _NAME.fullmatch(path.stem)]

    def cases(self, name: str) -> tuple[Case, ...]:
        """The cases of a set. Raises `EvaluationSetNotFound`, or what `Evaluation.read` raises."""
        return self._evaluation.read(self._found(name)).cases

    def add_case(
        self,
        name: str,
        question: str | None = None,
        *,
        trace: str | None = None,
        expect: Sequence[str] = (),
        tags: Sequence[str] = (),
        kb: Sequence[str] = (),
    ) -> Case:
        """Write one more case at the end of a set, which is made where there is none; see `Evaluation.add_case`."""
        path = self._at(name)
        self._folder.mkdir(exist_ok=True)
        return self._evaluation.add_case(path, question, trace=trace, expect=expect, tags=tags, kb=kb)

    def begin(self, name: str, *, kb: Sequence[str] = (), sample: int | None = None, cutoff: int = 10) -> Deed:
        """Run a set in the background, and keep the run. Raises `EvaluationSetNotFound` or `AlreadyRunning`.

        What `Evaluation.run` raises becomes the problem of the deed.
        """
        path = self._found(name)

        def run(report: Report) -> str:
            def watch(done: int, total: int, _: CaseResult) -> None:
                report(done, total)

            return self._evaluation.run(path, kb=kb, sample=sample, cutoff=cutoff, watch=watch).record.id

        return self._background.begin(name, run)

    def running(self) -> Deed | None:
        """The run that is being made, else the last one that was begun here."""
        return self._background.deed

    def stop(self) -> Deed | None:
        """End the run after its next case; the cases that were finished are kept."""
        self._background.stop()
        return self._background.deed

    def close(self) -> None:
        self._background.join()

    def _view(self, path: Path) -> SetView:
        runs = self._evaluation.runs(path.stem, 1)
        last = runs[0] if runs else None
        try:
            return SetView(path.stem, len(self._evaluation.read(path).cases), last, None)
        except (EvaluationSetInvalid, FileUnreadable) as error:
            return SetView(path.stem, 0, last, error.problem())

    def _found(self, name: str) -> Path:
        path = self._at(name)
        if not path.is_file():
            raise EvaluationSetNotFound(name=name)
        return path

    def _at(self, name: str) -> Path:
        if not _NAME.fullmatch(name) or len(name.encode()) > _MOST_BYTES:
            reason = "it is letters, digits, '_', '-' and spaces, at most 100 of Latin scripts or 36 of Chinese"
            raise InvalidValue(what="The name of a set", value=name[:100], reason=reason)
        paths = [self._folder / f"{name}{suffix}" for suffix in _SUFFIXES]
        return next((path for path in paths if path.is_file()), self._folder / f"{name}{_NEW}")
