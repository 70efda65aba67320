"""When a revision is served, and what follows from it.

The first revision of a document is found by its words at once. One that replaces another waits for
its vectors, for a while, so that the document does not drop out of the vector list.
"""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.errors import SourceTaken
from wenyuan.flows.policy import judge_published
from wenyuan.flows.priorities import (
    PRIORITY_EMBED,
    PRIORITY_EMBED_NOW,
    PRIORITY_INGEST,
    PRIORITY_PURGE,
    PRIORITY_REREAD,
    embedding_weight,
)
from wenyuan.flows.reread import rules_of
from wenyuan.flows.work import Work
from wenyuan.store import documents, indexes, knowledge_bases, members, queue, vectors
from wenyuan.store.database import Database, Writing
from wenyuan.types import Document, JobKind, Problem, Revision

NewId = Callable[[str], str]


def conclude(
    tx: Writing,
    new_id: NewId,
    document: Document,
    revision: Revision,
    read_by: str,
    replace_wait_ms: int,
    *,
    is_waited_for: bool = False,
) -> None:
    """Publish a revision that was read to its end by the rules `read_by`, or let it wait for its vectors."""
    embed_priority = PRIORITY_EMBED_NOW if is_waited_for else PRIORITY_EMBED
    base = knowledge_bases.by_id(tx, document.knowledge_base_id)
    needs_vectors = base.embedding_model != ""
    if needs_vectors and _may_wait(document, replace_wait_ms, whole=base.ready_when == "semantic"):
        if not _take_known_vectors(tx, document, revision.id):
            _enqueue(tx, new_id, document, "embed", revision.id, embed_priority)
            if base.ready_when == "keyword":
                _enqueue(tx, new_id, document, "publish", revision.id, PRIORITY_INGEST, replace_wait_ms)
            return
        needs_vectors = False
    _serve(tx, new_id, document, revision.id, read_by)
    if needs_vectors:
        _enqueue(tx, new_id, document, "embed", revision.id, embed_priority)


def is_waiting(revision: Revision) -> bool:
    """Whether a revision was read to its end and waits for its vectors, to be served."""
    return revision.state == "processing" and revision.stage == documents.WAITS_FOR_VECTORS and revision.number > 0


def publish_waiting(tx: Writing, new_id: NewId, revision_id: str, *, without_vectors: bool) -> None:
    """Publish a revision that waits for its vectors; does nothing where it does not wait any more.

    Where another lexical index answers than when it was read, it is read again first.
    """
    found = documents.revision(tx, revision_id)
    if found is None or not is_waiting(found[1]):
        return
    document = found[0]
    queue.unneeded(tx, "revision", revision_id, "publish")
    if not indexes.is_indexed(tx, revision_id):
        documents.set_state(tx, revision_id, "pending", "queued")
        _enqueue(tx, new_id, document, "ingest", revision_id, PRIORITY_INGEST)
        return
    _serve(tx, new_id, document, revision_id, indexes.read_by(tx, revision_id), without_vectors=without_vectors)


def publish(database: Database, new_id: NewId, work: Work) -> None:
    """Publish a revision that has waited for its vectors long enough: it is found by its words until they come."""
    with database.write(durable=False) as tx:
        work.hold(tx)
        publish_waiting(tx, new_id, work.lease.job.subject_id, without_vectors=True)
        queue.finish(tx, work.lease)


def give_up_vectors(tx: Writing, new_id: NewId, revision_id: str, problem: Problem) -> None:
    """Record that the vectors of a revision will not come, and let it be found by its words."""
    indexes.set_problem(tx, revision_id, problem)
    publish_waiting(tx, new_id, revision_id, without_vectors=True)


def cancel_vectors(tx: Writing, revision_id: str, problem: Problem) -> None:
    """Record that nobody is to make the vectors of a revision; one that waits for them is cancelled as a whole."""
    indexes.set_problem(tx, revision_id, problem)
    found = documents.revision(tx, revision_id)
    if found is not None and is_waiting(found[1]):
        queue.cancel(tx, "revision", revision_id)
        documents.set_state(tx, revision_id, "cancelled", found[1].stage)


def _may_wait(document: Document, replace_wait_ms: int, *, whole: bool) -> bool:
    return whole or (document.serving_revision_id is not None and replace_wait_ms > 0)


def _take_known_vectors(tx: Writing, document: Document, revision_id: str) -> bool:
    """Show a revision to the vector list, if all its texts were embedded before."""
    generation = indexes.active(tx, document.knowledge_base_id, "vector")
    model = vectors.known_model_key(tx, generation.fingerprint) if generation is not None else None
    if generation is None or model is None or vectors.count_missing(tx, model, revision_id):
        return False
    count = vectors.pack(tx, generation.id, model, revision_id, generation.dimensions)
    indexes.record_progress(tx, generation.id, revision_id, "ready", count, count)
    return True


def _serve(
    tx: Writing, new_id: NewId, document: Document, revision_id: str, read_by: str, *, without_vectors: bool = False
) -> None:
    try:
        superseded = documents.serve(tx, revision_id, without_vectors=without_vectors)
    except SourceTaken as error:
        # It was moving to a knowledge base that has such a document by now.
        documents.set_state(tx, revision_id, "failed", "publishing", error.problem("publishing"))
        return
    judge_published(tx, document.id)
    if rules_of(tx, document.knowledge_base_id).fingerprint != read_by:
        # The vocabulary was changed after the file was read.
        _enqueue(tx, new_id, document, "reread", revision_id, PRIORITY_REREAD)
    for old in superseded:
        members.hand_over(tx, old, revision_id)
    if members.is_to_unpack(tx, revision_id):
        _enqueue(tx, new_id, document, "unpack", revision_id, PRIORITY_INGEST)
    for old in superseded:
        queue.cancel(tx, "revision", old)
        _enqueue(tx, new_id, document, "purge", old, PRIORITY_PURGE)


def _enqueue(
    tx: Writing,
    new_id: NewId,
    document: Document,
    kind: JobKind,
    revision_id: str,
    priority: int,
    delay_ms: int = 0,
) -> None:
    queue.enqueue(
        tx,
        new_id("job"),
        kind,
        "revision",
        revision_id,
        document.knowledge_base_id,
        document.owner,
        priority,
        embedding_weight(tx, revision_id) if kind == "embed" else queue.ALONE,
        delay_ms=delay_ms,
    )
