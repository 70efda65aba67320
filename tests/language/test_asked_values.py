"""What kind of value a question asks for, and which values a sentence states."""

from __future__ import annotations

import pytest

from wenyuan.language.questions.asked_values import AskedValue, asked_value, values_stated


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("首发推迟到哪一天?", "date"),
        ("香港杜鵑第一次被發現是在什麼時候？", "date"),
        ("会议几月几号开？", "date"),
        ("体检是哪天", "date"),
        ("这座桥何时建成", "date"),
        ("本週例會是星期幾", "date"),
        ("When was the launch put off to?", "date"),
        ("In what year did the bridge open?", "date"),
        ("Which day is the review?", "date"),
        ("上颌有多少颗犬齿？", "number"),
        ("一共几个人参加？", "number"),
        ("获得了第几名", "number"),
        ("体长多长", "number"),
        ("How many people came?", "number"),
        ("what percentage of visitors returned", "number"),
        ("How tall is the tower?", "number"),
        ("谁批准的？", None),
        ("在哪里举行", None),
        ("what is the refund policy", None),
        ("How do I reset it?", None),
        ("whenever possible", None),
        ("几何学是什么", None),
        ("", None),
    ],
)
def test_what_is_asked_for(question: str, asked: AskedValue | None) -> None:
    assert asked_value(question) == asked


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("首发推迟到 5 月 12 日。", "date"),
        ("于一八四七年在香港岛首次发现。", "date"),
        ("It opened on April 14.", "date"),
        ("例会下午三点开始。", "date"),
        ("前端具大犬齿2颗。", "number"),
        ("共有三十七人。", "number"),
        ("Twelve people came.", "number"),
        ("Returned visitors were 37%.", "number"),
    ],
)
def test_sentences_that_state_one(sentence: str, asked: AskedValue) -> None:
    assert values_stated(sentence, asked)


@pytest.mark.parametrize("asked", ["date", "number"])
@pytest.mark.parametrize("sentence", ["它属于辐鳍鱼纲。", "The committee agreed at once.", ""])
def test_sentences_that_state_none(sentence: str, asked: AskedValue) -> None:
    assert not values_stated(sentence, asked)


def test_one_value_is_the_same_however_it_is_written() -> None:
    assert values_stated("二零二六年四月十四号", "date") == values_stated("April 14, 2026", "date")
