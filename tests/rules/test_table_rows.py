from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.tables.rows import cells_of, table_of

CELL = st.text(st.characters(exclude_characters="\\\n\r|", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), max_size=8)


@given(st.lists(CELL.filter(lambda cell: not set(cell) <= set("-:")), min_size=1, max_size=5))
def test_cells_come_back(cells: list[str]) -> None:
    assert cells_of(f"| {' | '.join(cells)} |") == tuple(cells)


def test_a_bar_in_a_cell_is_no_border() -> None:
    assert cells_of(r"| a \| b | c |") == ("a | b", "c")


def test_what_is_no_row_is_none() -> None:
    assert [cells_of(line) for line in ("", "|", "a | b", "| a", "| --- | :-: |")] == [None] * 5


def test_a_passage_stands_below_its_header() -> None:
    assert table_of("| code | name |\n| --- | --- |", "| P1 | 纸 |\n| P2 | 墨 |") == (
        ("code", "name"),
        ("P1", "纸"),
        ("P2", "墨"),
    )
    assert table_of("", "| code |\n|---|\n| P1 |") == (("code",), ("P1",))


def test_a_passage_that_is_not_all_rows_is_no_table() -> None:
    assert table_of("| a |", "| 1 |\nand more") == ()
    assert table_of("| a |", "") == ()
