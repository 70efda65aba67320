"""What a reader yields, sorted: blocks are cut into chunks, facts and notices are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from wenyuan.rules.chunking import Chunker, Fed
from wenyuan.types import Block, ChunkingConfig, Facts, Notice, ReadEvent


@dataclass(slots=True)
class Reading:
    """What has been learnt of a file so far."""

    facts: Facts = field(default_factory=lambda: Facts(""))
    notices: list[Notice] = field(default_factory=list)
    blocks: Counter[str] = field(default_factory=Counter)


def cut(events: Iterable[ReadEvent], config: ChunkingConfig, reading: Reading) -> Iterator[Fed]:
    """Yield the file's text piece by piece, each with the chunks it completed."""
    chunker = Chunker(config)
    for event in events:
        if isinstance(event, Block):
            reading.blocks[event.kind] += 1
            yield chunker.feed(event)
        elif isinstance(event, Facts):
            reading.facts = event
        else:
            reading.notices.append(event)
    yield Fed("", chunker.finish())
