"""What a question came to: the answer, what it rests on, and what is known of how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from wenyuan.flows.conversation.asking import UnreadFile
from wenyuan.flows.conversation.model_calls import Usage
from wenyuan.flows.conversation.sources import Source
from wenyuan.flows.evidence import Evidence, citation_of_passage
from wenyuan.language.words import index_tokens
from wenyuan.rules.citations.citing import CitedSource, check_citations
from wenyuan.rules.extraction import sentences_of
from wenyuan.types import Citation, FinishReason, Grounding, JsonObject, SentenceSupport

Grounded = Literal["likely", "unlikely", "none"]

_MOST_SENTENCES = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. `support` says of each of its sentences, by offsets in `text`, whether its sources hold it.

    `invented` are citations that the model made up, which were removed; `degraded` names what was done without,
    `unread` the files that could not be read, and `turn` is the number under which a session keeps it.
    """

    text: str
    citations: tuple[Citation, ...]
    support: tuple[SentenceSupport, ...]
    invented: tuple[str, ...]
    grounded: Grounded
    finish_reason: FinishReason
    degraded: tuple[str, ...]
    unread: tuple[UnreadFile, ...]
    model: str
    prompt_version: str
    usage: Usage
    latency_ms: float
    turn: int | None
    sources: tuple[Evidence, ...]

    def members(self) -> JsonObject:
        """Its fields by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"usage": asdict(self.usage)}


@dataclass(frozen=True, slots=True)
class Body:
    """The part of a reply that depends on who wrote it.

    `grounding` is the search's estimate, once the sentences that would answer are known.
    """

    finish_reason: FinishReason
    grounded: Grounded = "none"
    citations: tuple[Citation, ...] = ()
    support: tuple[SentenceSupport, ...] = ()
    invented: tuple[str, ...] = ()
    model: str = ""
    grounding: Grounding | None = None


def checked(
    text: str,
    finish_reason: FinishReason,
    model: str,
    invented: Sequence[str],
    shown: Sequence[Source],
    earlier: Sequence[Citation] = (),
) -> Body:
    """What a model wrote, with its citations, and each of its sentences held against the sources that it names.

    `earlier` are citations of the answer before, which a reply without sources of its own may repeat.
    """
    if not shown:
        cited = _repeated(text, earlier)
        return Body(finish_reason, "none", cited, (), tuple(invented), model)
    result = check_citations(text, [_cited_source(source) for source in shown])
    numbers = dict.fromkeys(number for sentence in result.sentences for number in sentence.numbers)
    by_number = {source.number: source for source in shown}
    citations = tuple(
        _citation(by_number[number], [text[s.start : s.end] for s in result.sentences if number in s.numbers])
        for number in sorted(numbers)
        if number in by_number
    )
    # A sentence that cites nothing may be a courtesy; one that cites what does not say it is a fault.
    at_fault = any(one.numbers and one.support == "unsupported" for one in result.sentences)
    grounded: Grounded = "likely" if citations and not at_fault else "unlikely"
    found = tuple(dict.fromkeys([*invented, *result.invented]))
    return Body(finish_reason, grounded, citations, result.sentences, found, model)


def _cited_source(source: Source) -> CitedSource:
    passage = source.passage
    about = " ".join((passage.document_name, *passage.chunk.heading_path, passage.chunk.context))
    return CitedSource(source.number, f"{passage.chunk.text}\n{source.computed}", about)


def _repeated(text: str, earlier: Sequence[Citation]) -> tuple[Citation, ...]:
    return tuple(one for one in earlier if f"[{one.number}]" in text)


def _citation(source: Source, citing: Sequence[str]) -> Citation:
    """The way back to the sentence of a passage that says most of what was cited for it; to all of it in doubt."""
    passage = source.passage
    whole = citation_of_passage(source.number, passage, 0, len(passage.chunk.text))
    wanted = {token for text in citing for token in index_tokens(text)}
    sentences = sentences_of([passage.chunk.text], _MOST_SENTENCES)
    shared = [len(wanted.intersection(index_tokens(sentence.text))) for sentence in sentences]
    if not shared or max(shared) == 0:
        return whole
    best = sentences[shared.index(max(shared))]
    return citation_of_passage(source.number, passage, best.start, best.end)


def stored(reply: Reply) -> tuple[JsonObject, Mapping[str, bool]]:
    """What a session keeps of a reply besides its text, and the documents it names, each with whether it is quoted.

    Of its sources it keeps where they are, not what they say.
    """
    members: dict[str, Any] = dict(reply.members())
    del members["text"]
    members["sources"] = tuple(replace(one, text="", context="", highlights=()) for one in reply.sources)
    named = {one.document_id: False for one in reply.sources}
    named |= {one.document_id: False for one in reply.unread}
    named |= {one.document_id: True for one in reply.citations}
    return members, named
