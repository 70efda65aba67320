"""What was said in sessions, as a door sees it: read, judged, exported, and made cases of."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from wenyuan.errors import InvalidValue, TraceNotFound, TurnNotFound
from wenyuan.flows.conversation.history import citation_from
from wenyuan.rules.evaluation.cases import Case
from wenyuan.runtime.evaluation_sets import EvaluationSets
from wenyuan.runtime.place_labels import citation_label
from wenyuan.store import conversation_turns, sessions
from wenyuan.store.conversation_turns import Feedback, StoredTurn, TurnRole
from wenyuan.store.database import Database
from wenyuan.store.sessions import Session
from wenyuan.types import JsonObject

FeedbackValue = Literal["up", "down", "none"]
ExportFormat = Literal["markdown", "json"]

_MOST_TURNS = 200
_LONGEST_NOTE = 2000
_UNKNOWN: JsonObject = {
    "citations": [],
    "support": [],
    "invented": [],
    "sources": [],
    "grounded": "none",
    "finish_reason": conversation_turns.INTERRUPTED,
    "model": "",
    "prompt_version": "",
    "usage": {"input_tokens": None, "output_tokens": None, "calls": 0},
    "latency_ms": None,
    "degraded": [],
    "unread": [],
}


@dataclass(frozen=True, slots=True)
class TurnFeedback:
    """What a person thinks of an answer, and why."""

    value: Literal["up", "down"]
    note: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. Of an answer, `answer` is what a message of the chat holds besides its text; None of a question.

    An answer that was never finished has the finish reason `interrupted`, one whose documents were deleted `erased`.
    """

    number: int
    role: TurnRole
    text: str
    trace_id: str
    created_at: int
    replaced_by: int | None
    answer: JsonObject | None
    attachments: tuple[str, ...]
    feedback: TurnFeedback | None


@dataclass(frozen=True, slots=True)
class TurnPage:
    """Turns, oldest first; the page before them ends before the number `next_before`, None where there is none."""

    turns: tuple[Turn, ...]
    next_before: int | None


class Turns:
    """The turns of sessions."""

    def __init__(
        self, database: Database, principal: str, sets: EvaluationSets, trace: Callable[[str], JsonObject]
    ) -> None:
        self._database = database
        self._principal = principal
        self._sets = sets
        self._trace = trace

    def page(self, session: str, before: int | None = None, limit: int = 50) -> TurnPage:
        """The last turns of a session, or the last ones before a number, those that were replaced among them.

        Raises `SessionNotFound` or `InvalidValue`.
        """
        if not 1 <= limit <= _MOST_TURNS:
            raise InvalidValue(what="The number of turns", value=limit, reason=f"it must be 1 to {_MOST_TURNS}")
        with self._database.read() as tx:
            sessions.find(tx, self._principal, session)
            found = conversation_turns.page(tx, session, before, limit + 1)
        shown = found[-limit:]
        return TurnPage(tuple(map(_turn, shown)), shown[0].number if len(found) > limit else None)

    def find(self, session: str, number: int) -> Turn:
        """Raises `SessionNotFound` or `TurnNotFound`."""
        with self._database.read() as tx:
            sessions.find(tx, self._principal, session)
            return _turn(conversation_turns.find(tx, session, number))

    def of_trace(self, trace_id: str) -> tuple[str, Turn] | None:
        """The session and the turn of the answer that was given under a trace, where it was given in a session."""
        with self._database.read() as tx:
            found = conversation_turns.of_trace(tx, trace_id)
        return (found[0], _turn(found[1])) if found is not None else None

    def judge(self, session: str, number: int, value: FeedbackValue, note: str = "") -> Turn:
        """Say what a person thinks of an answer; `none` takes it back.

        Raises `SessionNotFound`, `TurnNotFound` where there is no such answer, or `InvalidValue`.
        """
        if len(note) > _LONGEST_NOTE:
            reason = f"it may have {_LONGEST_NOTE} characters at most"
            raise InvalidValue(what="A note", value=f"{note[:40]}…", reason=reason)
        stored: Feedback = "" if value == "none" else value
        with self._database.write() as tx:
            sessions.find(tx, self._principal, session)
            conversation_turns.judge(tx, session, number, stored, note.strip() if stored else "")
            return _turn(conversation_turns.find(tx, session, number))

    def add_case(self, session: str, number: int, set_name: str, expect: Sequence[str] = ()) -> Case:
        """Make a case of an evaluation set of the question that an answer was given to, by the answer's number.

        What should be found are the documents that the answer cites, unless others are named; `("nothing",)` says
        that nothing should be. Raises `TurnNotFound`, or what `EvaluationSets.add_case` raises.
        """
        turn = self.find(session, number)
        if turn.answer is None:
            raise TurnNotFound(session=session, turn=number)
        question = self.find(session, number - 1).text
        cited = tuple(dict.fromkeys(one["document_id"] for one in turn.answer["citations"]))
        tags = ["chat", *([turn.feedback.value] if turn.feedback is not None else [])]
        body = self._trace_or_nothing(turn.trace_id)
        names = [base["name"] for base in body.get("knowledge_bases", ())]
        is_narrowed = body.get("scope", {}).get("knowledge_bases") is not None
        return self._sets.add_case(
            set_name,
            # A question that leans on what was said before it says nothing alone.
            body.get("rewritten") or question,
            expect=tuple(expect) or cited,
            tags=tags,
            kb=names if is_narrowed else (),
        )

    def export(self, session: str, form: ExportFormat) -> str:
        """A whole session: as Markdown what holds now, its citations as footnotes; as JSON all there is.

        Raises `SessionNotFound`.
        """
        with self._database.read() as tx:
            found = sessions.find(tx, self._principal, session)
            turns = [_turn(one) for one in conversation_turns.page(tx, session, None, _ALL)]
        if form == "json":
            whole: dict[str, Any] = {"session": asdict(found), "turns": [asdict(turn) for turn in turns]}
            return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
        return _markdown(found, [turn for turn in turns if turn.replaced_by is None])

    def _trace_or_nothing(self, trace_id: str) -> JsonObject:
        try:
            return self._trace(trace_id)
        except TraceNotFound:
            return {}


_ALL = 1 << 30


def _turn(stored: StoredTurn) -> Turn:
    return Turn(
        number=stored.number,
        role=stored.role,
        text=stored.text,
        trace_id=stored.trace_id,
        created_at=stored.created_at,
        replaced_by=stored.replaced_by,
        answer=None if stored.answer is None else {**_UNKNOWN, **stored.answer},
        attachments=stored.attachments,
        feedback=TurnFeedback(stored.feedback, stored.note) if stored.feedback else None,
    )


def _markdown(session: Session, turns: Sequence[Turn]) -> str:
    lines = [f"# {session.title or session.id}", ""]
    for turn in turns:
        if turn.answer is None:
            moment = datetime.datetime.fromtimestamp(turn.created_at / 1000, datetime.UTC)
            lines += [f"## {moment:%Y-%m-%d %H:%M} UTC", "", *(f"> {line}" for line in turn.text.splitlines()), ""]
            continue
        lines += [turn.text or f"({turn.answer['finish_reason']})", ""]
        lines += _footnotes(turn.answer)
    return "\n".join(lines).rstrip("\n") + "\n"


def _footnotes(answer: JsonObject) -> list[str]:
    citations = [citation_from(one) for one in answer["citations"]]
    notes = [f"- [{one.number}] {citation_label(one, 'en')}: “{' '.join(one.quote.split())}”" for one in citations]
    notes += [f"- not read: {one['name']} ({one['why']})" for one in answer["unread"]]
    return [*notes, ""] if notes else []
