"""Files in legacy encodings are read as what they say, and found by it."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, name_of
from wenyuan.runtime.library import Library

RULE = "第三章 退货规则：自签收之日起七日内可申请无理由退货。\n"
PAGE = (
    '<html><head><meta charset="gbk"><title>退货</title></head><body><h1>退货规则</h1>'
    f"<p class='rule'>{RULE}</p><script>var days = 7;</script></body></html>"
)

FIVE = {
    "rule.txt": (RULE.encode("gb2312"), "gb18030"),
    "rule.html": (PAGE.encode("gbk"), "gb18030"),
    "log.txt": (b"ASCII header line.\n" * 300 + RULE.encode("gb18030"), "gb18030"),
    "rule-utf16.txt": (codecs.BOM_UTF16_LE + RULE.encode("utf-16-le"), "utf-16-le"),
    "cut.txt": (RULE.strip().encode()[:-2], "utf-8"),
}


@pytest.fixture(scope="module")
def five(fill: Fill) -> Shelf:
    return fill("encodings", {name: content for name, (content, _) in FIVE.items()})


@pytest.mark.parametrize("question", ["七日内 退货", "七日內 退貨", "自签收之日起", "无理由退货"])
@pytest.mark.parametrize("name", FIVE)
def test_each_file_is_found_by_its_words(five: Shelf, name: str, question: str) -> None:
    (hit, *_) = five.search(question, within=[name]).hits
    assert "自签收之日起七日内可申请无理由退货" in hit.passage.chunk.text
    assert hit.coverage == 1.0


@pytest.mark.parametrize("name", FIVE)
def test_the_encoding_is_kept_and_the_text_is_whole(five: Shelf, name: str) -> None:
    latest = five.library.documents.show(name).latest
    assert latest.encoding == FIVE[name][1]
    text = "\n".join(chunk.text for chunk in five.library.documents.chunks(name))
    faults = text.count("\ufffd")
    codes = [notice.code for notice in latest.notices]
    if name == "cut.txt":
        assert faults <= 1
        assert codes == ["cut-inside-character"]
    else:
        assert (faults, codes) == (0, [])
    assert "<" not in text
    assert "var days" not in text


def test_the_same_rule_in_five_encodings_is_shown_once_or_more(five: Shelf) -> None:
    found = five.names("七日内 退货")
    assert found
    assert set(found) <= set(FIVE)


# The text, the encoding it is written in, the encoding it is read by, and a question.
MORE = {
    "请假.txt": ("员工请假须提前三个工作日提交申请，由部门主管审批。\n", "gbk", "gb18030", "提前三个工作日 请假"),
    "加班.md": ("# 加班\n\n加班按小时折算调休，当月有效，逾期作废。\n", "gb18030", "gb18030", "加班调休"),
    "值班表.csv": ("姓名,班次,电话\n张伟,夜班,8812\n王芳,早班,8813\n", "gbk", "gb18030", "王芳 早班"),
    "配置.py": ("# -*- coding: gbk -*-\n# 水泵启动阈值，单位为兆帕\nTHRESHOLD = 3\n", "gbk", "gb18030", "水泵启动阈值"),
    "保險.txt": ("員工團體保險自到職日起生效，離職當日終止，眷屬可自費加保。\n", "big5", "big5hkscs", "团体保险 生效"),
    "住宿.html": (
        '<meta charset="big5"><p>住宿費每晚上限三千元，超過部分由員工自行負擔。</p>', "big5", "big5hkscs", "住宿费上限",
    ),
    "公告.txt": ("關於調整食堂營業時間的公告：自下週一起，午餐提前半小時供應。\n", "big5", "big5hkscs", "食堂营业时间"),
    "水位.txt": ("水文站观测日报：今日水位正常，流量平稳，无预警。\n", "utf-16-be", "utf-16-be", "水文站 流量"),
    "名单.txt": ("参会名单：李雷，韩梅梅，𠮷田先生，陳㐀。\n", "gb18030", "gb18030", "韩梅梅"),
    "说明.txt": ("设备说明：开机前请检查电源，运行时禁止打开盖板。\r\n", "utf-8-sig", "utf-8", "检查电源 盖板"),
    "price.txt": ("The café’s price is £40 – “service included”.\n", "cp1252", "cp1252", "cafe price service"),
    "resume.txt": ("Zoë’s résumé names three naïve façades in Zürich.\n", "cp1252", "cp1252", "resume facades Zurich"),
    "menu.html": (
        '<meta charset="iso-8859-1"><p>Crème brûlée and señor’s jalapeños</p>'.replace("’", "'"), "latin-1", "cp1252",
        "creme brulee jalapenos",
    ),
    "report.txt": ("The turbine’s bearing was replaced after 4,000 hours.\n", "utf-16-le", "utf-16-le",
                   "turbine bearing"),
    "table.csv": ("part,price\nflange,12 €\ngasket,3 €\n", "cp1252", "cp1252", "gasket"),
    "plain.txt": ("Nothing but plain letters stands in this ledger.\n", "ascii", "utf-8", "ledger letters"),
}  # fmt: skip
BYTE_ORDER_MARKS = {"utf-16-be": codecs.BOM_UTF16_BE, "utf-16-le": codecs.BOM_UTF16_LE}


@pytest.fixture(scope="module")
def more(fill: Fill) -> Shelf:
    files: dict[str, str | bytes] = {
        name: BYTE_ORDER_MARKS.get(encoding, b"") + text.encode(encoding)
        for name, (text, encoding, _, _) in MORE.items()
    }
    return fill("more encodings", files)


@pytest.mark.parametrize("name", MORE)
def test_every_encoding_is_read_and_found_first(more: Shelf, name: str) -> None:
    text, _, read_as, question = MORE[name]
    hits = more.search(question).hits
    assert name_of(hits[0]) == name
    assert "\ufffd" not in hits[0].passage.chunk.text
    latest = more.library.documents.show(name).latest
    assert latest.encoding == read_as
    assert latest.notices == ()
    if not name.endswith((".html", ".csv")):
        assert "".join(chunk.text for chunk in more.library.documents.chunks(name)).strip() in text.replace("\r", "")


# Where a file is cut or damaged, the rest of it is found all the same.
DAMAGED = {
    "cut utf-8.txt": ("泵站交接班制度：交班前须核对油位与水温，并签字确认。".encode()[:-1], "核对油位",
                      "cut-inside-character"),
    "cut gbk.txt": (
        "锅炉房巡检制度：每两小时抄表一次，发现异常立即报告班长。".encode("gbk")[:-1], "两小时抄表",
        "cut-inside-character",
    ),
    "cut utf-16.txt": (
        codecs.BOM_UTF16_LE + "變電所門禁：進出須登記，夜間由保全陪同。".encode("utf-16-le")[:-1], "变电所门禁",
        "cut-inside-character",
    ),
    "bad byte.txt": (
        "仓库盘点制度：每季度末盘点一次，".encode() + b"\xff" + "差异须在三日内说明。".encode(), "每季度末盘点",
        "undecodable-bytes",
    ),
    "twice bad.txt": (
        "班车路线：".encode() + b"\xc3" + "经过体育馆，".encode() + b"\xc3" + "终点为火车站。".encode(), "终点为火车站",
        "undecodable-bytes",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def damaged(fill: Fill) -> Shelf:
    return fill("damaged", {name: content for name, (content, _, _) in DAMAGED.items()})


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_found_and_the_damage_is_named(damaged: Shelf, name: str) -> None:
    _, question, notice = DAMAGED[name]
    assert damaged.names(question)[0] == name
    latest = damaged.library.documents.show(name).latest
    assert [one.code for one in latest.notices] == [notice]
    text = "".join(chunk.text for chunk in damaged.library.documents.chunks(name))
    assert text.count("\ufffd") <= (2 if name == "twice bad.txt" else 1)


FERRY = "The ferry leaves the northern pier at nine and returns at five. " * 40
STRAY = {
    "one quotation mark": FERRY.encode() + "The captain’s log. ".encode() + b"\xff The lantern burns.",
    "half a dash": FERRY.encode() + "“Yes,” said the captain. ".encode() + b"\xe2\x80 The lantern burns.",
    "one accent": "Zoë lights it. ".encode() + FERRY.encode() + b"\x80 The lantern burns.",
    "a Chinese word": FERRY.encode() + "船长日志 ".encode() + b"\xff\xfe The lantern burns.",
}


@pytest.mark.parametrize("kind", STRAY)
def test_a_stray_byte_in_an_english_text_does_not_lose_the_file(
    own_library: Library, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(STRAY[kind])
    own_library.add(path)
    assert own_library.documents.show("log.txt").latest.state == "ready"
    assert "lantern burns" in own_library.search("lantern").hits[0].passage.chunk.text
