"""Runs of evaluation sets, and the documents that such a set may expect.

Runs are kept in `Database.traces`, beside the traces of the questions that were asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from wenyuan.errors import EvaluationRunNotFound
from wenyuan.rules.evaluation.results import (
    EvaluationRun,
    RunRecord,
    as_json,
    case_from_json,
    summary_from_json,
)
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import to_json

_RUNS_AT_ONCE = 50
_RECORD = "id, set_name, set_digest, created_at, complete, settings, summary"


@dataclass(frozen=True, slots=True)
class SearchableDocument:
    """By what a document that can be found may be named, and the revision it serves."""

    id: str
    name: str
    source: str
    title: str
    revision_id: str


def searchable_documents(tx: Reading, knowledge_base_id: str, after: str, limit: int) -> list[SearchableDocument]:
    """The documents of a knowledge base that a search may find, by source, the page after the source `after`."""
    rows = tx.all(
        "SELECT d.id, d.name, d.source, r.title, r.id FROM documents AS d "
        "JOIN revisions AS r ON r.id = d.serving_revision_id WHERE d.knowledge_base_id = :knowledge_base_id "
        "AND d.deleted_at IS NULL AND d.enabled = 1 AND d.blocked_reason = '' "
        "AND d.source > :after ORDER BY d.source LIMIT :limit",
        {"knowledge_base_id": knowledge_base_id, "after": after, "limit": limit},
    )
    return [SearchableDocument(*row) for row in rows]


def keep(tx: Writing, owner: str, run: EvaluationRun) -> EvaluationRun:
    """Store a new run, and return it with the moment of its storing, if it has none yet."""
    record = replace(run.record, created_at=run.record.created_at or tx.now)
    tx.run(
        f"INSERT INTO evaluation_runs ({_RECORD}, owner, body) VALUES (:id, :set_name, :set_digest, :created_at, "
        ":complete, :settings, :summary, :owner, :body)",
        {
            "id": record.id,
            "set_name": record.set_name,
            "set_digest": record.set_digest,
            "created_at": record.created_at,
            "complete": int(record.complete),
            "settings": to_json(record.settings),
            "summary": to_json(as_json(record.summary)),
            "owner": owner,
            "body": to_json({"cases": [as_json(case) for case in run.cases]}),
        },
    )
    return EvaluationRun(record, run.cases)


def find(tx: Reading, principal: str, run_id: str) -> EvaluationRun:
    """A run with its cases. Raises `EvaluationRunNotFound`."""
    row = tx.first(
        f"SELECT {_RECORD}, body FROM evaluation_runs WHERE owner = :principal AND id = :id",
        {"principal": principal, "id": run_id},
    )
    if row is None:
        raise EvaluationRunNotFound(run=run_id)
    cases = json.loads(row[7])["cases"]
    return EvaluationRun(_record(row), tuple(case_from_json(case) for case in cases))


def listed(tx: Reading, principal: str, limit: int) -> list[RunRecord]:
    """Runs without their cases, newest first."""
    rows = tx.all(
        f"SELECT {_RECORD} FROM evaluation_runs WHERE owner = :principal "
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        {"principal": principal, "limit": limit},
    )
    return [_record(row) for row in rows]


def of_knowledge_base(tx: Reading, principal: str, name: str) -> Iterator[EvaluationRun]:
    """The runs that asked one knowledge base and no other, the oldest first."""
    at, after = 0, ""
    while rows := tx.all(
        f"SELECT {_RECORD} FROM evaluation_runs WHERE owner = :principal AND created_at >= :at "
        "AND (created_at > :at OR id > :after) ORDER BY created_at, id LIMIT :limit",
        {"principal": principal, "at": at, "after": after, "limit": _RUNS_AT_ONCE},
    ):
        for record in map(_record, rows):
            if set(record.settings.get("knowledge_bases", {})) == {name}:
                yield find(tx, principal, record.id)
        after, at = rows[-1][0], rows[-1][3]


def listed_of_set(tx: Reading, principal: str, set_name: str, limit: int) -> list[RunRecord]:
    """The same of one set."""
    rows = tx.all(
        f"SELECT {_RECORD} FROM evaluation_runs WHERE owner = :principal AND set_name = :set_name "
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        {"principal": principal, "set_name": set_name, "limit": limit},
    )
    return [_record(row) for row in rows]


def delete(tx: Writing, principal: str, run_id: str) -> None:
    """Forget a run. Raises `EvaluationRunNotFound`."""
    parameters = {"principal": principal, "id": run_id}
    if not tx.run("DELETE FROM evaluation_runs WHERE owner = :principal AND id = :id", parameters):
        raise EvaluationRunNotFound(run=run_id)


def forget_traces(tx: Writing, trace_ids: Sequence[str]) -> int:
    """Drop the traces of questions that nobody but an evaluation asked, and return how many there were."""
    return tx.run(
        "DELETE FROM traces WHERE id IN (SELECT value FROM json_each(:ids))", {"ids": json.dumps(list(trace_ids))}
    )


def _record(row: Row) -> RunRecord:
    return RunRecord(
        id=row[0],
        set_name=row[1],
        set_digest=row[2],
        created_at=row[3],
        complete=bool(row[4]),
        settings=json.loads(row[5]),
        summary=summary_from_json(json.loads(row[6])),
    )
