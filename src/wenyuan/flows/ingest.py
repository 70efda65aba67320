"""From stored bytes to a document that is found by keyword: read, cut, stage, publish.

Small files are read one after another and published together, in one transaction. Of a longer one
the pieces are staged under a revision nothing searches yet, in bounded transactions; after a crash
the next worker reads the file again and goes on behind the last committed chunk. Publishing flips
one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wenyuan.errors import DocumentError, JobCancelled, LeaseLost, ParserCrashed, WenyuanError
from wenyuan.flows.given import merged
from wenyuan.flows.prepare import STAGE
from wenyuan.flows.prepared import Ending, Instructions, Prepared, Receiver
from wenyuan.flows.purge import forget_text
from wenyuan.flows.receive import PRIORITY_EMBED, PRIORITY_PURGE, PRIORITY_REREAD
from wenyuan.flows.reread import Rules, rules_of
from wenyuan.flows.work import Work
from wenyuan.language.keys import document_keys
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.parsers.wire import Request
from wenyuan.store import chunks, documents, fields, indexes, knowledge_bases, queue
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Writing
from wenyuan.types import ChunkingConfig, Document, IndexGeneration, JobKind, Posting, Revision

_CHARACTERS_TOGETHER = 1 << 20

Failure = tuple[Work, WenyuanError]
"""A job that came to nothing by itself, and why; the others of its group went on."""


@dataclass(frozen=True, slots=True)
class Ingesting:
    """What ingestion needs."""

    database: Database
    blobs: BlobDirectory
    reader: SandboxedReader
    new_id: Callable[[str], str]
    program: str
    """Name and version of this program; what another one staged is not continued."""


@dataclass(slots=True)
class _File:
    """One revision being ingested: what it is, and how much of it has been cut so far,

    committed now or by an earlier attempt.
    """

    work: Work
    document: Document
    revision: Revision
    chunking: ChunkingConfig
    lexical: IndexGeneration
    rules: Rules
    embeds: bool
    committed: chunks.Staged | None
    cut: int = 0
    text_length: int = 0
    alias_overflow: int = 0


_Whole = tuple[_File, Prepared, Ending]
"""A file that was read to its end, and what is to be published of it."""


def ingest(tools: Ingesting, works: Sequence[Work]) -> list[Failure]:
    """Read revisions and publish them. Returns those that failed by themselves: the file was at fault,

    or its job was cancelled or taken over.
    """
    files, failures = _begin(tools, works)
    group: list[_Whole] = []
    for file in files:
        try:
            _forget_what_another_program_staged(tools, file)
            whole = _read(tools, file)
        except (DocumentError, JobCancelled, LeaseLost) as error:
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


def _begin(tools: Ingesting, works: Sequence[Work]) -> tuple[list[_File], list[Failure]]:
    """Claim the revisions, except those for which there is nothing left to do."""
    files: list[_File] = []
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
            document, revision, chunking = found
            documents.begin(tx, revision.id, tools.program)
            work.progress(tx, "reading", 0, 0)
            rules = rules_of(tx, document.knowledge_base_id)
            lexical = indexes.ensure_active(
                tx, tools.new_id("gen"), document.knowledge_base_id, "lexical", rules.fingerprint, rules.recipe
            )
            embeds = bool(knowledge_bases.by_id(tx, document.knowledge_base_id).embedding_model)
            committed = None if revision.staged_by else chunks.Staged(0, 0, 0)
            files.append(_File(work, document, revision, chunking, lexical, rules, embeds, committed))
    return files, failures


def _forget_what_another_program_staged(tools: Ingesting, file: _File) -> None:
    """Begin anew where an earlier version began: its chunks might end elsewhere."""
    if file.revision.staged_by not in ("", tools.program):
        forget_text(tools.database, file.work, file.revision.id)
        with tools.database.write(durable=False) as tx:
            file.work.hold(tx)
            documents.set_staged_by(tx, file.revision.id, tools.program)
        file.committed = None


def _read(tools: Ingesting, file: _File) -> tuple[Prepared, Ending] | None:
    """What is in a small file; a longer one is staged as it comes, published, and None returned."""
    batch: Prepared | None = None
    ending: Ending | None = None
    is_long = False
    for made in _made(tools, file):
        if isinstance(made, Ending):
            ending = made
            continue
        if batch is not None:
            _stage_early(tools, file, batch, is_first=not is_long)
            is_long = True
        batch = made
    if batch is None or ending is None:
        raise ParserCrashed(name=file.document.name, reason="it ended too early")
    if not is_long:
        return batch, ending
    for _, error in _publish_together(tools, [(file, batch, ending)]):
        raise error
    return None


def _stage_early(tools: Ingesting, file: _File, batch: Prepared, *, is_first: bool) -> None:
    """Commit a batch that more of the file follows."""
    with tools.database.write(durable=False) as tx:
        file.work.hold(tx)
        if is_first:
            # Named from the start, so that a purge finds postings of a revision that was never published.
            indexes.record_progress(tx, file.lexical.id, file.revision.id, "pending", 0, 0)
        postings = _stage(tx, file, batch)
        file.work.progress(tx, "reading", file.cut, 0)
        tx.lexical.add(tx, file.lexical.number, postings)


def _made(tools: Ingesting, file: _File) -> Iterator[Prepared | Ending]:
    document, given = file.document, file.revision.given
    path = tools.blobs.path(file.revision.blob_sha256).absolute()
    instructions = Instructions(document.name, given.title, file.chunking, file.rules.vocabulary)
    request = Request(str(path), document.name, given.media_type, STAGE, instructions.encoded())
    return tools.reader.make(request, Receiver(document.name, tools.reader.limits.parse_output_bytes))


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
            else:
                postings = _publish(tx, tools, file, batch, ending)
                found_by.setdefault(file.lexical.number, []).extend(postings)
        for number, postings in found_by.items():
            # Last, and all at once: SQLite's full-text index writes itself out before most other statements.
            tx.lexical.add(tx, number, postings)
    return failures


def _stage(tx: Writing, file: _File, batch: Prepared) -> list[tuple[int, Posting]]:
    """Write one batch, leaving out what an earlier attempt committed; the postings are for the caller to add."""
    revision_id, document = file.revision.id, file.document
    done = file.committed or chunks.staged(tx, revision_id)
    new_text = batch.text[max(0, done.text_length - file.text_length) :]
    if new_text:
        at = max(file.text_length, done.text_length)
        chunks.stage_text(tx, revision_id, done.text_pieces, at, new_text)
    skipped = max(0, done.chunks - file.cut)
    new = batch.chunks[skipped:]
    keys = chunks.stage_chunks(tx, revision_id, new) if new else []
    if batch.keys:
        by_seq = {chunk.seq: key for (chunk, _), key in zip(new, keys, strict=True)}
        found = ((key, by_seq[key.seq]) for key in batch.keys if key.seq is not None and key.seq in by_seq)
        chunks.stage_keys(tx, document.knowledge_base_id, document.id, revision_id, found)
    file.cut += len(batch.chunks)
    file.text_length += len(batch.text)
    file.alias_overflow += sum(posting.alias_overflow for posting in batch.postings)
    pieces = done.text_pieces + bool(new_text)
    file.committed = chunks.Staged(max(done.chunks, file.cut), pieces, max(done.text_length, file.text_length))
    return list(zip(keys, batch.postings[skipped:], strict=True))


def _publish(tx: Writing, tools: Ingesting, file: _File, batch: Prepared, ending: Ending) -> list[tuple[int, Posting]]:
    """Stage what is left and make the revision searchable; queue what follows: embedding it, purging

    what it replaces.
    """
    postings = _stage(tx, file, batch)
    document, revision = file.document, file.revision
    facts = merged(ending.facts, revision.given)
    whole = document_keys(document.name, facts.title, facts.metadata)
    chunks.stage_keys(tx, document.knowledge_base_id, document.id, revision.id, ((key, None) for key in whole))
    fields.stage(tx, document, revision.id, facts, whole)
    indexes.record_progress(
        tx,
        file.lexical.id,
        revision.id,
        "ready",
        file.cut,
        file.cut,
        alias_overflow=file.alias_overflow,
        rules=file.rules.fingerprint,
    )
    superseded = documents.publish(tx, revision.id, facts, ending.notices, file.cut, file.text_length)
    if file.embeds:
        _enqueue(tx, tools, file, "embed", revision.id, PRIORITY_EMBED)
    if rules_of(tx, document.knowledge_base_id).fingerprint != file.rules.fingerprint:
        # The vocabulary was changed while the file was read.
        _enqueue(tx, tools, file, "reread", revision.id, PRIORITY_REREAD)
    for old in superseded:
        queue.cancel(tx, "revision", old)
        _enqueue(tx, tools, file, "purge", old, PRIORITY_PURGE)
    queue.finish(tx, file.work.lease)
    return postings


def _enqueue(tx: Writing, tools: Ingesting, file: _File, kind: JobKind, revision_id: str, priority: int) -> None:
    job = file.work.lease.job
    new = tools.new_id("job")
    queue.enqueue(tx, new, kind, "revision", revision_id, job.knowledge_base_id, job.owner, priority)
