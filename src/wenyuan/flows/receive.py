"""Taking files in: bytes, document and job are on disk together, or not at all, before anything else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from wenyuan.errors import DocumentError, KnowledgeBaseArchived
from wenyuan.store import documents, knowledge_bases, queue
from wenyuan.store.blobs import BlobDirectory, StagedBlob
from wenyuan.store.database import Database, Writing
from wenyuan.types import Document, KnowledgeBase, Problem

PRIORITY_INGEST = 10
PRIORITY_EMBED = 50
PRIORITY_PURGE = 80

_FILES_PER_TRANSACTION = 16


@dataclass(frozen=True, slots=True)
class Received:
    """What became of one file. `problem` tells why it was not taken in; then there is no document."""

    source: str
    outcome: documents.Arrival | None
    document_id: str | None
    revision_id: str | None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Receiving:
    """What taking files in needs."""

    database: Database
    blobs: BlobDirectory
    file_bytes: int
    new_id: Callable[[str], str]


def receive(tools: Receiving, knowledge_base: KnowledgeBase, files: Iterable[Path]) -> Iterator[Received]:
    """Store files with their jobs, a few per transaction, and tell of each once it is safe.

    A file at fault is reported and the rest goes on. Raises `KnowledgeBaseArchived` before the
    first, and `StorageError` when the library itself cannot take more.
    """
    if knowledge_base.state == "archived":
        raise KnowledgeBaseArchived(name=knowledge_base.name)
    remaining = iter(files)
    while group := list(islice(remaining, _FILES_PER_TRANSACTION)):
        yield from _receive_group(tools, knowledge_base, group)


def _current(tx: Writing, knowledge_base: KnowledgeBase) -> KnowledgeBase:
    """The knowledge base as it is now: it may have been deleted or archived while files were copied."""
    current = knowledge_bases.by_id(tx, knowledge_base.id)
    if current.state == "archived":
        raise KnowledgeBaseArchived(name=current.name)
    return current


def _receive_group(tools: Receiving, knowledge_base: KnowledgeBase, group: list[Path]) -> list[Received]:
    staged: list[tuple[str, str, StagedBlob]] = []
    results: list[Received] = []
    try:
        for path in group:
            try:
                staged.append((_readable(path), _readable(Path(path.name)), tools.blobs.stage(path, tools.file_bytes)))
            except DocumentError as error:
                results.append(Received(_readable(path), None, None, None, error.problem("receiving")))
        with tools.database.write() as tx:
            current = _current(tx, knowledge_base)
            results += [_store(tx, tools, current, source, name, blob) for source, name, blob in staged]
        return results
    finally:
        for _, _, blob in staged:
            tools.blobs.discard(blob)


def _readable(path: Path) -> str:
    """A path as text: names from old archives are often in GB18030, and some in no encoding at all."""
    raw = os.fsencode(path)
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "backslashreplace")


def receive_text(tools: Receiving, knowledge_base: KnowledgeBase, source: str, name: str, content: bytes) -> Received:
    """Store one text that is already in memory, like `receive`."""
    if knowledge_base.state == "archived":
        raise KnowledgeBaseArchived(name=knowledge_base.name)
    blob = tools.blobs.stage_bytes(content, name, tools.file_bytes)
    try:
        with tools.database.write() as tx:
            return _store(tx, tools, _current(tx, knowledge_base), source, name, blob)
    finally:
        tools.blobs.discard(blob)


def _store(
    tx: Writing, tools: Receiving, knowledge_base: KnowledgeBase, source: str, name: str, blob: StagedBlob
) -> Received:
    known = documents.find_by_source(tx, knowledge_base.id, source)
    if known is None:
        document = Document(
            tools.new_id("doc"), knowledge_base.id, knowledge_base.owner, source, name, True, None, tx.now, tx.now
        )
        documents.add_document(tx, document)
        return _add_revision(tx, tools, knowledge_base, document, blob, "added")
    latest = known.latest
    if latest.blob_sha256 != blob.sha256:
        for unfinished in documents.unfinished_revisions(tx, known.document.id):
            queue.cancel(tx, "revision", unfinished)
            documents.set_state(tx, unfinished, "cancelled")
        return _add_revision(tx, tools, knowledge_base, known.document, blob, "updated")
    if latest.state in ("failed", "cancelled"):
        retry(tx, tools.new_id, known)
        return Received(source, "retried", known.document.id, latest.id)
    return Received(source, "unchanged", known.document.id, latest.id)


def _add_revision(
    tx: Writing,
    tools: Receiving,
    knowledge_base: KnowledgeBase,
    document: Document,
    blob: StagedBlob,
    outcome: documents.Arrival,
) -> Received:
    revision_id = tools.new_id("rev")
    tools.blobs.keep(tx, blob)
    documents.add_revision(tx, revision_id, document, blob.sha256, blob.size, knowledge_base.chunking)
    queue.enqueue(
        tx,
        tools.new_id("job"),
        "ingest",
        "revision",
        revision_id,
        knowledge_base.id,
        document.owner,
        PRIORITY_INGEST,
    )
    return Received(document.source, outcome, document.id, revision_id)


def retry(tx: Writing, new_id: Callable[[str], str], record: documents.DocumentRecord) -> None:
    """Put a failed or cancelled revision's work, or the vectors of what is served, back in the queue.

    It goes on where it stopped.
    """
    document, revision = record.document, record.latest
    ingest = revision.state in ("failed", "cancelled")
    if ingest:
        documents.set_state(tx, revision.id, "pending", "queued")
    subject = revision.id if ingest else document.serving_revision_id or revision.id
    queue.enqueue(
        tx,
        new_id("job"),
        "ingest" if ingest else "embed",
        "revision",
        subject,
        document.knowledge_base_id,
        document.owner,
        PRIORITY_INGEST if ingest else PRIORITY_EMBED,
    )
