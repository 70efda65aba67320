"""What is quoted in answer to a question that names a day or a code is what it asks for, not the name again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import wenyuan as wy
from wenyuan.runtime.library import Library

_DOCUMENTS = {
    "contract.txt": "采购合同\n\n合同编号：CG-2026-31\n供方：恒力机械\n金额：人民币 45,800 元\n交货期：2026年7月20日\n",
    "rx900.txt": "Router RX-900 manual\n\nModel: RX-900, firmware 1.2.\n\nThe default admin password is moonrise7.\n"
    "Hold the button for ten seconds to reset it.\n",
    "2026-04-14.md": "# 周会\n\n星期二 16:30。参加：沈砚秋、周牧。\n\n**定下来的事**\n\n"
    "1. 量产改用 PPR-9087，首批订 600 片。\n2. 首发推迟到 6 月 15 日。\n\n**没定的事**：要不要免费换屏。\n",
    "gateway.txt": "The gateway stores each reading once.\n",
    "service.txt": "2026年3月2日\n检修人：韩雪梅。更换了叶轮和机械密封，费用六百二十元。\n",
    "settings.json": '{"alerts": {"quiet_from": "22:30", "quiet_until": "06:45", "tone": "wren"}}',
    "stock.md": "# Stock\n\n| part | name | left |\n|---|---|---|\n| PPR-2109 | lamp | 7 |\n| PPR-2110 | seal | 61 |\n",
    "part.md": "# PPR-9087\n\nItem: PPR-9087\nSupplier: Jicun Fine Paper\nUnit price: 138\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with wy.open(tmp_path_factory.mktemp("quoted") / "library", environment={}) as library:
        library.add_texts(wy.TextToAdd(text, name) for name, text in _DOCUMENTS.items())
        yield library


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("合同 CG-2026-31 的金额是多少？", "金额：人民币 45,800 元"),
        ("CG-2026-31 的供方是谁？", "供方：恒力机械"),
        ("CG-2026-31 的交货期是哪天？", "交货期：2026年7月20日"),
        ("CG-2026-31 交貨期", "交货期：2026年7月20日"),
        ("What is the default password of the RX-900?", "The default admin password is moonrise7."),
        ("RX-900 default password", "The default admin password is moonrise7."),
        ("Which part is PPR-2110?", "| PPR-2110 | seal | 61 |"),
        ("What does PPR-9087's supplier call itself?", "Supplier: Jicun Fine Paper"),
        ("unit price of ppr9087", "Unit price: 138"),
        ("四月十四号的会议定了什么？", "首批订 600 片"),
        ("What was decided on 14 April 2026?", "首发推迟到 6 月 15 日"),
        ("2026-04-14 定下来的事", "首发推迟到 6 月 15 日"),
        ("What is quiet_from set to?", "quiet_from: 22:30"),
        ("quiet_until 设成了几点？", "quiet_until: 06:45"),
        # Every word stands in one sentence, though there is little that it could stand out from.
        ("What does the gateway store?", "The gateway stores each reading once."),
        ("检修人是谁？", "检修人：韩雪梅。"),
    ],
)
def test_it_is_what_is_asked_for(library: Library, question: str, quote: str) -> None:
    answer = library.ask(question)
    assert answer.grounded == "likely"
    assert quote in answer.citations[0].quote
