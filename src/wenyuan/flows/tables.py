"""The tables that a scope lets be asked, what is live of them, and the passages in which their rows are shown."""

from __future__ import annotations

import hashlib
import posixpath
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from wenyuan.language.tables.cell_values import folded_words
from wenyuan.rules.tables.arithmetic import Scanned, scan, shown, work_out
from wenyuan.store import chunks, knowledge_bases, tables
from wenyuan.store.database import Reading
from wenyuan.store.tables import StoredTable
from wenyuan.types import Anchor, Citation, Scope, TableFinding, TableQuery, TableRow

MOST_TABLES = 5_000
"""So many tables of a scope are looked at."""

_LONGEST_QUOTE = 600


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A live table with its rows of data."""

    stored: StoredTable
    scanned: Scanned

    @property
    def row_count(self) -> int:
        return len(self.scanned.rows) + self.stored.schema.left_out


def tables_in_scope(tx: Reading, scope: Scope) -> list[StoredTable]:
    """The tables of live documents that a scope lets be asked, as many as are looked at.

    Raises `KnowledgeBaseNotFound`.
    """
    if scope.documents is not None:
        scope = replace(scope, documents=scope.documents + scope.attachments)
    found: list[StoredTable] = []
    for base in knowledge_bases.permitted(tx, scope):
        within = replace(scope, documents=scope.attachments) if base.session_id else scope
        if base.state == "active" and len(found) < MOST_TABLES:
            found += tables.live(tx, base.id, within, MOST_TABLES - len(found))
    return found


def opened(tx: Reading, stored: StoredTable) -> OpenTable:
    """A table with those of its rows that are data and stand in no passage that is switched off."""
    hidden = tables.switched_off(tx, stored.revision_id)
    kind, sheet = stored.schema.place, stored.schema.sheet
    areas = sorted((one.first, one.last) for one in hidden if one.kind == kind and one.name in ("", sheet))
    starts = [first for first, _ in areas]
    ends = list(accumulate((last for _, last in areas), max))

    def is_hidden(row: TableRow) -> bool:
        at = bisect_right(starts, row.last)
        return at > 0 and ends[at - 1] >= row.first

    rows = tables.rows(tx, stored.revision_id, stored.schema.number)
    return OpenTable(stored, scan(rows, is_hidden))


def found_by(table: OpenTable, query: TableQuery) -> TableFinding:
    """What a query about a table comes to. Raises `FigureRefused`."""
    return work_out(table.stored.schema, table.scanned, query, folded_words)


def table_id(stored: StoredTable) -> str:
    """A short name for a table, which stays as long as its document does."""
    digest = hashlib.blake2b(f"{stored.document_id}/{stored.schema.number}".encode(), digest_size=4).hexdigest()
    return f"T{digest}"


def label_of(stored: StoredTable, among: Iterable[StoredTable]) -> str:
    """What a person calls a table: its file, and what else is needed to tell it from the others."""
    label = stored.document_name
    others = [one for one in among if one is not stored]
    if any(one.document_id == stored.document_id for one in others):
        parts = [stored.schema.sheet, stored.schema.title]
        beside = [one.schema.sheet for one in others if one.document_id == stored.document_id]
        if stored.schema.sheet not in beside:
            parts = parts[:1]
        parts = [part for part in parts if part] or [f"#{stored.schema.number}"]
        label = f"{label} › {' › '.join(parts)}"
    if any(one.document_name == stored.document_name and one.document_id != stored.document_id for one in others):
        label = f"{label} ({stored.source})"
    return label


def file_names(stored: StoredTable) -> tuple[str, ...]:
    """What a table's file may be called: with its folders or without, with its ending or without."""
    name = stored.document_name
    file = posixpath.basename(name)
    return name, posixpath.splitext(name)[0], file, posixpath.splitext(file)[0]


def citations_of(tx: Reading, stored: StoredTable, rows: Sequence[TableRow], first_number: int = 1) -> list[Citation]:
    """The passages that show these rows, each row's own words as the quotation."""
    if not rows:
        return []
    wanted = {row: place for row in dict.fromkeys(rows) if (place := _place(stored, row)) is not None}
    found: dict[TableRow, tuple[int, Anchor]] = {}
    for seq, anchor in tables.places(tx, stored.revision_id):
        for row, (kind, sheet) in wanted.items():
            same = anchor.kind == kind and anchor.name in ("", sheet) and row not in found
            if same and anchor.first <= row.first and row.last <= anchor.last:
                found[row] = seq, anchor
        if len(found) == len(wanted):
            break
    made: list[Citation] = []
    for row in wanted:
        if row in found:
            made.append(_citation(tx, stored, row, found[row][0], first_number + len(made)))
    return made


def _place(stored: StoredTable, row: TableRow) -> tuple[str, str] | None:
    return (stored.schema.place, stored.schema.sheet) if row.first else None


def _citation(tx: Reading, stored: StoredTable, row: TableRow, seq: int, number: int) -> Citation:
    (chunk,) = chunks.of_revision(tx, stored.revision_id, seq, 1)
    start, end = _line_of(chunk.text, row, folded_words)
    anchor = replace(chunk.anchor, first=row.first, last=row.last)
    return Citation(
        number=number,
        chunk_id=f"{stored.revision_id}.{seq}",
        document_id=stored.document_id,
        revision_id=stored.revision_id,
        document_name=stored.document_name,
        source=stored.source,
        anchor=anchor,
        heading_path=chunk.heading_path,
        quote=chunk.text[start:end],
        start=chunk.start + start,
        end=chunk.start + end,
    )


def _line_of(text: str, row: TableRow, fold: Callable[[str], str]) -> tuple[int, int]:
    """The line of a passage that shows most of a row's words; the beginning of the passage where none does."""
    words = [fold(cell) for cell in map(shown, row.cells) if cell]
    best, place, at = 0, (0, min(len(text), _LONGEST_QUOTE)), 0
    for line in text.split("\n"):
        folded = fold(line[:_LONGEST_QUOTE])
        score = sum(word in folded for word in words)
        if score > best:
            best, place = score, (at, at + min(len(line), _LONGEST_QUOTE))
        at += len(line) + 1
    return place
