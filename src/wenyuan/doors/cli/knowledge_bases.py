"""`wenyuan kb`: knowledge bases."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import App, Parameter

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.output import Column, as_json
from wenyuan.doors.cli.policies import policy_facts, policy_with
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.rebuilding import NO_MODEL, begin_for, drop_index, percent, rebuild, rebuild_lines, rollback
from wenyuan.doors.cli.session import INTERRUPTED, OK, Given, Session
from wenyuan.doors.cli.transferring import export, import_
from wenyuan.errors import InvalidValue
from wenyuan.types import ChunkingConfig, DocumentPolicy, DuplicateRule, KnowledgeBase, ReadyWhen

if TYPE_CHECKING:
    from wenyuan.runtime.knowledge_bases import KnowledgeBaseView, Reconsidered
    from wenyuan.runtime.library import Library

Words = TypeVar("Words", str, list[str])


commands = App(name="kb", help="Knowledge bases: documents that are searched together, cut and embedded alike.")
commands.command(rebuild)
commands.command(rollback)
commands.command(drop_index)
commands.command(export, sort_key=100)
commands.command(import_, name="import", sort_key=101)


@commands.command(name="list")
def show_all(*, session: Given) -> int:
    """List the knowledge bases, with how many of their documents stand how."""
    with session.open() as library:
        views = library.knowledge_bases.all()
    session.show(views, lambda: _show_list(session, views))
    return OK


@commands.command
def create(
    name: str,
    /,
    *,
    description: str = "",
    embedding_model: str | None = None,
    chunk_columns: int | None = None,
    overlap: int | None = None,
    tag: list[str] | None = None,
    types: list[str] | None = None,
    forbid_types: list[str] | None = None,
    max_file_size: str | None = None,
    max_documents: str | None = None,
    duplicates: DuplicateRule | None = None,
    session: Given,
) -> int:
    """Make a knowledge base.

    Parameters
    ----------
    name
        Its name, 1 to 200 characters.
    description
        What it holds, for people.
    embedding_model
        Name of a configured embedding model; `none` for keyword search alone. Else the default model.
    chunk_columns
        Size of a passage in display columns; a Chinese character counts two.
    overlap
        Columns that a passage repeats of the one before.
    tag
        Word to sort it by; may be given several times.
    types
        Suffixes or media types of the files it takes, such as `md,html,text/*`; else all that can be read.
    forbid_types
        Suffixes or media types of files that it does not take.
    max_file_size
        Size of the largest file it takes, such as `20MB`.
    max_documents
        How many documents it takes.
    duplicates
        What is done with bytes it has already under another path: `keep` both, `skip` the newer, or `replace` the
        older.
    """
    policy = policy_with(
        DocumentPolicy(),
        types=types,
        forbid_types=forbid_types,
        max_file_size=max_file_size,
        max_documents=max_documents,
        duplicates=duplicates,
    )
    with session.open() as library:
        defaults = library.settings.defaults
        made = library.knowledge_bases.create(
            name,
            description=description,
            embedding_model="" if embedding_model == NO_MODEL else embedding_model,
            chunking=ChunkingConfig(
                defaults.chunk_columns if chunk_columns is None else chunk_columns,
                defaults.chunk_overlap_columns if overlap is None else overlap,
            ),
            tags=tag or (),
            policy=policy,
        )
    session.show(made, lambda: session.out.line(session.say("kb.created", name=made.name)))
    return OK


@commands.command
def show(name: str, /, *, session: Given) -> int:
    """Show one knowledge base.

    Parameters
    ----------
    name
        Its name or id.
    """
    with session.open() as library:
        view = library.knowledge_bases.show(name)
    session.show(view, lambda: _show_one(session, view))
    return OK


@commands.command(name="set")
def change(
    name: str,
    /,
    *,
    description: str | None = None,
    persona: str | None = None,
    scenario: str | None = None,
    types: list[str] | None = None,
    forbid_types: list[str] | None = None,
    max_file_size: str | None = None,
    max_documents: str | None = None,
    duplicates: DuplicateRule | None = None,
    embedding_model: str | None = None,
    chunk_columns: int | None = None,
    overlap: int | None = None,
    ready_when: ReadyWhen | None = None,
    session: Given,
) -> int:
    """Say what a knowledge base is for, what it takes, and how it is indexed. What is not said stays as it is.

    Documents it does not take any more are kept, but found by no search, until it takes them again. Another model
    or another size of passages holds when a rebuild is done, which this begins; until then, the old ones do.

    Parameters
    ----------
    name
        Its name or id.
    description
        What it is about.
    persona
        Who a model is that answers from it, as it is told.
    scenario
        Where and for whom such answers are given.
    types
        Suffixes or media types of the files it takes, such as `md,html,text/*`; `any` for all that can be read.
    forbid_types
        Suffixes or media types of files that it does not take; `any` to take these back.
    max_file_size
        Size of the largest file it takes, such as `20MB`, or `none`.
    max_documents
        How many documents it takes, or `none`. Those it has already stay.
    duplicates
        What is done with bytes it has already under another path: `keep` both, `skip` the newer, or `replace` the
        older.
    embedding_model
        Name of a configured embedding model; `none` for keyword search alone.
    chunk_columns
        Size of a passage in display columns; a Chinese character counts two.
    overlap
        Columns that a passage repeats of the one before.
    ready_when
        Whether a new document is found by its words at once (`keyword`), or only with its vectors (`semantic`).
    """
    with session.open() as library:
        base = library.knowledge_bases.find(name)
        library.knowledge_bases.describe(name, description=description, persona=persona, scenario=scenario)
        begin_for(session, library, base, embedding_model, chunk_columns, overlap)
        if ready_when is not None:
            library.knowledge_bases.set_ready_when(name, ready_when)
        policy = policy_with(
            base.policy,
            types=types,
            forbid_types=forbid_types,
            max_file_size=max_file_size,
            max_documents=max_documents,
            duplicates=duplicates,
        )
        done = library.knowledge_bases.set_policy(name, policy)
        view = library.knowledge_bases.show(name)
    session.show({**as_json(view), "changed": as_json(done)}, lambda: _show_changed(session, view, done))
    return OK


@commands.command
def unarchive(name: str, /, *, session: Given) -> int:
    """Bring an archived knowledge base back: it is searched again, and takes documents.

    Parameters
    ----------
    name
        Its name or id.
    """
    return archive(name, undo=True, session=session)


@commands.command
def archive(name: str, /, *, undo: bool = False, session: Given) -> int:
    """Keep a knowledge base as it is, out of every search; or bring it back.

    Nothing in it can be changed meanwhile, but its documents can be deleted.

    Parameters
    ----------
    name
        Its name or id.
    undo
        Bring it back.
    """
    with session.open() as library:
        found = library.knowledge_bases.archive(name, undo=undo)
    done = "kb.restored" if undo else "kb.archived"
    session.show(found, lambda: session.out.line(session.say(done, name=found.name)))
    return OK


@commands.command
def delete(name: str, /, *, yes: bool = False, session: Given) -> int:
    """Delete a knowledge base with all its documents; the files that were added stay where they are.

    Parameters
    ----------
    name
        Its name or id.
    yes
        Do not ask first. Nothing is asked either where input does not come from a terminal.
    """
    with session.open() as library:
        view = library.knowledge_bases.show(name)
        if not yes and not _confirmed(session, view):
            return OK
        library.knowledge_bases.delete(name)
    deleted = {"deleted": view.knowledge_base.name, "documents": _total(view)}
    session.show(deleted, lambda: session.out.line(session.say("kb.deleted", name=view.knowledge_base.name)))
    return OK


@commands.command(name="refresh-aliases")
def refresh_aliases(
    kb: str | None = None,
    /,
    *,
    path: Path | None = None,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Read stored passages again by today's rules, for the words, dates and codes they are found by.

    Text and vectors stay as they are, and what was read before is found until then. A worker does this by itself
    for documents that were read by an older version or before the dictionary was changed.

    Parameters
    ----------
    kb
        Its name or id; else the default one.
    path
        Read only documents again whose path begins with this.
    everything
        Read documents again that need it, and those that do not.
    wait
        Do it now (the default), or leave it to `wenyuan worker`.
    """
    with session.open() as library:
        base = library.knowledge_bases.find(kb)
        prefix = os.path.abspath(path) if path is not None else ""
        queued = library.knowledge_bases.refresh_aliases(base.id, prefix, everything=everything)
        return _reread(session, library, base.id, {"knowledge_base": base.name, "queued": queued}, wait=wait)


@commands.command
def dictionary(
    kb: str,
    action: Literal["add", "remove", "list"],
    /,
    *terms: str,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Words of your field that are never split: `wenyuan kb dictionary KB add 转换体验课`.

    A question that holds such a word asks for it whole, as soon as every document was read again with it.

    Parameters
    ----------
    kb
        Name or id of the knowledge base.
    action
        `add`, `remove` or `list`.
    terms
        The words.
    wait
        Read the documents again now (the default), or leave it to `wenyuan worker`.
    """
    with session.open() as library:
        bases = library.knowledge_bases
        queued = 0
        if action == "add":
            queued = bases.add_terms(kb, _given(terms))
        elif action == "remove":
            queued = bases.remove_terms(kb, _given(terms))
        view = bases.show(kb)
        known = view.vocabulary.terms
        if action == "list":
            session.show({"terms": known}, lambda: _show_words(session, known))
            return OK
        done = {"knowledge_base": view.knowledge_base.name, "terms": known, "queued": queued}
        return _reread(session, library, view.knowledge_base.id, done, wait=wait)


@commands.command
def synonyms(kb: str, action: Literal["add", "remove", "list"], /, *groups: str, session: Given) -> int:
    """Writings of one thing: `wenyuan kb synonyms KB add 人工智能=AI="artificial intelligence"`.

    A question that says one of them asks for the others as well, from now on.

    Parameters
    ----------
    kb
        Name or id of the knowledge base.
    action
        `add`, `remove` or `list`.
    groups
        Groups of synonyms, each joined by equals signs.
    """
    given = [group.split("=") for group in groups]
    with session.open() as library:
        if action == "add":
            library.knowledge_bases.add_synonyms(kb, _given(given))
        elif action == "remove":
            library.knowledge_bases.remove_synonyms(kb, _given(given))
        known = library.knowledge_bases.show(kb).vocabulary.synonyms
    session.show({"synonyms": known}, lambda: _show_words(session, ["=".join(group) for group in known]))
    return OK


def _given(words: Sequence[Words]) -> Sequence[Words]:
    if not words:
        raise InvalidValue(what="The number of words", value=0, reason="at least one must be given")
    return words


def _reread(session: Session, library: Library, kb: str, done: dict[str, Any], *, wait: bool) -> int:
    """Do what was queued, and say what is left of it."""
    if wait and done["queued"]:
        try:
            with Watching(session) as watch:
                library.drain(watch=watch)
        except KeyboardInterrupt:
            show_interrupted(session, library)
            return INTERRUPTED
    done["behind"] = library.knowledge_bases.show(kb).behind
    session.show(done, lambda: _show_reread(session, done))
    return OK


def _show_reread(session: Session, done: dict[str, Any]) -> None:
    say, queued, behind = session.say, done["queued"], done["behind"]
    if not queued:
        session.out.line(say("kb.nothing-to-reread"))
    elif behind:
        session.out.line(say("kb.to-reread", n=behind), session.command("worker --drain"), whole=True)
    else:
        session.out.line(say("kb.reread", n=queued))


def _show_words(session: Session, words: Sequence[str]) -> None:
    for word in words:
        session.out.line(word)
    if not words:
        session.out.line(session.say("kb.no-words"))


def _confirmed(session: Session, view: KnowledgeBaseView) -> bool:
    if session.json or not sys.stdin.isatty() or not session.notes.is_terminal or not _total(view):
        return True
    question = session.say("kb.delete-confirm", name=view.knowledge_base.name, n=_total(view))
    return session.notes.console.input(f"{question} ").strip().casefold() in ("y", "yes", "是")


def _total(view: KnowledgeBaseView) -> int:
    return sum(view.documents.values())


def _model(session: Session, base: KnowledgeBase) -> str:
    return base.embedding_model or session.say("kb.no-model")


def _counts(session: Session, view: KnowledgeBaseView) -> str:
    parts = [f"{session.say(f'state.{state}')} {n}" for state, n in view.documents.items() if n]
    return session.say("list.separator").join(parts) or "0"


def _show_changed(session: Session, view: KnowledgeBaseView, done: Reconsidered) -> None:
    _show_one(session, view)
    if done.blocked:
        session.out.line(session.say("policy.blocked", n=done.blocked))
    if done.allowed:
        session.out.line(session.say("policy.allowed", n=done.allowed), session.command("worker --drain"), whole=True)


def _show_list(session: Session, views: list[KnowledgeBaseView]) -> None:
    say = session.say
    columns = [
        Column(say("column.name")),
        Column(say("column.state")),
        Column(say("column.documents")),
        Column(say("column.semantic")),
        Column(say("column.model")),
    ]
    rows = []
    for view in views:
        base = view.knowledge_base
        semantic = f"{view.semantic}/{view.searchable}" if base.embedding_model else "-"
        state = say(f"kb.state.{base.state}")
        if view.rebuild is not None and view.rebuild.rebuild.state in ("building", "failed"):
            standing = say(f"kb.rebuild.{view.rebuild.rebuild.state}", percent=percent(view.rebuild))
            state = say("list.separator").join((state, standing))
        rows.append([base.name, state, _counts(session, view), semantic, _model(session, base)])
    session.out.table(columns, rows)


def _show_one(session: Session, view: KnowledgeBaseView) -> None:
    say, base = session.say, view.knowledge_base
    semantic = say("kb.semantic", done=view.semantic, total=view.searchable) if base.embedding_model else "-"
    facts: list[tuple[str, Any]] = [
        ("column.name", base.name),
        ("column.id", base.id),
        ("column.description", base.description),
        ("column.persona", base.persona),
        ("column.scenario", base.scenario),
        ("column.state", say(f"kb.state.{base.state}")),
        ("column.documents", _counts(session, view)),
        ("column.semantic", semantic),
        ("column.model", _model(session, base)),
        ("column.chunking", say("kb.chunking", n=base.chunking.target_columns, overlap=base.chunking.overlap_columns)),
        ("column.ready-when", say("kb.ready-when.semantic") if base.ready_when == "semantic" else ""),
        ("column.tags", say("list.separator").join(base.tags)),
        ("column.terms", str(len(view.vocabulary.terms) or "")),
        ("column.synonyms", str(len(view.vocabulary.synonyms) or "")),
        *policy_facts(say, base.policy),
    ]
    for title, value in facts:
        if value:
            session.out.line((f"{say(title)}: ", "bold"), str(value))
    for sentence, command in rebuild_lines(session, base, view.rebuild) if view.rebuild is not None else ():
        session.out.line((say("note"), "bold yellow"), sentence, command, whole=True)
    if view.rebuild is not None and view.rebuild.rebuild.problem is not None:
        session.show_problem(view.rebuild.rebuild.problem, session.out)
    if view.behind:
        command = session.command(f"kb refresh-aliases {quote(base.name)}")
        session.out.line((say("note"), "bold yellow"), say("kb.behind", n=view.behind), command, whole=True)
