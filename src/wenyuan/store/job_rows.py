"""How jobs lie in their table, and the numbers of their changes."""

from __future__ import annotations

from wenyuan.store.database import Row, Writing
from wenyuan.store.rows import problem_from
from wenyuan.types import Job

COLUMNS = (
    "id, kind, subject_kind, subject_id, knowledge_base_id, owner, state, priority, attempts, fence, worker, "
    "run_after, lease_until, cancel_requested, stage, done, total, problem, created_at, started_at, finished_at, "
    "gate, change_number, changed_at, stage_since, stage_from, progressed_at"
)
# As the index of live jobs has it: said so, a statement reads those alone, not all that ever were.
IS_LIVE = "state IN ('queued', 'running', 'waiting')"


def next_change(tx: Writing, count: int = 1) -> int:
    """The first of so many new change numbers.

    The counter's row stays locked until the commit, so that a lower number never becomes visible
    after a higher one.
    """
    row = tx.first("UPDATE counters SET value = value + :count WHERE name = 'job' RETURNING value", {"count": count})
    return (int(row[0]) if row is not None else count) - count + 1


def job_from(row: Row) -> Job:
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
        gate=row[21],
        change_number=row[22],
        changed_at=row[23],
        stage_since=row[24],
        stage_from=row[25],
        progressed_at=row[26],
    )
