"""Of passages that hold all the words of a question, one that is about them comes before those that mention them."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf

# The question, what only mentions it, and what is about it.
ABOUT = {
    "seal": (
        "密封",
        "站内设备每季度检查一次，检查内容包括轴承、油位、压力表与密封，检查人签字后归档，归档三年，逾期由站长处理。",
        "# 密封更换\n\n更换密封前先泄压。密封须用原厂件，密封面不得划伤。\n",
    ),
    "insurance": (
        "保險",
        "新進人員報到時須繳交學歷證明、照片兩張、存摺影本、保險卡影本與健康聲明書，缺件者於一週內補齊，逾期不予核薪。",
        "# 團體保險須知\n\n保險自到職日生效。保險費由公司負擔，保險理賠向人事室申請。\n",
    ),
    "pump": (
        "pump",
        "The annual report lists trucks, boats, one pump, three cranes and a shed among the assets of the station, and "
        "says in which year each of them was bought and from whom.",
        "# Starting a pump\n\nThe pump is primed before the pump is started. A dry pump seizes.\n",
    ),
    "holiday": (
        "年假",
        "员工档案包括劳动合同、学历证明、考核表、培训记录、年假条和奖惩材料，由人事部统一保管，借阅须经主管批准。",
        "# 年假计算\n\n年假按工龄计算。年假须当年休完，年假不折现。\n",
    ),
    "firewall": (
        "firewall rules",
        "The handover list names the keys, the badges, the passwords, the firewall rules, the phone numbers and the "
        "spare lamps that are kept in the drawer below the window.",
        "# How firewall rules work\n\nEvery firewall has rules. Firewall rules are read from the top.\n",
    ),
    "redis": (
        "redis-cli",
        "机房工具清单：tcpdump、iperf、redis-cli、htop、strace、rsync、tmux、nginx，版本见发布页，升级前先在测试机验证。",
        "# 连接redis-cli\n\n用redis-cli连接主节点。redis-cli加参数可指定端口，redis-cli退出用quit。\n",
    ),
    "parking": (
        "停车收费",
        "物业公告栏内容包括电梯年检、消防演练、垃圾分类、停车收费、快递代收与水电费缴纳，每周一更新，由前台负责张贴。",
        "# 访客停车收费\n\n停车收费按小时计算。访客停车收费减半，停车收费由岗亭代收。\n",
    ),
    "vaccine": (
        "疫苗接種",
        "衛生所業務包括門診、健康檢查、疫苗接種、戒菸諮詢、長者關懷與藥品領取，服務時間為上午八點至下午五點。",
        "# 預約疫苗接種\n\n疫苗接種採預約制。疫苗接種後留觀三十分鐘，疫苗接種紀錄請妥善保存。\n",
    ),
    "citation": (
        "citations",
        "The style guide treats headings, lists, tables, citations, figures and footnotes, each in a chapter of its "
        "own, with examples from the house's own books.",
        "# Form of citations\n\nCitations stand in brackets. Citations of web pages give the day.\n",
    ),
    "kiln": (
        "kiln temperature",
        "On the wall hang the fire plan, the rota, the kiln temperature chart, the price list and a picture of the "
        "founder with her dog in front of the old gate.",
        "# Raising the kiln temperature\n\nThe kiln temperature rises slowly. Log the kiln temperature.\n",
    ),
    "backup": (
        "数据库备份",
        "运维日报的栏目有告警统计、磁盘用量、证书到期、数据库备份、变更计划和值班安排，每天九点前发到群里。",
        "# 每晚数据库备份\n\n数据库备份每晚进行。数据库备份保留三十天，数据库备份须定期演练恢复。\n",
    ),
}


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    # What only mentions it is added first, so that nothing but its words can put it last.
    files: dict[str, str | bytes] = {f"1 {name}.md": mention for name, (_, mention, _) in ABOUT.items()}
    return fill("best of many", files | {f"2 {name}.md": about for name, (_, _, about) in ABOUT.items()})


@pytest.mark.parametrize("name", ABOUT)
def test_what_is_about_it_comes_first(shelf: Shelf, name: str) -> None:
    found = shelf.names(ABOUT[name][0])
    assert found[0] == f"2 {name}.md"
    assert f"1 {name}.md" in found
