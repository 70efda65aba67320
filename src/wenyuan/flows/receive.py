"""Taking files in: bytes, document and job are on disk together, or not at all, before anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from wenyuan.errors import DocumentError, InvalidValue, KnowledgeBaseArchived, KnowledgeBaseFull, SourceTaken
from wenyuan.flows.file_paths import readable
from wenyuan.flows.given import TextToAdd, checked_given, checked_name
from wenyuan.flows.policy import is_by_policy, refusal, verdict
from wenyuan.flows.priorities import PRIORITY_EMBED, PRIORITY_INGEST, PRIORITY_INGEST_NOW, embedding_weight
from wenyuan.flows.rename import rename
from wenyuan.parsers.detection import type_by_name
from wenyuan.parsers.registry import is_read
from wenyuan.parsers.text.decoding import without_surrogates
from wenyuan.store import documents, file_passwords, knowledge_bases, members, moves, policies, queue
from wenyuan.store.blobs import BlobDirectory, StagedBlob
from wenyuan.store.database import Database, Reading, Writing
from wenyuan.store.members import StoredMember
from wenyuan.types import Document, Given, KnowledgeBase, Problem

Item = TypeVar("Item")

FILES_AT_ONCE = 32
"""How many files are taken in by one transaction."""

_CHARACTERS_PER_TRANSACTION = 4_000_000
_PLAIN = "text/plain"
INSIDE = " › "
"""Stands in a document's name between the file and the one inside of it."""


@dataclass(frozen=True, slots=True)
class Received:
    """What became of one file.

    Without an `outcome` it was not taken in, and `problem` tells why. `blocked` is kept, but found by no
    search, for the reason in `problem`. `skipped` makes no document, as the same bytes are there
    already as `duplicate_of`; `replaced` took that one's place.
    """

    source: str
    outcome: documents.Arrival | None
    document_id: str | None
    revision_id: str | None
    problem: Problem | None = None
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class Receiving:
    """What taking files in needs."""

    database: Database
    blobs: BlobDirectory
    file_bytes: int
    new_id: Callable[[str], str]
    source_id: str = ""
    """The source that brings new documents; empty where a person adds them."""
    priority: int = PRIORITY_INGEST
    password: str = field(default="", repr=False)
    """What opens the files, if they need that."""


@dataclass(frozen=True, slots=True)
class _Arriving:
    """A file whose bytes are on disk. Where nothing is given of it, what was given before stands."""

    source: str
    name: str
    blob: StagedBlob
    given: Given | None


def receive(
    tools: Receiving, knowledge_base: KnowledgeBase, files: Iterable[Path], given: Given | None = None
) -> Iterator[Received]:
    """Store files with their jobs, a few per transaction, and tell of each once it is safe.

    What is `given` holds for all of them. A file at fault is reported and the rest goes on. Raises
    `KnowledgeBaseArchived` before the first, and `StorageError` when the library itself cannot take
    more.
    """

    def stage(path: Path) -> _Arriving:
        blob = tools.blobs.stage(path, tools.file_bytes)
        return _Arriving(readable(path), readable(Path(path.name)), blob, given)

    _refuse_archived(knowledge_base)
    remaining = iter(files)
    group = list(islice(remaining, FILES_AT_ONCE))
    if len(group) < FILES_AT_ONCE:
        tools = _at_once(tools)
    while group:
        yield from _receive_group(tools, knowledge_base, group, stage, readable)
        group = list(islice(remaining, FILES_AT_ONCE))


def receive_texts(tools: Receiving, knowledge_base: KnowledgeBase, texts: Iterable[TextToAdd]) -> Iterator[Received]:
    """Store texts that are in memory, like `receive`; one that cannot be stored is reported as well."""
    _refuse_archived(knowledge_base)
    for group in _groups(texts):
        yield from _receive_group(
            tools, knowledge_base, group, lambda text: _stage_text(tools, text), lambda text: _source(text.name)
        )


def receive_text(tools: Receiving, knowledge_base: KnowledgeBase, text: TextToAdd) -> Received:
    """Store one text. Raises what `receive_texts` reports: `InvalidValue` or `FileTooLarge`."""
    _refuse_archived(knowledge_base)
    arriving = _stage_text(tools, text)
    try:
        (received,) = _store_group(_at_once(tools), knowledge_base, [arriving])
    finally:
        tools.blobs.discard(arriving.blob)
    return received


def receive_staged(
    tools: Receiving, knowledge_base: KnowledgeBase, source: str, name: str, blob: StagedBlob, given: Given | None
) -> Received:
    """Store bytes that were staged as they came, like one file; what is not kept of them is discarded."""
    _refuse_archived(knowledge_base)
    try:
        (received,) = _store_group(tools, knowledge_base, [_Arriving(source, name, blob, given)])
    finally:
        tools.blobs.discard(blob)
    return received


def receive_member(
    tx: Writing, tools: Receiving, knowledge_base: KnowledgeBase, parent: Document, member: StoredMember, room: Room
) -> Received:
    """Make a document of a file inside of another document's, or its next revision; its bytes are stored already.

    What the knowledge base does with bytes that it has twice does not concern it: it comes and goes
    with the other document.
    """
    source, name = inner_source(parent.source, member.path), f"{parent.name}{INSIDE}{member.path}"
    blob = tools.blobs.named(member.sha256, member.size)
    arriving = _Arriving(source, name, blob, _hinted(name, member.media_type))
    known_id = members.child(tx, parent.id, source)
    if known_id is not None:
        known = documents.find(tx, knowledge_base.owner, known_id)
        home = knowledge_bases.by_id(tx, known.document.knowledge_base_id)
        return _revise(tx, tools, home, known, arriving) if _is_news(known, arriving) else _known(tx, tools, known)
    if documents.find_by_source(tx, knowledge_base.id, source) is not None:
        taken = SourceTaken(name=knowledge_base.name, source=source)
        return Received(source, None, None, None, taken.problem("unpacking"))
    if not room.take():
        return Received(source, None, None, None, _full(knowledge_base, name).problem("unpacking"))
    now, document_id = tx.now, tools.new_id("doc")
    base_id, owner = knowledge_base.id, knowledge_base.owner
    document = Document(document_id, base_id, owner, source, name, parent.enabled, None, now, now, parent_id=parent.id)
    documents.add_document(tx, document)
    return _add_revision(tx, tools, knowledge_base, document, arriving, arriving.given or Given(), "added")


def inner_source(source: str, path: str) -> str:
    """The source of a file at a path inside of the file of a document with that source."""
    return f"{source}!/{path}"


def _hinted(name: str, media_type: str) -> Given | None:
    """What a container says a file's type is, where the file's name says nothing and there is a reader for it."""
    is_hint = bool(media_type) and media_type != _PLAIN and not type_by_name(name)
    return Given(media_type=media_type) if is_hint and is_read(media_type) else None


def _full(knowledge_base: KnowledgeBase, name: str) -> KnowledgeBaseFull:
    limit = knowledge_base.policy.max_documents
    return KnowledgeBaseFull(name=name, knowledge_base=knowledge_base.name, limit=limit)


def _at_once(tools: Receiving) -> Receiving:
    """Put a few things that a person adds before what is brought in bulk."""
    return tools if tools.source_id else replace(tools, priority=PRIORITY_INGEST_NOW)


def _refuse_archived(knowledge_base: KnowledgeBase) -> None:
    if knowledge_base.state == "archived":
        raise KnowledgeBaseArchived(name=knowledge_base.name)


def _current(tx: Writing, knowledge_base: KnowledgeBase) -> KnowledgeBase:
    """The knowledge base as it is now: it may have been deleted or archived while files were copied."""
    current = knowledge_bases.by_id(tx, knowledge_base.id)
    _refuse_archived(current)
    return current


def _groups(texts: Iterable[TextToAdd]) -> Iterator[list[TextToAdd]]:
    group: list[TextToAdd] = []
    size = 0
    for text in texts:
        group.append(text)
        size += len(text.text)
        if len(group) == FILES_AT_ONCE or size >= _CHARACTERS_PER_TRANSACTION:
            yield group
            group, size = [], 0
    if group:
        yield group


def _stage_text(tools: Receiving, text: TextToAdd) -> _Arriving:
    """A name that promises no type promises plain text: what a text looks like is not asked."""
    name = checked_name(text.name)
    given = checked_given(text.title, text.metadata, "" if type_by_name(name) else _PLAIN)
    blob = tools.blobs.stage_bytes(without_surrogates(text.text).encode(), name, tools.file_bytes)
    return _Arriving(_source(name), name, blob, given)


def _source(name: str) -> str:
    return f"text:{without_surrogates(name)}"


def _receive_group(
    tools: Receiving,
    knowledge_base: KnowledgeBase,
    group: Sequence[Item],
    stage: Callable[[Item], _Arriving],
    source_of: Callable[[Item], str],
) -> list[Received]:
    staged: list[_Arriving] = []
    results: list[Received] = []
    try:
        for item in group:
            try:
                staged.append(stage(item))
            except (DocumentError, InvalidValue) as error:
                results.append(Received(source_of(item), None, None, None, error.problem("receiving")))
        return results + _store_group(tools, knowledge_base, staged)
    finally:
        for arriving in staged:
            tools.blobs.discard(arriving.blob)


def _store_group(tools: Receiving, knowledge_base: KnowledgeBase, staged: Sequence[_Arriving]) -> list[Received]:
    """Store what is staged, in one transaction; what is there already costs no sync."""
    with tools.database.read() as tx:
        room = Room.of(tx, knowledge_base)
        are_taken = [_decide(tx, knowledge_base, one, room).takes_bytes for one in staged]
    # Bytes that the library has lost come back with the file.
    news = [
        one
        for one, is_taken in zip(staged, are_taken, strict=True)
        if is_taken or tools.blobs.size(one.blob.sha256) is None
    ]
    tools.blobs.sync([one.blob for one in news])
    with tools.database.write() as tx:
        current = _current(tx, knowledge_base)
        tools.blobs.keep(tx, [one.blob for one in news])
        kept, room = {one.blob.sha256 for one in news}, Room.of(tx, current)
        received = [_store(tx, tools, current, one, room, is_kept=one.blob.sha256 in kept) for one in staged]
        for one, result in zip(staged, received, strict=True):
            if tools.password and result.document_id is not None:
                file_passwords.keep(tx, result.document_id, tools.password)
            if result.outcome is None and one.blob.sha256 in kept:
                # It was decided otherwise meanwhile.
                tools.blobs.forget_unused(tx, one.blob.sha256)
        return received


@dataclass(slots=True)
class Room:
    """How many documents a knowledge base may still take; None for any number."""

    left: int | None

    @classmethod
    def of(cls, tx: Reading, knowledge_base: KnowledgeBase) -> Room:
        most = knowledge_base.policy.max_documents
        return cls(None if most is None else most - policies.count_documents(tx, knowledge_base.id))

    def take(self) -> bool:
        """Take the room for one document; False where there is none."""
        if self.left is None:
            return True
        self.left -= 1
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class _Decision:
    """What is to be done with a file: `known` is the document of its path, `twin` one with the same bytes."""

    what: Literal["nothing", "revise", "add", "skip", "replace", "refuse"]
    known: documents.DocumentRecord | None = None
    twin: tuple[str, str] | None = None

    @property
    def takes_bytes(self) -> bool:
        return self.what in ("revise", "add")


def _decide(tx: Reading, knowledge_base: KnowledgeBase, arriving: _Arriving, room: Room) -> _Decision:
    known = documents.find_by_source(tx, knowledge_base.id, arriving.source)
    if known is not None:
        return _Decision("revise" if _is_news(known, arriving) else "nothing", known)
    rule = knowledge_base.policy.duplicates
    twin = policies.twin(tx, knowledge_base.id, arriving.blob.sha256) if rule != "keep" else None
    if twin is not None:
        is_old = rule == "skip" or policies.has_left(tx, knowledge_base.id, arriving.source, twin[0])
        return _Decision("skip" if is_old else "replace", twin=twin)
    return _Decision("add" if room.take() else "refuse")


def _is_news(known: documents.DocumentRecord, arriving: _Arriving) -> bool:
    given = known.latest.given if arriving.given is None else arriving.given
    return (known.latest.blob_sha256, known.latest.given) != (arriving.blob.sha256, given)


def _store(
    tx: Writing, tools: Receiving, knowledge_base: KnowledgeBase, arriving: _Arriving, room: Room, *, is_kept: bool
) -> Received:
    decision = _decide(tx, knowledge_base, arriving, room)
    source, known, twin = arriving.source, decision.known, decision.twin
    if decision.what == "refuse":
        return Received(source, None, None, None, _full(knowledge_base, arriving.name).problem("receiving"))
    if decision.takes_bytes and not is_kept:
        # It was there already when the others were synced, and has been replaced meanwhile.
        tools.blobs.sync([arriving.blob])
        tools.blobs.keep(tx, [arriving.blob])
    if known is not None:
        return _revise(tx, tools, knowledge_base, known, arriving) if decision.takes_bytes else _known(tx, tools, known)
    if twin is not None:
        if decision.what == "replace":
            return _replace(tx, tools, knowledge_base, twin[0], arriving)
        return Received(source, "skipped", None, None, duplicate_of=twin[1])
    owner, now, document_id = knowledge_base.owner, tx.now, tools.new_id("doc")
    document = Document(
        document_id, knowledge_base.id, owner, source, arriving.name, True, None, now, now, tools.source_id
    )
    documents.add_document(tx, document)
    return _add_revision(tx, tools, knowledge_base, document, arriving, arriving.given or Given(), "added")


def _known(tx: Writing, tools: Receiving, known: documents.DocumentRecord) -> Received:
    """The same bytes from the same place: no work, unless what there was came to nothing."""
    document, latest = known.document, known.latest
    if latest.state in ("failed", "cancelled") and not document.blocked_reason:
        retry(tx, tools.new_id, known)
        return Received(document.source, "retried", document.id, latest.id)
    return Received(document.source, "unchanged", document.id, latest.id)


def _revise(
    tx: Writing,
    tools: Receiving,
    knowledge_base: KnowledgeBase,
    known: documents.DocumentRecord,
    arriving: _Arriving,
    outcome: documents.Arrival = "updated",
) -> Received:
    """Give a document its next revision. One that is moving to another knowledge base goes on with it."""
    document = known.document
    stop_unfinished(tx, document.id)
    given = known.latest.given if arriving.given is None else arriving.given
    return _add_revision(tx, tools, knowledge_base, document, arriving, given, outcome)


def stop_unfinished(tx: Writing, document_id: str) -> None:
    """Cancel the revisions of a document that are not published yet, so that a newer one can follow."""
    for unfinished in documents.unfinished_revisions(tx, document_id):
        queue.cancel(tx, "revision", unfinished)
        documents.set_state(tx, unfinished, "cancelled")


def _replace(
    tx: Writing, tools: Receiving, knowledge_base: KnowledgeBase, twin_id: str, arriving: _Arriving
) -> Received:
    """Give the document with the same bytes the newer path; what it has stays, but for its name."""
    twin = documents.find(tx, knowledge_base.owner, twin_id)
    former = twin.document
    policies.leave(tx, former)
    if not rename(tx, tools.new_id, twin, arriving.source, arriving.name):
        # It is just being read under its old name.
        stop_unfinished(tx, former.id)
        twin = documents.find(tx, knowledge_base.owner, twin_id)
        rename(tx, tools.new_id, twin, arriving.source, arriving.name)
        return replace(_revise(tx, tools, knowledge_base, twin, arriving, "replaced"), duplicate_of=former.source)
    _judge(tx, knowledge_base, replace(former, name=arriving.name), arriving, twin.latest.given)
    return Received(arriving.source, "replaced", former.id, twin.latest.id, duplicate_of=former.source)


def _judge(
    tx: Writing, knowledge_base: KnowledgeBase, document: Document, arriving: _Arriving, given: Given
) -> Problem | None:
    """Block or allow a document for what its newest file is; why it is blocked, if so."""
    size = arriving.blob.size
    reason = verdict(knowledge_base, document.name, given.media_type, size)
    if not is_by_policy(document.blocked_reason):
        reason = document.blocked_reason
    if reason != document.blocked_reason:
        policies.set_blocked(tx, document.knowledge_base_id, [(document.id, reason)])
    if not reason:
        return None
    media_type = given.media_type or type_by_name(document.name)
    return refusal(knowledge_base, reason, document.name, media_type, size).problem("receiving")


def _add_revision(
    tx: Writing,
    tools: Receiving,
    knowledge_base: KnowledgeBase,
    document: Document,
    arriving: _Arriving,
    given: Given,
    outcome: documents.Arrival,
) -> Received:
    """Store a revision with its job; a blocked one waits for another policy without one."""
    revision_id, blob = tools.new_id("rev"), arriving.blob
    destination = moves.destination(tx, document.id)
    target = knowledge_bases.by_id(tx, destination) if destination is not None else knowledge_base
    documents.add_revision(tx, revision_id, document, blob.sha256, blob.size, target.chunking, given)
    if destination is not None:
        moves.begin(tx, revision_id, document.id, destination)
    problem = _judge(tx, knowledge_base, document, arriving, given)
    if problem is not None and destination is None:
        blocked: documents.Arrival = "replaced" if outcome == "replaced" else "blocked"
        return Received(arriving.source, blocked, document.id, revision_id, problem)
    enqueue_ingest(tx, tools.new_id, revision_id, target.id, document.owner, blob.size, tools.priority)
    return Received(arriving.source, outcome, document.id, revision_id)


def enqueue_ingest(
    tx: Writing,
    new_id: Callable[[str], str],
    revision_id: str,
    knowledge_base_id: str,
    owner: str,
    size: int,
    priority: int = PRIORITY_INGEST,
) -> None:
    """Queue the reading of a revision."""
    job_id = new_id("job")
    queue.enqueue(tx, job_id, "ingest", "revision", revision_id, knowledge_base_id, owner, priority, size)


def retry(tx: Writing, new_id: Callable[[str], str], record: documents.DocumentRecord) -> None:
    """Put a failed or cancelled revision's work, or the vectors of what is served, back in the queue.

    It goes on where it stopped.
    """
    document, revision = record.document, record.latest
    serving = document.serving_revision_id
    if serving is not None and members.has_stopped(tx, serving):
        base, owner = document.knowledge_base_id, document.owner
        queue.enqueue(tx, new_id("job"), "unpack", "revision", serving, base, owner, PRIORITY_INGEST)
    if revision.state in ("failed", "cancelled"):
        documents.set_state(tx, revision.id, "pending", "queued")
        target = moves.destination_of_revision(tx, revision.id) or document.knowledge_base_id
        enqueue_ingest(tx, new_id, revision.id, target, document.owner, revision.size)
        return
    enqueue_embed(tx, new_id, serving or revision.id, document)


def enqueue_embed(tx: Writing, new_id: Callable[[str], str], revision_id: str, document: Document) -> None:
    """Queue the making of the vectors that a revision lacks."""
    job_id, base = new_id("job"), document.knowledge_base_id
    weight = embedding_weight(tx, revision_id)
    queue.enqueue(tx, job_id, "embed", "revision", revision_id, base, document.owner, PRIORITY_EMBED, weight)
