"""Cases are asked through the ordinary search, one after the other or several at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

from wenyuan.errors import KnowledgeBaseNotFound, RequestError, TraceNotFound
from wenyuan.rules.evaluation.cases import Case
from wenyuan.rules.evaluation.metrics import Grades, measured
from wenyuan.rules.evaluation.ranking import Target, folded
from wenyuan.rules.evaluation.results import CaseResult, Found
from wenyuan.rules.evaluation.summary import ARMS
from wenyuan.types import ArmName, JsonObject, SearchResult

_EVERY_ARM: tuple[ArmName, ...] = ("structured", "keyword", "vector")
_MOST_HITS = 200
# Several passages of one document count once: where the places are not filled, so many times more are asked for.
_GROWTH = 3
_LONGEST_RANKING = 100


class Search(Protocol):
    def __call__(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        arms: Sequence[ArmName] = _EVERY_ARM,
    ) -> SearchResult: ...


@dataclass(frozen=True, slots=True)
class Evaluating:
    """What running cases needs: the search as everyone has it, and the traces that it keeps."""

    search: Search
    trace: Callable[[str], JsonObject]
    forget_traces: Callable[[Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How far down a ranking is measured, whether each list is asked alone as well, and how many cases at a time."""

    cutoff: int = 10
    each_arm: bool = False
    jobs: int = 1


def run_cases(
    tools: Evaluating, cases: Sequence[Case], targets: Sequence[Sequence[Target]], options: RunOptions
) -> Generator[CaseResult, None, None]:
    """The result of each case, in order. Closed early, it waits for the cases that are being asked.

    Cases that cannot be asked as they are written have an `error`; what keeps any case from being
    asked, such as a `StorageError`, is raised.
    """
    waiting: deque[Future[CaseResult]] = deque()
    remaining = zip(cases, targets, strict=True)
    with ThreadPoolExecutor(max_workers=options.jobs, thread_name_prefix="evaluation") as executor:
        try:
            while True:
                while len(waiting) < 2 * options.jobs and (one := next(remaining, None)) is not None:
                    waiting.append(executor.submit(_run_case, tools, *one, options))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _run_case(tools: Evaluating, case: Case, targets: Sequence[Target], options: RunOptions) -> CaseResult:
    asked = _Asked(tools, case, targets, options)
    try:
        result = asked.search(_EVERY_ARM)
        alone = {str(arm): asked.measured(asked.ranked(asked.search((arm,)))) for arm in _EVERY_ARM if options.each_arm}
    except KnowledgeBaseNotFound:
        raise
    except RequestError as error:
        return _not_asked(case, targets, error.code, options.cutoff)
    made = _result(asked, result, alone)
    # A question that was answered rightly leaves nothing that anyone would look up.
    kept = replace(made, trace_id="") if made.passed else made
    tools.forget_traces([trace_id for trace_id in asked.trace_ids if trace_id != kept.trace_id])
    return kept


class _Asked:
    """One case and the searches made for it."""

    def __init__(self, tools: Evaluating, case: Case, targets: Sequence[Target], options: RunOptions) -> None:
        self.case = case
        self.targets = targets
        self.cutoff = options.cutoff
        self.grades: Grades = {one.name: one.grade for one in targets}
        self.within = case.within or options.cutoff
        self.trace_ids: list[str] = []
        self._tools = tools

    def search(self, arms: Sequence[ArmName]) -> SearchResult:
        """The search, made again with more hits until those fill the places that are measured, where there are any."""
        hits = places = max(self.cutoff, self.within)
        while True:
            bases = self.case.knowledge_bases or None
            result = self._tools.search(self.case.query, kb=bases, filters=self.case.filters, top_k=hits, arms=arms)
            self.trace_ids.append(result.trace_id)
            if len(result.hits) < hits or hits == _MOST_HITS or len(self.ranked(result)) >= places:
                return result
            hits = min(_MOST_HITS, hits * _GROWTH)

    def ranked(self, result: SearchResult) -> list[str]:
        names = {hit.passage.chunk_id: hit.passage.document_name for hit in result.hits}
        return folded(names, self.targets, names)

    def measured(self, ranked: Sequence[str]) -> dict[str, float]:
        return measured(ranked, self.grades, self.cutoff) if self.targets else {}

    def trace(self, trace_id: str) -> JsonObject | None:
        try:
            return self._tools.trace(trace_id)
        except TraceNotFound:
            # It could not be kept, which the result names among what it did without.
            return None


def _result(asked: _Asked, result: SearchResult, alone: Mapping[str, Mapping[str, float]]) -> CaseResult:
    case, ranked, trace = asked.case, asked.ranked(result), asked.trace(result.trace_id)
    lists = _lists(trace["candidates"], asked.targets) if trace is not None else {}
    best = [one["best_similarity"] for one in trace["candidates"]] if trace is not None else []
    places = [{name: rank for rank, name in enumerate(ranking, start=1)} for ranking in (ranked, *lists.values())]
    expected = tuple(
        Found(
            name=target.name,
            grade=target.grade,
            rank=places[0].get(target.name),
            lists={
                arm: found[target.name] for arm, found in zip(lists, places[1:], strict=True) if target.name in found
            },
            is_there=target.is_there,
        )
        for target in asked.targets
    )
    first = min((one.rank for one in expected if one.rank is not None), default=None)
    return CaseResult(
        id=case.id,
        digest=case.digest,
        query=case.query,
        tags=case.tags,
        language=case.language or result.plan.language,
        expected=expected,
        ranked=tuple(ranked[:_LONGEST_RANKING]),
        measures=asked.measured(ranked),
        passed=first is not None and first <= asked.within if expected else result.grounding.verdict == "unlikely",
        lists={arm: asked.measured(ranking) for arm, ranking in lists.items() if asked.targets},
        alone=alone if asked.targets else {},
        grounded=result.grounding.value,
        verdict=result.grounding.verdict,
        similarity=max((one for one in best if one is not None), default=None),
        # The first search asked for about as much as people do.
        milliseconds=_milliseconds(asked.trace(asked.trace_ids[0])),
        degraded=result.degraded,
        why_empty=result.why_empty,
        trace_id=result.trace_id,
    )


def _not_asked(case: Case, targets: Sequence[Target], code: str, cutoff: int) -> CaseResult:
    grades = {one.name: one.grade for one in targets}
    return CaseResult(
        id=case.id,
        digest=case.digest,
        query=case.query,
        tags=case.tags,
        language=case.language,
        expected=tuple(Found(one.name, one.grade, is_there=one.is_there) for one in targets),
        ranked=(),
        measures=measured((), grades, cutoff) if targets else {},
        passed=False,
        error=code,
    )


def _lists(candidates: Sequence[JsonObject], targets: Sequence[Target]) -> dict[str, list[str]]:
    """The ranking of each list that found anything; those of several knowledge bases are joined rank by rank."""
    names = {passage: name for one in candidates for passage, name in one["documents"].items()}
    rankings: dict[str, list[str]] = {}
    for arm in ARMS:
        placed = [
            (rank, base, found["chunk"])
            for base, one in enumerate(candidates)
            for rank, found in enumerate(one.get(arm, ()))
            if found["chunk"] is not None
        ]
        if placed:
            rankings[arm] = folded([passage for _, _, passage in sorted(placed)], targets, names)
    return rankings


def _milliseconds(trace: JsonObject | None) -> dict[str, float]:
    """How long the search took, and each of its stages; a stage that was gone through twice counts whole."""
    if trace is None:
        return {}
    taken = {"total": float(trace["total_ms"])}
    for stage in trace["stages"]:
        if stage["status"] != "degraded":
            taken[stage["name"]] = round(taken.get(stage["name"], 0.0) + stage["ms"], 2)
    return taken
