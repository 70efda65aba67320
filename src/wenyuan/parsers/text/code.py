"""Source code and configuration: runs of lines between blank ones, and in Python its definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.lines import BLOCK_CHARACTERS, text_lines
from wenyuan.types import Anchor, Block, Facts, ReadEvent

_PYTHON_NAME = re.compile(r".+\.pyi?w?", re.I)
_DEFINITION = re.compile(r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_TRIPLE_QUOTE = re.compile(r"'''|\"\"\"")
_BEFORE_DEFINITION = ("@", "#")
_CONTINUES = tuple(")]}#")
_MOST_BLANK_LINES = 3


class CodeParser:
    """Reads source code; blocks join to the file's text, blank lines included."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield Facts("text/x-source", encoding.codec)
        yield from encoding.notices
        scope = _PythonScope() if _PYTHON_NAME.fullmatch(name) else None
        yield from code_blocks(text_lines(decoded_pieces(path, encoding)), scope)


def code_blocks(lines: Iterable[str], scope: _PythonScope | None) -> Iterator[Block]:
    """Yield runs of lines that belong together, with the definition they stand in, if it is known."""
    run = _Run()
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            yield from run.end()
            run.blank_lines += 1
            continue
        path = scope.enter(line) if scope else ()
        if path != run.path:
            if not run.only_announces:
                yield from run.end()
            run.path = path
        elif run.size >= BLOCK_CHARACTERS:
            yield from run.end()
        run.add(line, number)
    yield from run.end()


class _Run:
    """Lines without a blank one between them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.size = 0
        self.path: tuple[str, ...] = ()
        self.blank_lines = 0
        self._first = 0

    @property
    def only_announces(self) -> bool:
        """Whether all lines are comments and decorators, which belong to what follows."""
        return all(line.lstrip().startswith(_BEFORE_DEFINITION) for line in self.lines)

    def add(self, line: str, number: int) -> None:
        if not self.lines:
            self._first = number
        self.lines.append(line)
        self.size += len(line)

    def end(self) -> Iterator[Block]:
        if self.lines:
            anchor = Anchor("lines", self._first, self._first + len(self.lines) - 1)
            joiner = "\n" * (1 + min(self.blank_lines, _MOST_BLANK_LINES))
            yield Block("code", "\n".join(self.lines), anchor, self.path, joiner=joiner)
            self.lines, self.size, self.blank_lines = [], 0, 0


class _PythonScope:
    """Which class or function a line of Python stands in, by its indentation."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._quote = ""

    def enter(self, line: str) -> tuple[str, ...]:
        """Take the next line that is not blank; return the names of the definitions around it."""
        text = line.lstrip()
        if not self._quote and not text.startswith(_CONTINUES):
            indentation = len(line) - len(text)
            while self._open and self._open[-1][0] >= indentation:
                self._open.pop()
            definition = _DEFINITION.match(line)
            if definition:
                self._open.append((indentation, definition[1]))
        self._follow_quotes(text)
        return tuple(name for _, name in self._open)

    def _follow_quotes(self, text: str) -> None:
        for quote in _TRIPLE_QUOTE.findall(text):
            if not self._quote:
                self._quote = quote
            elif self._quote == quote:
                self._quote = ""
