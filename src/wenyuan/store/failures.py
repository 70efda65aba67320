"""What went wrong lately and was not put right since, of all kinds of work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.store.database import Reading
from wenyuan.store.job_rows import COLUMNS, job_from
from wenyuan.types import Job

_JOB = ", ".join(f"j.{name.strip()}" for name in COLUMNS.split(","))


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that failed, or was put off because of a problem, and what it is about; empty where that has no name."""

    job: Job
    document_id: str
    document: str
    knowledge_base: str


def recent(tx: Reading, principal: str, limit: int, bases: Sequence[str] | None) -> list[FailedJob]:
    """Jobs with problems, newest first, that no later job of the same work took the place of.

    Only those of the knowledge bases with the ids `bases`, if they are given. What is about a document that was
    deleted is left out.
    """
    rows = tx.all(
        f"SELECT {_JOB}, coalesce(d.id, ''), coalesce(d.name, ''), coalesce(b.name, '') FROM jobs AS j "
        "LEFT JOIN revisions AS r ON r.id = j.subject_id AND j.subject_kind = 'revision' "
        "LEFT JOIN documents AS d ON d.id = r.document_id LEFT JOIN knowledge_bases AS b ON b.id = j.knowledge_base_id "
        "WHERE j.owner = :principal AND j.problem IS NOT NULL AND j.state IN ('failed', 'waiting') "
        "AND (j.subject_kind <> 'revision' OR (d.id IS NOT NULL AND d.deleted_at IS NULL "
        "AND r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = d.id))) "
        "AND (:any = 1 OR j.knowledge_base_id IN (SELECT value FROM json_each(:bases))) "
        "AND NOT EXISTS (SELECT 1 FROM jobs AS l WHERE l.subject_kind = j.subject_kind "
        "AND l.subject_id = j.subject_id AND l.kind = j.kind AND l.change_number > j.change_number) "
        "ORDER BY j.changed_at DESC, j.id LIMIT :limit",
        {"principal": principal, "limit": limit, "any": int(bases is None), "bases": json.dumps(bases or ())},
    )
    return [FailedJob(job_from(row[:-3]), *map(str, row[-3:])) for row in rows]
