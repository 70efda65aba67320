"""What a check has found is mended: each kind of finding by its own deed, as far as there is one.

What can be made from something sound is made again at once; where a file has to be read or a model
be asked, a job is queued. Nothing is taken away that is not known to be worthless.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from wenyuan.errors import DiskFull, LibraryLocked, LibraryReadOnly, WenyuanError
from wenyuan.flows.generations import enqueue_again
from wenyuan.flows.mend_files import (
    NOTICE_OF_LOST_BYTES,
    Repairing,
    delete_file,
    erase,
    forget_blob,
    forget_trace,
    forget_unnamed_blob,
    lost_bytes,
    note_what_is_gone,
    set_traces_aside,
    switch_passage,
    take_note_back,
)
from wenyuan.flows.priorities import PRIORITY_EMBED, PRIORITY_INGEST, PRIORITY_PURGE
from wenyuan.flows.remove import hide_document
from wenyuan.flows.reread import rules_of
from wenyuan.language.keys import document_keys
from wenyuan.language.postings import read_chunk
from wenyuan.store import documents, indexes, queue, repairing, rereading
from wenyuan.store.checking import Violation
from wenyuan.store.database import Writing
from wenyuan.store.repairing import Standing
from wenyuan.types import JobKind

_LOG = logging.getLogger("wenyuan.repair")

_CHUNKS_AT_ONCE = 256
_MOST_ROUNDS = 100
# What of a violation's details says what is to be mended; of a revision, one thing wrong stands for all others.
_OF_REVISION = ("revision", "generation")
_OF_OTHERS = (
    *("document", "knowledge_base", "rebuild", "passage_of", "seq", "number", "key"),
    *("job", "trace", "sha256", "path", "table", "name"),
)
_PRIORITIES: Mapping[JobKind, int] = {
    "ingest": PRIORITY_INGEST,
    "embed": PRIORITY_EMBED,
    "purge": PRIORITY_PURGE,
    "unpack": PRIORITY_INGEST,
}


Mend = Callable[[Repairing, Violation], bool]
"""Mends one violation; False where it cannot."""


def repair(tools: Repairing, find: Callable[[], Iterable[Violation]], watch: Callable[[Violation, bool], None]) -> None:
    """Mend what `find` finds, and what is found then, until nothing new is.

    `watch` is told of each, and whether there is a repair for it. A violation that stays after its
    repair is left to the next check to tell.
    """
    tried: set[tuple[str, str]] = set()
    for _ in range(_MOST_ROUNDS):
        news = [one for one in find() if (one.code, one.message) not in tried]
        outcomes = _mend_together(tools, sorted(news, key=lambda one: _ORDER.get(one.code, len(_ORDER))))
        progress = any(outcome is not None for _, outcome in outcomes)
        for violation, outcome in outcomes:
            # What failed is tried again after what else was mended, if anything was.
            if outcome is not None or not progress:
                tried.add((violation.code, violation.message))
                watch(violation, bool(outcome))
        if not progress:
            return


def _mend_together(tools: Repairing, violations: Iterable[Violation]) -> list[tuple[Violation, bool | None]]:
    """Each violation, and whether there is a repair for it; None where that failed."""
    outcomes: list[tuple[Violation, bool | None]] = []
    # Much may be wrong with one thing, and one deed mends all of it.
    done: dict[tuple[object, ...], bool | None] = {}
    for violation in violations:
        mend = MENDS.get(violation.code, _no_way)
        subjects = _OF_REVISION if "revision" in violation.details else _OF_OTHERS
        deed = (mend, *(str(violation.details.get(name)) for name in subjects))
        if deed not in done:
            try:
                done[deed] = mend(tools, violation)
            except (DiskFull, LibraryLocked, LibraryReadOnly):
                raise
            except WenyuanError as error:
                _LOG.info("%s could not be mended: %s", violation.code, error.message)
                done[deed] = None
        outcomes.append((violation, done[deed]))
    return outcomes


# --- Rows, numbers and jobs ----------------------------------------------------------------------


def _drop_orphans(tools: Repairing, violation: Violation) -> bool:
    tools.database.drop_orphans(violation.details["table"])
    return True


def _raise_counter(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        repairing.raise_counter(tx, violation.details["name"], violation.details["used"])
    return True


def _count_changes(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        repairing.count_changes_anew(tx, violation.details["knowledge_base"])
    return True


def _forget_job(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        repairing.forget_job(tx, violation.details["job"])
    return True


def _forget_source(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        repairing.forget_source(tx, violation.details["document"])
    return True


def _hide_part(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        newest = repairing.newest(tx, violation.details["document"])
        if newest is not None:
            base, owner = newest.knowledge_base_id, newest.owner
            hide_document(tx, tools.new_id, violation.details["document"], base, owner)
    return newest is not None


def _no_way(tools: Repairing, violation: Violation) -> bool:  # noqa: ARG001
    return False


def _nothing(tools: Repairing, violation: Violation) -> bool:  # noqa: ARG001
    """The next worker does it anyway."""
    return True


def _queue(kind: JobKind) -> Mend:
    def queued(tools: Repairing, violation: Violation) -> bool:
        with tools.database.write() as tx:
            revision = repairing.standing(tx, violation.details["revision"])
            # Another repair may have settled it already.
            if revision is not None and _NEEDS[kind](revision):
                _enqueue(tx, tools, kind, revision)
        return True

    return queued


def _queue_rebuild(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        enqueue_again(tx, tools.new_id, violation.details["rebuild"])
    return True


_NEEDS: Mapping[JobKind, Callable[[Standing], bool]] = {
    "ingest": lambda revision: revision.state in ("pending", "processing"),
    "embed": lambda revision: revision.is_served,
    "unpack": lambda revision: revision.is_served,
    "purge": lambda revision: revision.is_deleted or (revision.is_superseded and not revision.is_served),
}


def _enqueue(tx: Writing, tools: Repairing, kind: JobKind, revision: Standing) -> None:
    base, owner = revision.knowledge_base_id, revision.owner
    queue.enqueue(tx, tools.new_id("job"), kind, "revision", revision.id, base, owner, _PRIORITIES[kind])


# --- Texts ---------------------------------------------------------------------------------------


def _read_again(tools: Repairing, violation: Violation) -> bool:
    """Read a revision anew from its bytes; one that nothing shows any more is let go."""
    with tools.database.write() as tx:
        revision = repairing.standing(tx, violation.details["revision"])
        if revision is None:
            return True
        if not (revision.is_served or revision.is_newest):
            repairing.let_go(tx, revision.id)
            _enqueue(tx, tools, "purge", revision)
            return True
        _begin_anew(tx, tools, revision)
    return True


def _begin_anew(tx: Writing, tools: Repairing, revision: Standing) -> None:
    queue.cancel(tx, "revision", revision.id)
    if tools.blobs.digest(revision.blob_sha256) == revision.blob_sha256:
        repairing.begin_anew(tx, revision, None)
        _enqueue(tx, tools, "ingest", revision)
    else:
        repairing.begin_anew(tx, revision, lost_bytes(tx, revision.id))
        repairing.note(tx, revision.id, NOTICE_OF_LOST_BYTES)


def _serve(tools: Repairing, violation: Violation) -> bool:
    """Let a document serve what is whole; where nothing is, read its newest revision anew."""
    with tools.database.write() as tx:
        document_id = violation.details["document"]
        newest = repairing.newest(tx, document_id)
        if newest is None:
            return False
        if newest.is_deleted:
            repairing.serve_nothing(tx, document_id, newest.knowledge_base_id)
        elif not repairing.serve_what_is_whole(tx, document_id):
            repairing.serve_nothing(tx, document_id, newest.knowledge_base_id)
            _begin_anew(tx, tools, newest)
    return True


# --- What is found by -----------------------------------------------------------------------------


def _derive_again(tools: Repairing, violation: Violation) -> bool:
    _derive(tools, violation.details["revision"])
    return True


def _derive(tools: Repairing, revision_id: str) -> None:
    """Read a served revision's chunks for its words and keys, and put these in the place of those it has."""
    with tools.database.write() as tx:
        found = documents.revision(tx, revision_id)
        if found is None or found[0].serving_revision_id != revision_id:
            return
        document, revision, _ = found
        rules = rules_of(tx, document.knowledge_base_id)
        generation = indexes.ensure_active(
            tx, tools.new_id("gen"), document.knowledge_base_id, "lexical", rules.fingerprint, rules.recipe
        )
        repairing.forget_derived(tx, generation, revision_id, revision.chunk_count)
    seq = 0
    while True:
        with tools.database.read() as tx:
            stored = rereading.chunks_from(tx, revision_id, seq, _CHUNKS_AT_ONCE)
        if not stored:
            break
        read = [(key, *read_chunk(document.name, chunk, rules.vocabulary)) for key, chunk in stored]
        seq = stored[-1][1].seq + 1
        with tools.database.write() as tx:
            keys = ((one, key) for key, _, found_keys in read for one in found_keys)
            rereading.replace_batch(tx, generation, document, revision_id, [one[:2] for one in read], keys)
    with tools.database.write() as tx:
        whole = document_keys(document.name, revision.title, revision.metadata)
        rereading.end(tx, generation, document, revision, rules.fingerprint, whole)
        rereading.settle(tx, generation, rules.fingerprint, rules.recipe)


def _renew_index(tools: Repairing, violation: Violation) -> bool:
    """Make a full-text index anew under another number: of a broken one not even the dropping is sure."""
    number = violation.details["number"]
    with tools.database.write() as tx:
        renewed = repairing.renew_index(tx, number)
    if renewed is None:
        return False
    for revision_id in renewed[1]:
        _derive(tools, revision_id)
    try:
        with tools.database.write() as tx:
            tx.lexical.drop(tx, number)
    except WenyuanError:
        # What is left of it takes space and is never looked at again.
        return True
    return True


def _unindex(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        tx.lexical.remove(tx, violation.details["number"], [violation.details["key"]])
    return True


def _pack_again(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        generation, revision_id = violation.details["generation"], violation.details["revision"]
        revision = repairing.standing(tx, revision_id)
        if revision is None or not revision.is_served:
            repairing.forget_codes(tx, generation, revision_id)
        elif not repairing.pack_again(tx, generation, revision_id):
            _enqueue(tx, tools, "embed", revision)
    return True


def _forget_codes(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        repairing.forget_codes(tx, violation.details["generation"], violation.details["revision"])
    return True


def _forget_vectors(tools: Repairing, violation: Violation) -> bool:  # noqa: ARG001
    left = 1
    while left:
        with tools.database.write() as tx:
            left = repairing.forget_unused_vectors(tx)
    return True


MENDS: Mapping[str, Mend] = {
    # In this order: what the others build on comes first.
    "counter-behind": _raise_counter,
    "rows-orphaned": _drop_orphans,
    "traces-damaged": set_traces_aside,
    "lexical-missing": _renew_index,
    "blob-missing": note_what_is_gone,
    "blob-damaged": note_what_is_gone,
    "blob-returned": take_note_back,
    "blob-unnamed": forget_unnamed_blob,
    "blob-unused": forget_blob,
    "blob-unfinished": delete_file,
    "serving-invalid": _serve,
    "work-lost": _queue("ingest"),
    "parent-gone": _hide_part,
    "members-lost": _queue("unpack"),
    "embedding-lost": _queue("embed"),
    "purge-lost": _queue("purge"),
    "rebuild-lost": _queue_rebuild,
    "index-leftover": _queue_rebuild,
    "erasure-lost": erase,
    "trace-leftover": forget_trace,
    "passage-switched": switch_passage,
    "source-gone": _forget_source,
    "job-orphaned": _forget_job,
    "lease-expired": _nothing,
    "changes-broken": _count_changes,
    "index-unrecorded": _derive_again,
    "chunks-miscounted": _read_again,
    "chunks-unordered": _read_again,
    "table-miscounted": _read_again,
    "text-broken": _read_again,
    "chunk-text": _read_again,
    "chunk-hash": _read_again,
    "keys-orphaned": _derive_again,
    "keys-wrong": _derive_again,
    "fields-orphaned": _derive_again,
    "fields-missing": _derive_again,
    "lexical-incomplete": _derive_again,
    "lexical-leftover": _unindex,
    "lexical-wrong": _derive_again,
    "codes-incomplete": _pack_again,
    "codes-wrong": _pack_again,
    "codes-leftover": _forget_codes,
    "vectors-unused": _forget_vectors,
}

_ORDER = {code: place for place, code in enumerate(MENDS)}
