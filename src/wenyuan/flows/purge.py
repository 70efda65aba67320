"""Taking away what nothing shows any more: a replaced revision's index, its text later, a deleted document's all."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.flows.priorities import PRIORITY_PURGE
from wenyuan.flows.work import Work
from wenyuan.store import erasures, members, purging, queue
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database

_PURGED_AT_ONCE = 1000
_STAGING_SECONDS = 24 * 3600


def purge(database: Database, blobs: BlobDirectory, work: Work, kept_ms: int) -> None:
    """Purge one revision, in batches; repeating any part of it does no harm.

    What a newer revision replaced keeps its text for `kept_ms` milliseconds.
    """
    revision_id = work.lease.job.subject_id
    _unindex(database, work, revision_id)
    with database.write(durable=False) as tx:
        work.hold(tx)
        purging.forget_index_rows(tx, revision_id)
        is_to_go = purging.is_to_go(tx, revision_id, tx.now - kept_ms)
        if not is_to_go:
            queue.finish(tx, work.lease)
    if is_to_go:
        _delete(database, blobs, work, revision_id)


def enqueue_purges(database: Database, new_id: Callable[[str], str], kept_ms: int) -> int:
    """Queue the purge of revisions that were replaced long ago, and return how many there are, up to a bound."""
    with database.read() as tx:
        expired = purging.superseded(tx, tx.now - kept_ms, _PURGED_AT_ONCE)
    if expired:
        with database.write(durable=False) as tx:
            for revision_id, knowledge_base_id, owner in expired:
                job_id = new_id("job")
                queue.enqueue(tx, job_id, "purge", "revision", revision_id, knowledge_base_id, owner, PRIORITY_PURGE)
    return len(expired)


def forget_leftovers(blobs: BlobDirectory) -> int:
    """Remove what a crash left of files that were being taken in, and return how many there were."""
    return blobs.forget_incoming(_STAGING_SECONDS)


def forget_text(database: Database, work: Work, revision_id: str) -> None:
    """Take away everything that was stored for a revision, but not the revision itself."""
    _unindex(database, work, revision_id)
    with database.write(durable=False) as tx:
        work.hold(tx)
        purging.forget_keys(tx, revision_id)
    _delete_text(database, work, revision_id)


def _delete_text(database: Database, work: Work, revision_id: str) -> None:
    left = True
    while left:
        with database.write(durable=False) as tx:
            work.hold(tx)
            left = purging.delete_text_batch(tx, revision_id) > 0


def _unindex(database: Database, work: Work, revision_id: str) -> None:
    after: int | None = -1
    while after is not None:
        with database.write(durable=False) as tx:
            work.hold(tx)
            after = purging.unindex_batch(tx, revision_id, after)


def _delete(database: Database, blobs: BlobDirectory, work: Work, revision_id: str) -> None:
    _delete_text(database, work, revision_id)
    with database.write(durable=False) as tx:
        work.hold(tx)
        inside = members.forget(tx, revision_id)
        deleted = purging.delete_revision(tx, revision_id)
        for sha256 in inside:
            blobs.forget_unused(tx, sha256)
        if deleted is not None:
            document_id, sha256 = deleted
            blobs.forget_unused(tx, sha256)
            purging.delete_document(tx, document_id)
            erasures.forget_jobs(tx, revision_id)
        queue.finish(tx, work.lease)
