from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenyuan.errors import FileMalformed
from wenyuan.parsers.text.csv import CsvParser, _Records
from wenyuan.types import Anchor, Block, Facts, Notice, ReadEvent, TableRows

CELLS = st.text(st.sampled_from('a字 ,;|"\n'), max_size=6)


def read(folder: Path, content: str | bytes) -> list[ReadEvent]:
    path = folder / "a.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [event for event in CsvParser().read(path, "a.csv") if not isinstance(event, TableRows)]


def rows(events: list[ReadEvent]) -> list[tuple[str, int, int]]:
    return [(event.text, event.anchor.first, event.anchor.last) for event in events if isinstance(event, Block)]


@pytest.mark.proves("csv", "tables", "anchors")
def test_a_table_with_its_header(tmp_path: Path) -> None:
    events = read(tmp_path, "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n".encode("cp932"))
    assert events == [
        Facts("text/csv", "cp932"),
        Block("table", "| 名前 | 年齢 | 住所 |", Anchor("lines", 1, 1)),
        Block(
            "table",
            "| 佐藤太郎 | 30 | 東京 |\n| 三木英子 | 25 | 大阪 |",
            Anchor("lines", 2, 3),
            context="| 名前 | 年齢 | 住所 |",
            joiner="\n",
        ),
    ]


def test_quoted_newlines_keep_the_lines_right(tmp_path: Path) -> None:
    source = 'a,b\n1,2\n"x\ny ""z""|",3\n\n4,5\n6,7\n'
    assert rows(read(tmp_path, source)) == [
        ("| a | b |", 1, 1),
        ("| 1 | 2 |", 2, 2),
        ('| x y "z"\\| | 3 |', 3, 4),
        ("| 4 | 5 |\n| 6 | 7 |", 6, 7),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    source = delimiter.join("abc") + "\n" + delimiter.join(["1,5", "2;5", "x"]).replace(delimiter * 2, "") + "\n"
    source = "\n".join(delimiter.join(row) for row in [["a", "b", "c"], ["1.5", "x", "y z"], ["2.5", "p", "q"]])
    assert rows(read(tmp_path, source))[0][0] == "| a | b | c |"


def test_a_declared_delimiter_is_used(tmp_path: Path) -> None:
    assert rows(read(tmp_path, "sep=;\na,x;b\n1,5;2\n")) == [("| a,x | b |", 2, 2), ("| 1,5 | 2 |", 3, 3)]


def test_a_first_row_with_numbers_is_no_header(tmp_path: Path) -> None:
    assert {event.context for event in read(tmp_path, "1,2\n3,4\n") if isinstance(event, Block)} == {""}


def test_rows_of_other_widths_are_noticed(tmp_path: Path) -> None:
    events = read(tmp_path, "a,b\n1,2\n1\n1,2,3\n")
    assert events[-1] == Notice("ragged-rows", "2 rows have not 2 cells like the first row; see line 3.")


def test_a_header_alone_is_noticed(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n")[-1] == Notice("header-only", "The table has a header but no rows.")


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest(tmp_path: Path) -> None:
    body = "".join(f"{number},x\n" for number in range(3000))
    events = read(tmp_path, f'a,b\n1,2\n"oops,3\n{body}')
    found = rows(events)
    assert found[1][0].startswith('| 1 | 2 |\n| "oops | 3 |\n| 0 | x |')
    assert found[-1][2] == 3003
    assert [event.code for event in events if isinstance(event, Notice)] == ["unclosed-quote"]


@pytest.mark.proves("csv", "limits")
def test_a_giant_field_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileMalformed, match="line 2: field larger"):
        read(tmp_path, "a,b\n" + "x" * (1 << 24) + "y,2\n")


@pytest.mark.proves("csv", "text")
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=8))
@settings(max_examples=150)
def test_records_are_those_that_were_written(table: list[list[str]]) -> None:
    output = io.StringIO()
    csv.writer(output, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([["h,1", "h;2"], *table])
    source = output.getvalue().removesuffix("\n")
    records = list(_Records(["sep=,", *source.split("\n")], "a.csv"))
    expected = [row for row in [["h,1", "h;2"], *table] if any(cell.strip() for cell in row)]
    assert [cells for cells, _, _ in records] == expected
    lines = ["sep=,", *source.split("\n")]
    for cells, first, last in records:
        cited = "\n".join(lines[first - 1 : last])
        assert next(csv.reader(io.StringIO(cited, newline=""))) == cells
