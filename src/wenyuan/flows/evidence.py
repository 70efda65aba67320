"""What a search found, as programs read it: passages with their places, ready to be quoted and checked."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.types import Anchor, ArmName, Exactness, Hit, TextSpan


@dataclass(frozen=True, slots=True)
class Evidence:
    """One passage that was found. `citation` leads back to its place, and `highlights` are offsets into its `text`.

    `context` is what it needs to be understood alone, such as the header of its table.
    """

    number: int
    citation: str
    document_id: str
    document_name: str
    knowledge_base_id: str
    source: str
    anchor: Anchor
    heading_path: tuple[str, ...]
    context: str
    text: str
    score: float
    match_type: str
    exactness: Exactness
    hit_modes: tuple[ArmName, ...]
    highlights: tuple[TextSpan, ...]


def evidence_of(hits: tuple[Hit, ...]) -> tuple[Evidence, ...]:
    return tuple(_evidence(number, hit) for number, hit in enumerate(hits, start=1))


def _evidence(number: int, hit: Hit) -> Evidence:
    passage = hit.passage
    return Evidence(
        number=number,
        citation=passage.chunk_id,
        document_id=passage.document_id,
        document_name=passage.document_name,
        knowledge_base_id=passage.knowledge_base_id,
        source=passage.source,
        anchor=passage.chunk.anchor,
        heading_path=passage.chunk.heading_path,
        context=passage.chunk.context,
        text=passage.chunk.text,
        score=hit.score,
        match_type=hit.match_type,
        exactness=hit.exactness,
        hit_modes=hit.hit_modes,
        highlights=hit.highlights,
    )
