"""Evaluation, for whoever looks after the whole library: its sets ask of any knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.rules.evaluation.cases import Case as Case
from wenyuan.runtime.access import Grants
from wenyuan.runtime.background import Deed as Deed
from wenyuan.runtime.evaluation import Comparison, EvaluationRun, RunRecord
from wenyuan.runtime.evaluation_sets import EvaluationSets
from wenyuan.runtime.evaluation_sets import SetView as SetView
from wenyuan.runtime.library import Library


@dataclass(frozen=True, slots=True)
class GrantedEvaluation:
    library: Library
    grants: Grants

    def runs(self, set_name: str | None, limit: int) -> list[RunRecord]:
        self.grants.require_all()
        return self.library.evaluation.runs(set_name, limit)

    def run(self, run: str) -> EvaluationRun:
        self.grants.require_all()
        return self.library.evaluation.show(run)

    def compare(self, before: str, after: str) -> Comparison:
        self.grants.require_all()
        return self.library.evaluation.compare(before, after)

    def delete_run(self, run: str) -> None:
        self.grants.require_all()
        self.library.evaluation.delete(run)

    def sets(self) -> list[SetView]:
        return self._sets().list()

    def cases(self, name: str) -> tuple[Case, ...]:
        return self._sets().cases(name)

    def add_case(
        self,
        name: str,
        question: str | None,
        *,
        trace: str | None,
        expect: Sequence[str],
        tags: Sequence[str],
        kb: Sequence[str],
    ) -> Case:
        return self._sets().add_case(name, question, trace=trace, expect=expect, tags=tags, kb=kb)

    def begin(self, name: str, *, kb: Sequence[str], sample: int | None, cutoff: int) -> Deed:
        return self._sets().begin(name, kb=kb, sample=sample, cutoff=cutoff)

    def running(self) -> Deed | None:
        return self._sets().running()

    def stop(self) -> Deed | None:
        return self._sets().stop()

    def _sets(self) -> EvaluationSets:
        self.grants.require_all()
        return self.library.evaluation_sets
