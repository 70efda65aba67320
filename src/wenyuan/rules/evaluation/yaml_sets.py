"""Evaluation sets in YAML: read with the line of every field, and added to without touching what is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import yaml

from wenyuan.errors import EvaluationSetInvalid
from wenyuan.rules.evaluation.case_rows import Row, SetFile, cases_of
from wenyuan.rules.evaluation.cases import EvaluationSet

# libyaml's reader is many times faster, where it is there.
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TOP = ("name", "knowledge_bases", "note", "cases")
_HEAD = "# Questions and what they should find: `wenyuan eval run` asks them.\ncases:\n"
_INDENT = 2
_WHOLE, _DECIMAL = re.compile(r"[-+]?\d{1,18}"), re.compile(r"[-+]?\d{1,18}\.\d{1,18}")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def read_yaml_set(text: str, path: str, default_name: str) -> EvaluationSet:
    """A set from YAML text. Raises `EvaluationSetInvalid`, naming the file and the line."""
    nodes = _Nodes(path)
    top = nodes.composed(text)
    if isinstance(top, yaml.SequenceNode):
        return EvaluationSet(default_name, cases_of(SetFile(path), nodes.rows(top)))
    if not isinstance(top, yaml.MappingNode):
        nodes.refuse(top, "a set is a list of cases, or has one under `cases`")
    fields = {name: node for name, node, _ in nodes.pairs(top)}
    for name, node in fields.items():
        if name not in _TOP:
            nodes.refuse(node, f"{name!r} is not a field of a set; these are: {', '.join(_TOP)}")
    cases = fields.get("cases")
    if not isinstance(cases, yaml.SequenceNode):
        nodes.refuse(cases or top, "`cases` must be a list")
    name = nodes.words(fields["name"]) if "name" in fields else default_name
    bases = nodes.words(fields["knowledge_bases"]) if "knowledge_bases" in fields else []
    listed = tuple(bases) if isinstance(bases, list) else (bases,)
    if not isinstance(name, str) or not name.strip() or not all(isinstance(one, str) and one for one in listed):
        nodes.refuse(top, "`name` must be a text and `knowledge_bases` a list of names")
    return EvaluationSet(name.strip(), cases_of(SetFile(path, listed), nodes.rows(cases)))


def has_no_cases(text: str, path: str) -> bool:
    """Whether a file says nothing yet, or ends with an empty `cases:`. Raises `EvaluationSetInvalid`."""
    top = _Nodes(path).composed(text)
    last = top.value[-1][1] if isinstance(top, yaml.MappingNode) and top.value else None
    return top is None or (isinstance(last, yaml.ScalarNode) and not last.value)


def addition(text: str, path: str, fields: Mapping[str, Any]) -> str:
    """What to write at the end of a set's text, itself unchanged, to add a case; an empty text gets a head as well.

    Raises `EvaluationSetInvalid` where the list of cases does not stand last.
    """
    nodes = _Nodes(path)
    cases = top = nodes.composed(text)
    gap = "" if not text or text.endswith("\n") else "\n"
    if top is None:
        return gap + _HEAD + _written(fields, _INDENT)
    if isinstance(top, yaml.MappingNode) and top.value:
        *_, (name, cases, _) = nodes.pairs(top)
        if name != "cases":
            nodes.refuse(cases, "`cases` must stand last in the file, so that one can be added at its end")
        if isinstance(cases, yaml.ScalarNode) and not cases.value:
            return gap + _written(fields, _INDENT)
    if not isinstance(cases, yaml.SequenceNode) or cases.flow_style:
        nodes.refuse(cases, "the list of cases must have one hyphen a case, so that one can be added at its end")
    return gap + _written(fields, int(cases.start_mark.column))


def _written(fields: Mapping[str, Any], indent: int) -> str:
    """A case as lines of a list whose hyphens are indented so far."""
    lines = yaml.safe_dump([dict(fields)], allow_unicode=True, sort_keys=False, width=100).splitlines()
    return "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines)


class _Nodes:
    """The nodes of one file. Each collection is read once: an alias could stand for more than memory holds."""

    def __init__(self, path: str) -> None:
        self._file = SetFile(path)
        self._seen: set[int] = set()

    def refuse(self, node: Any, reason: str) -> NoReturn:
        self._file.refuse(_line(node), reason)

    def composed(self, text: str) -> Any:
        try:
            return yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, reason = (mark.line + 1 if mark is not None else 1), error.problem
            raise EvaluationSetInvalid(path=self._file.path, line=line, reason=f"not YAML: {reason}") from error
        except yaml.YAMLError as error:
            raise EvaluationSetInvalid(path=self._file.path, line=1, reason=f"not YAML: {error}") from error
        except RecursionError as error:
            raise EvaluationSetInvalid(path=self._file.path, line=1, reason="it is nested too deeply") from error

    def rows(self, cases: Any) -> Iterator[Row]:
        for node in self._once(cases):
            if not isinstance(node, yaml.MappingNode):
                self.refuse(node, "a case must have a `query` and an `expect`")
            fields: dict[str, Any] = {}
            lines: dict[str, int] = {}
            for name, value, line in self.pairs(node):
                fields[name] = self.values(value) if name == "filters" else self.words(value)
                lines[name] = line
            yield Row(_line(node), fields, lines)

    def pairs(self, node: Any) -> Iterator[tuple[str, Any, int]]:
        named: set[str] = set()
        for key, value in self._once(node):
            if not isinstance(key, yaml.ScalarNode):
                self.refuse(key, "the name of a field must be a word")
            if key.value in named:
                self.refuse(key, f"{key.value!r} stands here twice")
            named.add(key.value)
            yield key.value, value, _line(key)

    def words(self, node: Any) -> Any:
        """What a node says as it is written: a date or a number in a question stays as it was typed."""
        return node.value if isinstance(node, yaml.ScalarNode) else self._collection(node, self.words)

    def values(self, node: Any) -> Any:
        """The same with numbers, truth values and null as such, where they are not quoted."""
        if not isinstance(node, yaml.ScalarNode):
            return self._collection(node, self.values)
        text: str = node.value
        if node.style:
            return text
        if _WHOLE.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            return float(text)
        return _WORDS.get(text.lower(), text)

    def _collection(self, node: Any, read: Callable[[Any], Any]) -> Any:
        if isinstance(node, yaml.SequenceNode):
            return [read(inner) for inner in self._once(node)]
        return {name: read(inner) for name, inner, _ in self.pairs(node)}

    def _once(self, node: Any) -> Any:
        if id(node) in self._seen:
            self.refuse(node, "a list or mapping is referred to by an alias; write it out")
        self._seen.add(id(node))
        return node.value


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1 if node is not None else 1
