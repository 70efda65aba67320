"""Files attached to a session: found within it alone, used only when they can be, and gone with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.errors import AttachmentNotFound, InvalidValue, KnowledgeBaseNotFound, SessionNotFound
from wenyuan.runtime.library import Library

SETTINGS = '[defaults]\nembedding_model = ""\n[sessions]\ninline_characters = 200\n'


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    home = tmp_path / "library"
    home.mkdir()
    (home / "wenyuan.toml").write_text(SETTINGS, "utf-8")
    with wy.open(home, environment={}) as one:
        one.add_text("公司每年安排一次健康体检。", "手册.md")
        yield one


def found(library: Library, question: str, session: str | None = None, **more: object) -> list[str]:
    result = library.search(question, session=session, **more)  # type: ignore[arg-type]
    return [hit.passage.document_name for hit in result.hits]


def test_an_attachment_is_found_within_its_session_alone(library: Library) -> None:
    mine, other = library.sessions.create("体检"), library.sessions.create()
    library.sessions.attach_text(mine.id, "体检报告：血压正常。", "报告.md")
    library.sessions.attach_text(other.id, "体检发票，金额三百元。", "发票.md")
    library.drain()
    assert set(found(library, "体检", mine.id)) == {"手册.md", "报告.md"}
    assert set(found(library, "体检", other.id)) == {"手册.md", "发票.md"}
    assert found(library, "体检") == ["手册.md"]
    assert found(library, "体检", kb="default") == ["手册.md"]


def test_its_knowledge_base_is_nobody_elses(library: Library) -> None:
    session = library.sessions.create()
    library.sessions.attach_text(session.id, "报告", "报告.md")
    library.drain()
    assert [view.knowledge_base.name for view in library.knowledge_bases.all()] == ["default"]
    with pytest.raises(KnowledgeBaseNotFound):
        library.search("报告", kb=session.id)
    with pytest.raises(KnowledgeBaseNotFound):
        library.knowledge_bases.delete(session.id)


def test_a_session_asks_the_knowledge_bases_it_names(library: Library) -> None:
    library.knowledge_bases.create("notes", embedding_model="")
    library.add_text("体检笔记", "笔记.md", kb="notes")
    session = library.sessions.create(kb="notes")
    library.sessions.attach_text(session.id, "体检报告", "报告.md")
    library.drain()
    assert set(found(library, "体检", session.id)) == {"笔记.md", "报告.md"}
    assert set(found(library, "体检", session.id, kb="default")) == {"手册.md", "报告.md"}
    with pytest.raises(KnowledgeBaseNotFound):
        library.sessions.create(kb="nowhere")


def test_documents_named_beside_a_session_leave_its_attachments_in(library: Library) -> None:
    session = library.sessions.create()
    library.sessions.attach_text(session.id, "体检报告", "报告.md")
    library.add_text("体检通知", "通知.md")
    assert set(found(library, "体检", session.id, documents=["通知.md"])) == {"通知.md", "报告.md"}


def test_only_what_is_ready_is_used_and_the_rest_is_named(library: Library) -> None:
    session = library.sessions.create()
    library.sessions.attach_text(session.id, "体检报告", "报告.md")
    library.drain()
    library.sessions.attach_text(session.id, "体检补充", "补充.md")
    library.sessions.attach_text(session.id, "", "空.md")
    ready, unread = library.sessions.usable(session.id)
    assert [one.name for one in ready] == ["报告.md"]
    assert {one.attachment.name: one.why for one in unread} == {"补充.md": "pending", "空.md": "pending"}
    assert set(found(library, "体检", session.id)) == {"手册.md", "报告.md"}
    library.drain()
    ready, unread = library.sessions.usable(session.id)
    assert [one.name for one in ready] == ["报告.md", "补充.md"]
    assert {one.attachment.name: one.why for one in unread} == {"空.md": "file-empty"}


def test_a_short_text_is_used_whole_and_a_long_one_searched(library: Library) -> None:
    session = library.sessions.create()
    library.sessions.attach_text(session.id, "短", "short.md")
    library.sessions.attach_text(session.id, "长" * 201, "long.md")
    assert [one.rag_mode for one in library.sessions.attachments(session.id)] == [None, None]
    library.drain()
    modes = {one.name: one.rag_mode for one in library.sessions.attachments(session.id)}
    assert modes == {"short.md": "inline", "long.md": "session-retrieval"}


def test_the_same_name_again_replaces_what_it_held(library: Library) -> None:
    session = library.sessions.create()
    for text in ("第一版报告", "第二版报告"):
        library.sessions.attach_text(session.id, text, "报告.md")
        library.drain()
    result = library.search("报告", session=session.id)
    assert [hit.passage.chunk.text for hit in result.hits] == ["第二版报告"]


def test_what_is_detached_or_deleted_is_gone(library: Library) -> None:
    session = library.sessions.create()
    for name in ("一.md", "二.md"):
        library.sessions.attach_text(session.id, f"血压记录 {name}", name)
    library.drain()
    library.sessions.detach(session.id, "一.md")
    assert found(library, "血压", session.id) == ["二.md"]
    with pytest.raises(AttachmentNotFound):
        library.sessions.detach(session.id, "一.md")
    kept = library.search("血压", session=session.id).hits[0].passage.chunk_id
    library.sessions.delete(session.id)
    with pytest.raises(SessionNotFound):
        library.search("血压", session=session.id)
    library.drain()
    with pytest.raises(wy.errors.CitationNotFound):
        library.documents.open(kept)
    assert library.check() == []


def test_attachments_whose_session_is_gone_are_swept(library: Library) -> None:
    session = library.sessions.create()
    library.sessions.attach_text(session.id, "孤儿", "孤儿.md")
    library.drain()
    with library._database.write() as tx:
        tx.run("DELETE FROM sessions WHERE id = :id", {"id": session.id})
    library.drain()
    with library._database.read() as tx:
        assert tx.first("SELECT count(*) FROM documents WHERE name = '孤儿.md'") == (0,)
    assert library.check() == []


def test_sessions_are_listed_renamed_and_found(library: Library) -> None:
    first, second = library.sessions.create("一"), library.sessions.create("二")
    library.sessions.rename(first.id, "壹")
    assert {one.title for one in library.sessions.list()} == {"壹", "二"}
    assert library.sessions.find(second.id).knowledge_bases is None
    for bad in ("x" * 201, "a\nb"):
        with pytest.raises(InvalidValue):
            library.sessions.create(bad)
    for call in (library.sessions.delete, library.sessions.attachments):
        with pytest.raises(SessionNotFound):
            call("session_nowhere")


def test_work_on_attachments_goes_on_after_a_restart(library: Library, tmp_path: Path) -> None:
    session = library.sessions.create()
    library.sessions.attach_text(session.id, "重启之后", "重启.md")
    library.close()
    with wy.open(tmp_path / "library", environment={}) as again:
        again.drain()
        assert found(again, "重启", session.id) == ["重启.md"]
