"""A knowledge base becomes one file that any library can take in, whatever its database.

It is of one moment: everything is read in one transaction, which waits for nobody and keeps nobody
waiting. It is written as it is read, part by part, each behind what it refers to.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wenyuan.flows.archive.lines import (
    BASE,
    CHUNKS,
    DOCUMENTS,
    FILES,
    FORMAT,
    HEADER,
    RUNS,
    SENTENCES,
    TABLES,
    TEXTS,
    VECTORS,
    VERSION,
    ArchivedBase,
    ArchivedChunk,
    ArchivedDocument,
    ArchivedRevision,
    ArchivedTable,
    ArchivedText,
    ArchivedVectors,
    line,
)
from wenyuan.flows.archive.runs import encoded_run
from wenyuan.flows.archive.vector_parts import sentence_record
from wenyuan.rules.evaluation.results import EvaluationRun
from wenyuan.store import evaluations, exporting, indexes, knowledge_bases, tables, vectors
from wenyuan.store.archives import ArchiveWriter
from wenyuan.store.backup_targets import translated
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Reading
from wenyuan.store.exporting import StoredDocument, StoredRevision
from wenyuan.store.rows import anchor_from, from_json, notices_from, problem_from
from wenyuan.types import Chunk, ChunkingConfig, Given, KnowledgeBase, ModelIdentity

_PART_BYTES = 4 << 20

_SUFFIXES = {VECTORS: "float16", SENTENCES: "codes"}


@dataclass(frozen=True, slots=True)
class Exporting:
    """What exporting needs. `watch` is told how many documents are written, and of how many."""

    database: Database
    blobs: BlobDirectory
    program: str
    now: int
    watch: Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written; `missing` are the SHA-256 of files whose bytes the library has lost."""

    path: Path
    documents: int
    files: int
    chunks: int
    vectors: int
    runs: int
    bytes: int
    missing: tuple[str, ...]


def export(tools: Exporting, knowledge_base: KnowledgeBase, path: Path) -> Exported:
    """Write a knowledge base to a new file, or in the place of an older one. Raises `DiskFull` or `LibraryReadOnly`."""
    with _new_file(path) as file, tools.database.read() as tx:
        archive = _Archive(tools, tx, file, knowledge_base)
        archive.write_head()
        # Counted first, so that progress has an end.
        total = sum(knowledge_bases.document_counts(tx, knowledge_base.id).values())
        for number, document in enumerate(exporting.documents(tx, knowledge_base.id), start=1):
            archive.write_document(number, document)
            tools.watch(number, total)
        archive.flush()
        with tools.database.traces.read() as tx_of_traces:
            archive.write_runs(evaluations.of_knowledge_base(tx_of_traces, knowledge_base.owner, knowledge_base.name))
        archive.close()
        counts = archive.counts
    return Exported(
        path,
        counts[DOCUMENTS],
        counts[FILES],
        counts[CHUNKS],
        counts[VECTORS],
        counts[RUNS],
        path.stat().st_size,
        tuple(sorted(archive.missing)),
    )


class _Archive:
    """The file that is being written, with what waits for its part to be full."""

    def __init__(self, tools: Exporting, tx: Reading, file: BinaryIO, base: KnowledgeBase) -> None:
        self.counts: Counter[str] = Counter()
        self.missing: set[str] = set()
        self._tools = tools
        self._tx = tx
        self._base = base
        self._writer = ArchiveWriter(file, tools.now)
        self._files: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._parts: Counter[str] = Counter()
        kinds = (DOCUMENTS, TEXTS, CHUNKS, TABLES, VECTORS, SENTENCES)
        self._held: dict[str, list[bytes]] = {kind: [] for kind in kinds}
        self._held_bytes = 0
        self._model: int | None = None

    def write_head(self) -> None:
        header = {
            "format": FORMAT,
            "version": VERSION,
            "program": self._tools.program,
            "created_at": self._tools.now,
        }
        self._writer.add(HEADER, _page(header))
        base, tx = self._base, self._tx
        archived = ArchivedBase(
            base.name,
            base.description,
            base.persona,
            base.scenario,
            base.tags,
            base.chunking,
            base.policy,
            base.ready_when,
            base.embedding_model,
            knowledge_bases.vocabulary(tx, base.id),
            self._vectors(),
        )
        self._writer.add(BASE, _page(archived.encoded()))

    def _vectors(self) -> ArchivedVectors | None:
        generation = indexes.active(self._tx, self._base.id, "vector")
        if generation is None:
            return None
        identity = exporting.model_identity(self._tx, generation.fingerprint)
        if identity is None:
            return None
        self._model = vectors.known_model_key(self._tx, generation.fingerprint)
        return ArchivedVectors(generation.fingerprint, from_json(ModelIdentity, json.dumps(identity)))

    def write_document(self, number: int, document: StoredDocument) -> None:
        stored = exporting.revisions(self._tx, document.id)
        archived = [self._revision(revision) for revision in stored]
        made = ArchivedDocument(
            number,
            document.source,
            document.name,
            document.enabled,
            document.blocked_reason,
            document.created_at,
            document.updated_at,
            tuple(exporting.disabled_passages(self._tx, document.id)),
            tuple(archived),
            self._numbers.get(document.parent_id),
        )
        self._numbers[document.id] = number
        self._hold(DOCUMENTS, line(made.encoded()))
        for revision in stored:
            if revision.is_served:
                self._write_text(number, revision)
                self._write_chunks(number, revision)
                self._write_tables(number, revision)

    def _revision(self, revision: StoredRevision) -> ArchivedRevision:
        # Only what is served takes its text along; what was being read will be read from its file.
        state = revision.state if revision.is_served or revision.state in ("failed", "cancelled") else "pending"
        is_read = state == "ready"
        return ArchivedRevision(
            number=revision.number,
            sha256=revision.sha256,
            has_file=self._write_file(revision.sha256),
            size=revision.size,
            state=state,
            media_type=revision.media_type,
            encoding=revision.encoding,
            title=revision.title,
            language=revision.language,
            metadata=json.loads(revision.metadata),
            notices=notices_from(revision.notices),
            chunking=from_json(ChunkingConfig, revision.chunking),
            given=from_json(Given, revision.given),
            read_by=revision.staged_by if is_read else "",
            problem=problem_from(revision.problem) if state == "failed" else None,
            created_at=revision.created_at,
            published_at=revision.published_at if is_read else None,
            chunk_count=revision.chunk_count if is_read else 0,
            text_length=revision.text_length if is_read else 0,
            quality=json.loads(revision.quality) if is_read else {},
        )

    def _write_file(self, sha256: str) -> bool:
        """Write a file's bytes, once; False where the library has lost them."""
        if sha256 in self._files:
            return True
        try:
            written = self._writer.add_file(f"{FILES}/{sha256}", self._tools.blobs.path(sha256), sha256)
        except FileNotFoundError:
            written = False
        if written:
            self._files.add(sha256)
            self.counts[FILES] += 1
        else:
            self.missing.add(sha256)
        return written

    def _write_text(self, number: int, revision: StoredRevision) -> None:
        for start, text in exporting.text(self._tx, revision.id):
            self._hold(TEXTS, line(ArchivedText(number, revision.number, start, text).encoded()))

    def _write_chunks(self, number: int, revision: StoredRevision) -> None:
        for batch in exporting.chunks(self._tx, revision.id):
            for stored in batch:
                anchor, headings = anchor_from(stored.anchor), tuple(json.loads(stored.heading_path))
                chunk = Chunk(stored.seq, stored.text, stored.start, stored.end, anchor, headings, stored.context)
                archived = ArchivedChunk(number, revision.number, chunk, stored.enabled)
                self._hold(CHUNKS, line(archived.encoded()), flush=False)
            if self._model is not None:
                found = exporting.vectors(self._tx, self._model, [stored.input_hash for stored in batch])
                for input_hash, (vector, sentences) in found.items():
                    self._hold(VECTORS, input_hash + vector, flush=False)
                    if sentences is not None:
                        self._hold(SENTENCES, sentence_record(input_hash, sentences), flush=False)
            self._flush_if_full()

    def _write_tables(self, number: int, revision: StoredRevision) -> None:
        after = (0, 0)
        while pieces := tables.of_revision(self._tx, revision.id, after):
            for piece in pieces:
                self._hold(TABLES, line(ArchivedTable(number, revision.number, piece).encoded()))
            after = (pieces[-1].number, pieces[-1].start + 1)

    def write_runs(self, runs: Iterator[EvaluationRun]) -> None:
        for run in runs:
            self.counts[RUNS] += 1
            self._write_part(RUNS, [line(encoded_run(run))])

    def _hold(self, kind: str, record: bytes, *, flush: bool = True) -> None:
        self._held[kind].append(record)
        self._held_bytes += len(record)
        self.counts[kind] += 1
        if flush:
            self._flush_if_full()

    def _flush_if_full(self) -> None:
        if self._held_bytes >= _PART_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what is held, each kind behind the one that it refers to."""
        for kind, records in self._held.items():
            if records:
                self._write_part(kind, records)
                records.clear()
        self._held_bytes = 0

    def _write_part(self, kind: str, records: Sequence[bytes]) -> None:
        self._parts[kind] += 1
        self._writer.add(f"{kind}/{self._parts[kind]:06d}.{_SUFFIXES.get(kind, 'jsonl')}", b"".join(records))

    def close(self) -> None:
        self._writer.close({"format": FORMAT, "version": VERSION, "counts": dict(sorted(self.counts.items()))})


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside its place, which takes it when it is complete."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with translated(path):
        try:
            with part.open("wb+") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


def _page(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()
