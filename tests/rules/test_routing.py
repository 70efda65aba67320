"""What a message wants; in both languages, and whatever the preference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.conversation.routing import Intent, Prefer, Route, decide_intent

HISTORY = ("体检由谁承担费用？", "费用由公司承担[1]。")


def intent(question: str, history: tuple[str, ...] = (), prefer: Prefer = "auto", has_documents: bool = True) -> Intent:
    return decide_intent(question, history, prefer, has_documents)


def lines(text: str) -> tuple[str, ...]:
    return tuple(text.strip().split("\n"))


GREETINGS = (
    "你好",
    "您好！",
    "早上好",
    "在吗？",
    "Hello",
    "hi there!",
    "Good morning.",
    "Hey, how are you?",
    "你好呀～",
)
THANKS = (
    "谢谢",
    "好的，谢谢！",
    "多谢你的回答",
    "Thanks!",
    "Thank you very much",
    "ok, thanks a lot",
    "明白了",
    "再见",
    "Bye!",
)
IDENTITY = (
    "你是谁？",
    "你叫什么名字",
    "你能做什么？",
    "who are you?",
    "What can you do?",
    "Are you a robot?",
    "介绍一下你自己",
)
CONVERSATION = lines(
    """
把上一条翻译成英文
翻译一下上面的回答
总结一下我们刚才说的
请把你刚才的回答缩短一点
再说一遍
用英文回答
继续
我上一个问题是什么？
把这段回答改写成要点
translate your last answer
Translate that into Chinese
Summarize our conversation
make your answer shorter
What did I just ask?
repeat that
explain what you just said
in English
"""
)
KNOWLEDGE = lines(
    """
公司体检的费用由谁承担？
2026年4月14日的会议说了什么
PPR-9087 的密封件多久更换
1.2.3 版本修复了哪些问题
年假有几天
who pays for the health check?
what was decided on April 14
PPR-9087 seal
how do I translate a file with the tool?
总结一下员工手册
翻译合同第三条
summarize the handbook
hello world 程序怎么写
Who are the board members?
密封
vacation
你好世界是谁写的
谢谢参与奖是什么
thanks to which law is this forbidden?
What can you do with the --recursive option?
会议纪要里提到的那个供应商是谁
继续教育的规定
it department phone number
what does the seal cost and who pays for it
"""
)
SYLLABLES = "那个 什么 嗯 哦 好 the it what 呢 吗 。 hi 谢谢 是".split()
REFERRING = ("那个呢？", "它是什么", "为什么？", "这个多少钱", "what about it?", "Why?", "and that one?", "什么")


@pytest.mark.parametrize("question", GREETINGS)
def test_greetings(question: str) -> None:
    assert intent(question) == Intent("chat", "greeting")


@pytest.mark.parametrize("question", THANKS)
def test_thanks(question: str) -> None:
    assert intent(question, HISTORY) == Intent("chat", "thanks")


@pytest.mark.parametrize("question", IDENTITY)
def test_questions_about_the_assistant(question: str) -> None:
    assert intent(question) == Intent("chat", "identity")


@pytest.mark.parametrize("question", CONVERSATION)
def test_requests_about_the_conversation(question: str) -> None:
    assert intent(question, HISTORY) == Intent("chat", "conversation")


@pytest.mark.parametrize("question", KNOWLEDGE)
@pytest.mark.parametrize("history", [(), HISTORY], ids=["alone", "later"])
def test_everything_else_goes_to_the_documents(question: str, history: tuple[str, ...]) -> None:
    assert intent(question, history).route == "knowledge"


@pytest.mark.parametrize("question", [*REFERRING, "把上一条翻译成英文"])
def test_what_refers_to_nothing_is_asked_back(question: str) -> None:
    assert intent(question) == Intent("clarify", "nothing-to-refer-to")


@pytest.mark.parametrize("question", REFERRING)
def test_with_something_said_before_it_is_a_question(question: str) -> None:
    assert intent(question, HISTORY).route == "knowledge"


@pytest.mark.parametrize("question", ["？？？", "...", "😀", "-"])
def test_what_says_nothing_is_asked_back(question: str) -> None:
    assert intent(question, HISTORY) == Intent("clarify", "nothing-asked")


@pytest.mark.parametrize("question", [*GREETINGS, *IDENTITY, *CONVERSATION, *KNOWLEDGE])
def test_who_prefers_knowledge_gets_no_chat(question: str) -> None:
    assert intent(question, HISTORY, "knowledge").route == "knowledge"


@pytest.mark.parametrize(
    "question", [*GREETINGS, *THANKS, *CONVERSATION, "年假有几天", "What is the capital of France?"]
)
def test_who_prefers_a_chat_gets_one(question: str) -> None:
    assert intent(question, HISTORY, "chat").route == "chat"


@pytest.mark.parametrize("question", ["在文档里查一下年假有几天", "search the handbook for vacation"])
def test_but_documents_that_are_asked_for(question: str) -> None:
    assert intent(question, (), "chat") == Intent("knowledge", "documents-asked-for")
    assert intent(question, (), "chat", has_documents=False).route == "chat"


def test_a_model_is_asked_only_where_no_rule_knew_better() -> None:
    asked: list[str] = []

    def judge(question: str, _history: object) -> Route | None:
        asked.append(question)
        return None if "年假" in question else "chat"

    assert decide_intent("你好", (), "auto", True, judge) == Intent("chat", "greeting")
    assert decide_intent("PPR-9087", (), "auto", True, judge).route == "knowledge"
    assert decide_intent("讲个笑话", (), "knowledge", True, judge).route == "knowledge"
    assert asked == []
    assert decide_intent("讲个笑话", (), "auto", True, judge) == Intent("chat", "judged")
    assert decide_intent("年假有几天", (), "auto", True, judge) == Intent("knowledge", "default")


@given(
    st.text(max_size=80) | st.lists(st.sampled_from(SYLLABLES), max_size=40).map("".join),
    st.booleans(),
    st.sampled_from(["auto", "knowledge", "chat"]),
)
def test_every_message_has_a_route(question: str, later: bool, prefer: Prefer) -> None:
    made = intent(question, HISTORY if later else (), prefer)
    assert made.reason
    assert prefer != "knowledge" or made.route != "chat"
    assert prefer != "chat" or made.route != "clarify"
