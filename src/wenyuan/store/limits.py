"""Who may call a model now: buckets, calls under way and closed gates, the same for every worker.

A call is begun and ended in transactions of their own, and nothing is locked while it lasts. A call
whose worker is gone ends with its lease. All times are the database's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wenyuan.rules.pacing import Pace
from wenyuan.store.database import Reading, Writing
from wenyuan.store.rows import problem_from, to_json
from wenyuan.types import Problem

_ASK_AGAIN_MS = 1000


@dataclass(frozen=True, slots=True)
class Closed:
    """A model that nobody calls for a while. `is_told` if it asked for that, or a limit does; else it failed."""

    model: str
    until: int
    is_told: bool
    problem: Problem | None


def begin_call(
    tx: Writing, call_id: str, model: str, worker: str, pace: Pace, tokens: int, lease_ms: int, problem: Problem
) -> Closed | None:
    """Begin a call that costs so many tokens, or tell why it may not be begun now.

    Where a bucket is empty the model is closed to all until there is enough, with `problem` as the reason.
    """
    now = tx.now
    row = tx.first(
        "SELECT requests, tokens, updated_at, closed_until, is_told, problem FROM provider_limits WHERE model = :model",
        {"model": model},
    )
    requests, spent, updated_at = (row[0], row[1], row[2]) if row is not None else (0.0, 0.0, now)
    if row is not None and row[3] > now:
        return Closed(model, row[3], bool(row[4]), problem_from(row[5]))
    seconds = (now - updated_at) / 1000
    requests, spent = pace.requests.after(requests, seconds), pace.tokens.after(spent, seconds)
    wait = max(pace.requests.wait(requests, 1), pace.tokens.wait(spent, tokens))
    if wait > 0:
        until = now + int(wait * 1000) + 1
        _close(tx, model, until, is_told=True, failures=0, problem=problem)
        return Closed(model, until, True, problem)
    if pace.at_once and (ends := _full_until(tx, model, pace.at_once)) is not None:
        return Closed(model, ends, True, problem)
    tx.run(
        "INSERT INTO provider_limits (model, requests, tokens, updated_at, closed_at, closed_until, is_told, failures, "
        "problem) VALUES (:model, :requests, :tokens, :now, 0, 0, 0, 0, NULL) ON CONFLICT (model) DO UPDATE SET "
        "requests = excluded.requests, tokens = excluded.tokens, updated_at = excluded.updated_at",
        {"model": model, "requests": requests + 1, "tokens": spent + tokens, "now": now},
    )
    if pace.at_once:
        tx.run(
            "INSERT INTO provider_calls (id, model, worker, lease_until) VALUES (:id, :model, :worker, :until)",
            {"id": call_id, "model": model, "worker": worker, "until": now + lease_ms},
        )
    return None


def _full_until(tx: Writing, model: str, at_once: int) -> int | None:
    """When to ask again, where as many calls are under way as there may be; None if there may be one more."""
    parameters = {"model": model, "now": tx.now}
    tx.run("DELETE FROM provider_calls WHERE model = :model AND lease_until <= :now", parameters)
    row = tx.first("SELECT count(*), min(lease_until) FROM provider_calls WHERE model = :model", parameters)
    return min(int(row[1]), tx.now + _ASK_AGAIN_MS) if row is not None and row[0] >= at_once else None


def end_call(tx: Writing, call_id: str, model: str) -> None:
    """Make room for another call, and forget earlier failures: this one succeeded."""
    tx.run("DELETE FROM provider_calls WHERE id = :id", {"id": call_id})
    tx.run(
        "UPDATE provider_limits SET failures = 0 WHERE model = :model AND failures > 0",
        {"model": model},
    )


def fail_call(
    tx: Writing,
    call_id: str,
    model: str,
    began_at: int,
    problem: Problem,
    delay_ms: Callable[[int], int],
    *,
    is_told: bool,
) -> Closed:
    """Make room for another call, and close the model to all for a while.

    `delay_ms` says how long, given the failures in a row; calls that were under way together and
    failed together are one failure.
    """
    tx.run("DELETE FROM provider_calls WHERE id = :id", {"id": call_id})
    row = tx.first(
        "SELECT closed_at, closed_until, failures FROM provider_limits WHERE model = :model", {"model": model}
    )
    closed_at, until, failures = row if row is not None else (0, 0, 0)
    failures += int(closed_at < began_at or not failures)
    until = max(until, tx.now + delay_ms(failures))
    _close(tx, model, until, is_told=is_told, failures=failures, problem=problem)
    return Closed(model, until, is_told, problem)


def forget_calls_of(tx: Writing, worker: str) -> None:
    """End the calls of a worker that is known to be dead."""
    tx.run("DELETE FROM provider_calls WHERE worker = :worker", {"worker": worker})


def failures(tx: Reading, model: str) -> int:
    """How many calls of a model failed in a row."""
    row = tx.first("SELECT failures FROM provider_limits WHERE model = :model", {"model": model})
    return int(row[0]) if row is not None else 0


def closed(tx: Reading) -> dict[str, Closed]:
    """The models that nobody calls now, by name."""
    rows = tx.all(
        "SELECT model, closed_until, is_told, problem FROM provider_limits WHERE closed_until > :now ORDER BY model",
        {"now": tx.now},
    )
    return {row[0]: Closed(row[0], row[1], bool(row[2]), problem_from(row[3])) for row in rows}


def turn_back(tx: Writing, by_ms: int) -> None:
    """The clock went back: everything that was to end, ends as much later as was left of it."""
    parameters = {"by": by_ms, "now": tx.now}
    tx.run(
        "UPDATE provider_limits SET updated_at = updated_at - :by, closed_at = closed_at - :by, "
        "closed_until = closed_until - :by WHERE updated_at > :now OR closed_until > :now",
        parameters,
    )
    tx.run("UPDATE provider_calls SET lease_until = lease_until - :by WHERE lease_until > :now", parameters)


def _close(tx: Writing, model: str, until: int, *, is_told: bool, failures: int, problem: Problem) -> None:
    tx.run(
        "INSERT INTO provider_limits (model, requests, tokens, updated_at, closed_at, closed_until, is_told, failures, "
        "problem) VALUES (:model, 0, 0, :now, :now, :until, :is_told, :failures, :problem) ON CONFLICT (model) "
        "DO UPDATE SET closed_at = excluded.closed_at, closed_until = excluded.closed_until, "
        "is_told = excluded.is_told, failures = excluded.failures, problem = excluded.problem",
        {
            "model": model,
            "now": tx.now,
            "until": until,
            "is_told": int(is_told),
            "failures": failures,
            "problem": to_json(problem),
        },
    )
