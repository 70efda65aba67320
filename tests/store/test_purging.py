"""Purging: in batches that may be repeated, and nothing but what was meant."""

from __future__ import annotations

import numpy as np
import pytest

from tests.store.library_builder import Added, Draft, LibraryBuilder, unit_rows
from wenyuan.store import chunks, documents, purging
from wenyuan.types import Key, KnowledgeBase

_TABLES = ("chunks", "revision_text", "keys", "revision_indexes", "vector_codes")
_RANDOM = np.random.default_rng(2)


@pytest.fixture
def base(library: LibraryBuilder) -> KnowledgeBase:
    return library.knowledge_base(embedding_model="m")


def _whole(library: LibraryBuilder, base: KnowledgeBase, source: str, count: int = 7) -> Added:
    drafts = [Draft(f"heron {source} {n}", keys=(Key("code", source, "body"),)) for n in range(count)]
    added = library.published(base, source, *drafts, whole=[Key("name", source, "title")])
    library.embed(added, unit_rows(_RANDOM, count))
    return added


def _rows(library: LibraryBuilder, added: Added) -> dict[str, int]:
    with library.database.read() as tx:
        counted = {
            table: tx.all(f"SELECT count(*) FROM {table} WHERE revision_id = :id", {"id": added.revision_id})[0][0]
            for table in _TABLES
        }
        number = library.lexical(added.document.knowledge_base_id).number
        found = tx.lexical.search(tx, number, ["heron"], [], 1000)
        return {**counted, "postings": len({key for key, _ in found} & set(added.chunk_keys))}


def _unindex(library: LibraryBuilder, added: Added) -> int:
    after: int | None = -1
    batches = 0
    while after is not None:
        with library.database.write() as tx:
            after = purging.unindex_batch(tx, added.revision_id, after)
        batches += 1
    with library.database.write() as tx:
        purging.forget_index_rows(tx, added.revision_id)
    return batches


def test_a_superseded_revision_loses_its_index_and_keeps_its_words(
    library: LibraryBuilder, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "BATCH_CHUNKS", 3)
    old, other = _whole(library, base, "/a.md"), _whole(library, base, "/b.md")
    new = library.stage(library.revise(old.document, b"new"), "heron new")
    library.publish(new)
    before = _rows(library, other), _rows(library, new)
    for _ in range(2):
        assert _unindex(library, old) == 4
    rows = _rows(library, old)
    assert (rows["postings"], rows["keys"], rows["vector_codes"], rows["revision_indexes"]) == (0, 0, 0, 0)
    assert rows["chunks"] == 7
    with library.database.read() as tx:
        assert [chunk.text for chunk in chunks.of_revision(tx, old.revision_id)][:1] == ["heron /a.md 0"]
        assert chunks.revision_text(tx, old.revision_id, 0, 13) == "heron /a.md 0"
        assert not purging.is_to_go(tx, old.revision_id, tx.now - 60_000)
        assert purging.is_to_go(tx, old.revision_id, tx.now)
        assert not purging.is_to_go(tx, new.revision_id, tx.now)
        assert purging.superseded(tx, tx.now - 60_000, 9) == []
        assert purging.superseded(tx, tx.now, 9) == [(old.revision_id, base.id, base.owner)]
    assert (_rows(library, other), _rows(library, new)) == before


def test_a_deleted_document_leaves_nothing_behind(
    library: LibraryBuilder, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "BATCH_CHUNKS", 3)
    gone, other = _whole(library, base, "/a.md"), _whole(library, base, "/b.md")
    before = _rows(library, other)
    with library.database.write() as tx:
        documents.hide(tx, gone.document.id, base.id)
        assert purging.is_to_go(tx, gone.revision_id, 0)
    _unindex(library, gone)
    sizes = []
    while True:
        with library.database.write() as tx:
            sizes.append(purging.delete_text_batch(tx, gone.revision_id))
        if not sizes[-1]:
            break
    assert max(sizes) <= 6
    with library.database.write() as tx:
        purging.delete_document(tx, gone.document.id)
        assert tx.all("SELECT count(*) FROM documents") == [(2,)]
        deleted = purging.delete_revision(tx, gone.revision_id)
        assert deleted is not None
        document_id, sha256 = deleted
        assert document_id == gone.document.id
        assert library.blobs.forget_unused(tx, sha256)
        purging.delete_document(tx, gone.document.id)
        assert purging.delete_revision(tx, gone.revision_id) is None
    assert set(_rows(library, gone).values()) == {0}
    assert _rows(library, other) == before
    with library.database.read() as tx:
        assert tx.all("SELECT id FROM documents") == [(other.document.id,)]
        assert tx.all("SELECT count(*) FROM vectors") == [(7,)]


def test_a_revision_that_never_came_to_anything_is_purged_as_well(library: LibraryBuilder, base: KnowledgeBase) -> None:
    staged = library.stage(library.add(base, "/a.md"), Draft("heron", keys=(Key("code", "x", "body"),)))
    _unindex(library, staged)
    rows = _rows(library, staged)
    assert (rows["postings"], rows["keys"], rows["revision_indexes"], rows["chunks"]) == (0, 0, 0, 1)


def test_a_document_that_is_in_sight_is_never_deleted(library: LibraryBuilder, base: KnowledgeBase) -> None:
    added = library.add(base, "/a.md")
    with library.database.write() as tx:
        purging.delete_revision(tx, added.revision_id)
        purging.delete_document(tx, added.document.id)
        assert tx.all("SELECT count(*) FROM documents") == [(1,)]
