"""Blocks of flat `path: value` lines, for formats that are data rather than text."""

from __future__ import annotations

from wenyuan.parsers.text.json_values import FlatValue
from wenyuan.types import Anchor, Block

_BLOCK_CHARACTERS = 4_000


class FlatBlocks:
    """Gathers values and makes a block of each record, or several of a long one."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._numbers: list[int] = []
        self._size = 0
        self._record = -2
        self._joiner = "\n\n"

    def add(self, value: FlatValue) -> list[Block]:
        """Add a value; return what is finished."""
        ready: list[Block] = []
        is_new = value.record != self._record
        if is_new or self._size >= _BLOCK_CHARACTERS:
            ready = self.take()
            self._joiner = "\n\n" if is_new else "\n"
        self._record = value.record
        text = f"{value.path}: {value.text}" if value.path else value.text
        lines = text.split("\n")
        self._lines.extend(lines)
        self._numbers.extend([value.line] * len(lines))
        self._size += len(text)
        return ready

    def take(self) -> list[Block]:
        """Return the blocks of what was gathered."""
        lines, self._lines = self._lines, []
        numbers, self._numbers = self._numbers, []
        self._size = 0
        if not lines:
            return []
        first, last = numbers[0], numbers[-1]
        if len(lines) == last - first + 1 and numbers != list(range(first, last + 1)):
            # As many lines as in the file, but not the same: they must not look one to one.
            anchors = [Anchor("lines", number, number) for number in numbers]
        else:
            anchors, lines = [Anchor("lines", first, last)], ["\n".join(lines)]
        joiners = [self._joiner, *["\n"] * (len(lines) - 1)]
        return [
            Block("list", line, anchor, joiner=joiner)
            for line, anchor, joiner in zip(lines, anchors, joiners, strict=True)
        ]
