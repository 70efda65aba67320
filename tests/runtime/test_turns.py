"""Sessions remember what was said: kept before it is answered, asked anew, judged, exported, and gone when deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wenyuan as wy
from tests.chat_server import Reply
from tests.runtime.conversing import Talking, conversing, message_of
from tests.store.processes import answer, doomed_process
from wenyuan.errors import InvalidValue, SessionNotFound, TurnNotFound
from wenyuan.runtime.library import Library

QUESTION = "屏幕改用什么？"
ANSWER = Reply("屏幕改用 PPR-9087 [1]。")
SETTINGS = "[answer]\nhistory_turns = 40\n[sessions]\ninline_characters = 200\n"


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talking]:
    with conversing(tmp_path_factory.mktemp("turns"), SETTINGS) as talking:
        yield talking


def said(request: dict[str, Any]) -> list[tuple[str, str]]:
    """The messages that a model was sent, without what it is told of itself and of the documents."""
    return [(one["role"], one["content"].rpartition("问题：")[2]) for one in request["messages"][1:]]


def test_a_session_keeps_questions_and_answers_and_knows_what_was_said(talking: Talking) -> None:
    library, server = talking.library, talking.server
    session = library.sessions.create()
    talking.script(ANSWER, Reply("体检由谁付费？"), Reply("公司承担 [1]。"))
    first = message_of(library.converse(QUESTION, session=session.id))
    second = message_of(library.converse("那体检呢？", session=session.id))
    page = library.turns.page(session.id)
    assert [(turn.number, turn.role, turn.text) for turn in page.turns] == [
        (1, "person", QUESTION),
        (2, "assistant", first["text"]),
        (3, "person", "那体检呢？"),
        (4, "assistant", second["text"]),
    ]
    assert (first["turn"], second["turn"], page.next_before) == (2, 4, None)
    kept = page.turns[1].answer
    assert kept is not None
    assert [one["document_name"] for one in kept["citations"]] == ["周会.md"]
    assert {"support", "sources", "grounded", "finish_reason", "model", "usage", "degraded", "unread"} <= kept.keys()
    # Where the sources are is kept, and not what they say.
    assert [one["text"] for one in kept["sources"]] == [""]
    assert library.trace(page.turns[1].trace_id)["answer"]["turn"] == 2
    # The question was put anew by the model, and the citations of before mean nothing any more.
    assert "那体检呢？" in server.requests[1]["messages"][0]["content"]
    assert said(server.requests[2]) == [
        ("user", QUESTION),
        ("assistant", "屏幕改用 PPR-9087。"),
        ("user", "那体检呢？"),
    ]
    assert library.sessions.find(session.id).title == QUESTION


def test_an_edited_question_takes_the_place_of_what_followed(talking: Talking) -> None:
    library, server = talking.library, talking.server
    session = library.sessions.create("给定的标题")
    talking.script(ANSWER)
    for question in ("屏幕一？", "屏幕二？"):
        list(library.converse(question, session=session.id, prefer="knowledge"))
    talking.script(ANSWER)
    assert message_of(library.converse("屏幕三？", session=session.id, replaces=3))["turn"] == 6
    again = message_of(library.converse("屏幕三？", session=session.id, replaces=5))
    turns = library.turns.page(session.id).turns
    assert [(turn.text, turn.replaced_by) for turn in turns if turn.role == "person"] == [
        ("屏幕一？", None),
        ("屏幕二？", 5),
        ("屏幕三？", 7),
        ("屏幕三？", None),
    ]
    assert [turn.replaced_by for turn in turns if turn.role == "assistant"] == [None, 5, 7, None]
    assert again["turn"] == 8
    assert [text for _, text in said(server.requests[-1])] == ["屏幕一？", "屏幕改用 PPR-9087。", "屏幕三？"]
    for number in (2, 3, 99):
        with pytest.raises(TurnNotFound):
            list(library.converse("x", session=session.id, replaces=number))
    assert len(library.turns.page(session.id).turns) == 8
    assert library.sessions.find(session.id).title == "给定的标题"
    newest = library.turns.page(session.id, limit=3)
    assert ([turn.number for turn in newest.turns], newest.next_before) == ([6, 7, 8], 6)
    assert [turn.number for turn in library.turns.page(session.id, before=6, limit=9).turns] == [1, 2, 3, 4, 5]
    with pytest.raises(InvalidValue):
        library.turns.page(session.id, limit=0)


def test_a_reply_about_the_conversation_keeps_the_citations_of_the_answer(talking: Talking) -> None:
    library, server = talking.library, talking.server
    session = library.sessions.create()
    talking.script(ANSWER, Reply("The display is PPR-9087 [1], not [2]."))
    list(library.converse(QUESTION, session=session.id))
    message = message_of(library.converse("把上一条翻译成英文", session=session.id))
    assert (message["text"], message["invented"]) == ("The display is PPR-9087 [1], not.", ("[2]",))
    assert [one.document_name for one in message["citations"]] == ["周会.md"]
    assert ("assistant", "屏幕改用 PPR-9087 [1]。") in said(server.requests[-1])


def test_what_was_said_long_ago_is_summarised_and_not_cut_off(talking: Talking) -> None:
    library, server = talking.library, talking.server
    session = library.sessions.create()
    talking.script(ANSWER)
    for number in range(7):
        list(library.converse(f"关于屏幕的第 {number} 个完整的问题是什么？", session=session.id))
    talking.script(Reply("概括：问了许多屏幕的事。"), ANSWER)
    steps = list(library.converse("关于屏幕的最后一个完整的问题是什么？", session=session.id))
    compaction, asked = server.requests
    assert "第 0 个" in compaction["messages"][0]["content"]
    assert "概括：问了许多屏幕的事。" in asked["messages"][0]["content"]
    assert not any("第 0 个" in text for _, text in said(asked))
    assert any("第 6 个" in text for _, text in said(asked))
    purposes = [one["purpose"] for one in library.trace(steps[0].trace_id)["answer"]["model_calls"]]
    assert purposes == ["compaction", "answer"]
    # The same beginning is not summarised again.
    list(library.converse("关于屏幕的又一个完整的问题是什么？", session=session.id))
    assert len(server.requests) == 3


def test_attachments_are_read_whole_or_searched_and_what_is_not_read_is_said(talking: Talking) -> None:
    library, server = talking.library, talking.server
    session = library.sessions.create()
    library.sessions.attach_text(session.id, "品名,数量\n螺丝,40\n垫片,7\n", "库存.csv")
    library.sessions.attach_text(session.id, "螺丝的规格是 M3。\n\n" + "别的事情很多。\n\n" * 60, "长.md")
    library.drain()
    library.sessions.attach_text(session.id, "还没有读。", "新.md")
    talking.script(Reply("垫片有 7 个 [1]，螺丝是 M3 [2]。"))
    message = message_of(library.converse("螺丝和垫片怎么样？", session=session.id))
    content = server.requests[0]["messages"][-1]["content"]
    assert "垫片" in content
    assert "M3" in content
    assert "新.md (pending)" in content
    assert [(one.name, one.why) for one in message["unread"]] == [("新.md", "pending")]
    assert [one.document_name for one in message["citations"]] == ["库存.csv", "长.md"]
    question, kept = library.turns.page(session.id).turns
    assert kept.answer is not None
    assert len(question.attachments) == 3
    assert kept.answer["unread"][0]["name"] == "新.md"
    # What is short is read whole, whatever the question.
    talking.script(Reply("垫片 [1]。"))
    list(library.converse("zzqqxx 完全无关的问题？", session=session.id))
    assert "垫片,7" in server.requests[0]["messages"][-1]["content"].replace(" | ", ",").replace("| ", "")


def test_an_answer_is_judged_and_becomes_a_case(talking: Talking) -> None:
    library = talking.library
    session = library.sessions.create(kb="default")
    talking.script(ANSWER)
    list(library.converse(QUESTION, session=session.id))
    judged = library.turns.judge(session.id, 2, "up", " 很好 ")
    assert (judged.feedback.value, judged.feedback.note) == ("up", "很好") if judged.feedback else False
    case = library.turns.add_case(session.id, 2, "chats")
    assert (case.query, case.knowledge_bases) == (QUESTION, ("default",))
    assert [one.document for one in case.expected] == ["周会.md"]
    run = library.evaluation.run(library.path / "evaluation" / "chats.yaml")
    assert run.record.complete
    assert library.turns.judge(session.id, 2, "none").feedback is None
    for number in (1, 3):
        with pytest.raises(TurnNotFound):
            library.turns.judge(session.id, number, "down")
    with pytest.raises(TurnNotFound):
        library.turns.add_case(session.id, 1, "chats")


def test_a_session_is_exported_with_its_citations(talking: Talking) -> None:
    library = talking.library
    session = library.sessions.create("周会 讨论")
    talking.script(ANSWER)
    list(library.converse("旧的屏幕问题？", session=session.id))
    list(library.converse(QUESTION, session=session.id, replaces=1))
    markdown = library.turns.export(session.id, "markdown")
    assert markdown.startswith("# 周会 讨论\n")
    assert f"> {QUESTION}\n" in markdown
    assert "- [1] 周会.md" in markdown
    assert "旧的" not in markdown
    whole = json.loads(library.turns.export(session.id, "json"))
    assert [turn["text"] for turn in whole["turns"]][::2] == ["旧的屏幕问题？", QUESTION]
    assert whole["session"]["title"] == "周会 讨论"


def test_a_session_asks_other_knowledge_bases_from_now_on(talking: Talking) -> None:
    library = talking.library
    library.knowledge_bases.create("notes", embedding_model="")
    library.add_text("屏幕的笔记。", "笔记.md", kb="notes")
    session = library.sessions.create(kb="notes")
    talking.script(Reply("见 [1]。"))
    assert [one.document_name for one in message_of(library.converse("屏幕", session=session.id))["sources"]] == [
        "笔记.md"
    ]
    library.sessions.ask_others(session.id, ["default", "notes"])
    names = {one.document_name for one in message_of(library.converse("屏幕", session=session.id))["sources"]}
    assert names == {"笔记.md", "周会.md"}
    library.sessions.delete(session.id)
    with pytest.raises(SessionNotFound):
        library.turns.page(session.id)
    with library._database.read() as tx:
        assert tx.first("SELECT count(*) FROM turns WHERE session_id = :id", {"id": session.id}) == (0,)
    assert library.check() == []


def test_a_session_that_is_deleted_while_it_is_answered_takes_the_answer_along(talking: Talking) -> None:
    library = talking.library
    session = library.sessions.create()
    talking.script(ANSWER)
    steps = library.converse(QUESTION, session=session.id)
    next(steps)
    library.sessions.delete(session.id)
    assert message_of(steps)["turn"] is None


def test_what_a_model_said_is_saved_while_it_is_silent(tmp_path: Path) -> None:
    with conversing(tmp_path, "[answer]\nsave_seconds = 0.2\n") as talking:
        library = talking.library
        talking.script(Reply("屏幕改用 PPR-9087 [1]。然后什么也不说了。", hangs_after=2))
        session = library.sessions.create().id

        def is_saved() -> bool:
            return library.turns.page(session).turns[-1].text.startswith("屏幕改用")

        *_, message = library.converse(QUESTION, session=session, stopped=is_saved)
        assert message.data["finish_reason"] == "stopped"


def _killed(pipe: Any, folder: str) -> None:
    """Answer until the model says nothing more, in a process that is then killed."""
    library: Library
    with wy.open(folder, environment={}) as library:
        session = library.sessions.create()
        pipe.send(session.id)
        for step in library.converse(QUESTION, session=session.id):
            if step.name == "assistant.delta":
                pipe.send(step.data["text"])


def test_after_a_kill_the_question_is_there_and_what_was_saved(tmp_path: Path) -> None:
    quick = "[answer]\nsave_seconds = 0.000001\n"
    with conversing(tmp_path, quick) as talking:
        talking.script(Reply("屏幕改用 PPR-9087 [1]。然后什么也不说了。", hangs_after=4))
        talking.library.close()
        with doomed_process(_killed, str(tmp_path / "library")) as pipe:
            session, said = answer(pipe), answer(pipe)
        with wy.open(tmp_path / "library", environment={}) as library:
            question, kept = library.turns.page(session).turns
            assert kept.answer is not None
            assert (question.text, kept.answer["finish_reason"]) == (QUESTION, "interrupted")
            assert kept.text.startswith(said)


def test_a_model_gives_a_session_its_title_where_that_is_wanted(tmp_path: Path) -> None:
    with conversing(tmp_path, "[answer]\nmodel_titles = true\n") as talking:
        library = talking.library
        session, named = library.sessions.create(), library.sessions.create("我的标题")
        talking.script(ANSWER, Reply('"新屏幕的选型"'), ANSWER, Reply("另一个"))
        for one in (session, named):
            list(library.converse(QUESTION, session=one.id))
        titles = [library.sessions.find(one.id).title for one in (session, named)]
        refused = library.sessions.create()
        talking.script(ANSWER, Reply(status=400, body=b"{}"))
        list(library.converse(QUESTION, session=refused.id))
        assert [*titles, library.sessions.find(refused.id).title] == ["新屏幕的选型", "我的标题", QUESTION]


def test_an_answer_ends_well_though_its_session_is_deleted_before_it_has_a_title(tmp_path: Path) -> None:
    with conversing(tmp_path, "[answer]\nmodel_titles = true\n") as talking:
        library = talking.library
        session = library.sessions.create()
        talking.script(ANSWER, Reply("新屏幕的选型"))
        names = []
        for step in library.converse(QUESTION, session=session.id):
            names.append(step.name)
            if step.name == "assistant.message":
                library.sessions.delete(session.id)
        assert names[-1] == "assistant.message"
