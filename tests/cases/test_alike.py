"""Passages alike but for a number, a date, a code or a name say different things, and both are shown."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf

# A text with a gap, what fills it in either document, and a question both answer.
PAIRS = {
    "amount": ("出差住宿每晚上限{}元，超出部分由员工自行承担，票据须在三十日内提交。", ("300", "450"), "出差住宿上限"),
    "amount hant": ("住宿費每晚上限新臺幣{}元，超過部分由員工自行負擔，單據須於三十日內送交。", ("3000", "4500"),
                    "住宿費上限"),
    "amount en": (
        "Hotels are paid for up to {} euros a night; what goes beyond is borne by the traveller, and the bills are "
        "handed in within thirty days.", ("90", "140"), "hotel limit a night"),
    "numeral": ("试用期为{}个月，期满前一周由主管填写考核表，合格者转正并补发差额工资。", ("三", "六"), "试用期多长"),
    "date": ("本办法自{}起施行，原办法同时废止，由人力资源部负责解释，未尽事宜另行通知。", ("2024年3月1日",
                                                        "2025年7月1日"), "办法自何时施行"),
    "date en": (
        "This notice takes effect on {}, the former notice ends on the same day, and the personnel office answers "
        "any question about either of them.", ("1 March 2024", "1 July 2025"), "when does the notice take effect"),
    "code": ("阀门{}须每季度润滑一次，润滑前关闭上游闸阀并泄压，润滑后手动开合三次。", ("DN-150", "DN-200"),
             "阀门润滑"),
    "version": (
        "Version {} needs a restart of every node, one after the other, and the cache is emptied before the first "
        "of them comes back.", ("4.1.2", "4.1.3"), "restart of every node"),
    "percent": ("逾期还款按日加收本金的{}作为违约金，累计不超过本金的两成，节假日照常计算。", ("0.05%", "0.1%"),
                "逾期违约金"),
    "room": ("会议室{}可容纳二十人，配投影仪和白板，使用后请关灯关空调并带走垃圾。", ("A301", "B512"), "会议室 投影仪"),
    "person": ("值班期间的紧急情况请联系{}，手机须保持畅通，交接班时当面核对钥匙和台账。", ("张建国", "李秀英"),
               "值班紧急联系谁"),
    "person en": (
        "In an emergency during the night shift call {}, who keeps the keys to the boiler house and the pump room and "
        "knows where the valves are.", ("Anna", "Boris"), "emergency during the night shift"),
    "mixed": ("升级redis-cli后{}台节点需要重启，重启前先把流量切走，完成后观察十分钟再切回。", ("3", "12"),
              "升级redis-cli后重启"),
}  # fmt: skip


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill(
        "alike",
        {f"{kind} {n}.txt": text.format(gap) for kind, (text, gaps, _) in PAIRS.items() for n, gap in enumerate(gaps)},
    )


@pytest.mark.parametrize("kind", PAIRS)
def test_both_are_shown(shelf: Shelf, kind: str) -> None:
    found = shelf.names(PAIRS[kind][2])
    assert {f"{kind} 0.txt", f"{kind} 1.txt"} <= {*found}


REPEATED = {
    "zh": ("班车早上七点从北门发车，晚上六点返回，周末停开。", "班车发车"),
    "hant": ("圖書室週一閉館，其餘日子九點開門，借書以兩週為限。", "图书室"),
    "en": ("The night watch ends at six, and the gate is opened by the porter.", "night watch"),
    "mixed": ("运行redis-cli ping，返回PONG即正常，否则重启节点。", "redis-cli ping"),
}


@pytest.fixture(scope="module")
def copies(fill: Fill) -> Shelf:
    files: dict[str, str | bytes] = {}
    for kind, (text, _) in REPEATED.items():
        files |= {f"{kind}.txt": text, f"{kind} copy.txt": text, f"{kind} reflowed.txt": text.replace("，", "， ")}
    return fill("copies", files)


@pytest.mark.parametrize("kind", REPEATED)
def test_the_same_words_are_shown_once(copies: Shelf, kind: str) -> None:
    found = [name for name in copies.names(REPEATED[kind][1]) if name.startswith(kind)]
    assert len(found) == 1
