"""A library that is served elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from wenyuan.client.connection import Connection, value_of
from wenyuan.client.documents import RemoteDocuments
from wenyuan.client.event_streams import Event
from wenyuan.client.files import WatchSending, file_form
from wenyuan.client.jobs import RemoteJobs
from wenyuan.client.knowledge_bases import RemoteKnowledgeBases, RemoteRebuilds, base_path
from wenyuan.client.remote_errors import event_error
from wenyuan.client.sessions import RemoteSessions
from wenyuan.client.turns import RemoteTurns
from wenyuan.errors import NothingWorks, ServerUnreachable
from wenyuan.flows.conversation.steps import Prefer
from wenyuan.flows.gather import Gathering, gather
from wenyuan.runtime.granted import Evidence, Received, Retrieved, Step, StepName
from wenyuan.runtime.library import AddReport
from wenyuan.types import Answer, ArmName, Citation, JsonObject, SearchResult, SentenceSupport

_NOWHERE = Path("/nonexistent/wenyuan")
"""In place of the library itself, which is passed over where files are gathered beside it."""
_FIRST_POLL, _LONGEST_POLL = 0.05, 1.0
_MOST_BROKEN = 3
_DECODED: Mapping[str, Any] = {
    "citations": tuple[Citation, ...],
    "sources": tuple[Evidence, ...],
    "support": tuple[SentenceSupport, ...],
}


class Client:
    """A served library, with the methods and results of `wenyuan.open`; threads may share it.

    What the server tells of is raised as the error that it is there. What does not reach it is sent again, a few
    times, and so is what may be sent twice without being done twice. Documents are named by their ids.
    """

    def __init__(
        self, url: str, key: str = "", *, timeout: float = 60.0, attempts: int = 3, patience: float = 30.0
    ) -> None:
        """`timeout` is of one request, in seconds; what is added is given up after `patience` without any worker."""
        self._connection = Connection(url, key, timeout, attempts)
        self._patience = patience
        self.knowledge_bases = RemoteKnowledgeBases(self._connection)
        self.rebuilds = RemoteRebuilds(self._connection)
        self.documents = RemoteDocuments(self._connection)
        self.jobs = RemoteJobs(self._connection)
        self.sessions = RemoteSessions(self._connection)
        self.turns = RemoteTurns(self._connection)

    # --- Taking in -------------------------------------------------------------------------------

    def add(
        self,
        *paths: str | os.PathLike[str],
        kb: str | None = None,
        exclude: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
        on_received: Callable[[Received], None] | None = None,
        on_sending: WatchSending | None = None,
    ) -> AddReport:
        """Send files and folders to a knowledge base, the default one if none is named, and have pages (URLs) fetched.

        A file of a folder gets the folder's name and its path in it as its name. With `wait`, this returns when what
        was sent has been read, and embedded where it is to be. `on_sending` is told of each piece of a file that is
        sent. Raises `PathNotFound`, `FileUnreadable`, `AddressInvalid`, `KnowledgeBaseNotFound` and more, and
        `NothingWorks` where no worker takes up what was sent; it is kept all the same.
        """
        pages = [str(path) for path in paths if str(path).startswith(("http://", "https://"))]
        folders = [Path(path).expanduser() for path in paths if str(path) not in pages]
        gathering, received = Gathering(), []
        for file in gather(folders, exclude, _NOWHERE, gathering):
            form = file_form(file, _name_of(file, folders), metadata, on_sending)
            one = self._connection.upload(Received, f"{base_path(kb)}/documents/upload", form)
            received.append(one)
            if on_received is not None:
                on_received(one)
        for page in pages:
            self._connection.create(dict[str, str], f"{base_path(kb)}/documents/url", {"url": page})
        if wait:
            self._wait(received)
        return AddReport(tuple(received), {reason: n for reason, n in gathering.passed_over.items() if n})

    def add_text(
        self,
        text: str,
        name: str,
        *,
        kb: str | None = None,
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Received:
        """Add a text under a name of your own; the same name again replaces it. Raises `InvalidValue`."""
        body = {"text": text, "name": name, "title": title, "metadata": metadata}
        received = self._connection.create(Received, f"{base_path(kb)}/documents/text", body)
        if wait:
            self._wait([received])
        return received

    def _wait(self, received: Sequence[Received]) -> None:
        """Until each document has been read and embedded, has failed, or is put off for a reason.

        Raises `NothingWorks`.
        """
        worked_at = time.monotonic()
        for one in received:
            if one.document_id is None or one.outcome is None:
                continue
            seconds = _FIRST_POLL
            while self._is_under_way(one.document_id):
                if time.monotonic() - worked_at > self._patience:
                    raise NothingWorks(document=one.source, seconds=f"{self._patience:g}")
                time.sleep(seconds)
                seconds = min(seconds * 1.5, _LONGEST_POLL)
                if self.jobs.are_worked_on():
                    worked_at = time.monotonic()
            worked_at = time.monotonic()

    def _is_under_way(self, document: str) -> bool:
        view = self.documents.show(document)
        if view.blocked is not None or view.waiting is not None:
            return False
        return view.latest.state in ("pending", "processing") or view.semantic.state == "pending"

    # --- Asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        session: str | None = None,
        top_k: int | None = None,
        arms: Sequence[ArmName] | None = None,
    ) -> SearchResult:
        """Find the passages that answer a question, best first; see `Library.search`."""
        body = _asked(question, kb, documents, filters, session)
        lists = None if arms is None else list(arms)
        return self._connection.ask(SearchResult, "/search", {**body, "top_k": top_k, "lists": lists})

    def retrieve(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        session: str | None = None,
        top_k: int | None = None,
    ) -> Retrieved:
        """Find evidence for a question, for programs that write the answer themselves."""
        body = _asked(question, kb, documents, filters, session)
        return self._connection.ask(Retrieved, "/retrieve", {**body, "top_k": top_k})

    def ask(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        session: str | None = None,
        model: str = "",
    ) -> Answer:
        """Answer a question from the documents; see `Library.ask`."""
        body = _asked(question, kb, documents, filters, session)
        return self._connection.ask(Answer, "/ask", {**body, "model": model or None})

    def chat(
        self,
        question: str,
        *,
        kb: str | Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        session: str | None = None,
        top_k: int | None = None,
        prefer: Prefer = "auto",
        model: str = "",
        replaces: int | None = None,
    ) -> Generator[Step, None, None]:
        """Answer a question, and tell of each step as it is taken; the last one is the message.

        Within a `session` the turn is kept; `replaces` is the number of a question of it that this
        one takes the place of. `model` names the model that is to write. A stream that breaks is taken
        up again. Closed early, it leaves the answer. Raises, at the first step or a later one, what `ask` raises,
        `AnswerInterrupted` where the server was, and `ServerUnreachable`.
        """
        body = {**_asked(question, kb, documents, filters, session), "prefer": prefer, "stream": True}
        more = {"top_k": top_k, "model": model or None, "replaces": replaces}
        body |= {name: value for name, value in more.items() if value is not None}
        yield from self._steps(body)

    def _steps(self, body: Mapping[str, Any]) -> Generator[Step, None, None]:
        """The steps of an answer, taken up again behind the last one where the stream breaks."""
        method, path, more = "POST", "/chat", {"json": dict(body)}
        trace_id, failed = "", 0
        while True:
            try:
                with self._connection.events(method, path, **more) as events:
                    for event in events:
                        step = _step_of(event)
                        trace_id, failed = step.trace_id, 0
                        more = {"headers": {"Last-Event-ID": event.id}}
                        yield step
                        if step.name == "assistant.message":
                            return
                broken = ServerUnreachable(url=self._connection.url, reason="the stream of the answer broke")
            except ServerUnreachable as error:
                broken = error
            failed += 1
            if not trace_id or failed > _MOST_BROKEN:
                raise broken
            method, path = "GET", f"/chat/{quote(trace_id, safe='')}"

    converse = chat
    """The name that it has in `Library`."""

    def trace(self, trace_id: str) -> JsonObject:
        """What happened to one question. Raises `TraceNotFound`."""
        return self._connection.get(dict[str, Any], f"/traces/{quote(trace_id, safe='')}")

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _asked(
    question: str,
    kb: str | Sequence[str] | None,
    documents: Sequence[str] | None,
    filters: Mapping[str, Any] | None,
    session: str | None,
) -> dict[str, Any]:
    names = [kb] if isinstance(kb, str) else None if kb is None else list(kb)
    ids = None if documents is None else list(documents)
    given = {"knowledge_bases": names, "documents": ids, "filters": filters, "session": session}
    return {"question": question, **{name: value for name, value in given.items() if value is not None}}


def _step_of(event: Event) -> Step:
    """Raises the error that a stream ends with."""
    if event.name == "error":
        raise event_error(event)
    data = dict(event.data)
    trace_id = data.pop("trace_id", "")
    data.pop("seq", None)
    decoded = {name: value_of(kind, data[name]) for name, kind in _DECODED.items() if name in data}
    name: StepName = value_of(StepName, event.name)  # type: ignore[arg-type]
    return Step(name, trace_id, {**data, **decoded})


def _name_of(file: Path, given: Sequence[Path]) -> str:
    """The name of a file that was named itself; else its path from the folder's own name on."""
    for folder in given:
        absolute = Path(os.path.abspath(folder))
        if absolute != file and file.is_relative_to(absolute):
            return f"{absolute.name}/{file.relative_to(absolute).as_posix()}"
    return file.name
