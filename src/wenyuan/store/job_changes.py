"""What changed about jobs since a number, and taking away those that ended long ago.

Every change to a job gives it the next number; a reader that remembers the last one it saw asks for
what came after. It is told how each job stands now, not every state it went through.
"""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.store.database import Reading, Writing
from wenyuan.store.job_rows import COLUMNS, job_from
from wenyuan.types import Job


@dataclass(frozen=True, slots=True)
class JobChange:
    """How a job stands after a change, and what it is about. Names are empty where there is nothing to name."""

    job: Job
    document: str
    knowledge_base: str
    size: int
    """Bytes of the file."""
    document_id: str


_SELECT = (
    f"SELECT {', '.join(f'j.{name.strip()}' for name in COLUMNS.split(','))}, coalesce(d.name, ''), "
    "coalesce(b.name, ''), coalesce(r.size, 0), coalesce(d.id, '') FROM jobs AS j "
    "LEFT JOIN revisions AS r ON r.id = j.subject_id AND j.subject_kind = 'revision' "
    "LEFT JOIN documents AS d ON d.id = r.document_id LEFT JOIN knowledge_bases AS b ON b.id = j.knowledge_base_id "
    "WHERE j.owner = :principal"
)


def last_change(tx: Reading) -> int:
    """The number of the newest change to any job."""
    row = tx.first("SELECT value FROM counters WHERE name = 'job'")
    return int(row[0]) if row is not None else 0


def since(tx: Reading, principal: str, after: int, limit: int) -> list[JobChange]:
    """Jobs that changed after the change numbered `after`, in the order of their newest change."""
    rows = tx.all(
        f"{_SELECT} AND j.change_number > :after ORDER BY j.change_number LIMIT :limit",
        {"principal": principal, "after": after, "limit": limit},
    )
    return [JobChange(job_from(row[:-4]), *row[-4:]) for row in rows]


def under_way(tx: Reading, principal: str, limit: int) -> list[JobChange]:
    """Jobs that are being done or were put off, in the order of their newest change."""
    rows = tx.all(
        f"{_SELECT} AND j.state IN ('running', 'waiting') ORDER BY j.change_number LIMIT :limit",
        {"principal": principal, "limit": limit},
    )
    return [JobChange(job_from(row[:-4]), *row[-4:]) for row in rows]


_FORGETTABLE = (
    "FROM jobs AS j WHERE j.finished_at < :before "
    "AND (j.state = 'done' OR NOT EXISTS (SELECT 1 FROM revisions AS r WHERE r.id = j.subject_id))"
)


def has_ended(tx: Reading, before: int) -> bool:
    """Whether there is a job to forget that ended before a moment."""
    return tx.first(f"SELECT 1 {_FORGETTABLE} LIMIT 1", {"before": before}) is not None


def forget_ended(tx: Writing, before: int, limit: int) -> int:
    """Delete jobs that ended before a moment, oldest first, at most `limit`; how many there were.

    One that failed or was cancelled stays as long as what it was about: it says why that is not there.
    """
    return tx.run(
        f"DELETE FROM jobs WHERE id IN (SELECT j.id {_FORGETTABLE} ORDER BY j.finished_at LIMIT :limit)",
        {"before": before, "limit": limit},
    )
