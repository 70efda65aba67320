"""Which job is next, and taking it: by priority, then in turn, behind gates that are open, at its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from wenyuan.store import limits
from wenyuan.store.database import Database, Reading, Row, Writing
from wenyuan.store.job_rows import COLUMNS, job_from, next_change
from wenyuan.store.turns import serve_turn
from wenyuan.types import JobKind, Lease

_CLOCK_SLACK_MS = 5_000
_WOKEN_AT_ONCE = 1_000
_NO_BOUNDS: Mapping[str, int] = MappingProxyType({})
# Every gate with a queued job, found by as many steps down the index as there are gates.
_GATES = (
    "WITH RECURSIVE gates AS (SELECT (SELECT min(gate) FROM jobs WHERE state = 'queued') AS name UNION ALL SELECT "
    "(SELECT min(gate) FROM jobs WHERE state = 'queued' AND gate > gates.name) FROM gates WHERE name IS NOT NULL) "
    "SELECT name FROM gates WHERE name IS NOT NULL"
)
# A list of kinds as `,ingest,embed,`: for so few this is faster than any set the database could build.
_OF_GATE = "state = 'queued' AND gate = :gate AND CAST(:kinds AS TEXT) LIKE '%,' || kind || ',%'"


def claim(
    database: Database,
    worker: str,
    lease_ms: int,
    kinds: Sequence[JobKind],
    most: int = 1,
    most_weight: int = 0,
    bounds: Mapping[str, int] = _NO_BOUNDS,
    *,
    look_first: bool = True,
) -> list[Lease]:
    """Take the next job; with it, up to `most` in all, those of its kind that are next and weigh little together.

    A job that was begun before is taken alone: it may be to blame for how that ended. Of the jobs
    behind a gate none is taken while its model is closed, and only so many are done at once as
    `bounds` says by model. A plain read looks first, so that idle workers take no write lock; one that
    has just found something may spare it.
    """
    if look_first:
        with database.read() as tx:
            if not _has_to_be_woken(tx) and not _next(tx, kinds, bounds, 1):
                return []
    with database.write(durable=False) as tx:
        if _has_to_be_woken(tx):
            _keep_time(tx)
            _wake(tx)
        taken = _together(_next(tx, kinds, bounds, most), most_weight)
        for priority in {row[4] for row in taken}:
            serve_turn(tx, priority, max(row[5] for row in taken if row[4] == priority))
        tx.run("UPDATE counters SET value = :now WHERE name = 'clock'", {"now": tx.now})
        return [_begin(tx, str(row[0]), worker, lease_ms) for row in taken]


def _next(tx: Reading, kinds: Sequence[JobKind], bounds: Mapping[str, int], most: int) -> list[Row]:
    """The next jobs behind that of the open gates whose first one is the most urgent."""
    parameters = {"kinds": f",{','.join(kinds)},", "most": most}
    found: list[Row] = []
    for gate in _open_gates(tx, bounds):
        rows = tx.all(
            f"SELECT id, kind, weight, attempts, priority, turn FROM jobs WHERE {_OF_GATE} "
            "ORDER BY priority, turn, id LIMIT :most",
            {**parameters, "gate": gate},
        )
        if rows and (not found or (*rows[0][4:], rows[0][0]) < (*found[0][4:], found[0][0])):
            found = rows
    return found


def _open_gates(tx: Reading, bounds: Mapping[str, int]) -> set[str]:
    """The gates with a queued job that may be done now."""
    gates = {str(row[0]) for row in tx.all(_GATES)}
    if gates <= {""}:
        return gates
    # A worker does the jobs that it took together one after the other, or as one.
    rows = tx.all(
        "SELECT gate, count(DISTINCT worker) FROM jobs WHERE state = 'running' AND lease_until > :now GROUP BY gate",
        {"now": tx.now},
    )
    full = {gate for gate, running in rows if running >= bounds.get(gate, running + 1)}
    return gates - full - limits.closed(tx).keys()


def _together(next_ones: Sequence[Row], most_weight: int) -> list[Row]:
    """The first job, and those behind it that may be taken with it."""
    taken: list[Row] = []
    left = most_weight
    for row in next_ones:
        _, kind, weight, attempts, _, _ = row
        left -= weight
        if taken and (attempts or left < 0 or kind != next_ones[0][1]):
            break
        taken.append(row)
        if attempts:
            break
    return taken


def _begin(tx: Writing, job_id: str, worker: str, lease_ms: int) -> Lease:
    rows = tx.all(
        "UPDATE jobs SET state = 'running', worker = :worker, fence = fence + 1, attempts = attempts + 1, "
        "lease_until = :until, started_at = coalesce(started_at, :now), problem = NULL, stage_since = :now, "
        "stage_from = done, progressed_at = CASE WHEN started_at IS NULL THEN CAST(:now AS BIGINT) "
        f"ELSE progressed_at END, change_number = :change, changed_at = :now WHERE id = :id RETURNING {COLUMNS}",
        {"id": job_id, "worker": worker, "now": tx.now, "until": tx.now + lease_ms, "change": next_change(tx)},
    )
    job = job_from(rows[0])
    return Lease(job, worker, job.fence, tx.continuity)


def _has_to_be_woken(tx: Reading) -> bool:
    """Whether there is a job that was put off until now, or left behind, or whether the clock went back."""
    row = tx.first(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'waiting' AND run_after <= :now) "
        "OR EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND lease_until <= :now) "
        "OR EXISTS (SELECT 1 FROM counters WHERE name = 'clock' AND value > :now + :slack)",
        {"now": tx.now, "slack": _CLOCK_SLACK_MS},
    )
    return row is not None and bool(row[0])


def _wake(tx: Writing) -> None:
    """Queue what was put off until now, and what was left behind by a worker whose lease has run out."""
    tx.run(
        "UPDATE jobs SET state = 'queued' WHERE id IN (SELECT id FROM jobs WHERE state = 'waiting' "
        "AND run_after <= :now ORDER BY run_after LIMIT :most)",
        {"now": tx.now, "most": _WOKEN_AT_ONCE},
    )
    tx.run(
        "UPDATE jobs SET state = 'queued', worker = '', lease_until = 0 WHERE state = 'running' "
        "AND lease_until <= :now",
        {"now": tx.now},
    )


def _keep_time(tx: Writing) -> None:
    """Where the clock has gone back, put everything forward that is to happen at a time."""
    row = tx.first("SELECT value FROM counters WHERE name = 'clock'")
    by_ms = int(row[0]) - tx.now if row is not None else 0
    if by_ms > _CLOCK_SLACK_MS:
        parameters = {"by": by_ms}
        tx.run("UPDATE jobs SET run_after = run_after - :by WHERE state = 'waiting'", parameters)
        tx.run("UPDATE jobs SET lease_until = lease_until - :by WHERE state = 'running'", parameters)
        limits.turn_back(tx, by_ms)


def opens_at(tx: Reading) -> tuple[int, bool] | None:
    """The moment at which the next job that is put off may be done, and whether a model asked for the delay.

    Jobs are put off one by one, or wait behind a closed gate; None if none is.
    """
    closed = limits.closed(tx)
    row = tx.first("SELECT run_after, gate FROM jobs WHERE state = 'waiting' ORDER BY run_after LIMIT 1")
    moments = [(gate.until, gate.is_told) for name in tx.all(_GATES) if (gate := closed.get(str(name[0]))) is not None]
    if row is not None:
        gate = closed.get(row[1])
        moments.append((int(row[0]), gate is not None and gate.is_told))
    return min(moments, default=None)


def is_idle(tx: Reading) -> bool:
    """Whether no job is queued that could be done now; those that need a model nobody may call cannot."""
    return not _open_gates(tx, _NO_BOUNDS)
