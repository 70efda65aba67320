"""Questions: what a question asks for, before anything is looked up."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.questions.reading import read_question
from wenyuan.language.words import decode_token
from wenyuan.types import Plan

NOW = datetime.date(2026, 4, 20)


def plan(question: str) -> Plan:
    return read_question(question, NOW)


def dates(question: str) -> list[str]:
    return [str(datetime.date.fromordinal(date.first_day)) for date in plan(question).dates]


def test_a_day_without_a_year_means_this_year_and_the_last() -> None:
    assert dates("四月十四号开了什么会") == ["2026-04-14", "2025-04-14", "0004-04-14"]


def test_the_words_of_a_date_are_left_to_its_aliases() -> None:
    read = plan("2026年4月14日的会议纪要")
    assert read.tokens == ("的会", "会议", "议纪", "纪要")
    assert [decode_token(token) for token in read.aliases] == ["§d20260414", "§o0414"]
    assert plan("2026-04-14").tokens == ()


@pytest.mark.parametrize(
    ("question", "tokens", "aliases"),
    [
        ("昨天的会议", ("的会", "会议"), {"§d20260419", "§o0419"}),
        ("yesterday", (), {"§d20260419", "§o0419"}),
        ("去年四月的会议", ("的会", "会议"), {"§m202504"}),
        ("last year", (), {"§y2025"}),
        ("最近三个月", (), {"§m202601", "§m202602", "§m202603", "§m202604"}),
        ("最近两年", (), {"§y2024", "§y2025", "§y2026"}),
        ("四月的会", ("四月", "月的", "的会", "会"), {"§m202604", "§m202504"}),
        ("去年中秋", ("去年", "年中", "中秋"), {"§d20251006", "§o1006"}),
        ("2026年正月初一", ("2026", "年正", "正月", "月初", "初一"), {"§d20260217", "§o0217"}),
        ("4-14 会议纪要", ("会议", "议纪", "纪要"), {"§a0414"}),
        ("二〇二六年四月", (), {"§m202604"}),
    ],
)
def test_a_date_is_asked_for_by_the_tokens_of_every_writing(
    question: str, tokens: tuple[str, ...], aliases: set[str]
) -> None:
    read = plan(question)
    assert read.tokens == tokens
    assert set(map(decode_token, read.aliases)) == aliases


def test_the_moment_of_validity_is_part_of_the_plan() -> None:
    read = plan("政策 2024 年 6 月有效的版本")
    assert read.as_of == datetime.date(2024, 6, 30).toordinal()
    assert plan("2024年6月的政策").as_of is None


@pytest.mark.parametrize(
    "question", ["前天", "last Saturday", "two days ago", "上周六", "农历三月初二", "Apr 18", "四月十八"]
)
def test_every_way_to_ask_for_a_day_meets_that_day(question: str) -> None:
    day = datetime.date(2026, 4, 18).toordinal()
    assert any(date.first_day == date.last_day == day for date in plan(question).dates)


def test_what_could_be_a_version_keeps_its_words() -> None:
    read = plan("2026.4.10")
    assert read.versions == ("2026.4.10",)
    assert dates("2026.4.10") == ["2026-04-10", "0004-04-10"]
    assert "2026.4.10" in map(decode_token, read.tokens)


@pytest.mark.parametrize(
    ("question", "versions", "codes"),
    [
        ("PPR-9087", (), ("ppr9087",)),
        ("ppr9087 的泵", (), ("ppr9087",)),
        ("1.0.21", ("1.0.21",), ()),
        ("What changed in sqlite-utils 4.0rc2?", ("4.0rc2",), ()),
        ("python 3.11 发布说明", ("3.11",), ()),
        ("圆周率 3.14 是多少", (), ()),
        ("is CVE-2023-0464 patched", (), ("cve2023-0464",)),
        ("mp3 转换", (), ()),
        ("which release fixed #783", (), ("#783",)),
    ],
)
def test_versions_and_codes(question: str, versions: tuple[str, ...], codes: tuple[str, ...]) -> None:
    assert plan(question).versions == versions
    assert plan(question).codes == codes


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("“健康体检”怎么报销", ("健康体检",)),
        ("「健康體檢」和『報銷』", ("健康體檢", "報銷")),
        ('find "pump seal" and "valve"', ("pump seal", "valve")),
        ("《劳动合同法》第十条", ("劳动合同法",)),
        ('5" pipe', ()),
        ("it's what's", ()),
        ('" "', ()),
    ],
)
def test_quoted_phrases(question: str, phrases: tuple[str, ...]) -> None:
    assert plan(question).phrases == phrases


@pytest.mark.parametrize(
    ("question", "excluded", "tokens"),
    [
        ("健康体检 -牙科", ("牙科",), ("健康", "康体", "体检")),
        ("pump seal -valves -hose", ("valv", "hose"), ("pump", "seal")),
        ("报销 -健康体检", ("康体",), ("报销",)),
        ("报销 －体检", ("体检",), ("报销",)),
    ],
)
def test_terms_at_the_end_can_be_excluded(question: str, excluded: tuple[str, ...], tokens: tuple[str, ...]) -> None:
    read = plan(question)
    assert read.excluded == excluded
    assert read.tokens == tokens
    assert read.question == question
    assert all(note.startswith("excluded: ") for note in read.notes)


@pytest.mark.parametrize(
    "question",
    ["tar -xzf 用法", "git commit -m", "ls -la", "rm -rf", "-pump", "a -1", "10 - 3", "well-known", "find -name x"],
)
def test_options_and_hyphens_exclude_nothing(question: str) -> None:
    assert plan(question).excluded == ()
    assert plan(question).notes == ()


def test_an_impossible_date_is_noted() -> None:
    read = plan("二月三十号的会议")
    assert read.dates == ()
    assert read.notes == ("impossible-date: 二月三十号",)


@pytest.mark.parametrize(
    ("question", "language"), [("健康体检", "zh"), ("health check", "en"), ("これはペン", "other"), ("2026", "other")]
)
def test_languages(question: str, language: str) -> None:
    assert plan(question).language == language


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("打开 report_v2.docx", "report-v2-docx"),
        ("打开 report_v2.docx", "report-v2"),
        ("會議紀要.docx", "会议纪要-docx"),
        ("《会议纪要》", "会议纪要"),
    ],
)
def test_names_in_the_form_of_keys(question: str, name: str) -> None:
    assert name in plan(question).names


@given(st.text(st.one_of(st.characters(), st.sampled_from('健康什么 -“”"2026年4月14日v1.2.3 PPR')), max_size=80))
def test_any_question_can_be_read(question: str) -> None:
    read = plan(question)
    assert read.question == question
    for date in read.dates:
        assert question[date.start : date.end] == date.text


@pytest.mark.parametrize("question", ["rsync -aHAXSv", "dmesg -n3", "tar -xzf"])
def test_options_of_commands_are_not_exclusions(question: str) -> None:
    assert read_question(question, NOW).excluded == ()


@pytest.mark.parametrize("question", ["os.path.commonpath", "asyncio.TaskGroup"])
def test_a_dotted_name_is_no_file_name(question: str) -> None:
    assert "os-path" not in read_question(question, NOW).names
    assert not any(name in ("os", "asyncio") for name in read_question(question, NOW).names)
