"""YAML, TOML and INI: the file's own lines, each block with the keys or the section that it stands in.

The lines are not resolved into values: comments say what a setting is for, templates are no valid YAML,
and what is shown should be what stands in the file. Only the way to a block goes with it as context.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Protocol

from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.lines import BLOCK_CHARACTERS, text_lines
from wenyuan.types import Anchor, Block, Facts, ReadEvent

_YAML_NAMES = (".yaml", ".yml")
_KEY = re.compile(r"( *)((?:- +)*)([\"']?[^\s\"'#\[\]{}&*!|>%@`,-][^#\[\]{}\"']{0,80}?[\"']?) *:(?: |$)")
_SECTION = re.compile(r"\s*\[{1,2}([^\[\]]{1,200})\]{1,2}\s*(?:[#;].*)?")
_DOCUMENT = re.compile(r"(?:---|\.\.\.)(?:\s|$)")
_LONGEST_PATH = 200
_BLOCKS_TO_DEPTH = 2
_MOST_BLANK_LINES = 3


class ConfigurationParser:
    """Reads settings; blocks join to the file's text, blank lines included."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield Facts("text/x-source", encoding.codec)
        yield from encoding.notices
        is_yaml = PurePath(name).suffix.lower() in _YAML_NAMES
        place: _Place = _Keys() if is_yaml else _Sections()
        yield from _blocks(text_lines(decoded_pieces(path, encoding)), place)


class _Place(Protocol):
    """Where in the file a line stands."""

    def enter(self, line: str) -> tuple[str, bool]:
        """Take the next line that is not blank; return what it stands in, and whether a block should begin with it."""


def _blocks(lines: Iterable[str], place: _Place) -> Iterator[Block]:
    run: list[str] = []
    first = size = blank_lines = 0
    context, joiner = "", "\n\n"
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            blank_lines += 1
            continue
        around, begins = place.enter(line)
        # A comment belongs to what it stands above.
        begins = begins and not all(above.lstrip().startswith(("#", ";")) for above in run)
        if run and (begins or blank_lines or size >= BLOCK_CHARACTERS):
            yield Block("code", "\n".join(run), Anchor("lines", first, first + len(run) - 1), (), context, joiner)
            run, size = [], 0
        if not run:
            first, context = number, around
            joiner = "\n" * (1 + min(blank_lines, _MOST_BLANK_LINES))
        run.append(line)
        size += len(line)
        blank_lines = 0
    if run:
        yield Block("code", "\n".join(run), Anchor("lines", first, first + len(run) - 1), (), context, joiner)


class _Sections:
    """The section of a TOML or INI file."""

    def __init__(self) -> None:
        self._section = ""

    def enter(self, line: str) -> tuple[str, bool]:
        found = _SECTION.fullmatch(line)
        if found is None:
            return self._section, False
        self._section = f"[{found[1].strip()}]"
        # The section says itself what it is.
        return "", True


class _Keys:
    """The keys of a YAML file, by their indentation."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, line: str) -> tuple[str, bool]:
        if _DOCUMENT.match(line):
            self._open = []
            return "", True
        if line.lstrip().startswith("#"):
            return self._path(), False
        indentation = len(line) - len(line.lstrip(" "))
        is_item = line[indentation : indentation + 2] == "- "
        while self._open and (self._open[-1][0] > indentation or (self._open[-1][0] == indentation and not is_item)):
            self._open.pop()
        around, depth = self._path(), len(self._open)
        found = _KEY.match(line)
        if is_item:
            # The other keys of an item belong to it.
            self._open.append((indentation + 1, ""))
        if found is not None:
            self._open.append((indentation + len(found[2]), found[3].strip("\"'")))
        return around, (found is not None or is_item) and depth < _BLOCKS_TO_DEPTH

    def _path(self) -> str:
        return " › ".join(key for _, key in self._open if key)[-_LONGEST_PATH:]
