"""From stored bytes to a document that is found by keyword: read, cut, stage, publish.

Everything is staged under a revision nothing searches yet, in bounded transactions; after a crash
the next worker reads the file again and goes on behind the last committed chunk. Publishing flips
one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from wenyuan.flows.reading import Reading, cut
from wenyuan.flows.receive import PRIORITY_EMBED, PRIORITY_PURGE
from wenyuan.flows.work import Work
from wenyuan.language import RULE_SET_VERSION
from wenyuan.language.keys import document_keys
from wenyuan.language.postings import posting
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


def ingest(tools: Ingesting, work: Work) -> None:
    """Read one revision and publish it. Raises `DocumentError` where the file is at fault."""
    target = _begin(tools, work)
    if target is None:
        return
    reading, staging = Reading(), Staging()
    events = tools.reader.read(tools.blobs.path(target.revision.blob_sha256), target.document.name)
    for batch in _batches(cut(events, target.chunking, reading)):
        _stage(tools.database, work, target, staging, batch)
    _publish(tools, work, target, reading, staging)


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


def _batches(pieces: Iterable[Fed]) -> Iterator[list[Fed]]:
    batch: list[Fed] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += max(len(piece.text), len(piece.chunks) * (_STAGED_CHARACTERS // _STAGED_CHUNKS))
        if size >= _STAGED_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _stage(database: Database, work: Work, target: Target, staging: Staging, batch: list[Fed]) -> None:
    """Commit one batch of text, chunks, postings and keys, leaving out what is committed already."""
    work.pause_if_asked()
    text = "".join(piece.text for piece in batch)
    made = [chunk for piece in batch for chunk in piece.chunks]
    prepared = [(chunk, _posting(target, chunk)) for chunk in made]
    with database.write(durable=False) as tx:
        work.hold(tx)
        done = chunks.staged(tx, target.revision.id)
        new_text = text[max(0, done.text_length - staging.text_length) :]
        if new_text:
            at = max(staging.text_length, done.text_length)
            chunks.stage_text(tx, target.revision.id, done.text_pieces, at, new_text)
        _stage_chunks(tx, target, [item for item in prepared if item[0].seq >= done.chunks])
        work.progress(tx, "reading", staging.chunks + len(made), 0)
    staging.chunks += len(made)
    staging.text_length += len(text)


def _stage_chunks(tx: Writing, target: Target, prepared: list[tuple[Chunk, Posting]]) -> None:
    if not prepared:
        return
    made = [chunk for chunk, _ in prepared]
    hashed = [(c, input_hash(embedding_input(c.heading_path, c.context, c.text))) for c in made]
    keys = chunks.stage_chunks(tx, target.revision.id, hashed)
    tx.lexical.add(tx, target.lexical.number, zip(keys, (item[1] for item in prepared), strict=True))
    by_seq = dict(zip((chunk.seq for chunk in made), keys, strict=True))
    found = document_keys("", "", {}, made)
    chunks.stage_keys(
        tx,
        target.document.knowledge_base_id,
        target.document.id,
        target.revision.id,
        ((key, by_seq[key.seq]) for key in found if key.seq is not None),
    )


def _posting(target: Target, chunk: Chunk) -> Posting:
    return posting(target.document.name, chunk.heading_path, chunk.text, chunk.context)


def _publish(tools: Ingesting, work: Work, target: Target, reading: Reading, staging: Staging) -> None:
    """Make the revision searchable, and queue what follows: embedding it, purging what it replaces."""
    document, revision = target.document, target.revision
    whole = document_keys(document.name, reading.facts.title, reading.facts.metadata, ())
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        chunks.stage_keys(tx, document.knowledge_base_id, document.id, revision.id, ((key, None) for key in whole))
        indexes.record_progress(tx, target.lexical.id, revision.id, "ready", staging.chunks, staging.chunks)
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
