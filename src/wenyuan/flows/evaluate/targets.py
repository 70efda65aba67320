"""What a set expects, found out in the library before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wenyuan.rules.evaluation.cases import Case, Expected
from wenyuan.rules.evaluation.ranking import Target, revision_of
from wenyuan.store import chunks, evaluations, knowledge_bases
from wenyuan.store.database import Database
from wenyuan.store.evaluations import SearchableDocument
from wenyuan.types import Anchor, Chunk, Scope

_DOCUMENTS_AT_ONCE = 1000
_CHUNKS_AT_ONCE = 500

# By what a document may be named, the surest way first.
_WAYS = 4
Meant = dict[str, list[set[str]]]
"""The revisions that each name stands for, way by way."""


def resolve(database: Database, principal: str, cases: Sequence[Case]) -> list[tuple[Target, ...]]:
    """The targets of each case, in the knowledge bases it asks.

    A document may be named by its id, its path, its name or the end of its path, or its title; where
    several fit in the surest of these ways, any of them will do. What the library does not have, or
    cannot find now, becomes a target that nothing meets. Raises `KnowledgeBaseNotFound`.
    """
    with database.read() as tx:
        asked = {
            names: [base.id for base in knowledge_bases.permitted(tx, Scope(principal, names or None))]
            for names in {case.knowledge_bases for case in cases}
        }
    meant: dict[str, Meant] = {}
    for case in cases:
        for base_id in asked[case.knowledge_bases]:
            names = meant.setdefault(base_id, {})
            for one in case.expected:
                names.setdefault(_naming(one), [set() for _ in range(_WAYS)])
    for base_id, names in meant.items():
        _look_up(database, base_id, names)
    return [
        tuple(
            _target(
                database, one, _revisions(_naming(one), [meant[base_id] for base_id in asked[case.knowledge_bases]])
            )
            for one in case.expected
        )
        for case in cases
    ]


def _naming(expected: Expected) -> str:
    """What must be looked up for it: a document, or the revision that a passage belongs to."""
    return revision_of(expected.chunk) if expected.chunk else expected.document


def _look_up(database: Database, base_id: str, names: Meant) -> None:
    """Go through the documents of a knowledge base once, and note those that are named."""
    for document in _documents(database, base_id) if names else ():
        for way, spellings in enumerate(_spellings(document)):
            for spelling in spellings:
                if spelling in names:
                    names[spelling][way].add(document.revision_id)


def _documents(database: Database, base_id: str) -> Iterator[SearchableDocument]:
    after = ""
    while True:
        with database.read() as tx:
            page = evaluations.searchable_documents(tx, base_id, after, _DOCUMENTS_AT_ONCE)
        yield from page
        if len(page) < _DOCUMENTS_AT_ONCE:
            return
        after = page[-1].source


def _spellings(document: SearchableDocument) -> tuple[set[str], ...]:
    parts = document.source.split("/")
    ends = {"/".join(parts[place:]) for place in range(1, len(parts))}
    return {document.id, document.revision_id}, {document.source}, {document.name, *ends}, {document.title}


def _revisions(naming: str, books: Sequence[Meant]) -> frozenset[str]:
    for way in range(_WAYS):
        if found := frozenset[str]().union(*(book[naming][way] for book in books)):
            return found
    return frozenset()


def _target(database: Database, expected: Expected, revisions: frozenset[str]) -> Target:
    if expected.chunk:
        there = frozenset([expected.chunk]) if revisions else frozenset[str]()
        return Target(expected.name, expected.grade, passages=there)
    if expected.anchor is None and not expected.text:
        return Target(expected.name, expected.grade, revisions)
    passages = {
        f"{revision}.{chunk.seq}"
        for revision in revisions
        for chunk in _chunks(database, revision)
        if _is_at(chunk.anchor, expected.anchor) and _single_spaced(expected.text) in _single_spaced(chunk.text)
    }
    return Target(expected.name, expected.grade, passages=frozenset(passages))


def _chunks(database: Database, revision: str) -> Iterator[Chunk]:
    first = 0
    while True:
        with database.read() as tx:
            page = chunks.of_revision(tx, revision, first, _CHUNKS_AT_ONCE)
        yield from page
        if len(page) < _CHUNKS_AT_ONCE:
            return
        first = page[-1].seq + 1


def _is_at(anchor: Anchor, wanted: Anchor | None) -> bool:
    """Whether a passage touches a place."""
    if wanted is None:
        return True
    same = anchor.kind == wanted.kind and wanted.name in ("", anchor.name)
    return same and anchor.first <= wanted.last and wanted.first <= anchor.last


def _single_spaced(text: str) -> str:
    return " ".join(text.split())
