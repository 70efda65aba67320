"""Questions for figures of random tables, against figures that are worked out here another way.

A question that is understood must be answered with exactly that; one with a word too many must not be answered.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wenyuan.flows.table_answers import table_words
from wenyuan.flows.tables import OpenTable, found_by
from wenyuan.language.tables.cell_values import cell_value
from wenyuan.language.tables.questions import TableReading, read_table_question
from wenyuan.rules.tables.arithmetic import FigureRefused, number_of, scan
from wenyuan.store.tables import StoredTable
from wenyuan.types import CellValue, Days, TableFinding, TableRow, TableRows

TODAY = datetime.date(2026, 6, 1)
CITIES = ["上海", "北京", "Paris", "New York", "São Paulo"]
STATES = ["open", "closed", "on hold", "未完成", "已完成"]
COLUMNS = ("order id", "date", "city", "status", "amount")


class Line(NamedTuple):
    """A row as it was made: what stands in its file is written from it."""

    day: datetime.date
    city: str
    status: str
    amount: Decimal | None


LINES = st.lists(
    st.builds(
        Line,
        st.dates(datetime.date(2025, 11, 1), datetime.date(2026, 4, 30)),
        st.sampled_from([*CITIES, ""]),
        st.sampled_from(STATES),
        st.none() | st.decimals(-500, 99_999, places=2),
    ),
    min_size=1,
    max_size=12,
)


def table_of(columns: Sequence[str], rows: Sequence[Sequence[str]], name: str = "orders.csv") -> OpenTable:
    cells = [TableRow(at, at, "", tuple(map(cell_value, row))) for at, row in enumerate(rows, start=2)]
    schema = TableRows(1, 0, "", "", "lines", tuple(columns), (), (1, 1))
    stored = StoredTable("doc_1", name, f"/{name}", "rev_1", "kb_1", len(cells), schema)
    return OpenTable(stored, scan(cells, lambda _: False))


def orders(lines: Sequence[Line], columns: Sequence[str] = COLUMNS) -> OpenTable:
    rows = [
        [f"A-{at:03}", line.day.isoformat(), line.city, line.status, "" if line.amount is None else f"{line.amount:,}"]
        for at, line in enumerate(lines)
    ]
    return table_of(columns, rows)


def read(question: str, table: OpenTable) -> TableReading:
    return read_table_question(question, TODAY, table_words(table))


def found(question: str, table: OpenTable) -> TableFinding:
    reading = read(question, table)
    assert reading.query is not None, (question, reading)
    return found_by(table, reading.query)


def figure(question: str, table: OpenTable) -> CellValue:
    finding = found(question, table)
    assert len(finding.rows) == 1, (question, finding)
    return finding.rows[0][-1]


Test = Callable[[Line], bool]
ANY: tuple[str, str, Test] = ("", "", lambda _: True)


@st.composite
def conditions(draw: st.DrawFn) -> tuple[str, str, Test]:
    """A condition in English and in Chinese, and what it means."""
    city, status = draw(st.sampled_from(CITIES)), draw(st.sampled_from(STATES[:3]))
    limit = draw(st.sampled_from([100, 2500, 50_000]))
    month = draw(st.integers(1, 4))
    found: list[tuple[str, str, Test]] = [
        ANY,
        (f"in {city}", f"{city}的", lambda line: line.city == city),
        (f"with city {city}", f"城市为{city}的", lambda line: line.city == city),
        (f"where status is {status}", f"状态是 {status} 的", lambda line: line.status == status),
        (f"that are not {status}", f"不是 {status} 的", lambda line: line.status != status),
        (f"in {city} with status {status}", f"{city}状态为{status}的", lambda line: line[1:3] == (city, status)),
        (
            f"in {city} or {CITIES[0]}",
            f"{city}或{CITIES[0]}的",
            lambda line: line.city in (city, CITIES[0]),
        ),
        (
            f"with amount over {limit:,}",
            f"金额大于{limit}的",
            lambda line: line.amount is not None and line.amount > limit,
        ),
        (
            f"with amount at most {limit}",
            f"金额不超过{limit}元的",
            lambda line: line.amount is not None and line.amount <= limit,
        ),
        (
            f"in {datetime.date(2026, month, 1):%B %Y}",
            f"2026年{month}月的",
            lambda line: (line.day.year, line.day.month) == (2026, month),
        ),
        (
            f"before 2026-0{month}-15",
            f"2026年{month}月15日之前的",
            lambda line: line.day < datetime.date(2026, month, 15),
        ),
    ]
    return draw(st.sampled_from(found))


@settings(max_examples=50)
@given(LINES, conditions(), st.booleans())
def test_counts(lines: list[Line], condition: tuple[str, str, Test], is_chinese: bool) -> None:
    english, chinese, test = condition
    _present(lines, condition)
    question = f"{chinese}订单有多少" if is_chinese else f"How many orders are there {english}?"
    assert figure(question, orders(lines)) == sum(map(test, lines))


@settings(max_examples=60)
@given(LINES, conditions(), st.booleans(), st.sampled_from(["sum", "average", "min", "max"]))
def test_figures_of_numbers(
    lines: list[Line], condition: tuple[str, str, Test], is_chinese: bool, function: str
) -> None:
    english, chinese, test = condition
    _present(lines, condition)
    words = {
        "sum": ("total", "总"),
        "average": ("average", "平均"),
        "min": ("lowest", "最低"),
        "max": ("highest", "最高"),
    }
    word = words[function][is_chinese]
    question = f"{chinese}{word}金额是多少" if is_chinese else f"What is the {word} amount of orders {english}?"
    table = orders(lines)
    assume(any(line.amount is not None for line in lines))
    amounts = [line.amount for line in lines if test(line) and line.amount is not None]
    value = number_of(figure(question, table))
    if not amounts:
        assert value is None
    elif function == "average":
        exact = sum(map(Fraction, amounts), Fraction(0)) / len(amounts)
        assert value is not None
        assert abs(Fraction(value) - exact) <= abs(exact) * Fraction(1, 10**11)
    else:
        assert value == {"sum": sum(amounts), "min": min(amounts), "max": max(amounts)}[function]


@given(
    LINES,
    st.sampled_from([("count of orders by {}", "按{}统计订单数"), ("how many orders per {}", "各{}的订单有多少")]),
)
def test_groups(lines: list[Line], asked: tuple[str, str]) -> None:
    table = orders(lines)
    for question in (asked[0].format("city"), asked[1].format("城市")):
        groups = {number_or_words(row[0]): row[1] for row in found(question, table).rows}
        cities = [line.city for line in lines]
        assert groups == {city: cities.count(city) for city in set(cities)}


@settings(max_examples=25)
@given(LINES)
def test_different_values(lines: list[Line]) -> None:
    table, different = orders(lines), len({line.city for line in lines} - {""})
    assert figure("how many different cities are there", table) == different
    assert figure("有几个不同的城市", table) == different


@settings(max_examples=50)
@given(LINES, conditions(), st.sampled_from(["roughly", "refunded", "大约", "上学期", "VIP"]), st.integers(0, 5))
def test_a_word_that_is_not_understood_leaves_no_figure(
    lines: list[Line], condition: tuple[str, str, Test], word: str, at: int
) -> None:
    words = f"How many orders are there {condition[0]}".split()
    words.insert(min(at, len(words)), word)
    assert read(" ".join(words), orders(lines)).query is None


def _present(lines: list[Line], condition: tuple[str, str, Test]) -> None:
    """Only of what stands in a table can a question say it; and a column without numbers has none to compare."""
    said = {line.city for line in lines} | {line.status for line in lines}
    assume(all(word in said for word in (*CITIES, *STATES[:3]) if word in condition[0]))
    assume(any(line.amount is not None for line in lines) or "amount" not in condition[0])


def number_or_words(cell: CellValue) -> Any:
    return "" if cell is None else cell


FEW = [
    Line(datetime.date(2026, 4, 14), "上海", "open", Decimal("0.10")),
    Line(datetime.date(2026, 4, 15), "Paris", "open", Decimal("0.20")),
    Line(datetime.date(2026, 3, 1), "Paris", "closed", Decimal("5000")),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many rows", 3),
        ("有多少行", 3),
        ("一共有多少条记录？", 3),
        ("How many are open?", 2),
        ("状态为 open 的有几个", 2),
        ("total for city Paris", Decimal("5000.2")),
        ("上海的总金额", Decimal("0.1")),
        ("Paris total", Decimal("5000.2")),
        ("open 的金额合计是多少", Decimal("0.3")),
        ("total number of open orders", 2),
        ("number of orders on 14 April 2026", 1),
        ("二〇二六年四月十四日的订单数", 1),
        ("orders.csv 里有多少行", 3),
        ("how many orders since 2026-04-14", 2),
        ("金额5千以上的有多少条", 1),
        ("orders with amount at least 5,000: how many?", 1),
        ("除了上海以外的有多少", 2),
        ("上海以外的订单有多少", 2),
        ("how many orders with amount > 0.1", 2),
        ("金额<0.2的有几条", 1),
        ("金额>=0.2 有多少条", 2),
        ("how many rows with city = Paris", 2),
        ("how many rows where status != open", 1),
        ("how many orders with amount above -1", 3),
        ("how many orders with amount <= -1", 0),
        ("除了上海以外还有多少", 2),
        ("状态为open且城市为Paris的有几个", 1),
        ("open 状态 Paris 的有几条", 1),
        ("open 和 closed 的一共有多少", 3),
        ("城市有几个", 2),
        ("how many “open” orders in 'Paris'", 1),
    ],
)
def test_plain_questions(question: str, expected: object) -> None:
    assert figure(question, orders(FEW)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "total open orders",  # their number, or their amount?
        "how many cities have more than 5 orders",
        "how many are open and how many are closed",
        "how many orders in Paris or open",
        "how many are not open or closed",
        "北京有多少金额",
        "how many orders on 14 April",  # of which year?
        "4月14日的订单有多少",
        "how many orders between 5 and 10",
        "how many orders of 3 items",
        "which city has the most orders",
        "how many orders will there be",
        "how many orders are almost open",
        "how many orders over 50%",
        "what does open mean",
        "how many orders have a city",
        "which month has the highest amount",
        "how many orders contain open",
        "latest order",
        "how many orders with amount ~5000",
        "how many orders with amount 5-10",
        "how many orders with amount 5 million",
    ],
)
def test_what_could_mean_something_else_gets_no_figure(question: str) -> None:
    table = orders(FEW)
    query = read(question, table).query
    if query is not None:
        with pytest.raises(FigureRefused, match="several-units"):
            found_by(table, query)


@pytest.mark.parametrize(
    "question", ["what is the latest date in Paris", "最晚的日期", "latest in Paris", "Paris最新的日期"]
)
def test_the_latest_is_a_day(question: str) -> None:
    value = figure(question, orders(FEW))
    assert isinstance(value, Days)
    assert value.text == "2026-04-15"


def test_a_value_in_two_columns_needs_its_column() -> None:
    table = table_of(
        ("from city", "to city", "tons"), [["Paris", "Rome", "5"], ["Rome", "Paris", "7"], ["Rome", "Oslo", "9"]]
    )
    assert read("total tons for Rome", table).problem == "ambiguous-value"
    assert figure("total tons with from city Rome", table) == 16
    assert figure("how many rows with to city Paris", table) == 1


def test_of_two_columns_of_numbers_one_must_be_named() -> None:
    table = table_of(("city", "price", "weight"), [["Rome", "5", "1"], ["Rome", "7", "2"]])
    assert read("total for Rome", table).problem == "which-column"
    assert figure("total weight for Rome", table) == 3
    assert figure("Rome 的重量总和", table) == 3
    assert figure("Rome 的平均价格", table) == 6


def test_words_in_cells_that_ask_for_figures_elsewhere_need_their_column() -> None:
    table = table_of(("grade", "in", "n"), [["A", "in", "5"], ["B", "out", "7"], ["total", "all", "1"]])
    assert read("how many rows are in", table).query is None
    assert read("how many rows have a", table).query is None
    assert figure("how many rows have grade A", table) == 1


def test_numbers_that_name_something_are_not_added_up() -> None:
    table = table_of(("employee id", "year", "salary"), [["1001", "2025", "5"], ["1002", "2026", "7"]])
    assert figure("total", table) == 12
    assert figure("how many employees in year 2026", table) == 1


@pytest.mark.parametrize(
    "question", ["有多少苍鹭", "苍鹭有多少只", "苍鹭有几个", "how many 苍鹭 are there", "how many heron"]
)
def test_of_a_thing_that_has_one_row_it_is_not_the_rows_that_are_asked_for(question: str) -> None:
    table = table_of(("bird", "count"), [["苍鹭", "3"], ["wren", "4"], ["heron", "5"]])
    assert read(question, table).query is None
    assert figure("total for 苍鹭", table) == 3
    assert figure("how many rows have bird wren", table) == 1


def test_a_last_row_of_sums_is_no_data() -> None:
    rows = [["Rome", "5", "1"], ["Oslo", "7", "2"], ["Bern", "0.5", ""]]
    summed = table_of(("city", "tons", "boats"), [*rows, ["", "12.5", "3"]])
    assert (len(summed.scanned.rows), summed.scanned.totals) == (3, 1)
    assert figure("total tons", summed) == Decimal("12.5")
    for last in (["", "12.6", "3"], ["Kyiv", "12.5", "3"], ["", "", ""]):
        assert len(table_of(("city", "tons", "boats"), [*rows, last]).scanned.rows) == 4
    assert len(table_of(("a", "b"), [["1", "1"], ["2", "2"], ["3", "3"]]).scanned.rows) == 3


def test_days_of_a_month_only_known_by_its_name_do_not_count_as_one_of_its_days() -> None:
    table = table_of(("month", "n"), [["2026-03", "1"], ["2026-04", "2"]])
    month = table.scanned.rows[0].cells[0]
    assert isinstance(month, Days)
    assert figure("total n in April 2026", table) == 2
    assert figure("how many rows on 2026-03-05", table) == 0


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            (
                "how many total sum average of in the not or and per by city status amount date open closed Paris 上海 "
                "orders over 5 2026-04-14 before 有 多少 总 金额 各 的 不是 为 最高 平均 以上 rows 条 "
                "一共 different 12%"
            ).split()
        ),
        max_size=9,
    )
)
def test_whatever_is_asked_is_read_and_worked_out_or_refused(words: list[str]) -> None:
    table = orders(FEW)
    query = read(" ".join(words), table).query
    if query is not None:
        with suppress(FigureRefused):
            finding = found_by(table, query)
            assert finding.scanned == 3
            assert finding.matched <= 3


@pytest.mark.parametrize("name", ["orders.csv", "notes/2026.04/orders.csv"])
@pytest.mark.parametrize("question", ["how many rows are in {}", "{}有多少行"])
def test_a_file_is_named_with_its_folders_or_without(question: str, name: str) -> None:
    table = table_of(COLUMNS, [["A-1", "2026-04-15", "Paris", "open", "12"]], name)
    for said in (name, "orders.csv"):
        assert found(question.format(said), table).matched == 1
