"""Questions for figures of tables, answered without a model: exactly, or not at all.

A figure is given only where every word of the question has its part in one table of all that may be asked. Else
whoever asks is told which tables there are, how many rows they have, and what was not understood.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wenyuan.flows.part_counts import count_parts
from wenyuan.flows.retrieve import Retrieving
from wenyuan.flows.tables import (
    MOST_TABLES,
    OpenTable,
    citations_of,
    file_names,
    found_by,
    label_of,
    opened,
    tables_in_scope,
)
from wenyuan.language.folding import fold
from wenyuan.language.tables.cell_values import folded_words
from wenyuan.language.tables.question_pieces import ColumnKind, TableWords
from wenyuan.language.tables.questions import TableReading, asks_for_figures, read_table_question
from wenyuan.rules.tables.arithmetic import FigureRefused, number_of, shown
from wenyuan.rules.tables.statements import not_understood, refusal, several_tables, statement
from wenyuan.store.database import Reading
from wenyuan.store.tables import StoredTable
from wenyuan.types import Citation, Days, Scope, SearchResult

_MOST_OPENED = 30
_MOST_ROWS_OPENED = 300_000
_MOST_NAMED = 5
_LONGEST_VALUE = 80
_PLACEHOLDERS = frozenset(
    ("-", "--", "---", "/", "n/a", "na", "nan", "none", "null", "nil", "无", "暂无", "\\", "?", "…")
)
_SHEETS_OF_NO_NAME = ("sheet", "工作表", "表", "table")


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """A statement about tables. Where `is_exact` is false it is that no figure is given, and why."""

    text: str
    citations: tuple[Citation, ...]
    is_exact: bool


def answer_from_tables(tools: Retrieving, scope: Scope, found: SearchResult) -> TableAnswer | None:
    """Answer a question for figures from all rows of a table; None where it asks for nothing of the kind.

    `found` is what a search for it found, within the same scope. Raises `KnowledgeBaseNotFound`.
    """
    question = found.plan.asked
    if not asks_for_figures(fold(question)):
        return None
    language: Literal["zh", "en"] = "zh" if found.plan.language == "zh" else "en"
    with tools.database.read() as tx:
        stored = tables_in_scope(tx, scope)
        if stored:
            answered = _answered(tx, question, tools.today(), stored, found, language)
            # That what is asked for stands nowhere says more than that a table has no such word.
            if answered is not None and (answered.is_exact or not found.grounding.missing):
                return answered
        counted = count_parts(tx, question, found, language)
    return TableAnswer(counted, (), is_exact=True) if counted is not None else None


def _answered(
    tx: Reading,
    question: str,
    today: datetime.date,
    stored: Sequence[StoredTable],
    found: SearchResult,
    language: Literal["zh", "en"],
) -> TableAnswer | None:
    candidates, is_all = _candidates(question, stored, found)
    read: list[tuple[OpenTable, TableReading]] = []
    for one in candidates:
        table = opened(tx, one)
        read.append((table, read_table_question(question, today, table_words(table))))
    whole = [(table, reading) for table, reading in read if reading.query is not None and reading.parts]
    named = [(table, reading) for table, reading in whole if reading.is_named]
    if not whole:
        # How many rows are there: of which table, that is said where there are several.
        whole = [(table, reading) for table, reading in read if reading.query is not None]
    meant = named or whole
    if len(meant) == 1 and is_all:
        table, reading = meant[0]
        return _stated(tx, table, reading, stored, language)
    if meant:
        return TableAnswer(
            several_tables([_counted(table, stored) for table, _ in meant], language), (), is_exact=False
        )
    return _refused(read, stored, found, language)


def _candidates(
    question: str, stored: Sequence[StoredTable], found: SearchResult
) -> tuple[Sequence[StoredTable], bool]:
    """The tables that are opened, and whether these are all that the question could be about."""
    folded = fold(question)
    named = [one for one in stored if any(name in folded for name in _full_names(one))]
    meant: Sequence[StoredTable] = named or stored
    if (
        len(stored) < MOST_TABLES
        and len(meant) <= _MOST_OPENED
        and sum(one.row_count for one in meant) <= _MOST_ROWS_OPENED
    ):
        return meant, True
    documents = list(dict.fromkeys(hit.passage.document_id for hit in found.hits))
    near = [one for one in meant if one.document_id in documents]
    near.sort(key=lambda one: documents.index(one.document_id))
    return near[:_MOST_OPENED], False


def _stated(
    tx: Reading,
    table: OpenTable,
    reading: TableReading,
    stored: Sequence[StoredTable],
    language: Literal["zh", "en"],
) -> TableAnswer:
    assert reading.query is not None, "only what was understood is worked out"
    label = label_of(table.stored, stored)
    try:
        finding = found_by(table, reading.query)
    except FigureRefused as error:
        reason = refusal(error, language)
        text = f"“{label}”：{reason}" if language == "zh" else f"{label}: {reason}"
        return TableAnswer(text, (), is_exact=False)
    text = statement(label, table.stored.schema, reading.query, finding, language)
    citations = tuple(citations_of(tx, table.stored, finding.cited))
    first, *others = text.split("\n")
    marks = "".join(f"[{citation.number}]" for citation in citations)
    return TableAnswer("\n".join([f"{first} {marks}".rstrip(), *others]), citations, is_exact=True)


def _refused(
    read: Sequence[tuple[OpenTable, TableReading]],
    stored: Sequence[StoredTable],
    found: SearchResult,
    language: Literal["zh", "en"],
) -> TableAnswer | None:
    """That the question was not understood, where it is likely that it was about a table; else None."""
    first = found.hits[0].passage.document_id if found.hits else ""
    likely = [
        (table, reading)
        for table, reading in read
        if reading.asks_figures
        and (reading.is_named or reading.parts > 1 or (reading.parts and first in ("", table.stored.document_id)))
    ]
    if not likely:
        return None
    likely.sort(key=lambda one: (-one[1].parts, sum(map(len, one[1].unread))))
    best = likely[0][1]
    same = [one for one in likely if one[1].parts == best.parts][:_MOST_NAMED]
    tables = [_counted(table, stored) for table, _ in same]
    return TableAnswer(not_understood(tables, best.unread, best.problem, best.about, language), (), is_exact=False)


def _counted(table: OpenTable, stored: Sequence[StoredTable]) -> tuple[str, int]:
    return label_of(table.stored, stored), table.row_count


# --- What a question may say of a table ---


def table_words(table: OpenTable) -> TableWords:
    schema = table.stored.schema
    values: dict[str, set[int]] = {}
    written: dict[str, str] = {}
    numbers, days, words = ([0] * len(schema.columns) for _ in range(3))
    for row in table.scanned.rows:
        for column, cell in enumerate(row.cells):
            if cell is None:
                continue
            if isinstance(cell, Days):
                days[column] += 1
            elif number_of(cell) is not None:
                numbers[column] += 1
            else:
                said = folded_words(shown(cell))
                words[column] += said not in _PLACEHOLDERS
                if len(said) <= _LONGEST_VALUE:
                    values.setdefault(said, set()).add(column)
                    written.setdefault(said, shown(cell))
    kinds = tuple(map(_kind, numbers, days, words))
    different = Counter(column for columns in values.values() for column in columns)
    keys = (column for column, count in enumerate(words) if count > 1 and different[column] == count)
    return TableWords(
        names=tuple(dict.fromkeys((*_full_names(table.stored), *_other_names(table.stored)))),
        columns=tuple(map(folded_words, schema.columns)),
        kinds=kinds,
        values={word: frozenset(columns) for word, columns in values.items()},
        shown=written,
        keys=frozenset(keys),
    )


def _kind(numbers: int, days: int, words: int) -> ColumnKind:
    filled: Mapping[ColumnKind, int] = {"numbers": numbers, "days": days, "words": words}
    kinds = [kind for kind, count in filled.items() if count]
    return kinds[0] if len(kinds) == 1 else "mixed" if kinds else "empty"


def _full_names(stored: StoredTable) -> list[str]:
    """What surely names the table where a question says it: its file, its title."""
    names = [*file_names(stored), stored.schema.title]
    folded = [folded_words(name) for name in names]
    return [name for name in dict.fromkeys(folded) if len(name) >= (4 if name.isascii() else 2)]


def _other_names(stored: StoredTable) -> list[str]:
    sheet = folded_words(stored.schema.sheet)
    is_telling = sheet and not any(sheet.startswith(word) for word in _SHEETS_OF_NO_NAME)
    return [sheet] if is_telling and len(sheet) >= 2 else []
