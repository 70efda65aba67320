"""A question that names a file finds that file before those that only mention it."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, assert_first, name_of

MENTION = "见 {0}。{0} 的内容以 {0} 为准。See {0}, and once more {0}.\n"

NAMED = {
    "release-notes-0.1.0.md": "First public release: search in two languages.",
    "release-notes-0.1.1.md": "Search is faster.",
    "release-notes-0.10.0.md": "Answers carry citations.",
    "docker-compose.yml": "services:\n  web:\n    image: nginx\n",
    "requirements.txt": "numpy==1.0\n",
    "deploy.sh": "echo start\n",
    "kustomization.yaml": "resources:\n  - service.yaml\n",
    "README.md": "# Station\n\nHow the station works.\n",
    "pump_station_manual.txt": "Turn the wheel slowly.",
    "MeetingNotes.md": "We agreed to paint the gate.",
    "员工手册.md": "迟到三次记旷工半天。",
    "报销制度（2025版）.md": "发票须在三十日内提交。",
    "體檢通知.txt": "週三上午空腹到場。",
    "泵房 巡检记录.md": "一切正常。",
    "2026-03-08 会议纪要.md": "决定更换供应商。",
    "季度报告_Q1.md": "收入增长一成。",
    "index.html": "<title>首页</title><p>欢迎参观。</p>",
    "水位数据.csv": "站,水位\n一站,3.2\n",
    "config.prod.toml": "[server]\nport = 80\n",
    "PPR-9087 数据表.md": "流量每小时四十方。",
}

ASKED = {
    "release-notes-0.1.0.md": ("release-notes-0.1.0.md", "release notes 0.1.0", "打开 0.1.0 的发布说明",
                               "open release_notes_0.1.0",
                               "v0.1.0 release notes", "release-notes-0.1.0.md 里说了什么"),
    "release-notes-0.10.0.md": ("release-notes-0.10.0.md", "0.10.0 的发布说明"),
    "docker-compose.yml": ("docker-compose.yml", "docker-compose", "docker compose 文件",
                           "what is in docker-compose.yml?",
                           "docker-compose.yml里有哪些服务"),
    "requirements.txt": ("requirements.txt", "Requirements.TXT", "requirements.txt 里有什么",
                         "show me requirements.txt"),
    "deploy.sh": ("deploy.sh", "deploy.sh做什么", "what does deploy.sh do"),
    "kustomization.yaml": ("kustomization.yaml", "打开kustomization.yaml", "KUSTOMIZATION.YAML"),
    "README.md": ("README.md", "readme.md", "readme", "打开 README"),
    "pump_station_manual.txt": ("pump_station_manual.txt", "pump station manual", "pump-station-manual",
                                "PumpStationManual",
                                "open the pump station manual"),
    "MeetingNotes.md": ("MeetingNotes.md", "meeting notes", "meeting_notes", "MeetingNotes 里决定了什么"),
    "员工手册.md": ("员工手册.md", "員工手冊", "《员工手册》", "打开员工手册", "员工手册里说了什么", "員工手冊.md"),
    "报销制度（2025版）.md": ("报销制度（2025版）", "报销制度(2025版).md", "報銷制度", "《报销制度》2025版"),
    "體檢通知.txt": ("體檢通知.txt", "体检通知", "体检通知.txt 里写了什么", "「体检通知」"),
    "泵房 巡检记录.md": ("泵房 巡检记录.md", "泵房巡检记录", "泵房的巡檢記錄", "巡检记录"),
    "2026-03-08 会议纪要.md": ("2026-03-08 会议纪要.md", "会议纪要 2026年3月8日", "三月八日的會議紀要",
                           "minutes of March 8, 2026"),
    "季度报告_Q1.md": ("季度报告_Q1.md", "季度报告 Q1", "Q1 季度报告", "Q1季度報告"),
    "index.html": ("index.html", "打开 index.html"),
    "水位数据.csv": ("水位数据.csv", "水位數據", "水位数据表"),
    "config.prod.toml": ("config.prod.toml", "config prod", "config.prod.toml 的端口"),
    "PPR-9087 数据表.md": ("PPR-9087 数据表", "ppr9087的數據表", "PPR 9087 datasheet 数据表", "PPR-9087"),
}  # fmt: skip


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    mentions = {f"links {number}.txt": MENTION.format(name) for number, name in enumerate(NAMED)}
    return fill("names", mentions | NAMED)


@pytest.mark.parametrize(("name", "question"), [(name, asked) for name, many in ASKED.items() for asked in many])
def test_a_named_file_comes_first(shelf: Shelf, name: str, question: str) -> None:
    assert_first(shelf, question, [name])


@pytest.mark.parametrize("name", NAMED)
def test_a_file_is_about_its_own_name(shelf: Shelf, name: str) -> None:
    first = shelf.search(name).hits[0]
    assert (name_of(first), first.exactness) == (name, "about")
    quoted = shelf.search(f"《{name.rpartition('.')[0]}》").hits[0]
    assert (name_of(quoted), quoted.exactness) == (name, "about")


TITLED = {
    "a1.md": "# 水泵检修规程\n\n先断电，再泄压。\n",
    "a2.md": "# 水泵检修记录\n\n三号机组完成。\n",
    "b1.md": "# Boiler Safety Handbook\n\nNever open the hatch under pressure.\n",
    "b2.md": "# Boiler Repair Handbook\n\nDrain before you weld.\n",
    "c1.md": "---\ntitle: 新员工入职指南\n---\n\n第一天领取工牌。\n",
    "c2.md": "---\ntitle: 新员工培训指南\n---\n\n第二天参观车间。\n",
    "d1.html": "<title>Visitor Rules</title><p>Wear a badge.</p>",
    "d2.html": "<title>Visitor Parking</title><p>Use the north gate.</p>",
    "e1.md": "# 採購管理辦法\n\n十萬元以上須招標。\n",
    "e2.md": "# 採購合約範本\n\n甲方應於收貨後付款。\n",
    "links.txt": "水泵检修规程、水泵检修记录、Boiler Safety Handbook、新员工入职指南、Visitor Rules、採購管理辦法。",
}

TITLES_ASKED = {
    "水泵检修规程": "a1.md",
    "《水泵检修规程》": "a1.md",
    "水泵檢修規程說了什麼": "a1.md",
    "水泵检修记录": "a2.md",
    "Boiler Safety Handbook": "b1.md",
    "what does the boiler safety handbook say": "b1.md",
    "“Boiler Repair Handbook”": "b2.md",
    "新员工入职指南": "c1.md",
    "打开《新员工入职指南》": "c1.md",
    "新員工培訓指南": "c2.md",
    "visitor rules": "d1.html",
    "Visitor Parking": "d2.html",
    "采购管理办法": "e1.md",
    "《采购合约范本》": "e2.md",
}


@pytest.fixture(scope="module")
def titled(fill: Fill) -> Shelf:
    return fill("titles", TITLED)


@pytest.mark.parametrize(("question", "expected"), TITLES_ASKED.items())
def test_a_title_finds_its_document_before_those_that_mention_it(titled: Shelf, question: str, expected: str) -> None:
    assert_first(titled, question, [expected])
