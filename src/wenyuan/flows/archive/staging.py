"""What stands in an exported knowledge base is staged, hidden, file by file of the archive, and checked on the way."""

from __future__ import annotations

import itertools
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from wenyuan.errors import ArchiveInvalid
from wenyuan.flows.archive.lines import (
    CHUNKS,
    DOCUMENTS,
    FILES,
    RUNS,
    SENTENCES,
    TABLES,
    TEXTS,
    VECTORS,
    ArchivedBase,
    ArchivedChunk,
    ArchivedDocument,
    ArchivedRevision,
    ArchivedTable,
    ArchivedText,
)
from wenyuan.flows.archive.runs import decoded_run
from wenyuan.flows.archive.vector_parts import read_sentences, read_vectors
from wenyuan.flows.embed import fingerprint
from wenyuan.flows.mend_files import NOTICE_OF_LOST_BYTES
from wenyuan.flows.priorities import PRIORITY_MOVE
from wenyuan.flows.reread import Rules
from wenyuan.flows.work import Work
from wenyuan.language.postings import read_chunk
from wenyuan.rules.embedding_input import embedding_input, input_hash
from wenyuan.rules.quality import is_doubtful
from wenyuan.store import (
    chunks,
    disabled_passages,
    importing,
    indexes,
    knowledge_bases,
    tables,
    vectors,
)
from wenyuan.store.archives import Member, parsed
from wenyuan.store.blobs import BlobDirectory, StagedBlob
from wenyuan.store.database import Database, Writing
from wenyuan.store.importing import NewDocument, NewRevision
from wenyuan.store.rows import to_json
from wenyuan.types import Document, Facts, IndexGeneration, KnowledgeBase, Notice

_LEASE_MS = 600_000
_LARGEST_PART = 96 << 20
_ROWS_AT_ONCE = 256
_PART = re.compile(
    r"(documents|texts|chunks|tables|runs)/\d{6}\.jsonl|(vectors)/\d{6}\.float16|(sentences)/\d{6}\.codes"
    r"|(files)/([0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class Importing:
    """What importing needs.

    `model_for` is told the name of an embedding model and the fingerprint of the vectors that there
    are, and says which model to use here and whether it is the same. `watch` is told how many bytes
    of the file are done, and of how many.
    """

    database: Database
    blobs: BlobDirectory
    owner: str
    worker: str
    file_bytes: int
    new_id: Callable[[str], str]
    model_for: Callable[[str, str | None], tuple[str, bool]]
    watch: Callable[[int, int], None]


@dataclass(slots=True)
class StagedRevision:
    """A revision that is being staged: what is promised of it, and how much of that is there."""

    id: str
    document: Document
    archived: ArchivedRevision
    text_length: int = 0
    pieces: int = 0
    chunks: int = 0
    alias_overflow: int = 0
    table_rows: dict[int, int] = field(default_factory=dict)
    """Of each table the rows that are there."""


class ArchiveStaging:
    """A knowledge base on its way in."""

    def __init__(
        self,
        tools: Importing,
        base: ArchivedBase,
        name: str,
        invalid: Callable[[str], ArchiveInvalid],
        runs: tempfile.SpooledTemporaryFile[bytes],
    ) -> None:
        self.tools = tools
        self.invalid = invalid
        self.archived = base
        self.runs = runs
        self.counts: Counter[str] = Counter()
        self.files: dict[str, StagedBlob] = {}
        self._kept: set[str] = set()
        self.revisions: dict[tuple[int, int], StagedRevision] = {}
        self.documents: dict[int, str] = {}
        self._hashes: set[bytes] = set()
        self._embedded: set[bytes] = set()
        self._hashes_are_old = False
        if base.vectors is not None and fingerprint(base.vectors.identity) != base.vectors.fingerprint:
            raise invalid("the fingerprint of its vectors is not that of their model")
        wanted = base.vectors.fingerprint if base.vectors is not None else None
        model, self._takes_vectors = tools.model_for(base.embedding_model, wanted)
        self.rules = Rules(base.vocabulary)
        if not name.strip() or name != name.strip() or not name.isprintable():
            raise invalid("its name is none that a knowledge base may have")
        self._begin(name, model)

    def _begin(self, name: str, model: str) -> None:
        tools, archived = self.tools, self.archived
        made = KnowledgeBase(
            id=tools.new_id("kb"),
            owner=tools.owner,
            name=name,
            description=archived.description,
            state="active",
            is_default=False,
            persona=archived.persona,
            scenario=archived.scenario,
            tags=archived.tags,
            chunking=archived.chunking,
            embedding_model=model,
            change_number=0,
            created_at=0,
            updated_at=0,
            policy=archived.policy,
            ready_when=archived.ready_when,
        )
        self.base = made
        self.vector: IndexGeneration | None = None
        self.model_key = 0
        with tools.database.write() as tx:
            lease = importing.begin(tx, made, tools.new_id("job"), PRIORITY_MOVE, tools.worker, _LEASE_MS)
            knowledge_bases.set_vocabulary(tx, made.id, archived.vocabulary)
            rules = self.rules
            self.lexical = indexes.ensure_active(
                tx, tools.new_id("gen"), made.id, "lexical", rules.fingerprint, rules.recipe
            )
            if self._takes_vectors and archived.vectors is not None:
                identity = archived.vectors.identity
                self.vector = indexes.ensure_active(
                    tx,
                    tools.new_id("gen"),
                    made.id,
                    "vector",
                    archived.vectors.fingerprint,
                    {"model": model, "identity": identity},
                    identity.dimensions,
                )
                self.model_key = vectors.model_key(tx, archived.vectors.fingerprint, identity, to_json(identity))
        self.work = Work(lease, _LEASE_MS, threading.Event())

    def take(self, member: Member) -> None:
        """Stage one file of the archive."""
        match = _PART.fullmatch(member.name)
        if match is None:
            raise self.invalid(f"it holds {member.name}, which is no part of a knowledge base")
        kind = match[1] or match[2] or match[3] or match[4]
        if kind not in (VECTORS, SENTENCES) and self._hashes_are_old:
            self._hashes.clear()
            self._embedded.clear()
            self._hashes_are_old = False
        if kind == FILES:
            self._take_file(member, match[5])
            return
        content = member.read(_LARGEST_PART)
        if kind == VECTORS:
            self._take_vectors(member.name, content)
            self._hashes_are_old = True
            return
        if kind == SENTENCES:
            self._take_sentences(member.name, content)
            return
        lines = content.split(b"\n")
        if lines[-1]:
            raise self.invalid(f"{member.name} ends in the middle of a line")
        take = {
            DOCUMENTS: self._take_documents,
            TEXTS: self._take_texts,
            CHUNKS: self._take_chunks,
            TABLES: self._take_tables,
            RUNS: self._take_runs,
        }
        for start in range(0, len(lines) - 1, _ROWS_AT_ONCE):
            batch = lines[start : min(start + _ROWS_AT_ONCE, len(lines) - 1)]
            self.counts[kind] += len(batch)
            take[kind]([parsed(one, member.name, self.invalid) for one in batch])

    # --- Files and documents ---------------------------------------------------------------------

    def _take_file(self, member: Member, sha256: str) -> None:
        staged = self.tools.blobs.stage_pieces(member.pieces(), member.name, self.tools.file_bytes)
        self.files[sha256] = staged
        self.counts[FILES] += 1
        if staged.sha256 != sha256:
            raise self.invalid(f"{member.name} holds other bytes")

    def _take_documents(self, values: Sequence[Any]) -> None:
        tools = self.tools
        archived = [ArchivedDocument.decoded(value, self.invalid) for value in values]
        wanted = dict.fromkeys(one.sha256 for document in archived for one in document.revisions if one.has_file)
        blobs = [self.files[sha256] for sha256 in wanted if sha256 in self.files]
        missing = next((sha256 for sha256 in wanted if sha256 not in self.files and sha256 not in self._kept), None)
        if missing is not None:
            raise self.invalid(f"the file {missing} is missing")
        tools.blobs.sync(blobs)
        with tools.database.write(durable=False) as tx:
            self.work.hold(tx)
            tools.blobs.keep(tx, blobs)
            for document in archived:
                self._add_document(tx, document)
        for blob in blobs:
            del self.files[blob.sha256]
            self._kept.add(blob.sha256)

    def _add_document(self, tx: Writing, archived: ArchivedDocument) -> None:
        tools, base = self.tools, self.base
        if archived.number in self.documents or importing.has_source(tx, base.owner, base.id, archived.source):
            raise self.invalid(f"it holds the document {archived.source[:200]} twice")
        parent_id = ""
        if archived.parent is not None:
            if archived.parent not in self.documents:
                raise self.invalid(f"the document {archived.source[:200]} comes before the one it lies in")
            parent_id = self.documents[archived.parent]
        document_id = tools.new_id("doc")
        self.documents[archived.number] = document_id
        made = NewDocument(
            document_id,
            base.id,
            base.owner,
            archived.source,
            archived.name,
            archived.enabled,
            archived.blocked_reason,
            archived.created_at,
            archived.updated_at,
            parent_id,
        )
        importing.add_documents(tx, [made])
        importing.disable_passages(tx, document_id, [bytes.fromhex(one) for one in archived.disabled])
        document = Document(
            document_id,
            base.id,
            base.owner,
            archived.source,
            archived.name,
            archived.enabled,
            None,
            archived.created_at,
            archived.updated_at,
            parent_id=parent_id,
        )
        for one in archived.revisions:
            staged = StagedRevision(tools.new_id("rev"), document, one)
            self.revisions[archived.number, one.number] = staged
            self._add_revision(tx, staged)

    def _add_revision(self, tx: Writing, staged: StagedRevision) -> None:
        one = staged.archived
        notices: tuple[Notice, ...] = one.notices
        if not one.has_file:
            importing.name_lost_bytes(tx, one.sha256, one.size)
            others = (notice for notice in notices if notice.code != NOTICE_OF_LOST_BYTES.code)
            notices = (*others, NOTICE_OF_LOST_BYTES)
        importing.add_revisions(
            tx,
            [
                NewRevision(
                    staged.id,
                    staged.document.id,
                    staged.document.owner,
                    one.number,
                    one.sha256,
                    one.size,
                    one.state,
                    facts_of(one),
                    notices,
                    one.chunking,
                    one.given,
                    one.read_by,
                    one.problem,
                    one.created_at,
                    one.published_at,
                    one.chunk_count,
                    one.text_length,
                    is_doubtful(one.quality, notices),
                )
            ],
        )
        if one.state == "ready":
            # Named from the start, so that a purge finds the postings.
            indexes.record_progress(tx, self.lexical.id, staged.id, "pending", 0, 0)

    def _find(self, document: int, revision: int) -> StagedRevision:
        found = self.revisions.get((document, revision))
        if found is None or found.archived.state != "ready":
            raise self.invalid(f"something belongs to revision {revision} of document {document}, which has no text")
        return found

    # --- Texts, chunks and vectors ---------------------------------------------------------------

    def _take_texts(self, values: Sequence[Any]) -> None:
        texts = [ArchivedText.decoded(value, self.invalid) for value in values]
        with self.tools.database.write(durable=False) as tx:
            self.work.hold(tx)
            for text in texts:
                staged = self._find(text.document, text.revision)
                if text.start != staged.text_length or not text.text:
                    raise self.invalid(f"the text of {staged.document.name[:200]} is not in order")
                chunks.stage_text(tx, staged.id, staged.pieces, text.start, text.text)
                staged.pieces += 1
                staged.text_length += len(text.text)

    def _take_chunks(self, values: Sequence[Any]) -> None:
        archived = [ArchivedChunk.decoded(value, self.invalid) for value in values]
        for place, group in groupby(archived, lambda one: (one.document, one.revision)):
            self._stage_chunks(self._find(*place), list(group))

    def _stage_chunks(self, staged: StagedRevision, archived: Sequence[ArchivedChunk]) -> None:
        document, database = staged.document, self.tools.database
        found = [one.chunk for one in archived]
        start, end = min(chunk.start for chunk in found), max(chunk.end for chunk in found)
        with database.read() as tx:
            text = chunks.revision_text(tx, staged.id, start, end)
        for position, chunk in enumerate(found):
            in_order = chunk.seq == staged.chunks + position
            is_as_long = chunk.end - chunk.start == len(chunk.text) > 0
            if not in_order or not is_as_long or text[chunk.start - start : chunk.end - start] != chunk.text:
                raise self.invalid(f"chunk {chunk.seq} of {document.name[:200]} does not stand in its text")
        read = [read_chunk(document.name, chunk, self.rules.vocabulary) for chunk in found]
        hashes = [input_hash(embedding_input(chunk.heading_path, chunk.context, chunk.text)) for chunk in found]
        with database.write(durable=False) as tx:
            self.work.hold(tx)
            keys = chunks.stage_chunks(tx, staged.id, list(zip(found, hashes, strict=True)))
            disabled_passages.stay_disabled(
                tx, document.id, [(key, chunk.text) for key, chunk in zip(keys, found, strict=True)]
            )
            of_chunks = ((one, key) for key, (_, ones) in zip(keys, read, strict=True) for one in ones)
            chunks.stage_keys(tx, document.knowledge_base_id, document.id, staged.id, of_chunks)
            postings = [(key, posting) for key, (posting, _) in zip(keys, read, strict=True)]
            tx.lexical.add(tx, self.lexical.number, postings)
        staged.chunks += len(found)
        staged.alias_overflow += sum(posting.alias_overflow for posting, _ in read)
        self._hashes.update(hashes)

    def _take_tables(self, values: Sequence[Any]) -> None:
        archived = [ArchivedTable.decoded(value, self.invalid) for value in values]
        with self.tools.database.write(durable=False) as tx:
            self.work.hold(tx)
            for one in archived:
                staged = self._find(one.document, one.revision)
                if staged.table_rows.get(one.rows.number, 0) != one.rows.start:
                    raise self.invalid(f"the rows of a table of {staged.document.name[:200]} are not in order")
                staged.table_rows[one.rows.number] = one.rows.start + len(one.rows.rows)
                tables.stage(tx, staged.document, staged.id, [one.rows])

    def _take_vectors(self, name: str, content: bytes) -> None:
        hashes, halves = read_vectors(content, self._dimensions(name), lambda why: self.invalid(f"{name} {why}"))
        self.counts[VECTORS] += len(hashes)
        if not self._hashes.issuperset(hashes):
            raise self.invalid(f"{name} holds a vector of no chunk before it")
        self._embedded.update(hashes)
        if self.vector is None:
            return
        for start in range(0, len(hashes), _ROWS_AT_ONCE):
            with self.tools.database.write(durable=False) as tx:
                self.work.hold(tx)
                batch = slice(start, start + _ROWS_AT_ONCE)
                vectors.save(tx, self.model_key, hashes[batch], halves[batch].astype(np.float32))

    def _take_sentences(self, name: str, content: bytes) -> None:
        found: dict[bytes, bytes] = {}
        for embedded, codes in read_sentences(
            content, self._dimensions(name), lambda why: self.invalid(f"{name} {why}")
        ):
            self.counts[SENTENCES] += 1
            if embedded not in self._embedded:
                raise self.invalid(f"{name} holds the sentences of no vector before it")
            found[embedded] = codes
        rows = iter(found.items() if self.vector is not None else ())
        while some := dict(itertools.islice(rows, _ROWS_AT_ONCE)):
            with self.tools.database.write(durable=False) as tx:
                self.work.hold(tx)
                vectors.save_sentences(tx, self.model_key, some)

    def _dimensions(self, name: str) -> int:
        if self.archived.vectors is None:
            raise self.invalid(f"{name} holds vectors of no model")
        return self.archived.vectors.identity.dimensions

    def _take_runs(self, values: Sequence[Any]) -> None:
        for value in values:
            decoded_run(value, "", self.invalid)
            self.runs.write(to_json(value).encode() + b"\n")


def facts_of(revision: ArchivedRevision) -> Facts:
    """What was found out about the file when it was read."""
    one = revision
    return Facts(one.media_type, one.encoding, one.title, one.language, one.metadata, one.quality)
