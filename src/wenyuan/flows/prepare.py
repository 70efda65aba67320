"""A file is made ready for the library in the child process that reads it: cut, and each chunk read for its words.

Reading words, dates and identifiers takes most of the time that ingestion takes. Beside the parser
it uses another core than the worker, which only checks what comes and writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wenyuan.flows.prepared import Ending, Instructions, encode_batch, encode_ending
from wenyuan.flows.reading import Reading, cut
from wenyuan.language.postings import read_chunk
from wenyuan.parsers.wire import packed
from wenyuan.rules.chunking import Chunker
from wenyuan.types import Chunk, Key, Member, Posting, ReadEvent, TableRows

STAGE = "wenyuan.flows.prepare:prepare"
"""What the child process is asked to do."""

_BATCH_CHUNKS = 512
_BATCH_CHARACTERS = 1 << 19


@dataclass(slots=True)
class _Batch:
    text: list[str] = field(default_factory=list)
    chunks: list[tuple[Chunk, Posting, list[Key]]] = field(default_factory=list)
    characters: int = 0

    @property
    def is_full(self) -> bool:
        return self.characters >= _BATCH_CHARACTERS or len(self.chunks) >= _BATCH_CHUNKS


def prepare(events: Iterable[ReadEvent], arguments: Any) -> Iterator[Any]:
    """Yield the file in batches as `prepared` writes them, and at last its ending."""
    how = Instructions.decoded(arguments)
    reading, chunker, batch = Reading(), Chunker(how.chunking), _Batch()
    for piece in cut(events, chunker, reading, how.title):
        if isinstance(piece, Member | TableRows):
            yield packed(piece)
            continue
        batch.text.append(piece.text)
        batch.characters += len(piece.text)
        batch.chunks += [(chunk, *read_chunk(how.name, chunk, how.vocabulary)) for chunk in piece.chunks]
        if batch.is_full:
            yield encode_batch("".join(batch.text), batch.chunks, chunker.settled)
            batch = _Batch()
    yield encode_batch("".join(batch.text), batch.chunks, chunker.settled)
    yield encode_ending(Ending(reading.whole(), tuple(reading.notices)))
