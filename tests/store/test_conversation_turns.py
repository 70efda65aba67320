"""Turns of sessions on both databases: numbered, replaced, saved, erased, and gone with their session."""

from __future__ import annotations

import pytest

from tests.store.library_builder import LibraryBuilder
from wenyuan.errors import SessionNotFound, TurnNotFound
from wenyuan.store import conversation_turns, documents, scoped_documents, sessions
from wenyuan.store.conversation_turns import NamedDocument, StoredTurn
from wenyuan.types import LOCAL_PRINCIPAL, Scope


def asked(library: LibraryBuilder, text: str, replaces: int | None = None) -> int:
    with library.database.write() as tx:
        return conversation_turns.begin(tx, "session_1", text, f"trace_{text}", ["doc_a"], replaces)


def answered(library: LibraryBuilder, number: int, text: str, **named: bool) -> bool:
    sources = [{"document_id": one, "document_name": f"{one}.md"} for one in named]
    answer = {"finish_reason": "stop", "sources": sources, "unread": []}
    with library.database.write() as tx:
        return conversation_turns.finish(tx, "session_1", number, text, answer, named)


def page(library: LibraryBuilder, before: int | None = None, limit: int = 100) -> list[StoredTurn]:
    with library.database.read() as tx:
        return conversation_turns.page(tx, "session_1", before, limit)


@pytest.fixture
def session(library: LibraryBuilder) -> LibraryBuilder:
    with library.database.write() as tx:
        sessions.add(tx, "session_1", LOCAL_PRINCIPAL, "", None)
    return library


def test_a_question_comes_with_the_place_of_its_answer(session: LibraryBuilder) -> None:
    assert asked(session, "one") == 1
    question, answer = page(session)
    assert (question.role, question.text, question.answer, question.attachments) == ("person", "one", None, ("doc_a",))
    assert (answer.role, answer.text, answer.answer) == ("assistant", "", {"finish_reason": "interrupted"})
    with session.database.write() as tx:
        conversation_turns.save_text(tx, "session_1", 2, "so fa\x00r 苍鹭")
        assert conversation_turns.find(tx, "session_1", 2).text.startswith("so fa")
        found = conversation_turns.of_trace(tx, "trace_one")
    assert found is not None
    assert (found[0], found[1].number) == ("session_1", 2)
    assert answered(session, 2, "said")
    assert asked(session, "two") == 3
    assert [turn.number for turn in page(session, before=4, limit=2)] == [2, 3]


def test_a_question_takes_the_place_of_another_and_of_what_followed(session: LibraryBuilder) -> None:
    for text in ("one", "two", "three"):
        asked(session, text)
    assert asked(session, "three again", replaces=5) == 7
    assert asked(session, "two again", replaces=3) == 9
    assert [turn.replaced_by for turn in page(session)] == [None, None, 9, 9, 7, 7, 9, 9, None, None]
    with session.database.read() as tx:
        assert [turn.text for turn in conversation_turns.in_force(tx, "session_1", 11, 3)] == ["", "two again", ""]
        assert [turn.number for turn in conversation_turns.in_force(tx, "session_1", 9, 9)] == [1, 2]
    for wrong in (2, 3, 99):
        with pytest.raises(TurnNotFound):
            asked(session, "wrong", replaces=wrong)
    assert len(page(session)) == 10


def test_what_names_a_document_that_is_deleted_is_erased(session: LibraryBuilder) -> None:
    base = session.knowledge_base("birds")
    quoted, named, other = (
        session.published(base, f"/{name}", "heron").document.id for name in ("quoted", "named", "other")
    )
    for number, names in ((2, {quoted: True, named: False}), (4, {quoted: False, other: True})):
        asked(session, str(number))
        assert answered(session, number, f"answer {number}", **names)
    with session.database.write() as tx:
        conversation_turns.judge(tx, "session_1", 2, "down", "why")
        documents.hide(tx, quoted, base.id)
        told = conversation_turns.naming(tx, [quoted], 10)
        assert told == [
            NamedDocument("session_1", 2, quoted, is_quoted=True),
            NamedDocument("session_1", 4, quoted, is_quoted=False),
        ]
        for one in told:
            conversation_turns.erase(tx, one)
        assert conversation_turns.naming(tx, [quoted], 10) == []
    first, second = (turn for turn in page(session) if turn.role == "assistant")
    assert (first.text, first.answer, first.feedback) == ("", {"finish_reason": "erased"}, "down")
    assert second.text == "answer 4"
    assert second.answer is not None
    assert [one["document_id"] for one in second.answer["sources"]] == [other]
    # An answer that is finished only after its document was deleted is erased at once.
    asked(session, "late")
    answered(session, 6, "late answer", **{quoted: True})
    assert page(session)[-1].text == ""


def test_turns_go_with_their_session(session: LibraryBuilder) -> None:
    asked(session, "one")
    answered(session, 2, "said", doc_gone=False)
    with session.database.write() as tx:
        sessions.delete(tx, "session_1")
        assert tx.first("SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM turn_documents)") == (0, 0)
    assert not answered(session, 2, "too late")
    with pytest.raises(SessionNotFound):
        asked(session, "too late")
    with session.database.read() as tx, pytest.raises(TurnNotFound):
        conversation_turns.find(tx, "session_1", 1)


def test_an_answer_is_judged_and_a_question_is_not(session: LibraryBuilder) -> None:
    asked(session, "one")
    with session.database.write() as tx:
        conversation_turns.judge(tx, "session_1", 2, "up", "good")
        assert (conversation_turns.find(tx, "session_1", 2).feedback) == "up"
        with pytest.raises(TurnNotFound):
            conversation_turns.judge(tx, "session_1", 1, "up", "")


def test_documents_are_read_within_their_scope_alone(library: LibraryBuilder) -> None:
    base, other = library.knowledge_base("birds"), library.knowledge_base("salaries")
    drafts = [f"heron {number}" for number in range(3)]
    seen = library.published(base, "/a", *drafts).document.id
    off = library.published(base, "/b", *drafts).document
    library.stage(library.add(base, "/staged"), *drafts)
    secret = library.published(other, "/c", *drafts).document.id
    with library.database.write() as tx:
        documents.switch(tx, off, enabled=False)
    everything = Scope(LOCAL_PRINCIPAL)
    with library.database.read() as tx:
        listed = scoped_documents.listed(tx, base.id, everything, "", 10)
        assert [(one.id, one.passages) for one in listed] == [(seen, 3)]
        assert scoped_documents.listed(tx, base.id, Scope(LOCAL_PRINCIPAL, None, ()), "", 10) == []
        assert scoped_documents.listed(tx, base.id, everything, seen, 10) == []
        read = scoped_documents.passages(tx, base.id, everything, seen, 1, 10)
        assert [passage.chunk.seq for passage in read] == [1, 2]
        for scope, document in ((everything, off.id), (everything, secret), (Scope(LOCAL_PRINCIPAL, None, ()), seen)):
            assert scoped_documents.passages(tx, base.id, scope, document, 0, 10) == []
