"""Index generations: one active of each kind, and how far each revision is in it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.store.library_builder import FINGERPRINT, LibraryBuilder, in_threads, unit_rows
from wenyuan.errors import ProviderTimeout, WenyuanError
from wenyuan.store import documents, indexes
from wenyuan.store.indexes import RevisionIndex
from wenyuan.types import LOCAL_PRINCIPAL

_RANDOM = np.random.default_rng(1)
_PROBLEM = ProviderTimeout(provider="test", seconds=1).problem("embedding", 3)


def test_the_first_who_asks_makes_a_generation_and_the_others_get_it(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    made = []

    def ensure(number: int) -> None:
        with library.database.write() as tx:
            made.append(
                indexes.ensure_active(tx, f"gen {number}", base.id, "vector", f"f {number}", {"model": number}, number)
            )

    in_threads(4, ensure)
    assert len({(one.id, one.number, one.fingerprint, one.dimensions) for one in made}) == 1
    # The caller must compare: this is what was made, not what was asked for.
    assert made[0].recipe == {"model": int(made[0].fingerprint[2:])}
    with library.database.read() as tx:
        assert indexes.active(tx, base.id, "vector") == made[0]


def test_generations_are_numbered_across_knowledge_bases(library: LibraryBuilder) -> None:
    bases = [library.knowledge_base(str(number), embedding_model="m") for number in range(3)]
    numbers = [library.lexical(base.id).number for base in bases] + [library.vector(base.id).number for base in bases]
    assert len(set(numbers)) == 6


def test_there_cannot_be_two_active_generations_of_a_kind(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    with pytest.raises(WenyuanError, match=r"(?i)unique"), library.database.write() as tx:
        tx.run("UPDATE index_generations SET kind = 'vector'")
    assert library.vector(base.id).fingerprint == FINGERPRINT


def test_a_new_lexical_generation_can_be_searched_at_once(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    with library.database.read() as tx:
        number = library.lexical(base.id).number
        assert tx.lexical.search(tx, number, ["word"], [], 5) == []
        assert tx.lexical.size(tx, number) == 0


def test_how_far_a_revision_is_is_known(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    added = library.published(base, "/a.md", "one", "two")
    generation = library.vector(base.id)
    with library.database.write() as tx:
        assert indexes.progress(tx, added.revision_id, "lexical") == RevisionIndex("ready", 2, 2, None)
        assert indexes.progress(tx, added.revision_id, "vector") is None
        indexes.record_progress(tx, generation.id, added.revision_id, "pending", 1, 2)
        assert indexes.progress(tx, added.revision_id, "vector") == RevisionIndex("pending", 1, 2, None)
        indexes.set_problem(tx, added.revision_id, _PROBLEM)
        assert indexes.progress(tx, added.revision_id, "vector") == RevisionIndex("failed", 1, 2, _PROBLEM)
        assert indexes.progress(tx, added.revision_id, "lexical") == RevisionIndex("ready", 2, 2, None)
        indexes.record_progress(tx, generation.id, added.revision_id, "ready", 2, 2)
        assert indexes.progress(tx, added.revision_id, "vector") == RevisionIndex("ready", 2, 2, None)
        # What is complete stays so, whatever a late worker says.
        indexes.set_problem(tx, added.revision_id, _PROBLEM)
        assert indexes.progress(tx, added.revision_id, "vector") == RevisionIndex("ready", 2, 2, None)


def test_the_aliases_over_the_cap_are_kept_as_last_told(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    added = library.add(base, "/a.md")
    generation = library.lexical(base.id)
    with library.database.write() as tx:
        for overflow in (3, 0, 4):
            indexes.record_progress(tx, generation.id, added.revision_id, "pending", 0, 0, alias_overflow=overflow)
        assert tx.all("SELECT alias_overflow FROM revision_indexes") == [(4,)]


def test_coverage_counts_live_documents(library: LibraryBuilder) -> None:
    base = library.knowledge_base(embedding_model="m")
    seen, unseen, off, gone = (library.published(base, f"/{name}", f"text {name}") for name in "abcd")
    library.stage(library.add(base, "/staged"), "text e")
    library.published(library.knowledge_base("other", embedding_model="m"), "/f", "text f")
    for added in (seen, off, gone):
        library.embed(added, unit_rows(_RANDOM, 1))
    generation = library.vector(base.id)
    with library.database.write() as tx:
        indexes.record_progress(tx, generation.id, unseen.revision_id, "pending", 0, 1)
        assert indexes.coverage(tx, generation) == (3, 4)
        documents.switch(tx, off.document, enabled=False)
        documents.hide(tx, gone.document.id, base.id)
        assert indexes.coverage(tx, generation) == (1, 2)


def test_totals_count_the_chunks_of_what_is_published_and_to_be_embedded(library: LibraryBuilder) -> None:
    base, plain = library.knowledge_base("a", embedding_model="m"), library.knowledge_base("b")
    whole = library.published(base, "/a", "one", "two")
    library.published(base, "/b", "three")
    library.published(plain, "/c", "four")
    library.stage(library.add(base, "/d"), "five")
    with library.database.read() as tx:
        assert indexes.embedding_totals(tx, LOCAL_PRINCIPAL) == (0, 3)
    library.embed(whole, unit_rows(_RANDOM, 2))
    with library.database.read() as tx:
        assert indexes.embedding_totals(tx, LOCAL_PRINCIPAL) == (2, 3)
        assert indexes.embedding_totals(tx, "someone else") == (0, 0)
