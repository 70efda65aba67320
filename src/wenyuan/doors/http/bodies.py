"""What requests hold. Unknown members are refused, so that a misspelt one is not passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from wenyuan.runtime.granted import Question
from wenyuan.types import ChunkingConfig, DocumentPolicy, DuplicateRule, ReadyWhen

Name = Annotated[str, Field(min_length=1, max_length=200, examples=["handbooks"])]
Words = Annotated[str, Field(max_length=4000)]
Many = Annotated[list[Annotated[str, Field(min_length=1, max_length=300)]], Field(max_length=1000)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Chunking(Body):
    """How text is cut, in display columns: a Han character counts two, a Latin letter one."""

    target_columns: int = Field(800, ge=50, le=8000)
    overlap_columns: int = Field(0, ge=0, le=4000)

    def config(self) -> ChunkingConfig:
        return ChunkingConfig(self.target_columns, self.overlap_columns)


class Policy(Body):
    """Which files a knowledge base takes, by suffix (`md`) or media type (`text/*`); null is no limit."""

    types: Many = []
    forbidden_types: Many = []
    max_file_bytes: int | None = Field(None, ge=1, le=1 << 50)
    max_documents: int | None = Field(None, ge=1, le=1 << 50)
    duplicates: DuplicateRule = "keep"

    def policy(self) -> DocumentPolicy:
        return DocumentPolicy(
            tuple(self.types),
            tuple(self.forbidden_types),
            self.max_file_bytes,
            self.max_documents,
            self.duplicates,
        )


class NewKnowledgeBase(Body):
    name: Name
    description: Words = ""
    embedding_model: str | None = Field(None, description="Empty for words alone; null for the default model.")
    chunking: Chunking | None = None
    tags: Many = []
    persona: Words = ""
    scenario: Words = ""
    policy: Policy | None = None


class ChangedKnowledgeBase(Body):
    """What is absent or null stays as it is."""

    description: Words | None = None
    tags: Many | None = None
    persona: Words | None = None
    scenario: Words | None = None
    policy: Policy | None = None
    ready_when: ReadyWhen | None = None


class NewRebuild(Body):
    """Without anything, indexes are compared with what is configured now."""

    embedding_model: str | None = None
    chunking: Chunking | None = None
    rereads: bool = Field(False, description="Read every document anew from its stored bytes.")


class NewText(Body):
    name: str = Field(min_length=1, max_length=1000, examples=["周会 2026-04-14.md"])
    text: str = Field(examples=["# 周会\n\n决定：屏幕改用 PPR-9087。"])
    title: str = Field("", max_length=1000)
    metadata: dict[str, Any] | None = None


class NewPage(Body):
    url: str = Field(min_length=1, max_length=4000, examples=["https://example.org/handbook"])


class Retry(Body):
    password: str = Field("", max_length=1000, description="Opens a file that is locked; kept apart, shown nowhere.")


class Move(Body):
    knowledge_base: Name


class Bulk(Body):
    """`to` is the knowledge base that documents are to move to."""

    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(min_length=1, max_length=500)]
    action: Literal["enable", "disable", "retry", "cancel", "delete", "move"]
    to: Name | None = None


class NewVocabulary(Body):
    """All the terms and groups of synonyms that there are to be."""

    terms: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=20_000)]
    synonyms: Annotated[
        list[Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=32)]], Field(max_length=5_000)
    ]


class Asked(Body):
    """A question, and where to look: everything that may be seen, if nothing is said."""

    question: str = Field(min_length=1, max_length=4000, examples=["四月十四号的会议定了什么？"])
    knowledge_bases: Many | None = Field(None, description="Names or ids.")
    documents: Many | None = Field(None, description="Ids of documents to look into alone.")
    filters: dict[str, Any] | None = Field(
        None,
        description="Fields of documents and what they must be: a value, a list, a range or a prefix.",
        examples=[{"author": ["Wang", "Li"], "year": {"from": 2020}}],
    )
    session: str | None = Field(None, max_length=100, description="Id of a session, whose attachments are read too.")

    def asked(self, top_k: int | None = None) -> Question:
        return Question(self.question, self.knowledge_bases, self.documents, self.filters, self.session, top_k)


class Search(Asked):
    top_k: int | None = Field(None, ge=1, le=200)
    lists: list[Literal["structured", "keyword", "vector"]] | None = Field(
        None, min_length=1, max_length=3, description="Which lists may look for candidates; else all."
    )


class Retrieve(Asked):
    top_k: int | None = Field(None, ge=1, le=200)


class Ask(Asked):
    model: str = Field("", max_length=200, description="Name of a configured model that is to write the answer.")

    def question_asked(self) -> Question:
        return replace(self.asked(), model=self.model)


class Chat(Ask):
    top_k: int | None = Field(None, ge=1, le=200)
    prefer: Literal["auto", "knowledge", "chat"] = "auto"
    stream: bool = True
    replaces: int | None = Field(
        None, ge=1, description="Number of the question of the session that this one takes the place of."
    )

    def question_asked(self) -> Question:
        return replace(self.asked(self.top_k), model=self.model, replaces=self.replaces)


class NewSession(Body):
    title: str = Field("", max_length=200)
    knowledge_bases: Many | None = None


class ChangedSession(Body):
    """What is absent stays as it is, and so does a title that is null."""

    title: str | None = Field(None, max_length=200)
    knowledge_bases: Many | None = Field(None, description="Names or ids; null for all that are granted.")

    @property
    def names_bases(self) -> bool:
        return "knowledge_bases" in self.model_fields_set


class Judged(Body):
    """What a person thinks of an answer, and why; `none` takes it back."""

    value: Literal["up", "down", "none"]
    note: str = Field("", max_length=2000)


class TurnCase(Body):
    """A set of the library by its name, and what should be found: the documents that the answer cites, if empty."""

    set: Annotated[str, Field(min_length=1, max_length=100, examples=["regressions"])]
    expect: Many = []


class Attached(Body):
    name: str = Field(min_length=1, max_length=1000)
    text: str


class NewRun(Body):
    """Which set to run, in which knowledge bases instead of those its cases name, and how many cases of it."""

    set: Annotated[str, Field(min_length=1, max_length=100, examples=["regressions"])]
    knowledge_bases: Many = []
    sample: int | None = Field(None, ge=1, le=100_000)
    cutoff: int = Field(10, ge=1, le=100, description="How far down a ranking counts.")


class NewCase(Body):
    """A question, or the trace of one, and what should be found: documents, citations, or `nothing` alone."""

    question: str | None = Field(None, min_length=1, max_length=4000)
    trace: str | None = Field(None, min_length=1, max_length=100)
    expect: Many
    tags: Many = []
    knowledge_bases: Many = []


class NewPageSource(Body):
    knowledge_base: Name
    url: str = Field(min_length=1, max_length=4000, examples=["https://example.org/handbook"])
    every_seconds: float | None = Field(None, ge=60, le=31_536_000, description="How often it is looked at again.")


class NewFolderSource(Body):
    knowledge_base: Name
    path: str = Field(min_length=1, max_length=4000, description="An absolute path on the server's machine.")
    exclude: Many = []
    watch: bool = Field(False, description="Whether changes are taken in as they happen.")


class NewBackup(Body):
    name: str = Field("latest", min_length=1, max_length=100, description="Made again, only what is new is copied.")


class NewKey(Body):
    name: Name
    scopes: Annotated[list[Literal["read", "write", "admin"]], Field(min_length=1, max_length=3)] = ["read"]
    knowledge_bases: Many | None = Field(None, description="Names or ids; null for all there are and will be.")
    days: float | None = Field(None, gt=0, le=36_500, description="After how many days it expires.")


class NewExamples(Body):
    name: Name | None = None


class SignIn(Body):
    key: Annotated[str, Field(min_length=1, max_length=200)]
