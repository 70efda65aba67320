"""Rows of tables come back as they went, and nothing else is believed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.parsers.wire import WireError, decode_message, encode_events
from wenyuan.rules.tables.pages import MOST_COLUMNS, decoded, encoded
from wenyuan.types import Amount, Days, TableRow, TableRows

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
CELLS = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    TEXT,
    st.builds(Amount, NUMBERS, TEXT),
    st.builds(Days, st.integers(1, 10**6), st.integers(1, 10**6), TEXT),
)
ROWS = st.lists(
    st.builds(
        TableRow,
        st.integers(1, 10**6),
        st.integers(1, 10**6),
        st.sampled_from(["", "total", "remark"]),
        st.lists(CELLS, max_size=3).map(tuple),
    ),
    max_size=4,
).map(tuple)
TABLES = st.builds(
    TableRows,
    st.integers(1, 500),
    st.integers(0, 10**6),
    TEXT,
    TEXT,
    st.sampled_from(["lines", "cells", "paragraph"]),
    st.just(("a", "b", "金额")),
    ROWS,
    st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.lists(st.integers(0, 2), max_size=2).map(tuple),
    st.integers(0, 10),
)


@given(TABLES)
def test_what_comes_back_is_what_went(table: TableRows) -> None:
    assert decoded(json.loads(json.dumps(encoded(table)))) == table
    assert decode_message(encode_events([table])) == [table]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=12,
)


@given(JSON, st.integers(0, 4), st.integers(0, 5))
def test_what_is_no_piece_of_a_table_is_refused(value: Any, at: int, inner: int) -> None:
    good: Any = encoded(TableRows(1, 0, "", "", "lines", ("a",), (TableRow(1, 1, "", (1,)),)))
    good[at] = value
    if at == 2 and isinstance(value, dict):
        good[at] = {**encoded(TableRows(1, 0, "", "", "lines", ("a",), ()))[2], "columns": value, "header": [inner]}
    try:
        table = decoded(good)
    except ValueError:
        return
    assert decoded(encoded(table)) == table


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 1, "", ["a", "b"]]],
        [[1, 1, "sum", []]],
        [[1, -1, "", []]],
        [[1, 1, "", [{"a": 1}]]],
        [[1, 1, "", [[1]]]],
        [[1, 1, "", [[True, 1, "x"]]]],
        [[1, 1, "", ["x" * 5000]]],
        [[1, 1, ""]],
        "rows",
        [[1, 1, "", [None] * (MOST_COLUMNS + 1)]],
    ],
)
def test_rows_that_are_none_are_refused(rows: Any) -> None:
    good = encoded(TableRows(1, 0, "", "", "lines", ("a",), ()))
    with pytest.raises(ValueError, match=r"\w"):
        decoded([*good[:3], rows, 0])
    line = json.dumps(["events", [["rows", [*good[:3], rows, 0]]]]).encode()
    with pytest.raises(WireError):
        decode_message(line)
