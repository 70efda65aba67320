"""Tables of real files: the same figures from each format, of what is live and permitted, and the way back to rows."""

from __future__ import annotations

import csv
import datetime
import json
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]  # it has no types
import pytest

import wenyuan as wy
from tests.parsers.office_files import ODF, package
from wenyuan.flows.table_answers import TableAnswer, answer_from_tables
from wenyuan.flows.table_query import ToolOutcome, run_table_query
from wenyuan.runtime.library import Library
from wenyuan.types import LOCAL_PRINCIPAL, Scope

HEADER = ["order", "date", "city", "status", "amount", "share"]
CITIES, STATES = ["上海", "北京", "Paris", "New York"], ["open", "closed", "on hold"]


def _rows() -> list[list[str]]:
    chance = random.Random(137)
    return [
        [
            f"A-{at:04}",
            (datetime.date(2026, 1, 1) + datetime.timedelta(days=at)).isoformat(),
            chance.choice(CITIES),
            chance.choice(STATES),
            str(Decimal(chance.randint(-50_000, 9_999_999)) / 100),
            f"{chance.randint(0, 100)}%",
        ]
        for at in range(137)
    ]


ROWS = _rows()
TOTAL = sum(Decimal(row[4]) for row in ROWS)
OF_SHANGHAI = sum(Decimal(row[4]) for row in ROWS if row[2] == "上海")
OPEN = sum(row[3] == "open" for row in ROWS)


def write_csv(path: Path, rows: Sequence[Sequence[str]], header: Sequence[str] = tuple(HEADER)) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def write_xlsx(path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "明细"
    sheet.append(HEADER)
    for row in ROWS:
        day, amount, share = datetime.date.fromisoformat(row[1]), float(row[4]), int(row[5][:-1]) / 100
        sheet.append([row[0], day, row[2], row[3], amount, share])
        sheet.cell(sheet.max_row, 5).number_format = "#,##0"
        sheet.cell(sheet.max_row, 6).number_format = "0%"
    sheet.append(["合计", None, None, None, float(TOTAL)])
    book.save(path)
    return path


def write_ods(path: Path) -> Path:
    def cell(text: str, kind: str = "string", value: str = "") -> str:
        attribute = {"date": "date-value", "string": ""}.get(kind, "value")
        given = f' office:{attribute}="{value or text}"' if attribute else ""
        return f'<table:table-cell office:value-type="{kind}"{given}><text:p>{text}</text:p></table:table-cell>'

    lines = ["".join(map(cell, HEADER))]
    for order, day, city, status, amount, share in ROWS:
        numbers = cell(f"{float(amount):,.0f}", "float", amount) + cell(share, "percentage", str(int(share[:-1]) / 100))
        lines.append(cell(order) + cell(day, "date", day) + cell(city) + cell(status) + numbers)
    rows = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    content = (
        f"<office:document-content {ODF}><office:body><office:spreadsheet>"
        f'<table:table table:name="明细">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    mimetype = "application/vnd.oasis.opendocument.spreadsheet"
    path.write_bytes(package({"mimetype": mimetype, "content.xml": content}))
    return path


def opened(home: Path) -> Library:
    home.mkdir()
    (home / "wenyuan.toml").write_text('[defaults]\nembedding_model = ""\n', "utf-8")
    return wy.open(home, environment={"WENYUAN_WORKER_THREADS": "1"})


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The same table in three formats, each in a knowledge base of its own."""
    folder = tmp_path_factory.mktemp("tables")
    files = [
        write_csv(folder / "orders.csv", ROWS),
        write_xlsx(folder / "orders.xlsx"),
        write_ods(folder / "orders.ods"),
    ]
    with opened(folder / "library") as library:
        for file in files:
            library.knowledge_bases.create(file.suffix[1:])
            library.add(file, kb=file.suffix[1:])
        library.drain()
        yield library
        assert library.check(deep=True) == []


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with opened(tmp_path / "library") as library:
        yield library
        library.drain()
        assert library.check(deep=True) == []


def scope(*bases: str) -> Scope:
    return Scope(LOCAL_PRINCIPAL, bases or None)


def asked(library: Library, question: str, *bases: str) -> TableAnswer | None:
    found = library.search(question, kb=list(bases) or None)
    return answer_from_tables(library._retrieving, scope(*bases), found)


def said(library: Library, question: str, *bases: str) -> str:
    answer = asked(library, question, *bases)
    assert answer is not None, question
    assert answer.is_exact, answer.text
    return answer.text


def query(library: Library, base: str, **arguments: Any) -> ToolOutcome:
    (table,) = run_table_query(library._database, scope(base), "").data["tables"]
    return run_table_query(library._database, scope(base), json.dumps({"table": table["table"], **arguments}))


FORMATS = ["csv", "xlsx", "ods"]


@pytest.mark.parametrize("base", FORMATS)
def test_a_table_is_counted_and_summed_without_a_model(shelf: Library, base: str) -> None:
    name = f"orders.{base}"
    assert f"{name} has 137 rows." in said(shelf, "how many rows", base)
    assert f"“{name}”共有 137 行数据。" in said(shelf, "有多少行", base)
    assert f"In {OPEN} of the 137 rows of {name}, status is “open”." in said(shelf, "how many are open?", base)
    assert f"“status”为“open”的有 {OPEN} 行" in said(shelf, "状态为 open 的有几个", base)
    assert f" is {OF_SHANGHAI:,}." in said(shelf, "total amount for city 上海", base)
    assert f"总和为 {OF_SHANGHAI:,}。" in said(shelf, "上海的总金额是多少", base)
    assert f"{30} rows where date is within “April 2026”" in said(shelf, "average amount in April 2026", base)
    groups = said(shelf, "各城市的总金额", base).splitlines()
    totals = {city: sum(Decimal(row[4]) for row in ROWS if row[2] == city) for city in CITIES}
    assert {f"- {city}：{total:,}" for city, total in totals.items()} <= set(groups)


@pytest.mark.parametrize("base", FORMATS)
def test_a_model_gets_the_same_figures_by_its_tool(shelf: Library, base: str) -> None:
    assert query(shelf, base, figures=[{"function": "count"}]).data["rows"] == [["137"]]
    is_open = {"column": "status", "is": "=", "value": "OPEN"}
    assert query(shelf, base, where=[is_open], figures=["count"]).data["rows"] == [[str(OPEN)]]
    in_shanghai = {"column": "City", "value": "上海"}
    summed = query(shelf, base, where=[in_shanghai], figures=[{"function": "sum", "column": "amount"}])
    assert summed.data["rows"] == [[f"{OF_SHANGHAI:,}"]]
    late = {"column": "date", "is": ">=", "value": "2026-05"}
    assert query(shelf, base, where=[late], figures=["count"]).data["rows"] == [[str(137 - 120)]]
    half = {"column": "share", "is": ">", "value": "50%"}
    over = sum(int(row[5][:-1]) > 50 for row in ROWS)
    assert query(shelf, base, where=[half], figures=["count"]).data["rows"] == [[str(over)]]
    ranked = query(
        shelf,
        base,
        figures=[{"function": "max", "column": "amount"}],
        group_by=["status"],
        order_by="max(amount)",
        descending=True,
    )
    best = {state: max(Decimal(row[4]) for row in ROWS if row[3] == state) for state in STATES}
    assert [row[0] for row in ranked.data["rows"]] == sorted(STATES, key=lambda state: -best[state])
    first = query(shelf, base, select=["order", "amount"], order_by="amount", limit=1)
    assert first.data["rows"][0][0] == min(ROWS, key=lambda row: Decimal(row[4]))[0]
    assert first.data["more"] is True


@pytest.mark.parametrize("base", FORMATS)
def test_a_figure_leads_to_its_rows(shelf: Library, base: str) -> None:
    answer = asked(shelf, "what is the highest amount?", base)
    assert answer is not None
    best = max(ROWS, key=lambda row: Decimal(row[4]))
    citation = answer.citations[0]
    assert best[0] in citation.quote
    assert citation.anchor.first == ROWS.index(best) + 2
    text = next(one.text for one in shelf.documents.chunks(answer.citations[0].document_id) if best[0] in one.text)
    assert citation.quote in text
    assert f"[{citation.number}]" in answer.text


def test_a_row_that_sums_up_is_told_of_and_not_counted(shelf: Library) -> None:
    assert "(1 row of totals not counted.)" in said(shelf, "how many rows", "xlsx")
    assert query(shelf, "xlsx", figures=["count"]).data["rows_not_counted"]["totals"] == 1


def test_of_several_tables_one_must_be_named(shelf: Library) -> None:
    answer = asked(shelf, "how many rows")
    assert answer is not None
    assert not answer.is_exact
    assert "- orders.csv (137 rows)" in answer.text
    assert "- orders.xlsx (137 rows)" in answer.text
    assert "orders.ods has 137 rows." in said(shelf, "how many rows are in orders.ods?")


@pytest.mark.parametrize(
    "question", ["how many orders were refunded?", "上海大约有多少订单", "total for city Shanghai"]
)
def test_what_is_not_understood_gets_no_figure_but_the_table_and_its_rows(shelf: Library, question: str) -> None:
    answer = asked(shelf, question, "csv")
    assert answer is not None
    assert not answer.is_exact
    assert "orders.csv" in answer.text
    assert "137" in answer.text


@pytest.mark.parametrize("question", ["what is A-0007?", "who ordered in Paris?", "how many days of leave are there"])
def test_other_questions_are_left_to_the_passages(shelf: Library, question: str) -> None:
    assert asked(shelf, question, "csv") is None


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("{", "no JSON"),
        ("[]", "object"),
        ('{"tabel": 1}', "Known are table"),
        ('{"table": "nowhere"}', "There is no table"),
        ('{"table": "orders"}', "by its id"),
        ('{"table": "orders.csv", "figures": [{"function": "median", "column": "amount"}]}', "known are count"),
        ('{"table": "orders.csv", "figures": [{"function": "sum", "column": "sales"}]}', "order, date, city"),
        ('{"table": "orders.csv", "figures": [{"function": "sum"}]}', "needs a column"),
        ('{"table": "orders.csv", "where": [{"column": "city", "is": "like", "value": "x"}]}', "is unknown"),
        ('{"table": "orders.csv", "where": [{"column": "amount", "is": ">", "value": "much"}]}', "number"),
        ('{"table": "orders.csv", "where": [{"column": "amount", "is": ">", "value": "5%"}]}', "several units"),
        ('{"table": "orders.csv", "limit": 100000}', "limit"),
        ('{"table": "orders.csv", "order_by": "sum(x)"}', "order_by"),
        ('{"table": "orders.csv", "select": ["city"], "figures": ["count"]}', "Leave out|leave one"),
        ("[" * 10000, "JSON"),
    ],
)
def test_what_is_wrong_with_a_query_is_said(shelf: Library, arguments: str, hint: str) -> None:
    outcome = run_table_query(shelf._database, scope(), arguments)
    assert not outcome.ok
    assert any(one in outcome.text for one in hint.split("|")), outcome.text


def test_a_scope_holds_for_tables(shelf: Library) -> None:
    (csv_table,) = run_table_query(shelf._database, scope("csv"), "{}").data["tables"]
    elsewhere = run_table_query(shelf._database, scope("ods"), json.dumps({"table": csv_table["table"]}))
    assert not elsewhere.ok
    assert "orders.csv" not in elsewhere.text
    stranger = run_table_query(shelf._database, Scope("somebody"), "")
    assert stranger.data["tables"] == []
    nothing = run_table_query(shelf._database, Scope(LOCAL_PRINCIPAL, documents=()), "")
    assert nothing.data["tables"] == []


def test_what_is_switched_off_or_deleted_stops_counting_at_once(library: Library, tmp_path: Path) -> None:
    library.add(write_csv(tmp_path / "birds.csv", [["heron", "3"], ["wren", "4"]], ["bird", "count"]))
    library.drain()
    assert "birds.csv has 2 rows" in said(library, "how many rows")
    library.documents.switch("birds.csv", enabled=False)
    assert asked(library, "how many rows") is None
    library.documents.switch("birds.csv", enabled=True)
    write_csv(tmp_path / "birds.csv", [["heron", "3"], ["wren", "4"], ["owl", "5"]], ["bird", "count"])
    library.add(tmp_path / "birds.csv")
    library.drain()
    assert "birds.csv has 3 rows" in said(library, "how many rows")
    library.documents.delete("birds.csv")
    assert asked(library, "how many rows") is None
    library.drain()
    with library._database.read() as tx:
        assert tx.first("SELECT count(*) FROM data_tables") == (0,)
        assert tx.first("SELECT count(*) FROM table_pages") == (0,)


def test_rows_in_passages_that_are_switched_off_are_not_counted(library: Library, tmp_path: Path) -> None:
    rows = [[f"heron {at}", "9" * 60, str(at)] for at in range(60)]
    library.add(write_csv(tmp_path / "birds.csv", rows, ["bird", "ring", "count"]))
    library.drain()
    passage = library.search("heron 59").hits[0].passage
    library.documents.switch_passage("birds.csv", passage.chunk.seq, enabled=False)
    text = said(library, "how many rows")
    hidden = passage.chunk.anchor.last - passage.chunk.anchor.first + 1
    assert f"birds.csv has {60 - hidden} rows." in text
    assert f"{hidden} rows switched off not counted" in text


def test_the_few_rows_that_are_counted_are_told(library: Library, tmp_path: Path) -> None:
    rows = [["PPR-9087", "screen", "200", ""], ["PPR-9078", "screen", "139", "old"], ["PPR-2110", "seal", "61", ""]]
    library.add(write_csv(tmp_path / "stock.csv", rows, ["part", "name", "left", "note"]))
    library.drain()
    assert (
        "- part: PPR-9087; name: screen; left: 200"
        in said(library, "how many rows where part is PPR-9087").splitlines()
    )
    assert said(library, "how many rows where name is screen").count("\n- part: PPR-90") == 2
    assert "- part" not in said(library, "how many rows")
    many = [[f"PPR-{at}", "lamp", str(at), "long " * 200] for at in range(4)]
    library.add(
        write_csv(tmp_path / "stock.csv", [*many, [*rows[0][:3], "much " * 200]], ["part", "name", "left", "note"])
    )
    library.drain()
    assert "- part" not in said(library, "how many rows where name is lamp")
    row = said(library, "how many rows where part is PPR-9087").splitlines()[1]
    assert (row[:16], row[-1], len(row) < 410) == ("- part: PPR-9087", "…", True)


@pytest.mark.parametrize("column", ["数量", "库存数量"])
@pytest.mark.parametrize("question", ["库存总数量", "库存的总数量是多少", "总数量是多少"])
def test_a_quantity_may_be_counted_or_added_up(library: Library, tmp_path: Path, question: str, column: str) -> None:
    library.add(write_csv(tmp_path / "库存.csv", [["泵", "200"], ["阀", "61"]], ["名称", column]))
    library.drain()
    answer = asked(library, question)
    assert answer is None or not answer.is_exact
    assert said(library, f"{column}的总和是多少").startswith(f"“库存.csv”中，全部 2 行的“{column}”总和为 261")


def test_what_stands_nowhere_is_not_asked_of_tables(library: Library, tmp_path: Path) -> None:
    library.add(write_csv(tmp_path / "stock.csv", [["PPR-9087", "200"]], ["part", "left"]))
    library.drain()
    assert asked(library, "How many PPR-9807 are left?") is None


def test_tables_of_the_same_name(library: Library, tmp_path: Path) -> None:
    for at, folder in enumerate(("north", "south"), start=1):
        (tmp_path / folder).mkdir()
        library.add(write_csv(tmp_path / folder / "birds.csv", [["heron", "3"]] * at, ["bird", "count"]))
    library.drain()
    answer = asked(library, "how many rows in birds.csv")
    assert answer is not None
    assert not answer.is_exact
    assert str(tmp_path / "north" / "birds.csv") in answer.text
    assert "(2 rows)" in answer.text
    outcome = run_table_query(library._database, scope(), '{"table": "birds.csv", "figures": ["count"]}')
    assert not outcome.ok
    assert "Several tables are called so" in outcome.text


def test_tables_go_with_their_documents(library: Library, tmp_path: Path) -> None:
    library.add(write_csv(tmp_path / "birds.csv", [["heron", "0.1"], ["wren", "0.2"]], ["bird", "weight"]))
    library.drain()
    library.knowledge_bases.create("elsewhere")
    library.documents.move(["birds.csv"], "elsewhere")
    library.drain()
    assert asked(library, "total weight", "default") is None
    assert "is 0.3." in said(library, "total weight", "elsewhere")
    library.knowledge_bases.export("elsewhere", tmp_path / "birds.wenyuan")
    library.knowledge_bases.import_(tmp_path / "birds.wenyuan", name="back")
    assert "is 0.3." in said(library, "total weight", "back")


def test_numbers_of_merged_cells_are_not_added_up_twice(library: Library, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["bird", "weight", "flock"], ["heron", 2, 7], ["wren", 1, None], ["owl", 3, 5]):
        book.active.append(row)
    book.active.merge_cells("C2:C3")
    book.save(tmp_path / "birds.xlsx")
    library.add(tmp_path / "birds.xlsx")
    library.drain()
    assert "is 6." in said(library, "total weight")
    answer = asked(library, "total flock")
    assert answer is not None
    assert not answer.is_exact
    assert "merged cells" in answer.text


def test_parts_of_a_document_are_counted_where_its_reader_did(library: Library, tmp_path: Path) -> None:
    text = "# Handbook\n\n## Chapter 1 Herons\n\nThey wade.\n\n## Chapter 2 Wrens\n\nThey hop.\n"
    (tmp_path / "handbook.md").write_text(text, "utf-8")
    library.add(tmp_path / "handbook.md")
    library.drain()
    assert said(library, "how many sections are in handbook.md?") == "handbook.md has 3 sections with headings."
    assert said(library, "handbook.md 有几章") == "“handbook.md”共有 2 章。"
    assert asked(library, "how many slides are in handbook.md?") is None


def test_lost_rows_are_read_again(library: Library, tmp_path: Path) -> None:
    library.add(write_csv(tmp_path / "birds.csv", [["heron", "3"], ["wren", "4"]], ["bird", "count"]))
    library.drain()
    with library._database.write() as tx:
        tx.run("DELETE FROM table_pages")
    assert [one.code for one in library.check()] == ["table-miscounted"]
    library.repair()
    assert library.check() == []
    assert "birds.csv has 2 rows." in said(library, "how many rows")
