"""What is asked, and what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from wenyuan.types.reading import Anchor, Chunk


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
    documents in it, only those are searched that meet every one of the `conditions`. What is attached
    to a session is searched only if named in `attachments`.
    """

    principal: str
    knowledge_bases: tuple[str, ...] | None = None
    documents: tuple[str, ...] | None = None
    attachments: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


LOCAL_PRINCIPAL = "local"
"""The owner of everything in a library that one person uses without signing in."""


Side = Literal["query", "passage"]
"""Which side of a search a text is embedded for; asymmetric models treat the two differently."""


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
class Nearness:
    """How near a passage is to a question in meaning, as cosine similarities.

    `sentence` is that of its nearest sentence, None where its sentences were not embedded; where there is but one, or
    they could not be, it is the passage's own.
    """

    passage: float
    sentence: float | None = None

    def together(self, share: float) -> float:
        """As a whole and by its nearest sentence, which has this share."""
        return self.passage if self.sentence is None else (1.0 - share) * self.passage + share * self.sentence

    @property
    def nearest(self) -> float:
        """By whichever of the two is nearer."""
        return self.passage if self.sentence is None else max(self.passage, self.sentence)


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
    rerank_score: float | None = None
    """What a reranking model gave it, on that model's own scale."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """Whether the evidence that was found can answer the question.

    `value` is the estimated probability, 0 to 1; `missing` is what was asked for exactly and stands
    nowhere in it. `likely_from` is what the value must reach for this evidence.
    """

    value: float
    verdict: Literal["likely", "unlikely"]
    missing: tuple[str, ...] = ()
    likely_from: float = 1.0


RerankFinish = Literal[
    "applied",
    "fallback-disabled",
    "fallback-no-config",
    "fallback-missing-provider-or-model",
    "fallback-provider-call-failed",
]


@dataclass(frozen=True, slots=True)
class RerankRecord:
    """What became of reranking: applied, or a reason why not, with a detail such as `http-500` or `timeout`.

    `reranked` passages were scored, the best with `best_score` on the model's own scale.
    """

    applied: bool
    degraded: bool
    finish_reason: RerankFinish
    detail: str = ""
    model: str = ""
    """The name in the configuration."""
    endpoint: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    ms: float = 0.0
    reranked: int = 0
    best_score: float | None = None


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
    rerank: RerankRecord | None = None
    """What became of reranking; None where that was not come to."""


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


FinishReason = Literal["stop", "length", "stopped", "extractive", "fallback", "fixed-reply", "filtered", "interrupted"]
"""How an answer ended: as the model wrote it, as the documents say it, or without anything to rest on."""


Support = Literal["supported", "weak", "unsupported"]


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """Whether a sentence of an answer, by offsets in it, stands in the sources it names by `numbers`.

    One that names none is held against all of them. `missing` are the numbers, dates, codes and names in it that stand
    in none.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    support: Support
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `support` says of each sentence that a model wrote whether its sources hold it."""

    question: str
    text: str
    citations: tuple[Citation, ...]
    grounded: Literal["likely", "unlikely", "none"]
    finish_reason: FinishReason
    search: SearchResult
    model: str = ""
    """The language model that wrote it, as its provider names it; empty for words of the documents alone."""
    support: tuple[SentenceSupport, ...] = ()
    invented: tuple[str, ...] = ()
    """Citations that the model made up, which were removed."""
