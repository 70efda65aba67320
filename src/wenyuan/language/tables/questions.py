"""Questions for figures of a table, read without a model: only where every word of them has its part.

A question is cut into words of the table (its name, its columns, what stands in its cells) and words that ask
for figures. What is left over, or could mean two things, makes it a question that was not understood: a wrong
figure is worse than none.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from wenyuan.language.tables.question_pieces import Piece, QuestionPieces, TableWords
from wenyuan.language.tables.words import is_id_like
from wenyuan.types import TableCondition, TableFigure, TableOperator, TableQuery, Wanted

LONGEST_QUESTION = 300
_FIGURE = re.compile(
    r"how many|how much|number of|\bcount|\bsum\b|\btotal|average|\bmean\b|\bavg\b|highest|lowest|maximum|minimum"
    r"|\bmax\b|\bmin\b|largest|smallest|biggest|greatest|earliest|latest|newest|oldest|\bleast\b|altogether|in all"
    r"|多少|几|总|合计|共|平均|均值|最高|最低|最大|最小|最早|最晚|最新|求和|累计|加起来|[条行个人件笔次]数|数量|数目"
)
_FIGURES: Mapping[str, Literal["sum", "average", "min", "max"]] = {
    "sum": "sum",
    "average": "average",
    "min": "min",
    "max": "max",
    "earliest": "min",
    "latest": "max",
}
_SAYING_WHAT_ROWS_ARE = ("filler", "name", "noun", "rows", "classifier", "much")
_COUNTED = ("noun", "name", "rows", "classifier", "value")
_ASKING = ("count", "sum", "total", "average", "min", "max", "earliest", "latest", "distinct")
_OF_DAYS = ("earliest", "latest")


@dataclass(frozen=True, slots=True)
class TableReading:
    """A question as it was read about one table.

    `query` is None where it was not understood: `unread` are the words without a part in it, `problem` what else
    was wrong, of `about`. `parts` counts what in it belongs to the table.
    """

    query: TableQuery | None
    unread: tuple[str, ...] = ()
    problem: str = ""
    about: tuple[str, ...] = ()
    parts: int = 0
    is_named: bool = False
    asks_figures: bool = False


def asks_for_figures(folded: str) -> bool:
    """Whether a folded question may ask for a count, a sum or the like; most do not."""
    return len(folded) <= LONGEST_QUESTION and _FIGURE.search(folded) is not None


def read_table_question(question: str, today: datetime.date, words: TableWords) -> TableReading:
    """The question as a query about the table of which the words are."""
    if len(question) > LONGEST_QUESTION:
        return TableReading(None, unread=(question[:80],))
    return _Reader(question, today, words).read()


class _NotUnderstood(Exception):
    def __init__(self, problem: str, *about: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.about = about


@dataclass(slots=True)
class _Parts:
    """What was gathered for the query."""

    conditions: dict[tuple[int, TableOperator], list[Wanted]] = field(default_factory=dict)
    figures: list[str] = field(default_factory=list)
    figure_columns: list[int] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    group_by: list[int] = field(default_factory=list)
    is_count: bool = False
    is_distinct: bool = False
    is_total: bool = False
    words: int = 0
    counts_nouns: bool = False
    before_nouns: set[int] = field(default_factory=set)
    """Where pieces begin right behind which something is named that is counted rather than added up."""
    counted_pieces: set[int] = field(default_factory=set)
    """Where columns begin that are named right beside the word that counts."""
    column_of: dict[int, int] = field(default_factory=dict)
    """Of a piece that says what rows must be, by its place, the column."""

    def add(self, column: int, operator: TableOperator, value: Iterable[Wanted]) -> None:
        self.conditions.setdefault((column, operator), []).extend(value)


class _Reader:
    def __init__(self, question: str, today: datetime.date, words: TableWords) -> None:
        self._words = words
        self._pieces = QuestionPieces(question, today, words)
        self._text = self._pieces.text

    def read(self) -> TableReading:
        pieces, unread = self._pieces.cut()
        parts = sum(piece.kind in ("name", "column", "value", "days", "noun") for piece in pieces)
        is_named = any(piece.kind == "name" for piece in pieces)
        asks = any(piece.kind in _ASKING for piece in pieces)
        if not asks and any(piece.kind in ("much", "filler") for piece in pieces):
            pieces, asks = self._with_total_in_name(pieces)
        if unread or not asks:
            return TableReading(None, unread, "", (), parts, is_named, asks)
        try:
            query = self._query(pieces)
        except _NotUnderstood as error:
            return TableReading(None, (), error.problem, error.about, parts, is_named, asks)
        return TableReading(query, parts=parts, is_named=is_named, asks_figures=True)

    @staticmethod
    def _with_total_in_name(pieces: list[Piece]) -> tuple[list[Piece], bool]:
        """What is the total amount: of a column that is called so, the sum is asked for."""
        columns = [piece for piece in pieces if piece.kind == "column"]
        if len(columns) != 1 or not columns[0].detail.startswith(("total", "总")):
            return pieces, False
        return [Piece(columns[0].start, columns[0].start, "sum"), *pieces], True

    # --- Putting the pieces together ---

    def _query(self, pieces: Sequence[Piece]) -> TableQuery:
        parts = _Parts()
        telling = [
            piece
            for piece in pieces
            if piece.kind not in _SAYING_WHAT_ROWS_ARE and (piece.kind, piece.detail) != ("compare", "=")
        ]
        used: set[int] = set()
        parts.before_nouns = {piece.start for piece, following in pairwise(pieces) if following.kind in _COUNTED}
        parts.counted_pieces = set(self._counted_pieces(pieces))
        self._take_words(parts, pieces)
        self._take_conditions(parts, telling, used)
        self._take_columns(parts, telling, used)
        self._refuse_keys(parts, pieces)
        self._refuse_quantities(pieces)
        return self._made(parts)

    def _refuse_quantities(self, pieces: Sequence[Piece]) -> None:
        """数量 is how many rows there are; or what a column of that name holds, to be added up."""
        for piece in pieces:
            if piece.kind == "count" and self._text[piece.start : piece.end].endswith("数量"):
                quantity = next((column for column in self._words.columns if column.endswith("数量")), None)
                if quantity is not None:
                    raise _NotUnderstood("which-figure", quantity)

    def _refuse_keys(self, parts: _Parts, pieces: Sequence[Piece]) -> None:
        """How many herons there are is not the number of rows for herons, where each bird has one row."""
        says_rows = any(piece.kind in ("noun", "rows") for piece in pieces)
        # How many open orders, of orders.csv; but not how many herons are in birds.csv.
        is_noun = any(one.kind == "name" and before.kind in ("count", "value") for before, one in pairwise(pieces))
        if not parts.is_count or says_rows or is_noun:
            return
        for (column, operator), values in parts.conditions.items():
            if operator == "=" and column in self._words.keys:
                raise _NotUnderstood("which-figure", values[0].shown)

    @staticmethod
    def _take_words(parts: _Parts, pieces: Sequence[Piece]) -> None:
        kinds = [piece.kind for piece in pieces]
        parts.words = sum(kind in _ASKING and kind != "total" for kind in kinds)
        parts.is_distinct = "distinct" in kinds
        parts.is_total = "total" in kinds
        parts.is_count = "count" in kinds or parts.is_distinct
        parts.figures = [kind for kind in dict.fromkeys(kinds) if kind in _FIGURES]
        parts.counts_nouns = any(piece.kind in _FIGURES and piece.start in parts.before_nouns for piece in pieces)
        if "total" in kinds and not parts.is_count and not parts.figures:
            parts.figures = ["sum"]

    def _take_conditions(self, parts: _Parts, telling: Sequence[Piece], used: set[int]) -> None:
        """What rows must be: each value with its column, where one is named beside it."""
        for at, piece in enumerate(telling):
            if piece.kind == "value":
                is_not = self._before(telling, at, "not", used)
                if at + 1 < len(telling) and telling[at + 1].kind == "outside":
                    is_not = True
                    used.add(at + 1)
                column = self._column_beside(telling, at, used, is_not)
                if column is None and len(piece.columns) > 1:
                    raise _NotUnderstood("ambiguous-value", piece.detail)
                if column is not None and column not in piece.columns:
                    raise _NotUnderstood("value-not-in-column", piece.detail, self._words.columns[column])
                parts.column_of[at] = piece.columns[0] if column is None else column
                parts.add(parts.column_of[at], "!=" if is_not else "=", piece.wanted)
                used.add(at)
            elif piece.kind in ("number", "days"):
                self._take_amount(parts, telling, at, used)
        for (column, operator), values in parts.conditions.items():
            if operator == "!=" and (column, "=") in parts.conditions:
                raise _NotUnderstood("both", values[0].shown)
            if parts.words > 1 and len(values) > 1:
                raise _NotUnderstood("several-questions", *(value.shown for value in values))
        for at, piece in enumerate(telling):
            if piece.kind == "or":
                sides = {parts.column_of.get(at - 1), parts.column_of.get(at + 1)}
                if len(sides) != 1 or None in sides:
                    raise _NotUnderstood("or", self._text[piece.start : piece.end])

    def _take_amount(self, parts: _Parts, telling: Sequence[Piece], at: int, used: set[int]) -> None:
        piece = telling[at]
        operator: str = "="
        is_days = piece.kind == "days"
        before = telling[at - 1] if at else None
        behind = telling[at + 1] if at + 1 < len(telling) else None
        if before is not None and before.kind in ("compare", "compare-days") and at - 1 not in used:
            operator = before.detail
            used.add(at - 1)
        elif behind is not None and behind.kind in ("compare-behind", "compare-days-behind"):
            operator = behind.detail
            used.add(at + 1)
        is_not = self._before(telling, at, "not", used)
        if is_not and operator != "=":
            raise _NotUnderstood("not", piece.wanted[0].shown)
        column = self._column_beside(telling, at, used, is_not or operator != "=")
        kind = "days" if is_days else "numbers"
        if (
            column is not None
            and is_days
            and self._words.kinds[column] == "numbers"
            and piece.wanted[0].number is not None
        ):
            # The year 2026 in a column of years.
            kind = "numbers"
        if column is None:
            fitting = [one for one, known in enumerate(self._words.kinds) if known == kind]
            counts = not is_days and (operator == "=" or piece.start in parts.before_nouns)
            if len(fitting) != 1 or counts:
                raise _NotUnderstood("which-column", piece.wanted[0].shown)
            column = fitting[0]
        if self._words.kinds[column] not in (kind, "mixed"):
            raise _NotUnderstood("value-not-in-column", piece.wanted[0].shown, self._words.columns[column])
        value = piece.wanted[0]._replace(days=None) if kind == "numbers" else piece.wanted[0]._replace(number=None)
        parts.column_of[at] = column
        parts.add(column, "!=" if is_not else operator, (value,))  # type: ignore[arg-type]
        used.add(at)

    def _before(self, telling: Sequence[Piece], at: int, kind: str, used: set[int]) -> bool:
        """Whether a word of that kind stands right before a piece, or before the column that does."""
        for near in (at - 1, at - 2):
            if near < 0 or near in used:
                return False
            if telling[near].kind == kind:
                used.add(near)
                return True
            if telling[near].kind != "column":
                return False
        return False

    def _column_beside(self, telling: Sequence[Piece], at: int, used: set[int], is_behind_word: bool) -> int | None:
        """The column that is named for a value, before it or right behind it; None where none is."""
        before = at - 1
        while before >= 0 and is_behind_word and telling[before].kind in ("not", "compare", "compare-days"):
            before -= 1
        if before >= 0 and telling[before].kind in ("value", "number", "days") and before in used:
            # One more value of the same column: Beijing or Shanghai.
            before = -1
        if before >= 0 and telling[before].kind == "column" and before not in used:
            grouped = before > 0 and telling[before - 1].kind == "group"
            column = self._one_of(telling[before], telling[at])
            if column is not None and not grouped:
                used.add(before)
                return column
        if at + 1 < len(telling) and telling[at + 1].kind == "column" and at + 1 not in used:
            column = self._one_of(telling[at + 1], telling[at])
            follows = at + 2 < len(telling) and self._may_be_of(telling[at + 2], column)
            if column is not None and telling[at].kind == "value" and column in telling[at].columns and not follows:
                used.add(at + 1)
                return column
        return None

    @staticmethod
    def _may_be_of(piece: Piece, column: int | None) -> bool:
        """Whether a piece behind a column may say what that must be."""
        if piece.kind == "value":
            return column in piece.columns
        return piece.kind in ("number", "days", "not", "compare", "compare-days")

    def _one_of(self, column: Piece, value: Piece) -> int | None:
        """The column that is meant, of those that may be called so; None where a figure is asked of it instead."""
        if value.kind == "value":
            fitting = [one for one in column.columns if one in value.columns]
            return fitting[0] if len(fitting) == 1 else None
        kinds = ("numbers", "mixed") if value.kind == "number" else ("days", "mixed")
        fitting = [one for one in column.columns if self._words.kinds[one] in kinds]
        if not fitting and value.kind == "days" and value.wanted[0].number is not None:
            fitting = [one for one in column.columns if self._words.kinds[one] == "numbers"]
        return fitting[0] if len(fitting) == 1 else None

    def _take_columns(self, parts: _Parts, telling: Sequence[Piece], used: set[int]) -> None:
        """What figures are asked of, and by what they are grouped; every word must have found its part."""
        for at, piece in enumerate(telling):
            if at in used:
                continue
            if piece.kind == "column":
                if len(piece.columns) > 1:
                    raise _NotUnderstood("ambiguous-column", piece.detail)
                before = telling[at - 1].kind if at else ""
                if before == "group":
                    parts.group_by += piece.columns
                    used.add(at - 1)
                elif parts.figures:
                    parts.figure_columns += piece.columns
                elif (
                    piece.start in parts.counted_pieces
                    and self._words.kinds[piece.columns[0]] == "numbers"
                    and not parts.is_distinct
                ):
                    # How many of an amount may mean their sum.
                    if not parts.is_total:
                        raise _NotUnderstood("which-figure", piece.detail)
                    parts.figures, parts.is_count = ["sum"], False
                    parts.figure_columns += piece.columns
                elif piece.start in parts.counted_pieces:
                    parts.counted += piece.columns
                else:
                    raise _NotUnderstood("column-without-part", piece.detail)
                used.add(at)
        for at, piece in enumerate(telling):
            if at not in used and piece.kind in ("group", "not", "outside", "compare", "compare-behind"):
                raise _NotUnderstood("word-without-part", self._text[piece.start : piece.end])
            if at not in used and piece.kind in ("compare-days", "compare-days-behind"):
                raise _NotUnderstood("word-without-part", self._text[piece.start : piece.end])

    def _counted_pieces(self, pieces: Sequence[Piece]) -> Iterator[int]:
        """Of how many cities, 几个城市 and 城市有几个 the cities; not of how many have a city."""
        beside = [piece for piece in pieces if piece.kind != "classifier" and not self._is_of(piece)]
        for before, piece in pairwise(beside):
            if piece.kind == "column" and before.kind in ("count", "distinct"):
                yield piece.start
            words = self._words.kinds[before.columns[0]] == "words" if before.kind == "column" else False
            if piece.kind == "count" and words and piece.start == before.end:
                yield before.start

    def _is_of(self, piece: Piece) -> bool:
        return piece.kind == "filler" and self._text[piece.start : piece.end] in ("of", "the", "的", "those")

    def _made(self, parts: _Parts) -> TableQuery:
        figures: list[TableFigure] = []
        if parts.is_distinct:
            if len(parts.counted) != 1:
                raise _NotUnderstood("which-column", "")
            figures.append(TableFigure("distinct", parts.counted[0]))
        elif parts.is_count:
            figures.append(TableFigure("count"))
            figures += [TableFigure("distinct", column) for column in parts.counted]
        if parts.figures:
            if parts.counts_nouns and not parts.figure_columns:
                # Of the total orders nobody knows whether their number or their amount is meant.
                raise _NotUnderstood("which-figure", "")
            for name in parts.figures:
                for column in parts.figure_columns or [self._only_one(parts, name)]:
                    figures.append(TableFigure(_FIGURES[name], self._fit(column, name)))
        if not figures:
            raise _NotUnderstood("no-figure")
        where = tuple(
            TableCondition(column, sign, tuple(values)) for (column, sign), values in parts.conditions.items()
        )
        grouped = tuple(dict.fromkeys(parts.group_by))
        return TableQuery(where, tuple(dict.fromkeys(figures)), grouped)

    def _only_one(self, parts: _Parts, figure: str) -> int:
        """The one column of which a figure can be meant where none is named."""
        named = {column for column, _ in parts.conditions}
        wanted = "days" if figure in _OF_DAYS else "numbers"
        fitting = [
            at
            for at, kind in enumerate(self._words.kinds)
            if kind == wanted and at not in named and not (wanted == "numbers" and is_id_like(self._words.columns[at]))
        ]
        if len(fitting) != 1:
            raise _NotUnderstood("which-column", "")
        return fitting[0]

    def _fit(self, column: int, figure: str) -> int:
        kind = self._words.kinds[column]
        if kind == "days" and figure in ("min", "max", *_OF_DAYS):
            return column
        if kind in ("numbers", "mixed") and figure not in _OF_DAYS:
            return column
        raise _NotUnderstood("no-numbers", self._words.columns[column])
