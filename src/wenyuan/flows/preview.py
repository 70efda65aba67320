"""How a file would be read and cut, by the very code that would do it; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wenyuan.errors import PathNotFound
from wenyuan.flows.reading import Reading, cut
from wenyuan.parsers.sandbox import SandboxedReader
from wenyuan.rules.chunking import Chunker
from wenyuan.types import Chunk, ChunkingConfig, Facts, Notice

_SAMPLES = 10


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be stored: lengths are in characters, `samples` are spread over the file."""

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


def preview(reader: SandboxedReader, path: Path, config: ChunkingConfig) -> Preview:
    """Read and cut one file. Raises `PathNotFound`, or `DocumentError` where the file is at fault."""
    if not path.exists():
        raise PathNotFound(path=path)
    seen = Reading()
    lengths: list[int] = []
    samples: list[Chunk] = []
    stride = 1
    text_length = 0
    for piece in cut(reader.read(path, path.name), Chunker(config), seen):
        text_length += len(piece.text)
        for chunk in piece.chunks:
            if len(lengths) % stride == 0:
                samples.append(chunk)
                if len(samples) > 2 * _SAMPLES:
                    # Thinned to every other one as the file grows, so that they stay spread over it.
                    samples, stride = samples[::2], stride * 2
            lengths.append(len(chunk.text))
    return Preview(
        name=path.name,
        facts=seen.facts,
        notices=tuple(seen.notices),
        chunking=config,
        blocks=dict(seen.blocks),
        chunk_count=len(lengths),
        text_length=text_length,
        shortest=min(lengths, default=0),
        longest=max(lengths, default=0),
        mean=sum(lengths) / len(lengths) if lengths else 0.0,
        samples=tuple(samples[:: max(1, -(-len(samples) // _SAMPLES))]),
    )
