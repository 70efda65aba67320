"""However few hits are wanted, there are that many where that many exist."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, name_of
from wenyuan.flows.retrieve import SearchOptions, retrieve
from wenyuan.types import LOCAL_PRINCIPAL, Scope, SearchResult

FILES = {
    "体检.md": "公司每年安排一次健康体检，费用由公司承担。",
    "体检补充.md": "体检报告由本人领取，逾期不候。",
    "年假.md": "年假须提前两周申请，跨年作废。",
    "發票.md": "發票遺失須在三日內申報。",
    "泵.md": "PPR-9087 pump seal",
    "泵二.md": "PPR-1044 pump seal",
    "release.md": "Release 2026.4.10 fixes the login page.",
    "release old.md": "Release 2026.4.1 fixes the logout page.",
    "redis.md": "升级redis-cli后3台节点连接超时",
    "diary.md": "# 2026-03-08\n\n去郊外看花。",
    "diary two.md": "# 三月八日\n\n在家读书。",
    "ferry.md": "The ferry leaves the pier at nine.",
    "copy one.md": "值班室电话每班交接时核对一次。",
    "copy two.md": "值班室电话每班交接时核对一次。",
    "manual.md": "".join(f"## Step {n}\n\nTurn valve {n} by a quarter and wait for lamp {n}.\n\n" for n in range(1, 9)),
    "valve.md": "A spare valve hangs beside the door.",
}

QUESTIONS = (
    "健康体检", "體檢費用誰出", "年假", "发票遗失", "PPR-9087", "ppr 1044 seal", "2026.4.10",
    "what was fixed in 2026.4.1",
    "redis-cli", "2026年3月8日", "三月八日", "when does the ferry leave", "值班室电话", "检", "valve",
    "升级redis-cli后3台",
    "《年假》", "release -login",
)  # fmt: skip


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill("top k", FILES)


def asked(shelf: Shelf, question: str, options: SearchOptions) -> SearchResult:
    return retrieve(shelf.library._retrieving, question, Scope(LOCAL_PRINCIPAL, (shelf.knowledge_base,)), options)


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_hit_is_one_hit_and_the_best_of_all(shelf: Shelf, question: str) -> None:
    everything = shelf.search(question)
    result = shelf.search(question, top_k=1)
    assert result.why_empty is None
    ids = [hit.passage.chunk_id for hit in everything.hits]
    assert [hit.passage.chunk_id for hit in result.hits] == ids[:1]
    assert result.grounding == everything.grounding
    assert [hit.passage.chunk_id for hit in shelf.search(question, top_k=3).hits] == ids[:3]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_least_score_keeps_what_reaches_it(shelf: Shelf, question: str) -> None:
    scores = [hit.score for hit in shelf.search(question).hits]
    best = max(scores)
    one = asked(shelf, question, SearchOptions(top_k=1, least_score=best))
    assert [hit.score for hit in one.hits] == [best]
    kept = asked(shelf, question, SearchOptions(top_k=60, least_score=best * 0.6))
    assert sorted(hit.score for hit in kept.hits) == sorted(score for score in scores if score >= best * 0.6)


@pytest.mark.parametrize("question", ["redis-cli 在月球上的用法", "valve of the moon", "体检与潜水艇"])
def test_where_nothing_reaches_the_least_score_that_is_said(shelf: Shelf, question: str) -> None:
    best = max(hit.score for hit in shelf.search(question).hits)
    assert best < 0.99
    result = asked(shelf, question, SearchOptions(top_k=1, least_score=0.99))
    assert (result.hits, result.why_empty) == ((), "below-threshold")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("login logout release -login", "release old.md"),
        ("体检 -健康", "体检补充.md"),
        ("pump seal -PPR-1044", "泵.md"),
    ],
)
def test_what_is_excluded_takes_no_place(shelf: Shelf, question: str, name: str) -> None:
    assert shelf.names(question, top_k=1) == [name]


def test_what_is_said_twice_takes_one_place(shelf: Shelf) -> None:
    found = shelf.names("值班室电话 体检 年假", top_k=3)
    assert len(found) == 3
    assert len({"copy one.md", "copy two.md"} & {*found}) == 1


@pytest.mark.parametrize("neighbours", [1, 2])
def test_what_is_folded_into_a_neighbour_takes_no_place(shelf: Shelf, neighbours: int) -> None:
    chunks = shelf.library.documents.chunks("manual.md")
    assert len(chunks) == 8
    wide = asked(shelf, "turn the valve by a quarter", SearchOptions(top_k=60, neighbours=neighbours))
    assert len(wide.hits) >= 3
    few = asked(shelf, "turn the valve by a quarter", SearchOptions(top_k=3, neighbours=neighbours))
    assert len(few.hits) == 3


def test_the_day_of_asking_is_the_one_the_library_was_opened_with(shelf: Shelf) -> None:
    assert shelf.names("上个月8号", top_k=2) == shelf.names("2026-03-08", top_k=2)


EXACT = {
    "1.0.21.txt": ("v1.0.21 热修复", ("1.0.21", "1_0_21", "V1.0.21", "版本1.0.21")),
    "kb.txt": ("补丁 KB5034441 说明", ("KB5034441", "KB 5034441", "kb-5034441")),
    "order.txt": ("訂單 SO20260001 已出貨", ("SO20260001", "SO-20260001")),
    "day.txt": ("于二〇二六年三月八日签字。", ("2026-03-08", "2026年3月8日", "8 March 2026", "三月八日")),
    "day en.txt": ("Signed on 14 April 2026.", ("2026-04-14", "二〇二六年四月十四日", "April 14th, 2026")),
    "name.txt": ("class RunnableWithMessageHistory", ("RunnableWithMessageHistory", "runnable_with_message_history")),
    "number.txt": ("合计12万元整", ("120000元", "12万元")),
    "other.txt": ("没有编号也没有日期。", ()),
}


@pytest.fixture(scope="module")
def exact(fill: Fill) -> Shelf:
    return fill("exact", {name: text for name, (text, _) in EXACT.items()})


@pytest.mark.parametrize(
    ("name", "question"),
    [(name, question) for name, (_, questions) in EXACT.items() for question in questions],
)
def test_another_writing_of_all_that_was_asked_is_no_weak_hit(exact: Shelf, name: str, question: str) -> None:
    hits = asked(exact, question, SearchOptions(top_k=1, least_score=0.5)).hits
    assert [(name_of(hit), hit.coverage > 0.5) for hit in hits] == [(name, True)]
