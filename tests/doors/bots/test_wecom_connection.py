"""A robot of WeCom that connects itself: let in, asked, answered while it is written, and connected again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

import wenyuan as wy
from tests.doors.bots.wecom_room import BOT, SECRET, Room, room
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running
from tests.waiting import until
from wenyuan.types.bots import BotSettings

QUESTION = "四月十四号的会议定了什么？"
SETTINGS = """
[bots.helper]
platform = "wecom"
knowledge_bases = ["default"]
app_id = "{bot}"
app_secret = "file:{folder}/secret"
base_url = "{url}"
welcome = "欢迎"
"""


@pytest.fixture(scope="module")
def platform() -> Iterator[Room]:
    with room() as made:
        yield made


@contextmanager
def served(folder: Path, platform: Room, secret: str) -> Iterator[Server]:
    (folder / "secret").write_text(secret, "utf-8")
    path = folder / "library"
    path.mkdir()
    (path / "wenyuan.toml").write_text(SETTINGS.format(bot=BOT, folder=folder, url=platform.url), "utf-8")
    with wy.open(path, environment=KEYWORD_ONLY) as library:
        library.add_text(MEETING, "周会.md")
        with running(library) as server:
            yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, platform: Room) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("connected"), platform, SECRET) as server:
        until(lambda: platform.subscribed == 1)
        yield server


def test_a_question_is_answered_once_however_often_it_is_delivered(server: Server, platform: Room) -> None:
    platform.say(f"@文渊 {QUESTION}", "m1", "r1")
    until(lambda: bool(platform.whole("r1")))
    first = platform.answers("r1")[0]
    assert (first["msgtype"], first["stream"]["finish"], first["stream"]["content"]) == ("stream", False, "")
    assert len({one["stream"]["id"] for one in platform.answers("r1")}) == 1
    assert "PPR-9087" in platform.whole("r1")
    traces = len(server.library.traces(100))
    platform.say(QUESTION, "m1", "r2")
    until(lambda: bool(platform.whole("r2")))
    assert platform.whole("r2") == platform.whole("r1")
    assert len(server.library.traces(100)) == traces


@pytest.mark.usefixtures("server")
def test_whoever_opens_a_conversation_is_welcomed(platform: Room) -> None:
    entered = {"msgtype": "event", "event": {"eventtype": "enter_chat"}, "from": {"userid": "wang"}}
    platform.deliver("r3", entered, "aibot_event_callback")
    until(lambda: bool(platform.answers("r3")))
    assert platform.answers("r3") == [{"msgtype": "text", "text": {"content": "欢迎"}}]
    assert platform.frames[-1]["cmd"] == "aibot_respond_welcome_msg"


@pytest.mark.usefixtures("server")
def test_what_is_no_message_ends_no_connection(platform: Room) -> None:
    for body in ({}, {"msgid": ""}, {"msgtype": "image", "image": {}, "msgid": "m4", "from": {"userid": "li"}}):
        platform.deliver("r4", body)
    platform.say(QUESTION, "m5", "r5")
    until(lambda: bool(platform.whole("r5")) and bool(platform.whole("r4")))
    assert "只能读文字" in platform.whole("r4")
    assert platform.subscribed == 1


def test_it_cannot_be_delivered_to_from_elsewhere(server: Server) -> None:
    assert httpx2.post(f"{server.url}/bots/helper", json={"msgtype": "text"}).status_code == 404


@pytest.mark.usefixtures("server")
def test_a_connection_that_is_lost_is_made_anew(platform: Room) -> None:
    before = platform.subscribed
    assert platform.connection is not None
    platform.connection.close()
    until(lambda: platform.subscribed > before)
    platform.say(QUESTION, "m6", "r6")
    until(lambda: bool(platform.whole("r6")))


def test_one_that_is_not_let_in_keeps_nobody_from_stopping(tmp_path: Path) -> None:
    with room() as other, served(tmp_path, other, "another"):
        until(lambda: other.turned_away > 0)


BOTH = {"token": "env:A", "aes_key": "env:B", "app_id": "x", "app_secret": "env:C"}


@pytest.mark.parametrize("given", [{}, {"token": "env:A"}, {"app_id": "x"}, BOTH])
def test_a_robot_is_delivered_to_or_connects_itself(given: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="either token and aes_key, or app_id and app_secret"):
        BotSettings("helper", "wecom", ("default",), **given)
