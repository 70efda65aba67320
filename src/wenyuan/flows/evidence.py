"""What a search found, as programs read it: passages with their places, ready to be quoted and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wenyuan.types import Anchor, ArmName, Citation, Exactness, Hit, Passage, TextSpan


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
    return tuple(evidence_of_hit(number, hit) for number, hit in enumerate(hits, start=1))


def evidence_of_hit(number: int, hit: Hit) -> Evidence:
    return replace(
        evidence_of_passage(number, hit.passage),
        score=hit.score,
        match_type=hit.match_type,
        exactness=hit.exactness,
        hit_modes=hit.hit_modes,
        highlights=hit.highlights,
    )


def evidence_of_passage(number: int, passage: Passage) -> Evidence:
    """A passage that was read as part of its document, and not found by any list."""
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
        score=0.0,
        match_type="read",
        exactness="none",
        hit_modes=(),
        highlights=(),
    )


def citation_of_passage(number: int, passage: Passage, start: int, end: int) -> Citation:
    """The way back to the words between two offsets into the text of a passage."""
    return Citation(
        number=number,
        chunk_id=passage.chunk_id,
        document_id=passage.document_id,
        revision_id=passage.revision_id,
        document_name=passage.document_name,
        source=passage.source,
        anchor=passage.chunk.anchor,
        heading_path=passage.chunk.heading_path,
        quote=passage.chunk.text[start:end],
        start=passage.chunk.start + start,
        end=passage.chunk.start + end,
    )
