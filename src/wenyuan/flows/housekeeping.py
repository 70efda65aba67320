"""What a worker forgets between jobs, in bounded batches: jobs that ended long ago, and old changes."""

from __future__ import annotations

from wenyuan.store import job_changes, knowledge_bases
from wenyuan.store.database import Database

CHANGES_KEPT = 10_000
"""So many of the newest changes to a knowledge base are kept: reading all anew is then quicker than catching up."""

_ROWS_AT_ONCE = 500
_BATCHES = 20


def forget_old_work(database: Database, jobs_kept_ms: int) -> int:
    """Forget jobs that ended longer ago than that, and changes beyond the newest; how many rows went.

    Stops after a bounded number of rows; the next time goes on.
    """
    forgotten = 0
    for _ in range(_BATCHES):
        with database.read() as tx:
            has_old_jobs = job_changes.has_ended(tx, tx.now - jobs_kept_ms)
            long = knowledge_bases.long_logs(tx, CHANGES_KEPT)
        if not has_old_jobs and not long:
            break
        with database.write(durable=False) as tx:
            gone = job_changes.forget_ended(tx, tx.now - jobs_kept_ms, _ROWS_AT_ONCE) if has_old_jobs else 0
            for knowledge_base_id in long:
                gone += knowledge_bases.forget_changes(tx, knowledge_base_id, CHANGES_KEPT, _ROWS_AT_ONCE)
        forgotten += gone
    return forgotten
