"""What is kept: knowledge bases, documents, what makes them findable, and the work on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from wenyuan.types.reading import Given, JsonObject, Notice, Problem

KnowledgeBaseState = Literal["active", "archived"]
ReadyWhen = Literal["keyword", "semantic"]
"""When the first revision of a document is to be found: by its words at once, or with its vectors."""


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How text is cut. Sizes are display columns: a Han character counts two, a Latin letter one,

    so that one number gives passages of similar content in both languages.
    """

    target_columns: int = 800
    overlap_columns: int = 0


DuplicateRule = Literal["keep", "skip", "replace"]


@dataclass(frozen=True, slots=True)
class DocumentPolicy:
    """Which files a knowledge base takes, and what it does with bytes it has already under another path.

    An entry of `types` and `forbidden_types` is a suffix such as `md`, or a media type such as
    `text/html` or `text/*`; without `types` every type is taken that is not forbidden. None is no
    limit. `keep` makes a second document, `skip` none, `replace` gives the older one the newer path.
    """

    types: tuple[str, ...] = ()
    forbidden_types: tuple[str, ...] = ()
    max_file_bytes: int | None = None
    max_documents: int | None = None
    duplicates: DuplicateRule = "keep"


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    id: str
    owner: str
    name: str
    description: str
    state: KnowledgeBaseState
    is_default: bool
    persona: str
    scenario: str
    tags: tuple[str, ...]
    chunking: ChunkingConfig
    embedding_model: str
    """Name of the configured embedding model; empty for keyword search alone."""
    change_number: int
    """Grows by one with every change that a search could notice; caches compare it."""
    created_at: int
    updated_at: int
    session_id: str = ""  # Of the session whose attachments it holds.
    policy: DocumentPolicy = DocumentPolicy()
    ready_when: ReadyWhen = "keyword"


RevisionState = Literal["pending", "processing", "ready", "failed", "cancelled"]
SemanticState = Literal["none", "pending", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    knowledge_base_id: str
    owner: str
    source: str
    """Identity within its knowledge base: an absolute path or a URI."""
    name: str
    enabled: bool
    serving_revision_id: str | None
    created_at: int
    updated_at: int
    source_id: str = ""
    """The folder or page that is kept in step and brought it; empty for what a person added."""
    blocked_reason: str = ""
    """Why it may not be found now, such as `policy: type`; empty where it may."""
    parent_id: str = ""
    """The document of the file that its own file lies in; empty where it lies in none."""


@dataclass(frozen=True, slots=True)
class Revision:
    id: str
    document_id: str
    number: int
    blob_sha256: str
    size: int
    state: RevisionState
    stage: str
    media_type: str
    encoding: str
    title: str
    language: str
    metadata: JsonObject
    notices: tuple[Notice, ...]
    chunk_count: int
    text_length: int
    problem: Problem | None
    created_at: int
    published_at: int | None
    staged_by: str = ""
    """The program whose reading of the file is stored; a newer one reads it anew."""
    given: Given = field(default_factory=Given)
    quality: JsonObject = field(default_factory=dict)
    """What is known of how its file was read, as `rules/quality.py` names it."""
    is_doubtful: bool = False
    """Whether a person should look at how it was read."""
    member_count: int = -1
    """How many files its file holds that are documents of their own; -1 where its reader was not asked."""


@dataclass(frozen=True, slots=True)
class Posting:
    """One chunk's tokens for the lexical index, space-separated, one string per field.

    `alias_overflow` counts the aliases beyond the cap.
    """

    name: str
    heading: str
    body: str
    alias: str
    alias_overflow: int = 0


KeyKind = Literal["date", "version", "code", "name"]
KeySource = Literal["metadata", "filename", "title", "heading", "body"]


@dataclass(frozen=True, slots=True)
class Key:
    """Something that can be looked up rather than guessed: a date, a version, a code, a name.

    `first_day` and `last_day` bound a date as a closed interval of day ordinals and are zero for
    the other kinds. `seq` names the chunk that holds it, or is None for the whole document.
    """

    kind: KeyKind
    value: str
    source: KeySource
    seq: int | None = None
    first_day: int = 0
    last_day: int = 0


IndexKind = Literal["lexical", "vector"]
GenerationState = Literal["building", "active", "retired"]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Everything that decides which vector a text gets; two models are the same if these are.

    `means` is a digest of the vectors that are subtracted to centre each language and side.
    """

    provider: str
    model: str
    dimensions: int
    metric: str = "cosine"
    query_prefix: str = ""
    passage_prefix: str = ""
    means: str = ""
    weights: str = ""


@dataclass(frozen=True, slots=True)
class IndexGeneration:
    """One index of one kind over one knowledge base, made under one recipe."""

    id: str
    number: int
    knowledge_base_id: str
    kind: IndexKind
    state: GenerationState
    fingerprint: str
    """Digest of the recipe: the model's identity, or the language rule-set version."""
    recipe: JsonObject
    dimensions: int
    created_at: int


JobKind = Literal["ingest", "embed", "publish", "reread", "rebuild", "fetch", "purge", "import", "unpack"]
JobState = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    kind: JobKind
    subject_kind: str
    subject_id: str
    knowledge_base_id: str
    owner: str
    state: JobState
    priority: int
    attempts: int
    fence: int
    worker: str
    run_after: int
    lease_until: int
    cancel_requested: bool
    stage: str
    done: int
    total: int
    problem: Problem | None
    created_at: int
    started_at: int | None
    finished_at: int | None
    gate: str = ""
    """The model without which it cannot be done; empty for none."""
    change_number: int = 0
    """Grows with every change to any job, so that one can ask for what changed since."""
    changed_at: int = 0
    stage_since: int = 0
    stage_from: int = 0
    """How much was `done` when its stage began, at `stage_since`."""
    progressed_at: int = 0
    """When it last got further than ever."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job: every write made under it checks the fencing token."""

    job: Job
    worker: str
    fence: int
    continuity: int = 0
    """The database's when it was given: see `Writing.continuity` in `wenyuan.store.database`."""
