"""Runs of evaluation sets as they stand in an archive, each value of the kind it should be."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from wenyuan.errors import WenyuanError
from wenyuan.flows.archive.fields import Fields
from wenyuan.rules.evaluation.results import (
    CaseResult,
    EvaluationRun,
    RunRecord,
    Summary,
    as_json,
    case_from_json,
    summary_from_json,
)

_MOST_CASES = 1_000_000


def encoded_run(run: EvaluationRun) -> dict[str, Any]:
    record = run.record
    return {
        "set_name": record.set_name,
        "set_digest": record.set_digest,
        "created_at": record.created_at,
        "complete": record.complete,
        "settings": record.settings,
        "summary": as_json(record.summary),
        "cases": [as_json(case) for case in run.cases],
    }


def decoded_run(value: Any, run_id: str, invalid: Callable[[str], WenyuanError]) -> EvaluationRun:
    """A run under a new id. Raises what `invalid` makes of a reason."""
    run = Fields(value, "a run", invalid)
    listed = run.list_of_fields("cases", _MOST_CASES)
    try:
        summary = summary_from_json(run.object("summary"))
        cases = tuple(
            case_from_json(one.object("case")) for one in (_wrapped(case, invalid) for case in value["cases"])
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise run.wrong("summary or cases") from error
    if len(cases) != len(listed) or not _fits(summary, Summary) or not all(_fits(one, CaseResult) for one in cases):
        raise run.wrong("summary or cases")
    record = RunRecord(
        run_id,
        run.text("set_name"),
        run.text("set_digest"),
        run.number("created_at"),
        run.flag("complete"),
        run.object("settings"),
        summary,
    )
    return EvaluationRun(record, cases)


def _wrapped(case: Any, invalid: Callable[[str], WenyuanError]) -> Fields:
    return Fields({"case": case}, "a run", invalid)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the kind that a type says, down to what is in it."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(one, inner[0]) for one in value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(
            isinstance(key, str) and _fits(one, inner[1]) for key, one in value.items()
        )
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return type(value) is hint and all(_fits(getattr(value, one.name), hints[one.name]) for one in fields(hint))
    if hint is float:
        return type(value) in (int, float)
    return type(value) is hint
