"""From stored bytes to a document that is found by keyword: read, cut, stage, publish.

Everything is staged under a revision nothing searches yet, in bounded transactions; after a crash
the next worker reads the file again and goes on behind the last committed chunk. Publishing flips
one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wenyuan.flows.purge import forget_text
from wenyuan.flows.reading import Reading, cut
from wenyuan.flows.receive import PRIORITY_EMBED, PRIORITY_PURGE
from wenyuan.flows.work import Work
from wenyuan.language import RULE_SET_VERSION
from wenyuan.language.keys import document_keys
from wenyuan.language.postings import read_chunk
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.rules.chunking import Fed
from wenyuan.rules.embedding_input import embedding_input, input_hash
from wenyuan.store import chunks, documents, indexes, knowledge_bases, queue
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Writing
from wenyuan.types import (
    Chunk,
    ChunkingConfig,
    Document,
    IndexGeneration,
    JobKind,
    Key,
    Posting,
    Revision,
)

_STAGED_CHUNKS = 512
_STAGED_CHARACTERS = 1 << 20


@dataclass(frozen=True, slots=True)
class Ingesting:
    """What ingestion needs."""

    database: Database
    blobs: BlobDirectory
    reader: SandboxedReader
    new_id: Callable[[str], str]
    program: str
    """Name and version of this program; what another one staged is not continued."""


@dataclass(frozen=True, slots=True)
class Target:
    """The revision being ingested, and the lexical index it goes into."""

    document: Document
    revision: Revision
    chunking: ChunkingConfig
    lexical: IndexGeneration
    embeds: bool


@dataclass(slots=True)
class Staging:
    """How much of the file has been cut so far, committed now or by an earlier attempt."""

    chunks: int = 0
    text_length: int = 0
    alias_overflow: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """A piece of the file, ready to be committed: nothing is computed while the database is held."""

    text: str
    chunks: Sequence[tuple[Chunk, bytes]]
    postings: Sequence[Posting]
    keys: Sequence[Key]


def ingest(tools: Ingesting, work: Work) -> None:
    """Read one revision and publish it. Raises `DocumentError` where the file is at fault."""
    target = _begin(tools, work)
    if target is None:
        return
    _forget_what_another_program_staged(tools, work, target)
    reading, staging = Reading(), Staging()
    events = tools.reader.read(tools.blobs.path(target.revision.blob_sha256), target.document.name)
    for pieces, last in _batches(cut(events, target.chunking, reading)):
        batch = _prepared(target, pieces)
        with tools.database.write(durable=False) as tx:
            work.hold(tx)
            _stage(tx, target, staging, batch)
            if last:
                _publish(tx, tools, work, target, reading, staging)
            else:
                work.progress(tx, "reading", staging.chunks, 0)


def _begin(tools: Ingesting, work: Work) -> Target | None:
    """Claim the revision; None when there is nothing left to do for it."""
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        found = documents.revision(tx, work.lease.job.subject_id)
        if found is None or found[1].state not in ("pending", "processing"):
            queue.finish(tx, work.lease)
            return None
        document, revision, chunking = found
        documents.set_state(tx, revision.id, "processing", "reading")
        work.progress(tx, "reading", 0, 0)
        if not revision.staged_by:
            documents.set_staged_by(tx, revision.id, tools.program)
        lexical = indexes.ensure_active(
            tx,
            tools.new_id("gen"),
            document.knowledge_base_id,
            "lexical",
            str(RULE_SET_VERSION),
            {"rules": RULE_SET_VERSION},
        )
        # Named from the start, so that a purge finds postings of a revision that was never published.
        indexes.record_progress(tx, lexical.id, revision.id, "pending", 0, 0)
        embeds = bool(knowledge_bases.by_id(tx, document.knowledge_base_id).embedding_model)
        return Target(document, revision, chunking, lexical, embeds)


def _forget_what_another_program_staged(tools: Ingesting, work: Work, target: Target) -> None:
    """Begin anew where an earlier version began: its chunks might end elsewhere."""
    if target.revision.staged_by not in ("", tools.program):
        forget_text(tools.database, work, target.revision.id)
        with tools.database.write(durable=False) as tx:
            work.hold(tx)
            documents.set_staged_by(tx, target.revision.id, tools.program)


def _batches(pieces: Iterable[Fed]) -> Iterator[tuple[list[Fed], bool]]:
    """Group pieces into bounded batches; the last one is marked."""
    batch: list[Fed] = []
    size = 0
    for piece in pieces:
        if size >= _STAGED_CHARACTERS:
            yield batch, False
            batch, size = [], 0
        batch.append(piece)
        size += max(len(piece.text), len(piece.chunks) * (_STAGED_CHARACTERS // _STAGED_CHUNKS))
    yield batch, True


def _prepared(target: Target, pieces: Sequence[Fed]) -> Batch:
    made = [chunk for piece in pieces for chunk in piece.chunks]
    read = [read_chunk(target.document.name, chunk) for chunk in made]
    return Batch(
        text="".join(piece.text for piece in pieces),
        chunks=[(one, input_hash(embedding_input(one.heading_path, one.context, one.text))) for one in made],
        postings=[posting for posting, _ in read],
        keys=[key for _, keys in read for key in keys],
    )


def _stage(tx: Writing, target: Target, staging: Staging, batch: Batch) -> None:
    """Write one batch, leaving out what an earlier attempt committed."""
    done = chunks.staged(tx, target.revision.id)
    new_text = batch.text[max(0, done.text_length - staging.text_length) :]
    if new_text:
        at = max(staging.text_length, done.text_length)
        chunks.stage_text(tx, target.revision.id, done.text_pieces, at, new_text)
    skipped = max(0, done.chunks - staging.chunks)
    if skipped < len(batch.chunks):
        keys = chunks.stage_chunks(tx, target.revision.id, batch.chunks[skipped:])
        tx.lexical.add(tx, target.lexical.number, zip(keys, batch.postings[skipped:], strict=True))
        _stage_keys(
            tx, target, {chunk.seq: key for (chunk, _), key in zip(batch.chunks[skipped:], keys, strict=True)}, batch
        )
    staging.chunks += len(batch.chunks)
    staging.alias_overflow += sum(posting.alias_overflow for posting in batch.postings)
    staging.text_length += len(batch.text)


def _stage_keys(tx: Writing, target: Target, by_seq: Mapping[int, int], batch: Batch) -> None:
    found = ((key, by_seq[key.seq]) for key in batch.keys if key.seq is not None and key.seq in by_seq)
    document = target.document
    chunks.stage_keys(tx, document.knowledge_base_id, document.id, target.revision.id, found)


def _publish(tx: Writing, tools: Ingesting, work: Work, target: Target, reading: Reading, staging: Staging) -> None:
    """Make the revision searchable, and queue what follows: embedding it, purging what it replaces."""
    document, revision = target.document, target.revision
    whole = document_keys(document.name, reading.facts.title, reading.facts.metadata)
    chunks.stage_keys(tx, document.knowledge_base_id, document.id, revision.id, ((key, None) for key in whole))
    indexes.record_progress(
        tx,
        target.lexical.id,
        revision.id,
        "ready",
        staging.chunks,
        staging.chunks,
        alias_overflow=staging.alias_overflow,
    )
    superseded = documents.publish(
        tx, revision.id, reading.facts, tuple(reading.notices), staging.chunks, staging.text_length
    )
    if target.embeds:
        _enqueue(tx, tools, work, "embed", revision.id, PRIORITY_EMBED)
    for old in superseded:
        queue.cancel(tx, "revision", old)
        _enqueue(tx, tools, work, "purge", old, PRIORITY_PURGE)
    queue.finish(tx, work.lease)


def _enqueue(tx: Writing, tools: Ingesting, work: Work, kind: JobKind, revision_id: str, priority: int) -> None:
    job = work.lease.job
    new = tools.new_id("job")
    queue.enqueue(tx, new, kind, "revision", revision_id, job.knowledge_base_id, job.owner, priority)
