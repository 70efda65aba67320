"""An exported knowledge base is taken in: nothing of its file is believed, and nothing shown before all of it is there.

It is staged in bounded transactions, hidden, under a job; then one transaction shows it. Files are
not read and texts not embedded again: words and keys are made of its passages by the rules of
today, and its vectors are taken where the model is the same here.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wenyuan.errors import (
    ArchiveInvalid,
    FileUnreadable,
    KnowledgeBaseExists,
    KnowledgeBaseNotFound,
    PathNotFound,
    StorageError,
    WenyuanError,
)
from wenyuan.flows.archive.lines import (
    BASE,
    CHUNKS,
    DOCUMENTS,
    FILES,
    FORMAT,
    HEADER,
    READABLE_VERSIONS,
    RUNS,
    VECTORS,
    ArchivedBase,
)
from wenyuan.flows.archive.runs import decoded_run
from wenyuan.flows.archive.staging import ArchiveStaging, Importing, StagedRevision, facts_of
from wenyuan.flows.priorities import PRIORITY_EMBED, PRIORITY_INGEST, PRIORITY_PURGE
from wenyuan.flows.work import Work
from wenyuan.language.keys import document_keys
from wenyuan.store import evaluations, importing, indexes, knowledge_bases, queue, rereading, vectors
from wenyuan.store.archives import ArchiveReader, Member, parsed
from wenyuan.store.database import Database, Writing
from wenyuan.types import JobKind, KnowledgeBase, Problem

_LARGEST_PAGE = 1 << 20
_REVISIONS_AT_ONCE = 50
_SPOOLED_BYTES = 8 << 20
_PRIORITIES: dict[JobKind, int] = {"ingest": PRIORITY_INGEST, "embed": PRIORITY_EMBED, "purge": PRIORITY_PURGE}
_LOG = logging.getLogger("wenyuan.import")


@dataclass(frozen=True, slots=True)
class Imported:
    """What was taken in. `vectors` are those that were taken; `to_embed` documents get theirs from a worker."""

    knowledge_base: KnowledgeBase
    documents: int
    files: int
    chunks: int
    vectors: int
    runs: int
    to_embed: int
    to_read: int


def import_archive(tools: Importing, path: Path, name: str | None) -> Imported:
    """Take in what an archive holds, under its own name or another one.

    Raises `ArchiveInvalid`, `KnowledgeBaseExists`, `InvalidValue`, `FileTooLarge`, `DiskFull` and
    what else storing raises; then nothing of it is kept.
    """

    def invalid(reason: str) -> ArchiveInvalid:
        return ArchiveInvalid(path=path, reason=reason)

    try:
        total = path.stat().st_size
        with path.open("rb") as file:
            reader = ArchiveReader(file, invalid)
            members = iter(reader)
            _check_header(next(members), invalid)
            page = next(members)
            if page.name != BASE:
                raise invalid(f"{page.name} stands where {BASE} should")
            base = ArchivedBase.decoded(parsed(page.read(_LARGEST_PAGE), BASE, invalid), invalid)
            with tempfile.SpooledTemporaryFile(max_size=_SPOOLED_BYTES) as runs:
                staging = ArchiveStaging(tools, base, name or base.name, invalid, runs)
                try:
                    for member in members:
                        staging.take(member)
                        tools.watch(file.tell(), total)
                    return _finish(staging, reader.manifest)
                except BaseException as error:
                    _give_up(staging, error)
                    raise
    except StopIteration as error:
        raise invalid("it is not complete") from error
    except FileNotFoundError as error:
        raise PathNotFound(path=path) from error
    except OSError as error:
        raise FileUnreadable(path=path, reason=error.strerror or str(error)) from error


def abandon(database: Database, new_id: Callable[[str], str], work: Work) -> None:
    """Purge what an import has left that came to no end."""
    _queue_purges(database, new_id, work)
    with database.write(durable=False) as tx:
        work.hold(tx)
        queue.cancelled(tx, work.lease)


def _queue_purges(database: Database, new_id: Callable[[str], str], work: Work) -> None:
    job = work.lease.job
    after: str | None = ""
    while after is not None:
        with database.write(durable=False) as tx:
            work.hold(tx)
            page = importing.staged_revisions(tx, job.owner, job.subject_id, after)
            for _, revision in page:
                _enqueue(tx, new_id, "purge", revision, job.subject_id, job.owner)
        after = page[-1][0] if page else None


def _enqueue(
    tx: Writing,
    new_id: Callable[[str], str],
    kind: JobKind,
    revision: str,
    base: str,
    owner: str,
    size: int | None = None,
) -> None:
    weight = queue.ALONE if size is None else size
    queue.enqueue(tx, new_id("job"), kind, "revision", revision, base, owner, _PRIORITIES[kind], weight)


def _check_header(member: Member, invalid: Callable[[str], ArchiveInvalid]) -> None:
    if member.name != HEADER:
        raise invalid("it is not an exported knowledge base")
    header = parsed(member.read(_LARGEST_PAGE), HEADER, invalid)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise invalid("it is not an exported knowledge base")
    if header.get("version") not in READABLE_VERSIONS:
        readable = ", ".join(map(str, READABLE_VERSIONS))
        raise invalid(f"it has version {header.get('version')!r}, and this program reads the versions {readable}")


def _finish(staging: ArchiveStaging, manifest: Any) -> Imported:
    """Show what was staged, if it is all that was exported."""
    promised = manifest.get("counts")
    if (manifest.get("format"), manifest.get("version")) not in [(FORMAT, version) for version in READABLE_VERSIONS]:
        raise staging.invalid("its manifest is that of something else")
    if not isinstance(promised, dict) or {k: n for k, n in promised.items() if n} != dict(staging.counts):
        raise staging.invalid("its manifest counts something else than it holds")
    if staging.files:
        raise staging.invalid(f"the file {next(iter(staging.files))} belongs to no document")
    ready = [one for one in staging.revisions.values() if one.archived.state == "ready"]
    to_embed: list[StagedRevision] = []
    for start in range(0, len(ready), _REVISIONS_AT_ONCE):
        with staging.tools.database.write(durable=False) as tx:
            staging.work.hold(tx)
            to_embed += [one for one in ready[start : start + _REVISIONS_AT_ONCE] if not _complete(tx, staging, one)]
    to_read = [one for one in staging.revisions.values() if one.archived.state == "pending" and one.archived.has_file]
    shown = _show(staging, ready, to_embed, to_read)
    runs = _keep_runs(staging)
    counts = staging.counts
    taken = counts[VECTORS] if staging.vector is not None else 0
    return Imported(
        shown,
        counts[DOCUMENTS],
        counts[FILES],
        counts[CHUNKS],
        taken,
        runs,
        len(to_embed),
        len(to_read),
    )


def _complete(tx: Writing, staging: ArchiveStaging, staged: StagedRevision) -> bool:
    """Record what is known of a revision as a whole; says whether it needs no vectors any more."""
    one, document = staged.archived, staged.document
    if (staged.chunks, staged.text_length) != (one.chunk_count, one.text_length) or not one.published_at:
        raise staging.invalid(f"{document.name[:200]} has other text than it should")
    whole = document_keys(document.name, one.title, one.metadata)
    rereading.replace_whole(tx, document, staged.id, facts_of(one), whole)
    indexes.record_progress(
        tx,
        staging.lexical.id,
        staged.id,
        "ready",
        one.chunk_count,
        one.chunk_count,
        alias_overflow=staged.alias_overflow,
        rules=staging.rules.fingerprint,
    )
    if staging.vector is None:
        return not staging.base.embedding_model
    missing = vectors.count_missing(tx, staging.model_key, staged.id)
    done = one.chunk_count - missing
    if not missing:
        vectors.pack(tx, staging.vector.id, staging.model_key, staged.id, staging.vector.dimensions)
    state = "pending" if missing else "ready"
    indexes.record_progress(tx, staging.vector.id, staged.id, state, done, one.chunk_count)
    return not missing


def _show(
    staging: ArchiveStaging,
    ready: Sequence[StagedRevision],
    to_embed: Sequence[StagedRevision],
    to_read: Sequence[StagedRevision],
) -> KnowledgeBase:
    tools, base = staging.tools, staging.base
    served = {one.document.id: one.id for one in ready}
    with tools.database.write() as tx:
        staging.work.hold(tx)
        try:
            knowledge_bases.find(tx, base.owner, base.name)
        except KnowledgeBaseNotFound:
            importing.show(tx, base.id, ((one, served.get(one)) for one in staging.documents.values()))
        else:
            raise KnowledgeBaseExists(name=base.name)
        for one in to_embed:
            _enqueue(tx, tools.new_id, "embed", one.id, base.id, base.owner)
        for one in to_read:
            _enqueue(tx, tools.new_id, "ingest", one.id, base.id, base.owner, one.archived.size)
        queue.finish(tx, staging.work.lease)
        return knowledge_bases.by_id(tx, base.id)


def _keep_runs(staging: ArchiveStaging) -> int:
    staging.runs.seek(0)
    kept = 0
    for line in iter(staging.runs.readline, b""):
        run = decoded_run(parsed(line, RUNS, staging.invalid), staging.tools.new_id("run"), staging.invalid)
        try:
            with staging.tools.database.traces.write() as tx:
                evaluations.keep(tx, staging.base.owner, run)
        except StorageError as error:
            # The knowledge base is there already, and whole without them.
            _LOG.warning("evaluation runs were not kept. %s", error.message)
            return kept
        kept += 1
    return kept


def _give_up(staging: ArchiveStaging, error: BaseException) -> None:
    """Leave nothing behind but jobs that purge what was staged."""
    for blob in staging.files.values():
        staging.tools.blobs.discard(blob)
    problem = error.problem("importing") if isinstance(error, WenyuanError) else _INTERRUPTED
    try:
        _queue_purges(staging.tools.database, staging.tools.new_id, staging.work)
        with staging.tools.database.write(durable=False) as tx:
            queue.fail(tx, staging.work.lease, problem)
    except WenyuanError as other:
        # The job still waits; a worker that takes it up purges what was staged.
        _LOG.info("an import was left to be purged by a worker: %s", other.message)


_INTERRUPTED = Problem("import-interrupted", "The import was interrupted.", "Import the file again.", "importing")
