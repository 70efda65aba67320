"""A model writes: programs made for OpenAI, the client and a bot are told what it says, as it says it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.bots.simulators import AES_KEY, TOKEN, WeComSimulator
from tests.doors.http.running import MEETING, Server, running
from wenyuan.errors import ModelNotConfigured

QUESTION = "屏幕改用什么？"
ANSWER = "屏幕改用 PPR-9087 [1]。"
SETTINGS = """
[defaults]
embedding_model = ""

[bots.helper]
platform = "wecom"
knowledge_bases = ["default"]
token = "file:{folder}/token"
aes_key = "file:{folder}/aes"

"""


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with chatting(Reply(ANSWER, input_tokens=31, output_tokens=9)) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: ChatServer) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("model")
    (folder / "token").write_text(TOKEN, "utf-8")
    (folder / "aes").write_text(AES_KEY, "utf-8")
    path: Path = folder / "library"
    path.mkdir()
    settings = SETTINGS.format(folder=folder) + model.settings(more="tools = true")
    (path / "wenyuan.toml").write_text(settings, "utf-8")
    with wy.open(path, environment={}) as library:
        library.add_text(MEETING, "周会.md")
        with running(library) as server:
            yield server


def test_what_the_model_says_is_streamed_and_counted(server: Server, model: ChatServer) -> None:
    model.requests.clear()
    said: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "周会是哪天？"},
        {"role": "assistant", "content": "2026年4月14日。"},
        {"role": "user", "content": QUESTION},
    ]
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        whole = client.chat.completions.create(model="kb:default", messages=said)
        stream = client.chat.completions.create(
            model="kb:default", messages=said, stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
    text = whole.choices[0].message.content
    assert text == f"{ANSWER}\n\n---\n[1] 周会.md › 周会 › 2026年4月14日, 第 1–5 行"
    pieces = [one.choices[0].delta.content for one in chunks if one.choices and one.choices[0].delta.content]
    assert "".join(pieces) == text
    assert len(pieces) > 2
    assert whole.usage is not None
    # The question leans on what was said before, so that the model is asked to put it anew, too.
    calls = len(model.requests) // 2
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (31 * calls, 9 * calls)
    assert chunks[-1].usage == whole.usage
    asked = [str(one["content"]) for one in model.requests[-1]["messages"]]
    assert any("2026年4月14日。" in one for one in asked)


def test_the_client_is_told_the_same(server: Server) -> None:
    with wy.Client(server.url) as client:
        steps = list(client.chat(QUESTION, model="writer"))
        assert steps[-1].data["text"] == ANSWER
        assert steps[-1].data["support"] == list(server.library.converse(QUESTION))[-1].data["support"]
        with pytest.raises(ModelNotConfigured):
            list(client.chat(QUESTION, model="nobody"))


def test_what_was_said_in_a_session_is_kept(server: Server) -> None:
    with wy.Client(server.url) as client:
        session = client.sessions.create().id
        answered = list(client.chat(QUESTION, session=session))[-1].data
        turns = client.turns.page(session)
        assert turns == server.library.turns.page(session)
        assert [turn.text for turn in turns.turns] == [QUESTION, ANSWER]
        judged = client.turns.judge(session, answered["turn"], "up", "right")
        assert judged == server.library.turns.find(session, answered["turn"])
        assert ANSWER in client.turns.export(session, "markdown")


def test_a_bot_answers_without_a_model_that_fails(server: Server, model: ChatServer) -> None:
    wecom = WeComSimulator(f"{server.url}/bots/helper")
    said = list(model.replies)
    model.replies[:] = [Reply(ANSWER, breaks_after=1)]
    try:
        text = wecom.whole(wecom.say(QUESTION, "m0"))
    finally:
        model.replies[:] = said
    assert text.startswith("决定：屏幕改用 PPR-9087，五月起供货。 [1]")


def test_a_bot_says_what_the_model_says(server: Server) -> None:
    wecom = WeComSimulator(f"{server.url}/bots/helper")
    first = wecom.say(QUESTION, "m1")
    assert wecom.whole(first).startswith(f"{ANSWER}\n\n---\n[1] 周会.md")
