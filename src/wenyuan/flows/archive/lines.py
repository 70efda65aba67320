"""What stands in an exported knowledge base, as docs/reference/archive.md describes it.

Nothing in it is an id of a database: documents are numbered, and a revision is known by the numbers
of its document and its own. Everything that can be made from something else is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from wenyuan.errors import InvalidValue, WenyuanError
from wenyuan.flows.archive.fields import Fields
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.language.wording import with_synonyms, with_terms
from wenyuan.parsers.wire import WireError, extent, placed
from wenyuan.rules.tables.pages import decoded, encoded
from wenyuan.types import (
    ANCHOR_KINDS,
    Anchor,
    Chunk,
    ChunkingConfig,
    DocumentPolicy,
    DuplicateRule,
    Given,
    ModelIdentity,
    Notice,
    Problem,
    ReadyWhen,
    TableRows,
)

FORMAT, VERSION = "wenyuan-knowledge-base", 3
READABLE_VERSIONS = (1, 2, 3)
"""The first had no tables and the second no sentences; this program reads them all."""
HEADER, BASE = "archive.json", "knowledge-base.json"
FILES, DOCUMENTS, TEXTS, CHUNKS, VECTORS, RUNS = "files", "documents", "texts", "chunks", "vectors", "runs"
TABLES, SENTENCES = "tables", "sentences"

_LONGEST_TEXT = 1 << 24
_STATES = ("pending", "ready", "failed", "cancelled")

Invalid = Callable[[str], WenyuanError]


@dataclass(frozen=True, slots=True)
class ArchivedVectors:
    """By which model the vectors were made."""

    fingerprint: str
    identity: ModelIdentity


@dataclass(frozen=True, slots=True)
class ArchivedBase:
    """A knowledge base's settings."""

    name: str
    description: str
    persona: str
    scenario: str
    tags: tuple[str, ...]
    chunking: ChunkingConfig
    policy: DocumentPolicy
    ready_when: ReadyWhen
    embedding_model: str
    vocabulary: Vocabulary
    vectors: ArchivedVectors | None

    def encoded(self) -> dict[str, Any]:
        made = {
            name: getattr(self, name)
            for name in ("name", "description", "persona", "scenario", "tags", "ready_when", "embedding_model")
        }
        vectors = self.vectors
        return {
            **made,
            "chunking": asdict(self.chunking),
            "policy": asdict(self.policy),
            "terms": self.vocabulary.terms,
            "synonyms": self.vocabulary.synonyms,
            "vectors": vectors and {"fingerprint": vectors.fingerprint, "identity": asdict(vectors.identity)},
        }

    @staticmethod
    def decoded(value: Any, invalid: Invalid) -> ArchivedBase:
        fields = Fields(value, BASE, invalid)
        vectors = fields.fields_or_none("vectors")
        return ArchivedBase(
            name=fields.text("name", 200),
            description=fields.text("description"),
            persona=fields.text("persona"),
            scenario=fields.text("scenario"),
            tags=fields.texts("tags"),
            chunking=_chunking(fields.fields("chunking")),
            policy=_policy(fields.fields("policy")),
            ready_when="semantic" if fields.one_of("ready_when", *get_args(ReadyWhen)) == "semantic" else "keyword",
            embedding_model=fields.text("embedding_model"),
            vocabulary=_vocabulary(fields, invalid),
            vectors=None if vectors is None else _vectors(vectors),
        )


@dataclass(frozen=True, slots=True)
class ArchivedRevision:
    """A revision; of those that were read, text and chunks follow. `has_file` is false where its bytes are lost."""

    number: int
    sha256: str
    has_file: bool
    size: int
    state: str
    media_type: str
    encoding: str
    title: str
    language: str
    metadata: Mapping[str, Any]
    notices: tuple[Notice, ...]
    chunking: ChunkingConfig
    given: Given
    read_by: str
    problem: Problem | None
    created_at: int
    published_at: int | None
    chunk_count: int
    text_length: int
    quality: Mapping[str, Any] = field(default_factory=dict)

    def encoded(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def decoded(fields: Fields) -> ArchivedRevision:
        given, problem = fields.fields("given"), fields.fields_or_none("problem")
        return ArchivedRevision(
            number=fields.number("number", 1, 1 << 31),
            sha256=_hexadecimal(fields, "sha256", 64),
            has_file=fields.flag("has_file"),
            size=fields.number("size"),
            state=fields.one_of("state", *_STATES),
            media_type=fields.text("media_type"),
            encoding=fields.text("encoding"),
            title=fields.text("title"),
            language=fields.text("language"),
            metadata=fields.object("metadata"),
            notices=tuple(
                Notice(one.text("code"), one.text("message")) for one in fields.list_of_fields("notices", 1000)
            ),
            chunking=_chunking(fields.fields("chunking")),
            given=Given(given.text("title"), given.object("metadata"), given.text("media_type")),
            read_by=fields.text("read_by"),
            problem=None if problem is None else _problem(problem),
            created_at=fields.number("created_at"),
            published_at=fields.number_or_none("published_at"),
            chunk_count=fields.number("chunk_count", 0, 1 << 31),
            text_length=fields.number("text_length"),
            quality=fields.object_or_none("quality") or {},
        )


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """A document with the revision it serves, which is the one that is `ready`, and its newest one if that is another.

    `disabled` are the SHA-256 of the words of passages that are switched off. `parent` is the number of the
    document whose file holds this one's; it comes before it.
    """

    number: int
    source: str
    name: str
    enabled: bool
    blocked_reason: str
    created_at: int
    updated_at: int
    disabled: tuple[str, ...]
    revisions: tuple[ArchivedRevision, ...]
    parent: int | None = None

    def encoded(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "revisions"}
        return {**plain, "revisions": [revision.encoded() for revision in self.revisions]}

    @staticmethod
    def decoded(value: Any, invalid: Invalid) -> ArchivedDocument:
        fields = Fields(value, "a document", invalid)
        revisions = tuple(ArchivedRevision.decoded(one) for one in fields.list_of_fields("revisions", 2))
        numbers = [revision.number for revision in revisions]
        if not revisions or numbers != sorted(set(numbers)) or sum(one.state == "ready" for one in revisions) > 1:
            raise fields.wrong("revisions")
        for digest in fields.texts("disabled", 1 << 20):
            if len(digest) != 64 or not _is_hexadecimal(digest):
                raise fields.wrong("disabled")
        return ArchivedDocument(
            number=fields.number("number", 1),
            source=fields.text("source"),
            name=fields.text("name"),
            enabled=fields.flag("enabled"),
            blocked_reason=fields.text("blocked_reason"),
            created_at=fields.number("created_at"),
            updated_at=fields.number("updated_at"),
            disabled=fields.texts("disabled", 1 << 20),
            revisions=revisions,
            parent=fields.number_or_none("parent"),
        )


@dataclass(frozen=True, slots=True)
class ArchivedText:
    """A piece of a revision's text."""

    document: int
    revision: int
    start: int
    text: str

    def encoded(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @staticmethod
    def decoded(value: Any, invalid: Invalid) -> ArchivedText:
        fields = Fields(value, "a piece of text", invalid)
        return ArchivedText(
            fields.number("document", 1),
            fields.number("revision", 1),
            fields.number("start"),
            fields.text("text", _LONGEST_TEXT),
        )


@dataclass(frozen=True, slots=True)
class ArchivedChunk:
    """A chunk of a revision, and whether it may be found."""

    document: int
    revision: int
    chunk: Chunk
    enabled: bool

    def encoded(self) -> dict[str, Any]:
        chunk = self.chunk
        return {
            "document": self.document,
            "revision": self.revision,
            "seq": chunk.seq,
            "start": chunk.start,
            "end": chunk.end,
            "text": chunk.text,
            "anchor": _encoded_anchor(chunk.anchor),
            "headings": chunk.heading_path,
            "context": chunk.context,
            "enabled": self.enabled,
        }

    @staticmethod
    def decoded(value: Any, invalid: Invalid) -> ArchivedChunk:
        fields = Fields(value, "a chunk", invalid)
        place = _anchor(fields.fields("anchor"), invalid)
        chunk = Chunk(
            fields.number("seq", 0, 1 << 31),
            fields.text("text", _LONGEST_TEXT),
            fields.number("start"),
            fields.number("end"),
            place,
            fields.texts("headings", 1000),
            fields.text("context", _LONGEST_TEXT),
        )
        return ArchivedChunk(fields.number("document", 1), fields.number("revision", 1), chunk, fields.flag("enabled"))


@dataclass(frozen=True, slots=True)
class ArchivedTable:
    """Some rows of a table of a revision."""

    document: int
    revision: int
    rows: TableRows

    def encoded(self) -> dict[str, Any]:
        number, start, described, rows, left_out = encoded(self.rows)
        return {
            "document": self.document,
            "revision": self.revision,
            "number": number,
            "start": start,
            "about": described,
            "rows": rows,
            "left_out": left_out,
        }

    @staticmethod
    def decoded(value: Any, invalid: Invalid) -> ArchivedTable:
        fields = Fields(value, "a table", invalid)
        try:
            rows = decoded([value.get(name) for name in ("number", "start", "about", "rows", "left_out")])
        except ValueError as error:
            raise fields.wrong(str(error)) from error
        return ArchivedTable(fields.number("document", 1), fields.number("revision", 1), rows)


def line(value: Any) -> bytes:
    """A value as a line of JSON Lines."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _encoded_anchor(anchor: Anchor) -> dict[str, Any]:
    known: dict[str, Any] = {"kind": anchor.kind, "first": anchor.first, "last": anchor.last, "name": anchor.name}
    numbers = extent(anchor)
    return {**known, "extent": numbers} if numbers else known


def _anchor(fields: Fields, invalid: Invalid) -> Anchor:
    kind: Any = fields.one_of("kind", *ANCHOR_KINDS)
    try:
        return placed(
            kind, fields.number("first"), fields.number("last"), fields.text("name"), fields.numbers("extent")
        )
    except WireError as error:
        raise invalid(str(error)) from error


def _chunking(fields: Fields) -> ChunkingConfig:
    return ChunkingConfig(fields.number("target_columns", 1, 1 << 20), fields.number("overlap_columns", 0, 1 << 20))


def _policy(fields: Fields) -> DocumentPolicy:
    rule: Any = fields.one_of("duplicates", *get_args(DuplicateRule))
    return DocumentPolicy(
        fields.texts("types"),
        fields.texts("forbidden_types"),
        fields.number_or_none("max_file_bytes"),
        fields.number_or_none("max_documents"),
        rule,
    )


def _vocabulary(fields: Fields, invalid: Invalid) -> Vocabulary:
    try:
        return with_synonyms(with_terms(EMPTY, fields.texts("terms")), fields.groups("synonyms"))
    except InvalidValue as error:
        raise invalid(error.message) from error


def _vectors(fields: Fields) -> ArchivedVectors:
    identity = fields.fields("identity")
    texts = ("provider", "model", "metric", "query_prefix", "passage_prefix", "means", "weights")
    made = ModelIdentity(
        dimensions=identity.number("dimensions", 1, 1 << 16), **{name: identity.text(name) for name in texts}
    )
    return ArchivedVectors(_hexadecimal(fields, "fingerprint", 64), made)


def _problem(fields: Fields) -> Problem:
    return Problem(
        fields.text("code"), fields.text("message"), fields.text("hint"), fields.text("stage"), fields.number("attempt")
    )


def _hexadecimal(fields: Fields, name: str, length: int) -> str:
    value = fields.text(name)
    if len(value) != length or not _is_hexadecimal(value):
        raise fields.wrong(name)
    return value


def _is_hexadecimal(text: str) -> bool:
    return all(character in "0123456789abcdef" for character in text)
