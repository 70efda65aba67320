"""Knowledge bases: their names, their owners, and the number that grows with every change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.store.library_builder import LibraryBuilder, in_threads
from wenyuan.errors import KnowledgeBaseExists, KnowledgeBaseNotFound, KnowledgeBaseProtected
from wenyuan.store import documents, knowledge_bases
from wenyuan.types import LOCAL_PRINCIPAL, ChunkingConfig, Scope


def test_what_is_added_is_found_by_name_and_by_id(library: LibraryBuilder) -> None:
    made = library.knowledge_base("研究 papers")
    with library.database.read() as tx:
        assert knowledge_bases.find(tx, LOCAL_PRINCIPAL, "研究 papers") == made
        assert knowledge_bases.find(tx, LOCAL_PRINCIPAL, made.id) == made
        assert knowledge_bases.by_id(tx, made.id) == made
        for name in ("研究", "", "RESEARCH"):
            with pytest.raises(KnowledgeBaseNotFound):
                knowledge_bases.find(tx, LOCAL_PRINCIPAL, name)


def test_a_name_is_taken_once_for_each_owner(library: LibraryBuilder) -> None:
    library.knowledge_base("papers")
    with pytest.raises(KnowledgeBaseExists):
        library.knowledge_base("papers")
    library.knowledge_base("papers", owner="someone else")


def test_what_may_change_is_changed(library: LibraryBuilder) -> None:
    made = library.knowledge_base()
    changed = replace(
        made,
        description="d",
        state="archived",
        persona="p",
        scenario="s",
        tags=("a", "乙"),
        chunking=ChunkingConfig(500, 50),
        embedding_model="m",
    )
    with library.database.write() as tx:
        updated = knowledge_bases.update(tx, changed)
    with library.database.read() as tx:
        assert knowledge_bases.by_id(tx, made.id) == updated
    assert updated == replace(changed, updated_at=updated.updated_at)


def test_the_default_one_is_protected(library: LibraryBuilder) -> None:
    default = library.knowledge_base("default", is_default=True)
    with library.database.read() as tx:
        assert knowledge_bases.default(tx, LOCAL_PRINCIPAL) == default
        assert knowledge_bases.default(tx, "someone else") is None
    with pytest.raises(KnowledgeBaseProtected), library.database.write() as tx:
        knowledge_bases.update(tx, replace(default, state="archived"))
    with pytest.raises(KnowledgeBaseProtected), library.database.write() as tx:
        knowledge_bases.hide(tx, default)
    with pytest.raises(KnowledgeBaseExists):
        library.knowledge_base("a second default", is_default=True)


def test_a_scope_says_what_is_permitted(library: LibraryBuilder) -> None:
    first, second = library.knowledge_base("first"), library.knowledge_base("second")
    foreign = library.knowledge_base("foreign", owner="someone else")
    with library.database.write() as tx:
        second = knowledge_bases.update(tx, replace(second, state="archived"))
    with library.database.read() as tx:
        # Archived ones are told, so that a search can say why it left them out.
        assert knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL)) == [first, second]
        assert knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL, ())) == []
        named = Scope(LOCAL_PRINCIPAL, ("second", first.id, "second"))
        assert knowledge_bases.permitted(tx, named) == [second, first]
        for name in (foreign.id, "foreign", "none"):
            with pytest.raises(KnowledgeBaseNotFound) as error:
                knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL, ("first", name)))
            assert error.value.details == {"name": name}


def test_a_hidden_one_is_gone_and_its_name_is_free(library: LibraryBuilder) -> None:
    made = library.knowledge_base("papers")
    added = [library.published(made, f"/{number}.md", "words").document for number in range(3)]
    with library.database.write() as tx:
        documents.hide(tx, added[0].id, made.id)
        remaining = knowledge_bases.hide(tx, made)
    assert sorted(remaining) == [document.id for document in added[1:]]
    with library.database.read() as tx:
        assert knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL)) == []
        with pytest.raises(KnowledgeBaseNotFound):
            knowledge_bases.by_id(tx, made.id)
    library.knowledge_base("papers")


def test_changes_are_numbered_without_gaps_whoever_makes_them(library: LibraryBuilder) -> None:
    made = [library.knowledge_base("first"), library.knowledge_base("second")]

    def change(number: int) -> None:
        for step in range(25):
            with library.database.write() as tx:
                knowledge_bases.record_change(tx, made[step % 2].id, f"doc {number}", "published")

    in_threads(4, change)
    with library.database.read() as tx:
        for knowledge_base in made:
            rows = tx.all(
                "SELECT number FROM changes WHERE knowledge_base_id = :id ORDER BY number", {"id": knowledge_base.id}
            )
            last = knowledge_bases.by_id(tx, knowledge_base.id).change_number
            assert [row[0] for row in rows] == list(range(1, last + 1))
    assert sum(len(_changed(library, item.id, 0)) for item in made) == 8


def _changed(library: LibraryBuilder, knowledge_base_id: str, since: int) -> list[str]:
    with library.database.read() as tx:
        return sorted(knowledge_bases.changed_documents(tx, knowledge_base_id, since) or ())


def test_what_changed_since_a_number_is_told(library: LibraryBuilder) -> None:
    made = library.knowledge_base()
    for name in ("a", "b", "a", "c"):
        with library.database.write() as tx:
            knowledge_bases.record_change(tx, made.id, name, "published")
    assert [_changed(library, made.id, since) for since in range(5)] == [
        ["a", "b", "c"],
        ["a", "b", "c"],
        ["a", "c"],
        ["c"],
        [],
    ]


def test_a_change_to_nothing_is_refused(library: LibraryBuilder) -> None:
    with pytest.raises(KnowledgeBaseNotFound), library.database.write() as tx:
        knowledge_bases.record_change(tx, "none", "doc", "published")
