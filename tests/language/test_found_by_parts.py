"""What is written is found: by a part of a phrase, by one or two characters, in either script."""

from __future__ import annotations

import pytest

from wenyuan.language.aliases import aliases
from wenyuan.language.words import index_tokens, query_tokens


def share(question: str, text: str) -> float:
    """How many of the question's tokens the text is indexed under."""
    asked = {*query_tokens(question), *aliases(question, asked=True).tokens}
    return len(asked & {*index_tokens(text), *aliases(text).tokens}) / len(asked)


PHRASES = [
    # a phrase without spaces, parts of it, a neighbour that shares some of its characters
    ("中文合約轉換體驗課問題", ["中文合約", "體驗課", "轉換體驗", "转换体验", "合约转换"], "中文體制與合同問題"),
    ("数据中心机房巡检记录表", ["机房巡检", "數據中心", "記錄表", "心机房"], "中心医院数学记事"),
    ("跨境电商进口税收优惠政策", ["進口稅收", "优惠政策", "电商", "境電商進口"], "商店进货口头优待"),
    ("固定資產折舊年限調整通知", ["折旧年限", "固定資產", "調整通知", "产折旧"], "定期通报资金年度计划"),
    ("新能源汽车动力电池回收管理", ["动力电池", "電池回收", "汽车动力", "新能源"], "能力与电力汽船管道"),
    ("医疗器械不良事件监测报告", ["不良事件", "監測報告", "械不良", "醫療器械"], "器官检测告知书"),
    ("員工宿舍夜間門禁管理辦法", ["门禁管理", "夜间门禁", "宿舍", "員工宿舍夜"], "工人夜校办公门"),
    ("软件著作权登记申请指南", ["著作权", "登記申請", "软件著作", "权登记"], "硬件申报指标"),
    ("供应商准入资质审核流程", ["准入资质", "資質審核", "应商准", "審核流程"], "供水商场资金审计"),
    ("应急预案演练评估总结报告", ["预案演练", "評估總結", "應急預案", "练评估总"], "应付报急件总数"),
    ("分布式事务最终一致性设计", ["最終一致性", "分布式事务", "致性设", "一致性"], "分行事先一次设立"),
    ("Kubernetes集群滾動升級失敗排查", ["集群滚动", "Kubernetes", "kubernetes集群", "升級失敗"], "集体升旗失误"),
    ("redis哨兵模式故障转移", ["哨兵模式", "redis哨兵", "REDIS", "故障轉移"], "哨所兵站模型移动"),
    ("安装redis-cli后升级3台服务器", ["redis-cli", "升级3台", "redis", "服務器"], "安全装置服装"),
    ("HTTPServer2的MessageHistory参数", ["messagehistory", "httpserver2", "server", "History参数"], "历史参考"),
    ("See getUserById_v2 in user-service", ["user service", "getuserbyid", "userservice"], "the used serving"),
    (
        "The pre-authentication token expired",
        ["authentication", "pre authentication", "tokens expire"],
        "authors expect",
    ),
    ("Call os.path.join before pathlib", ["path.join", "join", "os.path.join()"], "pathology journal"),
]


@pytest.mark.parametrize(("phrase", "parts", "neighbour"), PHRASES)
def test_every_part_of_a_phrase_finds_it_whole_and_its_neighbour_less(
    phrase: str, parts: list[str], neighbour: str
) -> None:
    for part in parts:
        assert share(part, phrase) == 1, part
        assert share(part, neighbour) < 1, part


SENTENCES = [
    ("本公司每年为员工安排健康体检一次，费用由公司承担。", ["健康", "检", "體檢", "费", "承擔"]),
    ("會議室須提前一天預訂。", ["会议", "订", "预订", "提前", "須"]),
    ("出差报销请在月底前提交。", ["報銷", "差", "出差", "底"]),
    ("新員工入職當天領取工牌。", ["入职", "牌", "領取", "职"]),
    ("年假按工齡計算，最多十五天。", ["工龄", "龄", "年假", "計"]),
    ("仓库温度不得高于25℃。", ["倉庫", "仓", "温度", "25"]),
    ("每季度更換一次濾芯。", ["滤芯", "芯", "更换", "濾"]),
    ("客戶投訴須於兩日內回覆。", ["投诉", "诉", "回复", "客户"]),
    ("服务器位于上海机房B座。", ["機房", "沪上海", "座", "B"]),
    ("合同到期前三十日提醒续签。", ["續簽", "签", "合同", "提醒"]),
    ("发票抬头必须与合同一致。", ["發票", "抬頭", "票"]),
    ("消防栓每月检查一次。", ["消防", "栓", "檢查"]),
    ("The valve V is closed.", ["v", "valves", "closing"]),
    ("R and C differ from C++ and C#.", ["R", "c", "C++", "c#"]),
    ("PH value: 7", ["ph", "7", "values"]),
]
OTHERS = "停车场收费标准另行公布 Parking is free on Sundays"


@pytest.mark.parametrize(("sentence", "words"), SENTENCES)
def test_words_of_one_and_two_characters_are_found(sentence: str, words: list[str]) -> None:
    for word in words:
        assert share(word, sentence) > 0, word
        assert share(word, OTHERS) == 0 or word in ("费",), word


GROUPS = [
    # writings of one thing; no two groups may meet in a canonical token
    ["PPR-9087", "ppr9087", "PPR 9087", "PPR_9087", "ＰＰＲ－９０８７"],
    ["PPR-1044", "ppr1044"],
    ["PPR-580", "PPR 580"],
    ["2026.4.10", "v2026.4.10", "版本2026.4.10", "release 2026.4.10"],
    ["2026.4.1", "V2026.4.1"],
    ["2026.10.4", "v2026.10.4"],
    ["1.0.21", "v1.0.21", "1_0_21", "1-0-21"],
    ["1.02.1", "v1.02.1", "version 1.02.1"],
    ["0-1-0", "0_1_0", "0.1.0", "v0.1.0", "版本0.1.0"],
    ["0.10"],
    ["V1.2.3-rc.1", "1.2.3rc1", "v1.2.3-RC1"],
    ["1.2.3b2", "1.2.3-beta.2", "v1.2.3_b2"],
    ["CVE-2023-0464", "cve_2023_0464", "CVE 2023-0464"],
    ["CVE-2023-4640", "cve-2023-4640"],
    ["#22651", "issue 22651", "工单22651"],
    ["#2265", "Issue #2265"],
    ["MessageHistory", "message_history", "message-history"],
    ["HTTPServer2", "http_server_2", "http-server-2"],
]


def canonical(text: str, *, asked: bool) -> set[str]:
    """Canonical tokens of versions, codes and names, as narrow as the text has them."""
    tokens = set(aliases(text, asked=asked).tokens)
    marked = {token for token in tokens if token.startswith(("§v", "§c"))}
    pre_releases = {token for token in marked if token.startswith("§v") and not token[2:].replace("．", "").isdigit()}
    names = {token for token in tokens if token.isalnum() and len(token) > 8}
    return pre_releases or names or marked


@pytest.mark.parametrize("group", GROUPS)
def test_every_writing_of_one_thing_meets_every_other(group: list[str]) -> None:
    for question in group:
        for text in group:
            assert canonical(question, asked=True) & canonical(text, asked=False), (question, text)


def test_no_two_things_meet() -> None:
    for position, group in enumerate(GROUPS):
        for other in GROUPS[:position] + GROUPS[position + 1 :]:
            for question in group:
                for text in other:
                    assert not canonical(question, asked=True) & canonical(text, asked=False), (question, text)
