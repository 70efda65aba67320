"""Subtitles: SubRip and WebVTT. What is said is the text; when it is said goes with it as context."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from wenyuan.errors import FileMalformed
from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.lines import text_lines
from wenyuan.types import Anchor, Block, Facts, ReadEvent

SUBRIP, WEBVTT = "application/x-subrip", "text/vtt"

TIMES = re.compile(
    r"\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})[ \t]*-->[ \t]*(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
)
"""The line above what is said, in either format."""

_VOICE = re.compile(r"<v(?:\.[^ >]*)?[ \t]+([^>]*)>")
_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]*|\d\d:[\d:.]+)?>|\{\\[^{}]*\}")
_NUMBER = re.compile(r"\s*\d+\s*")
_MOST_LINES = 50


class SubtitlesParser:
    """Reads what is said, one block for each time; lines lead back to the file."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield what is said. Raises `FileMalformed` where no times stand."""
        encoding = recognise_encoding(path, name)
        yield Facts(WEBVTT, encoding.codec)
        yield from encoding.notices
        cues = _Cues()
        yield from cues.blocks(text_lines(decoded_pieces(path, encoding)))
        if not cues.count:
            raise FileMalformed(name=name, format="subtitles", reason="no line says when something is said")
        quality = {"cues": cues.count, "seconds": cues.last_second}
        yield Facts(WEBVTT, encoding.codec, quality=quality)


class _Cues:
    """Makes blocks of cues."""

    def __init__(self) -> None:
        self.count = 0
        self.last_second = 0
        self._time = ""
        self._lines: list[tuple[int, str]] = []
        self._shown: list[str] = []
        self._joiner = "\n\n"

    def blocks(self, lines: Iterable[str]) -> Iterator[Block]:
        for number, line in enumerate(lines, 1):
            times = TIMES.match(line) if "-->" in line else None
            if times:
                if self._lines and _NUMBER.fullmatch(self._lines[-1][1]):
                    # The next cue's number, where no blank line stands before it.
                    self._lines.pop()
                yield from self._end()
                self.count += 1
                hours, minutes, seconds = (int(part or 0) for part in times.groups()[:3])
                self._time = f"{hours:02}:{minutes:02}:{seconds:02}"
                ends = [int(part or 0) for part in times.groups()[4:7]]
                self.last_second = max(self.last_second, ends[0] * 3600 + ends[1] * 60 + ends[2])
            elif not line.strip():
                yield from self._end()
                self._time = ""
            elif self._time and len(self._lines) < _MOST_LINES:
                self._lines.append((number, line))
        yield from self._end()

    def _end(self) -> Iterator[Block]:
        lines, self._lines = self._lines, []
        said = [(number, words) for number, line in lines if (words := _words(line))]
        # Captions that are made while someone speaks show each line again under the next.
        new = [(number, words) for number, words in said if words not in self._shown]
        self._shown = [words for _, words in said] or self._shown
        if new:
            text = "\n".join(words for _, words in new)
            anchor = Anchor("lines", new[0][0], new[-1][0])
            yield Block("paragraph", text, anchor, context=self._time, joiner=self._joiner)
            self._joiner = "\n"


def _words(line: str) -> str:
    """What is said on a line, without tags; who says it goes before it."""
    line = _VOICE.sub(lambda found: f"{found[1].strip()}: ", line)
    return " ".join(html.unescape(_TAG.sub("", line)).split())
