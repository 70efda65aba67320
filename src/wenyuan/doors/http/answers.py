"""What answers hold, where that is not a value of the library itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wenyuan.runtime.access import AccessKey
from wenyuan.runtime.documents import DocumentView, StoredPassage
from wenyuan.runtime.evaluation import RunRecord
from wenyuan.runtime.granted import Reply
from wenyuan.runtime.granted_bulk import BulkOutcome
from wenyuan.runtime.granted_evaluation import Case, Deed, SetView
from wenyuan.runtime.knowledge_bases import KnowledgeBaseView
from wenyuan.runtime.model_registry import ModelView, PresetView, Role
from wenyuan.runtime.model_trials import ModelTest
from wenyuan.runtime.overview import FailedJob
from wenyuan.runtime.rebuilds import RebuildView
from wenyuan.runtime.sessions import Attachment, Session
from wenyuan.runtime.sources import SourceView
from wenyuan.types import Job


@dataclass(frozen=True, slots=True)
class SignedInAs:
    """Who a browser was signed in as. `knowledge_bases` are the ids of those granted, null for all there are."""

    name: str
    scopes: tuple[str, ...]
    knowledge_bases: tuple[str, ...] | None
    csrf: str


@dataclass(frozen=True, slots=True)
class Me:
    """Who asks. Whoever is not let in has no scopes, and `needs_key` is true.

    `csrf` goes with what a page changes, as X-CSRF-Token; it is null for whoever is not signed in by a cookie.
    """

    name: str
    scopes: tuple[str, ...]
    knowledge_bases: tuple[str, ...] | None
    needs_key: bool
    signed_in: bool
    csrf: str | None
    version: str
    languages: tuple[str, ...]


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
    """`working` tells whether a worker is doing something now, also of what the caller does not see."""

    jobs: list[Job]
    working: bool


@dataclass(frozen=True, slots=True)
class ChatAnswer(Reply):
    """What a conversation came to, where it was not streamed."""

    trace_id: str
    route: Literal["knowledge", "chat", "clarify"]
    explanation: str


@dataclass(frozen=True, slots=True)
class SessionList:
    sessions: list[Session]


@dataclass(frozen=True, slots=True)
class AttachmentList:
    attachments: list[Attachment]


@dataclass(frozen=True, slots=True)
class ModelList:
    """The models, and by role the name of the one that has it, empty for none."""

    models: list[ModelView]
    roles: dict[Role, str]


@dataclass(frozen=True, slots=True)
class PresetList:
    presets: list[PresetView]


@dataclass(frozen=True, slots=True)
class ModelTests:
    tests: list[ModelTest]


@dataclass(frozen=True, slots=True)
class Roles:
    roles: dict[Role, str]


@dataclass(frozen=True, slots=True)
class SetList:
    sets: list[SetView]


@dataclass(frozen=True, slots=True)
class CaseList:
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class DeedAnswer:
    """`deed` is null where none was begun."""

    deed: Deed | None


@dataclass(frozen=True, slots=True)
class BulkAnswer:
    """What became of each document, in the order in which they were named."""

    outcomes: list[BulkOutcome]


@dataclass(frozen=True, slots=True)
class VocabularyAnswer:
    """Terms that are one word, and groups of synonyms. `documents` will be read again for what changed."""

    terms: tuple[str, ...]
    synonyms: tuple[tuple[str, ...], ...]
    documents: int


@dataclass(frozen=True, slots=True)
class SourceList:
    sources: list[SourceView]


@dataclass(frozen=True, slots=True)
class FolderList:
    """Below which folders of the server's machine one may become a source; none where the settings name none."""

    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemovedSource:
    """How many documents were deleted with a source."""

    documents: int


@dataclass(frozen=True, slots=True)
class ProblemList:
    problems: list[FailedJob]


@dataclass(frozen=True, slots=True)
class KeyList:
    keys: list[AccessKey]


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
