"""Time: no text makes the reading of dates slow.

A reading that backtracks, or looks at the whole text again for each match, would take minutes to
hours on texts of this length; there is nothing to assert but that each call returns.
"""

from __future__ import annotations

import datetime
import time

import pytest

from wenyuan.language.dates.questions import question_dates
from wenyuan.language.dates.resolving import date_mentions, find_dates
from wenyuan.language.folding import fold

NOW = datetime.date(2026, 4, 20)

OF_DOCUMENTS = [
    "2026-04-03", "2026/4/3-4/", "2026.", "4/3-", "2026年4月3日到", "2026年", "二〇二六", "农历", "闰", "正月初",
    "月初一", "二零二六年四月", "四月三日和", "april ", "first week of ", "q2 2026 ", "half of 2026 ",
    "may 5 people ", "民国", "元前", "廿", " ", "年", "月", "3月底至", "第一周", "2026年4月3日、", "1月初十",
]  # fmt: skip
OF_QUESTIONS = [
    "今天", "today ", "去年", "last year ", "last month", "上个月的", "上周三到", "周三到", "周三", "on tuesday ",
    "tuesday to ", "三天前", "最近三", "近", "the last 3 ", "in april ", "the april ", "4-14", "4.3到", "四月的",
    "一二三四", "二季度", "中秋", "2025年的", "on christmas ", "截至", "2024年6月有效的", "as of june 2024 ",
    "effective ", "1 ago ", "每", "上上", "下个",
]  # fmt: skip


@pytest.mark.parametrize("unit", OF_DOCUMENTS)
def test_endless_documents_are_read(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    assert date_mentions(text, fold(text)) is not None


@pytest.mark.parametrize("unit", [*OF_DOCUMENTS, *OF_QUESTIONS])
def test_endless_questions_are_read(unit: str) -> None:
    assert question_dates(unit * (10_000 // len(unit)), NOW) is not None


@pytest.mark.soak
@pytest.mark.parametrize("unit", [*OF_DOCUMENTS, *OF_QUESTIONS])
def test_a_megabyte_of_anything_is_read_in_processor_seconds(unit: str) -> None:
    text = unit * (1_000_000 // len(unit.encode()))
    started = time.process_time()
    find_dates(text)
    question_dates(text, NOW)
    assert time.process_time() - started < 60
