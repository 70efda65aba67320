"""Figures over all rows of a table: exact, or said to be rounded, or refused.

Sums are of decimals, so that 0.1 and 0.2 are 0.3 on every database. What would be a wrong figure is none: numbers of
several units are not added up, nor those of merged cells, which stand in several rows, nor a table of which rows are
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import NamedTuple

from wenyuan.types import (
    Amount,
    CellValue,
    Days,
    TableCondition,
    TableFigure,
    TableFinding,
    TableQuery,
    TableRow,
    TableRows,
    Wanted,
)

MOST_GROUPS = 10_000

_MOST_CITED = 3
_FEWEST_SUMMED = 2
_EXACT = Context(prec=1_000)
_SHOWN = Context(prec=12)


class FigureRefused(Exception):
    """A figure that would be wrong. `reason` names why, `details` what a sentence about it has to name."""

    def __init__(self, reason: str, **details: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.details = details


class Scanned(NamedTuple):
    """The rows of a table that are data and may be seen, and how many others there are."""

    rows: list[TableRow]
    totals: int
    remarks: int
    hidden: int


def scan(rows: Iterable[TableRow], is_hidden: Callable[[TableRow], bool]) -> Scanned:
    """Sort out which rows are data."""
    data: list[TableRow] = []
    totals = remarks = hidden = 0
    for row in rows:
        if is_hidden(row):
            hidden += 1
        elif row.mark == "total":
            totals += 1
        elif row.mark == "remark":
            remarks += 1
        else:
            data.append(row)
    if not hidden and _sums_up(data):
        data.pop()
        totals += 1
    return Scanned(data, totals, remarks, hidden)


def _sums_up(rows: Sequence[TableRow]) -> bool:
    """Whether the last row holds the sums of all above it, without a word that says so where all of them have one."""
    if len(rows) <= _FEWEST_SUMMED:
        return False
    *above, last = rows
    if any(cell is not None and number_of(cell) is None for cell in last.cells):
        return False
    summed = [column for column, cell in enumerate(last.cells) if cell is not None]
    if not summed or any(all(number_of(cell) is not None for cell in row.cells if cell is not None) for row in above):
        return False
    return all(
        number_of(cell_of(last, column)) == _sum([number_of(cell_of(row, column)) or Decimal(0) for row in above])
        for column in summed
    )


def work_out(schema: TableRows, scanned: Scanned, query: TableQuery, fold: Callable[[str], str]) -> TableFinding:
    """What the query comes to; `fold` gives the words of a cell the form that wanted values have.

    Raises `FigureRefused`.
    """
    if schema.left_out:
        raise FigureRefused("rows-missing", rows=len(scanned.rows) + schema.left_out)
    where = [_with_units(schema, scanned.rows, one) for one in query.where]
    matched = [row for row in scanned.rows if all(meets(row, one, fold) for one in where)]
    if not query.figures:
        return _given(scanned, query, matched)
    groups = _groups(query, matched, fold)
    lines: list[tuple[CellValue, ...]] = []
    without, rounded = [0] * len(query.figures), [False] * len(query.figures)
    cited: list[TableRow] = []
    for shown, rows in groups:
        figures: list[CellValue] = []
        for at, figure in enumerate(query.figures):
            worked = _figure(schema, figure, rows, fold)
            figures.append(worked.value)
            without[at] += worked.without
            rounded[at] = rounded[at] or worked.is_rounded
            cited += worked.from_rows
        lines.append((*shown, *figures))
    lines = _ordered(lines, query)
    return TableFinding(
        rows=tuple(lines[: query.limit]),
        scanned=len(scanned.rows),
        matched=len(matched),
        totals=scanned.totals,
        remarks=scanned.remarks,
        hidden=scanned.hidden,
        without_number=tuple(without),
        rounded=tuple(rounded),
        cited=tuple([*cited, *matched][:_MOST_CITED]) if not query.group_by else tuple(matched[:_MOST_CITED]),
        more=len(lines) > query.limit,
    )


def _given(scanned: Scanned, query: TableQuery, matched: Sequence[TableRow]) -> TableFinding:
    """The rows themselves."""
    lines = [tuple(cell_of(row, column) for column in query.select) for row in matched]
    order = list(range(len(lines)))
    if query.order_by is not None:
        at = query.order_by
        order.sort(key=lambda number: _rank(lines[number][at]), reverse=query.descending)
    kept = order[: query.limit]
    return TableFinding(
        rows=tuple(lines[number] for number in kept),
        scanned=len(scanned.rows),
        matched=len(matched),
        totals=scanned.totals,
        remarks=scanned.remarks,
        hidden=scanned.hidden,
        without_number=(),
        rounded=(),
        cited=tuple(matched[number] for number in kept[:_MOST_CITED]),
        more=len(lines) > query.limit,
    )


def cell_of(row: TableRow, column: int) -> CellValue:
    return row.cells[column] if column < len(row.cells) else None


# --- Conditions ---


def _with_units(schema: TableRows, rows: Sequence[TableRow], condition: TableCondition) -> TableCondition:
    """The condition such that its numbers can be compared with those of its column."""
    if not any(value.number is not None for value in condition.values):
        return condition
    cells = (cell_of(row, condition.column) for row in rows)
    units = {unit_of(cell) for cell in cells if number_of(cell) is not None}
    asked = {value.unit for value in condition.values if value.unit}
    if not units or (len(units) == 1 and asked <= units):
        return condition
    if units == {""} and not asked & {"%", "‰"}:
        # 5000元, of a column in which no currency is written.
        values = tuple(value._replace(unit="") for value in condition.values)
        return condition._replace(values=values)
    named = ", ".join(unit or "—" for unit in sorted(units | asked))
    raise FigureRefused("several-units", column=schema.columns[condition.column], units=named)


def meets(row: TableRow, condition: TableCondition, fold: Callable[[str], str]) -> bool:
    """Whether a row meets a condition. An empty cell is neither equal nor unequal to anything, nor in any order."""
    cell = cell_of(row, condition.column)
    operator = condition.operator
    if operator in ("empty", "not-empty"):
        return (cell is None) == (operator == "empty")
    if cell is None:
        return False
    if operator == "=":
        return any(equals(cell, value, fold) for value in condition.values)
    if operator == "!=":
        return not any(equals(cell, value, fold) for value in condition.values)
    if operator == "contains":
        return any(value.folded in fold(shown(cell)) for value in condition.values)
    return any(_compares(cell, operator, value) for value in condition.values)


def equals(cell: CellValue, value: Wanted, fold: Callable[[str], str]) -> bool:
    if isinstance(cell, Days) and value.days is not None:
        return value.days[0] <= cell.first and cell.last <= value.days[1]
    number = number_of(cell)
    if number is not None and value.number is not None:
        return number == value.number and (not value.unit or value.unit == unit_of(cell))
    return fold(shown(cell)) == value.folded


def _compares(cell: CellValue, operator: str, value: Wanted) -> bool:
    if isinstance(cell, Days):
        if value.days is None:
            return False
        first, last = value.days
        return {
            "<": cell.last < first,
            "<=": cell.last <= last,
            ">": cell.first > last,
            ">=": cell.first >= first,
        }[operator]
    number = number_of(cell)
    if number is None or value.number is None or (value.unit and value.unit != unit_of(cell)):
        return False
    return {
        "<": number < value.number,
        "<=": number <= value.number,
        ">": number > value.number,
        ">=": number >= value.number,
    }[operator]


def number_of(cell: CellValue) -> Decimal | None:
    """The number in a cell, None where there is none."""
    if isinstance(cell, Amount):
        cell = cell.number
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return None
    return Decimal(repr(cell)) if isinstance(cell, float) else Decimal(cell)


def unit_of(cell: CellValue) -> str:
    return cell.unit if isinstance(cell, Amount) else ""


def shown(cell: CellValue) -> str:
    """A value as a person reads it."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, Days):
        return cell.text
    number = number_of(cell)
    if number is None:
        return cell if isinstance(cell, str) else ""
    unit = unit_of(cell)
    plain = f"{number:,f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    if len(plain) > 40:
        plain = f"{number:E}"
    if abs(number) < 10_000 or (number == number.to_integral_value() and not unit and len(plain) > 20):
        plain = plain.replace(",", "")
    if not unit:
        return plain
    return f"{plain}{unit}" if unit in ("%", "‰") else f"-{unit}{plain[1:]}" if plain[0] == "-" else f"{unit}{plain}"


# --- Groups and figures ---


def _groups(
    query: TableQuery, rows: Sequence[TableRow], fold: Callable[[str], str]
) -> Sequence[tuple[tuple[CellValue, ...], Sequence[TableRow]]]:
    """Rows by the values of the columns they are grouped by, in the order in which these come first."""
    if not query.group_by:
        return [((), rows)]
    found: dict[tuple[object, ...], tuple[tuple[CellValue, ...], list[TableRow]]] = {}
    for row in rows:
        cells = tuple(cell_of(row, column) for column in query.group_by)
        key = tuple(_key(cell, fold) for cell in cells)
        found.setdefault(key, (cells, []))[1].append(row)
        if len(found) > MOST_GROUPS:
            raise FigureRefused("too-many-groups", limit=MOST_GROUPS)
    return list(found.values())


def _key(cell: CellValue, fold: Callable[[str], str]) -> object:
    """What equal cells have in common."""
    if isinstance(cell, Days):
        return ("days", cell.first, cell.last)
    number = number_of(cell)
    if number is not None:
        return (number, unit_of(cell))
    return ("text", fold(cell)) if isinstance(cell, str) else cell


@dataclass(frozen=True, slots=True)
class _Worked:
    value: CellValue
    without: int = 0
    is_rounded: bool = False
    from_rows: Sequence[TableRow] = field(default=())


def _figure(schema: TableRows, figure: TableFigure, rows: Sequence[TableRow], fold: Callable[[str], str]) -> _Worked:
    if figure.function == "count" and figure.column < 0:
        return _Worked(len(rows))
    cells = [cell_of(row, figure.column) for row in rows]
    filled = [cell for cell in cells if cell is not None]
    if figure.function == "count":
        return _Worked(len(filled))
    if figure.function == "distinct":
        return _Worked(len({_key(cell, fold) for cell in filled}))
    if figure.function in ("min", "max") and filled and all(isinstance(cell, Days) for cell in filled):
        return _extreme_day(figure, rows, len(cells) - len(filled))
    return _of_numbers(schema, figure, rows)


def _extreme_day(figure: TableFigure, rows: Sequence[TableRow], without: int) -> _Worked:
    dated = [(cell, row) for row in rows if isinstance(cell := cell_of(row, figure.column), Days)]
    best = min(cell.first for cell, _ in dated) if figure.function == "min" else max(cell.last for cell, _ in dated)
    holders = [(cell, row) for cell, row in dated if best in (cell.first, cell.last)]
    return _Worked(holders[0][0], without, from_rows=[row for _, row in holders])


def _of_numbers(schema: TableRows, figure: TableFigure, rows: Sequence[TableRow]) -> _Worked:
    name = schema.columns[figure.column]
    if figure.column in schema.merged and figure.function in ("sum", "average"):
        raise FigureRefused("merged-cells", column=name)
    cells = ((cell_of(row, figure.column), row) for row in rows)
    numbered = [(number, unit_of(cell), row) for cell, row in cells if (number := number_of(cell)) is not None]
    units = sorted({unit for _, unit, _ in numbered})
    if len(units) > 1:
        raise FigureRefused("several-units", column=name, units=", ".join(unit or "—" for unit in units))
    without = len(rows) - len(numbered)
    if not numbered:
        return _Worked(None, without)
    numbers = [number for number, _, _ in numbered]
    from_rows: list[TableRow] = []
    is_rounded = False
    if figure.function in ("min", "max"):
        result = min(numbers) if figure.function == "min" else max(numbers)
        from_rows = [row for number, _, row in numbered if number == result]
    else:
        result = _sum(numbers)
        if figure.function == "average":
            exact = result
            result = _SHOWN.divide(result, Decimal(len(numbers)))
            is_rounded = _EXACT.multiply(result, Decimal(len(numbers))) != exact
    return _Worked(_with_unit(result, units[0]), without, is_rounded, from_rows)


def _sum(numbers: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for number in numbers:
        total = _EXACT.add(total, number)
    return total


def _with_unit(number: Decimal, unit: str) -> CellValue:
    return Amount(number, unit) if unit else number


# --- Order ---


def _ordered(lines: list[tuple[CellValue, ...]], query: TableQuery) -> list[tuple[CellValue, ...]]:
    at = query.order_by
    return lines if at is None else sorted(lines, key=lambda line: _rank(line[at]), reverse=query.descending)


def _rank(cell: CellValue) -> tuple[int, Decimal, str]:
    """Numbers come before days, these before words; what is empty comes last."""
    if isinstance(cell, Days):
        return (1, Decimal(cell.first), "")
    number = number_of(cell)
    if number is not None:
        return (0, number, "")
    return (3, Decimal(0), "") if cell is None else (2, Decimal(0), shown(cell))


def kinds_of(schema: TableRows, rows: Iterable[TableRow]) -> Iterator[tuple[int, int, int, int, str]]:
    """Of each column how many cells hold numbers, days, and other words, how many are filled, and its one unit."""
    counted = [[0, 0, 0, 0] for _ in schema.columns]
    units: list[set[str]] = [set() for _ in schema.columns]
    for row in rows:
        for column, cell in enumerate(row.cells):
            if cell is None:
                continue
            counts = counted[column]
            counts[3] += 1
            if isinstance(cell, Days):
                counts[1] += 1
            elif number_of(cell) is not None:
                counts[0] += 1
                units[column].add(unit_of(cell))
            else:
                counts[2] += 1
    for (numbers, days, words, filled), found in zip(counted, units, strict=True):
        yield numbers, days, words, filled, next(iter(found)) if len(found) == 1 else ""
