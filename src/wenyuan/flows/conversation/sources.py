"""What an answer may rest on: passages, numbered in the order in which they were found, each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wenyuan.flows.evidence import Evidence, evidence_of_hit, evidence_of_passage
from wenyuan.types import Hit, Passage


@dataclass(frozen=True, slots=True)
class Source:
    """A passage under the number by which an answer cites it, and in words what was computed from its table."""

    number: int
    passage: Passage
    evidence: Evidence
    computed: str = ""


class Sources:
    """The sources of one answer. A passage that is found again keeps its number."""

    def __init__(self) -> None:
        self._by_chunk: dict[str, Source] = {}
        self._shown: set[int] = set()

    def show(self, source: Source) -> None:
        """Note that the model was shown a source, so that it may be cited."""
        self._shown.add(source.number)

    @property
    def shown(self) -> tuple[Source, ...]:
        """What the model was shown, in the order of the numbers."""
        return tuple(one for one in self._by_chunk.values() if one.number in self._shown)

    def all(self) -> tuple[Source, ...]:
        return tuple(self._by_chunk.values())

    def add_hits(self, hits: Sequence[Hit]) -> tuple[Source, ...]:
        """Number what a search has found; the sources of these hits, in their order."""
        return tuple(self._add(hit.passage, evidence_of_hit(0, hit)) for hit in hits)

    def add_read(self, passages: Sequence[Passage]) -> tuple[Source, ...]:
        """Number passages that were read rather than found."""
        return tuple(self._add(one, evidence_of_passage(0, one)) for one in passages)

    def add_computed(self, passage: Passage, computed: str) -> Source:
        """Number what was computed from a table; `passage` is where its first row stands."""
        number = len(self._by_chunk) + 1
        evidence = evidence_of_passage(number, passage)
        source = self._by_chunk[f"{passage.chunk_id}#{number}"] = Source(number, passage, evidence, computed)
        return source

    def _add(self, passage: Passage, evidence: Evidence) -> Source:
        known = self._by_chunk.get(passage.chunk_id)
        if known is None:
            number = len(self._by_chunk) + 1
            known = self._by_chunk[passage.chunk_id] = Source(number, passage, replace(evidence, number=number))
        return known
