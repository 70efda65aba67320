"""A code or a version finds its own line among its nearest neighbours, whichever way either is written."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, assert_first, name_of

LINES = {
    "p1": "PPR-1044 pump seal",
    "p2": "PPR-1777 pump seal",
    "p3": "PPR-580 pump seal",
    "p4": "PPR-9087 pump seal",
    "r1": "release 2026.4.10 notes",
    "r2": "release 2026.4.1 notes",
    "r3": "release 2026.10.4 notes",
    "h1": "v1.0.21 hotfix",
    "h2": "v1.02.1 hotfix",
    "h3": "v1.0.2 hotfix",
    "c1": "CVE-2023-0464 is fixed",
    "c2": "CVE-2023-4640 is fixed",
    "c3": "CVE-2023-0466 is fixed",
    "c4": "CVE-2032-0464 is fixed",
    "k1": "KB5034441 补丁安装失败",
    "k2": "KB5034440 补丁安装失败",
    "k3": "KB5034414 补丁安装失败",
    "e1": "错误码 E1001：网络超时",
    "e2": "错误码 E10011：磁盘已满",
    "e3": "错误码 E1010：权限不足",
    "s1": "GB/T 7714-2015 参考文献著录规则",
    "s2": "GB/T 7713-2015 学位论文编写规则",
    "s3": "GB/T 7714-2005 文后参考文献著录规则",
    "i1": "ISO 27001 审核清单",
    "i2": "ISO 27002 审核清单",
    "i3": "ISO 27017 审核清单",
    "o1": "訂單 SO20260001 已出貨",
    "o2": "訂單 SO20260010 已出貨",
    "o3": "訂單 SO20260100 已出貨",
    "m1": "型號 WH-1000XM4 耳機保固",
    "m2": "型號 WH-1000XM5 耳機保固",
    "m3": "型號 WF-1000XM4 耳機保固",
    "l1": "Llama-3-8B 显存占用",
    "l2": "Llama-3-70B 显存占用",
    "l3": "Llama-2-7B 显存占用",
    "n1": "内核 5.15.0-91 启动失败",
    "n2": "内核 5.15.0-19 启动失败",
    "n3": "内核 5.15.9 启动失败",
    "t1": "工单 #783 泵房漏水",
    "t2": "工单 #738 泵房漏水",
    "t3": "工单 #7830 泵房漏水",
    "d1": "国办发〔2026〕7号 通知",
    "d2": "国办发〔2026〕17号 通知",
    "d3": "国办发〔2025〕7号 通知",
    "b1": "app 3.0.0-rc.1 changelog",
    "b2": "app 3.0.0-beta.1 changelog",
    "b3": "app 3.0.0-rc.11 changelog",
}  # fmt: skip

ASKED = {
    "p4": ("PPR-9087", "ppr9087", "ppr-9087", "PPR 9087", "PPR_9087", "ppr_9087", "ppr 9087", "PPR9087", "Ppr-9087",
           "ＰＰＲ－９０８７", "PPR\u20139087", "PPR\u20119087", "PPR-9087的密封", "泵 PPR9087 的密封件",
           "PPR-9087 pump seal",
           "what is the seal of PPR 9087?", "《PPR-9087》"),
    "p3": ("PPR-580", "ppr580", "ppr 580", "PPR_580 密封"),
    "r1": ("2026.4.10", "v2026.4.10", "V2026.4.10", "release 2026.4.10", "version 2026.4.10", "版本2026.4.10",
           "2026.4.10 发布说明", "２０２６.４.１０", "what changed in 2026.4.10?"),
    "r2": ("2026.4.1", "v2026.4.1", "2026.4.1 notes", "版本 2026.4.1", "更新到2026.4.1"),
    "r3": ("2026.10.4", "v2026.10.4", "2026.10.4 有什么变化"),
    "h1": ("1.0.21", "v1.0.21", "1_0_21", "1-0-21", "V1.0.21 hotfix", "升级到1.0.21", "version 1.0.21",
           "版本號 1.0.21"),
    "h2": ("1.02.1", "v1.02.1", "1_02_1"),
    "h3": ("1.0.2", "v1.0.2", "1-0-2", "1.0.2 hotfix"),
    "c1": ("CVE-2023-0464", "cve-2023-0464", "CVE 2023-0464", "cve_2023_0464", "CVE-2023-0464 修复了吗"),
    "c2": ("CVE-2023-4640", "cve_2023_4640"),
    "c4": ("CVE-2032-0464",),
    "k1": ("KB5034441", "kb5034441", "KB 5034441", "KB-5034441", "补丁KB5034441装不上", "補丁 kb5034441"),
    "e1": ("E1001", "e1001", "E-1001", "错误E1001", "錯誤碼 E1001", "error E1001"),
    "e2": ("E10011", "e10011 是什么错误"),
    "s1": ("GB/T 7714-2015", "gb/t 7714-2015", "GBT 7714-2015", "GB/T7714-2015", "参考文献 GB/T 7714-2015"),
    "s2": ("GB/T 7713-2015", "GB/T7713-2015"),
    "s3": ("GB/T 7714-2005", "GBT7714-2005"),
    "i1": ("ISO 27001", "ISO27001", "iso-27001", "iso 27001 审核"),
    "i2": ("ISO 27002", "iso27002"),
    "o1": ("SO20260001", "so20260001", "SO-20260001", "订单SO20260001", "訂單 SO 20260001"),
    "o2": ("SO20260010", "SO-20260010"),
    "m1": ("WH-1000XM4", "wh1000xm4", "WH 1000XM4", "WH_1000XM4", "耳机WH-1000XM4保修"),
    "m3": ("WF-1000XM4", "wf1000xm4"),
    "l1": ("Llama-3-8B", "llama 3 8B", "llama-3-8b 显存", "Llama3-8B"),
    "l2": ("Llama-3-70B", "llama3-70b"),
    "n1": ("5.15.0-91", "内核5.15.0-91", "kernel 5.15.0-91"),
    "n2": ("5.15.0-19", "內核 5.15.0-19"),
    "t1": ("#783", "issue 783", "Issue #783", "工单783", "工單 #783", "ticket 783"),
    "t2": ("#738", "bug 738"),
    "d1": ("国办发〔2026〕7号", "國辦發〔2026〕7號", "国办发[2026]7号", "国办发（2026）7号"),
    "d2": ("国办发〔2026〕17号",),
    "d3": ("国办发〔2025〕7号",),
    "b1": ("3.0.0-rc.1", "3.0.0rc1", "v3.0.0-rc1", "3.0.0_rc.1"),
    "b2": ("3.0.0-beta.1", "3.0.0b1"),
    "b3": ("3.0.0-rc.11", "3.0.0rc11"),
}  # fmt: skip


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill("codes", {f"{name}.txt": line for name, line in LINES.items()})


@pytest.mark.parametrize(("name", "question"), [(name, asked) for name, many in ASKED.items() for asked in many])
def test_a_code_or_version_finds_its_own_line_first(shelf: Shelf, name: str, question: str) -> None:
    assert_first(shelf, question, [f"{name}.txt"])


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("2026.4.10", "r1", "r2"),
        ("2026.4.1", "r2", "r1"),
        ("release notes 2026.4.10", "r1", "r2"),
        ("PPR-9087", "p4", "p1"),
        ("SO20260001", "o1", "o2"),
        ("#783", "t1", "t3"),
        ("v1.0.2", "h3", "h1"),
    ],
)
def test_a_neighbour_never_passes_for_what_was_asked(shelf: Shelf, question: str, right: str, wrong: str) -> None:
    exactness = {name_of(hit): hit.exactness for hit in shelf.search(question).hits}
    assert exactness[f"{right}.txt"] in ("about", "mentions")
    assert exactness.get(f"{wrong}.txt", "none") == "none"


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("PPR-9999", "PPR-9999"),
        ("ppr 1045 pump seal", "ppr 1045"),
        ("2026.4.11", "2026.4.11"),
        ("v1.0.22 hotfix", "v1.0.22"),
        ("CVE-2023-0465", "CVE-2023-0465"),
        ("KB5034442 补丁", "KB5034442"),
        ("错误码 E1002", "E1002"),
        ("訂單 SO20260002", "SO20260002"),
        ("工单 #784", "#784"),
        ("WH-1000XM6 耳机", "WH-1000XM6"),
    ],
)  # fmt: skip
def test_what_stands_nowhere_is_said_to_be_missing(shelf: Shelf, question: str, missing: str) -> None:
    result = shelf.search(question)
    assert {hit.exactness for hit in result.hits} <= {"none"}
    assert result.grounding.missing == (missing,)
    assert result.grounding.verdict == "unlikely"


BOILERPLATE = (
    "Before work begins the pump is switched off, locked and tagged, the casing is drained, and the pressure gauge is "
    "read by two people. The seal is drawn with the puller, the shaft is cleaned, and the new seal is set dry. After "
    "an hour at idle the gland is checked for drops, and the result goes into the maintenance log of the station."
)
REGULATION = (
    "作业前切断电源并挂牌上锁，排空泵壳，由两人核对压力表读数。用拉拔器取出旧密封，清洁轴颈，装入新密封时不得涂油。"
    "空载运行一小时后检查填料压盖有无滴漏，结果记入泵站检修台账。"
)


@pytest.fixture(scope="module")
def manuals(fill: Fill) -> Shelf:
    files = {f"{code}.md": f"Manual {code}. {BOILERPLATE}" for code in ("PPR-1044", "PPR-9087", "PPR-580")}
    files |= {f"规程{code}.md": f"规程 {code}。{REGULATION}" for code in ("SB-12", "SB-21", "SB-112")}
    files |= {
        f"{release}.md": f"Release {release}. {BOILERPLATE} The valve follows." for release in ("2.4.1", "2.4.10")
    }
    return fill("manuals", files)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("PPR-9087", "PPR-9087.md"),
        ("ppr 1044 seal", "PPR-1044.md"),
        ("PPR580 pump", "PPR-580.md"),
        ("how is the seal of PPR-9087 drawn?", "PPR-9087.md"),
        ("SB-21 规程", "规程SB-21.md"),
        ("SB12 检修", "规程SB-12.md"),
        ("sb_112 的密封怎么装", "规程SB-112.md"),
        ("2.4.1", "2.4.1.md"),
        ("release v2.4.10", "2.4.10.md"),
        ("2_4_1 里阀门怎么办", "2.4.1.md"),
    ],
)
def test_of_texts_alike_but_for_a_code_the_right_one_comes_first(manuals: Shelf, question: str, expected: str) -> None:
    assert_first(manuals, question, [expected])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("PPR-1044 and PPR-9087", ["PPR-1044.md", "PPR-9087.md"]),
        ("difference between PPR 580 and PPR 9087", ["PPR-580.md", "PPR-9087.md"]),
        ("SB-12 和 SB-21 的规程", ["规程SB-12.md", "规程SB-21.md"]),
        ("2.4.1 与 2.4.10 有何不同", ["2.4.1.md", "2.4.10.md"]),
    ],
)
def test_two_that_were_asked_for_are_both_shown_though_alike(
    manuals: Shelf, question: str, expected: list[str]
) -> None:
    assert_first(manuals, question, expected)


@pytest.fixture(scope="module")
def requirements(fill: Fill) -> Shelf:
    texts = {
        "needs.txt": "Bumped the requirement: glib 2.30, there are several important bugfixes between 2.28 and 2.30.",
        "needs-zh.txt": "编译要求 gobject 2.34 以上，另需 pam。",
        "other.txt": "Release 2.30.1 and 12.30 have other bugs; 版本说明见官网。",
    }
    return fill("requirements", texts)


@pytest.mark.parametrize(
    ("question", "holder"),
    [
        ("2.30 版本", "needs.txt"),
        ("版本 2.30", "needs.txt"),
        ("version 2.30", "needs.txt"),
        ("v2.30", "needs.txt"),
        ("哪里要求 2.28 版本", "needs.txt"),
        ("version 2.34", "needs-zh.txt"),
        ("gobject 版本 2.34", "needs-zh.txt"),
    ],
)
def test_a_version_that_its_text_does_not_call_one_is_not_said_to_be_missing(
    requirements: Shelf, question: str, holder: str
) -> None:
    found = requirements.search(question)
    exactness = {name_of(hit): hit.exactness for hit in found.hits}
    assert found.grounding.missing == ()
    assert exactness[holder] == "mentions"
    assert {exactness[name] for name in exactness if name != holder} <= {"none"}
