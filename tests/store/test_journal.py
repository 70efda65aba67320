"""Traces: kept for those who asked, and for a while."""

from __future__ import annotations

import pytest

from wenyuan.errors import TraceNotFound
from wenyuan.store import journal
from wenyuan.store.database import LibraryDatabase
from wenyuan.types import LOCAL_PRINCIPAL

_BODY = {"question": "苍鹭?", "stages": [{"name": "recall", "ms": 1.5, "lists": {"keyword": [1, 2]}}], "empty": None}


def test_a_trace_comes_back_as_it_was_kept(database: LibraryDatabase) -> None:
    with database.traces.write() as tx:
        journal.keep_trace(tx, "trace_1", LOCAL_PRINCIPAL, "苍鹭?", "no-match", _BODY)
        assert journal.trace(tx, LOCAL_PRINCIPAL, "trace_1") == _BODY
        for principal, trace_id in (("someone else", "trace_1"), (LOCAL_PRINCIPAL, "trace_2")):
            with pytest.raises(TraceNotFound):
                journal.trace(tx, principal, trace_id)


def test_the_newest_traces_are_told_first_and_the_oldest_are_forgotten(database: LibraryDatabase) -> None:
    for number in range(5):
        with database.traces.write() as tx:
            journal.keep_trace(tx, f"trace_{number}", LOCAL_PRINCIPAL, "?", None, {"number": number})
            tx.run("UPDATE traces SET created_at = :at WHERE id = :id", {"at": number * 10, "id": f"trace_{number}"})
    with database.traces.write() as tx:
        assert [body["number"] for body in journal.recent_traces(tx, LOCAL_PRINCIPAL, 3)] == [4, 3, 2]
        assert journal.recent_traces(tx, "someone else", 3) == []
        assert journal.forget_traces(tx, 20) == 2
        assert [body["number"] for body in journal.recent_traces(tx, LOCAL_PRINCIPAL, 9)] == [4, 3, 2]
