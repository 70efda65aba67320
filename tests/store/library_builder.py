"""Brings a library into a certain state through the store's own functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

from wenyuan.language import RULE_SET_VERSION
from wenyuan.language.keys import document_keys
from wenyuan.rules.embedding_input import embedding_input, input_hash
from wenyuan.store import chunks, documents, fields, indexes, knowledge_bases, migrate, queue, vectors
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.postgresql.database import PostgresDatabase
from wenyuan.store.postgresql.opening import open_postgres
from wenyuan.store.rows import to_json
from wenyuan.store.sqlite import SqliteDatabase
from wenyuan.types import (
    LOCAL_PRINCIPAL,
    Anchor,
    Chunk,
    ChunkingConfig,
    Document,
    Facts,
    IndexGeneration,
    JobKind,
    JsonObject,
    Key,
    KnowledgeBase,
    ModelIdentity,
    Notice,
    Posting,
    Scope,
)

EVERYTHING = Scope(LOCAL_PRINCIPAL)
DIMENSIONS = 16
IDENTITY = ModelIdentity("test", "model", DIMENSIONS)
FINGERPRINT = "fingerprint of the test model"
ONE_LIBRARY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
"""For property tests whose examples may all happen in the same library."""

_JOINER = "\n\n"
_PIECE_CHARACTERS = 50


@dataclass(frozen=True)
class Draft:
    """A passage to be stored; its words are its tokens."""

    text: str
    heading_path: tuple[str, ...] = ()
    context: str = ""
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True)
class Added:
    """A document with the revision that was just added, and its chunk keys once it is staged."""

    document: Document
    revision_id: str
    chunk_keys: tuple[int, ...] = ()


@dataclass
class LibraryBuilder:
    folder: Path
    database: LibraryDatabase
    blobs: BlobDirectory
    _serial: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def sqlite(self) -> SqliteDatabase:
        """The database, in tests that are about SQLite alone."""
        assert isinstance(self.database, SqliteDatabase)
        return self.database

    def opened_again(self) -> LibraryDatabase:
        """The same database as another process sees it; to be closed."""
        if isinstance(self.database, SqliteDatabase):
            return SqliteDatabase(self.database._path)
        assert isinstance(self.database, PostgresDatabase)
        return PostgresDatabase(self.database.address.url)

    def new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._serial):06d}"

    def knowledge_base(
        self,
        name: str = "papers",
        *,
        owner: str = LOCAL_PRINCIPAL,
        embedding_model: str = "",
        is_default: bool = False,
        dimensions: int = DIMENSIONS,
    ) -> KnowledgeBase:
        """A new knowledge base with its lexical index, and a vector index if it names a model."""
        made = KnowledgeBase(
            id=self.new_id("kb"),
            owner=owner,
            name=name,
            description="",
            state="active",
            is_default=is_default,
            persona="",
            scenario="",
            tags=(),
            chunking=ChunkingConfig(),
            embedding_model=embedding_model,
            change_number=0,
            created_at=0,
            updated_at=0,
        )
        with self.database.write() as tx:
            knowledge_bases.add(tx, made)
            indexes.ensure_active(tx, self.new_id("gen"), made.id, "lexical", RULE_SET_VERSION, {})
            if embedding_model:
                recipe = {"model": embedding_model, "identity": asdict(IDENTITY)}
                indexes.ensure_active(tx, self.new_id("gen"), made.id, "vector", FINGERPRINT, recipe, dimensions)
            return knowledge_bases.by_id(tx, made.id)

    def lexical(self, knowledge_base_id: str) -> IndexGeneration:
        return self._generation(knowledge_base_id, "lexical")

    def vector(self, knowledge_base_id: str) -> IndexGeneration:
        return self._generation(knowledge_base_id, "vector")

    def model_key(self) -> int:
        with self.database.write() as tx:
            return vectors.model_key(tx, FINGERPRINT, IDENTITY, to_json(IDENTITY))

    def add(self, knowledge_base: KnowledgeBase, source: str, content: bytes | None = None) -> Added:
        """A new document with a pending revision and its bytes, but no job."""
        document = Document(
            self.new_id("doc"), knowledge_base.id, knowledge_base.owner, source, Path(source).name, True, None, 0, 0
        )
        with self.database.write() as tx:
            documents.add_document(tx, document)
        return self.revise(document, source.encode() if content is None else content)

    def revise(self, document: Document, content: bytes) -> Added:
        """The next revision of a document, pending."""
        revision_id = self.new_id("rev")
        blob = self.blobs.stage_bytes(content, document.name, 1 << 20)
        self.blobs.sync([blob])
        with self.database.write() as tx:
            self.blobs.keep(tx, [blob])
            documents.add_revision(tx, revision_id, document, blob.sha256, blob.size, ChunkingConfig())
        return Added(document, revision_id)

    def enqueue(
        self, kind: JobKind, revision_id: str, knowledge_base_id: str, priority: int = 10, weight: int = queue.ALONE
    ) -> str:
        job_id = self.new_id("job")
        with self.database.write() as tx:
            queue.enqueue(
                tx, job_id, kind, "revision", revision_id, knowledge_base_id, LOCAL_PRINCIPAL, priority, weight
            )
        return job_id

    def stage(self, added: Added, *drafts: Draft | str, whole: Sequence[Key] = ()) -> Added:
        """Store text, chunks, postings and keys of a revision that nothing searches yet."""
        passages = [draft if isinstance(draft, Draft) else Draft(draft) for draft in drafts]
        made = list(_chunks(passages))
        text = _JOINER.join(draft.text for draft in passages)
        document, revision_id = added.document, added.revision_id
        generation = self.lexical(document.knowledge_base_id)
        with self.database.write() as tx:
            documents.set_state(tx, revision_id, "processing", "reading")
            indexes.record_progress(tx, generation.id, revision_id, "pending", 0, 0)
            for seq, start in enumerate(range(0, len(text), _PIECE_CHARACTERS)):
                chunks.stage_text(tx, revision_id, seq, start, text[start : start + _PIECE_CHARACTERS])
            keys = chunks.stage_chunks(tx, revision_id, [(chunk, _hash(chunk)) for chunk in made])
            tx.lexical.add(tx, generation.number, zip(keys, map(_posting, made), strict=True))
            held = [(key, keys[seq]) for seq, draft in enumerate(passages) for key in draft.keys]
            chunks.stage_keys(
                tx, document.knowledge_base_id, document.id, revision_id, [*held, *((key, None) for key in whole)]
            )
        return Added(document, revision_id, tuple(keys))

    def publish(self, staged: Added, metadata: JsonObject | None = None) -> list[str]:
        """Make a staged revision the one its document serves; the revisions it supersedes."""
        count = len(staged.chunk_keys)
        document, facts = staged.document, Facts("text/plain", "utf-8", metadata=metadata or {})
        with self.database.write() as tx:
            length = chunks.staged(tx, staged.revision_id).text_length
            generation = self.lexical(staged.document.knowledge_base_id)
            indexes.record_progress(
                tx, generation.id, staged.revision_id, "ready", count, count, rules=RULE_SET_VERSION
            )
            notices = (Notice("test", "made by a test"),)
            fields.stage(tx, document, staged.revision_id, facts, document_keys(document.name, "", facts.metadata))
            return documents.publish(tx, staged.revision_id, facts, notices, count, length)

    def published(
        self,
        knowledge_base: KnowledgeBase,
        source: str,
        *drafts: Draft | str,
        whole: Sequence[Key] = (),
        metadata: JsonObject | None = None,
    ) -> Added:
        """A document that is searchable."""
        staged = self.stage(self.add(knowledge_base, source), *drafts, whole=whole)
        self.publish(staged, metadata)
        return staged

    def embed(self, staged: Added, rows: NDArray[np.float32]) -> None:
        """Give a staged revision its vectors and show them to the vector list."""
        model = self.model_key()
        generation = self.vector(staged.document.knowledge_base_id)
        total = len(staged.chunk_keys)
        with self.database.write() as tx:
            hashes = [
                item.input_hash
                for _, item in vectors.missing(tx, model, staged.revision_id, -1, total, sentences=False)
            ]
            vectors.save(tx, model, hashes, rows[: len(hashes)])
            vectors.pack(tx, generation.id, model, staged.revision_id, generation.dimensions)
            indexes.record_progress(tx, generation.id, staged.revision_id, "ready", total, total)
            indexes.announce(tx, generation, staged.document.id)

    def _generation(self, knowledge_base_id: str, kind: str) -> IndexGeneration:
        with self.database.read() as tx:
            found = indexes.active(tx, knowledge_base_id, "vector" if kind == "vector" else "lexical")
        assert found is not None
        return found


def build_library(folder: Path, lock_seconds: float = 10.0, url: str = "") -> LibraryBuilder:
    """An empty library in a folder, or in the PostgreSQL database at an address."""
    database: LibraryDatabase
    if url:
        database = open_postgres(url, lock_seconds, create=True)
    else:
        database = migrate.open_database(folder, lock_seconds)
    blobs = BlobDirectory(folder / "blobs")
    blobs.create()
    return LibraryBuilder(folder, database, blobs)


def unit_rows(generator: np.random.Generator, count: int, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """Random rows of length one."""
    rows = generator.standard_normal((count, dimensions)).astype(np.float32)
    units: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Do something in several threads at once; the first failure is raised here."""
    with ThreadPoolExecutor(count) as threads:
        for outcome in [threads.submit(work, number) for number in range(count)]:
            outcome.result()


def _chunks(drafts: Sequence[Draft]) -> Iterator[Chunk]:
    start = 0
    for seq, draft in enumerate(drafts):
        end = start + len(draft.text)
        anchor = Anchor("paragraph", seq + 1, seq + 1)
        yield Chunk(seq, draft.text, start, end, anchor, draft.heading_path, draft.context)
        start = end + len(_JOINER)


def _hash(chunk: Chunk) -> bytes:
    return input_hash(embedding_input(chunk.heading_path, chunk.context, chunk.text))


def _posting(chunk: Chunk) -> Posting:
    return Posting("", " ".join(chunk.heading_path), chunk.text, "")
