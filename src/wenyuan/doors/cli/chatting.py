"""`wenyuan chat`: a conversation with the documents, kept in a session."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wenyuan.doors.cli.asking import show_citations, show_degraded, show_faults, show_grounds
from wenyuan.doors.cli.output import one_line
from wenyuan.doors.cli.places import citation_label
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.doors.cli.sessions import SessionOption, show_attachments
from wenyuan.errors import PathNotFound, WenyuanError

if TYPE_CHECKING:
    from wenyuan.runtime.library import Library

_PROMPT = "> "


def chat(
    *,
    kb: list[str] | None = None,
    conversation: SessionOption = None,
    model: str = "",
    session: Given,
) -> int:
    """Talk with the documents, question by question; what is said is kept in a session.

    Ctrl-C stops an answer, and what was said of it is kept; Ctrl-D ends. With --json each line of standard input is a
    question, and each answer one JSON document.

    Parameters
    ----------
    kb
        Knowledge base that a new session asks; may be given several times. Else all that are not archived.
    conversation
        Session to go on with; else a new one is begun.
    model
        Configured model that is to write the answers instead of the usual one.
    """
    with session.open() as library:
        talk = _Talk(session, library, model, kb)
        talk.begin(conversation)
        for line in _lines(session):
            if not talk.take(line):
                break
    return OK


def _lines(session: Session) -> Iterator[str]:
    """What a person types, line by line."""
    if session.json or not sys.stdin.isatty():
        yield from (line for line in (raw.strip() for raw in sys.stdin) if line)
        return
    while True:
        try:
            line = input(_PROMPT).strip()
        except (EOFError, KeyboardInterrupt):
            session.out.line("")
            return
        if line:
            yield line


class _Talk:
    """One conversation at the terminal."""

    def __init__(self, session: Session, library: Library, model: str, kb: list[str] | None) -> None:
        self._session = session
        self._library = library
        self._model = model
        self._kb = kb
        self._id = ""
        self._message: Mapping[str, Any] | None = None
        self._commands: Mapping[str, Callable[[list[str]], None]] = {
            "/files": self._files,
            "/kb": self._bases,
            "/sources": self._sources,
            "/again": self._again,
            "/new": lambda _: self.begin(None),
            "/help": lambda _: self._session.out.line(self._session.say("chat.help")),
        }

    def begin(self, conversation: str | None) -> None:
        """Go on with a session, or begin one."""
        sessions = self._library.sessions
        found = sessions.find(conversation) if conversation is not None else sessions.create(kb=self._kb)
        self._id, self._message = found.id, None
        self._session.notes.line((self._session.say("chat.begun", session=found.id), "dim"))

    def take(self, line: str) -> bool:
        """Answer a question, or do what a command says; whether to go on after it."""
        command, *words = line.split()
        if not line.startswith("/") or self._session.json:
            self._told(line, None)
        elif command == "/quit":
            return False
        elif command in self._commands:
            self._or_problem(lambda: self._commands[command](words))
        else:
            self._session.out.line(self._session.say("chat.unknown", command=command))
        return True

    def _told(self, question: str, replaces: int | None) -> None:
        self._or_problem(lambda: self._ask(question, replaces))

    def _or_problem(self, do: Callable[[], None]) -> None:
        """Do it; what fails is told, and the conversation goes on."""
        try:
            do()
        except WenyuanError as error:
            self._session.out.line("")
            self._session.show_problem(error.problem(), self._session.notes)

    def _ask(self, question: str, replaces: int | None) -> None:
        out, is_json = self._session.out, self._session.json
        steps = self._library.converse(question, session=self._id, model=self._model, replaces=replaces)
        try:
            # Ctrl-C may come between two steps as well: then what was said is kept when they are closed.
            with closing(steps):
                for step in steps:
                    if step.name == "assistant.delta" and not is_json:
                        out.piece(step.data["text"])
                    elif step.name == "assistant.message":
                        self._message = step.data
        except KeyboardInterrupt:
            out.line("")
            out.line((self._session.say("answer.stopped"), "yellow"))
            return
        if self._message is not None:
            self._session.show(self._message, lambda: self._show(self._message or {}))

    def _show(self, message: Mapping[str, Any]) -> None:
        """What stands below an answer: the places it cites, and what is wrong with it."""
        session, out = self._session, self._session.out
        out.line("\n")
        show_citations(session, message["citations"])
        show_faults(session, message["text"], message["support"], message["invented"])
        if message["citations"] or message["sources"]:
            show_grounds(session, message["grounded"], message["model"])
        for one in message["unread"]:
            unread = session.say("sessions.unread", name=one_line(one.name), why=one.why)
            out.line((session.say("note"), "bold yellow"), unread)
        show_degraded(session, message["degraded"])

    # --- Commands --------------------------------------------------------------------------------

    def _files(self, words: list[str]) -> None:
        sessions, session = self._library.sessions, self._session
        for path in (Path(word).expanduser() for word in words):
            if not path.exists():
                raise PathNotFound(path=str(path))
        received = sessions.attach(self._id, *map(Path, words)) if words else []
        if received:
            with Watching(session) as watch:
                self._library.drain(watch=watch)
        show_attachments(session, sessions.attachments(self._id))
        session.show_problems([(one.source, one.problem) for one in received if one.problem is not None])

    def _bases(self, words: list[str]) -> None:
        if words:
            self._library.sessions.ask_others(self._id, words)
        names = self._library.sessions.find(self._id).knowledge_bases
        say = self._session.say
        listed = say("list.separator").join(names or ())
        self._session.out.line(say("chat.all-bases") if names is None else say("chat.bases", names=listed))

    def _sources(self, _: list[str]) -> None:
        if self._message is None:
            self._session.out.line(self._session.say("chat.nothing-asked"))
            return
        for one in self._message["sources"]:
            label = citation_label(self._session.say, one.document_name, one.anchor)
            self._session.out.line((f"[{one.number}] ", "bold"), (label, "cyan"))
            self._session.out.line(one_line(one.text)[:200], indent=4)

    def _again(self, _: list[str]) -> None:
        turns = self._library.turns.page(self._id, limit=2).turns
        if not turns:
            self._session.out.line(self._session.say("chat.nothing-asked"))
            return
        self._ask(turns[0].text, turns[0].number)
