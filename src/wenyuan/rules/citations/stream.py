"""Citation markers in an answer: those of its sources stay, in one writing; those that a model made up go.

Read are `[1]`, `[1, 9]`, `[1-3]`, `【1】`, `［1］`, `[^1]`, `[document 3]`, `[文档 3]` and `【3†source】`; what stays
is written `[1]`, so that `[1-3]` becomes `[1][2][3]`. No markers are what stands in code, spans of code and links
(`[1](…)`), definitions of links and footnotes (`[1]: …`, `[^1]: …`), and numbers that no source can have (`[0]`,
`[2024]`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_LABELS = (
    *("documents", "document", "docs", "doc", "sources", "source", "references", "reference", "refs", "ref"),
    *("citations", "citation", "cite", "passages", "passage", "文档", "文件", "来源", "资料", "参考", "引用", "段落"),
)
_OPENERS = "[【［〔"
_CLOSERS = r"\]】］〕"
_NUMBER = "[0-9０-９]{1,3}"
_JOINT = r"(?:[ \t]{0,2}(?:[,，、;；&和]|and|[-–—~～至到])[ \t]{0,2}|[ \t]{1,2})"
_MARKER = re.compile(
    rf"[{re.escape(_OPENERS)}][ \t]?\^?(?:(?:{'|'.join(_LABELS)})[ \t:：#]{{0,3}})?"
    rf"(?P<numbers>{_NUMBER}(?:{_JOINT}\^?{_NUMBER}){{0,16}})"
    rf"(?::[0-9]{{1,3}})?[ \t]?(?:†[^\n{_CLOSERS}]{{0,60}})?[{_CLOSERS}]",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    rf"[{re.escape(_OPENERS)}][ \t]?\^?(?P<label>[A-Za-z文档件来源资料参考引用段落]{{0,10}})[ \t:：#]{{0,3}}"
    rf"(?P<numbers>[0-9０-９][0-9０-９^,，、;；&和and\-–—~～至到: \t]{{0,120}}(?:†[^\n{_CLOSERS}]{{0,60}})?)?\Z",
    re.IGNORECASE,
)
_ONE_OR_RANGE = re.compile(rf"({_NUMBER})(?:[ \t]{{0,2}}[-–—~～至到][ \t]{{0,2}}\^?({_NUMBER}))?")
_MOST_NAMED = 16

_SPACES = re.compile("[ \t\u3000\u00a0]+")
_PLAIN = re.compile(rf"[^\n`~ \t\u3000\u00a0\\{re.escape(_OPENERS)}]+")
_TICKS = re.compile("`+")
_FENCE = re.compile(r"(?:(?P<ticks>`{3,})[^\n`]{0,200}|(?P<tildes>~{3,})[^\n]{0,200})\n")
_FENCE_BEGUN = re.compile(r"(?:`{3,}[^\n`]{0,200}|~{3,}[^\n]{0,200})\Z")
_LONGEST_SPAN = 200
_MARKER_BREAKER = ","


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation in a text that was filtered, by offsets in it."""

    start: int
    end: int
    number: int


class CitationFilter:
    """Takes an answer piece by piece, and gives back what of it is certain.

    `numbers` are those of the sources. What it gives altogether does not depend on where the pieces were cut, and
    holds no marker of another number; a text without markers stays as it is. Each character is looked at a bounded
    number of times.
    """

    def __init__(self, numbers: Collection[int]) -> None:
        self._numbers = frozenset(numbers)
        self._pending = ""
        self._released: list[str] = []
        self._length = 0
        self._tail = ""
        self._spaces = ""
        self._removed = False
        self._after_mark = False
        self._fence = ""
        self._marks: list[Mark] = []
        self._code: list[tuple[int, int]] = []
        self._invented: dict[str, None] = {}

    @property
    def invented(self) -> tuple[str, ...]:
        """The markers so far that name no source, each once: `[9]`."""
        return tuple(self._invented)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The citations so far, by offsets in all that was given back."""
        return tuple(self._marks)

    @property
    def code(self) -> tuple[tuple[int, int], ...]:
        """Where in all that was given back code stands, inclusive of its fences and ticks."""
        return tuple(self._code)

    def feed(self, piece: str) -> str:
        """The next of the text that is certain; "" where the next piece is needed to tell."""
        return self._settled(self._pending + piece, final=False)

    def close(self) -> str:
        """The rest, where nothing follows any more."""
        return self._settled(self._pending, final=True)

    def _settled(self, text: str, final: bool) -> str:
        position = 0
        while position < len(text):
            taken = self._fenced(text, position, final) if self._fence else self._prose(text, position, final)
            if not taken:
                break
            position += taken
        self._pending = text[position:]
        if final and not self._removed:
            self._write(self._spaces)
        if final:
            self._spaces = ""
        settled = "".join(self._released)
        self._released.clear()
        return settled

    # --- What stands next; each returns how many characters were taken, 0 where more are needed -----------------

    def _prose(self, text: str, at: int, final: bool) -> int:
        character = text[at]
        if spaces := _SPACES.match(text, at):
            return self._take_spaces(spaces[0])
        if character in "`~":
            return self._ticks(text, at, final)
        if character in _OPENERS:
            return self._opener(text, at, final)
        if character == "\\":
            if at + 1 == len(text) and not final:
                return 0
            # An escaped bracket begins no marker, and an escaped tick no code.
            return self._give(text[at : at + 2] if text[at + 1 : at + 2] in ("[", "`", "\\") else character)
        plain = _PLAIN.match(text, at)
        return self._give(plain[0] if plain else character)

    def _fenced(self, text: str, at: int, final: bool) -> int:
        """A line of fenced code, or the part of it that is there."""
        end = text.find("\n", at)
        if self._line_is_empty() and end < 0 and not final and re.fullmatch(r"[ \t]*[`~]*[ \t]*", text[at : at + 200]):
            return 0 if len(text) - at < 200 else self._give_code(text[at:])
        line = text[at:] if end < 0 else text[at : end + 1]
        closes = self._line_is_empty() and line.strip(" \t\n").startswith(self._fence)
        if closes and not line.strip(" \t\n").strip(self._fence[0]):
            self._fence = ""
        return self._give_code(line)

    def _ticks(self, text: str, at: int, final: bool) -> int:
        if self._line_is_empty() and text.startswith(("```", "~~~"), at):
            if fence := _FENCE.match(text, at):
                self._fence = fence["ticks"] or fence["tildes"]
                return self._give_code(fence[0])
            if not final and _FENCE_BEGUN.match(text, at):
                return 0
        elif self._line_is_empty() and len(text) - at < 3 and not final and not text[at:].strip(text[at]):
            return 0
        if text[at] == "~":
            return self._give("~")
        opening = _TICKS.match(text, at)
        assert opening is not None, "a tick stands here"
        if opening.end() == len(text) and not final:
            return 0
        line = text[opening.end() : opening.end() + _LONGEST_SPAN].partition("\n")
        for closing in _TICKS.finditer(line[0]):
            if len(closing[0]) == len(opening[0]):
                whole = text[at : opening.end() + closing.end()]
                if at + len(whole) == len(text) and not final:
                    return 0
                if text[at + len(whole) : at + len(whole) + 1] != "`":
                    return self._give_code(whole)
        if not final and not line[1] and len(line[0]) < _LONGEST_SPAN:
            return 0
        return self._give(opening[0])

    def _opener(self, text: str, at: int, final: bool) -> int:
        marker = _MARKER.match(text, at)
        if marker is None:
            begun = _BEGUN.match(text, at) if not final else None
            if begun and (not begun["label"] or any(one.startswith(begun["label"].lower()) for one in _LABELS)):
                return 0
            return self._give(text[at])
        if marker.end() == len(text) and not final:
            return 0
        numbers = list(_numbers(marker["numbers"]))
        behind = text[marker.end() : marker.end() + 1]
        is_link = text[at] == "[" and (behind == "(" or (behind == ":" and self._line_is_empty()))
        if is_link or not all(0 < first <= last for first, last in numbers):
            return self._give(text[at])
        self._take_marker(marker[0], numbers)
        return len(marker[0])

    # --- What is given back -------------------------------------------------------------------------------------

    def _take_spaces(self, spaces: str) -> int:
        # What stood around a marker that went is not to become a gap.
        if not self._removed:
            self._spaces += spaces
        elif not self._spaces and not self._line_is_empty():
            self._spaces = spaces
        return len(spaces)

    def _take_marker(self, written: str, numbers: list[tuple[int, int]]) -> None:
        cited: dict[int, None] = {}
        for first, last in numbers:
            known = [number for number in range(first, last + 1) if number in self._numbers]
            cited.update(dict.fromkeys(known))
            unknown = [number for number in range(first, last + 1) if number not in self._numbers]
            named = [f"[{number}]" for number in unknown] if len(unknown) <= _MOST_NAMED else [written]
            self._invented.update(dict.fromkeys(named))
        if not cited:
            self._removed = True
            if _BEGUN.search(self._tail + self._spaces):
                # What stands around it must not close up to a marker that nobody wrote.
                self._give(_MARKER_BREAKER)
            return
        self._flush()
        for number in cited:
            start = self._length
            self._write(f"[{number}]")
            self._marks.append(Mark(start, self._length, number))
        self._after_mark = True

    def _give(self, text: str) -> int:
        if self._removed and not (text[0].isalnum() or text[0] in _OPENERS + "`\\"):
            self._spaces = ""
        self._flush()
        if self._after_mark and text[0] in "(:":
            # Right behind a citation these would make a link of it.
            self._write(" ")
        self._after_mark = False
        self._write(text)
        return len(text)

    def _give_code(self, text: str) -> int:
        self._flush()
        self._after_mark = False
        start = self._length
        if self._code and self._code[-1][1] == start:
            start = self._code.pop()[0]
        self._write(text)
        self._code.append((start, self._length))
        return len(text)

    def _flush(self) -> None:
        if self._spaces:
            self._after_mark = False
        self._write(self._spaces)
        self._spaces = ""
        self._removed = False

    def _write(self, text: str) -> None:
        if text:
            self._released.append(text)
            self._length += len(text)
            self._tail = (self._tail + text)[-160:]

    def _line_is_empty(self) -> bool:
        """Whether nothing but white space stands before, in the line that is being written."""
        line = self._tail.rpartition("\n")[2]
        return len(line) < 160 and not line.strip()


def _numbers(written: str) -> Iterator[tuple[int, int]]:
    """First and last number of each part of `1, 3-5`."""
    for match in _ONE_OR_RANGE.finditer(written):
        yield int(match[1]), int(match[2] or match[1])
