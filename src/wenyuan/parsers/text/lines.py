"""Lines of a decoded text, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

BLOCK_CHARACTERS = 16_000
"""Size at which a reader hands on what it has of a long block and goes on with the next line."""


def text_lines(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text that comes in pieces, without their newlines."""
    unfinished: list[str] = []
    for piece in pieces:
        lines = piece.split("\n")
        if len(lines) > 1:
            unfinished.append(lines[0])
            yield "".join(unfinished)
            yield from lines[1:-1]
            unfinished = []
        unfinished.append(lines[-1])
    last = "".join(unfinished)
    if last:
        yield last


class LineReader:
    """Lines that can be looked at before they are taken, and put back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._put_back: list[str] = []
        self.number = 1
        """Number of the line that comes next, from 1."""
        self.current = next(self._lines, None)
        """The line that comes next, or None at the end."""

    def take(self) -> str:
        """Return the current line and go on to the next. Must not be called at the end."""
        line = self.current
        assert line is not None, "there is a line to take"
        self.current = self._put_back.pop() if self._put_back else next(self._lines, None)
        self.number += 1
        return line

    def put_back(self, lines: list[str]) -> None:
        """Undo the taking of `lines`, the last that were taken, in their order."""
        if self.current is not None:
            self._put_back.append(self.current)
        self._put_back.extend(reversed(lines))
        self.current = self._put_back.pop() if self._put_back else None
        self.number -= len(lines)
