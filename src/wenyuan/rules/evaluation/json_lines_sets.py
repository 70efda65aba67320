"""Evaluation sets in JSON Lines: one case a line, with the fields that YAML sets have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wenyuan.rules.evaluation.case_rows import Row, SetFile, cases_of
from wenyuan.rules.evaluation.cases import EvaluationSet


def read_json_lines_set(lines: Iterable[str], path: str, name: str) -> EvaluationSet:
    """A set from lines of text. Raises `EvaluationSetInvalid`, naming the file and the line."""
    file = SetFile(path)
    return EvaluationSet(name, cases_of(file, objects(file, lines)))


def objects(file: SetFile, lines: Iterable[str]) -> Iterator[Row]:
    """The JSON object of each line that is not empty."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                file.refuse(number, f"not JSON: {error}")
            if not isinstance(value, dict):
                file.refuse(number, "it is no JSON object")
            yield Row(number, value)


def written_case(fields: Mapping[str, Any]) -> str:
    """One case as a line."""
    return json.dumps(fields, ensure_ascii=False) + "\n"
