"""Notes of one day, titled in every writing, are found by every writing of the day before those of any other day."""

from __future__ import annotations

import datetime

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, assert_first, name_of
from tests.language.date_writings import WRITINGS

DAY = datetime.date(2026, 3, 8)
WITHOUT_YEAR = (
    "三月八日",
    "3月8号",
    "March 8",
    "8th of March",
    "3月8日",
    "3 月 8 日",
    "三月八號",
    "8 March",
    "March 8th",
)
TITLES = (*dict.fromkeys(write(DAY) for write in WRITINGS.values()), *WITHOUT_YEAR[:4])
OTHER_TITLES = (
    "2026-03-18", "2026-08-03", "2026-03-09", "2025-03-08", "三月十八日", "3月28号", "二〇二五年三月八日",
    "March 18, 2026",
    "8 August 2026", "2026年3月7日", "民国114年3月8日", "十三月八日", "2024/3/8", "2026.5.8", "April 8, 2026",
    "38 March",
)  # fmt: skip

TOPICS = (
    "泵房巡检", "garden fence", "食堂菜单", "boiler pressure", "新人培训", "crane repair", "门禁升级", "harvest plan",
    "消防演练", "ferry timetable", "供应商来访", "kettle purchase", "预算讨论", "lamp test", "客户投诉", "mirror order",
    "網站改版", "needle stock", "倉庫盤點", "orchard visit", "合同续签", "paint colours", "团建安排", "quarry permit",
    "机房断电", "roof leak", "电梯年检", "saddle maker", "班車路線", "timber price", "打印机卡纸", "umbrella stand",
    "体检安排", "violin lesson", "绿植养护", "walnut table", "垃圾分类", "yarn colours", "停车收费", "zebra crossing",
    "快递丢失", "anvil sale", "空调清洗", "basket weave", "工位调整", "candle light", "考勤异常", "dairy farm",
    "宿舍搬迁", "eagle nest", "保密协议", "fiddle tune", "专利申请", "glove size", "展会布展", "hammer drill",
)  # fmt: skip

QUESTIONS = (
    "{}", "{}的会议纪要", "{} 发生了什么？", "what happened on {}", "minutes of {}", "请问{}那天谁值班",
    "notes from {}",
    "查一下{}的記錄",
)  # fmt: skip


def titled(titles: tuple[str, ...], topics: tuple[str, ...], label: str) -> dict[str, str]:
    return {
        f"{label} {topic}.md": f"# {title}\n\n{topic}，第 {number} 项。\n"
        for number, (title, topic) in enumerate(zip(titles, topics, strict=False), start=1)
    }


SAME = titled(TITLES, TOPICS, "note")
OTHERS = titled(OTHER_TITLES, TOPICS[len(TITLES) :], "other")

LAST_YEAR = [
    name
    for name, text in OTHERS.items()
    if any(f"# {t}\n" in text for t in ("2025-03-08", "二〇二五年三月八日", "民国114年3月8日"))
]

OPEN_YEAR = [name for name, text in SAME.items() if any(f"# {title}\n" in text for title in WITHOUT_YEAR)]


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    assert len(TOPICS) >= len(TITLES) + len(OTHER_TITLES)
    return fill("dates", SAME | OTHERS)


FORMS = dict.fromkeys((*TITLES, *WITHOUT_YEAR, "2026-3-8", "２０２６年３月８日", "二零二六年三月八号", "8 Mar. 2026",
                       "贰零贰陆年叁月捌日", "Sunday, March 8, 2026", "2026年3月8日（星期日）"))  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_writing_of_a_day_finds_every_title_of_it(shelf: Shelf, form: str) -> None:
    question = QUESTIONS[list(FORMS).index(form) % len(QUESTIONS)].format(form)
    # A day without a year is one of this year or the last.
    last_year = LAST_YEAR if form in WITHOUT_YEAR else []
    assert_first(shelf, question, [*SAME, *last_year])


def test_only_what_is_titled_with_the_day_is_about_it(shelf: Shelf) -> None:
    exactness = {name_of(hit): hit.exactness for hit in shelf.search("2026年3月8日").hits}
    assert sorted(name for name, exact in exactness.items() if exact != "none") == sorted(SAME)
    about = {name for name, exact in exactness.items() if exact == "about"}
    # What names no year may be of another one.
    assert about >= {*SAME} - {*OPEN_YEAR}


@pytest.mark.parametrize("form", ["2025-03-08", "二〇二五年三月八日", "8 March 2025", "民国114年3月8日", "2025/3/8"])
def test_a_day_of_another_year_finds_its_own_and_what_names_no_year(shelf: Shelf, form: str) -> None:
    assert_first(shelf, f"{form}的纪要", [*LAST_YEAR, *OPEN_YEAR])


DIARIES = {
    "2026-04-19 日记.md": "泵房漏水，抢修到半夜。",
    "日记 4月18日.txt": "同学聚会，唱了很多老歌。",
    "diary_2026_04_13.md": "The new crane arrived.",
    "20260401.md": "愚人节，办公室里到处是纸鱼。",
    "周报 2026-04-12.md": "# 周报\n\n上线了搜索服务。",
    "report April 2025.md": "# April 2025\n\nSales fell by a tenth.",
    "report March 2026.md": "# March 2026\n\nSales rose by a fifth.",
    "二〇二六年二月工作总结.md": "完成年度盘点。",
    "2026年第一季度复盘.md": "客户流失率下降。",
    "minutes 14 Apr 2026.md": "We agreed to buy the kiln.",
    "纪要.md": "# 纪要\n\n## 4月15日\n\n决定更换供应商。\n\n## 4月16日\n\n决定推迟发布。\n",
    "log.md": "# January 2026\n\n2nd. Painted the gate.\n\n3rd. Mended the roof.\n",
    "合同.md": "本合同于二〇二五年十月一日签订，自签字之日起生效。",
    "invoice.md": "The invoice was issued on 1 November 2025 and is due in thirty days.",
    "農曆.md": "# 2026年2月17日\n\n大年初一，全家去了外婆家。",
    "other.md": "没有日期的备忘：记得浇花。",
}

DATED_QUESTIONS = {
    "昨天的日记": "2026-04-19 日记.md",
    "what happened yesterday": "2026-04-19 日记.md",
    "前天做了什么": "日记 4月18日.txt",
    "the day before yesterday": "日记 4月18日.txt",
    "上周一到了什么": "diary_2026_04_13.md",
    "last Monday": "diary_2026_04_13.md",
    "本月一号": "20260401.md",
    "4月1日": "20260401.md",
    "2026.4.12 的周报": "周报 2026-04-12.md",
    "去年四月的销售": "report April 2025.md",
    "sales in April last year": "report April 2025.md",
    "上个月的销售": "report March 2026.md",
    "last month's sales": "report March 2026.md",
    "今年二月的總結": "二〇二六年二月工作总结.md",
    "2026-02 总结": "二〇二六年二月工作总结.md",
    "今年第一季度客户流失": "2026年第一季度复盘.md",
    "Q1 2026 复盘": "2026年第一季度复盘.md",
    "上周二买了什么": "minutes 14 Apr 2026.md",
    "what did we agree last Tuesday": "minutes 14 Apr 2026.md",
    "四月十四号的会": "minutes 14 Apr 2026.md",
    "2026/4/15 决定了什么": "纪要.md",
    "April 16, 2026 决定": "纪要.md",
    "2 January 2026": "log.md",
    "2026年1月3日修了什么": "log.md",
    "2025-10-01 签订的合同": "合同.md",
    "去年国庆节签的合同": "合同.md",
    "去年十一月一日开的发票": "invoice.md",
    "invoice of November 1st, 2025": "invoice.md",
    "正月初一去了哪里": "農曆.md",
    "今年春节": "農曆.md",
    "2026-02-17": "農曆.md",
}


@pytest.fixture(scope="module")
def diaries(fill: Fill) -> Shelf:
    return fill("diaries", DIARIES)


@pytest.mark.parametrize(("question", "expected"), DATED_QUESTIONS.items())
def test_a_dated_question_finds_the_note_of_the_day(diaries: Shelf, question: str, expected: str) -> None:
    assert_first(diaries, question, [expected])


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("4月15日决定了什么", "更换供应商"),
        ("2026-04-16 的决定", "推迟发布"),
        ("minutes of 15 April 2026", "更换供应商"),
    ],
)
def test_of_one_file_the_section_of_the_day_comes_first(diaries: Shelf, question: str, holds: str) -> None:
    assert holds in diaries.search(question).hits[0].passage.chunk.text


@pytest.mark.parametrize(
    "question", ["2031-05-05", "二〇三一年五月五日的日记", "5 May 2031", "1999年9月9日", "2027年元旦"]
)
def test_a_day_without_notes_is_said_to_be_missing(diaries: Shelf, question: str) -> None:
    result = diaries.search(question)
    assert {hit.exactness for hit in result.hits} <= {"none"}
    assert len(result.grounding.missing) == 1
    assert result.grounding.verdict == "unlikely"
