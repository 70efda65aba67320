"""From stored bytes to a document that is found by keyword: read, cut, stage, publish.

Small files are read one after another and published together, in one transaction. A longer one is
staged as it comes. Publishing flips one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from wenyuan.errors import ConfigurationError, DocumentError, JobCancelled, LeaseLost, ProviderError
from wenyuan.flows.prepared import Ending, Prepared
from wenyuan.flows.priorities import PRIORITY_INGEST
from wenyuan.flows.publish import conclude
from wenyuan.flows.reread import rules_of
from wenyuan.flows.stage import (
    StagedFile,
    Staging,
    batches,
    forget_what_does_not_fit,
    stage_early,
    stage_last,
    staged_file,
)
from wenyuan.flows.unpack import MemberSpool
from wenyuan.flows.work import Failure, Work
from wenyuan.store import documents, indexes, knowledge_bases, members, queue
from wenyuan.store.database import Writing
from wenyuan.types import Posting

_CHARACTERS_TOGETHER = 1 << 20


@dataclass(frozen=True, slots=True)
class Ingesting(Staging):
    """What ingestion needs. A revision that replaces another waits `replace_wait_ms` for its vectors."""

    replace_wait_ms: int = 0


_Whole = tuple[StagedFile, Prepared, Ending]
"""A file that was read to its end, and what is to be published of it."""


def ingest(tools: Ingesting, works: Sequence[Work]) -> list[Failure]:
    """Read revisions and publish them. Returns those that failed by themselves: the file was at fault,

    or its job was cancelled or taken over.
    """
    files, failures = _begin(tools, works)
    group: list[_Whole] = []
    for file, following in zip_longest(files, files[1:]):
        try:
            forget_what_does_not_fit(tools, file)
            whole = _read(tools, file, following)
        except (DocumentError, ProviderError, ConfigurationError, JobCancelled, LeaseLost) as error:
            failures.append((file.work, error))
            continue
        for work in works:
            work.touch()
        if whole is not None:
            group.append((file, *whole))
        if sum(len(batch.text) for _, batch, _ in group) >= _CHARACTERS_TOGETHER:
            failures += _publish_together(tools, group)
            group = []
    return failures + _publish_together(tools, group)


def _begin(tools: Ingesting, works: Sequence[Work]) -> tuple[list[StagedFile], list[Failure]]:
    """Claim the revisions, except those for which there is nothing left to do."""
    files: list[StagedFile] = []
    failures: list[Failure] = []
    with tools.database.write(durable=False) as tx:
        for work in works:
            try:
                work.hold(tx)
            except (JobCancelled, LeaseLost) as error:
                failures.append((work, error))
                continue
            found = documents.revision(tx, work.lease.job.subject_id)
            if found is None or found[1].state not in ("pending", "processing"):
                queue.finish(tx, work.lease)
                continue
            document, revision, _ = found
            work.progress(tx, "reading", 0, 0)
            for sha256 in members.forget(tx, revision.id):
                tools.blobs.forget_unused(tx, sha256)
            rules = rules_of(tx, document.knowledge_base_id)
            lexical = indexes.ensure_active(
                tx, tools.new_id("gen"), document.knowledge_base_id, "lexical", rules.fingerprint, rules.recipe
            )
            chunking = knowledge_bases.by_id(tx, document.knowledge_base_id).chunking
            files.append(staged_file(tx, tools, work, document, revision, chunking, lexical, rules))
    return files, failures


def _read(tools: Ingesting, file: StagedFile, following: StagedFile | None) -> tuple[Prepared, Ending] | None:
    """What is in a small file; a longer one is staged as it comes, published, and None returned."""
    is_long = False
    with MemberSpool(tools, file) as spool:
        for batch, ending in batches(tools, file, spool.take, following):
            if ending is None:
                _stage_early(tools, file, batch)
                is_long = True
                continue
            spool.flush()
            if not is_long:
                return batch, ending
            for _, error in _publish_together(tools, [(file, batch, ending)]):
                raise error
    return None


def _stage_early(tools: Ingesting, file: StagedFile, batch: Prepared) -> None:
    with tools.database.write(durable=False) as tx:
        file.work.hold(tx)
        goes_on = _is_current(tx, file)
        if goes_on:
            file.work.progress(tx, "reading", file.cut + len(batch.chunks), 0)
            stage_early(tx, file, batch)
    if not goes_on:
        raise LeaseLost(job=file.work.lease.job.id)


def _is_current(tx: Writing, file: StagedFile) -> bool:
    """Whether the file is still staged for the index that answers; else its job is handed back, to begin anew."""
    active = indexes.active(tx, file.document.knowledge_base_id, "lexical")
    if active is not None and active.number == file.lexical.number:
        return True
    documents.set_state(tx, file.revision.id, "pending", "queued")
    queue.release(tx, file.work.lease)
    return False


def _publish_together(tools: Ingesting, group: Sequence[_Whole]) -> list[Failure]:
    """Publish what was read, all in one transaction; a job that may not go on is left out."""
    failures: list[Failure] = []
    found_by: dict[int, list[tuple[int, Posting]]] = {}
    if not group:
        return failures
    with tools.database.write(durable=False) as tx:
        for file, batch, ending in group:
            try:
                file.work.hold(tx)
            except (JobCancelled, LeaseLost) as error:
                failures.append((file.work, error))
                continue
            if _is_current(tx, file):
                postings = stage_last(tx, file, batch, ending)
                found_by.setdefault(file.lexical.number, []).extend(postings)
                read_by = file.rules.fingerprint
                is_waited_for = file.work.lease.job.priority < PRIORITY_INGEST
                conclude(
                    tx,
                    tools.new_id,
                    file.document,
                    file.revision,
                    read_by,
                    tools.replace_wait_ms,
                    is_waited_for=is_waited_for,
                )
                queue.finish(tx, file.work.lease)
        for number, postings in found_by.items():
            # Last, and all at once: SQLite's full-text index writes itself out before most other statements.
            tx.lexical.add(tx, number, postings)
    return failures
