"""Jobs: a table in the same database, so that work is stored in the transaction that causes it.

A worker claims a job with a lease, an attempt count and a fencing token, and renews the lease while
it works. Every write it makes calls `hold` first, in the same transaction: a worker whose lease was
taken over can change nothing. A job whose lease has run out is claimable.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from wenyuan.errors import JobCancelled, JobNotFound, LeaseLost
from wenyuan.store import limits
from wenyuan.store.claims import claim as claim
from wenyuan.store.claims import is_idle as is_idle
from wenyuan.store.claims import opens_at as opens_at
from wenyuan.store.database import Reading, Writing
from wenyuan.store.job_rows import COLUMNS, IS_LIVE, job_from, next_change
from wenyuan.store.rows import to_json
from wenyuan.store.turns import take_turn
from wenyuan.types import Job, JobKind, Lease, Problem

ALONE = 1 << 62
"""The weight of a job that is never taken together with others."""


# --- Queueing ------------------------------------------------------------------------------------


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
    gate: str | None = None,
    delay_ms: int = 0,
) -> None:
    """Store a job; does nothing when the same work on the same subject is already waiting or running.

    A smaller `priority` comes first; within one, knowledge bases take turns. Jobs of one kind with
    little `weight`, in bytes to be read, may be taken together. `gate` is the model without which the
    job cannot be done: an `embed` job's is its knowledge base's, if nothing else is said. It is put off
    for `delay_ms`.
    """
    tx.run(
        "INSERT INTO jobs (id, kind, subject_kind, subject_id, knowledge_base_id, owner, state, priority, weight, "
        "attempts, fence, worker, run_after, lease_until, cancel_requested, stage, done, total, created_at, gate, "
        "turn, change_number, changed_at, progressed_at) VALUES (:id, :kind, :subject_kind, :subject_id, "
        ":knowledge_base_id, :owner, CASE WHEN CAST(:after AS BIGINT) > :now THEN 'waiting' ELSE 'queued' END, "
        ":priority, :weight, 0, 0, '', :after, 0, 0, 'queued', 0, 0, :now, "
        "coalesce(:gate, (SELECT embedding_model FROM knowledge_bases WHERE id = :knowledge_base_id "
        "AND CAST(:kind AS TEXT) = 'embed'), ''), :turn, :change, :now, :now) ON CONFLICT DO NOTHING",
        {
            "id": job_id,
            "kind": kind,
            "subject_kind": subject_kind,
            "subject_id": subject_id,
            "knowledge_base_id": knowledge_base_id,
            "owner": owner,
            "priority": priority,
            "weight": weight,
            "gate": gate,
            "turn": take_turn(tx, priority, owner, knowledge_base_id, 0 if weight == ALONE else weight),
            "change": next_change(tx),
            "now": tx.now,
            "after": tx.now + delay_ms,
        },
    )


# --- Working -------------------------------------------------------------------------------------


def hold(tx: Writing, lease: Lease, lease_ms: int) -> None:
    """Renew the lease, or raise `LeaseLost` or `JobCancelled`: the first statement of a worker's write."""
    row = tx.first(
        "UPDATE jobs SET lease_until = :until WHERE id = :id AND fence = :fence AND worker = :worker "
        "AND state = 'running' RETURNING cancel_requested",
        # A server that crashed may have given the same fence again.
        {"id": lease.job.id, "fence": lease.fence, "worker": lease.worker, "until": tx.now + lease_ms},
    )
    if row is None:
        raise LeaseLost(job=lease.job.id)
    if row[0]:
        raise JobCancelled()


def progress(tx: Writing, lease: Lease, stage: str, done: int, total: int) -> None:
    """Record how far a job is. Getting further than ever forgives earlier failed attempts."""
    tx.run(
        "UPDATE jobs SET stage_since = CASE WHEN stage <> :stage THEN CAST(:now AS BIGINT) ELSE stage_since END, "
        "stage_from = CASE WHEN stage <> :stage THEN CAST(:done AS BIGINT) ELSE stage_from END, "
        "progressed_at = CASE WHEN :done > done THEN CAST(:now AS BIGINT) ELSE progressed_at END, "
        "attempts = CASE WHEN :done > done THEN 1 ELSE attempts END, stage = :stage, "
        "done = CASE WHEN :done > done THEN :done ELSE done END, total = :total, change_number = :change, "
        "changed_at = :now WHERE id = :id AND fence = :fence",
        {
            "id": lease.job.id,
            "fence": lease.fence,
            "stage": stage,
            "done": done,
            "total": total,
            "change": next_change(tx),
            "now": tx.now,
        },
    )


def finish(tx: Writing, lease: Lease) -> None:
    _end(tx, lease, "done", None)


def fail(tx: Writing, lease: Lease, problem: Problem) -> None:
    _end(tx, lease, "failed", problem)


def cancelled(tx: Writing, lease: Lease) -> None:
    _end(tx, lease, "cancelled", None)


def wait(tx: Writing, lease: Lease, problem: Problem, delay_ms: int, gate: str | None = None) -> None:
    """Put a job back until later, saying why; one that was cancelled meanwhile only until its next claim.

    What others are to blame for is not counted as an attempt. `gate` is the model that it turned out to need.
    """
    tx.run(
        "UPDATE jobs SET state = 'waiting', worker = '', lease_until = 0, attempts = attempts - 1, "
        "run_after = CASE WHEN cancel_requested = 1 THEN CAST(:now AS BIGINT) ELSE :after END, problem = :problem, "
        "gate = coalesce(:gate, gate), change_number = :change, changed_at = :now "
        "WHERE id = :id AND fence = :fence AND worker = :worker AND state = 'running'",
        {
            "id": lease.job.id,
            "fence": lease.fence,
            "worker": lease.worker,
            "now": tx.now,
            "after": tx.now + delay_ms,
            "problem": to_json(problem),
            "gate": gate,
            "change": next_change(tx),
        },
    )


def release(tx: Writing, lease: Lease) -> None:
    """Hand a job back unfinished, without counting the attempt: the worker is stopping."""
    tx.run(
        "UPDATE jobs SET state = 'queued', worker = '', lease_until = 0, attempts = attempts - 1, "
        "change_number = :change, changed_at = :now WHERE id = :id AND fence = :fence AND worker = :worker "
        "AND state = 'running'",
        {
            "id": lease.job.id,
            "fence": lease.fence,
            "worker": lease.worker,
            "change": next_change(tx),
            "now": tx.now,
        },
    )


def _end(tx: Writing, lease: Lease, state: str, problem: Problem | None) -> None:
    changed = tx.run(
        "UPDATE jobs SET state = :state, problem = :problem, worker = '', lease_until = 0, finished_at = :now, "
        "stage = CASE WHEN :state = 'done' THEN 'done' ELSE stage END, change_number = :change, changed_at = :now "
        "WHERE id = :id AND fence = :fence AND worker = :worker AND state = 'running'",
        {
            "id": lease.job.id,
            "fence": lease.fence,
            "worker": lease.worker,
            "state": state,
            "problem": to_json(problem) if problem is not None else None,
            "change": next_change(tx),
            "now": tx.now,
        },
    )
    if not changed:
        raise LeaseLost(job=lease.job.id)


# --- Cancelling ----------------------------------------------------------------------------------


def cancel(tx: Writing, subject_kind: str, subject_id: str) -> None:
    """Cancel every job on a subject: at once where it waits, within one batch where it runs.

    Purging goes on, whatever is cancelled: what it takes away is hidden already.
    """
    for job in of_subject(tx, subject_kind, subject_id):
        cancel_job(tx, job)


def cancel_job(tx: Writing, job: Job) -> None:
    """Cancel one job; an ended job stays as it ended, and purging goes on."""
    if job.kind == "purge" or job.finished_at is not None:
        return
    parameters = {"id": job.id, "change": next_change(tx), "now": tx.now}
    tx.run(
        "UPDATE jobs SET state = 'cancelled', finished_at = :now, change_number = :change, changed_at = :now "
        "WHERE id = :id AND state IN ('queued', 'waiting')",
        parameters,
    )
    tx.run(
        "UPDATE jobs SET cancel_requested = 1, change_number = :change, changed_at = :now "
        "WHERE id = :id AND state = 'running'",
        parameters,
    )


def unneeded(tx: Writing, subject_kind: str, subject_id: str, kind: JobKind) -> None:
    """End the jobs of a kind that are not begun: what they were to do is done."""
    tx.run(
        "UPDATE jobs SET state = 'done', stage = 'done', finished_at = :now, change_number = :change, "
        "changed_at = :now WHERE subject_kind = :subject_kind AND subject_id = :subject_id AND kind = :kind "
        "AND state IN ('queued', 'waiting')",
        {
            "subject_kind": subject_kind,
            "subject_id": subject_id,
            "kind": kind,
            "change": next_change(tx),
            "now": tx.now,
        },
    )


def change_gate(tx: Writing, knowledge_base_id: str, old: str, new: str) -> None:
    """Let what a knowledge base wants embedded wait for another model than before."""
    parameters = {"id": knowledge_base_id, "old": old, "new": new}
    tx.run(
        "UPDATE jobs SET gate = :new WHERE state = 'queued' AND gate = :old AND kind = 'embed' "
        "AND knowledge_base_id = :id",
        parameters,
    )
    tx.run(
        "UPDATE jobs SET gate = :new, run_after = 0 WHERE state = 'waiting' AND run_after > 0 AND gate = :old "
        "AND kind = 'embed' AND knowledge_base_id = :id",
        parameters,
    )


# --- Looking -------------------------------------------------------------------------------------


def stuck_ms(tx: Reading, lease: Lease) -> int:
    """How long a job has not got further."""
    row = tx.first("SELECT progressed_at FROM jobs WHERE id = :id", {"id": lease.job.id})
    return max(0, tx.now - int(row[0])) if row is not None else 0


def is_last(tx: Reading, job: Job) -> bool:
    """Whether no other job of its kind is waiting or running in its knowledge base."""
    parameters = {
        "id": job.id,
        "kind": job.kind,
        "gate": job.gate,
        "priority": job.priority,
        "knowledge_base_id": job.knowledge_base_id,
    }
    queued = tx.first(
        "SELECT 1 FROM jobs WHERE state = 'queued' AND gate = :gate AND priority = :priority AND kind = :kind "
        "AND knowledge_base_id = :knowledge_base_id AND id <> :id LIMIT 1",
        parameters,
    )
    begun = tx.first(
        "SELECT 1 FROM jobs WHERE owner = :owner AND state IN ('running', 'waiting') AND kind = :kind "
        "AND knowledge_base_id = :knowledge_base_id AND id <> :id LIMIT 1",
        {**parameters, "owner": job.owner},
    )
    return queued is None and begun is None


def has_more_urgent(tx: Reading, priority: int, gates: Sequence[str]) -> bool:
    """Whether a job with a smaller priority is queued behind one of these gates, and may be done now."""
    opened = sorted(set(gates) - limits.closed(tx).keys())
    row = tx.first(
        "SELECT 1 FROM json_each(:gates) AS g CROSS JOIN jobs AS j WHERE j.state = 'queued' AND j.gate = g.value "
        "AND j.priority < :priority LIMIT 1",
        {"gates": json.dumps(opened), "priority": priority},
    )
    return row is not None


def workers_at_work(tx: Reading) -> list[str]:
    """Workers that hold a lease which has not run out."""
    rows = tx.all(
        "SELECT DISTINCT worker FROM jobs WHERE state = 'running' AND lease_until > :now ORDER BY worker",
        {"now": tx.now},
    )
    return [str(row[0]) for row in rows]


def expire_leases_of(tx: Writing, worker: str) -> int:
    """Make the jobs of a worker that is known to be dead claimable at once."""
    limits.forget_calls_of(tx, worker)
    return tx.run("UPDATE jobs SET lease_until = 0 WHERE state = 'running' AND worker = :worker", {"worker": worker})


def find(tx: Reading, principal: str, job_id: str) -> Job:
    row = tx.first(
        f"SELECT {COLUMNS} FROM jobs WHERE owner = :principal AND id = :id", {"principal": principal, "id": job_id}
    )
    if row is None:
        raise JobNotFound(job=job_id)
    return job_from(row)


def listed(
    tx: Reading, principal: str, *, only_live: bool, limit: int, bases: Sequence[str] | None = None
) -> list[Job]:
    """Jobs, live ones first in the order they will be done, then ended ones, newest first.

    Only those of the knowledge bases with the ids `bases`, if they are given.
    """
    parameters = {"principal": principal, "limit": limit, "any": int(bases is None), "bases": json.dumps(bases or ())}
    rows = tx.all(
        f"SELECT {COLUMNS} FROM jobs WHERE owner = :principal AND {IS_LIVE} "
        "AND (:any = 1 OR knowledge_base_id IN (SELECT value FROM json_each(:bases))) "
        "ORDER BY CASE state WHEN 'running' THEN 0 WHEN 'queued' THEN 1 ELSE 2 END, priority, turn, id LIMIT :limit",
        parameters,
    )
    if not only_live:
        rows += tx.all(
            f"SELECT {COLUMNS} FROM jobs WHERE owner = :principal AND finished_at IS NOT NULL "
            "AND (:any = 1 OR knowledge_base_id IN (SELECT value FROM json_each(:bases))) "
            "ORDER BY finished_at DESC, id LIMIT :limit",
            parameters,
        )
    return [job_from(row) for row in rows[:limit]]


def begun(tx: Reading, principal: str, limit: int) -> list[Job]:
    """Jobs that are being done, or were put off: few, however many are queued."""
    rows = tx.all(
        f"SELECT {COLUMNS} FROM jobs WHERE owner = :principal AND state IN ('running', 'waiting') "
        "ORDER BY state, created_at, id LIMIT :limit",
        {"principal": principal, "limit": limit},
    )
    return [job_from(row) for row in rows]


def of_subject(tx: Reading, subject_kind: str, subject_id: str) -> list[Job]:
    rows = tx.all(
        f"SELECT {COLUMNS} FROM jobs WHERE subject_kind = :kind AND subject_id = :id ORDER BY created_at, id",
        {"kind": subject_kind, "id": subject_id},
    )
    return [job_from(row) for row in rows]


def is_worked(tx: Reading) -> bool:
    """Whether somebody holds a lease that has not run out: of all owners' jobs, as workers take any."""
    row = tx.first("SELECT 1 FROM jobs WHERE state = 'running' AND lease_until > :now LIMIT 1", {"now": tx.now})
    return row is not None


def counts(tx: Reading) -> dict[tuple[str, str], int]:
    """How many live jobs there are by (kind, state)."""
    queued = tx.all("SELECT kind, state, count(*) FROM jobs WHERE state = 'queued' GROUP BY kind, state")
    others = tx.all("SELECT kind, state, count(*) FROM jobs WHERE state IN ('running', 'waiting') GROUP BY kind, state")
    return {(str(kind), str(state)): int(count) for kind, state, count in queued + others}
