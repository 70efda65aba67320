"""What a question excludes is not shown; what it puts in quotation marks comes first where it stands word for word."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import ALL_ARMS, Shelf, assert_first, name_of

PUMPS = {
    "bare.md": "一号泵运行平稳，泵壳无裂纹。",
    "sealed.md": "二号泵更换密封，泵轴同心。",
    "hant.md": "三號泵更換密封，轉速正常。",
    "bearing.md": "四号泵轴承异响，泵停机检查。",
    "pump.md": "The pump runs without a leak.",
    "seal.md": "The pump needs a new seal.",
    "seals.md": "Two seals of the pump are worn.",
    "valve.md": "The pump valve sticks.",
    "code.md": "The pump PPR-1044 is spare.",
    "redis.md": "缓存用redis集群，三主三从。",
    "mysql.md": "缓存用mysql集群，一主两从。",
    "北京.md": "北京机房的缓存正常。",
    "上海.md": "上海机房的缓存正常。",
}  # fmt: skip

# The question, what must not be shown, and what must.
EXCLUSIONS = [
    ("泵 -密封", ["sealed.md", "hant.md"], ["bare.md", "bearing.md"]),
    ("泵 －密封", ["sealed.md", "hant.md"], ["bare.md", "bearing.md"]),
    ("泵 -密封 -轴承", ["sealed.md", "hant.md", "bearing.md"], ["bare.md"]),
    ("泵的維護 -軸承", ["bearing.md"], ["bare.md", "sealed.md"]),
    ("泵 -更換密封", ["sealed.md", "hant.md"], ["bare.md", "bearing.md"]),
    ("泵 -裂", ["bare.md"], ["sealed.md", "bearing.md"]),
    ("pump -seal", ["seal.md", "seals.md"], ["pump.md", "valve.md"]),
    ("pump -seals", ["seal.md", "seals.md"], ["pump.md", "valve.md"]),
    ("pump -Seal", ["seal.md", "seals.md"], ["pump.md", "valve.md"]),
    ("pump -SEAL -valve", ["seal.md", "seals.md", "valve.md"], ["pump.md"]),
    ("which pump? -seal", ["seal.md", "seals.md"], ["pump.md", "valve.md"]),
    ("pump -PPR-1044", ["code.md"], ["pump.md", "seal.md"]),
    ("pump -ppr1044", ["code.md"], ["pump.md", "seal.md"]),
    ("缓存 -redis", ["redis.md"], ["mysql.md", "北京.md"]),
    ("缓存 -redis集群", ["redis.md"], ["mysql.md", "北京.md"]),
    ("缓存 -北京", ["北京.md"], ["上海.md", "redis.md"]),
    ("緩存 -北京 -上海", ["北京.md", "上海.md"], ["redis.md", "mysql.md"]),
]


@pytest.fixture(scope="module")
def pumps(fill: Fill) -> Shelf:
    return fill("pumps", PUMPS)


@pytest.mark.parametrize(("question", "excluded", "shown"), EXCLUSIONS)
def test_what_is_excluded_is_not_shown(pumps: Shelf, question: str, excluded: list[str], shown: list[str]) -> None:
    found = pumps.names(question)
    assert not {*excluded} & {*found}
    assert {*shown} <= {*found}


@pytest.mark.parametrize("question", ["pump -pump", "北京 -北京", "泵 -泵", "缓存 -正常 -集群"])
def test_where_everything_is_excluded_that_is_said(pumps: Shelf, question: str) -> None:
    result = pumps.search(question)
    assert (result.hits, result.why_empty) == ((), "all-excluded")


def test_the_excluded_terms_are_told_as_they_were_written(pumps: Shelf) -> None:
    told = pumps.search("PPR-1044 -spare -PPR-1044").explanation
    assert "-spare -PPR-1044" in told


@pytest.mark.parametrize("question", ["泵 -泵", "zebra -pump"])
def test_where_nothing_was_looked_for_or_found_nothing_was_excluded(pumps: Shelf, question: str) -> None:
    arms = ALL_ARMS if "zebra" in question else ("structured",)
    assert pumps.search(question, arms=arms).why_empty == "no-match"


COMMANDS = {
    "tar.md": "tar -xzf archive.tgz unpacks it",
    "grep.md": "grep -v comment drops the lines",
    "rm.md": "rm -r folder deletes it with all in it",
    "curl.md": "curl -fsSL -o out.html fetches quietly",
    "kubectl.md": "kubectl get pods -o wide shows the nodes",
    "redis.md": "升级redis-cli后3台节点超时",
    "range.md": "营业时间 9-18 点，周一 - 周五",
    "email.md": "e-mail the well-known state-of-the-art report",
    "minus.md": "气温 -5 度以下停止施工",
    "covid.md": "COVID-19 期间居家办公",
}

# Hyphens that exclude nothing.
KEPT = {
    "tar -xzf": "tar.md",
    "怎么用 tar -x": "tar.md",
    "grep -v comment": "grep.md",
    "rm -r": "rm.md",
    "curl -fsSL": "curl.md",
    "kubectl get pods -o wide": "kubectl.md",
    "redis-cli": "redis.md",
    "升级redis-cli后3台": "redis.md",
    "营业时间 9-18": "range.md",
    "周一 - 周五": "range.md",
    "state-of-the-art": "email.md",
    "well-known e-mail": "email.md",
    "气温 -5": "minus.md",
    "COVID-19": "covid.md",
    "-xzf": "tar.md",
}


@pytest.fixture(scope="module")
def commands(fill: Fill) -> Shelf:
    return fill("commands", COMMANDS)


@pytest.mark.parametrize(("question", "expected"), KEPT.items())
def test_a_hyphen_that_excludes_nothing_finds_what_it_stands_in(commands: Shelf, question: str, expected: str) -> None:
    assert commands.search(question).plan.excluded == ()
    assert_first(commands, question, [expected])


PHRASES = {
    "ml zh.md": "本课讲授机器学习的基础。",
    "ml apart.md": "机器需要保养，学习需要时间，机器不学。",
    "ml hant.md": "機器學習的課程在週三，學習愉快。",
    "ml en.md": "An introduction to machine learning.",
    "ml en apart.md": "Learning to run the machine takes a machine and learning.",
    "seal.md": "Replace the pump seal every year.",
    "a sealant.md": "Put pump sealant on the thread; each seal of a pump has one.",
    "seal apart.md": "The seal on the pump, the pump on the seal.",
    "wrapped.md": "All staff receive the annual health\ncheck in the spring of each year.",
    "wrapped apart.md": "Annual check: health of the annual plants, a check on health.",
    "wrapped zh.md": "员工每年参加一次健康\n体检，费用由公司承担。",
    "wrapped zh apart.md": "体检中心在三楼，健康餐在二楼，健康与体检无关。",
    "handbook.md": "# 员工手册\n\n迟到三次记旷工半天。",
    "about handbook.md": "员工可到前台领取手册，手册限员工本人领取。",
    "quote.md": "He said “to be or not to be” and left.",
    "quote apart.md": "Not to be late is to be polite, or to be early.",
    "version.md": "Python 3.11 support was added in spring.",
    "version apart.md": "Support for Python was added; 3.11 volts, python in spring.",
    "mixed.md": "升级redis-cli后3台节点超时",
    "mixed apart.md": "redis升级，cli重启，后3台节点，超时升级。",
}

QUOTED = [
    ("“机器学习”", ["ml zh.md", "ml hant.md"]),
    ("「機器學習」", ["ml zh.md", "ml hant.md"]),
    ("『机器学习』的课", ["ml zh.md", "ml hant.md"]),
    ('"机器学习" 基础', ["ml zh.md"]),
    ("《机器学习》", ["ml zh.md", "ml hant.md"]),
    ('"machine learning"', ["ml en.md"]),
    ('"Machine Learning"', ["ml en.md"]),
    ("“machine learning” course", ["ml en.md"]),
    ("＂machine learning＂", ["ml en.md"]),
    ('"pump seal"', ["seal.md"]),
    ('what about the "pump seal"?', ["seal.md"]),
    ('"annual health check"', ["wrapped.md"]),
    ("“健康体检”", ["wrapped zh.md"]),
    ("「健康體檢」", ["wrapped zh.md"]),
    ("《员工手册》", ["handbook.md"]),
    ("「員工手冊」裡遲到怎麼算", ["handbook.md"]),
    ('"to be or not to be"', ["quote.md"]),
    ('"Python 3.11"', ["version.md"]),
    ("“升级redis-cli后3台”", ["mixed.md"]),
    ("「redis-cli後3台」", ["mixed.md"]),
]


@pytest.fixture(scope="module")
def phrases(fill: Fill) -> Shelf:
    return fill("phrases", PHRASES)


@pytest.mark.parametrize(("question", "expected"), QUOTED)
def test_a_phrase_in_quotation_marks_comes_first_where_it_stands(
    phrases: Shelf, question: str, expected: list[str]
) -> None:
    assert_first(phrases, question, expected)
    exact = [name_of(hit) for hit in phrases.search(question).hits if hit.exactness != "none"]
    assert {*expected} <= {*exact}


@pytest.mark.parametrize(("question", "expected"), QUOTED)
def test_nothing_but_the_phrase_itself_is_exact(phrases: Shelf, question: str, expected: list[str]) -> None:
    exact = {name_of(hit) for hit in phrases.search(question).hits if hit.exactness != "none"}
    apart = {name for name in PHRASES if name.endswith("apart.md") or name == "a sealant.md"}
    assert not exact & (apart - {*expected})
