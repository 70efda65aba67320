"""Chunks as they are staged, and the lists of candidates that lead to them."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.library_builder import EVERYTHING, ONE_LIBRARY, Added, Draft, LibraryBuilder, in_threads
from wenyuan.errors import WenyuanError
from wenyuan.store import chunks, documents, knowledge_bases
from wenyuan.store.chunks import KeyMatch
from wenyuan.types import Anchor, Chunk, DateSpan, Key, KeyKind, KnowledgeBase, Scope

_EMPTY_HASH = bytes(16)


def _day(text: str) -> int:
    return datetime.date.fromisoformat(text).toordinal()


def _span(first: str, last: str | None = None) -> DateSpan:
    return DateSpan(_day(first), _day(last or first), first, 0, len(first), "iso")


def _date(first: str, last: str | None = None, source: str = "body") -> Key:
    assert source in ("body", "heading", "title", "filename", "metadata")
    return Key("date", first, source, None, _day(first), _day(last or first))  # type: ignore[arg-type]


def _structured(
    library: LibraryBuilder,
    knowledge_base: KnowledgeBase,
    *dates: DateSpan,
    values: tuple[tuple[KeyKind, str], ...] = (),
    scope: Scope = EVERYTHING,
    limit: int = 100,
) -> list[KeyMatch]:
    with library.database.read() as tx:
        return chunks.structured(tx, knowledge_base.id, scope, dates, values, limit)


def _keyword(
    library: LibraryBuilder, knowledge_base: KnowledgeBase, *tokens: str, depth: int = 10, scope: Scope = EVERYTHING
) -> list[int]:
    number = library.lexical(knowledge_base.id).number
    with library.database.read() as tx:
        return [key for key, _ in chunks.keyword(tx, knowledge_base.id, number, scope, tokens, (), depth)]


# --- Staging -------------------------------------------------------------------------------------


def test_chunk_keys_are_never_given_twice(library: LibraryBuilder) -> None:
    added = [library.add(library.knowledge_base(f"{n}"), f"/{n}.md") for n in range(4)]
    given: list[int] = []

    def stage(number: int) -> None:
        for seq in range(0, 30, 3):
            made = [(Chunk(seq + n, "", 0, 0, Anchor("lines", 1, 1)), _EMPTY_HASH) for n in range(3)]
            with library.database.write() as tx:
                given.extend(chunks.stage_chunks(tx, added[number].revision_id, made))

    in_threads(4, stage)
    assert sorted(given) == list(range(1, 121))
    with library.database.write() as tx:
        tx.run("DELETE FROM chunks")
        assert chunks.stage_chunks(
            tx, added[0].revision_id, [(Chunk(0, "", 0, 0, Anchor("lines", 1, 1)), _EMPTY_HASH)]
        ) == [121]


def test_a_chunk_comes_back_as_it_was_staged(library: LibraryBuilder) -> None:
    added = library.add(library.knowledge_base(), "/a.md")
    made = [
        Chunk(0, "甲乙\n𠀀 ‮ abc", 0, 10, Anchor("cells", 1, 9, "工作表 1"), ("一", '1.1 "quoted"'), "| a | b |"),
        Chunk(1, "", 10, 10, Anchor("page", 3, 4)),
        Chunk(2, "last", 12, 16, Anchor("lines", 7, 7), (), "c"),
    ]
    with library.database.write() as tx:
        chunks.stage_chunks(tx, added.revision_id, [(chunk, _EMPTY_HASH) for chunk in made])
    with library.database.read() as tx:
        assert chunks.of_revision(tx, added.revision_id) == made
        assert chunks.of_revision(tx, added.revision_id, first=1, limit=1) == made[1:2]
        assert chunks.of_revision(tx, "none") == []


def test_a_chunk_cannot_be_staged_twice(library: LibraryBuilder) -> None:
    added = library.stage(library.add(library.knowledge_base(), "/a.md"), "one")
    with pytest.raises(WenyuanError, match=r"(?i)unique"), library.database.write() as tx:
        chunks.stage_chunks(tx, added.revision_id, [(Chunk(0, "", 0, 0, Anchor("lines", 1, 1)), _EMPTY_HASH)])


def test_how_much_is_staged_is_known_to_the_character(library: LibraryBuilder) -> None:
    added = library.add(library.knowledge_base(), "/a.md")
    with library.database.write() as tx:
        assert chunks.staged(tx, added.revision_id) == chunks.Staged(0, 0, 0)
        chunks.stage_text(tx, added.revision_id, 0, 0, "𠀀é汉")
        chunks.stage_text(tx, added.revision_id, 1, 3, "\n\nabc")
        chunks.stage_chunks(tx, added.revision_id, [(Chunk(0, "𠀀", 0, 1, Anchor("lines", 1, 1)), _EMPTY_HASH)])
        assert chunks.staged(tx, added.revision_id) == chunks.Staged(1, 2, 8)


@pytest.fixture
def revision_id(library: LibraryBuilder) -> str:
    return library.add(library.knowledge_base(), "/a.md").revision_id


@ONE_LIBRARY
@given(pieces=st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=9), max_size=6), data=st.data())
def test_any_span_of_a_revisions_text_is_read_exactly(
    library: LibraryBuilder, revision_id: str, pieces: list[str], data: st.DataObject
) -> None:
    text = "".join(pieces)
    start = data.draw(st.integers(0, len(text) + 2))
    end = data.draw(st.integers(start, len(text) + 4))
    with library.database.write() as tx:
        tx.run("DELETE FROM revision_text")
        for seq, piece in enumerate(pieces):
            chunks.stage_text(tx, revision_id, seq, len("".join(pieces[:seq])), piece)
        assert chunks.staged(tx, revision_id).text_length == len(text)
        assert chunks.revision_text(tx, revision_id, start, end) == text[start:end]


# --- Keyword -------------------------------------------------------------------------------------


def test_words_are_found_where_they_are_searchable(library: LibraryBuilder) -> None:
    knowledge_base, other = library.knowledge_base(), library.knowledge_base("other")
    found = library.published(knowledge_base, "/a.md", "heron one", "filler two")
    library.published(other, "/a.md", "heron elsewhere")
    library.stage(library.add(knowledge_base, "/staged.md"), "heron staged")
    assert _keyword(library, knowledge_base, "heron") == [found.chunk_keys[0]]
    assert _keyword(library, knowledge_base, "none") == []
    assert _keyword(library, knowledge_base) == []


@pytest.mark.parametrize("dead", [0, 5, 60, 400])
def test_dead_rows_never_crowd_out_live_ones(library: LibraryBuilder, dead: int) -> None:
    knowledge_base = library.knowledge_base()
    # The dead rows are shorter, so that they rank before every live one.
    buried = library.published(knowledge_base, "/dead.md", *["heron"] * dead, "x")
    alive = library.published(knowledge_base, "/alive.md", *["heron with more words"] * 6)
    library.published(knowledge_base, "/other.md", *["filler"] * 500)
    with library.database.write() as tx:
        documents.switch(tx, buried.document, enabled=False)
    assert _keyword(library, knowledge_base, "heron", depth=4) == list(alive.chunk_keys[:4])
    assert _keyword(library, knowledge_base, "heron", depth=10) == list(alive.chunk_keys)
    assert _keyword(library, knowledge_base, "heron", depth=0) == []


def test_a_scope_of_documents_is_kept(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    key = _date("2026-04-14")
    one, two = (library.published(knowledge_base, f"/{n}.md", Draft("heron", keys=(key,))) for n in (1, 2))
    for documents_, expected in (
        (None, [*one.chunk_keys, *two.chunk_keys]),
        ((), []),
        ((two.document.id,), list(two.chunk_keys)),
        ((two.document.id, two.document.id, "none"), list(two.chunk_keys)),
    ):
        scope = replace(EVERYTHING, documents=documents_)
        assert _keyword(library, knowledge_base, "heron", scope=scope) == expected
        matches = _structured(library, knowledge_base, _span("2026-04-14"), scope=scope)
        assert [match.chunk_key for match in matches] == expected
        with library.database.read() as tx:
            asked = [*one.chunk_keys, *two.chunk_keys]
            assert sorted(chunks.passages(tx, knowledge_base.id, scope, asked)) == expected
            assert sorted(chunks.live(tx, knowledge_base.id, scope, asked)) == expected


# --- Structured ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (_span("2026-04-14"), [0, 2, 3]),
        (_span("2026-04-13"), [2, 3]),
        (_span("2026-04-30", "2026-05-01"), [1, 2, 3]),
        (_span("2026-05-01"), [1, 3]),
        (_span("2026-03-31"), [3]),
        (_span("2025-12-31"), []),
        (_span("2027-01-01"), []),
    ],
)
def test_dates_match_where_their_intervals_overlap(
    library: LibraryBuilder, asked: DateSpan, expected: list[int]
) -> None:
    knowledge_base = library.knowledge_base()
    drafts = [
        Draft("a day", keys=(_date("2026-04-14"),)),
        Draft("two days", keys=(_date("2026-05-01", "2026-05-02"),)),
        Draft("a month", keys=(_date("2026-04-01", "2026-04-30"),)),
        Draft("a year", keys=(_date("2026-01-01", "2026-12-31"),)),
        Draft("no date"),
    ]
    added = library.published(knowledge_base, "/a.md", *drafts)
    found = [added.chunk_keys.index(match.chunk_key) for match in _structured(library, knowledge_base, asked)]
    # The narrower a date is, the better it fits.
    assert found == expected


def test_the_strongest_source_comes_first(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    weak = library.published(knowledge_base, "/weak.md", Draft("a", keys=(_date("2026-04-14", source="body"),)))
    middle = library.published(knowledge_base, "/middle.md", Draft("b", keys=(_date("2026-04-14", source="heading"),)))
    title = library.published(knowledge_base, "/title.md", "c", whole=[_date("2026-04-14", source="title")])
    name = library.published(knowledge_base, "/name.md", "d", whole=[_date("2026-04-14", source="filename")])
    assert _structured(library, knowledge_base, _span("2026-04-14")) == [
        KeyMatch(name.chunk_keys[0], "date", 0, whole_document=True, exact=True),
        KeyMatch(title.chunk_keys[0], "date", 1, whole_document=True, exact=True),
        KeyMatch(middle.chunk_keys[0], "date", 2, whole_document=False, exact=True),
        KeyMatch(weak.chunk_keys[0], "date", 3, whole_document=False, exact=True),
    ]
    assert len(_structured(library, knowledge_base, _span("2026-04-14"), limit=2)) == 2


def test_what_lies_within_the_days_asked_for_comes_before_what_lies_around_them(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    drafts = [
        Draft("the year", keys=(_date("2026-01-01", "2026-12-31", source="filename"),)),
        Draft("a day", keys=(_date("2026-04-14"),)),
        Draft("the month", keys=(_date("2026-04-01", "2026-04-30", source="heading"),)),
        Draft("part of it", keys=(_date("2026-03-30", "2026-04-02", source="title"),)),
    ]
    added = library.published(knowledge_base, "/a.md", *drafts)
    matches = _structured(library, knowledge_base, _span("2026-04-01", "2026-04-30"))
    found = [(added.chunk_keys.index(match.chunk_key), match.strength, match.exact) for match in matches]
    assert found == [(2, 2, True), (1, 3, True), (0, 0, False), (3, 1, False)]


def test_values_match_exactly_and_within_their_kind(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    drafts = [
        Draft("one", keys=(Key("version", "2026.4.1", "body"),)),
        Draft("ten", keys=(Key("version", "2026.4.10", "body"),)),
        Draft("code", keys=(Key("code", "ppr9087", "body"), Key("code", "ppr9087", "heading"))),
        Draft("name", keys=(Key("name", "2026.4.1", "body"),)),
    ]
    added = library.published(knowledge_base, "/a.md", *drafts)

    def found(*values: tuple[KeyKind, str]) -> list[int]:
        matches = _structured(library, knowledge_base, values=values)
        return [added.chunk_keys.index(match.chunk_key) for match in matches]

    assert found(("version", "2026.4.1")) == [0]
    assert found(("version", "2026.4.10"), ("name", "2026.4.1")) == [1, 3]
    assert found(("code", "ppr9087")) == [2]
    assert found(("code", "ppr"), ("code", 'it\'s "quoted"')) == []
    assert found() == []
    both = _structured(library, knowledge_base, _span("2026-04-14"), values=(("code", "ppr9087"),))
    assert both == [KeyMatch(added.chunk_keys[2], "code", 2, whole_document=False, exact=True)]


def test_a_key_of_the_whole_document_gives_its_first_chunks(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    texts = [f"passage {number}" for number in range(20)]
    added = library.published(knowledge_base, "/a.md", *texts, whole=[_date("2026-04-14", source="filename")])
    matches = _structured(library, knowledge_base, _span("2026-04-14"))
    assert [match.chunk_key for match in matches] == list(added.chunk_keys[:8])
    assert all(match.whole_document for match in matches)


def test_a_chunk_that_is_matched_twice_is_given_once_as_its_own(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    draft = Draft("first", keys=(_date("2026-04-14"), _date("2026-04-01", "2026-04-30", source="heading")))
    added = library.published(knowledge_base, "/a.md", draft, whole=[_date("2026-04-14", source="title")])
    matches = _structured(library, knowledge_base, _span("2026-04-14"), _span("2026-04-14"))
    assert matches == [KeyMatch(added.chunk_keys[0], "date", 1, whole_document=False, exact=True)]


# --- Passages ------------------------------------------------------------------------------------


def test_a_passage_knows_where_it_comes_from(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    added = library.published(knowledge_base, "/手册/a.md", Draft("words", ("一",), "context"), "more")
    with library.database.read() as tx:
        found = chunks.passages(tx, knowledge_base.id, EVERYTHING, [added.chunk_keys[0], 9999])
    assert list(found) == [added.chunk_keys[0]]
    passage = found[added.chunk_keys[0]]
    assert passage.chunk == Chunk(0, "words", 0, 5, Anchor("paragraph", 1, 1), ("一",), "context")
    assert (passage.chunk_id, passage.document_id, passage.revision_id) == (
        f"{added.revision_id}.0",
        added.document.id,
        added.revision_id,
    )
    assert (passage.document_name, passage.source, passage.media_type) == ("a.md", "/手册/a.md", "text/plain")


def _switch(library: LibraryBuilder, added: Added) -> None:
    with library.database.write() as tx:
        documents.switch(tx, added.document, enabled=False)


def _block(library: LibraryBuilder, added: Added) -> None:
    with library.database.write() as tx:
        tx.run("UPDATE documents SET blocked_reason = 'policy' WHERE id = :id", {"id": added.document.id})


def _hide(library: LibraryBuilder, added: Added) -> None:
    with library.database.write() as tx:
        documents.hide(tx, added.document.id, added.document.knowledge_base_id)


def _replace(library: LibraryBuilder, added: Added) -> None:
    library.publish(library.stage(library.revise(added.document, b"new"), "other words"))


def _disable_chunk(library: LibraryBuilder, added: Added) -> None:
    with library.database.write() as tx:
        tx.run("UPDATE chunks SET enabled = 0 WHERE key = :key", {"key": added.chunk_keys[0]})


def _hide_knowledge_base(library: LibraryBuilder, added: Added) -> None:
    with library.database.write() as tx:
        knowledge_base = knowledge_bases.by_id(tx, added.document.knowledge_base_id)
        for document_id in knowledge_bases.hide(tx, knowledge_base):
            documents.hide(tx, document_id, knowledge_base.id)


@pytest.mark.parametrize("away", [_switch, _block, _hide, _replace, _disable_chunk, _hide_knowledge_base])
def test_what_is_not_live_is_in_no_list(library: LibraryBuilder, away: object) -> None:
    assert callable(away)
    knowledge_base = library.knowledge_base()
    added = library.published(
        knowledge_base, "/a.md", Draft("heron", keys=(_date("2026-04-14"),)), whole=[_date("2026-05-05")]
    )
    number = library.lexical(knowledge_base.id).number

    def lists() -> list[object]:
        with library.database.read() as tx:
            return [
                chunks.keyword(tx, knowledge_base.id, number, EVERYTHING, ["heron"], [], 5),
                chunks.structured(tx, knowledge_base.id, EVERYTHING, [_span("2026-04-14")], [], 5),
                chunks.structured(tx, knowledge_base.id, EVERYTHING, [_span("2026-05-05")], [], 5),
                chunks.passages(tx, knowledge_base.id, EVERYTHING, added.chunk_keys),
                chunks.live(tx, knowledge_base.id, EVERYTHING, added.chunk_keys),
            ]

    assert all(lists())
    away(library, added)
    assert not any(lists())
    # What was said of it stays readable, so that an old citation still opens.
    with library.database.read() as tx:
        assert [chunk.text for chunk in chunks.of_revision(tx, added.revision_id)] == ["heron"]
