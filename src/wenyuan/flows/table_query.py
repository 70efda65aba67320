"""The tool with which a model asks tables: what it may ask, and what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from wenyuan.flows.tables import (
    OpenTable,
    citations_of,
    file_names,
    found_by,
    label_of,
    opened,
    table_id,
    tables_in_scope,
)
from wenyuan.language.tables.cell_values import folded_words, wanted
from wenyuan.rules.tables.arithmetic import FigureRefused, kinds_of, shown
from wenyuan.rules.tables.queries import PARAMETERS, QueryInvalid, figure_name, read_arguments, read_query
from wenyuan.rules.tables.statements import refusal
from wenyuan.store.database import Database, Reading
from wenyuan.store.tables import StoredTable
from wenyuan.types import JsonObject, Scope, TableFinding, TableQuery, Tool

TABLE_TOOL = Tool(
    "table_query",
    "Counts, sums, averages, compares, filters and groups ALL rows of a table of the knowledge base. Use it for "
    "every question of how many, how much in total, which is the largest and the like; a search shows only some rows. "
    "Call it without arguments first: it names the tables, their columns and some values.",
    PARAMETERS,
)

_MOST_DESCRIBED = 20
_MOST_COLUMNS = 40
_MOST_EXAMPLES = 6
_LONGEST_EXAMPLE = 40


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool came to: the words for the model, the same as data, and whether it was done at all."""

    text: str
    data: JsonObject
    ok: bool


def run_table_query(database: Database, scope: Scope, arguments: str) -> ToolOutcome:
    """Do what a model asked for, within a scope; what was wrong with it is in the outcome, for the model to mend.

    Raises `KnowledgeBaseNotFound` where the scope names one that is not there.
    """
    try:
        asked = read_arguments(arguments)
        with database.read() as tx:
            found = tables_in_scope(tx, scope)
            if not asked.get("table"):
                return _described(tx, found)
            stored = _named(found, asked["table"])
            table = opened(tx, stored)
            query = read_query(asked, stored.schema.columns, wanted, folded_words)
            finding = found_by(table, query)
            citations = citations_of(tx, stored, finding.cited)
    except (QueryInvalid, FigureRefused) as error:
        reason = refusal(error, "en") if isinstance(error, FigureRefused) else str(error)
        return ToolOutcome(f"Not done. {reason}", {"error": reason}, ok=False)
    label = label_of(stored, found)
    data = {
        "table": table_id(stored),
        "name": label,
        "document_id": stored.document_id,
        "rows_in_table": finding.scanned,
        "rows_matched": finding.matched,
        "rows_not_counted": {"totals": finding.totals, "remarks": finding.remarks, "switched_off": finding.hidden},
        "columns": _heads(stored, query),
        "rows": [[shown(cell) for cell in row] for row in finding.rows],
        "more": finding.more,
        "rounded": any(finding.rounded),
        "citations": [asdict(one) for one in citations],
    }
    return ToolOutcome(_told(label, stored, query, finding), data, ok=True)


def _named(found: Sequence[StoredTable], name: object) -> StoredTable:
    """The table of that id, or the only one whose name, file, sheet or title it is. Raises `QueryInvalid`."""
    folded = folded_words(str(name)[:500])
    by_id = [one for one in found if table_id(one).lower() == folded]
    meant = by_id or [
        one for one in found if folded in {folded_words(text) for text in (label_of(one, found), *_names(one)) if text}
    ]
    if len(meant) == 1:
        return meant[0]
    known = "; ".join(f"{table_id(one)}: {label_of(one, found)}" for one in (meant or found)[:_MOST_DESCRIBED])
    if meant:
        raise QueryInvalid(f"Several tables are called so; name one by its id. {known}.")
    raise QueryInvalid(f"There is no table {str(name)[:80]!r}. Tables: {known or 'none'}.")


def _names(stored: StoredTable) -> tuple[str, ...]:
    return *file_names(stored), stored.schema.sheet, stored.schema.title


def _described(tx: Reading, found: Sequence[StoredTable]) -> ToolOutcome:
    if not found:
        return ToolOutcome("There is no table here that could be asked.", {"tables": []}, ok=True)
    lines, data = [], []
    for stored in found[:_MOST_DESCRIBED]:
        table = opened(tx, stored)
        columns = _columns(table)
        label = label_of(stored, found)
        lines.append(f"{table_id(stored)}: {label}, {table.row_count} rows")
        lines += [f"  {name}: {what}" for name, what in columns]
        data.append({"table": table_id(stored), "name": label, "rows": table.row_count, "columns": dict(columns)})
    more = len(found) - _MOST_DESCRIBED
    if more > 0:
        lines.append(f"{more} more: " + "; ".join(f"{table_id(one)}: {label_of(one, found)}" for one in found[20:100]))
    return ToolOutcome("\n".join(lines), {"tables": data}, ok=True)


def _columns(table: OpenTable) -> list[tuple[str, str]]:
    """Each column, and what its cells hold."""
    schema, rows = table.stored.schema, table.scanned.rows
    said: list[tuple[str, str]] = []
    for at, (numbers, days, words, filled, unit) in enumerate(kinds_of(schema, rows)):
        if at >= _MOST_COLUMNS:
            break
        kinds = [name for name, count in (("numbers", numbers), ("dates", days), ("words", words)) if count]
        cells = (row.cells[at] for row in rows if at < len(row.cells) and row.cells[at] is not None)
        examples = dict.fromkeys(
            _on_one_line(shown(cell))[:_LONGEST_EXAMPLE] for cell, _ in zip(cells, range(200), strict=False)
        )
        what = " and ".join(kinds) or "empty"
        if unit and not words and not days:
            what += f" in {unit}"
        if filled < len(rows):
            what += f", {len(rows) - filled} empty"
        listed = list(examples)
        shown_ones = ", ".join(listed[:_MOST_EXAMPLES]) + (", …" if len(listed) > _MOST_EXAMPLES else "")
        said.append((schema.columns[at], f"{what} ({shown_ones})" if listed else what))
    return said


def _on_one_line(text: str) -> str:
    """What stands in a cell, which must not look like other lines of what a model is told."""
    return " ".join(text.split())


def _heads(stored: StoredTable, query: TableQuery) -> list[str]:
    columns = stored.schema.columns
    named = [columns[at] for at in (query.group_by if query.figures else query.select)]
    return named + [figure_name(one, columns) for one in query.figures]


def _told(label: str, stored: StoredTable, query: TableQuery, finding: TableFinding) -> str:
    met = f"{finding.matched} met the conditions" if query.where else "all were used"
    lines = [f"{label}: {finding.scanned} rows were looked at, {met}."]
    left = ((finding.totals, "sum up others"), (finding.remarks, "are remarks"), (finding.hidden, "are switched off"))
    lines += [f"{count} more rows {why} and were not counted." for count, why in left if count]
    heads = _heads(stored, query)
    lines.append(" | ".join(heads))
    lines += [" | ".join(_on_one_line(shown(cell)) or "(empty)" for cell in row) for row in finding.rows]
    for figure, without, is_rounded in zip(query.figures, finding.without_number, finding.rounded, strict=True):
        name = figure_name(figure, stored.schema.columns)
        if without:
            lines.append(f"{name} is without {without} rows that have no number there.")
        if is_rounded:
            lines.append(f"{name} is rounded.")
    if finding.more:
        lines.append(f"Only the first {query.limit} are shown.")
    return "\n".join(lines)
