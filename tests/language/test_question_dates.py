"""Dates in questions: what only the day of asking tells, short forms, lunar dates, festivals, moments of validity."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.date_writings import WRITINGS
from wenyuan.language.dates.mentions import OPEN_YEAR
from wenyuan.language.dates.questions import ANY_YEAR, question_dates
from wenyuan.language.dates.resolving import find_dates

NOW = datetime.date(2026, 4, 20)
"""A Monday."""

DAYS = st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31))


def days(question: str, now: datetime.date = NOW) -> list[str]:
    """The intervals of a question in ISO 8601, those without a year left out."""
    spans = question_dates(question, now).spans
    intervals = [tuple(map(datetime.date.fromordinal, (span.first_day, span.last_day))) for span in spans]
    return [str(a) if a == b else f"{a}/{b}" for a, b in intervals if a.year > OPEN_YEAR]


def the_words(question: str) -> set[str]:
    return {span.text for span in question_dates(question, NOW).spans}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("昨天的会议纪要", "2026-04-19"),
        ("昨晚谁值班", "2026-04-19"),
        ("前天谁来了", "2026-04-18"),
        ("大前天开了什么会", "2026-04-17"),
        ("今天有什么安排", "2026-04-20"),
        ("今日的日程", "2026-04-20"),
        ("明天的会", "2026-04-21"),
        ("后天的会", "2026-04-22"),
        ("上周的周报", "2026-04-13/2026-04-19"),
        ("上上周", "2026-04-06/2026-04-12"),
        ("本周的任务", "2026-04-20/2026-04-26"),
        ("这个星期", "2026-04-20/2026-04-26"),
        ("下周一", "2026-04-27"),
        ("上周三的会议", "2026-04-15"),
        ("上个星期五", "2026-04-17"),
        ("上個禮拜天", "2026-04-19"),
        ("上周三到周五发生了什么", "2026-04-15/2026-04-17"),
        ("上周末", "2026-04-18/2026-04-19"),
        ("上周三次会议", "2026-04-13/2026-04-19"),
        ("上周日报", "2026-04-13/2026-04-19"),
        ("上个月", "2026-03-01/2026-03-31"),
        ("上月报销", "2026-03-01/2026-03-31"),
        ("这个月", "2026-04-01/2026-04-30"),
        ("下个月", "2026-05-01/2026-05-31"),
        ("上个月14号", "2026-03-14"),
        ("上个月的14号", "2026-03-14"),
        ("上个月3日到5日", "2026-03-03/2026-03-05"),
        ("上月底", "2026-03-21/2026-03-31"),
        ("本月初", "2026-04-01/2026-04-10"),
        ("这个月中旬", "2026-04-11/2026-04-20"),
        ("今年", "2026-01-01/2026-12-31"),
        ("去年", "2025-01-01/2025-12-31"),
        ("前年3月", "2024-03-01/2024-03-31"),
        ("明年", "2027-01-01/2027-12-31"),
        ("去年四月", "2025-04-01/2025-04-30"),
        ("去年四月十四号", "2025-04-14"),
        ("去年的第二季度", "2025-04-01/2025-06-30"),
        ("去年下半年", "2025-07-01/2025-12-31"),
        ("本季度", "2026-04-01/2026-06-30"),
        ("上季度的财报", "2026-01-01/2026-03-31"),
        ("三天前", "2026-04-17"),
        ("3天前发布的版本", "2026-04-17"),
        ("两周前的会议", "2026-04-06/2026-04-12"),
        ("3个月前", "2026-01-01/2026-01-31"),
        ("三年前", "2023-01-01/2023-12-31"),
        ("我们半年前说了什么", "2025-10-01/2025-10-31"),
        ("最近一周", "2026-04-13/2026-04-20"),
        ("最近三个月", "2026-01-20/2026-04-20"),
        ("过去7天", "2026-04-13/2026-04-20"),
        ("近三天", "2026-04-17/2026-04-20"),
        ("近半年", "2025-10-20/2026-04-20"),
        ("从昨天到今天", "2026-04-19/2026-04-20"),
    ],
)
def test_relative_dates_in_chinese(question: str, expected: str) -> None:
    assert days(question) == [expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what happened yesterday", "2026-04-19"),
        ("the day before yesterday", "2026-04-18"),
        ("what was decided last night", "2026-04-19"),
        ("our meetings today", "2026-04-20"),
        ("what's due tomorrow", "2026-04-21"),
        ("last week's report", "2026-04-13/2026-04-19"),
        ("this week", "2026-04-20/2026-04-26"),
        ("last weekend", "2026-04-18/2026-04-19"),
        ("last Wednesday", "2026-04-15"),
        ("this Friday", "2026-04-24"),
        ("minutes of last month", "2026-03-01/2026-03-31"),
        ("next month", "2026-05-01/2026-05-31"),
        ("the 14th of last month", "2026-03-14"),
        ("the end of last month", "2026-03-21/2026-03-31"),
        ("early this month", "2026-04-01/2026-04-10"),
        ("last year", "2025-01-01/2025-12-31"),
        ("April last year", "2025-04-01/2025-04-30"),
        ("14 April last year", "2025-04-14"),
        ("Q2 last year", "2025-04-01/2025-06-30"),
        ("the first quarter of last year", "2025-01-01/2025-03-31"),
        ("this quarter", "2026-04-01/2026-06-30"),
        ("last quarter's results", "2026-01-01/2026-03-31"),
        ("last April", "2025-04-01/2025-04-30"),
        ("next May", "2026-05-01/2026-05-31"),
        ("three days ago", "2026-04-17"),
        ("two weeks ago", "2026-04-06/2026-04-12"),
        ("a month ago", "2026-03-01/2026-03-31"),
        ("3 years ago", "2023-01-01/2023-12-31"),
        ("in the last 7 days", "2026-04-13/2026-04-20"),
        ("the past three months", "2026-01-20/2026-04-20"),
        ("over the past week", "2026-04-13/2026-04-20"),
        ("between yesterday and today", "2026-04-19/2026-04-20"),
    ],
)
def test_relative_dates_in_english(question: str, expected: str) -> None:
    assert days(question) == [expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("周三的会议", ["2026-04-22", "2026-04-15"]),
        ("what did we decide on Wednesday", ["2026-04-22", "2026-04-15"]),
        ("Monday's meeting", ["2026-04-20"]),
        ("next Friday", ["2026-04-24", "2026-05-01"]),
        ("四月十四号", ["2026-04-14", "2025-04-14"]),
        ("腊月廿三", ["2026-02-10", "2025-01-22"]),
    ],
)
def test_what_can_be_two_days_is_both(question: str, expected: list[str]) -> None:
    now = datetime.date(2026, 1, 20) if "腊月" in question else NOW
    assert days(question, now) == expected


def test_last_friday_on_a_saturday_is_yesterday_or_in_the_week_before() -> None:
    assert days("last Friday", datetime.date(2026, 4, 25)) == ["2026-04-24", "2026-04-17"]


@pytest.mark.parametrize(
    "question", ["4月14日（周二）的会议", "on Tuesday, 14 April 2026", "2026-04-14 周二", "周二(4月14日)"]
)
def test_a_weekday_beside_a_date_is_its_label(question: str) -> None:
    assert days(question)[0] == "2026-04-14"
    assert not any(day.endswith("-21") for day in days(question))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("四月的会", "2026-04-01/2026-04-30"),
        ("四月份", "2026-04-01/2026-04-30"),
        ("4月发布了什么", "2026-04-01/2026-04-30"),
        ("3月到5月", "2026-03-01/2026-05-31"),
        ("3-5月的账单", "2026-03-01/2026-05-31"),
        ("3月底", "2026-03-21/2026-03-31"),
        ("4月第一周", "2026-04-01/2026-04-07"),
        ("what happened in April", "2026-04-01/2026-04-30"),
        ("the April report", "2026-04-01/2026-04-30"),
        ("since April", "2026-04-01/2026-04-30"),
        ("early April", "2026-04-01/2026-04-10"),
        ("late may", "2026-05-21/2026-05-31"),
        ("the last week of April", "2026-04-24/2026-04-30"),
        ("二季度", "2026-04-01/2026-06-30"),
        ("第二季度的OKR", "2026-04-01/2026-06-30"),
        ("Q2 results", "2026-04-01/2026-06-30"),
        ("in Q2", "2026-04-01/2026-06-30"),
        ("second quarter revenue", "2026-04-01/2026-06-30"),
        ("上半年", "2026-01-01/2026-06-30"),
        ("四月十四开了什么会", "2026-04-14"),
        ("四月廿四", "2026-04-24"),
        ("4月14", "2026-04-14"),
        ("4-14 会议纪要", "2026-04-14"),
        ("4.14的会议", "2026-04-14"),
        ("4/14 meeting notes", "2026-04-14"),
        ("4-14 minutes", "2026-04-14"),
        ("4.3–4.5 期间", "2026-04-03/2026-04-05"),
        ("从4.3到4.5的会议", "2026-04-03/2026-04-05"),
        ("4/3-4/5 的会议", "2026-04-03/2026-04-05"),
        ("between 4/3 and 4/5", "2026-04-03/2026-04-05"),
    ],
)
def test_short_forms_are_of_this_year_or_the_last(question: str, expected: str) -> None:
    found = days(question)
    assert found[0] == expected
    assert found[1] == expected.replace("2026", "2025")


def test_a_question_for_a_day_asks_for_the_open_year_too() -> None:
    spans = question_dates("2026-04-14", NOW).spans
    assert [datetime.date.fromordinal(span.first_day).year for span in spans] == [2026, OPEN_YEAR]
    assert len(question_dates("2026年4月", NOW).spans) == 1


def test_the_29th_of_february_lies_in_leap_years_only() -> None:
    assert days("2月29日", datetime.date(2025, 6, 1)) == ["2024-02-29"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("June/July 1754", ["1754-06-01/1754-06-30", "1754-07-01/1754-07-31"]),
        ("2019年的会议里四月十四号那次", ["2019-01-01/2019-12-31", "2019-04-14"]),
    ],
)
def test_a_year_that_is_named_holds_for_the_whole_question(question: str, expected: list[str]) -> None:
    text = f"What convened in {question}?" if question.isascii() else question
    assert days(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("农历八月十五", ["2026-09-25", "2025-10-06"]),
        ("正月初一", ["2026-02-17", "2025-01-29"]),
        ("农历2025年八月十五", ["2025-10-06"]),
        ("去年腊月二十三", ["2026-02-10"]),
        ("2025年闰六月初三", ["2025-07-27"]),
        ("农历四月", ["2026-05-17/2026-06-14", "2025-04-28/2025-05-26"]),
        ("除夕", ["2026-02-16", "2025-01-28"]),
        ("2026年除夕", ["2026-02-16"]),
        ("今年春节", ["2026-02-17"]),
        ("去年中秋", ["2025-10-06"]),
        ("2025年端午节", ["2025-05-31"]),
        ("2025年清明", ["2025-04-04"]),
        ("2025年七夕", ["2025-08-29"]),
        ("2025年重阳节", ["2025-10-29"]),
        ("2026年元宵", ["2026-03-03"]),
        ("去年国庆", ["2025-10-01"]),
        ("2025年五一假期", ["2025-05-01/2025-05-05"]),
        ("国庆期间", ["2026-10-01/2026-10-07", "2025-10-01/2025-10-07"]),
        ("今年元旦", ["2026-01-01"]),
        ("中秋那天", ["2026-09-25", "2025-10-06"]),
        ("Christmas 2025", ["2025-12-25"]),
        ("last Christmas", ["2025-12-25"]),
        ("Christmas Eve last year", ["2025-12-24"]),
        ("on New Year's Day", ["2026-01-01", "2025-01-01"]),
        ("Chinese New Year 2026", ["2026-02-17"]),
        ("Chinese New Year’s Eve 2026", ["2026-02-16"]),
        ("mid-autumn festival last year", ["2025-10-06"]),
        ("Dragon Boat Festival in 2025", ["2025-05-31"]),
        ("next Halloween", ["2026-10-31"]),
    ],
)
def test_lunar_dates_and_festivals(question: str, expected: list[str]) -> None:
    assert days(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("政策 2024 年 6 月有效的版本", "2024-06-30"),
        ("截至2024年6月的政策", "2024-06-30"),
        ("截止到2024年6月1日", "2024-06-01"),
        ("2024年6月1日施行的规定", "2024-06-01"),
        ("2024年6月时的版本", "2024-06-30"),
        ("2024年第二季度适用的标准", "2024-06-30"),
        ("截至去年底", "2025-12-31"),
        ("截至今天", "2026-04-20"),
        ("截至4月14日", "2026-04-14"),
        ("截至6月", "2025-06-30"),
        ("policy as of June 2024", "2024-06-30"),
        ("policy valid on 1 May 2024", "2024-05-01"),
        ("the version effective in June 2024", "2024-06-30"),
        ("rules in force on 2024-06-01", "2024-06-01"),
        ("the version as of last month", "2026-03-31"),
        ("2024年6月當時的差旅政策", "2024-06-30"),
        ("2024年6月那时的食堂价目表", "2024-06-30"),
        ("2024年6月当时的住宿费上限", "2024-06-30"),
        ("今天有效的差旅政策", "2026-04-20"),
        ("今日仍适用的标准吗", "2026-04-20"),
        ("昨天有效的食堂价目", "2026-04-19"),
        ("目前有效的差旅政策", "2026-04-20"),
        ("现在还适用的版本", "2026-04-20"),
        ("现行有效的差旅政策", "2026-04-20"),
        ("現行的差旅政策", "2026-04-20"),
        ("现行政策", "2026-04-20"),
        ("截至目前的住宿上限", "2026-04-20"),
        ("the leave policy currently in force", "2026-04-20"),
        ("rules now in effect", "2026-04-20"),
        ("which policy is valid today", "2026-04-20"),
        ("leave policy as of now", "2026-04-20"),
        ("the version valid at present", "2026-04-20"),
    ],
)
def test_the_moment_of_validity(question: str, expected: str) -> None:
    moment = question_dates(question, NOW).as_of
    assert moment is not None
    assert str(datetime.date.fromordinal(moment)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "2024年6月的政策",
        "1929年7月时执行了什么政策",
        "policies of June 2024",
        "is it effective",
        "有效期",
        "2024年6月15日当时的会议纪要",
        "2024年6月当时的会议讨论了政策",
        "2024年6月当时的天气",
        "当时的政策",
        "目前的差旅政策",
        "体现行业标准",
        "出现行的错误",
        "现行犯",
        "目前有效率不高",
        "今天有效率多高",
        "current limit",
        "is it still valid",
        "effective teaching",
        "an effective policy now",
    ],
)
def test_a_date_or_the_present_alone_is_no_moment_of_validity(question: str) -> None:
    assert question_dates(question, NOW).as_of is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("请找去年四月十四号的會議", "去年四月十四号"),
        ("Ｌａｓｔ　Ｙｅａｒ 的 report", "Ｌａｓｔ　Ｙｅａｒ"),
        ("e\u0301t\u00e9 last month’s end", "last month"),
        ("the end of Last Month, please", "end of Last Month"),
        ("去年，2024年", "去年"),
        ("從上個月到下個月", "上個月到下個月"),
    ],
)
def test_spans_are_the_words_of_the_question(question: str, words: str) -> None:
    assert words in the_words(question)


def test_every_span_says_how_it_was_read() -> None:
    readings = {
        "昨天": "relative",
        "去年四月": "relative",
        "two weeks ago": "relative",
        "农历八月十五": "lunar",
        "2025年中秋": "festival",
        "四月的会": "month",
        "2026-04-14": "iso",
        "4月上旬": "part-of-month",
    }
    for question, reading in readings.items():
        assert {span.reading for span in question_dates(question, NOW).spans} - {ANY_YEAR} == {reading}, question


@pytest.mark.parametrize(
    "now", [datetime.date.min, datetime.date(1, 1, 7), datetime.date.max, datetime.date(9999, 12, 1)]
)
@pytest.mark.parametrize(
    "question",
    "昨天 明天 上周三 下周 去年 明年四月 上个月 下个月 本季度 最近三个月 四月的会 正月初一 去年中秋".split()
    + "last week|next year|20 years ago|next Friday|last April|on Christmas Day|four weeks ago|last weekend".split("|"),
)
def test_the_calendar_has_ends(question: str, now: datetime.date) -> None:
    for span in question_dates(question, now).spans:
        assert 1 <= span.first_day <= span.last_day <= datetime.date.max.toordinal()


@given(day=DAYS, writing=st.sampled_from(sorted(WRITINGS)), other=st.sampled_from(sorted(WRITINGS)))
def test_a_question_in_any_writing_meets_a_document_in_any_other(day: datetime.date, writing: str, other: str) -> None:
    asked = {(span.first_day, span.last_day) for span in question_dates(WRITINGS[writing](day), NOW).spans}
    assert asked & {(span.first_day, span.last_day) for span in find_dates(WRITINGS[other](day))}


@given(st.dates(datetime.date(1900, 1, 8), datetime.date(2998, 12, 1)), st.integers(0, 6))
def test_weekdays_of_last_week_are_seven_days_in_order(now: datetime.date, weekday: int) -> None:
    (found,) = days(f"上周{'一二三四五六日'[weekday]}", now)
    day = datetime.date.fromisoformat(found)
    assert day.weekday() == weekday
    assert 1 <= (now - day).days <= 13


@given(st.dates(datetime.date(1900, 1, 8), datetime.date(2998, 12, 1)), st.integers(1, 99))
def test_chinese_and_english_count_alike(now: datetime.date, count: int) -> None:
    for chinese, english in (("天前", "days"), ("周前", "weeks"), ("个月前", "months")):
        assert days(f"{count}{chinese}", now) == days(f"{count} {english} ago", now)
    assert days(f"最近{count}天", now) == days(f"the last {count} days", now)


PIECES = st.one_of(
    st.characters(),
    st.sampled_from("0123456789-/.年月日号到至周天前上下本去今昨 农历正腊闰初春节中秋"),
    st.sampled_from(["last ", "month ", "of ", "week ", "april ", " ago", "上个月", "去年", "days ", "as of "]),
)


@given(st.lists(PIECES, max_size=40).map("".join), st.dates())
def test_any_question_can_be_read_on_any_day(question: str, now: datetime.date) -> None:
    read = question_dates(question, now)
    for span in read.spans:
        assert question[span.start : span.end] == span.text != ""
        assert span.first_day <= span.last_day
    assert all(0 <= start < end <= len(question) for start, end in read.answered)
