"""Jobs: claimed by one worker at a time, lost by none, and ended exactly once."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.store.library_builder import LibraryBuilder, in_threads
from tests.store.processes import answer, claim_all, claim_and_die, other_process
from wenyuan.errors import JobCancelled, JobNotFound, LeaseLost, ProviderTimeout
from wenyuan.store import queue
from wenyuan.store.database import LibraryDatabase, Writing
from wenyuan.types import LOCAL_PRINCIPAL, Job, JobKind, Lease

_LEASE_MS = 600_000
_LATER_MS = 600_000
_ALL_KINDS: tuple[JobKind, ...] = ("ingest", "embed", "purge")
_PROBLEM = ProviderTimeout(provider="test", seconds=1).problem("embedding", 1)


def _claim(database: LibraryDatabase, worker: str = "one", lease_ms: int = _LEASE_MS) -> Lease | None:
    return next(iter(queue.claim(database, worker, lease_ms, _ALL_KINDS)), None)


def _claimed(database: LibraryDatabase, worker: str = "one", lease_ms: int = _LEASE_MS) -> Lease:
    lease = _claim(database, worker, lease_ms)
    assert lease is not None
    return lease


def _job(database: LibraryDatabase, job_id: str) -> Job:
    with database.read() as tx:
        return queue.find(tx, LOCAL_PRINCIPAL, job_id)


# --- Claiming ------------------------------------------------------------------------------------


def test_the_most_urgent_job_comes_first_and_the_oldest_of_those(library: LibraryBuilder) -> None:
    late = library.enqueue("embed", "a", "kb", priority=50)
    first = library.enqueue("ingest", "b", "kb", priority=10)
    second = library.enqueue("ingest", "c", "kb", priority=10)
    assert [_claimed(library.database).job.id for _ in range(3)] == [first, second, late]
    assert _claim(library.database) is None


def test_a_claim_takes_only_the_kinds_it_was_asked_for(library: LibraryBuilder) -> None:
    embed = library.enqueue("embed", "a", "kb", priority=50)
    library.enqueue("ingest", "a", "kb", priority=10)
    (lease,) = queue.claim(library.database, "one", _LEASE_MS, ("embed", "purge"))
    assert lease.job.id == embed
    assert queue.claim(library.database, "one", _LEASE_MS, ()) == []


def test_a_claimed_job_tells_who_holds_it(library: LibraryBuilder) -> None:
    job_id = library.enqueue("ingest", "a", "kb")
    lease = _claimed(library.database, "one")
    job = _job(library.database, job_id)
    assert job == lease.job
    assert (job.state, job.worker, job.fence, job.attempts) == ("running", "one", 1, 1)
    assert job.started_at is not None
    assert job.lease_until == job.started_at + _LEASE_MS
    with library.database.read() as tx:
        assert queue.workers_at_work(tx) == ["one"]


def test_the_same_work_on_the_same_subject_is_queued_once(library: LibraryBuilder) -> None:
    first = library.enqueue("ingest", "a", "kb")
    library.enqueue("ingest", "a", "kb")
    other = library.enqueue("embed", "a", "kb")
    assert {job.id for job in _live(library.database)} == {first, other}
    lease = _claimed(library.database)
    library.enqueue("ingest", "a", "kb")
    assert {job.id for job in _live(library.database)} == {first, other}
    with library.database.write() as tx:
        queue.finish(tx, lease)
    again = library.enqueue("ingest", "a", "kb")
    assert {job.id for job in _live(library.database)} == {again, other}


def _live(database: LibraryDatabase) -> list[Job]:
    with database.read() as tx:
        return queue.listed(tx, LOCAL_PRINCIPAL, only_live=True, limit=100)


def _together(library: LibraryBuilder, most: int = 4, weight: int = 100) -> list[str]:
    return [lease.job.subject_id for lease in queue.claim(library.database, "one", _LEASE_MS, _ALL_KINDS, most, weight)]


def test_jobs_of_one_kind_that_weigh_little_are_taken_together(library: LibraryBuilder) -> None:
    for name in "abcdefgh":
        library.enqueue("ingest", name, "kb", weight=40 if name in "ef" else 10)
    library.enqueue("embed", "i", "kb")
    library.enqueue("embed", "j", "kb")
    assert _together(library) == ["a", "b", "c", "d"]
    assert _together(library) == ["e", "f", "g", "h"]
    assert _together(library) == ["i"]
    assert _together(library) == ["j"]
    assert _together(library) == []


def test_a_heavy_job_is_taken_alone_and_ends_a_group(library: LibraryBuilder) -> None:
    for name, weight in (("a", 60), ("b", 60), ("c", 1 << 40), ("d", 100), ("e", 0), ("f", 1)):
        library.enqueue("ingest", name, "kb", weight=weight)
    assert [_together(library) for _ in range(5)] == [["a"], ["b"], ["c"], ["d", "e"], ["f"]]


def test_another_kind_ends_a_group(library: LibraryBuilder) -> None:
    library.enqueue("ingest", "a", "kb", weight=1)
    library.enqueue("embed", "b", "kb", weight=1)
    library.enqueue("ingest", "c", "kb", weight=1)
    assert [_together(library) for _ in range(3)] == [["a"], ["b"], ["c"]]


def test_a_job_that_was_begun_before_is_taken_alone(library: LibraryBuilder) -> None:
    for name in "abc":
        library.enqueue("ingest", name, "kb", weight=1)
    for lease in queue.claim(library.database, "dead", 0, _ALL_KINDS, 2, 100):
        assert lease.job.attempts == 1
    assert [_together(library) for _ in range(3)] == [["a"], ["b"], ["c"]]


def test_a_job_that_was_handed_back_is_taken_together_with_others_again(library: LibraryBuilder) -> None:
    for name in "abc":
        library.enqueue("ingest", name, "kb", weight=1)
    leases = queue.claim(library.database, "one", _LEASE_MS, _ALL_KINDS, 4, 100)
    with library.database.write() as tx:
        for lease in leases:
            queue.release(tx, lease)
    assert _together(library) == ["a", "b", "c"]


def test_threads_never_claim_the_same_job(library: LibraryBuilder) -> None:
    jobs = {library.enqueue("ingest", str(number), "kb") for number in range(60)}
    claimed: list[str] = []

    def work(number: int) -> None:
        while lease := _claim(library.database, str(number)):
            claimed.append(lease.job.id)

    in_threads(6, work)
    assert sorted(claimed) == sorted(jobs)


@pytest.mark.only_sqlite
def test_processes_never_claim_the_same_job(library: LibraryBuilder) -> None:
    jobs = [library.enqueue("ingest", str(number), "kb", priority=number % 3) for number in range(150)]
    path = library.folder / "wenyuan.db"
    with ExitStack() as stack:
        others = [stack.enter_context(other_process(claim_all, path, f"worker {n}")) for n in range(3)]
        assert [answer(other) for other in others] == ["ready"] * 3
        for other in others:
            other.send("go")
        claimed = [answer(other) for other in others]
    assert sorted(job for one in claimed for job in one) == sorted(jobs)
    priority = {job: number % 3 for number, job in enumerate(jobs)}
    for one in claimed:
        assert one == sorted(one, key=lambda job: (priority[job], job))


# --- Leases and fences ---------------------------------------------------------------------------


def test_a_job_is_not_taken_while_its_lease_lasts(library: LibraryBuilder) -> None:
    library.enqueue("ingest", "a", "kb")
    lease = _claimed(library.database)
    assert _claim(library.database, "two") is None
    with library.database.write() as tx:
        queue.hold(tx, lease, 0)
    assert _claimed(library.database, "two").job.id == lease.job.id


def test_holding_renews_the_lease(library: LibraryBuilder) -> None:
    library.enqueue("ingest", "a", "kb")
    lease = _claimed(library.database, lease_ms=0)
    with library.database.write() as tx:
        queue.hold(tx, lease, _LEASE_MS)
    assert _claim(library.database, "two") is None


@pytest.mark.parametrize(
    "write",
    [
        lambda tx, lease: queue.hold(tx, lease, _LEASE_MS),
        queue.finish,
        lambda tx, lease: queue.fail(tx, lease, _PROBLEM),
        queue.cancelled,
    ],
    ids=["hold", "finish", "fail", "cancelled"],
)
@pytest.mark.parametrize("ending", ["running", "waiting", "done"])
def test_a_worker_whose_job_was_taken_over_can_change_nothing(
    library: LibraryBuilder, write: object, ending: str
) -> None:
    assert callable(write)
    library.enqueue("ingest", "a", "kb")
    old = _claimed(library.database, "old", lease_ms=0)
    new = _claimed(library.database, "new")
    assert new.fence > old.fence
    with library.database.write() as tx:
        if ending == "waiting":
            queue.wait(tx, new, _PROBLEM, _LATER_MS)
        elif ending == "done":
            queue.finish(tx, new)
    before = _job(library.database, old.job.id)
    with pytest.raises(LeaseLost), library.database.write() as tx:  # noqa: PT012
        tx.run("UPDATE counters SET value = 1 WHERE name = 'chunk'")
        write(tx, old)
    assert _job(library.database, old.job.id) == before
    with library.database.read() as tx:
        assert tx.all("SELECT value FROM counters WHERE name IN ('chunk', 'generation')") == [(0,), (0,)]


def test_what_a_late_worker_hands_back_stays_with_its_new_holder(library: LibraryBuilder) -> None:
    library.enqueue("ingest", "a", "kb")
    old = _claimed(library.database, "old", lease_ms=0)
    new = _claimed(library.database, "new")
    with library.database.write() as tx:
        queue.wait(tx, old, _PROBLEM, _LATER_MS)
        queue.release(tx, old)
        queue.progress(tx, old, "reading", 9, 9)
    assert _job(library.database, new.job.id) == new.job


@pytest.mark.only_sqlite
def test_a_job_whose_process_was_killed_is_taken_over(library: LibraryBuilder) -> None:
    job_id = library.enqueue("ingest", "a", "kb")
    with other_process(claim_and_die, library.folder / "wenyuan.db") as other:
        assert answer(other) == job_id
    lease = _claimed(library.database)
    assert (lease.job.id, lease.fence, lease.job.attempts) == (job_id, 2, 2)
    # What it wrote in its last, uncommitted transaction never happened.
    assert (lease.job.stage, lease.job.done) == ("queued", 0)


def test_the_jobs_of_a_dead_worker_are_claimable_at_once(library: LibraryBuilder) -> None:
    for name in ("a", "b"):
        library.enqueue("ingest", name, "kb")
    dead, alive = _claimed(library.database, "dead"), _claimed(library.database, "alive")
    with library.database.write() as tx:
        assert queue.expire_leases_of(tx, "dead") == 1
    with library.database.read() as tx:
        assert queue.workers_at_work(tx) == ["alive"]
    assert _claimed(library.database, "third").job.id == dead.job.id
    with library.database.write() as tx:
        queue.hold(tx, alive, _LEASE_MS)


# --- Cancelling ----------------------------------------------------------------------------------


def _cancel(tx: Writing, job: Job, how: str) -> None:
    if how == "subject":
        queue.cancel(tx, "revision", job.subject_id)
    else:
        queue.cancel_job(tx, job)


@pytest.mark.parametrize("how", ["subject", "job"])
def test_a_queued_job_is_cancelled_at_once(library: LibraryBuilder, how: str) -> None:
    job = _job(library.database, library.enqueue("ingest", "a", "kb"))
    with library.database.write() as tx:
        _cancel(tx, job, how)
    ended = _job(library.database, job.id)
    assert ended.state == "cancelled"
    assert ended.finished_at is not None
    assert _claim(library.database) is None


@pytest.mark.parametrize("how", ["subject", "job"])
def test_a_waiting_job_is_cancelled_at_once(library: LibraryBuilder, how: str) -> None:
    library.enqueue("embed", "a", "kb")
    lease = _claimed(library.database)
    with library.database.write() as tx:
        queue.wait(tx, lease, _PROBLEM, 0)
        _cancel(tx, lease.job, how)
    assert _job(library.database, lease.job.id).state == "cancelled"
    assert _claim(library.database) is None


@pytest.mark.parametrize("how", ["subject", "job"])
def test_a_running_job_learns_of_it_at_its_next_write(library: LibraryBuilder, how: str) -> None:
    library.enqueue("ingest", "a", "kb")
    lease = _claimed(library.database)
    with library.database.write() as tx:
        _cancel(tx, lease.job, how)
    asked = _job(library.database, lease.job.id)
    assert (asked.state, asked.cancel_requested) == ("running", True)
    with pytest.raises(JobCancelled), library.database.write() as tx:
        queue.hold(tx, lease, _LEASE_MS)
    with library.database.write() as tx:
        queue.cancelled(tx, lease)
    assert _job(library.database, lease.job.id).state == "cancelled"


@pytest.mark.parametrize("end", [queue.finish, queue.cancelled, lambda tx, lease: queue.fail(tx, lease, _PROBLEM)])
@pytest.mark.parametrize("how", ["subject", "job"])
def test_an_ended_job_stays_as_it_ended(library: LibraryBuilder, end: object, how: str) -> None:
    assert callable(end)
    library.enqueue("ingest", "a", "kb")
    lease = _claimed(library.database)
    with library.database.write() as tx:
        end(tx, lease)
    before = _job(library.database, lease.job.id)
    with library.database.write() as tx:
        _cancel(tx, before, how)
    assert _job(library.database, lease.job.id) == before


def test_a_cancelled_job_that_is_put_off_does_not_wait_to_be_cancelled(library: LibraryBuilder) -> None:
    library.enqueue("embed", "a", "kb")
    lease = _claimed(library.database)
    with library.database.write() as tx:
        queue.cancel(tx, "revision", "a")
        queue.wait(tx, lease, _PROBLEM, _LATER_MS)
    taken = _claimed(library.database, "two")
    with pytest.raises(JobCancelled), library.database.write() as tx:
        queue.hold(tx, taken, _LEASE_MS)


def test_a_job_that_was_cancelled_when_its_worker_died_is_cancelled_by_the_next(library: LibraryBuilder) -> None:
    library.enqueue("ingest", "a", "kb")
    _claimed(library.database, "dead", lease_ms=0)
    with library.database.write() as tx:
        queue.cancel(tx, "revision", "a")
    taken = _claimed(library.database, "next")
    with pytest.raises(JobCancelled), library.database.write() as tx:
        queue.hold(tx, taken, _LEASE_MS)


@pytest.mark.parametrize("how", ["subject", "job"])
@pytest.mark.parametrize("running", [True, False])
def test_purging_goes_on_whatever_is_cancelled(library: LibraryBuilder, how: str, running: bool) -> None:
    job = _job(library.database, library.enqueue("purge", "a", "kb"))
    if running:
        lease = _claimed(library.database)
    with library.database.write() as tx:
        _cancel(tx, job, how)
    if not running:
        lease = _claimed(library.database)
    with library.database.write() as tx:
        queue.hold(tx, lease, _LEASE_MS)


# --- Attempts and waiting ------------------------------------------------------------------------


def test_a_job_waits_as_long_as_it_was_told(library: LibraryBuilder) -> None:
    library.enqueue("embed", "a", "kb")
    lease = _claimed(library.database)
    with library.database.write() as tx:
        now = tx.now
        queue.wait(tx, lease, _PROBLEM, _LATER_MS)
    waiting = _job(library.database, lease.job.id)
    assert (waiting.state, waiting.run_after, waiting.problem, waiting.worker) == (
        "waiting",
        now + _LATER_MS,
        _PROBLEM,
        "",
    )
    assert _claim(library.database) is None


def test_each_claim_counts_as_an_attempt_until_there_is_progress(library: LibraryBuilder) -> None:
    library.enqueue("embed", "a", "kb")
    for attempt in (1, 2, 3):
        lease = _claimed(library.database)
        assert lease.job.attempts == attempt
        assert lease.job.problem is None
        _die(library.database, lease)
    lease = _claimed(library.database)
    with library.database.write() as tx:
        queue.progress(tx, lease, "embedding", 32, 100)
    _die(library.database, lease)
    lease = _claimed(library.database)
    assert (lease.job.attempts, lease.job.stage, lease.job.done, lease.job.total) == (2, "embedding", 32, 100)


def test_beginning_again_is_no_progress(library: LibraryBuilder) -> None:
    """A file that kills its worker in the second batch gets as far each time, and no further."""
    library.enqueue("ingest", "a", "kb")
    for attempt in (1, 2, 3, 4):
        lease = _claimed(library.database)
        assert lease.job.attempts == attempt
        with library.database.write() as tx:
            queue.progress(tx, lease, "reading", 0, 0)
            queue.progress(tx, lease, "reading", 512, 0)
        _die(library.database, lease)


def test_what_others_are_to_blame_for_is_no_attempt(library: LibraryBuilder) -> None:
    library.enqueue("embed", "a", "kb")
    for _ in range(3):
        lease = _claimed(library.database)
        assert lease.job.attempts == 1
        with library.database.write() as tx:
            queue.wait(tx, lease, _PROBLEM, 0)


def _die(database: LibraryDatabase, lease: Lease) -> None:
    with database.write() as tx:
        assert queue.expire_leases_of(tx, lease.worker) == 1


def test_handing_a_job_back_is_no_attempt(library: LibraryBuilder) -> None:
    library.enqueue("ingest", "a", "kb")
    for _ in range(5):
        lease = _claimed(library.database)
        assert lease.job.attempts == 1
        with library.database.write() as tx:
            queue.release(tx, lease)
        released = _job(library.database, lease.job.id)
        assert (released.state, released.attempts, released.worker) == ("queued", 0, "")


# --- Looking -------------------------------------------------------------------------------------


def test_live_jobs_are_listed_as_they_will_be_done_and_ended_ones_after_them(library: LibraryBuilder) -> None:
    finished, failed = library.enqueue("ingest", "a", "kb", 1), library.enqueue("ingest", "b", "kb", 2)
    with library.database.write() as tx:
        queue.finish(tx, _claimed_in(tx, finished))
    with library.database.write() as tx:
        queue.fail(tx, _claimed_in(tx, failed), _PROBLEM)
        tx.run("UPDATE jobs SET finished_at = finished_at + 1 WHERE id = :id", {"id": failed})
    running = library.enqueue("ingest", "c", "kb", 3)
    _claimed(library.database)
    late, urgent = library.enqueue("embed", "d", "kb", 50), library.enqueue("ingest", "e", "kb", 10)
    with library.database.read() as tx:
        everything = [job.id for job in queue.listed(tx, LOCAL_PRINCIPAL, only_live=False, limit=10)]
        live = [job.id for job in queue.listed(tx, LOCAL_PRINCIPAL, only_live=True, limit=10)]
        assert queue.listed(tx, "someone else", only_live=False, limit=10) == []
        assert queue.counts(tx) == {
            ("ingest", "running"): 1,
            ("ingest", "queued"): 1,
            ("embed", "queued"): 1,
        }
    assert live == [running, urgent, late]
    assert everything == [running, urgent, late, failed, finished]


def _claimed_in(tx: Writing, job_id: str) -> Lease:
    tx.run("UPDATE jobs SET state = 'running', fence = 1, worker = 'one' WHERE id = :id", {"id": job_id})
    return Lease(queue.find(tx, LOCAL_PRINCIPAL, job_id), "one", 1)


def test_a_job_of_someone_else_is_not_found(library: LibraryBuilder) -> None:
    job_id = library.enqueue("ingest", "a", "kb")
    with library.database.read() as tx, pytest.raises(JobNotFound):
        queue.find(tx, "someone else", job_id)


def test_the_jobs_of_a_subject_are_told_oldest_first(library: LibraryBuilder) -> None:
    jobs = [library.enqueue("ingest", "a", "kb"), library.enqueue("embed", "a", "kb")]
    library.enqueue("ingest", "b", "kb")
    with library.database.read() as tx:
        assert [job.id for job in queue.of_subject(tx, "revision", "a")] == jobs
