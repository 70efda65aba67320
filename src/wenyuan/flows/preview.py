"""How a file would be read and cut, by the very code that would do it; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from wenyuan.errors import PathNotFound
from wenyuan.flows.convert import Watch, read_converted, to_convert
from wenyuan.flows.reading import Reading, cut
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.ports import Converter
from wenyuan.rules.chunking import Chunker, Fed
from wenyuan.rules.quality import Doubt, doubts
from wenyuan.store.blobs import BlobDirectory
from wenyuan.types import Block, Chunk, ChunkingConfig, Facts, Member, Notice, ReadEvent, TableRows

_SAMPLES = 10
_MEMBERS_NAMED = 1000
_BLOCK_START = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be stored: lengths are in characters, `samples` are spread over the file.

    `blocks` counts what its reader found, by kind; `first_blocks` are these themselves, as many as were
    asked for, with the beginnings of their texts. `members` are the paths of files inside of it that
    would be documents of their own; `doubts` say why a person should look at it.
    """

    name: str
    facts: Facts
    notices: tuple[Notice, ...]
    chunking: ChunkingConfig
    blocks: dict[str, int]
    chunk_count: int
    text_length: int
    shortest: int
    longest: int
    mean: float
    samples: tuple[Chunk, ...]
    first_blocks: tuple[Block, ...] = ()
    members: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()


@dataclass(slots=True)
class _Seen:
    """What is kept of a file while it goes by."""

    most_blocks: int
    first_blocks: list[Block] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    samples: list[Chunk] = field(default_factory=list)
    text_length: int = 0
    stride: int = 1

    def watched(self, events: Iterable[ReadEvent]) -> Iterator[ReadEvent]:
        for event in events:
            if isinstance(event, Block) and len(self.first_blocks) < self.most_blocks:
                self.first_blocks.append(replace(event, text=event.text[:_BLOCK_START]))
            yield event

    def take(self, piece: Fed | Member | TableRows) -> None:
        if isinstance(piece, TableRows):
            return
        if isinstance(piece, Member):
            if piece.is_last and len(self.members) < _MEMBERS_NAMED:
                self.members.append(piece.path)
            return
        self.text_length += len(piece.text)
        for chunk in piece.chunks:
            if len(self.lengths) % self.stride == 0:
                self.samples.append(chunk)
                if len(self.samples) > 2 * _SAMPLES:
                    # Thinned to every other one as the file grows, so that they stay spread over it.
                    self.samples, self.stride = self.samples[::2], self.stride * 2
            self.lengths.append(len(chunk.text))


Read = Callable[[Path, str], Iterator[ReadEvent]]


@dataclass(frozen=True, slots=True)
class Converting:
    """Which remote reader has files of a media type, and where its answers lie while they are read."""

    converter_for: Callable[[str], Converter | None]
    blobs: BlobDirectory


def preview(
    reader: SandboxedReader,
    path: Path,
    config: ChunkingConfig,
    password: str = "",
    most_blocks: int = 0,
    converting: Converting | None = None,
    name: str = "",
) -> Preview:
    """Read and cut one file, by the remote reader of its type where there is one.

    It goes by its `name`, if that is not its path's. Raises `PathNotFound`, `DocumentError` where the file is at
    fault, and what `Converter.convert` raises.
    """
    if not path.exists():
        raise PathNotFound(path=path)
    reading, seen = Reading(), _Seen(most_blocks)
    name = name or path.name

    def read(source: Path, media_type: str) -> Iterator[ReadEvent]:
        return reader.read(source, name, media_type, password)

    events = read(path, "") if converting is None else _converted(reader, converting, path, name, read)
    for piece in cut(seen.watched(events), Chunker(config), reading):
        seen.take(piece)
    lengths, samples, facts = seen.lengths, seen.samples, reading.whole()
    return Preview(
        name=name,
        facts=facts,
        notices=tuple(reading.notices),
        chunking=config,
        blocks=dict(reading.blocks),
        chunk_count=len(lengths),
        text_length=seen.text_length,
        shortest=min(lengths, default=0),
        longest=max(lengths, default=0),
        mean=sum(lengths) / len(lengths) if lengths else 0.0,
        samples=tuple(samples[:: max(1, -(-len(samples) // _SAMPLES))]),
        first_blocks=tuple(seen.first_blocks),
        members=tuple(seen.members),
        doubts=doubts(facts.quality, reading.notices),
    )


def _converted(
    reader: SandboxedReader, converting: Converting, path: Path, name: str, read: Read
) -> Iterator[ReadEvent]:
    known = to_convert(reader, path, name, "")
    converter = converting.converter_for(known.detected.media_type)
    if converter is None:
        yield from read(path, "")
        return
    watch = Watch(lambda: None, lambda: None)
    for event in read_converted(known, converter, converting.blobs, read, watch):
        yield from watch.notices
        watch.notices.clear()
        yield replace(event, media_type=known.detected.media_type) if isinstance(event, Facts) else event
