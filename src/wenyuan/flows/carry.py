"""A document that moves to another knowledge base takes its stored passages along, where they would be cut alike there.

They are read again for the words and keys by which the other knowledge base finds them; the file is
not, and vectors are shared by what was embedded.
"""

from __future__ import annotations

from collections.abc import Iterator

from wenyuan.flows.prepared import Ending, Prepared
from wenyuan.language.postings import read_chunk
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.rules.embedding_input import embedding_input, input_hash
from wenyuan.store import chunks, documents, moves, tables
from wenyuan.store.database import Database
from wenyuan.types import Chunk, ChunkingConfig, Document, Facts, Revision

_BATCH_CHUNKS = 512


def carried(
    database: Database, document: Document, revision: Revision, chunking: ChunkingConfig, vocabulary: Vocabulary
) -> Iterator[Prepared | Ending] | None:
    """What a reader would make of a moving revision's file, from what its document serves; None where it must be read.

    That is so for every other revision, and where the file, what was given of it, or the chunking is
    not the same.
    """
    serving = document.serving_revision_id
    with database.read() as tx:
        if serving is None or moves.destination_of_revision(tx, revision.id) is None:
            return None
        found = documents.revision(tx, serving)
    if found is None:
        return None
    _, served, cut_by = found
    is_same = (served.blob_sha256, served.given, cut_by) == (revision.blob_sha256, revision.given, chunking)
    return stored_pieces(database, document.name, served, vocabulary) if is_same else None


def stored_pieces(
    database: Database, name: str, served: Revision, vocabulary: Vocabulary
) -> Iterator[Prepared | Ending]:
    """What a reader would make of a revision's file that gave what is stored of it."""
    first, start = 0, 0
    while True:
        with database.read() as tx:
            batch = chunks.of_revision(tx, served.id, first, _BATCH_CHUNKS)
            is_last = len(batch) < _BATCH_CHUNKS
            end = served.text_length if is_last else batch[-1].end
            text = chunks.revision_text(tx, served.id, start, end)
        yield _prepared(name, text, batch, vocabulary)
        if is_last:
            break
        first, start = batch[-1].seq + 1, end
    yield from _stored_tables(database, served.id)
    facts = Facts(served.media_type, served.encoding, served.title, served.language, served.metadata, served.quality)
    yield Ending(facts, served.notices)


def _stored_tables(database: Database, revision_id: str) -> Iterator[Prepared]:
    after = (0, 0)
    while True:
        with database.read() as tx:
            pieces = tables.of_revision(tx, revision_id, after)
        if not pieces:
            return
        yield Prepared("", (), (), (), pieces)
        after = (pieces[-1].number, pieces[-1].start + 1)


def _prepared(name: str, text: str, batch: list[Chunk], vocabulary: Vocabulary) -> Prepared:
    read = [read_chunk(name, chunk, vocabulary) for chunk in batch]
    hashed = [(one, input_hash(embedding_input(one.heading_path, one.context, one.text))) for one in batch]
    return Prepared(text, hashed, [posting for posting, _ in read], [key for _, keys in read for key in keys])
