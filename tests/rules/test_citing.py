"""Citations are checked: what a cited sentence asserts must stand in its source, however it is written there."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wenyuan.rules.citations.citing import CheckedText, CitedSource, check_citations
from wenyuan.rules.citations.source_reading import SourceReading
from wenyuan.rules.citations.support import judge

HANDBOOK = CitedSource(
    1,
    "本公司每年为员工安排健康体检一次，费用为3万5千元，由公司承担。二〇二六年四月十四日会议决定，自五月起执行。"
    "员工不得将体检名额转让他人。报名截止时间为下午两点半。泵的编号是 PPR-9087，固件版本 v1.2.3。",
    "员工手册.md\n第三章 福利",
)
MINUTES = CitedSource(
    2,
    "Alice Zhang joined on April 14, 2026. She does not smoke. The yearly fee is 35,000 yuan, paid within thirty days. "
    "About 12% of the 2,400 employees work remotely. The office in Berlin opened in 2019.",
    "minutes.md",
)
SOURCES = (HANDBOOK, MINUTES)


def verdicts(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.support, one.missing) for one in check_citations(text, SOURCES).sentences]


def support(text: str) -> str:
    [(found, _)] = verdicts(text)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "本公司每年为员工安排健康体检一次[1]。",
        "体检费用为35,000元，由公司承担[1]。",
        "体检费用三万五千元由公司承担[1]。",
        "2026-04-14 的会议决定，自五月起执行[1]。",
        "2026年4月14号会议决定自5月起执行[1]。",
        "会议于 2026 年 4 月决定，自五月起执行[1]。",
        "報名截止時間為14:30[1]。",
        "泵的编号是 ppr 9087，固件版本 1.2.3[1]。",
        "Alice Zhang joined on 2026-04-14 [2].",
        "Alice joined on 14 April 2026 [2].",
        "The fee is 35000 yuan a year, paid within 30 days [2].",
        "Twelve percent of the 2400 employees work remotely [2].",
        "She does not smoke [2].",
        "The yearly fee is 35,000 yuan [1][2].",
        "The health check costs 35,000 yuan, which the company pays [1].",
    ],
)
def test_what_a_source_says_in_other_words_is_supported(text: str) -> None:
    assert verdicts(text) == [("supported", ())]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("体检费用为36,000元，由公司承担[1]。", ("36,000",)),
        ("2026年4月15日会议决定，自五月起执行[1]。", ("2026年4月15日",)),
        ("会议决定，自2025年4月14日起执行[1]。", ("2025年4月14日",)),
        ("报名截止时间为15:30[1]。", ("15:30",)),
        ("泵的编号是 PPR-9078[1]。", ("PPR-9078",)),
        ("泵的固件版本为 v1.2.4[1]。", ("v1.2.4",)),
        ("《员工守则》规定公司每年安排健康体检[1]。", ("员工守则",)),
        ("Alice Zhang joined on April 15, 2026 [2].", ("April 15, 2026",)),
        ("The yearly fee is 53,000 yuan [2].", ("53,000",)),
        ("The fee is paid within 30 weeks [2].", ("30",)),
        ("About 12 yuan of the fee [2].", ("12",)),
        ("The office in Paris opened in 2019 [2].", ("Paris",)),
        ("Alice Zhang joined “Acme Robotics” in 2026 [2].", ("Acme Robotics",)),
    ],
)
def test_what_stands_nowhere_is_named(text: str, missing: tuple[str, ...]) -> None:
    assert verdicts(text) == [("unsupported", missing)]


@pytest.mark.parametrize(
    "text",
    [
        "本公司每年不为员工安排健康体检[1]。",
        "员工可将体检名额转让他人[1]。",
        "She does smoke [2].",
        "About 12% of the 2,400 employees do not work remotely [2].",
        "The yearly fee is 2,400 yuan, paid within thirty days [2].",
        "小王每年为邻居安排聚餐三次[1]。",
        "The moon is made of green cheese [2].",
    ],
)
def test_what_a_source_denies_or_does_not_say_is_unsupported(text: str) -> None:
    assert support(text) == "unsupported"


MANUAL = SourceReading(
    "Do not use tap water for rinsing. If the slope falls below 85%, replace the electrode. The warranty covers "
    "defects for 24 months from delivery, but not damage caused by improper cleaning. Spare electrodes (part no. "
    "PPR-9087) cost £68 each. 气温升到三十度以上时，泵的功率会自动降低。事假期间不发放工资。",
    "manual.md",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Tap water should not be used for rinsing.",
        "Never rinse it with tap water.",
        "Damage from improper cleaning is not covered by the warranty.",
        "The warranty excludes damage caused by improper cleaning.",
        "A spare electrode (PPR-9087) costs £68.",
        "Replace the electrode when the slope falls below 85 percent.",
        "事假没有工资。",
    ],
)
def test_a_denial_in_other_words_is_the_same(sentence: str) -> None:
    assert judge(sentence, [MANUAL]).support == "supported"


@pytest.mark.parametrize(
    "sentence",
    [
        "Rinse it with tap water.",
        "Damage caused by improper cleaning is covered by the warranty.",
        "If the slope falls above 85%, replace the electrode.",
        "If the slope rises below 85%, replace the electrode.",
        "气温升到三十度以下时，泵的功率会自动降低。",
    ],
)
def test_the_opposite_is_denied(sentence: str) -> None:
    assert judge(sentence, [MANUAL]).reason == "denied"


def test_what_is_half_said_is_weak() -> None:
    assert support("每年的费用是 3.5万元，30天内支付[2]。") == "weak"
    assert support("The office in Berlin opened in 2019 with much applause from its neighbours [2].") == "weak"


def test_the_cited_source_counts_and_no_other() -> None:
    assert support("Alice Zhang joined on April 14, 2026 [1].") == "unsupported"
    assert support("Alice Zhang joined on April 14, 2026 [2].") == "supported"


def test_a_sentence_without_citation_is_judged_by_all() -> None:
    [one] = check_citations("Alice Zhang joined on April 14, 2026.", SOURCES).sentences
    assert (one.numbers, one.support) == ((), "supported")


def test_without_sources_nothing_is_supported() -> None:
    checked = check_citations("It rains [1].", ())
    assert (checked.text, checked.invented) == ("It rains.", ("[1]",))
    assert [one.support for one in checked.sentences] == ["unsupported"]


def test_what_stands_above_a_source_supports_too() -> None:
    assert support("《员工手册》第三章规定，公司每年为员工安排健康体检一次[1]。") == "supported"


def test_list_markers_headings_and_code_assert_nothing() -> None:
    text = (
        "## 7 facts\n\n1. The yearly fee is 35,000 yuan [2].\n2. She does not smoke [2].\n\n```\nx[1] = 77\n```\n---\n"
    )
    assert verdicts(text) == [("supported", ()), ("supported", ())]


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not say who pays.",
        "No document mentions a fee.",
        "文档中没有提到费用。",
        "资料未说明由谁承担。",
    ],
)
def test_that_the_sources_are_silent_is_no_assertion(text: str) -> None:
    assert verdicts(text) == []
    assert len(verdicts(f"{text[:-1]} [1].")) == 1


def test_what_a_thing_does_not_do_is_one() -> None:
    assert len(verdicts("The information desk does not open on Mondays.")) == 1


def cited(text: str) -> list[tuple[str, tuple[int, ...]]]:
    checked = check_citations(text, SOURCES)
    return [(checked.text[one.start : one.end], one.numbers) for one in checked.sentences]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One is so. [1] Two is so. [2]", [("One is so. [1]", (1,)), ("Two is so. [2]", (2,))]),
        ("One is so.[1] Two is so.[2]", [("One is so.[1]", (1,)), ("Two is so.[2]", (2,))]),
        ("甲如此。[1]乙如此。[2]", [("甲如此。[1]", (1,)), ("乙如此。[2]", (2,))]),
        ("甲如此[1]。乙如此[1][2]。", [("甲如此[1]。", (1,)), ("乙如此[1][2]。", (1, 2))]),
        ("[1] One is so.\n[2] Two is so.", [("[1] One is so.", (1,)), ("[2] Two is so.", (2,))]),
        ("One [1] is so [2].", [("One [1] is so [2].", (1, 2))]),
        ("One is so.\n[1]\n\nTwo is so.", [("One is so.\n[1]", (1,)), ("Two is so.", ())]),
        ("- one [1]\n- two [2]", [("- one [1]", (1,)), ("- two [2]", (2,))]),
        ("| a | b |\n|---|---|\n| one [1] | two [2] |", [("| a | b |", ()), ("| one [1] | two [2] |", (1, 2))]),
    ],
)
def test_a_citation_belongs_to_its_sentence(text: str, sentences: list[tuple[str, tuple[int, ...]]]) -> None:
    assert cited(text) == sentences


# --- For every text --------------------------------------------------------------------------------

words = st.sampled_from(
    "apple river engine quiet yellow market signed Berlin Alice valve tested pressure report winter bridge copper "
    "公司 员工 体检 会议 决定 不得 费用 泵站 版本 北京 张三 每年 承担 执行 编号 下午".split()
)
values = st.one_of(
    st.integers(2, 99_999).map(str),
    st.dates().map(str),
    st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40)).map(lambda v: f"v{v[0]}.{v[1]}.{v[2]}"),
    st.integers(100, 9999).map(lambda n: f"PPR-{n}"),
    st.integers(2, 999).map(lambda n: f"{n}元"),
    st.integers(2, 999).map(lambda n: f"{n}%"),
    st.tuples(st.integers(10, 23), st.integers(10, 59)).map(lambda v: f"{v[0]}:{v[1]}"),
)
sentences = st.lists(words | values, min_size=4, max_size=12).map(" ".join)
sources = st.lists(sentences, min_size=1, max_size=5)


def judged(sentence: str, source: str) -> CheckedText:
    return check_citations(f"{sentence} [1]", [CitedSource(1, source)])


@given(sources, st.data())
def test_a_sentence_of_the_source_is_always_supported(written: list[str], data: st.DataObject) -> None:
    sentence = data.draw(st.sampled_from(written))
    checked = judged(sentence, "。\n".join(written))
    assert {one.support for one in checked.sentences} <= {"supported"}


@given(sources, st.data())
def test_with_another_digit_it_never_is(written: list[str], data: st.DataObject) -> None:
    sentence = data.draw(st.sampled_from(written))
    places = [place for place, character in enumerate(sentence) if character.isdigit()]
    assume(places)
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([digit for digit in "123456789" if digit != sentence[place]]))
    changed = sentence[:place] + digit + sentence[place + 1 :]
    assume(not any(changed in other for other in written))
    # Where another number of the source has the value, the sentence says what stands there, if not of the same thing.
    (number,) = (run.group() for run in re.finditer(r"[0-9]+", changed) if run.start() <= place < run.end())
    assume(not any(number in other for other in written))
    checked = judged(changed, "。\n".join(written))
    assert all(one.support != "supported" for one in checked.sentences)


@given(st.text(max_size=300), st.lists(st.text(max_size=200), max_size=3))
def test_any_text_is_checked(text: str, written: list[str]) -> None:
    checked = check_citations(text, [CitedSource(number, one, one[:20]) for number, one in enumerate(written, 1)])
    assert all(0 <= one.start < one.end <= len(checked.text) for one in checked.sentences)
    assert all(
        first.end <= second.start for first, second in zip(checked.sentences, checked.sentences[1:], strict=False)
    )


@given(st.text(st.characters(exclude_characters="[【［〔"), max_size=200))
def test_a_text_without_markers_is_not_changed(text: str) -> None:
    checked = check_citations(text, SOURCES)
    assert (checked.text, checked.invented) == (text, ())


@pytest.mark.parametrize(
    "piece", ["12 ", "不", "a", "1", "[1]", "一", "A ", "“", "2026-04-14 ", "v1.2.3 ", "- not ", "10:30"]
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * 2000
    checked = check_citations(text, [CitedSource(1, text + "x", text[:200])])
    assert all(0 <= one.start < one.end <= len(checked.text) for one in checked.sentences)
