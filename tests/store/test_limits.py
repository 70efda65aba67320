"""Limits that all workers keep together: buckets, calls at once, and models that are left alone."""

from __future__ import annotations

import pytest

from tests.store.library_builder import in_threads
from wenyuan.errors import LimitReached, RateLimited
from wenyuan.rules.pacing import Bucket, Pace, bucket_of_requests
from wenyuan.store import limits
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.postgresql.database import PostgresTransaction
from wenyuan.store.sqlite import SqliteTransaction
from wenyuan.types import Problem

MODEL = "test/model"
OURS = LimitReached(provider=MODEL).problem()
THEIRS = RateLimited(provider=MODEL).problem()
LEASE_MS = 60_000


class Clock:
    """The database's clock, moved by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_800_000_000_000
        for kind in (SqliteTransaction, PostgresTransaction):
            monkeypatch.setattr(kind, "now", property(lambda _: self.now))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def begin(
    database: LibraryDatabase, call: str, pace: Pace, tokens: int = 1, worker: str = "one", model: str = MODEL
) -> limits.Closed | None:
    with database.write() as tx:
        return limits.begin_call(tx, call, model, worker, pace, tokens, LEASE_MS, OURS)


def end(database: LibraryDatabase, call: str) -> None:
    with database.write() as tx:
        limits.end_call(tx, call, MODEL)


def fail(database: LibraryDatabase, call: str, began_at: int, told_ms: int | None = None) -> limits.Closed:
    def delay(failures: int) -> int:
        return 1000 * 2**failures if told_ms is None else told_ms

    with database.write() as tx:
        return limits.fail_call(tx, call, MODEL, began_at, THEIRS, delay, is_told=told_ms is not None)


def closed(database: LibraryDatabase) -> dict[str, limits.Closed]:
    with database.read() as tx:
        return limits.closed(tx)


# --- Buckets -------------------------------------------------------------------------------------


def test_an_empty_bucket_closes_the_model_until_there_is_enough(database: LibraryDatabase, clock: Clock) -> None:
    pace = Pace(Bucket(2, 0.5))
    assert begin(database, "a", pace) is begin(database, "b", pace) is None
    refused = begin(database, "c", pace)
    assert refused == limits.Closed(MODEL, clock.now + 2001, True, OURS)
    assert closed(database) == {MODEL: refused}
    clock.now += 2001
    assert closed(database) == {}
    assert begin(database, "d", pace) is None
    assert begin(database, "e", pace) is not None


def test_tokens_are_counted_beside_requests(database: LibraryDatabase, clock: Clock) -> None:
    pace = Pace(tokens=Bucket(100, 10))
    assert begin(database, "a", pace, tokens=70) is None
    refused = begin(database, "b", pace, tokens=70)
    assert refused is not None
    assert refused.until - clock.now == 4001
    clock.now = refused.until
    assert begin(database, "c", pace, tokens=70) is None


@pytest.mark.usefixtures("clock")
def test_each_model_has_its_own(database: LibraryDatabase) -> None:
    pace = Pace(Bucket(1, 1))
    assert begin(database, "a", pace) is None
    assert begin(database, "b", pace, model="another") is None
    assert begin(database, "c", pace) is not None
    assert set(closed(database)) == {MODEL}


@pytest.mark.usefixtures("clock")
def test_threads_share_one_bucket(database: LibraryDatabase) -> None:
    pace = Pace(bucket_of_requests(200))
    granted: list[str] = []

    def work(number: int) -> None:
        calls = [f"{number}.{call}" for call in range(10)]
        granted.extend(call for call in calls if begin(database, call, pace) is None)

    in_threads(6, work)
    assert len(granted) == 20


# --- Calls at once -------------------------------------------------------------------------------


def test_only_so_many_calls_are_under_way(database: LibraryDatabase, clock: Clock) -> None:
    pace = Pace(at_once=2)
    assert begin(database, "a", pace) is begin(database, "b", pace) is None
    refused = begin(database, "c", pace)
    assert refused is not None
    assert refused.until == clock.now + 1000
    # One call more is for that job alone to wait for: another may end at any moment.
    assert closed(database) == {}
    end(database, "a")
    assert begin(database, "c", pace) is None


def test_the_call_of_a_worker_that_is_gone_ends_by_itself(database: LibraryDatabase, clock: Clock) -> None:
    pace = Pace(at_once=1)
    assert begin(database, "a", pace) is None
    clock.now += LEASE_MS - 1
    assert begin(database, "b", pace) is not None
    clock.now += 1
    assert begin(database, "b", pace) is None


def test_the_calls_of_a_worker_that_is_known_to_be_dead_end_at_once(database: LibraryDatabase) -> None:
    pace = Pace(at_once=2)
    assert begin(database, "a", pace, worker="dead") is begin(database, "b", pace, worker="alive") is None
    with database.write() as tx:
        limits.forget_calls_of(tx, "dead")
    assert begin(database, "c", pace) is None
    assert begin(database, "d", pace) is not None


# --- Failures ------------------------------------------------------------------------------------


def test_what_a_provider_asks_of_one_is_kept_by_all(database: LibraryDatabase, clock: Clock) -> None:
    assert fail(database, "a", clock.now, told_ms=20_000) == limits.Closed(MODEL, clock.now + 20_000, True, THEIRS)
    clock.now += 19_999
    assert begin(database, "b", Pace(Bucket(9, 9))) == limits.Closed(MODEL, clock.now + 1, True, THEIRS)
    clock.now += 1
    assert begin(database, "b", Pace(Bucket(9, 9))) is None


def test_failures_in_a_row_wait_longer_and_a_success_forgives_them(database: LibraryDatabase, clock: Clock) -> None:
    waits = []
    for _ in range(3):
        waits.append(fail(database, "a", clock.now).until - clock.now)
        clock.now += waits[-1]
    assert waits == [2000, 4000, 8000]
    end(database, "b")
    assert fail(database, "c", clock.now).until - clock.now == 2000


def test_calls_that_failed_together_are_one_failure(database: LibraryDatabase, clock: Clock) -> None:
    began = clock.now
    clock.now += 50
    waits = {fail(database, str(number), began).until - clock.now for number in range(10)}
    assert waits == {2000}


def test_the_longest_of_two_delays_is_kept(database: LibraryDatabase, clock: Clock) -> None:
    fail(database, "a", clock.now, told_ms=60_000)
    assert fail(database, "b", clock.now, told_ms=1_000).until == clock.now + 60_000


def test_our_own_limit_is_no_failure_of_theirs(database: LibraryDatabase, clock: Clock) -> None:
    pace = Pace(Bucket(1, 1))
    began = clock.now
    begin(database, "a", pace)
    assert begin(database, "b", pace) is not None
    assert fail(database, "a", began).until - clock.now == 2000


# --- The clock -----------------------------------------------------------------------------------


@pytest.mark.parametrize("hours", [-30, -1, 1, 30])
def test_a_clock_that_jumps_neither_gives_nor_blocks(database: LibraryDatabase, clock: Clock, hours: int) -> None:
    pace = Pace(Bucket(2, 0.5), at_once=2)
    begin(database, "a", pace)
    clock.now += hours * 3_600_000
    with database.write() as tx:
        limits.turn_back(tx, max(0, -hours) * 3_600_000)
    granted = [begin(database, name, pace) for name in ("b", "c", "d")]
    if hours < 0:
        assert [one is None for one in granted] == [True, False, False]
        assert granted[1] is not None
        assert granted[1].until - clock.now <= 2001
    else:
        assert [one is None for one in granted] == [True, True, False]


def test_a_provider_that_is_left_alone_is_so_after_the_clock_went_back(database: LibraryDatabase, clock: Clock) -> None:
    fail(database, "a", clock.now, told_ms=20_000)
    clock.now -= 7_200_000
    with database.write() as tx:
        limits.turn_back(tx, 7_200_000)
    assert closed(database)[MODEL].until == clock.now + 20_000


def test_what_closed_a_model_is_told(database: LibraryDatabase) -> None:
    with database.read() as tx:
        fail_at = tx.now
    fail(database, "a", fail_at, told_ms=60_000)
    problem = closed(database)[MODEL].problem
    assert isinstance(problem, Problem)
    assert (problem.code, bool(problem.message), bool(problem.hint)) == ("rate-limited", True, True)
