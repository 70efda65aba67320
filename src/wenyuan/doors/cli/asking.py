"""`wenyuan search` and `wenyuan ask`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from wenyuan.doors.cli.filtering import FilterOption, filters_of
from wenyuan.doors.cli.output import Part, one_line
from wenyuan.doors.cli.places import anchor_label, citation_label, clickable, heading_label
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.doors.cli.sessions import SessionOption, show_unread
from wenyuan.types import Answer, ArmName, Citation, Hit, SearchResult, SentenceSupport

_EXCERPT_BEFORE, _EXCERPT_LENGTH = 60, 320
_CLOSEST_SHOWN = 3

Arm = Literal["structured", "keyword", "vector"]


def search(
    question: str,
    /,
    *,
    kb: list[str] | None = None,
    document: list[str] | None = None,
    filters: FilterOption = None,
    conversation: SessionOption = None,
    top_k: int | None = None,
    arm: list[Arm] | None = None,
    full: bool = False,
    session: Given,
) -> int:
    """Find the passages that answer a question, best first.

    Parameters
    ----------
    question
        Words, a date, a version or a name; a question that begins with a hyphen goes behind `--`.
    kb
        Knowledge base to search; may be given several times. Else all that are not archived.
    document
        Document to search, by id, path or name; may be given several times.
    filters
        Field of documents and what it must be: FIELD=VALUE, FIELD=A,B for any of several values, FIELD=2020..2024
        for a range of numbers or dates, FIELD=PREFIX*; may be given several times.
    conversation
        Session within which to search: what is attached to it is searched too.
    top_k
        How many passages to show at most.
    arm
        List to search: structured (dates, versions, codes), keyword or vector; may be given several times.
    full
        Show passages whole instead of an excerpt around the words that matched.
    """
    arms: dict[str, Sequence[ArmName]] = {"arms": arm} if arm else {}
    with session.open() as library:
        asked = filters_of(filters)
        result = library.search(
            question, kb=kb, documents=document, filters=asked, session=conversation, top_k=top_k, **arms
        )
        unread = library.sessions.usable(conversation)[1] if conversation is not None else ()

    def render() -> None:
        _show_result(session, result, full)
        show_unread(session, unread)

    session.show(result, render)
    return OK


def ask(
    question: str,
    /,
    *,
    kb: list[str] | None = None,
    document: list[str] | None = None,
    filters: FilterOption = None,
    conversation: SessionOption = None,
    model: str = "",
    session: Given,
) -> int:
    """Answer a question from the documents, each sentence with its place.

    The model with the role `answer` writes it; without one, the answer is sentences of the documents, word for word.

    Parameters
    ----------
    question
        The question; one that begins with a hyphen goes behind `--`.
    kb
        Knowledge base to search; may be given several times. Else all that are not archived.
    document
        Document to answer from, by id, path or name; may be given several times.
    filters
        Field of documents and what it must be: FIELD=VALUE, FIELD=A,B for any of several values, FIELD=2020..2024
        for a range of numbers or dates, FIELD=PREFIX*; may be given several times.
    conversation
        Session within which to answer: what is attached to it is read too.
    model
        Configured model that is to write the answer instead of the usual one.
    """
    with session.open() as library:
        asked = filters_of(filters)
        answer = library.ask(question, kb=kb, documents=document, filters=asked, session=conversation, model=model)
        unread = library.sessions.usable(conversation)[1] if conversation is not None else ()

    def render() -> None:
        _show_answer(session, answer)
        show_unread(session, unread)

    session.show(answer, render)
    return OK


def _show_result(session: Session, result: SearchResult, full: bool) -> None:
    say, out = session.say, session.out
    for rank, hit in enumerate(result.hits, start=1):
        _show_hit(session, rank, hit, full)
    out.line((result.explanation, "bold" if result.hits else "bold yellow"))
    show_degraded(session, result.degraded)
    if result.hits:
        out.line((say("search.open", command=session.command("docs open ID")), "dim"), whole=True)
    _show_trace(session, result)


def _show_hit(session: Session, rank: int, hit: Hit, full: bool) -> None:
    out, passage = session.out, hit.passage
    where = [anchor_label(session.say, passage.chunk.anchor), heading_label(passage.chunk.heading_path)]
    out.line(
        (f"{rank}  ", "bold"), (one_line(passage.document_name), "bold cyan"), f"  {' · '.join(filter(None, where))}"
    )
    lists = [session.say("search.rank", arm=session.say(f"arm.{arm}"), rank=place) for arm, place in hit.ranks.items()]
    match = session.say("match.hybrid" if hit.match_type == "hybrid" else f"arm.{hit.match_type}")
    out.line((f"{match}: {session.say('list.separator').join(lists)}  ", "dim"), passage.chunk_id, indent=3)
    out.line(*_highlighted(hit, full), indent=3)
    out.line("")


def _highlighted(hit: Hit, full: bool) -> list[Part]:
    """A passage's words with those that matched marked, cut to an excerpt around the first of them."""
    text = hit.passage.chunk.text
    start, end = 0, len(text)
    if not full and len(text) > _EXCERPT_LENGTH:
        first = hit.highlights[0].start if hit.highlights else 0
        start = max(0, min(first - _EXCERPT_BEFORE, len(text) - _EXCERPT_LENGTH))
        end = start + _EXCERPT_LENGTH
    parts: list[Part] = ["…"] if start else []
    for span in hit.highlights:
        if span.end <= start or span.start >= end:
            continue
        parts += [text[start : span.start], (text[max(start, span.start) : min(end, span.end)], "bold underline")]
        start = min(end, span.end)
    parts += [text[start:end], *(["…"] if end < len(text) else [])]
    return parts if full else [_closed_up(part) for part in parts]


def _closed_up(part: Part) -> Part:
    """Without empty lines, so that an excerpt stays short."""
    text, style = (part, "") if isinstance(part, str) else part
    return re.sub(r"\n\s*\n", "\n", text), style


def _show_answer(session: Session, answer: Answer) -> None:
    out = session.out
    out.line((answer.text, "" if answer.citations else "bold yellow"))
    out.line("")
    show_citations(session, answer.citations)
    if answer.finish_reason == "fallback" and not answer.search.grounding.missing:
        for rank, hit in enumerate(answer.search.hits[:_CLOSEST_SHOWN], start=1):
            _show_hit(session, rank, hit, full=False)
    show_faults(session, answer.text, answer.support, answer.invented)
    show_grounds(session, answer.grounded, answer.model)
    show_degraded(session, answer.search.degraded)
    _show_trace(session, answer.search)


def show_citations(session: Session, citations: Sequence[Citation]) -> None:
    """The places of an answer's citations, each under its number."""
    for citation in citations:
        _show_citation(session, citation)
    if citations:
        session.out.line("")


def show_grounds(session: Session, grounded: str, model: str) -> None:
    """Which model wrote an answer, if one did, and whether it rests on the documents."""
    say, out = session.say, session.out
    if model:
        out.line((say("answer.model", model=model), "dim"))
    said_by_a_model = "answer.likely" if grounded == "likely" else "answer.unlikely"
    out.line((say(said_by_a_model if model else f"grounded.{grounded}"), "green" if grounded == "likely" else "yellow"))


def show_faults(session: Session, text: str, support: Sequence[SentenceSupport], invented: Sequence[str]) -> None:
    """What of an answer does not stand in the sources that it cites, and what was no source at all."""
    say, out = session.say, session.out
    for one in support:
        if one.numbers and one.support == "unsupported":
            missing = say("answer.missing", missing=say("list.separator").join(one.missing)) if one.missing else ""
            sentence = one_line(text[one.start : one.end])
            fault = say("answer.unsupported", sentence=sentence, missing=missing)
            out.line((say("note"), "bold yellow"), fault)
    if invented:
        numbers = say("list.separator").join(invented)
        out.line((say("note"), "bold yellow"), say("answer.invented", numbers=numbers))


def _show_citation(session: Session, citation: Citation) -> None:
    heading = f" ({heading_label(citation.heading_path)})" if citation.heading_path else ""
    label = citation_label(session.say, citation.document_name, citation.anchor)
    session.out.line((f"[{citation.number}] ", "bold"), (label, "cyan"), heading)
    session.out.line(
        (f"{clickable(citation.source, citation.anchor)}  {citation.chunk_id}", "dim"), indent=4, whole=True
    )


def show_degraded(session: Session, degraded: Sequence[str]) -> None:
    """One line for each thing a search had to do without."""
    for name in degraded:
        session.out.line((session.say("note"), "bold yellow"), degradation(session, name))


def degradation(session: Session, name: str) -> str:
    """A degradation's stable name, with a sentence where there is one for its kind."""
    if partial := re.fullmatch(r"vector-partial: (\d+) of (\d+) documents", name):
        return session.say("degraded.vector-partial", seen=int(partial[1]), total=int(partial[2]))
    stage, _, reason = name.partition(": ")
    if stage in ("embed", "answer", "rerank", "replica"):
        return session.say(f"degraded.{stage}", reason=reason)
    return name


def _show_trace(session: Session, result: SearchResult) -> None:
    command = session.command(f"explain {result.trace_id}")
    session.out.line((session.say("trace", trace=result.trace_id, command=command), "dim"), whole=True)
