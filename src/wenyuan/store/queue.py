"""Jobs: a table in the same database, so that work is stored in the transaction that causes it.

A worker claims a job with a lease, an attempt count and a fencing token, and renews the lease while
it works. Every write it makes calls `hold` first, in the same transaction: a worker whose lease was
taken over can change nothing. A job whose lease has run out is claimable.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from wenyuan.errors import JobCancelled, JobNotFound, LeaseLost
from wenyuan.store.database import Database, Reading, Row, Writing
from wenyuan.store.rows import problem_from, to_json
from wenyuan.types import Job, JobKind, Lease, Problem

_COLUMNS = (
    "id, kind, subject_kind, subject_id, knowledge_base_id, owner, state, priority, attempts, fence, worker, "
    "run_after, lease_until, cancel_requested, stage, done, total, problem, created_at, started_at, finished_at"
)
# As the index of live jobs has it: said so, a statement reads those alone, not all that ever were.
_IS_LIVE = "state IN ('queued', 'running', 'waiting')"
_CLAIMABLE = (
    f"{_IS_LIVE} AND (CASE WHEN state = 'running' THEN lease_until ELSE run_after END) <= :now "
    "AND kind IN (SELECT value FROM json_each(:kinds))"
)

ALONE = 1 << 62
"""The weight of a job that is never taken together with others."""


def enqueue(
    tx: Writing,
    job_id: str,
    kind: JobKind,
    subject_kind: str,
    subject_id: str,
    knowledge_base_id: str,
    owner: str,
    priority: int,
    weight: int = ALONE,
) -> None:
    """Store a job; does nothing when the same work on the same subject is already waiting or running.

    A smaller `priority` comes first. Jobs of one kind with little `weight`, in bytes to be read, may
    be taken together.
    """
    tx.run(
        "INSERT INTO jobs (id, kind, subject_kind, subject_id, knowledge_base_id, owner, state, priority, weight, "
        "attempts, fence, worker, run_after, lease_until, cancel_requested, stage, done, total, created_at) VALUES "
        "(:id, :kind, :subject_kind, :subject_id, :knowledge_base_id, :owner, 'queued', :priority, :weight, 0, 0, '', "
        ":now, 0, 0, 'queued', 0, 0, :now) ON CONFLICT DO NOTHING",
        {
            "id": job_id,
            "kind": kind,
            "subject_kind": subject_kind,
            "subject_id": subject_id,
            "knowledge_base_id": knowledge_base_id,
            "owner": owner,
            "priority": priority,
            "weight": weight,
            "now": tx.now,
        },
    )


def claim(
    database: Database, worker: str, lease_ms: int, kinds: Sequence[JobKind], most: int = 1, most_weight: int = 0
) -> list[Lease]:
    """Take the next job; with it, up to `most` in all, those of its kind that are next and weigh little together.

    A job that was begun before is taken alone: it may be to blame for how that ended. A plain read
    looks first, so that idle workers take no write lock.
    """
    parameters: dict[str, Any] = {"kinds": json.dumps(list(kinds)), "most": most}
    with database.read() as tx:
        if tx.first(f"SELECT 1 FROM jobs WHERE {_CLAIMABLE} LIMIT 1", {**parameters, "now": tx.now}) is None:
            return []
    with database.write(durable=False) as tx:
        next_ones = tx.all(
            f"SELECT id, kind, weight, attempts FROM jobs WHERE {_CLAIMABLE} "
            "ORDER BY priority, created_at, id LIMIT :most",
            {**parameters, "now": tx.now},
        )
        taken = _together(next_ones, most_weight)
        rows = tx.all(
            "UPDATE jobs SET state = 'running', worker = :worker, fence = fence + 1, attempts = attempts + 1, "
            "lease_until = :until, started_at = coalesce(started_at, :now), problem = NULL WHERE id IN "
            f"(SELECT value FROM json_each(:ids)) RETURNING {_COLUMNS}",
            {"ids": json.dumps(taken), "worker": worker, "now": tx.now, "until": tx.now + lease_ms},
        )
    jobs = {row[0]: _job(row) for row in rows}
    return [Lease(jobs[job_id], worker, jobs[job_id].fence) for job_id in taken]


def _together(next_ones: Sequence[Row], most_weight: int) -> list[str]:
    """The ids of the first job and of those behind it that may be taken with it."""
    taken: list[str] = []
    left = most_weight
    for job_id, kind, weight, attempts in next_ones:
        left -= weight
        if taken and (attempts or left < 0 or kind != next_ones[0][1]):
            break
        taken.append(str(job_id))
        if attempts:
            break
    return taken


def hold(tx: Writing, lease: Lease, lease_ms: int) -> None:
    """Renew the lease, or raise `LeaseLost` or `JobCancelled`: the first statement of a worker's write."""
    row = tx.first(
        "UPDATE jobs SET lease_until = :until WHERE id = :id AND fence = :fence AND state = 'running' "
        "RETURNING cancel_requested",
        {"id": lease.job.id, "fence": lease.fence, "until": tx.now + lease_ms},
    )
    if row is None:
        raise LeaseLost(job=lease.job.id)
    if row[0]:
        raise JobCancelled()


def progress(tx: Writing, lease: Lease, stage: str, done: int, total: int) -> None:
    """Record how far a job is. Getting further than ever forgives earlier failed attempts."""
    tx.run(
        "UPDATE jobs SET stage = :stage, done = CASE WHEN :done > done THEN :done ELSE done END, total = :total, "
        "attempts = CASE WHEN :done > done THEN 1 ELSE attempts END WHERE id = :id AND fence = :fence",
        {"id": lease.job.id, "fence": lease.fence, "stage": stage, "done": done, "total": total},
    )


def finish(tx: Writing, lease: Lease) -> None:
    _end(tx, lease, "done", None)


def fail(tx: Writing, lease: Lease, problem: Problem) -> None:
    _end(tx, lease, "failed", problem)


def cancelled(tx: Writing, lease: Lease) -> None:
    _end(tx, lease, "cancelled", None)


def wait(tx: Writing, lease: Lease, problem: Problem, delay_ms: int) -> None:
    """Put a job back until later, saying why; one that was cancelled meanwhile only until its next claim.

    What others are to blame for is not counted as an attempt.
    """
    tx.run(
        "UPDATE jobs SET state = 'waiting', worker = '', lease_until = 0, attempts = attempts - 1, "
        "run_after = CASE WHEN cancel_requested = 1 THEN CAST(:now AS BIGINT) ELSE :after END, problem = :problem "
        "WHERE id = :id AND fence = :fence AND state = 'running'",
        {
            "id": lease.job.id,
            "fence": lease.fence,
            "now": tx.now,
            "after": tx.now + delay_ms,
            "problem": to_json(problem),
        },
    )


def release(tx: Writing, lease: Lease) -> None:
    """Hand a job back unfinished, without counting the attempt: the worker is stopping."""
    tx.run(
        "UPDATE jobs SET state = 'queued', worker = '', lease_until = 0, attempts = attempts - 1 "
        "WHERE id = :id AND fence = :fence AND state = 'running'",
        {"id": lease.job.id, "fence": lease.fence},
    )


def cancel(tx: Writing, subject_kind: str, subject_id: str) -> None:
    """Cancel every job on a subject: at once where it waits, within one batch where it runs.

    Purging goes on, whatever is cancelled: what it takes away is hidden already.
    """
    parameters = {"kind": subject_kind, "id": subject_id, "now": tx.now}
    tx.run(
        "UPDATE jobs SET state = 'cancelled', finished_at = :now WHERE subject_kind = :kind AND subject_id = :id "
        "AND kind <> 'purge' AND state IN ('queued', 'waiting')",
        parameters,
    )
    tx.run(
        "UPDATE jobs SET cancel_requested = 1 WHERE subject_kind = :kind AND subject_id = :id "
        "AND kind <> 'purge' AND state = 'running'",
        parameters,
    )


def cancel_job(tx: Writing, job: Job) -> None:
    """Cancel one job; an ended job stays as it ended, and purging goes on."""
    parameters = {"id": job.id, "now": tx.now}
    tx.run(
        "UPDATE jobs SET state = 'cancelled', finished_at = :now "
        "WHERE id = :id AND kind <> 'purge' AND state IN ('queued', 'waiting')",
        parameters,
    )
    tx.run("UPDATE jobs SET cancel_requested = 1 WHERE id = :id AND kind <> 'purge' AND state = 'running'", parameters)


def is_last(tx: Reading, job: Job) -> bool:
    """Whether no other job of its kind is waiting or running in its knowledge base."""
    row = tx.first(
        f"SELECT 1 FROM jobs WHERE {_IS_LIVE} AND priority = :priority AND kind = :kind "
        "AND knowledge_base_id = :knowledge_base_id AND id <> :id LIMIT 1",
        {"id": job.id, "kind": job.kind, "priority": job.priority, "knowledge_base_id": job.knowledge_base_id},
    )
    return row is None


def workers_at_work(tx: Reading) -> list[str]:
    """Workers that hold a lease which has not run out."""
    rows = tx.all(
        "SELECT DISTINCT worker FROM jobs WHERE state = 'running' AND lease_until > :now ORDER BY worker",
        {"now": tx.now},
    )
    return [str(row[0]) for row in rows]


def expire_leases_of(tx: Writing, worker: str) -> int:
    """Make the jobs of a worker that is known to be dead claimable at once."""
    return tx.run("UPDATE jobs SET lease_until = 0 WHERE state = 'running' AND worker = :worker", {"worker": worker})


def find(tx: Reading, principal: str, job_id: str) -> Job:
    row = tx.first(
        f"SELECT {_COLUMNS} FROM jobs WHERE owner = :principal AND id = :id", {"principal": principal, "id": job_id}
    )
    if row is None:
        raise JobNotFound(job=job_id)
    return _job(row)


def listed(tx: Reading, principal: str, *, only_live: bool, limit: int) -> list[Job]:
    """Jobs, live ones first in the order they will be done, then ended ones, newest first."""
    parameters = {"principal": principal, "limit": limit}
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM jobs WHERE owner = :principal AND {_IS_LIVE} "
        "ORDER BY CASE state WHEN 'running' THEN 0 WHEN 'queued' THEN 1 ELSE 2 END, priority, created_at, id "
        "LIMIT :limit",
        parameters,
    )
    if not only_live:
        rows += tx.all(
            f"SELECT {_COLUMNS} FROM jobs WHERE owner = :principal AND NOT {_IS_LIVE} "
            "ORDER BY finished_at DESC, id LIMIT :limit",
            parameters,
        )
    return [_job(row) for row in rows[:limit]]


def begun(tx: Reading, principal: str, limit: int) -> list[Job]:
    """Jobs that are being done, or were put off: few, however many are queued."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM jobs WHERE owner = :principal AND state IN ('running', 'waiting') "
        "ORDER BY state, created_at, id LIMIT :limit",
        {"principal": principal, "limit": limit},
    )
    return [_job(row) for row in rows]


def of_subject(tx: Reading, subject_kind: str, subject_id: str) -> list[Job]:
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM jobs WHERE subject_kind = :kind AND subject_id = :id ORDER BY created_at, id",
        {"kind": subject_kind, "id": subject_id},
    )
    return [_job(row) for row in rows]


def counts(tx: Reading) -> dict[tuple[str, str], int]:
    """How many live jobs there are by (kind, state)."""
    rows = tx.all(f"SELECT kind, state, count(*) FROM jobs WHERE {_IS_LIVE} GROUP BY kind, state")
    return {(str(kind), str(state)): int(count) for kind, state, count in rows}


def _end(tx: Writing, lease: Lease, state: str, problem: Problem | None) -> None:
    changed = tx.run(
        "UPDATE jobs SET state = :state, problem = :problem, worker = '', lease_until = 0, finished_at = :now, "
        "stage = CASE WHEN :state = 'done' THEN 'done' ELSE stage END "
        "WHERE id = :id AND fence = :fence AND state = 'running'",
        {
            "id": lease.job.id,
            "fence": lease.fence,
            "state": state,
            "problem": to_json(problem) if problem is not None else None,
            "now": tx.now,
        },
    )
    if not changed:
        raise LeaseLost(job=lease.job.id)


def _job(row: Row) -> Job:
    return Job(
        id=row[0],
        kind=row[1],
        subject_kind=row[2],
        subject_id=row[3],
        knowledge_base_id=row[4],
        owner=row[5],
        state=row[6],
        priority=row[7],
        attempts=row[8],
        fence=row[9],
        worker=row[10],
        run_after=row[11],
        lease_until=row[12],
        cancel_requested=bool(row[13]),
        stage=row[14],
        done=row[15],
        total=row[16],
        problem=problem_from(row[17]),
        created_at=row[18],
        started_at=row[19],
        finished_at=row[20],
    )
