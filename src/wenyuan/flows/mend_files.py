"""What a check has found of files, traces and passages that are switched off is mended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wenyuan.flows.erase import enqueue_erasing
from wenyuan.flows.priorities import PRIORITY_INGEST
from wenyuan.store import documents, queue, repairing
from wenyuan.store.blobs import BlobDirectory, unnamed
from wenyuan.store.checking import Violation
from wenyuan.store.database import LibraryDatabase, Writing
from wenyuan.types import LOCAL_PRINCIPAL, Notice, Problem

GONE = "blob-missing"


@dataclass(frozen=True, slots=True)
class Repairing:
    """What repairing needs."""

    database: LibraryDatabase
    blobs: BlobDirectory
    new_id: Callable[[str], str]


def note_what_is_gone(tools: Repairing, violation: Violation) -> bool:
    """Say at each document that its bytes are gone, and end the work that needs them.

    What was read of them stays searchable. Bytes that are not the right ones are put aside.
    """
    sha256 = violation.details["sha256"]
    size = tools.blobs.size(sha256)
    is_there = size is not None and tools.blobs.digest(sha256) == sha256
    with tools.database.write() as tx:
        if size is not None and is_there:
            repairing.set_size(tx, sha256, size)
            return True
        for revision_id in repairing.needing(tx, sha256):
            repairing.note(tx, revision_id, NOTICE_OF_LOST_BYTES)
            revision = repairing.standing(tx, revision_id)
            if revision is not None and revision.state != "ready":
                queue.cancel(tx, "revision", revision_id)
                repairing.set_problem(tx, revision_id, lost_bytes(tx, revision_id))
        tools.blobs.set_aside(tx, sha256)
    return True


def take_note_back(tools: Repairing, violation: Violation) -> bool:
    """The bytes are there again: go on with what had to end without them."""
    sha256 = violation.details["sha256"]
    with tools.database.write() as tx:
        for revision_id in repairing.needing(tx, sha256):
            repairing.take_back(tx, revision_id, GONE)
            revision = repairing.standing(tx, revision_id)
            if revision is not None and repairing.failed_for(tx, revision_id, GONE):
                documents.set_state(tx, revision_id, "pending", "queued")
                base, owner = revision.knowledge_base_id, revision.owner
                queue.enqueue(tx, tools.new_id("job"), "ingest", "revision", revision_id, base, owner, PRIORITY_INGEST)
    return True


def forget_blob(tools: Repairing, violation: Violation) -> bool:
    with tools.database.write() as tx:
        tools.blobs.forget_unused(tx, violation.details["sha256"])
    return True


def forget_unnamed_blob(tools: Repairing, violation: Violation) -> bool:
    sha256 = violation.details["sha256"]
    with tools.database.write() as tx:
        # It may have been named since it was found.
        if unnamed(tx, [sha256]):
            tools.blobs.forget(tx, sha256)
    return True


def delete_file(tools: Repairing, violation: Violation) -> bool:  # noqa: ARG001
    path: Path = violation.details["path"]
    path.unlink(missing_ok=True)
    return True


def erase(tools: Repairing, violation: Violation) -> bool:  # noqa: ARG001
    with tools.database.write() as tx:
        enqueue_erasing(tx, tools.new_id, "", LOCAL_PRINCIPAL)
    return True


def forget_trace(tools: Repairing, violation: Violation) -> bool:
    with tools.database.traces.write() as tx:
        repairing.forget_trace(tx, violation.details["trace"])
    return True


def switch_passage(tools: Repairing, violation: Violation) -> bool:
    details = violation.details
    with tools.database.write() as tx:
        repairing.switch_passage(tx, details["passage_of"], details["seq"], enabled=details["enabled"])
    return True


def set_traces_aside(tools: Repairing, violation: Violation) -> bool:  # noqa: ARG001
    tools.database.traces.set_aside()
    return True


NOTICE_OF_LOST_BYTES = Notice(
    GONE, "The bytes that were added are gone; what was read of them can still be found. Add the file again."
)


def lost_bytes(tx: Writing, revision_id: str) -> Problem:
    found = documents.revision(tx, revision_id)
    name = found[0].name if found is not None else revision_id
    return Problem(GONE, f"The bytes of {name} are gone from the library.", "Add the file again.", "reading")
