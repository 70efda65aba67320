"""One more case at the end of a set; what was written there before stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wenyuan.errors import EvaluationSetInvalid, FileUnreadable, InvalidValue
from wenyuan.flows.evaluate.sets import read_text
from wenyuan.rules.evaluation import json_lines_sets, yaml_sets
from wenyuan.rules.evaluation.case_rows import Row, SetFile, cases_of
from wenyuan.rules.evaluation.cases import Case
from wenyuan.types import JsonObject


def append_case(path: Path, fields: Mapping[str, Any]) -> Case:
    """Write a case at the end of a YAML or JSON Lines set, and make the file where there is none.

    The file is read with the case before anything is written. Raises `EvaluationSetInvalid`,
    `InvalidValue` for another kind of file, or `FileUnreadable`.
    """
    if path.suffix not in (".yaml", ".yml", ".jsonl"):
        raise InvalidValue(what="A set to add to", value=str(path), reason="it must end in .yaml or .jsonl")
    text = read_text(path) if path.exists() else ""
    before = _cases(path, text)
    new = _addition(path, text, fields)
    after = _cases(path, text + new)
    (meant,) = cases_of(SetFile(str(path)), [Row(text.count("\n") + 1, fields)])
    if after[:-1] != before or replace(after[-1], id=meant.id, knowledge_bases=meant.knowledge_bases) != meant:
        reason = "a case cannot be added at its end without changing what is there"
        raise EvaluationSetInvalid(path=path, line=text.count("\n") + 1, reason=reason)
    try:
        with path.open("ab") as file:
            # What the file has for line ends goes on; it was read with line feeds.
            ends = b"\r\n" if b"\r\n" in path.read_bytes() else b"\n"
            file.write(new.encode().replace(b"\n", ends))
    except OSError as error:
        raise FileUnreadable(path=path, reason=error.strerror or error) from error
    return after[-1]


def shortest(expected: Sequence[JsonObject]) -> Any:
    """What is expected as a person would write it: one thing stands alone, and a mere document is its name."""
    written = [one["document"] if len(one) == 1 else dict(one) for one in expected]
    return written[0] if len(written) == 1 else written


def refuse_narrowed(scope: Mapping[str, Any], filters: Mapping[str, Any] | None) -> None:
    """Raise `InvalidValue` for the scope of a trace that a case cannot repeat.

    A trace keeps what its filters came down to, which is not how they were written.
    """
    if scope["documents"] is not None:
        raise InvalidValue(what="A trace", value="documents", reason="a search in named documents cannot become a case")
    if scope["conditions"] and not filters:
        raise InvalidValue(what="A trace", value="filters", reason="its search had filters; give them again")


def _addition(path: Path, text: str, fields: Mapping[str, Any]) -> str:
    if path.suffix == ".jsonl":
        gap = "" if not text or text.endswith("\n") else "\n"
        return gap + json_lines_sets.written_case(fields)
    return yaml_sets.addition(text, str(path), fields)


def _cases(path: Path, text: str) -> tuple[Case, ...]:
    """The cases in a text; none where it has none yet."""
    if path.suffix == ".jsonl":
        return json_lines_sets.read_json_lines_set(text.split("\n"), str(path), path.stem).cases if text.strip() else ()
    return () if yaml_sets.has_no_cases(text, str(path)) else yaml_sets.read_yaml_set(text, str(path), path.stem).cases
