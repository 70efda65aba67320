"""A file's text, chunks and words are staged under a revision that nothing searches yet.

That takes bounded transactions. After a crash the file is read again, and staging goes on behind the
last committed chunk. What another program, or for another index, has staged is thrown away first:
its chunks might end elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wenyuan.errors import ParserCrashed
from wenyuan.flows.carry import carried
from wenyuan.flows.convert import Patience, Watch, read_converted, refuse_claimed_answer, to_convert
from wenyuan.flows.given import merged
from wenyuan.flows.prepare import STAGE
from wenyuan.flows.prepared import Ending, Instructions, Prepared, Receiver
from wenyuan.flows.purge import forget_text
from wenyuan.flows.reread import Rules
from wenyuan.flows.work import Work
from wenyuan.language.keys import document_keys
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.parsers.wire import Request
from wenyuan.ports import Converter
from wenyuan.rules.quality import is_doubtful
from wenyuan.store import chunks, disabled_passages, documents, file_passwords, indexes, rereading, tables
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Writing
from wenyuan.types import ChunkingConfig, Document, IndexGeneration, Member, Notice, Posting, Revision, TableRows


@dataclass(frozen=True, slots=True)
class Staging:
    """What staging needs."""

    database: Database
    blobs: BlobDirectory
    reader: SandboxedReader
    new_id: Callable[[str], str]
    program: str
    """Name and version of this program; what another one staged is not continued."""
    converter_for: Callable[[str], Converter | None] | None = None
    """The remote reader of a media type; None where none is configured at all."""

    def mark(self, lexical: IndexGeneration) -> str:
        """What a revision is marked with whose chunks are staged by this program, for this index."""
        return f"{self.program}, index {lexical.number}"


@dataclass(slots=True)
class StagedFile:
    """One revision being staged: what it is, and how much of it has been cut so far,

    committed now or by an earlier attempt.
    """

    work: Work
    document: Document
    revision: Revision
    chunking: ChunkingConfig
    lexical: IndexGeneration
    rules: Rules
    committed: chunks.Staged | None
    cut: int = 0
    text_length: int = 0
    alias_overflow: int = 0
    password: str = field(default="", repr=False)
    member_count: int = -1
    """How many files its reader has found inside of it; -1 where that is not asked."""


def staged_file(
    tx: Writing,
    tools: Staging,
    work: Work,
    document: Document,
    revision: Revision,
    chunking: ChunkingConfig,
    lexical: IndexGeneration,
    rules: Rules,
) -> StagedFile:
    """Begin to stage a revision, or go on."""
    documents.begin(tx, revision.id, tools.mark(lexical), chunking)
    committed = None if revision.staged_by else chunks.Staged(0, 0, 0)
    password = file_passwords.of(tx, document.id)
    return StagedFile(work, document, revision, chunking, lexical, rules, committed, password=password)


def forget_what_does_not_fit(tools: Staging, file: StagedFile) -> None:
    """Begin anew where another program, or for another index, began."""
    mark = tools.mark(file.lexical)
    if file.revision.staged_by not in ("", mark):
        forget_text(tools.database, file.work, file.revision.id)
        with tools.database.write(durable=False) as tx:
            file.work.hold(tx)
            documents.set_staged_by(tx, file.revision.id, mark)
        file.committed = None


def batches(
    tools: Staging,
    file: StagedFile,
    take: Callable[[Member], None] | None = None,
    following: StagedFile | None = None,
) -> Iterator[tuple[Prepared, Ending | None]]:
    """What is in a file, batch by batch; the last one comes with the ending. Files inside of it are for `take`.

    The reader begins with the `following` file while the caller is busy with this one. Raises `DocumentError`.
    """
    stored = carried(tools.database, file.document, file.revision, file.chunking, file.rules.vocabulary)
    if stored is None:
        stored = _without_members(file, _made(tools, file, following), take)
    yield from with_ending(stored, file.document.name)


def _request(tools: Staging, file: StagedFile) -> Request:
    """What is asked of the reader for a file."""
    document, given = file.document, file.revision.given
    path = tools.blobs.path(file.revision.blob_sha256).absolute()
    instructions = Instructions(document.name, given.title, file.chunking, file.rules.vocabulary)
    media_type = f"{given.media_type}; charset={given.charset}" if given.charset else given.media_type
    return Request(str(path), document.name, media_type, STAGE, instructions.encoded(), file.password)


def _is_sure_to_be_read(tools: Staging, file: StagedFile) -> bool:
    """Whether a file will be asked of the reader in any case, and can be at once.

    One that is served already may be about to move, and one of another machine has to be fetched.
    """
    is_within = 0 < file.revision.size <= tools.reader.limits.file_bytes
    return is_within and file.document.serving_revision_id is None and not tools.blobs.are_fetched


def _made(
    tools: Staging, file: StagedFile, following: StagedFile | None
) -> Iterator[Prepared | Ending | Member | TableRows]:
    """What the reader makes of the file, or of what a remote reader makes of that."""
    request = _request(tools, file)
    ahead = _request(tools, following) if following is not None and _is_sure_to_be_read(tools, following) else None

    def make(path: Path, media_type: str) -> Iterator[Prepared | Ending | Member | TableRows]:
        receiver = Receiver(request.name, tools.reader.limits.parse_output_bytes)
        asked = request._replace(path=str(path), media_type=media_type)
        return tools.reader.make(asked, receiver, ahead if tools.converter_for is None else None)

    refuse_claimed_answer(request.name, request.media_type)
    path = Path(request.path)
    if tools.converter_for is None:
        return make(path, request.media_type)
    known = to_convert(tools.reader, path, request.name, request.media_type)
    converter = tools.converter_for(known.detected.media_type)
    if converter is None:
        return make(path, request.media_type)
    watch = Watch(Patience(tools.database, file.work), lambda: _mark_as_converted(tools, file, converter))
    return _told(read_converted(known, converter, tools.blobs, make, watch), known.detected.media_type, watch.notices)


def _told(
    pieces: Iterator[Prepared | Ending | Member | TableRows], media_type: str, notices: Sequence[Notice]
) -> Iterator[Prepared | Ending | Member | TableRows]:
    """The pieces, with the type of the file itself in the ending, and what is told of how it was read."""
    for piece in pieces:
        if isinstance(piece, Ending):
            facts = replace(piece.facts, media_type=media_type)
            yield replace(piece, facts=facts, notices=(*notices, *piece.notices))
        else:
            yield piece


def _mark_as_converted(tools: Staging, file: StagedFile, converter: Converter) -> None:
    """Never to be continued: the service may answer otherwise the next time, and what is staged would not fit."""
    with tools.database.write(durable=False) as tx:
        file.work.hold(tx)
        documents.set_staged_by(tx, file.revision.id, f"{tools.mark(file.lexical)}, {converter.label}")


def _without_members(
    file: StagedFile, made: Iterable[Prepared | Ending | Member | TableRows], take: Callable[[Member], None] | None
) -> Iterator[Prepared | Ending]:
    """The batches with the rows of tables that came before them; files inside are for `take`."""
    rows: list[TableRows] = []
    if take is not None:
        file.member_count = 0
    for one in made:
        if isinstance(one, TableRows):
            rows.append(one)
        elif isinstance(one, Prepared):
            yield replace(one, tables=tuple(rows)) if rows else one
            rows = []
        elif isinstance(one, Ending):
            yield one
        elif take is not None:
            take(one)


def with_ending(pieces: Iterable[Prepared | Ending], name: str) -> Iterator[tuple[Prepared, Ending | None]]:
    """The batches of a file, the last one with the ending. Raises `ParserCrashed` where there is none."""
    held: Prepared | None = None
    ending: Ending | None = None
    # Read to its end: a reader that is left in the middle of an answer is started anew for the next file.
    for made in pieces:
        if isinstance(made, Ending):
            ending = made
            continue
        if held is not None:
            yield held, None
        held = made
    if held is not None and ending is not None:
        yield held, ending
        return
    raise ParserCrashed(name=name, reason="it ended too early")


def stage_early(tx: Writing, file: StagedFile, batch: Prepared) -> None:
    """Commit a batch that more of the file follows; the last thing a transaction does."""
    if not file.cut:
        # Named from the start, so that a purge finds postings of a revision that was never published.
        indexes.record_progress(tx, file.lexical.id, file.revision.id, "pending", 0, 0)
    postings = _stage(tx, file, batch)
    tx.lexical.add(tx, file.lexical.number, postings)


def stage_last(tx: Writing, file: StagedFile, batch: Prepared, ending: Ending) -> list[tuple[int, Posting]]:
    """Stage the last batch and what is known of the whole; the postings are for the caller to add."""
    postings = _stage(tx, file, batch)
    document, revision = file.document, file.revision
    facts = merged(ending.facts, revision.given)
    whole = document_keys(document.name, facts.title, facts.metadata)
    rereading.replace_whole(tx, document, revision.id, facts, whole)
    indexes.record_progress(
        tx,
        file.lexical.id,
        revision.id,
        "ready",
        file.cut,
        file.cut,
        alias_overflow=file.alias_overflow,
        rules=file.rules.fingerprint,
    )
    documents.record_read(
        tx,
        revision.id,
        facts,
        ending.notices,
        file.cut,
        file.text_length,
        is_doubtful=is_doubtful(facts.quality, ending.notices),
        member_count=file.member_count,
    )
    return postings


def _stage(tx: Writing, file: StagedFile, batch: Prepared) -> list[tuple[int, Posting]]:
    """Write one batch, leaving out what an earlier attempt committed."""
    revision_id, document = file.revision.id, file.document
    done = file.committed or chunks.staged(tx, revision_id)
    new_text = batch.text[max(0, done.text_length - file.text_length) :]
    if new_text:
        at = max(file.text_length, done.text_length)
        chunks.stage_text(tx, revision_id, done.text_pieces, at, new_text)
    skipped = max(0, done.chunks - file.cut)
    new = batch.chunks[skipped:]
    keys = chunks.stage_chunks(tx, revision_id, new) if new else []
    disabled_passages.stay_disabled(tx, document.id, [(key, one.text) for key, (one, _) in zip(keys, new, strict=True)])
    if batch.keys:
        by_seq = {chunk.seq: key for (chunk, _), key in zip(new, keys, strict=True)}
        found = ((key, by_seq[key.seq]) for key in batch.keys if key.seq is not None and key.seq in by_seq)
        chunks.stage_keys(tx, document.knowledge_base_id, document.id, revision_id, found)
    tables.stage(tx, document, revision_id, batch.tables)
    file.cut += len(batch.chunks)
    file.text_length += len(batch.text)
    file.alias_overflow += sum(posting.alias_overflow for posting in batch.postings)
    pieces = done.text_pieces + bool(new_text)
    file.committed = chunks.Staged(max(done.chunks, file.cut), pieces, max(done.text_length, file.text_length))
    return list(zip(keys, batch.postings[skipped:], strict=True))
