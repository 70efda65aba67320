"""People ask a library from chat platforms, each simulated over real HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

import wenyuan as wy
from tests.doors.bots.simulators import (
    AES_KEY,
    SECRET,
    TOKEN,
    DingTalkSimulator,
    FeishuSimulator,
    Interface,
    WeComSimulator,
    interface,
)
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running
from wenyuan.doors.bots.service import Bots, Delivery
from wenyuan.errors import ConfigurationInvalid

QUESTION = "四月十四号的会议定了什么？"
ANSWER = "决定：屏幕改用 PPR-9087，五月起供货。 [1]\n\n---\n[1] 周会.md › 周会 › 2026年4月14日, 第 5 行"

SETTINGS = """
[bots.wecom]
platform = "wecom"
knowledge_bases = ["default"]
token = "file:{folder}/token"
aes_key = "file:{folder}/aes"
welcome = "欢迎"

[bots.lost]
platform = "wecom"
knowledge_bases = ["nowhere"]
token = "file:{folder}/token"
aes_key = "file:{folder}/aes"

[bots.feishu]
platform = "feishu"
knowledge_bases = ["default"]
app_id = "cli_1"
app_secret = "file:{folder}/secret"
token = "file:{folder}/token"
aes_key = "file:{folder}/secret"
base_url = "{feishu}"

[bots.dingtalk]
platform = "dingtalk"
knowledge_bases = ["default"]
app_secret = "file:{folder}/secret"
base_url = "{dingtalk}"
"""


@pytest.fixture(scope="module")
def feishu_interface() -> Iterator[Interface]:
    token = {"code": 0, "tenant_access_token": "t-1", "expire": 7200}
    with interface(internal=token) as made:
        yield made


@pytest.fixture(scope="module")
def dingtalk_interface() -> Iterator[Interface]:
    with interface() as made:
        yield made


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, feishu_interface: Interface, dingtalk_interface: Interface
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("bots")
    for name, value in (("token", TOKEN), ("aes", AES_KEY), ("secret", SECRET)):
        (folder / name).write_text(value, "utf-8")
    path = folder / "library"
    wy.open(path, environment=KEYWORD_ONLY).close()
    settings = SETTINGS.format(folder=folder, feishu=feishu_interface.url, dingtalk=dingtalk_interface.url)
    (path / "wenyuan.toml").write_text(settings, "utf-8")
    with wy.open(path, environment=KEYWORD_ONLY) as library:
        library.add_text(MEETING, "周会.md")
        library.knowledge_bases.create("secret")
        library.add_text("# 密\n\n机密编号 QX-1。", "密.md", kb="secret")
        with running(library) as server:
            yield server


@pytest.fixture(scope="module")
def wecom(server: Server) -> WeComSimulator:
    return WeComSimulator(f"{server.url}/bots/wecom")


# --- WeCom -----------------------------------------------------------------------------------------


def test_the_callback_of_wecom_is_verified(wecom: WeComSimulator) -> None:
    assert wecom.verify("1288432023552776189").text == "1288432023552776189"


def test_a_question_is_answered_while_it_is_fetched(wecom: WeComSimulator) -> None:
    first = wecom.say(f"@文渊 {QUESTION}", "m1")
    assert first["msgtype"] == "stream"
    assert not first["stream"]["finish"]
    assert wecom.whole(first) == ANSWER
    assert wecom.whole(wecom.refresh(first["stream"]["id"])) == ANSWER


def test_a_message_that_is_delivered_again_is_answered_once(wecom: WeComSimulator, server: Server) -> None:
    first = wecom.say(QUESTION, "m2")
    wecom.whole(first)
    traces = len(server.library.traces(100))
    again = wecom.say(QUESTION, "m2")
    assert again["stream"] == {"id": first["stream"]["id"], "finish": True, "content": ANSWER}
    assert len(server.library.traces(100)) == traces


def test_a_delivery_is_known_to_the_next_server(wecom: WeComSimulator, server: Server) -> None:
    encrypted = wecom.encrypt(json.dumps({"msgid": "m0", "msgtype": "text", "text": {"content": QUESTION}}).encode())
    body = json.dumps({"encrypt": encrypted}).encode()
    delivery = Delivery("POST", wecom.signed(encrypted), {}, body, time.time())
    works = [Bots(server.library, lambda problem: problem).bot("wecom").deliver(delivery)[1] for _ in range(2)]
    assert [work is None for work in works] == [False, True]


def test_an_answer_that_was_lost_with_its_server_says_so(wecom: WeComSimulator) -> None:
    assert "再问一次" in wecom.whole(wecom.refresh("of a server before"))


def test_other_messages_and_events(wecom: WeComSimulator) -> None:
    mixed = {"msg_item": [{"msgtype": "text", "text": {"content": QUESTION}}, {"msgtype": "image", "image": {}}]}
    assert wecom.whole(wecom.say("", "m3", msgtype="mixed", mixed=mixed)) == ANSWER
    assert wecom.whole(wecom.say("", "m4", msgtype="voice", voice={"content": QUESTION})) == ANSWER
    assert "只能读文字" in wecom.whole(wecom.say("", "m5", msgtype="image", image={"url": "x"}))
    assert "太长" in wecom.whole(wecom.say("长" * 4001, "m6"))
    entered = wecom.deliver({"msgtype": "event", "event": {"eventtype": "enter_chat"}})
    assert wecom.read(entered) == {"msgtype": "text", "text": {"content": "欢迎"}}
    assert wecom.deliver({"msgtype": "event", "event": {"eventtype": "feedback_event"}}).content == b""


def test_a_bot_sees_its_knowledge_bases_alone(wecom: WeComSimulator) -> None:
    assert "QX-1" not in wecom.whole(wecom.say("机密编号是什么？", "m7"))


def test_a_bot_that_is_bound_to_nothing_fails_as_a_chat_does(server: Server) -> None:
    lost = WeComSimulator(f"{server.url}/bots/lost")
    assert lost.whole(lost.say("会议？", "m8")) == "没有名为 'nowhere' 的知识库。"
    assert lost.whole(lost.say("Meetings?", "m9")) == "There is no knowledge base named 'nowhere'."


def wrong_signature(wecom: WeComSimulator) -> httpx2.Response:
    encrypted = wecom.encrypt(b"{}")
    parameters = {**wecom.signed(encrypted), "msg_signature": "0" * 40}
    return httpx2.post(wecom.url, params=parameters, json={"encrypt": encrypted})


def other_content(wecom: WeComSimulator) -> httpx2.Response:
    return httpx2.post(wecom.url, params=wecom.signed(wecom.encrypt(b"{}")), json={"encrypt": "AAAA"})


def other_receiver(wecom: WeComSimulator) -> httpx2.Response:
    return WeComSimulator(wecom.url, "others").deliver({"msgid": "m"})


REFUSED: list[Callable[[WeComSimulator], httpx2.Response]] = [
    wrong_signature,
    other_content,
    other_receiver,
    lambda wecom: wecom.deliver({"msgid": "old"}, timestamp=int(time.time()) - 3600),
    lambda wecom: wecom.deliver({"msgid": "early"}, timestamp=int(time.time()) + 3600),
    lambda wecom: wecom.deliver({"msgtype": "text"}),
    lambda wecom: httpx2.get(wecom.url),
    lambda wecom: httpx2.post(wecom.url, content=b"["),
    lambda wecom: httpx2.post(wecom.url, json=[]),
    lambda wecom: httpx2.post(wecom.url, content=b'{"encrypt": "\\ud800"}'),
]


@pytest.mark.parametrize("deliver", REFUSED)
def test_what_the_platform_did_not_send_now_is_refused(
    wecom: WeComSimulator, deliver: Callable[[WeComSimulator], httpx2.Response]
) -> None:
    response = deliver(wecom)
    assert (response.status_code, response.json()["code"]) == (403, "bot-delivery-refused")


def test_a_bot_that_is_not_described_is_not_there(server: Server) -> None:
    assert httpx2.post(f"{server.url}/bots/other").status_code == 404


# --- Feishu ----------------------------------------------------------------------------------------


def test_feishu_is_answered_by_its_interface(server: Server, feishu_interface: Interface) -> None:
    feishu = FeishuSimulator(f"{server.url}/bots/feishu")
    assert feishu.challenge().json() == {"challenge": "say it"}
    assert feishu.challenge("another").status_code == 403
    assert feishu.say(f"@_user_1 {QUESTION}", "om_1").json() == {}
    path, _, body = feishu_interface.next()
    assert path == "/open-apis/auth/v3/tenant_access_token/internal"
    assert body == {"app_id": "cli_1", "app_secret": SECRET}
    path, headers, body = feishu_interface.next()
    assert path == "/open-apis/im/v1/messages/om_1/reply"
    assert headers["authorization"] == "Bearer t-1"
    assert json.loads(body["content"])["text"] == ANSWER
    assert feishu.say(QUESTION, "om_1").json() == {}
    feishu.say(QUESTION, "om_2")
    assert feishu_interface.next()[0] == "/open-apis/im/v1/messages/om_2/reply"
    feishu_interface.answers["om_4/reply"] = {"code": 99991663, "msg": "token has ended"}
    feishu.say(QUESTION, "om_4")
    paths = [feishu_interface.next()[0].rpartition("/")[2] for _ in range(3)]
    assert paths == ["reply", "internal", "reply"]
    assert feishu_interface.sent.empty()
    assert feishu.say(QUESTION, "om_3", signed_with="another").status_code == 403


# --- DingTalk --------------------------------------------------------------------------------------


def test_dingtalk_is_answered_where_it_wants_to_be(server: Server, dingtalk_interface: Interface) -> None:
    dingtalk = DingTalkSimulator(f"{server.url}/bots/dingtalk", f"{dingtalk_interface.url}/robot/send?session=1")
    assert dingtalk.say(QUESTION, "d1").status_code == 200
    path, _, body = dingtalk_interface.next()
    assert path == "/robot/send?session=1"
    assert body == {"msgtype": "markdown", "markdown": {"title": QUESTION, "text": ANSWER}}
    assert dingtalk.say(QUESTION, "d1").status_code == 200
    assert dingtalk.say(QUESTION, "d2", secret="another").status_code == 403
    assert dingtalk.say(QUESTION, "d3", late=3600).status_code == 403
    assert dingtalk.say(QUESTION, "d4", webhook="http://169.254.169.254/latest").status_code == 403
    assert dingtalk_interface.sent.empty()


# --- Settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ('platform = "irc"\nknowledge_bases = ["default"]', "platform must be one of"),
        ('platform = "wecom"\nknowledge_bases = []\ntoken = "env:A"\naes_key = "env:B"', "at least one"),
        ('platform = "wecom"\nknowledge_bases = "default"', "a list of names"),
        ('platform = "wecom"\nknowledge_bases = ["default"]\ntoken = "env:A"', "token and aes_key, or"),
        ('platform = "wecom"\nknowledge_bases = ["default"]\ntoken = "hush"', "never the key itself"),
        ('platform = "wecom"\nknowledge_bases = ["default"]\ncolour = "red"', "no such setting"),
    ],
)
def test_a_bot_that_cannot_be_meant_is_refused(tmp_path: Path, table: str, reason: str) -> None:
    path = tmp_path / "library"
    path.mkdir()
    (path / "wenyuan.toml").write_text(f"[bots.one]\n{table}\n", "utf-8")
    with pytest.raises(ConfigurationInvalid, match=reason) as raised:
        wy.open(path, environment=KEYWORD_ONLY)
    assert "hush" not in str(raised.value)
