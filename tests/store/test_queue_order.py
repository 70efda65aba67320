"""Whose turn it is: urgent before bulk, knowledge bases in turn, and no job behind a model that nobody may call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from tests.store.library_builder import LibraryBuilder
from wenyuan.errors import RateLimited
from wenyuan.rules.pacing import Bucket, Pace
from wenyuan.store import limits, queue
from wenyuan.store.postgresql.database import PostgresTransaction
from wenyuan.store.sqlite import SqliteDatabase, SqliteTransaction
from wenyuan.types import LOCAL_PRINCIPAL, Job, JobKind, Lease

_KINDS: tuple[JobKind, ...] = ("ingest", "embed", "purge")
_LEASE_MS = 60_000
_PROBLEM = RateLimited(provider="model").problem("embedding")


class Queue:
    """Jobs named after what they are about."""

    def __init__(self, library: LibraryBuilder) -> None:
        self.database = library.database
        self._library = library
        self._workers = 0

    @property
    def sqlite(self) -> SqliteDatabase:
        return self._library.sqlite

    def add(
        self,
        base: str,
        *names: str,
        owner: str = LOCAL_PRINCIPAL,
        priority: int = 10,
        kind: JobKind = "ingest",
        weight: int = 1,
        gate: str | None = None,
    ) -> None:
        with self.database.write() as tx:
            for name in names:
                job_id = self._library.new_id("job")
                queue.enqueue(tx, job_id, kind, "revision", name, base, owner, priority, weight, gate)

    def claim(self, bounds: dict[str, int] | None = None, lease_ms: int = _LEASE_MS) -> Lease | None:
        """The next job, for a worker of its own."""
        self._workers += 1
        leases = queue.claim(self.database, f"worker {self._workers}", lease_ms, _KINDS, bounds=bounds or {})
        return leases[0] if leases else None

    def take(self, count: int, bounds: dict[str, int] | None = None) -> list[str]:
        """What the next jobs are about; each is finished before the next is taken."""
        taken = []
        for _ in range(count):
            lease = self.claim(bounds)
            if lease is None:
                break
            taken.append(lease.job.subject_id)
            with self.database.write() as tx:
                queue.finish(tx, lease)
        return taken

    def wait(self, lease: Lease, delay_ms: int, gate: str | None = None) -> None:
        with self.database.write() as tx:
            queue.wait(tx, lease, _PROBLEM, delay_ms, gate)

    def close(self, model: str, delay_ms: int) -> None:
        with self.database.write() as tx:
            limits.fail_call(tx, "call", model, tx.now, _PROBLEM, lambda _: delay_ms, is_told=True)

    def job(self, name: str) -> Job:
        with self.database.read() as tx:
            (job,) = queue.of_subject(tx, "revision", name)
            return job


@pytest.fixture
def jobs(library: LibraryBuilder) -> Queue:
    return Queue(library)


class Clock:
    """The database's clock, moved by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_800_000_000_000
        for kind in (SqliteTransaction, PostgresTransaction):
            monkeypatch.setattr(kind, "now", property(lambda _: self.now))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def _numbered(name: str, count: int) -> list[str]:
    return [f"{name}{number}" for number in range(count)]


# --- Turns ---------------------------------------------------------------------------------------


@pytest.mark.only_sqlite
def test_one_file_is_not_behind_the_thousands_of_another_knowledge_base(jobs: Queue) -> None:
    jobs.add("large", *_numbered("bulk", 3000))
    jobs.take(5)
    jobs.add("small", "mine")
    assert "mine" in jobs.take(2)


def test_knowledge_bases_take_turns(jobs: Queue) -> None:
    jobs.add("a", *_numbered("a", 50))
    jobs.add("b", *_numbered("b", 50))
    for _ in range(5):
        served = Counter(name[0] for name in jobs.take(12))
        assert abs(served["a"] - 2 * served["b"]) <= 3


def test_turns_are_not_saved_up(jobs: Queue) -> None:
    """A knowledge base that was silent for long gets its share from now on, not what it did not ask for."""
    jobs.add("busy", *_numbered("old", 100))
    jobs.take(100)
    jobs.add("busy", *_numbered("busy", 30), owner="one")
    jobs.add("idle", *_numbered("idle", 30), owner="two")
    first = Counter(name[:4] for name in jobs.take(20))
    assert 8 <= first["busy"] <= 12


def test_owners_take_turns_however_many_knowledge_bases_they_have(jobs: Queue) -> None:
    for number in range(8):
        jobs.add(f"kb{number}", *_numbered(f"many{number}.", 40), owner="many")
    jobs.add("kb", *_numbered("one.", 40), owner="one")
    served = Counter(name.split(".")[0][:4].rstrip("01234567") for name in jobs.take(100))
    assert served["one"] >= 25


def test_a_heavy_file_costs_more_than_a_small_one(jobs: Queue) -> None:
    jobs.add("heavy", *_numbered("heavy", 20), owner="one", weight=1 << 20)
    jobs.add("light", *_numbered("light", 60), owner="two", weight=1000)
    served = Counter(name[:5] for name in jobs.take(20))
    assert served["light"] >= 15


def test_a_person_who_waits_comes_before_a_bulk_import(jobs: Queue) -> None:
    jobs.add("kb", *_numbered("bulk", 40))
    jobs.add("kb", "now", priority=5)
    assert jobs.take(1) == ["now"]


def test_within_one_knowledge_base_the_first_comes_first(jobs: Queue) -> None:
    names = _numbered("file", 40)
    jobs.add("kb", *names)
    assert jobs.take(40) == names


# --- Gates ---------------------------------------------------------------------------------------


def test_jobs_behind_a_closed_gate_are_passed_over_and_taken_when_it_opens(jobs: Queue, clock: Clock) -> None:
    jobs.add("kb", "embed 1", "embed 2", kind="embed", gate="model", priority=5)
    jobs.add("kb", "read", priority=80)
    jobs.close("model", 20_000)
    assert jobs.take(3) == ["read"]
    clock.now += 20_000
    assert jobs.take(3) == ["embed 1", "embed 2"]


def test_another_model_is_not_held_up(jobs: Queue) -> None:
    jobs.add("kb", "a", kind="embed", gate="down")
    jobs.add("kb", "b", kind="embed", gate="up")
    jobs.close("down", 60_000)
    assert jobs.take(3) == ["b"]


def test_no_more_jobs_of_a_model_are_done_at_once_than_its_bound(jobs: Queue) -> None:
    jobs.add("kb", *"abc", kind="embed", gate="model")
    jobs.add("kb", "read", priority=80)
    first = jobs.claim({"model": 1})
    assert first is not None
    assert jobs.take(2, {"model": 1}) == ["read"]
    assert jobs.claim({"model": 2}) is not None
    assert jobs.claim({"model": 2}) is None


def test_jobs_that_a_worker_took_together_count_once(jobs: Queue) -> None:
    jobs.add("kb", *"abcd", kind="embed", gate="model")
    together = queue.claim(jobs.database, "one", _LEASE_MS, _KINDS, most=3, most_weight=9, bounds={"model": 2})
    assert len(together) == 3
    assert jobs.claim({"model": 2}) is not None
    assert jobs.claim({"model": 2}) is None


def test_a_crashed_worker_keeps_no_place(jobs: Queue) -> None:
    jobs.add("kb", *"ab", kind="embed", gate="model")
    assert jobs.claim({"model": 1}, lease_ms=0) is not None
    assert jobs.claim({"model": 1}) is not None
    assert jobs.claim({"model": 1}) is None


def test_the_model_of_an_embedding_is_its_knowledge_bases(library: LibraryBuilder, jobs: Queue) -> None:
    base = library.knowledge_base(embedding_model="model")
    jobs.add(base.id, "a", kind="embed")
    jobs.add(base.id, "b", kind="ingest")
    jobs.add(base.id, "c", kind="embed", gate="another")
    assert [jobs.job(name).gate for name in "abc"] == ["model", "", "another"]


def test_a_job_that_turns_out_to_need_another_model_waits_for_that(jobs: Queue, clock: Clock) -> None:
    jobs.add("kb", "a", kind="embed", gate="former")
    lease = jobs.claim()
    assert lease is not None
    jobs.close("model", 20_000)
    jobs.wait(lease, 10_000, gate="model")
    clock.now += 10_000
    assert jobs.take(1) == []
    clock.now += 10_000
    assert jobs.take(1) == ["a"]


def test_when_what_is_put_off_goes_on_is_known(jobs: Queue, clock: Clock) -> None:
    def opens() -> tuple[int, bool] | None:
        with jobs.database.read() as tx:
            found = queue.opens_at(tx)
        return None if found is None else (found[0] - clock.now, found[1])

    jobs.add("kb", "read")
    lease = jobs.claim()
    assert lease is not None
    assert opens() is None
    jobs.wait(lease, 5_000)
    assert opens() == (5_000, False)
    jobs.add("kb", "embed", kind="embed", gate="model")
    jobs.close("model", 2_000)
    assert opens() == (2_000, True)
    clock.now += 2_000
    assert opens() == (3_000, False)


def test_our_own_limit_keeps_a_gate_closed(jobs: Queue, clock: Clock) -> None:
    jobs.add("kb", "a", kind="embed", gate="model")
    pace = Pace(Bucket(1, 0.1))
    for call in "ab":
        with jobs.database.write() as tx:
            limits.begin_call(tx, call, "model", "one", pace, 1, 1000, _PROBLEM)
    assert jobs.take(1) == []
    clock.now += 10_001
    assert jobs.take(1) == ["a"]


# --- Waking, and clocks that jump ----------------------------------------------------------------


def test_what_was_put_off_is_taken_when_its_time_has_come(jobs: Queue, clock: Clock) -> None:
    jobs.add("kb", "a")
    lease = jobs.claim()
    assert lease is not None
    jobs.wait(lease, 10_000)
    clock.now += 9_999
    assert jobs.take(1) == []
    clock.now += 1
    assert jobs.take(1) == ["a"]


@pytest.mark.parametrize("hours", [1, 48])
def test_a_clock_that_goes_back_holds_nothing_up(jobs: Queue, clock: Clock, hours: int) -> None:
    """A lease, a delay and a closed gate end when they were to end, not hours later."""
    jobs.add("kb", "left behind", "put off")
    jobs.add("kb", "behind a gate", kind="embed", gate="model")
    left, put_off = jobs.claim(), jobs.claim()
    assert left is not None
    assert put_off is not None
    jobs.wait(put_off, 30_000)
    jobs.close("model", 40_000)
    clock.now -= hours * 3_600_000
    assert jobs.take(3) == []
    clock.now += 60_000
    assert sorted(jobs.take(4)) == ["behind a gate", "left behind", "put off"]


def test_a_clock_that_goes_forward_loses_and_doubles_nothing(jobs: Queue, clock: Clock) -> None:
    jobs.add("kb", "a")
    old = jobs.claim()
    assert old is not None
    clock.now += 48 * 3_600_000
    new = jobs.claim()
    assert new is not None
    assert (new.job.id, new.fence) == (old.job.id, old.fence + 1)
    clock.now -= 48 * 3_600_000
    assert jobs.claim() is None
    clock.now += _LEASE_MS
    assert jobs.take(1) == ["a"]


def test_a_worker_that_goes_on_after_its_lease_can_change_nothing(jobs: Queue, clock: Clock) -> None:
    """Its job is queued again as soon as anyone looks, whether or not it was taken yet."""
    jobs.add("kb", "late", priority=20)
    late = jobs.claim()
    assert late is not None
    jobs.add("kb", "urgent", priority=5)
    clock.now += _LEASE_MS
    assert jobs.take(1) == ["urgent"]
    before = jobs.job("late")
    jobs.wait(late, 1)
    with jobs.database.write() as tx:
        queue.progress(tx, late, "reading", 5, 5)
        queue.release(tx, late)
    after = jobs.job("late")
    assert (after.state, before.state) == ("queued", "queued")
    assert jobs.take(1) == ["late"]


# --- Many ----------------------------------------------------------------------------------------


def _steps(database: SqliteDatabase, work: Callable[[], object]) -> int:
    """How many instructions of its virtual machine SQLite executes for it, in hundreds."""
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    with database.write():
        pass
    connections = [one for one in (database._writer, *database._idle_readers) if one is not None]
    for connection in connections:
        connection.set_progress_handler(count, 100)
    work()
    for connection in connections:
        connection.set_progress_handler(None)
    return steps


@pytest.mark.only_sqlite
@pytest.mark.parametrize("state", ["queued", "waiting", "behind a closed gate"])
def test_a_claim_costs_the_same_however_many_jobs_there_are(jobs: Queue, state: str) -> None:
    costs: list[int] = []
    for more in (100, 50_000):
        names: Sequence[str] = _numbered(f"{more}.", more)
        kind: JobKind = "embed" if "gate" in state else "ingest"
        jobs.add(f"kb{more}", *names, kind=kind, gate="model" if "gate" in state else "")
        if state == "waiting":
            with jobs.database.write() as tx:
                tx.run("UPDATE jobs SET state = 'waiting', run_after = :after", {"after": tx.now + 3_600_000})
        jobs.close("model", 3_600_000)
        jobs.add("kb", f"next {more}", priority=1)
        costs.append(_steps(jobs.sqlite, lambda: jobs.take(1)))
    assert 0 < costs[1] <= costs[0] + 5
