"""A library as one caller may use it: everything that is asked from elsewhere is asked through this.

Each method checks first what the caller is granted, so that a door has no way around it. Documents,
jobs, sessions and traces are named by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wenyuan.errors import JobNotFound, TraceNotFound
from wenyuan.flows.conversation.reply import Reply as Reply
from wenyuan.flows.conversation.steps import Prefer
from wenyuan.flows.conversation.steps import Step as Step
from wenyuan.flows.conversation.steps import StepName as StepName
from wenyuan.flows.converse import last as last
from wenyuan.flows.evidence import Evidence as Evidence
from wenyuan.flows.evidence import evidence_of
from wenyuan.flows.receive import Received as Received
from wenyuan.runtime.access import AccessScope, Caller
from wenyuan.runtime.document_contents import DocumentText, OriginalFile
from wenyuan.runtime.documents import DocumentView, Place, StoredPassage
from wenyuan.runtime.granted_bulk import GrantedBulk
from wenyuan.runtime.granted_conversations import GrantedConversations
from wenyuan.runtime.granted_embeddings import GrantedEmbeddings
from wenyuan.runtime.granted_evaluation import GrantedEvaluation
from wenyuan.runtime.granted_models import GrantedModels
from wenyuan.runtime.granted_reading import GrantedReading
from wenyuan.runtime.granted_sources import GrantedSources
from wenyuan.runtime.granted_traces import GrantedTraces
from wenyuan.runtime.granted_upkeep import GrantedUpkeep
from wenyuan.runtime.jobs import JobEvent
from wenyuan.runtime.knowledge_bases import KnowledgeBaseView
from wenyuan.runtime.library import Library
from wenyuan.runtime.rebuilds import RebuildView
from wenyuan.runtime.sessions import Attachment
from wenyuan.runtime.uploads import Upload
from wenyuan.store.sessions import Session
from wenyuan.types import (
    Answer,
    ArmName,
    ChunkingConfig,
    DocumentPolicy,
    Job,
    JsonObject,
    Message,
    ReadyWhen,
    SearchResult,
)

_SHARE_OF_REQUEST = 0.8


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and where: knowledge bases by name or id, documents by id, within a session.

    A conversation that its caller keeps has its messages before the question in `history`, oldest first. `model` names
    the model that is to write the answer, and `replaces` a question of the session that this one takes the place of.
    """

    question: str
    kb: Sequence[str] | None = None
    documents: Sequence[str] | None = None
    filters: Mapping[str, Any] | None = None
    session: str | None = None
    top_k: int | None = None
    history: Sequence[Message] = ()
    model: str = ""
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Evidence for a question, without an answer."""

    trace_id: str
    question: str
    passages: tuple[Evidence, ...]
    why_empty: str | None
    explanation: str
    degraded: tuple[str, ...]


class GrantedLibrary:
    def __init__(self, library: Library, caller: Caller) -> None:
        self._library = library
        self._grants = library.grants(caller)
        self.embeddings = GrantedEmbeddings(library, self._grants)
        self.models = GrantedModels(library, self._grants)
        self.reading = GrantedReading(library, self._grants)
        self.bulk = GrantedBulk(library, self._grants)
        self.sources = GrantedSources(library, self._grants)
        self.traces = GrantedTraces(library, self._grants)
        self.evaluation = GrantedEvaluation(library, self._grants)
        self.conversations = GrantedConversations(library, self._grants)
        self.upkeep = GrantedUpkeep(library, self._grants)

    @property
    def caller(self) -> Caller:
        return self._grants.caller

    def _needs(self, scope: AccessScope) -> Library:
        self._grants.require(scope)
        return self._library

    # --- Knowledge bases -------------------------------------------------------------------------

    def knowledge_bases(self) -> list[KnowledgeBaseView]:
        library, visible = self._needs("read"), self._grants.knowledge_bases(None)
        return [one for one in library.knowledge_bases.all() if visible is None or one.knowledge_base.id in visible]

    def knowledge_base(self, name: str) -> KnowledgeBaseView:
        return self._needs("read").knowledge_bases.show(self._base(name))

    def create_knowledge_base(
        self,
        name: str,
        *,
        description: str,
        embedding_model: str | None,
        chunking: ChunkingConfig | None,
        tags: Sequence[str],
        persona: str,
        scenario: str,
        policy: DocumentPolicy | None,
    ) -> KnowledgeBaseView:
        """A key that is granted some knowledge bases cannot make others, which it would not see."""
        self._grants.require_all()
        bases = self._library.knowledge_bases
        made = bases.create(
            name,
            description=description,
            embedding_model=embedding_model,
            chunking=chunking,
            tags=tags,
            persona=persona,
            scenario=scenario,
            policy=policy,
        )
        return bases.show(made.id)

    def change_knowledge_base(
        self,
        name: str,
        *,
        description: str | None,
        tags: Sequence[str] | None,
        persona: str | None,
        scenario: str | None,
        policy: DocumentPolicy | None,
        ready_when: ReadyWhen | None,
    ) -> KnowledgeBaseView:
        bases, base = self._needs("admin").knowledge_bases, self._base(name)
        if policy is not None:
            # The one change that can be refused comes first.
            bases.set_policy(base, policy)
        bases.describe(base, description=description, tags=tags, persona=persona, scenario=scenario)
        if ready_when is not None:
            bases.set_ready_when(base, ready_when)
        return bases.show(base)

    def archive_knowledge_base(self, name: str, *, undo: bool) -> KnowledgeBaseView:
        bases, base = self._needs("admin").knowledge_bases, self._base(name)
        bases.archive(base, undo=undo)
        return bases.show(base)

    def delete_knowledge_base(self, name: str) -> None:
        self._needs("admin").knowledge_bases.delete(self._base(name))

    def rebuild(
        self, name: str, *, embedding_model: str | None, chunking: ChunkingConfig | None, rereads: bool
    ) -> RebuildView | None:
        rebuilds, base = self._needs("admin").rebuilds, self._base(name)
        return rebuilds.begin(base, embedding_model=embedding_model, chunking=chunking, rereads=rereads)

    def rebuild_status(self, name: str) -> RebuildView | None:
        return self._needs("read").rebuilds.show(self._base(name))

    def cancel_rebuild(self, name: str) -> RebuildView:
        return self._needs("admin").rebuilds.cancel(self._base(name))

    def roll_back(self, name: str) -> RebuildView:
        return self._needs("admin").rebuilds.roll_back(self._base(name))

    def set_vocabulary(self, name: str, terms: Sequence[str], synonyms: Sequence[Sequence[str]]) -> int:
        """Let these be all the terms and synonyms; how many documents will be read again for that."""
        return self._needs("admin").knowledge_bases.set_words(self._base(name), terms, synonyms)

    def _base(self, name: str | None) -> str:
        """The id of a granted knowledge base, of the default one if none is named."""
        return self._grants.knowledge_base(name).id

    # --- Documents -------------------------------------------------------------------------------

    def begin_upload(self, kb: str | None) -> Upload:
        """A file that comes piece by piece, for a knowledge base. Its bytes are discarded if it never ends."""
        library, base = self._needs("write"), self._grants.knowledge_base(kb)
        return Upload(library.receiving(), lambda: base)

    def add_text(
        self, text: str, name: str, *, kb: str | None, title: str, metadata: Mapping[str, Any] | None
    ) -> Received:
        library, base = self._needs("write"), self._base(kb)
        return library.add_text(text, name, kb=base, title=title, metadata=metadata, wait=False)

    def add_page(self, address: str, *, kb: str | None) -> str:
        """Fetch a page, and return the id of its source. Raises `AddressInvalid`."""
        return self._needs("write").sources.add_page(address, kb=self._base(kb)).id

    def documents(
        self, kb: str | None, after: str, limit: int, *, state: str, failed: bool, blocked: bool, disabled: bool
    ) -> list[DocumentView]:
        library, base = self._needs("read"), self._base(kb)
        return library.documents.list(
            base, after, limit, state=state, failed=failed, blocked=blocked, disabled=disabled
        )

    def document(self, document_id: str) -> DocumentView:
        return self._needs("read").documents.show(self._document(document_id))

    def document_text(self, document_id: str, start: int, limit: int) -> DocumentText:
        return self._needs("read").contents.text(self._document(document_id), start, limit)

    def original(self, document_id: str) -> OriginalFile:
        library = self._needs("read")
        return library.contents.original(self._grants.document(document_id))

    def passages(self, document_id: str, first: int, limit: int) -> list[StoredPassage]:
        return self._needs("read").documents.passages(self._document(document_id), first, limit)

    def switch_document(self, document_id: str, *, enabled: bool) -> DocumentView:
        return self._needs("write").documents.switch(self._document(document_id), enabled=enabled)

    def switch_passage(self, document_id: str, number: int, *, enabled: bool) -> int:
        return self._needs("write").documents.switch_passage(self._document(document_id), number, enabled=enabled)

    def retry_document(self, document_id: str, password: str = "") -> DocumentView:
        return self._needs("write").documents.retry(self._document(document_id), password=password)

    def cancel_document(self, document_id: str) -> DocumentView:
        return self._needs("write").documents.cancel(self._document(document_id))

    def move_document(self, document_id: str, to: str) -> DocumentView:
        library = self._needs("write")
        return library.documents.move([self._document(document_id)], self._base(to))[0]

    def delete_document(self, document_id: str) -> None:
        self._needs("write").documents.delete(self._document(document_id))

    def place(self, citation: str) -> Place:
        library = self._needs("read")
        self._grants.check_citation(citation)
        return library.documents.open(citation)

    def _document(self, document_id: str) -> str:
        return self._grants.document(document_id).document.id

    # --- Jobs ------------------------------------------------------------------------------------

    def jobs(self, *, only_live: bool, limit: int) -> list[Job]:
        return self._needs("read").jobs.list(only_live=only_live, limit=limit, bases=self._grants.visible())

    def is_working(self) -> bool:
        """Whether somebody works on the library's jobs, also on those that the caller does not see."""
        return self._needs("read").jobs.are_worked_on()

    def job(self, job_id: str) -> Job:
        job = self._needs("read").jobs.show(job_id)
        if not self._grants.sees(job.knowledge_base_id):
            raise JobNotFound(job=job_id)
        return job

    def cancel_job(self, job_id: str) -> Job:
        library = self._needs("write")
        if not self._grants.sees(library.jobs.show(job_id).knowledge_base_id):
            raise JobNotFound(job=job_id)
        return library.jobs.cancel(job_id)

    def begun_jobs(self) -> tuple[int, list[JobEvent]]:
        """The number of the newest event of all, and how the visible jobs stand that are under way."""
        newest, events = self._needs("read").jobs.begun()
        return newest, self._visible(events)

    def job_events(self, after: int) -> tuple[int, list[JobEvent]]:
        """The number of the last event that was looked at, and the visible ones after the one numbered `after`."""
        events = self._needs("read").jobs.changes(after)
        return events[-1].number if events else after, self._visible(events)

    def _visible(self, events: list[JobEvent]) -> list[JobEvent]:
        visible = self._grants.visible() if events else None
        return [one for one in events if visible is None or one.job.knowledge_base_id in visible]

    # --- Asking ----------------------------------------------------------------------------------

    def search(self, asked: Question, arms: Sequence[ArmName] | None = None) -> SearchResult:
        library = self._needs("read")
        more: dict[str, Any] = {"arms": arms} if arms is not None else {}
        return library.search(asked.question, **self._within(asked), top_k=asked.top_k, **more)

    def retrieve(self, asked: Question) -> Retrieved:
        found = self.search(asked)
        passages = evidence_of(found.hits)
        return Retrieved(found.trace_id, found.question, passages, found.why_empty, found.explanation, found.degraded)

    def ask(self, asked: Question) -> Answer:
        """Answer in the time that a request has: a model that takes longer leaves it to the documents."""
        library = self._needs("read")
        seconds = min(library.settings.answer.seconds, library.settings.server.request_seconds * _SHARE_OF_REQUEST)
        return library.ask(asked.question, **self._within(asked), model=asked.model, seconds=seconds)

    def chat(self, asked: Question, prefer: Prefer, stopped: Callable[[], bool] | None = None) -> Iterator[Step]:
        """The steps of an answer as they are taken; see `Library.converse`."""
        library = self._needs("read")
        within = self._within(asked)
        return library.converse(
            asked.question,
            **within,
            top_k=asked.top_k,
            prefer=prefer,
            history=asked.history,
            model=asked.model,
            replaces=asked.replaces,
            stopped=stopped,
        )

    def _within(self, asked: Question) -> dict[str, Any]:
        """Where to look, never left open: what is not said is everything that is granted."""
        names = asked.kb
        if asked.session is not None:
            session = self._grants.session(asked.session)
            names = session.knowledge_bases if names is None else names
        documents = None if asked.documents is None else [self._document(one) for one in asked.documents]
        return {
            "kb": self._grants.knowledge_bases(names),
            "documents": documents,
            "filters": asked.filters,
            "session": asked.session,
        }

    def trace(self, trace_id: str) -> JsonObject:
        """A trace of a search that looked into nothing but what is granted. Raises `TraceNotFound`."""
        body = self._needs("read").trace(trace_id)
        asked = [base["id"] for base in body["knowledge_bases"]]
        if not (self.caller.sees_all or (asked and all(map(self._grants.sees, asked)))):
            raise TraceNotFound(trace=trace_id)
        return body

    # --- Sessions --------------------------------------------------------------------------------

    def create_session(self, title: str, kb: Sequence[str] | None) -> Session:
        library = self._needs("read")
        names = None if kb is None else [self._grants.knowledge_base(name).name for name in kb]
        return self._grants.claim(library.sessions.create(title, kb=names))

    def sessions(self, limit: int) -> list[Session]:
        self._grants.require("read")
        return self._grants.sessions(limit)

    def session(self, session_id: str) -> Session:
        self._grants.require("read")
        return self._grants.session(session_id)

    def delete_session(self, session_id: str) -> None:
        self._needs("read").sessions.delete(self._grants.session(session_id).id)

    def begin_attachment(self, session_id: str) -> Upload:
        library, session = self._needs("read"), self._grants.session(session_id)
        return Upload(library.receiving(), lambda: library.sessions.own_base(session.id))

    def attach_text(self, session_id: str, text: str, name: str) -> Received:
        return self._needs("read").sessions.attach_text(self._grants.session(session_id).id, text, name)

    def attachments(self, session_id: str) -> list[Attachment]:
        return self._needs("read").sessions.attachments(self._grants.session(session_id).id)

    def detach(self, session_id: str, attachment: str) -> None:
        self._needs("read").sessions.detach(self._grants.session(session_id).id, attachment)
