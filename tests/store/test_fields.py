"""Which documents meet a filter, and that every list looks only among them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.store.library_builder import EVERYTHING, Added, Draft, LibraryBuilder, build_library, unit_rows
from wenyuan.rules.filters import read_filters
from wenyuan.store import chunks, documents, fields, purging
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import DateSpan, Key, KnowledgeBase, Scope


def _scope(filters: dict[str, Any], *, only: tuple[str, ...] | None = None) -> Scope:
    return replace(EVERYTHING, documents=only, conditions=read_filters(filters))


def _found(library: LibraryBuilder, base: KnowledgeBase, filters: dict[str, Any], **options: Any) -> set[str]:
    """Names of the documents that meet the filters, by both ways of asking, which must agree."""
    scope = _scope(filters, **options)
    with library.database.read() as tx:
        narrowed = fields.narrowed(tx, base.id, scope)
        rows = tx.all(
            "SELECT id, name, serving_revision_id FROM documents WHERE knowledge_base_id = :id AND deleted_at IS NULL "
            "AND enabled = 1 AND serving_revision_id IS NOT NULL",
            {"id": base.id},
        )
        met = fields.meeting(tx, scope.conditions, [row[2] for row in rows])
    within = {row[0] for row in rows} if scope.documents is None else set(scope.documents)
    assert set(narrowed.documents or ()) == {row[0] for row in rows if row[2] in met} & within
    assert narrowed.conditions == scope.conditions
    return {row[1] for row in rows if row[0] in (narrowed.documents or ())}


METADATA: dict[str, dict[str, Any]] = {
    "a.md": {"author": "王伟", "year": 2021, "tags": ["运维", "Backup"], "published": "2021-05-03", "draft": True},
    "b.md": {"Author": ["Li Lei", "王伟"], "year": "2024", "tags": "ops, backup", "published": "May 3, 2024"},
    "2026-04-14 周会.md": {
        "作者": "ＷＡＮＧ　Ｗｅｉ",
        "price": 3.5,
        "meta": {"owner": {"team": "Red"}},
        "keywords": "#周会；#运维",
    },
    "d.md": {},
}


def _filled(library: LibraryBuilder) -> KnowledgeBase:
    made = library.knowledge_base()
    for name, metadata in METADATA.items():
        text = "这是中文的一段话" if name == "a.md" else "words in English"
        library.published(made, f"/Notes/{name}", text, metadata=metadata)
    return made


@pytest.fixture
def base(library: LibraryBuilder) -> KnowledgeBase:
    return _filled(library)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LibraryBuilder, KnowledgeBase]]:
    """The same for tests that only read."""
    library = build_library(tmp_path_factory.mktemp("library"))
    yield library, _filled(library)
    library.database.close()


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"author": "王伟"}, {"a.md", "b.md"}),
        ({"author": "li  LEI"}, {"b.md"}),
        ({"AUTHOR": ["nobody", "王偉"]}, {"a.md", "b.md"}),
        ({"作者": "wang wei"}, {"2026-04-14 周会.md"}),
        ({"author": {"prefix": "li"}}, {"b.md"}),
        ({"author": "Li"}, set()),
        ({"year": 2021}, {"a.md"}),
        ({"year": "2024"}, {"b.md"}),
        ({"year": {"from": 2020, "to": 2023}}, {"a.md"}),
        ({"year": {"from": 2021}}, {"a.md", "b.md"}),
        ({"year": {"to": 2020}}, set()),
        # All that is known of 2021 is the year, which reaches into the range.
        ({"year": {"from": "2021-06"}}, {"a.md", "b.md"}),
        ({"year": {"from": "2022-06"}}, {"b.md"}),
        ({"published": {"from": "2021-05", "to": "2021-05"}}, {"a.md"}),
        ({"published": {"from": 2024}}, {"b.md"}),
        ({"price": {"from": 3, "to": 4}}, {"2026-04-14 周会.md"}),
        ({"price": "3.50"}, {"2026-04-14 周会.md"}),
        ({"price": {"from": 3.6}}, set()),
        ({"draft": True}, {"a.md"}),
        ({"meta.owner.team": "red"}, {"2026-04-14 周会.md"}),
        ({"tag": "backup"}, {"a.md", "b.md"}),
        ({"tag": "運維"}, {"a.md", "2026-04-14 周会.md"}),
        ({"tag": {"all": ["backup", "运维"]}}, {"a.md"}),
        ({"tag": ["ops", "周会"]}, {"b.md", "2026-04-14 周会.md"}),
        ({"tags": "运维"}, {"a.md"}),
        ({"path": {"prefix": "/Notes/2026"}}, {"2026-04-14 周会.md"}),
        ({"path": {"prefix": "/notes/"}}, set()),
        ({"path": "/Notes/d.md"}, {"d.md"}),
        ({"name": "D.MD"}, {"d.md"}),
        ({"media_type": {"prefix": "text/"}}, set(METADATA)),
        ({"language": "zh"}, {"a.md"}),
        ({"date": "2026-04"}, {"2026-04-14 周会.md"}),
        ({"date": {"from": "2021-01-01", "to": "2021-12-31"}}, {"a.md"}),
        ({"date": ["2021", "2024-05-03"]}, {"a.md", "b.md"}),
        ({"author": "王伟", "year": {"from": 2022}}, {"b.md"}),
        ({"author": "王伟", "draft": False}, set()),
        ({"nowhere": "x"}, set()),
        ({"nowhere": {"from": 1}}, set()),
    ],
)
def test_the_documents_that_meet_a_filter(
    unchanged: tuple[LibraryBuilder, KnowledgeBase], filters: dict[str, Any], names: set[str]
) -> None:
    assert _found(*unchanged, filters) == names


def test_a_filter_narrows_the_documents_that_are_named(library: LibraryBuilder, base: KnowledgeBase) -> None:
    with library.database.read() as tx:
        ids = {str(name): str(one) for one, name in tx.all("SELECT id, name FROM documents")}
    assert _found(library, base, {"author": "王伟"}, only=(ids["b.md"], ids["d.md"])) == {"b.md"}
    assert _found(library, base, {"author": "王伟"}, only=(ids["d.md"],)) == set()


def test_a_filter_is_of_its_knowledge_base(library: LibraryBuilder, base: KnowledgeBase) -> None:
    other = library.knowledge_base("other")
    library.published(other, "/other.md", "x", metadata={"author": "王伟"})
    assert _found(library, other, {"author": "王伟"}) == {"other.md"}
    assert _found(library, base, {"author": "王伟"}) == {"a.md", "b.md"}


def test_only_what_is_live_meets_a_filter(library: LibraryBuilder, base: KnowledgeBase) -> None:
    first = library.published(base, "/first.md", "x", metadata={"state": "old"})
    off = library.published(base, "/off.md", "x", metadata={"state": "off"})
    gone = library.published(base, "/gone.md", "x", metadata={"state": "gone"})
    newer = library.stage(library.revise(first.document, b"new"), "y")
    assert _found(library, base, {"state": "old"}) == {"first.md"}
    library.publish(newer, {"state": "new"})
    with library.database.write() as tx:
        documents.switch(tx, off.document, enabled=False)
        documents.hide(tx, gone.document.id, base.id)
    assert _found(library, base, {"state": "old"}) == set()
    assert _found(library, base, {"state": ["new", "off", "gone"]}) == {"first.md"}


def test_fields_leave_with_their_revision(library: LibraryBuilder, base: KnowledgeBase) -> None:
    added = library.published(base, "/x.md", "x", metadata={"state": "x"})
    library.publish(library.stage(library.revise(added.document, b"new"), "y"), {"state": "y"})
    with library.database.write() as tx:
        purging.forget_index_rows(tx, added.revision_id)
        left = tx.all("SELECT value FROM document_fields WHERE field = 'state'")
    assert left == [("y",)]


def test_metadata_of_any_size_and_kind_can_be_stored(library: LibraryBuilder, base: KnowledgeBase) -> None:
    odd: dict[str, Any] = {
        "long": "字" * 100_000,
        "many": list(range(10_000)),
        "nothing": [None, "", {}],
        "odd": "ab\0c",
        "huge": 1 << 200,
        "when": datetime.datetime(2026, 4, 14, 9, 30),
        "deep": {"a": {"b": {"c": {"d": "too deep"}}}},
    }
    library.published(base, "/odd.md", "x", metadata=odd)
    with library.database.read() as tx:
        row = tx.first("SELECT count(*), max(length(value)) FROM document_fields WHERE field NOT IN ('path', 'name')")
    assert row is not None
    assert row[0] < 400
    assert row[1] <= 200
    assert _found(library, base, {"long": "字" * 900}) == {"odd.md"}
    assert _found(library, base, {"many": 7}) == {"odd.md"}
    assert _found(library, base, {"when": {"from": "2026-04-14", "to": "2026-04-14"}}) == {"odd.md"}
    assert _found(library, base, {"deep.a.b": {"prefix": "{"}}) == set()


# --- The lists -----------------------------------------------------------------------------------

_DAY = 739_000
_SPAN = DateSpan(_DAY, _DAY, "", 0, 0, "iso")


def _crowded(library: LibraryBuilder, outside: int, inside: int) -> tuple[KnowledgeBase, list[Added]]:
    """Many documents that match best, and a few that match worse and alone meet the filter."""
    base = library.knowledge_base(embedding_model="m")
    near, far = unit_rows(np.random.default_rng(1), 2)
    made = []
    for number in range(outside + inside):
        is_inside = number >= outside
        text = f"heron {'filler ' * 30}{number}" if is_inside else f"heron heron {number}"
        # Strength is less for a date in the body.
        key = Key("date", "", "body" if is_inside else "heading", None, _DAY, _DAY)
        added = library.stage(library.add(base, f"/{number}.md"), Draft(text, keys=(key,)))
        library.embed(added, np.stack([near + 0.1 * far if is_inside else near]))
        library.publish(added, {"state": "in" if is_inside else "out"})
        if is_inside:
            made.append(added)
    return base, made


@pytest.mark.only_sqlite
@pytest.mark.parametrize(("outside", "inside"), [(60, 1), (60, 20), (400, 3)])
def test_the_best_lie_outside_and_every_list_still_finds_what_is_inside(
    library: LibraryBuilder, outside: int, inside: int
) -> None:
    base, made = _crowded(library, outside, inside)
    expected = {key for added in made for key in added.chunk_keys}
    depth = 10
    query = unit_rows(np.random.default_rng(1), 2)[0]
    with library.database.read() as tx:
        scope = fields.narrowed(tx, base.id, _scope({"state": "in"}))
        number = library.lexical(base.id).number
        by_words = {key for key, _ in chunks.keyword(tx, base.id, number, scope, ["heron"], [], depth)}
        by_keys = {match.chunk_key for match in chunks.structured(tx, base.id, scope, [_SPAN], [], depth)}
        cache, generation = VectorCache(), library.vector(base.id)
        nearest = cache.search(tx, generation, _model(library), query, scope.documents, depth)
        by_vectors = {key for key, _ in nearest}
        shown = set(chunks.passages(tx, base.id, scope, [*range(1, outside + inside + 1)]))
        unfiltered = {key for key, _ in chunks.keyword(tx, base.id, number, EVERYTHING, ["heron"], [], depth)}
    assert unfiltered.isdisjoint(expected)
    for found in (by_words, by_keys, by_vectors):
        assert len(found) == min(depth, inside)
        assert found <= expected
    assert shown == expected


def _model(library: LibraryBuilder) -> int:
    with library.database.read() as tx:
        row = tx.first("SELECT key FROM model_fingerprints")
    assert row is not None
    return int(row[0])


def test_the_reading_of_the_words_asks_again_whether_a_filter_is_met(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    added = library.published(base, "/x.md", "x", metadata={"state": "in"})
    with library.database.read() as tx:
        narrowed = fields.narrowed(tx, base.id, _scope({"state": "in"}))
    newer = library.stage(library.revise(added.document, b"new"), "y")
    library.publish(newer, {"state": "out"})
    with library.database.read() as tx:
        assert chunks.passages(tx, base.id, narrowed, [*added.chunk_keys, *newer.chunk_keys]) == {}
        unconditional = replace(narrowed, conditions=())
        assert set(chunks.passages(tx, base.id, unconditional, newer.chunk_keys)) == set(newer.chunk_keys)
