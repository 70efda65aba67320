"""A part of a phrase that is written without spaces finds the phrase, in Traditional and Simplified Chinese alike."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, assert_first
from wenyuan.language.folding import fold

FILES = {
    "a.md": "中文合約轉換體驗課問題",
    "b.md": "英文合約範本",
    "c.md": "體驗課報名表",
    "d.md": "劳动合同补充协议模板",
    "e.md": "采购合同审批流程说明",
    "f.md": "数据库连接池耗尽排查手册",
    "g.md": "数据中台建设方案评审",
    "h.md": "升级redis-cli后3台节点连接超时",
    "i.md": "使用Kubernetes部署微服务的注意事项",
    "j.md": "發票開立與作廢流程",
    "k.md": "發票遺失補救辦法",
    "l.md": "新冠疫苗接种预约指南",
    "m.md": "儿童疫苗接种时间表",
    "n.md": "用Python3.11重写ETL脚本",
    "o.md": "iPhone15Pro屏幕更换价格表",
    "p.md": "长江三峡水库蓄水位调度规程",
    "q.md": "黃河壺口瀑布旅遊攻略",
    "r.md": "员工离职交接清单",
    "s.md": "离岸人民币汇率波动分析",
    "t.md": "電腦鍵盤滑鼠採購單",
    "u.md": "ＡＢＣ公司２０２５年度审计报告",
    "v.md": "東京タワーの入場券を予約する",
    "w.md": "国家税务总局公告解读",
    "x.md": "税务登记证注销申请",
}

ASKED = {
    "中文合約": ["a.md"],
    "體驗課": ["a.md", "c.md"],
    "轉換體驗": ["a.md"],
    "中文合约": ["a.md"],
    "体验课": ["a.md", "c.md"],
    "转换体验": ["a.md"],
    "合約範本": ["b.md"],
    "合约范本": ["b.md"],
    "報名": ["c.md"],
    "报名表": ["c.md"],
    "勞動合同": ["d.md"],
    "补充协议": ["d.md"],
    "審批流程": ["e.md"],
    "连接池": ["f.md"],
    "連接池耗盡": ["f.md"],
    "數據中台": ["g.md"],
    "升级redis": ["h.md"],
    "升級redis-cli後3台": ["h.md"],
    "redis-cli": ["h.md"],
    "cli": ["h.md"],
    "REDIS": ["h.md"],
    "3台节点": ["h.md"],
    "节点连接超时": ["h.md"],
    "kubernetes": ["i.md"],
    "Kubernetes部署": ["i.md"],
    "部署微服务": ["i.md"],
    "部署微服務": ["i.md"],
    "发票": ["j.md", "k.md"],
    "发票开立": ["j.md"],
    "遗失补救": ["k.md"],
    "疫苗接种": ["l.md", "m.md"],
    "疫苗接種預約": ["l.md"],
    "Python": ["n.md"],
    "python3.11重写": ["n.md"],
    "ETL": ["n.md"],
    "etl腳本": ["n.md"],
    "iphone15": ["o.md"],
    "屏幕更换": ["o.md"],
    "三峡水库": ["p.md"],
    "蓄水位": ["p.md"],
    "三峽水庫蓄水位": ["p.md"],
    "壶口瀑布": ["q.md"],
    "旅游攻略": ["q.md"],
    "离职交接": ["r.md"],
    "離職": ["r.md"],
    "人民币汇率": ["s.md"],
    "離岸人民幣": ["s.md"],
    "键盘鼠标采购": ["t.md"],
    "电脑键盘": ["t.md"],
    "ABC公司": ["u.md"],
    "abc": ["u.md"],
    "年度審計": ["u.md"],
    "東京タワー": ["v.md"],
    "入場券": ["v.md"],
    "税务总局": ["w.md"],
    "稅務登記": ["x.md"],
    "税务": ["w.md", "x.md"],
}

SENTENCES = {
    "請問體驗課怎麼報名？": "c.md",
    "我想知道離職要交接什麼": "r.md",
    "发票丢了有什么补救办法": "k.md",
    "redis-cli升级以后有3台节点超时，怎么回事？": "h.md",
    "How do we deploy 微服务 with Kubernetes?": "i.md",
    "iPhone15Pro 的屏幕更换要多少钱": "o.md",
    "which Python version is the ETL 脚本 written in": "n.md",
    "人民币汇率为什么波动": "s.md",
    "ABC 公司的審計報告": "u.md",
    "数据库的连接池耗尽了怎么排查": "f.md",
    "儿童的疫苗什么时候接种": "m.md",
    "水库调度规程在哪里": "p.md",
}


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill("unspaced", FILES)


@pytest.mark.parametrize(("question", "expected"), ASKED.items())
def test_a_part_of_a_phrase_finds_it_by_words_alone(shelf: Shelf, question: str, expected: list[str]) -> None:
    assert_first(shelf, question, expected, arms=("keyword",))


@pytest.mark.parametrize("question", ["中文合約", "體驗課", "轉換體驗", "中文合约", "体验课", "转换体验"])
def test_the_trace_counts_what_the_words_found(shelf: Shelf, question: str) -> None:
    result = shelf.search(question, arms=("keyword",))
    counters = shelf.library.trace(result.trace_id)["counters"]
    assert counters["keyword_hits_raw"] >= 1
    assert counters["structured_hits"] == counters["vector_hits"] == 0
    assert {mode for hit in result.hits for mode in hit.hit_modes} == {"keyword"}


@pytest.mark.parametrize(("question", "expected"), SENTENCES.items())
def test_a_whole_question_finds_the_phrase_it_is_about(shelf: Shelf, question: str, expected: str) -> None:
    assert_first(shelf, question, [expected])


def windows(text: str, length: int) -> Iterator[str]:
    for run in re.findall(r"[\u4e00-\u9fff]+", text):
        yield from (run[start : start + length] for start in range(len(run) - length + 1))


@pytest.mark.parametrize("length", [2, 5])
def test_parts_of_every_length_find_what_holds_it_before_what_does_not(shelf: Shelf, length: int) -> None:
    asked = sorted({window for text in FILES.values() for window in windows(text, length)})
    assert len(asked) > 60
    wrong = {}
    for part in asked[::3]:
        expected = sorted(name for name, text in FILES.items() if fold(part) in fold(text))
        found = shelf.names(part, top_k=len(expected), arms=("keyword",))
        if sorted(found) != expected:
            wrong[part] = (expected, found)
    assert wrong == {}
