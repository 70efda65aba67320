"""The nouns: frozen, complete values that every floor shares.

Nothing here reads a file, a clock or a database. Times are integer milliseconds since the Unix
epoch (UTC), days are proleptic Gregorian ordinals (`datetime.date.toordinal`), and every text
offset counts Unicode code points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

JsonObject = Mapping[str, Any]

Side = Literal["query", "passage"]
"""Which side of a search a text is embedded for; asymmetric models treat the two differently."""


# --- Who asks, and for what ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """What a field of a document must be, for a search to look into it: any one of these.

    `field` is a metadata field, or one of `tag`, `path`, `name`, `media_type`, `language` and
    `date`. `texts` are values and `prefixes` what a value begins with, however they are written;
    `numbers` are closed ranges, None being an open end; a value that is a date meets those `days`,
    closed ranges of day ordinals, that it overlaps.
    """

    field: str
    texts: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    numbers: tuple[tuple[float | None, float | None], ...] = ()
    days: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a caller may see; a required argument of every search.

    `None` means everything the principal is permitted; an empty tuple means nothing at all. Of the
    documents in it, only those are searched that meet every one of the `conditions`.
    """

    principal: str
    knowledge_bases: tuple[str, ...] | None = None
    documents: tuple[str, ...] | None = None
    attachments: tuple[str, ...] | None = None
    conditions: tuple[Condition, ...] = ()


LOCAL_PRINCIPAL = "local"
"""The owner of everything in a library that one person uses without signing in."""


# --- Knowledge bases -----------------------------------------------------------------------------

KnowledgeBaseState = Literal["active", "archived"]


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How text is cut. Sizes are display columns: a Han character counts two, a Latin letter one,

    so that one number gives passages of similar content in both languages.
    """

    target_columns: int = 800
    overlap_columns: int = 0


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


# --- Documents -----------------------------------------------------------------------------------

RevisionState = Literal["pending", "processing", "ready", "failed", "cancelled"]
SemanticState = Literal["none", "pending", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something failed, in the words a person is shown."""

    code: str
    message: str
    hint: str
    stage: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know about a document that was nevertheless read."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """The way back to the place: where a passage stands in its source file.

    `first` and `last` are 1-based and inclusive and count what `kind` names; `name` holds a
    sheet, chapter or message part where the format has one.
    """

    kind: Literal["lines", "page", "slide", "cells", "paragraph", "chapter"]
    first: int
    last: int
    name: str = ""


BlockKind = Literal["heading", "paragraph", "list", "table", "code", "caption", "page-break"]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document as its reader understood it.

    A revision's complete text is `joiner + text` of every block in order (the first block's
    joiner dropped). Where the anchor counts lines and the block has exactly that many of them,
    the block's lines are the file's lines, one to one.
    """

    kind: BlockKind
    text: str
    anchor: Anchor
    heading_path: tuple[str, ...] = ()
    context: str = ""
    """What a passage needs to be understood alone, e.g. a table's header row; embedded and
    searched with it, shown apart, never part of its text."""
    joiner: str = "\n\n"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reader found out about a whole file."""

    media_type: str
    encoding: str = ""
    title: str = ""
    language: str = ""
    metadata: JsonObject = field(default_factory=dict)


ReadEvent = Block | Facts | Notice
"""What a parser yields, in any order; of several Facts the last one stands."""


@dataclass(frozen=True, slots=True)
class Given:
    """What whoever added a file says of it; it goes before what a reader finds.

    A `media_type` is the file's for certain: nothing is guessed from its content.
    """

    title: str = ""
    metadata: JsonObject = field(default_factory=dict)
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is searched, cited and embedded as one.

    `text == revision_text[start:end]`, exactly.
    """

    seq: int
    text: str
    start: int
    end: int
    anchor: Anchor
    heading_path: tuple[str, ...] = ()
    context: str = ""


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


# --- What makes text findable --------------------------------------------------------------------


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


# --- Index generations ---------------------------------------------------------------------------

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


# --- Jobs ----------------------------------------------------------------------------------------

JobKind = Literal["ingest", "embed", "reread", "purge"]
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


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job: every write made under it checks the fencing token."""

    job: Job
    worker: str
    fence: int


# --- Searching -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date as it was read: a closed interval of days, and the words it was read from."""

    first_day: int
    last_day: int
    text: str
    start: int
    end: int
    reading: str
    """How it was read, e.g. `iso`, `chinese-numerals`, `month-name`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A question as it was read, before anything is looked up."""

    question: str
    asked: str
    """The question without the terms it excludes."""
    tokens: tuple[str, ...]
    """Lexical tokens, folded; words and bigrams."""
    aliases: tuple[str, ...]
    """Canonical tokens for the dates, versions, codes and identifiers in the question."""
    dates: tuple[DateSpan, ...] = ()
    versions: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    language: str = ""
    names: tuple[str, ...] = ()
    """Names of files and titles in the question, in the form of the keys of kind "name"."""
    as_of: int | None = None
    """The day at which what is asked for was valid (政策 2024 年 6 月有效的版本), as an ordinal."""


ArmName = Literal["structured", "keyword", "keyword_rewrite", "vector"]


@dataclass(frozen=True, slots=True)
class TextSpan:
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A live chunk with its words and its document, read from the store."""

    chunk_key: int
    chunk_id: str
    document_id: str
    revision_id: str
    knowledge_base_id: str
    document_name: str
    source: str
    media_type: str
    chunk_count: int
    """How many chunks the passage's revision has."""
    chunk: Chunk


Exactness = Literal["about", "mentions", "none"]
"""How a passage stands to a date, version, code or name that was asked for exactly."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a search, with everything needed to check it."""

    passage: Passage
    score: float
    score_kind: str
    ranks: Mapping[ArmName, int]
    hit_modes: tuple[ArmName, ...]
    match_type: str
    highlights: tuple[TextSpan, ...]
    neighbours: tuple[int, ...]
    """Sequence numbers of the chunks before and after, where they exist."""
    exactness: Exactness = "none"
    similarity: float | None = None
    """Cosine similarity to the question, where there is a model."""
    coverage: float = 0.0
    """The share of the question that the passage holds, its tokens weighted by how rare they are."""
    matched: tuple[str, ...] = ()
    """The tokens of the question that the passage holds."""
    surroundings: tuple[Chunk, ...] = ()
    """The chunks around it that were asked for, in order."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """Whether the evidence that was found can answer the question.

    `value` is the estimated probability, 0 to 1; `missing` is what was asked for exactly and stands
    nowhere in it.
    """

    value: float
    verdict: Literal["likely", "unlikely"]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    question: str
    hits: tuple[Hit, ...]
    trace_id: str
    degraded: tuple[str, ...]
    why_empty: str | None
    explanation: str
    """One sentence for a person: what was found, or why nothing was and what to do next."""
    plan: Plan
    grounding: Grounding


@dataclass(frozen=True, slots=True)
class Citation:
    """The way from a sentence of an answer back to the words it rests on."""

    number: int
    chunk_id: str
    document_id: str
    revision_id: str
    document_name: str
    source: str
    anchor: Anchor
    heading_path: tuple[str, ...]
    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Answer:
    question: str
    text: str
    citations: tuple[Citation, ...]
    grounded: Literal["likely", "unlikely", "none"]
    finish_reason: Literal["extractive", "fallback"]
    search: SearchResult
