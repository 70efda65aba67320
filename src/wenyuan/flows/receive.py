"""Taking files in: bytes, document and job are on disk together, or not at all, before anything else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from wenyuan.errors import DocumentError, InvalidValue, KnowledgeBaseArchived
from wenyuan.flows.given import TextToAdd, checked_given, checked_name
from wenyuan.parsers.decoding import without_surrogates
from wenyuan.parsers.detection import type_by_name
from wenyuan.store import documents, knowledge_bases, queue
from wenyuan.store.blobs import BlobDirectory, StagedBlob
from wenyuan.store.database import Database, Writing
from wenyuan.types import Document, Given, KnowledgeBase, Problem

Item = TypeVar("Item")

PRIORITY_INGEST = 10
PRIORITY_REREAD = 40
PRIORITY_EMBED = 50
PRIORITY_PURGE = 80

_FILES_PER_TRANSACTION = 32
_CHARACTERS_PER_TRANSACTION = 4_000_000
_PLAIN = "text/plain"


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


@dataclass(frozen=True, slots=True)
class _Arriving:
    """A file whose bytes are on disk. Where nothing is given of it, what was given before stands."""

    source: str
    name: str
    blob: StagedBlob
    given: Given | None


def receive(
    tools: Receiving, knowledge_base: KnowledgeBase, files: Iterable[Path], given: Given | None = None
) -> Iterator[Received]:
    """Store files with their jobs, a few per transaction, and tell of each once it is safe.

    What is `given` holds for all of them. A file at fault is reported and the rest goes on. Raises
    `KnowledgeBaseArchived` before the first, and `StorageError` when the library itself cannot take
    more.
    """

    def stage(path: Path) -> _Arriving:
        blob = tools.blobs.stage(path, tools.file_bytes)
        return _Arriving(_readable(path), _readable(Path(path.name)), blob, given)

    _refuse_archived(knowledge_base)
    remaining = iter(files)
    while group := list(islice(remaining, _FILES_PER_TRANSACTION)):
        yield from _receive_group(tools, knowledge_base, group, stage, _readable)


def receive_texts(tools: Receiving, knowledge_base: KnowledgeBase, texts: Iterable[TextToAdd]) -> Iterator[Received]:
    """Store texts that are in memory, like `receive`; one that cannot be stored is reported as well."""
    _refuse_archived(knowledge_base)
    for group in _groups(texts):
        yield from _receive_group(
            tools, knowledge_base, group, lambda text: _stage_text(tools, text), lambda text: _source(text.name)
        )


def receive_text(tools: Receiving, knowledge_base: KnowledgeBase, text: TextToAdd) -> Received:
    """Store one text. Raises what `receive_texts` reports: `InvalidValue` or `FileTooLarge`."""
    _refuse_archived(knowledge_base)
    arriving = _stage_text(tools, text)
    try:
        (received,) = _store_group(tools, knowledge_base, [arriving])
    finally:
        tools.blobs.discard(arriving.blob)
    return received


def _refuse_archived(knowledge_base: KnowledgeBase) -> None:
    if knowledge_base.state == "archived":
        raise KnowledgeBaseArchived(name=knowledge_base.name)


def _current(tx: Writing, knowledge_base: KnowledgeBase) -> KnowledgeBase:
    """The knowledge base as it is now: it may have been deleted or archived while files were copied."""
    current = knowledge_bases.by_id(tx, knowledge_base.id)
    _refuse_archived(current)
    return current


def _groups(texts: Iterable[TextToAdd]) -> Iterator[list[TextToAdd]]:
    group: list[TextToAdd] = []
    size = 0
    for text in texts:
        group.append(text)
        size += len(text.text)
        if len(group) == _FILES_PER_TRANSACTION or size >= _CHARACTERS_PER_TRANSACTION:
            yield group
            group, size = [], 0
    if group:
        yield group


def _stage_text(tools: Receiving, text: TextToAdd) -> _Arriving:
    """A name that promises no type promises plain text: what a text looks like is not asked."""
    name = checked_name(text.name)
    given = checked_given(text.title, text.metadata, "" if type_by_name(name) else _PLAIN)
    blob = tools.blobs.stage_bytes(without_surrogates(text.text).encode(), name, tools.file_bytes)
    return _Arriving(_source(name), name, blob, given)


def _source(name: str) -> str:
    return f"text:{without_surrogates(name)}"


def _receive_group(
    tools: Receiving,
    knowledge_base: KnowledgeBase,
    group: Sequence[Item],
    stage: Callable[[Item], _Arriving],
    source_of: Callable[[Item], str],
) -> list[Received]:
    staged: list[_Arriving] = []
    results: list[Received] = []
    try:
        for item in group:
            try:
                staged.append(stage(item))
            except (DocumentError, InvalidValue) as error:
                results.append(Received(source_of(item), None, None, None, error.problem("receiving")))
        return results + _store_group(tools, knowledge_base, staged)
    finally:
        for arriving in staged:
            tools.blobs.discard(arriving.blob)


def _store_group(tools: Receiving, knowledge_base: KnowledgeBase, staged: Sequence[_Arriving]) -> list[Received]:
    """Store what is staged, in one transaction; what is there already costs no sync."""
    with tools.database.read() as tx:
        news = [one for one in staged if _is_news(documents.find_by_source(tx, knowledge_base.id, one.source), one)]
    tools.blobs.sync([one.blob for one in news])
    with tools.database.write() as tx:
        current = _current(tx, knowledge_base)
        tools.blobs.keep(tx, [one.blob for one in news])
        kept = {one.blob.sha256 for one in news}
        return [_store(tx, tools, current, one, is_kept=one.blob.sha256 in kept) for one in staged]


def _is_news(known: documents.DocumentRecord | None, arriving: _Arriving) -> bool:
    if known is None:
        return True
    given = known.latest.given if arriving.given is None else arriving.given
    return (known.latest.blob_sha256, known.latest.given) != (arriving.blob.sha256, given)


def _readable(path: Path) -> str:
    """A path as text: names from old archives are often in GB18030, and some in no encoding at all."""
    raw = os.fsencode(path)
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "backslashreplace")


def _store(
    tx: Writing, tools: Receiving, knowledge_base: KnowledgeBase, arriving: _Arriving, *, is_kept: bool
) -> Received:
    source = arriving.source
    known = documents.find_by_source(tx, knowledge_base.id, source)
    if known is not None and not _is_news(known, arriving):
        if known.latest.state in ("failed", "cancelled"):
            retry(tx, tools.new_id, known)
            return Received(source, "retried", known.document.id, known.latest.id)
        return Received(source, "unchanged", known.document.id, known.latest.id)
    if not is_kept:
        # It was there already when the others were synced, and has been replaced meanwhile.
        tools.blobs.sync([arriving.blob])
        tools.blobs.keep(tx, [arriving.blob])
    if known is not None:
        for unfinished in documents.unfinished_revisions(tx, known.document.id):
            queue.cancel(tx, "revision", unfinished)
            documents.set_state(tx, unfinished, "cancelled")
        given = known.latest.given if arriving.given is None else arriving.given
        return _add_revision(tx, tools, knowledge_base, known.document, arriving, given, "updated")
    owner, now = knowledge_base.owner, tx.now
    document = Document(tools.new_id("doc"), knowledge_base.id, owner, source, arriving.name, True, None, now, now)
    documents.add_document(tx, document)
    return _add_revision(tx, tools, knowledge_base, document, arriving, arriving.given or Given(), "added")


def _add_revision(
    tx: Writing,
    tools: Receiving,
    knowledge_base: KnowledgeBase,
    document: Document,
    arriving: _Arriving,
    given: Given,
    outcome: documents.Arrival,
) -> Received:
    revision_id = tools.new_id("rev")
    blob = arriving.blob
    documents.add_revision(tx, revision_id, document, blob.sha256, blob.size, knowledge_base.chunking, given)
    queue.enqueue(
        tx,
        tools.new_id("job"),
        "ingest",
        "revision",
        revision_id,
        knowledge_base.id,
        document.owner,
        PRIORITY_INGEST,
        blob.size,
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
        revision.size if ingest else queue.ALONE,
    )
