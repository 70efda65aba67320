"""Files inside of a file become documents of their own: kept while it is read, made documents once it is served.

The rows that are kept are the list of what is to be done. They stay until all of it is done, so
whatever ends the job, the next one goes on where it stopped, and knows which documents are of files
that are not there any more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from wenyuan.errors import DocumentError, RequestError
from wenyuan.flows.move import move
from wenyuan.flows.priorities import PRIORITY_INGEST_NOW
from wenyuan.flows.receive import Receiving, Room, inner_source, receive_member
from wenyuan.flows.remove import hide_documents
from wenyuan.flows.stage import StagedFile, Staging
from wenyuan.flows.work import Work
from wenyuan.parsers.members import MOST_BYTES, MOST_MEMBERS, member_path
from wenyuan.store import documents, knowledge_bases, members, queue
from wenyuan.store.blobs import BlobWriter, StagedBlob
from wenyuan.store.database import Writing
from wenyuan.store.members import IS_DOCUMENT, LEFT_OUT, StoredMember
from wenyuan.types import Document, Member, Notice

DEEPEST = 5
"""So many files may lie one in the other; what a file at that depth holds is not looked at."""
MOST_BYTES_BELOW = 4 * MOST_BYTES
"""All files inside of one that lies in none, at every depth, together."""

_FILES_TOGETHER = 64
_BYTES_TOGETHER = 1 << 26
_FEW = 32
_NAMED_IN_NOTICE = 20


class MemberSpool:
    """Keeps the files that a reader finds inside of a file, some at a time. A context; what is not flushed is gone."""

    def __init__(self, tools: Staging, file: StagedFile) -> None:
        self._tools = tools
        self._file = file
        self._writer: BlobWriter | None = None
        self._held: list[tuple[StagedBlob, StoredMember]] = []
        self._held_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.discard()
        for blob, _ in self._held:
            self._tools.blobs.discard(blob)

    def take(self, piece: Member) -> None:
        """Store a piece. Nothing that came from the reader's process is believed: not even the path."""
        if self._writer is None:
            self._writer = self._tools.blobs.writer(piece.path, MOST_BYTES)
        self._writer.write(piece.data)
        if not piece.is_last:
            return
        blob = self._writer.finish()
        self._writer = None
        self._held.append((blob, StoredMember(member_path(piece.path), blob.sha256, blob.size, piece.media_type)))
        self._held_bytes += blob.size
        self._file.member_count += 1
        if len(self._held) >= _FILES_TOGETHER or self._held_bytes >= _BYTES_TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Keep what was taken, for the job that makes documents of it."""
        held = self._held
        if not held:
            return
        tools, file = self._tools, self._file
        tools.blobs.sync([blob for blob, _ in held])
        with tools.database.write(durable=False) as tx:
            file.work.hold(tx)
            file.work.progress(tx, "unpacking", file.member_count, 0)
            tools.blobs.keep(tx, list({blob.sha256: blob for blob, _ in held}.values()))
            members.add(tx, file.revision.id, [member for _, member in held])
        for blob, _ in held:
            tools.blobs.discard(blob)
        self._held, self._held_bytes = [], 0


@dataclass(slots=True)
class _Outcome:
    """What became of a few files, and why some were left out."""

    done: list[tuple[str, int]]
    why: Counter[str]
    left_out: list[str]


def unpack(tools: Receiving, work: Work) -> None:
    """Make documents of the files inside of a revision's file, and delete those of files that are not in it any more.

    Nothing is done where its document is deleted or serves another file by now.
    """
    goes_on = True
    while goes_on:
        with tools.database.write(durable=False) as tx:
            work.hold(tx)
            goes_on = _step(tx, tools, work)


def _step(tx: Writing, tools: Receiving, work: Work) -> bool:
    """Do a part of it; False when all is done."""
    revision_id = work.lease.job.subject_id
    found = documents.revision(tx, revision_id)
    if found is not None and members.is_current(tx, revision_id):
        parent = documents.find(tx, found[0].owner, found[0].id).document
        done, total = members.counts(tx, revision_id)
        work.progress(tx, "unpacking", done, total)
        group = members.waiting(tx, revision_id, _FILES_TOGETHER)
        if group:
            quick = replace(tools, priority=PRIORITY_INGEST_NOW) if total <= _FEW else tools
            _make(tx, quick, parent, revision_id, group)
            return True
        is_known = total > 0 or found[1].member_count == 0
        prefix = inner_source(parent.source, "")
        gone = members.gone(tx, parent.id, revision_id, prefix, _FILES_TOGETHER) if is_known else []
        for document_id, home in gone:
            hide_documents(tx, tools.new_id, [document_id], home, parent.owner)
        if gone:
            return True
        _gather(tx, tools, parent, revision_id)
    for sha256 in members.forget(tx, revision_id):
        tools.blobs.forget_unused(tx, sha256)
    queue.finish(tx, work.lease)
    return False


def _gather(tx: Writing, tools: Receiving, parent: Document, revision_id: str) -> None:
    """Let documents follow the one they lie in, where that has come to another knowledge base meanwhile."""
    target = knowledge_bases.by_id(tx, parent.knowledge_base_id)
    why: Counter[str] = Counter()
    left: list[str] = []
    for record in documents.by_ids(tx, members.astray(tx, parent.id)):
        try:
            move(tx, tools.new_id, record, target)
        except (DocumentError, RequestError) as error:
            why[error.message] += 1
            left.append(record.document.name)
    if left:
        _tell(tx, revision_id, _Outcome([], why, left))


def _make(tx: Writing, tools: Receiving, parent: Document, revision_id: str, group: list[StoredMember]) -> None:
    above = members.above(tx, parent.id)
    root = above[-1][0] if above else parent.id
    total = members.sum_below(tx, root)
    count, size = total.documents, total.bytes
    base = knowledge_bases.by_id(tx, parent.knowledge_base_id)
    room = Room.of(tx, base)
    outcome = _Outcome([], Counter(), [])
    for member in group:
        is_known = members.child(tx, parent.id, inner_source(parent.source, member.path)) is not None
        why = "" if is_known else _too_much(len(above) + 1, count, size + member.size)
        if not why:
            received = receive_member(tx, tools, base, parent, member, room)
            why = received.problem.message if received.outcome is None and received.problem is not None else ""
        if not why and not is_known:
            count, size = count + 1, size + member.size
        outcome.done.append((member.path, LEFT_OUT if why else IS_DOCUMENT))
        if why:
            outcome.why[why] += 1
            outcome.left_out.append(member.path)
    members.set_done(tx, revision_id, outcome.done)
    if outcome.left_out:
        _tell(tx, revision_id, outcome)


def _too_much(depth: int, count: int, size: int) -> str:
    if depth > DEEPEST:
        return f"More than {DEEPEST} files lie one in the other."
    if count >= MOST_MEMBERS:
        return f"Of one file at most {MOST_MEMBERS:,} files inside are taken."
    if size > MOST_BYTES_BELOW:
        return f"Of one file at most {MOST_BYTES_BELOW // 1_000_000} MB of files inside are taken."
    return ""


def _tell(tx: Writing, revision_id: str, outcome: _Outcome) -> None:
    names = ", ".join(outcome.left_out[:_NAMED_IN_NOTICE])
    reasons = " ".join(why for why, _ in outcome.why.most_common(3))
    text = f"Files inside were left out, such as {names}. {reasons}"
    documents.add_notice(tx, revision_id, Notice("members-left-out", text))
