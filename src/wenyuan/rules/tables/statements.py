"""What a query of a table came to, or why it was not done, as sentences that say exactly what was worked out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from wenyuan.rules.tables.arithmetic import FigureRefused, shown
from wenyuan.types import CellValue, TableCondition, TableFinding, TableQuery, TableRows

Language = Literal["zh", "en"]

_MOST_NAMED = 12
_MOST_TOLD, _LONGEST_ROW = 3, 400
_LONG_FRACTION = re.compile(r"[1-9]\d*\.\d{5,}")
_FIGURES: dict[Language, dict[str, str]] = {
    "en": {"sum": "sum", "average": "average", "min": "smallest value", "max": "largest value"},
    "zh": {"sum": "总和", "average": "平均值", "min": "最小值", "max": "最大值"},
}
_SIGNS: dict[Language, dict[str, str]] = {
    "en": {
        "=": "is",
        "!=": "is filled and not",
        "<": "is below",
        "<=": "is at most",
        ">": "is above",
        ">=": "is at least",
        "contains": "contains",
        "empty": "is empty",
        "not-empty": "is not empty",
    },
    "zh": {
        "=": "为",
        "!=": "有值且不为",
        "<": "小于",
        "<=": "不超过",
        ">": "大于",
        ">=": "不小于",
        "contains": "包含",
        "empty": "为空",
        "not-empty": "不为空",
    },
}
_DAY_SIGNS: dict[Language, dict[str, str]] = {
    "en": {"=": "is within", "<": "is before", "<=": "is not after", ">": "is after", ">=": "is not before"},
    "zh": {"=": "在", "<": "早于", "<=": "不晚于", ">": "晚于", ">=": "不早于"},
}


def statement(label: str, schema: TableRows, query: TableQuery, finding: TableFinding, language: Language) -> str:
    """What figures a query came to, and over which rows; the first line is the answer."""
    lines = (
        _grouped(label, schema, query, finding, language)
        if query.group_by
        else [_single(label, schema, query, finding, language)]
    )
    return "\n".join(
        [*lines, *_rows_counted(schema, query, finding, language), *_remarks(schema, query, finding, language)]
    )


def _rows_counted(schema: TableRows, query: TableQuery, finding: TableFinding, language: Language) -> list[str]:
    """What stands in the rows that were counted, where they are so few: how many are left may stand in one of them."""
    counts_some = [one.function for one in query.figures] == ["count"] and query.where and not query.group_by
    if not counts_some or not 0 < finding.matched <= _MOST_TOLD or len(finding.cited) < finding.matched:
        return []
    colon, comma = ("：", "；") if language == "zh" else (": ", "; ")
    told = []
    for row in finding.cited[: finding.matched]:
        cells = zip(schema.columns, row.cells, strict=False)
        said = comma.join(
            f"{column}{colon}{shown(cell)}" if column else shown(cell) for column, cell in cells if cell is not None
        )
        told.append(f"- {said[:_LONGEST_ROW]}…" if len(said) > _LONGEST_ROW else f"- {said}")
    return told


def refusal(error: FigureRefused, language: Language) -> str:
    """Why a figure is not given."""
    sentences = {
        "rows-missing": (
            "Not all {rows} rows of this table are kept, since there are too many; a figure of some would be wrong.",
            "该表有 {rows} 行，数量过多而未全部保留；只按一部分计算会得到错误的数字。",
        ),
        "several-units": (
            "The column {column} has several units ({units}), which cannot be added up or compared.",
            "“{column}”一列有多种单位（{units}），不能相加或比较。",
        ),
        "merged-cells": (
            "In the column {column} merged cells stand in several rows, which would be added up more than once.",
            "“{column}”一列有跨行的合并单元格，相加会重复计算。",
        ),
        "too-many-groups": ("There are more than {limit} groups.", "分组超过 {limit} 个。"),
    }
    english, chinese = sentences[error.reason]
    return (chinese if language == "zh" else english).format(**error.details)


def not_understood(
    tables: Sequence[tuple[str, int]], unread: Sequence[str], problem: str, about: Sequence[str], language: Language
) -> str:
    """That no figure is given since the question was not understood; names tables with their numbers of rows."""
    named = _joined([_rows_of(label, rows, language) for label, rows in tables[:_MOST_NAMED]], language)
    reason = _problem(unread, problem, about, language)
    if language == "zh":
        return f"这个问题似乎要对表格计算：{named}。{reason}因此不给出数字，以免出错。"
    return f"This seems to ask for a figure of a table: {named}. {reason} No figure is given, since it might be wrong."


def several_tables(tables: Sequence[tuple[str, int]], language: Language) -> str:
    """That the question could be about several tables; names them with their numbers of rows."""
    named = "\n".join(f"- {_rows_of(label, rows, language)}" for label, rows in tables[:_MOST_NAMED])
    if language == "zh":
        return f"有 {len(tables)} 个表格都可能是所指的，请说明是哪一个：\n{named}"
    return f"{len(tables)} tables could be meant; please say which one:\n{named}"


def parts_of(label: str, count: int, part: str, language: Language) -> str:
    """How many pages, sections or the like a document has."""
    return f"“{label}”共有 {count} {part}。" if language == "zh" else f"{label} has {count} {part}."


def _rows_of(label: str, rows: int, language: Language) -> str:
    return f"“{label}”（{rows} 行）" if language == "zh" else f"{label} ({rows} rows)"


def _problem(unread: Sequence[str], problem: str, about: Sequence[str], language: Language) -> str:
    words = _joined([f"“{word}”" for word in unread[:5]], language)
    named = _joined([f"“{word}”" for word in about[:5] if word], language)
    if unread:
        return f"其中{words}没有读懂，" if language == "zh" else f"What was not understood: {words}."
    sentences = {
        "ambiguous-value": ("{0} stands in several columns.", "{0}出现在多个列中，"),
        "ambiguous-column": ("{0} could be several columns.", "{0}可能指多个列，"),
        "value-not-in-column": ("These do not go together: {0}.", "{0}对应不上，"),
        "which-column": ("It is not clear which column is meant.", "不清楚指的是哪一列，"),
        "which-figure": ("It is not clear whether to count or to add up{0}.", "不清楚{0}是要计数还是求和，"),
        "no-numbers": ("The column {0} does not hold numbers.", "{0}一列不是数字，"),
        "several-questions": ("It asks for several figures at once.", "一次问了多个数字，"),
    }
    english, chinese = sentences.get(problem, ("Not all of its words have a part in it.", "有些词没有读懂，"))
    space = " " if named and problem == "which-figure" and language == "en" else ""
    return (chinese if language == "zh" else english).format(space + named)


def _single(label: str, schema: TableRows, query: TableQuery, finding: TableFinding, language: Language) -> str:
    where = _where(schema, query, language)
    said: list[str] = []
    for figure, value, rounded in zip(query.figures, finding.rows[0], finding.rounded, strict=True):
        column = schema.columns[figure.column] if figure.column >= 0 else ""
        number = _value(value, rounded, language)
        if figure.function == "count":
            said.append(_count(label, number, where, finding, language))
        elif figure.function == "distinct":
            said.append(_distinct(label, column, number, where, finding, language))
        else:
            said.append(_figure(label, figure.function, column, number, where, finding, language))
    joined = ("；" if language == "zh" else ". ").join(said)
    return f"{joined}。" if language == "zh" else f"{joined}."


def _count(label: str, number: str, where: str, finding: TableFinding, language: Language) -> str:
    if language == "zh":
        return (
            f"“{label}”的 {finding.scanned} 行数据中，{where}的有 {number} 行"
            if where
            else f"“{label}”共有 {number} 行数据"
        )
    if where:
        return f"In {number} of the {finding.scanned} rows of {label}, {where}"
    return f"{label} has {number} rows"


def _distinct(label: str, column: str, number: str, where: str, finding: TableFinding, language: Language) -> str:
    if language == "zh":
        over = f"{where}的 {finding.matched} 行" if where else f"全部 {finding.scanned} 行"
        return f"“{label}”中，{over}的“{column}”有 {number} 个不同的值"
    over = f"the {finding.matched} rows where {where}" if where else f"all {finding.scanned} rows"
    return f"In {label}, {over} have {number} different values of {column}"


def _figure(
    label: str, function: str, column: str, number: str, where: str, finding: TableFinding, language: Language
) -> str:
    name = _FIGURES[language][function]
    if language == "zh":
        over = f"{where}的 {finding.matched} 行" if where else f"全部 {finding.scanned} 行"
        return (
            f"“{label}”中，{over}的“{column}”{name}为 {number}"
            if number
            else f"“{label}”中，{over}的“{column}”没有数值"
        )
    over = f"the {finding.matched} rows where {where}" if where else f"all {finding.scanned} rows"
    if not number:
        return f"In {label}, {over} have no number in {column}"
    return f"In {label}, the {name} of {column} over {over} is {number}"


def _grouped(label: str, schema: TableRows, query: TableQuery, finding: TableFinding, language: Language) -> list[str]:
    where = _where(schema, query, language)
    columns = _joined([schema.columns[at] for at in query.group_by], language)
    names = []
    for figure in query.figures:
        column = schema.columns[figure.column] if figure.column >= 0 else ""
        names.append(_figure_name(figure.function, column, language))
    what = _joined(names, language)
    if language == "zh":
        head = f"“{label}”按“{columns}”分组的{what}（{f'{where}的 ' if where else ''}{finding.matched} 行）："
    else:
        rows = f"{finding.matched} rows where {where}" if where else f"all {finding.matched} rows"
        head = f"{label}, {what} by {columns} ({rows}):"
    lines = [head]
    width = len(query.group_by)
    for row in finding.rows:
        key = " / ".join(shown(cell) or ("（空）" if language == "zh" else "(empty)") for cell in row[:width])
        values = [_value(cell, False, language) or "—" for cell in row[width:]]
        lines.append(f"- {key}: {', '.join(values)}" if language == "en" else f"- {key}：{'，'.join(values)}")
    if finding.more:
        lines.append("……" if language == "zh" else f"Only the first {query.limit} are shown.")
    return lines


def _figure_name(function: str, column: str, language: Language) -> str:
    if function == "count":
        return "行数" if language == "zh" else "number of rows"
    if function == "distinct":
        return f"“{column}”的不同值数" if language == "zh" else f"different values of {column}"
    name = _FIGURES[language][function]
    return f"“{column}”{name}" if language == "zh" else f"{name} of {column}"


def _where(schema: TableRows, query: TableQuery, language: Language) -> str:
    """The conditions in words."""
    said = [_condition(schema, one, language) for one in query.where]
    return ("且" if language == "zh" else " and ").join(said)


def _condition(schema: TableRows, one: TableCondition, language: Language) -> str:
    column = schema.columns[one.column]
    has_days = bool(one.values) and all(value.days for value in one.values)
    is_one_day = has_days and all(value.days and value.days[0] == value.days[1] for value in one.values)
    signs = {**_SIGNS[language], **(_DAY_SIGNS[language] if has_days else {})}
    if is_one_day:
        signs["="] = _SIGNS[language]["="]
    quoted = [f"“{value.shown}”" for value in one.values]
    values = ("或" if language == "zh" else " or ").join(quoted)
    space = "" if language == "zh" or not values else " "
    if language == "zh":
        within = "之内" if has_days and not is_one_day and one.operator == "=" else ""
        return f"“{column}”{signs[one.operator]}{values}{within}"
    return f"{column} {signs[one.operator]}{space}{values}"


def _remarks(schema: TableRows, query: TableQuery, finding: TableFinding, language: Language) -> list[str]:
    is_chinese = language == "zh"
    said: list[str] = []
    counted: list[tuple[int, str, str]] = [
        (finding.totals, "{} of totals not counted", "{} 行合计未计入"),
        (finding.remarks, "{} that only remark on the table not counted", "{} 行注释未计入"),
        (finding.hidden, "{} switched off not counted", "{} 行已停用未计入"),
    ]
    for count, english, chinese in counted:
        if count:
            said.append(
                chinese.format(count) if is_chinese else english.format(f"{count} row{'s' if count > 1 else ''}")
            )
    for figure, without, rounded in zip(query.figures, finding.without_number, finding.rounded, strict=True):
        if without:
            column = schema.columns[figure.column]
            said.append(
                f"其中 {without} 行的“{column}”没有数值"
                if is_chinese
                else f"{without} of these rows have no number in {column}"
            )
        if rounded and query.group_by:
            said.append("平均值有舍入" if is_chinese else "averages are rounded")
    if schema.header is None and not query.where and any(one.function == "count" for one in query.figures):
        said.append(
            "没有认出表头，所有行都算作数据" if is_chinese else "no header was recognised, so every row was counted"
        )
    if not said:
        return []
    return [f"（{'；'.join(said)}。）" if is_chinese else f"({'; '.join(said)}.)"]


def _value(value: CellValue, is_rounded: bool, language: Language) -> str:
    text = shown(value)
    if not is_rounded or not text:
        return text
    # It is rounded anyway: four decimals are read, twelve digits are not.
    text = _LONG_FRACTION.sub(lambda number: str(round(Decimal(number.group()), 4)), text)
    return f"约 {text}" if language == "zh" else f"about {text}"


def _joined(parts: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(parts)
