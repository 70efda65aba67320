"""A question for figures of a table cut into words of the table and words that ask for figures.

Of all ways to cut it the one is taken that leaves least of it over, and of these the one with fewest pieces.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from wenyuan.language.dates.questions import ANY_YEAR, question_dates
from wenyuan.language.folding import fold_with_offsets
from wenyuan.language.tables.cell_values import folded_words, wanted
from wenyuan.language.tables.words import WORDS, column_names, what_rows_are
from wenyuan.types import Wanted

ColumnKind = Literal["numbers", "days", "words", "mixed", "empty"]

_LONGEST_PART = 80
_NUMBER = re.compile(
    r"(?<![0-9][-/.:,])(?:(?<![\w-])-)?[¥$€£]?[0-9][0-9,]*(?:\.[0-9]+)?[千万亿]*(?:%|元|美元|欧元)?(?![-/.:,][0-9])"
    r"|[零一二三四五六七八九十百千万亿两]{2,}"
)
_YEAR = re.compile(r"[0-9]{4}|[〇零一二三四五六七八九]{4}")
_ASCII_WORD = re.compile(r"[a-z0-9]")
_SKIPPED = re.compile(r"[\s,.;:?'\"()\[\]/、，。；：！？“”‘’《》「」『』（）【】·…—-]|!(?!=)")
_NOUN = re.compile(r"[a-z]{3,}|[\u4e00-\u9fff]{2,}")
_SAYING_LITTLE = ("filler", "or", "not", "group", "much")
_UNREAD, _TAKEN = 100, 10


@dataclass(frozen=True, slots=True)
class TableWords:
    """What is known of a table where a question about it is read; all words are folded.

    `values` tells in which columns a cell holds just these words.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    values: Mapping[str, frozenset[int]]
    shown: Mapping[str, str] = field(default_factory=dict)
    """How such words are written in the table."""
    keys: frozenset[int] = frozenset()
    """Columns of words in which no two rows have the same."""


class Piece(NamedTuple):
    """A part of a question by its place in the folded text, and what it is for; `columns` are those it may mean."""

    start: int
    end: int
    kind: str
    detail: str = ""
    columns: tuple[int, ...] = ()
    wanted: tuple[Wanted, ...] = ()


class QuestionPieces:
    """Cuts one question by the words of one table."""

    def __init__(self, question: str, today: datetime.date, words: TableWords) -> None:
        self._words = words
        self._question = question
        self._folded = fold_with_offsets(question)
        self.text = self._folded.text
        self._dates = question_dates(question, today).spans
        self._columns: dict[str, set[int]] = {}
        own: dict[str, set[int]] = {}
        for at, name in enumerate(words.columns):
            own.setdefault(name, set()).add(at)
            for called in column_names(name):
                self._columns.setdefault(called, set()).add(at)
        # What a column is really called comes before what another one may be called.
        self._columns.update(own)
        self._nouns = {noun for name in words.columns for noun in what_rows_are(name)}
        self._nouns |= {plural for name in words.names for noun in _NOUN.findall(name) for plural in column_names(noun)}
        self._names = {plural for name in words.names for plural in column_names(name)}

    def cut(self) -> tuple[list[Piece], tuple[str, ...]]:
        """The pieces that leave least of the question over and are fewest, and the words that are left over."""
        text = self.text
        begins: dict[int, list[Piece]] = {}
        for piece in self._candidates():
            begins.setdefault(piece.start, []).append(piece)
        best: list[tuple[int, Piece | None]] = [(0, None)] * (len(text) + 1)
        for at in range(len(text) - 1, -1, -1):
            skipped = 0 if _SKIPPED.match(text, at) else _UNREAD
            found: tuple[int, Piece | None] = (best[at + 1][0] + skipped, None)
            for piece in begins.get(at, ()):
                cost = best[piece.end][0] + _TAKEN + _COSTS.get(piece.kind, 2)
                if cost < found[0]:
                    found = (cost, piece)
            best[at] = found
        pieces: list[Piece] = []
        unread: list[int] = []
        at = 0
        while at < len(text):
            chosen = best[at][1]
            if chosen is None:
                if not _SKIPPED.match(text, at):
                    unread.append(at)
                at += 1
                continue
            one = self._in_its_place(chosen, pieces)
            if one is None:
                unread += range(chosen.start, chosen.end)
            else:
                pieces.append(one)
            at = chosen.end
        return pieces, tuple(self._runs(unread))

    def _in_its_place(self, piece: Piece, before: Sequence[Piece]) -> Piece | None:
        """A word that stands in a cell and means something else as well: the cell's behind its column, else nothing."""
        text = self.text[piece.start : piece.end]
        if piece.kind == "column":
            return None if any(word.kind in _SAYING_LITTLE for word in WORDS.get(text, ())) else piece
        if text not in WORDS or text not in self._words.values:
            return piece
        last = next((one for one in reversed(before) if one.kind != "filler"), None)
        columns = self._words.values[text]
        if last is not None and last.kind == "column" and columns.intersection(last.columns):
            return self._value(piece.start, piece.end)
        return Piece(piece.start, piece.end, "filler") if text == "是" else None

    def _candidates(self) -> Iterator[Piece]:
        text = self.text
        for start in range(len(text)):
            if text[start] == " " or not self._may_begin(start):
                continue
            for end in range(start + 1, min(len(text), start + _LONGEST_PART) + 1):
                if text[end - 1] != " " and self._may_end(end):
                    yield from self._named(start, end, text[start:end])
        yield from self._days()
        for match in _NUMBER.finditer(text):
            value = wanted(match[0])
            if value.number is not None and self._may_begin(match.start()) and self._may_end(match.end()):
                yield Piece(match.start(), match.end(), "number", wanted=(value,))

    def _named(self, start: int, end: int, words: str) -> Iterator[Piece]:
        if words in self._columns:
            yield Piece(start, end, "column", words, tuple(sorted(self._columns[words])))
        if words in self._words.values:
            yield self._value(start, end)
        if words in self._names:
            yield Piece(start, end, "name", words)
        elif words in self._nouns:
            yield Piece(start, end, "noun", words)
        for word in WORDS.get(words, ()):
            yield Piece(start, end, word.kind, word.detail)

    def _value(self, start: int, end: int) -> Piece:
        words = self.text[start:end]
        value = wanted(self._words.shown.get(words, words))
        # What stands in a cell as words is no number, even where it is written with one.
        value = value._replace(number=None, unit="", days=None)
        return Piece(start, end, "value", words, tuple(sorted(self._words.values[words])), (value,))

    def _days(self) -> Iterator[Piece]:
        """Dates in the question that have one reading; of one that has several nobody knows which is meant."""
        offsets = {source: at for at, source in reversed(list(enumerate(self._folded.offsets)))}
        readings: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for span in self._dates:
            if span.reading == ANY_YEAR:
                continue
            readings.setdefault((span.start, span.end), set()).add((span.first_day, span.last_day))
        for (start, end), days in readings.items():
            if len(days) == 1 and start in offsets and end in offsets:
                shown = _with_days(self._question[start:end], *next(iter(days)))
                value = Wanted(
                    shown, folded_words(shown), wanted(self._question[start:end]).number, days=next(iter(days))
                )
                yield Piece(offsets[start], offsets[end], "days", wanted=(value,))

    def _may_begin(self, at: int) -> bool:
        return at == 0 or not (_ASCII_WORD.match(self.text[at]) and _ASCII_WORD.match(self.text[at - 1]))

    def _may_end(self, at: int) -> bool:
        text = self.text
        return at == len(text) or not (_ASCII_WORD.match(text[at - 1]) and _ASCII_WORD.match(text[at]))

    def _runs(self, places: Sequence[int]) -> Iterator[str]:
        start = 0
        for index in range(1, len(places) + 1):
            if index == len(places) or places[index] > places[index - 1] + 1:
                if start < len(places):
                    yield self.text[places[start] : places[index - 1] + 1]
                start = index


def _with_days(words: str, first: int, last: int) -> str:
    """Words for days, and which days these are where it depends on the day on which it was asked."""
    if _YEAR.search(words):
        return words
    days = [datetime.date.fromordinal(day).isoformat() for day in dict.fromkeys((first, last))]
    return f"{words} ({' – '.join(days)})"


_COSTS: Mapping[str, int] = {
    "column": 0,
    "days": 0,
    "value": 1,
    "name": 1,
    "number": 2,
    "noun": 3,
    "filler": 4,
    "much": 5,
}
"""Of pieces that cover the same, which goes before."""
