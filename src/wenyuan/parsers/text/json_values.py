"""JSON (RFC 8259) as a stream of its single values, each with its path and its line.

Flat lines of `path: value` are what can be searched and cited: escapes are resolved, and a value
keeps the line it stands on. Nothing is built of the document, so neither its length nor its depth
costs memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

DEEPEST = 1_000
"""Levels of nesting that are read; a document that goes deeper is not for people."""

_LONGEST_PATH = 200
_ENOUGH_TO_JUDGE = 400
# Tabs within strings are let through: the standard forbids them, but programs write them.
_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:(?P<mark>[{}\[\],:])"
    r'|"(?P<string>(?:[^"\\\n]++|\\.)*+)"'
    r"|(?P<plain>(?:true|false|null|-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?)(?![\w.+-])))"
)
_UNFINISHED_STRING = re.compile(r'[ \t\n\r]*+"(?:[^"\\\n]++|\\.)*+\\?\Z')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonProblem(ValueError):
    """The document is not JSON; the message says where and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")


class FlatValue(NamedTuple):
    """One string, number, literal or empty container.

    `record` counts the elements of the outermost array, or the members of the outermost object,
    from 0; it is -1 for a document that is a single value.
    """

    record: int
    path: str
    text: str
    line: int


class _Token(NamedTuple):
    kind: str
    """A punctuation mark, `string`, `plain`, or `end`."""
    text: str
    line: int


def flat_values(pieces: Iterable[str], first_line: int = 1) -> Iterator[FlatValue]:
    """Yield the values of one JSON document. Raises `JsonProblem`, possibly after some values.

    Paths are written `a.b[0].c`; the index into an outermost array is left out, since records stand
    for themselves. Lone surrogates become U+FFFD.
    """
    tokens = _tokens(pieces, first_line)
    walk = _Walk()
    for token in tokens:
        if token.kind == "end":
            walk.finish(token.line)
            return
        value = walk.take(token)
        if value is not None:
            yield value


class _Walk:
    """Where in the document the tokens have led, and what may come next."""

    def __init__(self) -> None:
        self._containers: list[str] = []
        self._prefixes: list[str] = []
        self._indexes: list[int] = []
        self._key = ""
        self._expected = "value"
        self._record = -1

    def take(self, token: _Token) -> FlatValue | None:
        """Go on by one token; return the value it completes, if it does."""
        kind, text, line = token
        if self._expected in ("value", "value or ]"):
            if kind in ("string", "plain"):
                return self._value(text, line)
            if kind in ("{", "["):
                self._open(kind, line)
                return None
            if kind == "]" and self._expected == "value or ]":
                return self._close_empty("[]", line)
        elif self._expected in ("key", "key or }"):
            if kind == "string":
                self._key, self._expected = text, ":"
                return None
            if kind == "}" and self._expected == "key or }":
                return self._close_empty("{}", line)
        elif self._expected == ":" and kind == ":":
            self._expected = "value"
            return None
        elif self._expected == ", or end" and self._containers:
            is_array = self._containers[-1] == "["
            if kind == ",":
                self._indexes[-1] += 1
                self._expected = "value" if is_array else "key"
                return None
            if kind == ("]" if is_array else "}"):
                self._close()
                return None
        raise JsonProblem(line, f"{_shown(token)} where {self._expected} was expected")

    def finish(self, line: int) -> None:
        """Check that the document is complete."""
        if self._containers or self._expected != ", or end":
            raise JsonProblem(line, f"the file ends where {self._expected} was expected")

    def _value(self, text: str, line: int) -> FlatValue:
        self._begin_value()
        self._expected = ", or end"
        return FlatValue(self._record, self._path(), text, line)

    def _begin_value(self) -> None:
        if len(self._containers) == 1:
            self._record += 1

    def _path(self) -> str:
        if not self._containers:
            return ""
        prefix = self._prefixes[-1]
        if self._containers[-1] == "[":
            path = f"{prefix}[{self._indexes[-1]}]" if len(self._containers) > 1 else ""
        else:
            path = f"{prefix}.{self._key}" if prefix else self._key
        return path if len(path) <= _LONGEST_PATH else "…" + path[-_LONGEST_PATH:]

    def _open(self, kind: str, line: int) -> None:
        if len(self._containers) >= DEEPEST:
            raise JsonProblem(line, f"it is nested more than {DEEPEST} levels deep")
        path = self._path()
        self._begin_value()
        self._containers.append(kind)
        self._prefixes.append(path)
        self._indexes.append(0)
        self._expected = "value or ]" if kind == "[" else "key or }"

    def _close(self) -> None:
        self._containers.pop()
        self._prefixes.pop()
        self._indexes.pop()
        self._expected = ", or end"

    def _close_empty(self, text: str, line: int) -> FlatValue:
        path = self._prefixes[-1]
        self._close()
        return FlatValue(self._record, path, text, line)


def _shown(token: _Token) -> str:
    return f"{token.text[:20]!r} stands"


def _tokens(pieces: Iterable[str], line: int) -> Iterator[_Token]:
    """Yield the tokens of a document, and an `end`."""
    rest = iter(pieces)
    text, position, is_last = "", 0, False
    while True:
        found = _TOKEN.match(text, position)
        if not is_last and (found is None or found.end() == len(text)):
            if found is None:
                _check_unfinished(text, position, line)
            text, is_last = _extended(text[position:], rest)
            position = 0
            continue
        if found is None:
            remainder = text[position:].lstrip(" \t\n\r")
            line += text.count("\n", position, len(text) - len(remainder))
            if remainder:
                raise JsonProblem(line, f"{remainder[:20]!r} is not JSON")
            yield _Token("end", "", line)
            return
        kind = found.lastgroup or ""
        value = found[kind]
        line += text.count("\n", position, found.start(kind))
        position = found.end()
        if kind == "string" and "\\" in value:
            value = _unescaped(value, line)
        yield _Token(value if kind == "mark" else kind, value, line)


def _extended(text: str, rest: Iterator[str]) -> tuple[str, bool]:
    """Return `text` with at least as much again, and whether that is the end of the document."""
    parts = [text]
    wanted = max(len(text), 1)
    for piece in rest:
        parts.append(piece)
        wanted -= len(piece)
        if wanted <= 0:
            return "".join(parts), False
    return "".join(parts), True


def _check_unfinished(text: str, position: int, line: int) -> None:
    """Raise `JsonProblem` if no continuation of `text` could make a token at `position`."""
    if len(text) - position > _ENOUGH_TO_JUDGE and not _UNFINISHED_STRING.match(text, position):
        remainder = text[position:].lstrip(" \t\n\r")
        if remainder:
            line += text.count("\n", position, len(text) - len(remainder))
            raise JsonProblem(line, f"{remainder[:20]!r} is not JSON")


def _unescaped(source: str, line: int) -> str:
    try:
        text: str = json.loads(f'"{source}"', strict=False)
    except ValueError as error:
        raise JsonProblem(line, "a string holds an unknown escape") from error
    return _LONE_SURROGATE.sub("\ufffd", text)
