"""Evaluation, as a door sees it: sets are run, kept, compared and added to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from wenyuan.errors import (
    CitationNotFound,
    DocumentAmbiguous,
    DocumentNotFound,
    ExpectationMissing,
    InvalidValue,
    KnowledgeBaseNotFound,
    PackNotImported,
)
from wenyuan.flows.evaluate.adding import append_case, refuse_narrowed, shortest
from wenyuan.flows.evaluate.running import Evaluating, RunOptions, Search, run_cases
from wenyuan.flows.evaluate.sets import (
    NO_SOURCE_FILE,
    NO_SOURCE_SUFFIX,
    pack_name,
    read_corpus,
    read_removal,
    read_set,
)
from wenyuan.flows.evaluate.targets import resolve
from wenyuan.flows.given import TextToAdd
from wenyuan.flows.receive import Received
from wenyuan.identifiers import new_id
from wenyuan.language import RULE_SET_VERSION
from wenyuan.rules.evaluation.case_rows import NOTHING
from wenyuan.rules.evaluation.cases import Case, EvaluationSet, part_of
from wenyuan.rules.evaluation.comparison import (
    CaseChange,
    Comparison,
    FailOn,
    Failure,
    Threshold,
    compared,
    failures,
    read_threshold,
)
from wenyuan.rules.evaluation.ranking import Target
from wenyuan.rules.evaluation.results import CaseResult, EvaluationRun, Figures, RunRecord, Summary
from wenyuan.rules.evaluation.summary import summarised
from wenyuan.rules.evaluation.trec import judgement_lines, run_lines
from wenyuan.runtime.documents import Documents
from wenyuan.runtime.jobs import Progress
from wenyuan.runtime.knowledge_bases import KnowledgeBases
from wenyuan.store import evaluations, indexes, knowledge_bases
from wenyuan.store.database import Database
from wenyuan.types import Document, JsonObject, Problem, Scope

__all__ = [
    "CaseChange",
    "CaseResult",
    "Comparison",
    "Evaluation",
    "EvaluationRun",
    "Failure",
    "Figures",
    "Imported",
    "RunRecord",
    "Summary",
    "Threshold",
]

_MOST_JOBS = 64
_DEEPEST_CUTOFF = 100
_LAST = "last"


class _Added(Protocol):
    @property
    def received(self) -> tuple[Received, ...]: ...


class _AddTexts(Protocol):
    def __call__(self, items: Iterable[TextToAdd], *, kb: str | None = None, wait: bool = True) -> _Added: ...


class _Drain(Protocol):
    def __call__(self, max_jobs: int | None = None, watch: Callable[[Progress], None] | None = None) -> int: ...


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a pack's documents in one knowledge base: how many by outcome, and those that were refused.

    `failed` documents were stored and could not be read.
    """

    knowledge_base: str
    counts: Mapping[str, int]
    refused: tuple[tuple[str, Problem], ...]
    failed: int = 0


class Evaluation:
    """Asks questions with known answers, through the very search that people use."""

    def __init__(
        self,
        database: Database,
        principal: str,
        program: str,
        bases: KnowledgeBases,
        documents: Documents,
        search: Search,
        trace: Callable[[str], JsonObject],
        add_texts: _AddTexts,
        drain: _Drain,
    ) -> None:
        self._database = database
        self._principal = principal
        self._program = program
        self._bases = bases
        self._documents = documents
        self._search = search
        self._trace = trace
        self._add_texts = add_texts
        self._drain = drain

    # --- Sets ------------------------------------------------------------------------------------

    def read(self, path: str | os.PathLike[str], *, qrels: str | os.PathLike[str] | None = None) -> EvaluationSet:
        """The cases in a file or pack folder. Raises `EvaluationSetInvalid`, `PathNotFound` or `FileUnreadable`."""
        return read_set(Path(path).expanduser(), Path(qrels).expanduser() if qrels is not None else None)

    def add_case(
        self,
        path: str | os.PathLike[str],
        question: str | None = None,
        *,
        trace: str | None = None,
        expect: Sequence[str] = (),
        case_id: str | None = None,
        tags: Sequence[str] = (),
        kb: Sequence[str] = (),
        filters: Mapping[str, Any] | None = None,
    ) -> Case:
        """Write one more case at the end of a YAML or JSON Lines set, which is made where there is none.

        The question is given, or that of a stored trace. Each of `expect` is a document by id, path or
        name, or a passage by its citation id, which is written as the place it stands at, so that it
        holds when the document is read anew; `("nothing",)` says that nothing should be found. Raises
        `ExpectationMissing`, `TraceNotFound`, `DocumentNotFound` or what `read` raises.
        """
        body = self._trace(trace) if trace is not None else None
        if (body is None) == (question is None):
            raise InvalidValue(what="A case", value=question, reason="give either a question or a trace")
        asked: str = question if question is not None else body["question"] if body is not None else ""
        asked = " ".join(asked.split())
        if not expect:
            raise ExpectationMissing(question=asked)
        if body is not None:
            kb = kb or [
                base["name"] for base in body["knowledge_bases"] if body["scope"]["knowledge_bases"] is not None
            ]
            refuse_narrowed(body["scope"], filters)
        fields = {
            "id": case_id,
            "query": asked,
            "expect": NOTHING if tuple(expect) == (NOTHING,) else shortest([self._expected(one) for one in expect]),
            "knowledge_bases": list(kb),
            "filters": dict(filters or {}),
            "tags": list(tags),
        }
        return append_case(Path(path).expanduser(), {name: value for name, value in fields.items() if value})

    def import_pack(
        self,
        folder: str | os.PathLike[str],
        *,
        kb: str | None = None,
        embedding_model: str | None = None,
        wait: bool = True,
        watch: Callable[[Progress], None] | None = None,
    ) -> list[Imported]:
        """Put the corpus of a pack into a knowledge base of its own, made where there is none.

        Each document has its id for a name. Where the pack has a `nosource.json`, a second knowledge
        base holds what is left without the documents it removes. Imported again, it adds what is
        missing. Raises `EvaluationSetInvalid`, `PathNotFound` or what `knowledge_bases.create` raises.
        """
        path = Path(folder).expanduser()
        removal = read_removal(path)
        name = kb or pack_name(path)
        made = [self._import(path, name, frozenset(), embedding_model)]
        if removal is not None:
            made.append(self._import(path, name + NO_SOURCE_SUFFIX, removal.removed, embedding_model))
        if not wait:
            return made
        self._drain(watch=watch)
        return [replace(one, failed=self._bases.show(one.knowledge_base).documents.get("failed", 0)) for one in made]

    # --- Runs ------------------------------------------------------------------------------------

    def run(
        self,
        path: str | os.PathLike[str],
        *,
        qrels: str | os.PathLike[str] | None = None,
        kb: Sequence[str] = (),
        tags: Sequence[str] = (),
        sample: int | None = None,
        cutoff: int = 10,
        each_arm: bool = False,
        jobs: int = 1,
        watch: Callable[[int, int, CaseResult], None] | None = None,
    ) -> EvaluationRun:
        """Ask every case of a set, measure what was found, and keep the run.

        `kb` asks these knowledge bases instead of those that the cases name; `tags` keeps the cases
        with any of them; `sample` takes that many, evenly spread; `cutoff` is how far down a ranking
        counts; `each_arm` also searches by each list alone; `jobs` cases are asked at a time. `watch`
        is called with how many are done, of how many, and the latest. Interrupted, it keeps the cases
        that were finished as an incomplete run. Raises what `read` raises, `PackNotImported`,
        `KnowledgeBaseNotFound` or `InvalidValue`.
        """
        _check("The cutoff", cutoff, _DEEPEST_CUTOFF)
        _check("The number of jobs", jobs, _MOST_JOBS)
        wanted = self.read(path, qrels=qrels)
        chosen = part_of(wanted.cases, tags, sample)
        cases = [replace(case, knowledge_bases=tuple(kb) or case.knowledge_bases) for case in chosen]
        targets = self._targets(cases, Path(path).expanduser())
        tools = Evaluating(self._search, self._trace, self._forget_traces)
        settings = self._settings(cases, tags, sample, cutoff)
        done: list[CaseResult] = []
        try:
            with closing(run_cases(tools, cases, targets, RunOptions(cutoff, each_arm, jobs))) as results:
                for result in results:
                    done.append(result)
                    if watch is not None:
                        watch(len(done), len(cases), result)
        except BaseException:
            if done:
                self._keep(wanted, settings, done, complete=False)
            raise
        return self._keep(wanted, settings, done, complete=True)

    def runs(self, set_name: str | None = None, limit: int = 50) -> list[RunRecord]:
        """Stored runs without their cases, newest first."""
        with self._database.traces.read() as tx:
            if set_name is None:
                return evaluations.listed(tx, self._principal, limit)
            return evaluations.listed_of_set(tx, self._principal, set_name, limit)

    def show(self, run: str) -> EvaluationRun:
        """A stored run with its cases; `last` is the newest one. Raises `EvaluationRunNotFound`."""
        if run == _LAST:
            newest = self.runs(limit=1)
            run = newest[0].id if newest else run
        with self._database.traces.read() as tx:
            return evaluations.find(tx, self._principal, run)

    def previous(self, run: RunRecord) -> RunRecord | None:
        """The complete run of the same set before this one, over the same part of it.

        A part that passed says nothing of the rest, which would then pass for the first time ever.
        """

        def part(one: RunRecord) -> tuple[object, object]:
            return one.settings.get("tags", []), one.settings.get("sample")

        return next(
            (
                one
                for one in self.runs(run.set_name)
                if one.complete and one.id != run.id and one.created_at <= run.created_at and part(one) == part(run)
            ),
            None,
        )

    def compare(self, before: str, after: str) -> Comparison:
        """What changed between two stored runs. Raises `EvaluationRunNotFound`."""
        return compared(self.show(before), self.show(after))

    def thresholds(self, texts: Sequence[str], cutoff: int = 10) -> tuple[Threshold, ...]:
        """Thresholds as they are typed, such as `ndcg=0.9` or `recall[dates]=1`. Raises `InvalidValue`."""
        return tuple(read_threshold(text, cutoff) for text in texts)

    def failures(
        self,
        run: RunRecord,
        comparison: Comparison | None,
        fail_on: FailOn = "auto",
        thresholds: Sequence[Threshold] = (),
    ) -> tuple[Failure, ...]:
        """Why a run is not good enough: a threshold not reached, a significant drop, a case that began to fail.

        `fail_on` says which changes count: `significant` drops of a mean; each `case` that passed before
        as well; `auto` takes cases into account in sets of fewer than 50; with `never` only the
        thresholds count. Raises `InvalidValue` for a threshold on what was not measured.
        """
        return failures(run.summary, comparison, fail_on, thresholds)

    def trec_run(self, run: EvaluationRun) -> Iterator[str]:
        """The lines of a TREC run file: what was found for each query, best first."""
        return (line for case in run.cases for line in run_lines(case.id, case.ranked, run.record.set_name))

    def trec_qrels(self, run: EvaluationRun) -> Iterator[str]:
        """The lines of the judgements that go with it."""
        return (
            line
            for case in run.cases
            for line in judgement_lines(case.id, {one.name: one.grade for one in case.expected})
        )

    def delete(self, run: str) -> None:
        """Forget a run. Raises `EvaluationRunNotFound`."""
        with self._database.traces.write() as tx:
            evaluations.delete(tx, self._principal, run)

    # --- Inside ----------------------------------------------------------------------------------

    def _targets(self, cases: Sequence[Case], path: Path) -> list[tuple[Target, ...]]:
        try:
            return resolve(self._database, self._principal, cases)
        except KnowledgeBaseNotFound as error:
            folder = path.parent if path.name == NO_SOURCE_FILE else path
            if not (folder / "corpus.jsonl").exists():
                raise
            raise PackNotImported(path=path, folder=folder, name=error.details["name"]) from error

    def _settings(self, cases: Sequence[Case], tags: Sequence[str], sample: int | None, cutoff: int) -> JsonObject:
        """Everything that may make two runs differ, as far as it is known."""
        bases: dict[str, JsonObject] = {}
        with self._database.read() as tx:
            for names in dict.fromkeys(case.knowledge_bases for case in cases):
                for base in knowledge_bases.permitted(tx, Scope(self._principal, names or None)):
                    generation = indexes.active(tx, base.id, "vector")
                    bases[base.name] = {
                        "model": base.embedding_model,
                        "fingerprint": generation.fingerprint if generation is not None else None,
                        "documents": knowledge_bases.document_counts(tx, base.id).get("ready", 0),
                    }
        return {
            "program": self._program,
            "rules": RULE_SET_VERSION,
            "knowledge_bases": bases,
            "cutoff": cutoff,
            "tags": list(tags),
            "sample": sample,
        }

    def _keep(
        self, wanted: EvaluationSet, settings: JsonObject, done: Sequence[CaseResult], *, complete: bool
    ) -> EvaluationRun:
        record = RunRecord(new_id("run"), wanted.name, wanted.digest, 0, complete, settings, summarised(done))
        with self._database.traces.write() as tx:
            return evaluations.keep(tx, self._principal, EvaluationRun(record, tuple(done)))

    def _forget_traces(self, trace_ids: Sequence[str]) -> None:
        with self._database.traces.write(durable=False) as tx:
            evaluations.forget_traces(tx, trace_ids)

    def _import(self, folder: Path, name: str, removed: frozenset[str], embedding_model: str | None) -> Imported:
        texts = read_corpus(folder, removed)
        # The first is read before anything is made, in case there is no corpus.
        first = next(texts, None)
        try:
            self._bases.find(name)
        except KnowledgeBaseNotFound:
            self._bases.create(name, embedding_model=embedding_model)
        received = self._add_texts(chain(() if first is None else (first,), texts), kb=name, wait=False).received
        return Imported(
            knowledge_base=name,
            counts=dict(Counter(one.outcome for one in received if one.outcome is not None)),
            refused=tuple((one.source, one.problem) for one in received if one.problem is not None),
        )

    def _expected(self, reference: str) -> JsonObject:
        """A document, or the place of a passage, as a case names it."""
        try:
            return {"document": self._naming(self._documents.find(reference).document)}
        except DocumentNotFound as error:
            try:
                place = self._documents.open(reference)
            except CitationNotFound:
                raise error from None
        anchor = place.anchor
        span = f"{anchor.first}-{anchor.last}" if anchor.last != anchor.first else anchor.first
        where = {"document": self._naming(place.document), anchor.kind: span}
        return {**where, "part": anchor.name} if anchor.name else where

    def _naming(self, document: Document) -> str:
        """A document's name, or its path where the name stands for another one as well."""
        try:
            found = self._documents.find(document.name).document
        except DocumentAmbiguous:
            return document.source
        return document.name if found.id == document.id else document.source


def _check(what: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise InvalidValue(what=what, value=value, reason=f"it must be 1 to {most}")
