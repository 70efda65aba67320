"""Sources as a language model is shown them."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.flows.conversation.asking import Conversation
from wenyuan.flows.conversation.sources import Source
from wenyuan.rules.conversation.budget import estimate_tokens
from wenyuan.rules.conversation.document_blocks import SourceDocument, document_blocks
from wenyuan.types import Anchor

NO_ROOM = "There is no room for the rest of it; answer with what you have."


def blocks_that_fit(conversation: Conversation, sources: Sequence[Source]) -> str:
    """Sources as blocks, as many as there is room for in the window of the model; what was left out is said."""
    shown: list[str] = []
    for source in sources:
        block = document_blocks([block_of(source)])
        if not conversation.room.take(estimate_tokens(block)):
            conversation.left_out.append(f"source {source.number}: no room")
            shown.append(NO_ROOM)
            break
        conversation.sources.show(source)
        shown.append(block)
    return "\n\n".join(shown)


def block_of(source: Source) -> SourceDocument:
    passage = source.passage
    return SourceDocument(
        number=source.number,
        name=passage.document_name,
        chunk_index=passage.chunk.seq,
        anchor=_place(passage.chunk.anchor),
        score=source.evidence.score,
        text=passage.chunk.text,
        headings=passage.chunk.heading_path,
        context=passage.chunk.context,
    )


def _place(anchor: Anchor) -> str:
    span = f"{anchor.first}" if anchor.last == anchor.first else f"{anchor.first}-{anchor.last}"
    return f"{anchor.kind} {span} {anchor.name}".strip()
