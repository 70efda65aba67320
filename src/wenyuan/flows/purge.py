"""Taking away what nothing shows any more: a superseded revision's index, a deleted document's everything."""

from __future__ import annotations

from wenyuan.flows.work import Work
from wenyuan.store import purging, queue
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database


def purge(database: Database, blobs: BlobDirectory, work: Work) -> None:
    """Purge one revision, in batches; repeating any part of it does no harm."""
    revision_id = work.lease.job.subject_id
    _unindex(database, work, revision_id)
    with database.write(durable=False) as tx:
        work.hold(tx)
        purging.forget_index_rows(tx, revision_id)
        hidden = purging.hidden_document(tx, revision_id)
        if hidden is None:
            queue.finish(tx, work.lease)
    if hidden is not None:
        _delete(database, blobs, work, revision_id, hidden)


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


def _delete(database: Database, blobs: BlobDirectory, work: Work, revision_id: str, document_id: str) -> None:
    _delete_text(database, work, revision_id)
    with database.write(durable=False) as tx:
        work.hold(tx)
        sha256 = purging.delete_revision(tx, revision_id)
        if sha256 is not None:
            blobs.forget_unused(tx, sha256)
        purging.delete_document(tx, document_id)
        queue.finish(tx, work.lease)
