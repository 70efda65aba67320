"""Scopes are remembered exactly as long as nothing changes in their knowledge base."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.store.library_builder import EVERYTHING, LibraryBuilder, in_threads
from wenyuan.rules.filters import read_filters
from wenyuan.store import chunks, documents, fields, scopes
from wenyuan.store.database import Reading
from wenyuan.store.scopes import ScopeCache
from wenyuan.types import KnowledgeBase, Scope


def _scope(filters: dict[str, Any], only: tuple[str, ...] | None = None) -> Scope:
    return replace(EVERYTHING, documents=only, conditions=read_filters(filters))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Scope]:
    """What the database was asked to resolve."""
    resolved: list[Scope] = []
    resolve = fields.narrowed

    def counting(tx: Reading, knowledge_base_id: str, scope: Scope) -> Scope:
        resolved.append(scope)
        return resolve(tx, knowledge_base_id, scope)

    monkeypatch.setattr(fields, "narrowed", counting)
    return resolved


def _documents(library: LibraryBuilder, cache: ScopeCache, base: KnowledgeBase, scope: Scope) -> tuple[str, ...]:
    with library.database.read() as tx:
        found = cache.narrowed(tx, base.id, scope)
        assert found == fields.narrowed(tx, base.id, scope)
        for however_many in (False, True):
            served = cache.served_chunks(tx, base.id, found.documents or (), however_many=however_many)
            assert served is not None
            assert served.tolist() == _served(tx, found.documents or ())
    return found.documents or ()


def _served(tx: Reading, documents: tuple[str, ...]) -> list[int]:
    rows = tx.all(
        "SELECT c.key, d.id FROM documents AS d CROSS JOIN chunks AS c WHERE c.revision_id = d.serving_revision_id"
    )
    return sorted(key for key, document in rows if document in documents)


def test_many_chunks_are_told_when_they_are_asked_for_or_known(
    library: LibraryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "_FEW_CHUNKS", 2)
    base, cache = library.knowledge_base(), ScopeCache()
    one = library.published(base, "/1", "heron", "grebe", "plover").document.id
    with library.database.read() as tx:
        assert cache.served_chunks(tx, base.id, (one,), however_many=False) is None
        every = cache.served_chunks(tx, base.id, (one,), however_many=True)
        assert every is not None
        assert every.tolist() == _served(tx, (one,))
        assert cache.served_chunks(tx, base.id, (one,), however_many=False) is every


def test_a_filter_is_resolved_once_until_something_changes(library: LibraryBuilder, asked: list[Scope]) -> None:
    base, other = library.knowledge_base("one"), library.knowledge_base("other")
    cache, scope = ScopeCache(), _scope({"state": "in"})
    one = library.published(base, "/1", "heron", metadata={"state": "in"})
    with library.database.read() as tx:
        for _ in range(3):
            assert cache.narrowed(tx, base.id, scope).documents == (one.document.id,)
        assert len(asked) == 1
    library.published(other, "/1", "heron", metadata={"state": "in"})
    with library.database.read() as tx:
        cache.narrowed(tx, base.id, scope)
    assert len(asked) == 1
    library.published(base, "/2", "heron", metadata={"state": "out"})
    with library.database.read() as tx:
        cache.narrowed(tx, base.id, scope)
    assert len(asked) == 2


def test_what_changes_is_seen_at_once(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    cache, scope = ScopeCache(), _scope({"state": "in"})
    assert _documents(library, cache, base, scope) == ()
    one = library.published(base, "/1", "heron", metadata={"state": "in"})
    two = library.published(base, "/2", "heron", "grebe", metadata={"state": "in"})
    both = tuple(sorted((one.document.id, two.document.id)))
    assert _documents(library, cache, base, scope) == both
    assert _documents(library, cache, base, _scope({"state": "in"}, (one.document.id,))) == (one.document.id,)
    with library.database.write() as tx:
        documents.switch(tx, one.document, enabled=False)
    assert _documents(library, cache, base, scope) == (two.document.id,)
    library.publish(library.stage(library.revise(two.document, b"new"), "heron"), {"state": "out"})
    assert _documents(library, cache, base, scope) == ()


def test_an_older_transaction_is_told_what_it_can_see(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    cache, scope = ScopeCache(), _scope({"state": "in"})
    library.published(base, "/1", "heron", metadata={"state": "in"})
    with library.database.read() as before:
        assert len(cache.narrowed(before, base.id, scope).documents or ()) == 1
        library.published(base, "/2", "heron", metadata={"state": "in"})
        assert len(_documents(library, cache, base, scope)) == 2
        assert len(cache.narrowed(before, base.id, scope).documents or ()) == 1


def test_no_more_is_remembered_than_memory_allows(
    library: LibraryBuilder, asked: list[Scope], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "_MOST_REMEMBERED", 2)
    monkeypatch.setattr(scopes, "_MOST_DOCUMENTS", 1)
    base = library.knowledge_base()
    for number in range(3):
        library.published(base, f"/{number}", "heron", metadata={"number": number})
    cache = ScopeCache()
    single = [_scope({"number": number}) for number in range(3)]
    with library.database.read() as tx:
        for scope in (*single, *single[1:]):
            cache.narrowed(tx, base.id, scope)
        assert len(asked) == 3
        cache.narrowed(tx, base.id, single[0])
        assert len(asked) == 4
        for _ in range(2):
            assert len(cache.narrowed(tx, base.id, _scope({"number": {"from": 0}})).documents or ()) == 3
    assert len(asked) == 6


def test_threads_ask_while_documents_come(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    cache, scope = ScopeCache(), _scope({"state": "in"})

    def work(number: int) -> None:
        for step in range(15):
            if number == 0:
                library.published(base, f"/{step}", "heron", metadata={"state": "in"})
            else:
                _documents(library, cache, base, scope)

    in_threads(3, work)
    assert len(_documents(library, cache, base, scope)) == 15
