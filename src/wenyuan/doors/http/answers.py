"""What answers hold, where that is not a value of the library itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wenyuan.runtime.documents import DocumentView, StoredPassage
from wenyuan.runtime.evaluation import RunRecord
from wenyuan.runtime.granted import Evidence, ModelView
from wenyuan.runtime.knowledge_bases import KnowledgeBaseView
from wenyuan.runtime.rebuilds import RebuildView
from wenyuan.runtime.sessions import Attachment, Session
from wenyuan.types import Citation, Job


@dataclass(frozen=True, slots=True)
class KnowledgeBaseList:
    knowledge_bases: list[KnowledgeBaseView]


@dataclass(frozen=True, slots=True)
class RebuildAnswer:
    """`rebuild` is null where there is none, or where nothing had to be built."""

    rebuild: RebuildView | None


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of documents; `next_cursor` is given again to get the next, and null at the end."""

    documents: list[DocumentView]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PassagePage:
    passages: list[StoredPassage]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PageAccepted:
    """The page will be fetched; `source` is the source that keeps it."""

    source: str


@dataclass(frozen=True, slots=True)
class PassagesSwitched:
    """How many passages with the same words there are in the document."""

    passages: int


@dataclass(frozen=True, slots=True)
class JobList:
    jobs: list[Job]


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a conversation came to, where it was not streamed."""

    trace_id: str
    route: Literal["knowledge", "chat", "clarify"]
    text: str
    citations: tuple[Citation, ...]
    grounded: Literal["likely", "unlikely", "none"]
    finish_reason: str
    degraded: tuple[str, ...]
    unread: tuple[str, ...]
    latency_ms: float
    sources: tuple[Evidence, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class SessionList:
    sessions: list[Session]


@dataclass(frozen=True, slots=True)
class AttachmentList:
    attachments: list[Attachment]


@dataclass(frozen=True, slots=True)
class ModelList:
    models: list[ModelView]


@dataclass(frozen=True, slots=True)
class RunList:
    runs: list[RunRecord]


@dataclass(frozen=True, slots=True)
class Health:
    status: Literal["ok"]


@dataclass(frozen=True, slots=True)
class ProblemBody:
    """An error (RFC 9457). Its `code` never changes, its words may; `hint` says what to do."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str
