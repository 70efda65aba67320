"""Documents as they are shown on a page: lists, one document, its passages, a cited place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wenyuan.doors.cli.output import Column, Part, one_line
from wenyuan.doors.cli.places import anchor_label, clickable, heading_label
from wenyuan.doors.cli.session import Session
from wenyuan.types import Chunk, Problem

if TYPE_CHECKING:
    from wenyuan.runtime.documents import DocumentView, Doubt, Place, StoredPassage

_STYLES = {"ready": "green", "failed": "bold red", "pending": "yellow", "processing": "yellow"}
_FIRST_WORDS = 60
_LINES_AROUND = 3
_HELD_SHOWN = 20
_COUNTED = (
    *("characters", "pages", "pages_without_text", "pages_recognised", "sheets", "hidden_sheets", "slides"),
    *("tables", "headings", "files", "lost_characters", "private_characters", "control_characters"),
)


def _state(session: Session, view: DocumentView) -> Part:
    """How a document stands, in one cell: what keeps it out of every search, else its state and its update's."""
    say = session.say
    if view.availability != "allowed":
        return say(f"state.{view.availability}"), "bold yellow" if view.availability == "blocked" else "dim"
    state = say(f"state.{view.latest.state}")
    if view.updating:
        where = say("docs.moving-to", kb=view.moving_to) + " · " if view.moving_to else ""
        state = say("docs.update", state=say("state.ready"), update=f"{where}{state}")
    return state, _STYLES.get(view.latest.state, "")


def _availability(session: Session, view: DocumentView) -> str:
    """Why a document may not be found, where that is so."""
    if view.availability == "blocked":
        reason = session.say(f"blocked.{view.document.blocked_reason}")
        return session.say("availability.blocked", reason=reason)
    return session.say(f"availability.{view.availability}")


def _semantic(session: Session, view: DocumentView) -> Part:
    semantic = view.semantic
    if semantic.state == "none":
        return "-"
    text = session.say(f"semantic.{semantic.state}")
    counted = semantic.state == "pending" and semantic.total
    return f"{text} {semantic.done}/{semantic.total}" if counted else text, _STYLES.get(semantic.state, "")


def show_list(session: Session, views: Sequence[DocumentView], *, paths: bool, is_filtered: bool = False) -> None:
    say = session.say
    if not views and is_filtered:
        session.out.line(say("docs.nothing-such"))
        return
    if not views:
        session.out.line(say("docs.none"), session.command(say("next.add")), whole=True)
        return
    out, noticed = session.out, any(view.latest.notices for view in views)
    paths = paths or len({view.document.name for view in views}) < len(views)
    columns = [
        Column(say("column.id"), whole=True),
        Column(say("column.source" if paths else "column.name")),
        Column(say("column.state"), whole=True),
        Column(say("column.semantic"), whole=True),
        Column(say("column.chunks"), "right", whole=True),
        *([Column(say("column.notices"), "right", whole=True)] if noticed else []),
        # A terminal is too narrow for sentences beside the rest: there they follow below.
        *([] if out.is_terminal else [Column(say("column.reason"))]),
    ]
    rows: list[list[Part]] = []
    for view in _below_their_containers(views):
        name = view.document.source if paths else view.document.name
        row = [view.document.id, name, _state(session, view), _semantic(session, view)]
        row.append(str(view.latest.chunk_count))
        row += [str(len(view.latest.notices))] if noticed else []
        rows.append(row if out.is_terminal else [*row, session.reason(_problem(view))])
    out.table(columns, rows)
    if doubtful := sum(view.latest.is_doubtful for view in views):
        out.line((say("note"), "bold yellow"), say("docs.doubts", n=doubtful))
    if out.is_terminal:
        problems = [(view.document.name, _problem(view)) for view in views]
        session.show_problems([(name, problem) for name, problem in problems if problem is not None])


def _below_their_containers(views: Sequence[DocumentView]) -> list[DocumentView]:
    """The same documents, those of files inside of a file below it; one whose container is not among them stays."""
    listed = {view.document.id for view in views}
    inner: dict[str, list[DocumentView]] = {}
    for view in views:
        inner.setdefault(view.document.parent_id if view.document.parent_id in listed else "", []).append(view)
    ordered, open_views = [], inner.pop("", [])[::-1]
    while open_views:
        view = open_views.pop()
        ordered.append(view)
        held = sorted(inner.pop(view.document.id, []), key=lambda one: one.document.name)
        open_views += held[::-1]
    return ordered


def _problem(view: DocumentView) -> Problem | None:
    return view.blocked or view.latest.problem or view.waiting or view.semantic.problem


def show_one(session: Session, view: DocumentView) -> None:
    say, out, latest = session.say, session.out, view.latest
    facts: list[tuple[str, Part]] = [
        ("column.name", view.document.name),
        ("column.id", view.document.id),
        ("column.source", view.document.source),
        ("column.kb", view.knowledge_base),
        ("column.state", _state(session, view)),
        ("column.availability", _availability(session, view)),
        ("column.searchable", say("yes") if view.searchable else say("no")),
        ("column.moving", view.moving_to),
        ("column.semantic", _semantic(session, view)),
        ("column.type", " · ".join(filter(None, (latest.media_type, latest.encoding, latest.language)))),
        ("column.title", latest.title),
        ("column.disabled-passages", str(view.disabled_passages or "")),
        ("column.size", say("docs.size", size=latest.size, chunks=latest.chunk_count, length=latest.text_length)),
    ]
    facts += [("docs.inside", name) for _, name in view.lies_in]
    facts.append(("docs.quality", quality_label(session, latest.quality)))
    for title, value in facts:
        if value:
            out.line((f"{say(title)}: ", "bold"), value, whole=True)
    for document_id, name in view.holds[:_HELD_SHOWN]:
        out.line((f"{say('docs.holds')}: ", "bold"), f"{one_line(name)}  ", (document_id, "dim"), whole=True)
    if len(view.holds) > _HELD_SHOWN:
        out.line(say("docs.more-inside", n=len(view.holds) - _HELD_SHOWN))
    show_doubts(session, [doubt for doubt in view.doubts if doubt.details])
    for notice in latest.notices:
        out.line((say("note"), "bold yellow"), notice.message)
    for problem in (view.blocked, latest.problem, view.waiting, view.semantic.problem):
        if problem is not None:
            session.show_problem(problem, out)


def quality_label(session: Session, quality: Mapping[str, Any]) -> str:
    """What was counted in a file, in one line."""
    counted = [(name, quality[name]) for name in _COUNTED if isinstance(quality.get(name), int) and quality[name]]
    told = [session.say(f"quality.{name}", n=number) for name, number in counted]
    if isinstance(quality.get("reader"), str):
        told.append(session.say("quality.reader", reader=quality["reader"]))
    return " · ".join(told)


def show_doubts(session: Session, doubts: Sequence[Doubt]) -> None:
    """Why a person should look at a file. Those that are notices of its reader have no numbers: they are shown so."""
    for doubt in doubts:
        text = session.say(f"doubt.{doubt.code}", **doubt.details) if doubt.details else doubt.message
        session.out.line((f"{session.say('docs.doubtful')}: ", "bold yellow"), text)


def show_place(session: Session, place: Place) -> None:
    """A cited passage with what stands around it: cells as a table, lines with their numbers."""
    say, out = session.say, session.out
    where = [anchor_label(say, place.anchor), heading_label(place.heading_path)]
    out.line((one_line(place.document.name), "bold cyan"), f"  {' · '.join(filter(None, where))}")
    out.line((clickable(place.document.source, place.anchor), "dim"), whole=True)
    if place.changed_since:
        out.line((say("note"), "bold yellow"), say("docs.changed-since"))
    out.line("")
    if place.table:
        header, *rows = place.table
        out.table([Column(cell) for cell in header], [[*row[: len(header)]] for row in rows])
        return
    if place.context:
        out.line((place.context, "dim"))
    if place.first_line is None:
        out.line((place.before, "dim"), (place.passage, "bold"), (place.after, "dim"))
        return
    _show_lines(session, place, place.first_line)


def _show_lines(session: Session, place: Place, first: int) -> None:
    """The passage and whole lines around it, each behind its number."""
    before, lines = place.before.split("\n")[-_LINES_AROUND - 1 : -1], place.passage.split("\n")
    after = place.after.split("\n")[1 : _LINES_AROUND + 1]
    before = before if place.before.endswith("\n") and first > len(before) else []
    numbered = list(enumerate([*before, *lines, *after], first - len(before)))
    width = len(str(numbered[-1][0]))
    for number, text in numbered:
        is_cited = first <= number < first + len(lines)
        session.out.line((f"{number:>{width}}  ", "dim"), (text, "bold" if is_cited else "dim"))


def show_passages(session: Session, found: Sequence[StoredPassage]) -> None:
    """One line a passage: where it stands, its first words, and whether it may be found."""
    say = session.say
    columns = [
        Column(say("column.number"), "right", whole=True),
        Column(say("column.place"), whole=True),
        Column(say("column.found-by-search"), whole=True),
        Column(say("column.text")),
    ]
    rows: list[list[Part]] = []
    for one in found:
        text = " ".join(one.chunk.text.split())
        words = text if len(text) <= _FIRST_WORDS else f"{text[:_FIRST_WORDS]}…"
        found_part: Part = say("yes") if one.enabled else (say("no"), "bold yellow")
        place = anchor_label(say, one.chunk.anchor)
        rows.append([str(one.chunk.seq), place, found_part, words if one.enabled else (words, "dim")])
    session.out.table(columns, rows)


def show_texts(session: Session, found: Sequence[Chunk], revision: str) -> None:
    for chunk in found:
        where = [anchor_label(session.say, chunk.anchor), heading_label(chunk.heading_path)]
        session.out.line((f"{revision}.{chunk.seq}", "bold cyan"), f"  {' · '.join(filter(None, where))}")
        if chunk.context:
            session.out.line((chunk.context, "dim"), indent=2)
        session.out.line(chunk.text, indent=2)
        session.out.line("")
