"""What is no date: each kind of text that looks like one and must not be read as one, with many of its kind.

Documents are read by `find_dates`, questions by `question_dates`, which means more (昨天, 四月的会) and
could therefore be mistaken more often; nearly everything here must be nothing to both.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pytest

from wenyuan.language.dates.questions import question_dates
from wenyuan.language.dates.resolving import find_dates

NOW = datetime.date(2026, 4, 20)

KINDS: dict[str, Sequence[str]] = {
    "versions": (
        "1.2.3", "0-1-0", "1-2-3", "v2026.4.1", "version 2026.4.1.2", "2026.1.300", "v4.14", "4.14", "升级到1.2.3",
        "版本 0.4.15 的说明", "redis 7.0.4", "python 3.11", "2026.4.3-5", "2026.4.3-1.1", "4.14.0-rc1",
        "1.02.1 hotfix",
    ),
    "scores and ratios": (
        "3-2", "won 3-2", "3-2 比赛", "比分 4-14", "4:3", "1/2", "3/4 cup", "1/2-3/4 cup", "24/7", "24/7 support",
        "7/24 小时服务", "4/14", "比例 2/3", "9/10 的人", "a 50/50 split", "16/9 屏幕", "5-4 decision",
    ),
    "telephone numbers": (
        "138-1234-5678", "010-20260414", "+8620260414", "400-820-8820", "+86 138 0414 2026", "1-800-555-0199",
        "(02) 2604-1426", "021-62604141", "tel 0571-8804-2026", "call 555-0414", "热线 95588", "86-21-2026-0414",
    ),
    "book and article numbers": (
        "ISBN 978-7-2026-04-1", "ISBN 978-7-02-000220-1", "ISBN 7-04-012345-6", "ISSN 1000-0414", "doi 10.1000/182",
        "CN 11-2026/TP", "arXiv 2404.01412v2", "书号 7-5600-1234-5", "PMID 20260499123", "GB/T 7714-2015a",
        "ISO 8601-1",
    ),
    "times": (
        "10:30", "10:30:22", "14:30", "3:15", "3:15 pm", "April 14:30", "at 5:30", "下午3点15分", "14点30分",
        "8:00-17:00", "9点到5点", "00:04:14", "21:12:01.500",
    ),
    "addresses": (
        "192.168.1.1", "10.4.14.26", "127.0.0.1:2026", "255.255.255.0", "fe80::4:14", "10.0.0.0/8",
        "172.16.4.14/16", "3号楼", "8号楼402", "人民路12号院", "5号线", "坐4月3号线", "3号馆",
    ),
    "prices": (
        "$2023.10", "¥4.14", "$4-5", "€20.26", "20260414元", "2026.04 元", "4.5-4.8元", "单价 3.5",
        "涨到 4.14 美元", "20260414个", "12.5%", "4/5%", "2,026.04",
    ),
    "long numbers and codes": (
        "12345678901234", "20261399", "99/99/2026", "AB20260414", "A4 2026", "202604141230999", "PPR-2026",
        "CVE-2026-0414", "订单 8820260414", "2026-04-14-1", "1/2026/04/14", "id=20260499", "0x20260414",
        "身份证 110101199003074514",
    ),
    "counts": (
        "三天", "三年", "十年", "3个月", "3个月5日", "2000年前", "三千年历史", "第二十年", "一二三四五六七八年",
        "in 2000 cases", "1800-2000 words", "2010-11 season", "三月龄", "6月龄宝宝", "12期", "第三季", "看完第三季",
        "四月十四人", "4月14人报名", "工期3月5天", "page 4-14", "pp. 3-5", "第3-5页", "chapters 4-14",
    ),
    "month names that are none": (
        "May the force be with you", "You may 2 of them. I", "We march 3 miles. Fine",
        "how to march 3 miles", "walk and march 3 miles", "See page 14 may differ. A",
        "may 5 people attend", "May 5 people attend?", "march of the penguins", "what may happen", "it may rain",
        "April Ludgate", "June Carter", "Jan van Eyck", "by Jan van Eyck", "the August body", "marching band",
        "mayor of London", "decide who may vote", "the April Theses",
    ),
    "words that hold a month": (
        "二月花", "三月三", "十月革命", "五月天", "五月花号", "六月雪", "七月流火", "八月瓜", "二月兰", "九月九",
        "修正月度计划", "三月不知肉味", "十一月卡", "腊八粥",
    ),
}  # fmt: skip
TO_QUESTIONS: dict[str, Sequence[str]] = {
    "words that hold 今天 and the like": (
        "先天与后天免疫", "后天免疫是什么", "后天努力", "先天和后天", "说明天气", "三天后", "天天向上", "改天再说",
        "今天的路口镇由哪些乡合并", "今日的学者怎么看", "目前年龄", "失去年轻", "证明年龄", "说明年份",
        "当今年轻人",
    ),
    "words that hold 上周 and the like": (
        "日本周边", "日本月球探测", "日本年金", "晚上周会", "网上周刊", "本周期", "上周长", "日本周刊", "手下周瑜",
        "海上月", "以上月薪", "早上月光", "样本年龄", "路上月色",
    ),
    "what recurs": (
        "每周三的例会", "周一至周五的上班时间", "每逢周五", "周末营业吗", "每年的2月", "每月底", "每年上半年",
        "open on Sunday?", "Monday to Friday", "every Tuesday", "each Monday", "opening hours on Friday",
        "days in February", "Mondays", "10月至隔年3月间风速最大", "一周三次",
    ),
    "what is counted from something else": (
        "出发三天前可以退票吗", "提前3天前申请", "到期两周前通知", "入职一年前", "将近三天", "附近三天",
        "约465年以前", "他过去40年中的工作", "the last week of the contract", "the last year of school",
        "three days before departure", "next year of study", "in the last week of the trial",
        "30 days after signing",
    ),
    "the present rather than a day": (
        "what is Wittenberg called today", "which country today is a remnant", "USA Today", "used on PCs today",
        "how many people live in France today?", "what does the treaty allow today?", "visible even today?",
        "today is different", "今天的华东师范大学", "在今日的什么地方", "今日头条", "即使在今天，城墙仍然可见",
    ),
    "festivals themselves": (
        "端午节的由来", "除夕的习俗", "中秋月饼", "春节放假通知", "国庆放假安排", "清明上河图", "元宵怎么做",
        "七夕的传说", "Christmas carols", "history of Halloween", "Mid-Autumn Festival food",
        "Spring Festival customs", "Mother's Day",
    ),
    "numbers beside no occasion": (
        "4-14", "1.2 会议制度", "3-2 比赛", "4.3-4.5 V", "4/3-4/5", "会议室 4-14", "1-2 players", "Q1: what is it",
        "H1 heading", "Q4_K_M", "fourth quarter of the match", "in the fourth quarter he scored", "3月刊",
    ),
}  # fmt: skip


def _each(kinds: dict[str, Sequence[str]]) -> list[str]:
    return [text for texts in kinds.values() for text in texts]


def test_every_kind_has_enough_of_its_kind() -> None:
    assert all(len(set(texts)) >= 10 for texts in (*KINDS.values(), *TO_QUESTIONS.values()))


@pytest.mark.parametrize("text", _each(KINDS))
def test_it_is_no_date_in_a_document(text: str) -> None:
    assert find_dates(text) == ()


@pytest.mark.parametrize("text", _each(KINDS) + _each(TO_QUESTIONS))
def test_it_is_no_date_in_a_question(text: str) -> None:
    read = question_dates(text, NOW)
    assert read.spans == ()
    assert read.as_of is None


@pytest.mark.parametrize("text", _each(KINDS))
def test_a_sentence_around_it_makes_it_no_date(text: str) -> None:
    assert find_dates(f"见 {text} 。") == ()
    assert find_dates(f"See: {text}, please.") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("十一月三日", "十一月三日"),
        ("一月份的报告", "一月份"),
        ("十一月份的报告", "十一月份"),
        ("1月份的报告", "1月份"),
        ("11月份的报告", "11月份"),
    ],
)
def test_a_month_is_read_whole(text: str, words: str) -> None:
    assert {span.text for span in question_dates(text, NOW).spans} == {words}


@pytest.mark.parametrize("text", ["2026.4.1", "2026.4.10", "release 2026.4.1 notes"])
def test_what_could_be_a_version_is_a_date_too(text: str) -> None:
    assert len(find_dates(text)) == 1


@pytest.mark.parametrize(
    "text", ["2026年2月30日", "二月三十号", "Feb 30", "31 June 2026", "农历二月三十一日", "2026年13月1日"]
)
def test_impossible_dates_give_no_interval_but_their_words(text: str) -> None:
    read = question_dates(f"{text}的会议", NOW)
    assert read.spans == ()
    assert read.impossible == (text,)


@pytest.mark.parametrize("text", ["永历十五年八月三日", "公元前1046年1月20日", "纪元4609年11月13日", "丙寅年正月初一"])
def test_a_day_of_a_year_that_cannot_be_told_is_no_day_of_another(text: str) -> None:
    assert find_dates(text) == ()
    assert question_dates(text, NOW).spans == ()


@pytest.mark.parametrize(
    "text", ["昨天", "上周三", "去年四月", "三天前", "最近一周", "yesterday", "last week", "农历八月十五", "除夕"]
)
def test_a_document_is_not_read_for_what_only_its_day_could_tell(text: str) -> None:
    assert find_dates(text) == ()
