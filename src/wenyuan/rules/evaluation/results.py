"""What came of running a set: case by case, and in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from wenyuan.types import JsonObject


@dataclass(frozen=True, slots=True)
class Found:
    """Something expected, and where it stood: in the result, and in each list that looked for it.

    `rank` is None where it did not appear, and `is_there` false where the library does not have it.
    """

    name: str
    grade: int
    rank: int | None = None
    lists: Mapping[str, int] = field(default_factory=dict)
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case's result. `measures` are empty where nothing was expected.

    `lists` are the measures of each list alone, as it contributed to this search; `alone` those of a
    search by that list and nothing else, where these were made. `grounded` and `similarity` say how
    sure the search was to have found anything, and `milliseconds` are by stage, with `total`.
    `error` is the code of what kept the search from being made. A trace is kept of a case that did not
    pass.
    """

    id: str
    digest: str
    query: str
    tags: tuple[str, ...]
    language: str
    expected: tuple[Found, ...]
    ranked: tuple[str, ...]
    measures: Mapping[str, float]
    passed: bool
    lists: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    alone: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    grounded: float | None = None
    verdict: str = ""
    similarity: float | None = None
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    why_empty: str | None = None
    error: str | None = None
    trace_id: str = ""

    @property
    def expects_nothing(self) -> bool:
        return not self.expected

    @property
    def first_rank(self) -> int | None:
        """The rank of the first thing found that was expected."""
        return min((one.rank for one in self.expected if one.rank is not None), default=None)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is expected and not in the library."""
        return tuple(one.name for one in self.expected if not one.is_there)


@dataclass(frozen=True, slots=True)
class Figures:
    """The mean of each measure over `cases` cases."""

    cases: int
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ListFigures:
    """What one list did for the `cases` it had anything for: how many it found, and how many no other list found."""

    measures: Mapping[str, float]
    found: int
    found_alone: int
    cases: int = 0


@dataclass(frozen=True, slots=True)
class Separation:
    """How well questions with an answer are told from those without one.

    The AUROC of what the search says of its ground, and that of the best cosine similarity, over
    `answerable` and `nothing` cases.
    """

    answerable: int
    nothing: int
    grounded: float | None
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in figures.

    `answerable` cases expect something and have measures; `nothing` cases do not. `verdicts` count the
    cases of both kinds whose ground was judged rightly. `milliseconds` are by stage, `total` first.
    """

    cases: int
    answerable: int
    nothing: int
    passed: int
    overall: Figures
    tags: Mapping[str, Figures] = field(default_factory=dict)
    languages: Mapping[str, Figures] = field(default_factory=dict)
    lists: Mapping[str, ListFigures] = field(default_factory=dict)
    alone: Mapping[str, Figures] = field(default_factory=dict)
    separation: Mapping[str, Separation] = field(default_factory=dict)
    verdicts: Mapping[str, int] = field(default_factory=dict)
    milliseconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    degraded: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run without its cases: what was run, when, under which settings, and its figures.

    `complete` is false where it was interrupted; it then has the cases that were finished.
    """

    id: str
    set_name: str
    set_digest: str
    created_at: int
    complete: bool
    settings: JsonObject
    summary: Summary


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """A run and the result of each of its cases, in the order of the set."""

    record: RunRecord
    cases: tuple[CaseResult, ...]


def case_from_json(value: Mapping[str, Any]) -> CaseResult:
    """The result that `as_json` wrote; fields a newer program added are ignored."""
    known = _known(CaseResult, value)
    return CaseResult(
        **{
            **known,
            "expected": tuple(Found(**_known(Found, one)) for one in value["expected"]),
            **{name: tuple(value[name]) for name in ("tags", "ranked", "degraded")},
        }
    )


def summary_from_json(value: Mapping[str, Any]) -> Summary:
    known = _known(Summary, value)
    kinds: Mapping[str, type[Any]] = {
        "tags": Figures,
        "languages": Figures,
        "lists": ListFigures,
        "alone": Figures,
        "separation": Separation,
    }
    nested = {
        name: {key: kind(**_known(kind, one)) for key, one in value.get(name, {}).items()}
        for name, kind in kinds.items()
    }
    return Summary(**{**known, **nested, "overall": Figures(**_known(Figures, value["overall"]))})


def as_json(value: CaseResult | Summary) -> JsonObject:
    return asdict(value)


def _known(kind: type[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(kind)}
    return {name: inner for name, inner in value.items() if name in names}
