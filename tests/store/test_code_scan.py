"""Codes in memory: a table that only grows and dies finds what reading every row would find."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from numpy.typing import NDArray

from tests.store.library_builder import in_threads, unit_rows
from wenyuan.store import code_scan
from wenyuan.store.code_scan import CodeTable, sketches
from wenyuan.store.vectors import quantize

_DIMENSIONS = 16
_RANDOM = np.random.default_rng(20260414)


def _codes(seed: int, count: int) -> NDArray[np.int8]:
    return quantize(unit_rows(np.random.default_rng(seed), count, _DIMENSIONS))


def _by_reading_all(
    code: NDArray[np.int8], keys: NDArray[np.int64], codes: NDArray[np.int8], limit: int
) -> dict[int, float]:
    products = (codes.astype(np.float64) @ code[0]) / np.linalg.norm(codes.astype(np.float64), axis=1)
    best = np.argsort(-products, kind="stable")[:limit]
    return dict(zip(keys[best].tolist(), products[best].tolist(), strict=True))


@dataclass
class _State:
    """A table as it once was, and what it must still show."""

    table: CodeTable
    rows: dict[int, NDArray[np.int8]] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)


class Tables(RuleBasedStateMachine):
    """Rows come, die and are put together, while those who hold an older state keep searching it."""

    def __init__(self) -> None:
        super().__init__()
        self._now = _State(CodeTable.with_room_for(0, _DIMENSIONS))
        self._earlier: list[_State] = []
        self._next_key = 1

    @rule(count=st.integers(0, 90))
    def append(self, count: int) -> None:
        self._earlier.append(self._now)
        keys = np.arange(self._next_key, self._next_key + count)
        codes = _codes(self._next_key, count) if count else np.empty((0, _DIMENSIONS), np.int8)
        table = self._now.table.appended(keys[:1], codes[:1]).appended(keys[1:], codes[1:])
        rows = self._now.rows | dict(zip(keys.tolist(), codes, strict=True))
        places = {key: (self._now.table.count + place,) * 2 for place, key in enumerate(keys.tolist())}
        spans = self._now.spans | {key: (start, end + 1) for key, (start, end) in places.items()}
        self._now = _State(table, rows, spans)
        self._next_key += count

    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        self._earlier.append(self._now)
        gone = data.draw(st.lists(st.sampled_from(sorted(self._now.rows)), max_size=20)) if self._now.rows else []
        rows = {key: row for key, row in self._now.rows.items() if key not in set(gone)}
        self._now = _State(self._now.table.without([self._now.spans[key] for key in gone]), rows, self._now.spans)

    @precondition(lambda self: self._now.table.dead)
    @rule()
    def compact(self) -> None:
        self._earlier.append(self._now)
        table = self._now.table.compacted()
        assert (table.count, table.dead_share) == (len(self._now.rows), 0.0)
        spans = {key: (place, place + 1) for place, key in enumerate(self._now.rows)}
        self._now = _State(table, self._now.rows, spans)

    @invariant()
    def every_state_finds_what_is_in_it(self) -> None:
        for state in (self._now, *self._earlier[-2:]):
            self._search(state, list(state.rows), None)
            some = list(state.rows)[:: 1 + self._next_key % 7]
            self._search(state, some, state.table.with_keys(np.array(some, np.int64)))

    def _search(self, state: _State, keys: list[int], among: NDArray[np.bool_] | None) -> None:
        code = _codes(7, 1)
        found = state.table.keys(state.table.nearest(code, among, 5, sketch=True))
        if not keys:
            assert found == []
            return
        rows = np.stack([state.rows[key] for key in keys])
        expected = _by_reading_all(code, np.array(keys), rows, 5)
        # Sketches may leave a row out of a table that has enough of others.
        assert set(found) <= set(keys)
        assert len(found) == len(expected)
        if len(keys) <= 20:
            assert found == list(expected)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_scan, "SKETCHED_FROM", 1)
    monkeypatch.setattr(code_scan, "_LEAST_SKETCHED", 1)
    monkeypatch.setattr(code_scan, "_SKETCHED_AT_ONCE", 40)


TestTables = Tables.TestCase
# Each example is some fifty steps.
TestTables.settings = settings(settings.default, max_examples=20)


def test_sketches_tell_what_is_clearly_above_and_below_zero() -> None:
    codes = np.array([[127, -127, 10, -10, 40, -40, 0, 0]], dtype=np.int8)
    norms = np.array([1 / np.linalg.norm(codes.astype(float))], dtype=np.float32)
    assert sketches(codes, norms).tolist() == [[0b10001000, 0b01000100]]


def test_a_sketched_table_finds_the_nearest_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_scan, "_SKETCHED_AT_ONCE", 5000)
    dimensions, count, topics = 384, 20_000, 60
    centres = unit_rows(_RANDOM, topics, dimensions)
    rows = centres[_RANDOM.integers(topics, size=count)] + 1.2 * unit_rows(_RANDOM, count, dimensions)
    codes = quantize(rows.astype(np.float32))
    plain = CodeTable.with_room_for(count, dimensions).appended(np.arange(count), codes)
    sketched = CodeTable.with_room_for(0, dimensions).appended(np.arange(count), codes)
    full = plain.nbytes
    agreed = 0
    for number in range(40):
        code = quantize((centres[number : number + 1] + unit_rows(_RANDOM, 1, dimensions)).astype(np.float32))
        best = plain.nearest(code, None, 10, sketch=False)
        agreed += len(set(best.tolist()) & set(sketched.nearest(code, None, 10, sketch=True).tolist()))
    assert sketched.nbytes == full + count * dimensions // 4
    assert plain.nbytes == full
    assert agreed / 400 >= 0.99


def test_threads_search_while_rows_are_appended_and_sketched() -> None:
    codes = _codes(3, 4000)
    states = [CodeTable.with_room_for(0, _DIMENSIONS).appended(np.arange(100), codes[:100])]

    def work(number: int) -> None:
        for step in range(60):
            if number == 0:
                start = states[-1].count
                states.append(states[-1].appended(np.arange(start, start + 50), codes[start : start + 50]))
            table = states[-1]
            found = table.nearest(codes[step : step + 1], None, 3, sketch=True)
            # What is asked for is in the table itself, and nearest to itself.
            assert table.keys(found)[0] == step

    in_threads(4, work)


def test_what_lives_behind_the_sketched_rows_is_found_where_all_of_those_died() -> None:
    codes = _codes(5, 100)
    table = CodeTable.with_room_for(0, _DIMENSIONS).appended(np.arange(100), codes)
    table.nearest(codes[:1], None, 3, sketch=True)
    left = table.without([(0, 40)])
    assert left.keys(left.nearest(codes[70:71], None, 1, sketch=False)) == [70]
