"""What only looks like a date does not bring up the diary of that day."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, assert_first, name_of

# The question, the text that answers it, the title and the words of a diary that a false date would bring up.
TRAPS = {
    "score": ("3-2 比赛谁赢了", "决赛比赛以 3-2 结束，红队赢了。", "2026-03-02", "看了一场比赛。"),
    "score en": ("who won 3-2 in the final", "The reds won the final 3-2.", "March 2, 2026", "We won a cake."),
    "round the clock": ("24/7 客服", "客服 24/7 在线。", "2026-07-24", "客服打来电话。"),
    "round the clock en": ("24/7 support", "Support is there 24/7.", "24 July 2026", "Support the beam."),
    "phone": ("电话 138-0308-2026", "王工电话 138-0308-2026", "2026-03-08", "给王工打电话。"),
    "phone en": ("call 555-0414", "To order call 555-0414.", "14 April 2026", "A call from Ann."),
    "phone area": ("010-20260414 是谁的号码", "总机号码 010-20260414", "2026年4月14日", "换了号码。"),
    "book": ("ISBN 978-7-2026-03-8", "《水利》ISBN 978-7-2026-03-8", "二〇二六年三月八日", "买书。"),
    "book en": ("isbn 978-7-02-000220-1", "The Dam, ISBN 978-7-02-000220-1", "2 July 2026", "An isbn on a card."),
    "time": ("14:30 的会议室", "会议室 14:30 已占用。", "4月14日", "打扫会议室。"),
    "time en": ("train at 4:14", "The train leaves at 4:14.", "2026-04-14", "Missed the train."),
    "may": ("who may enter the vault", "Only guards may enter the vault.", "May 2, 2026", "Saw a vault."),
    "may with number": ("may 5 people share a tent", "Five people may share a tent.", "May 5, 2026", "A new tent."),
    "march": ("how to march 3 miles", "Recruits march 3 miles.", "March 3, 2026", "Three miles of mud."),
    "version": ("1.2.3 改了登录", "1.2.3 改了登录页。", "2023-01-02", "登录失败。"),
    "version en": ("fixed in v2026.4.1", "v2026.4.1: login fixed.", "2026-04-01", "Fixed the fence."),
    "release": ("升级到 0-1-0", "升级到 0-1-0 后重启。", "2000-01-01", "升级舱位。"),
    "price": ("单价 4.14 元", "单价 4.14 元，含税。", "四月十四日", "问了单价。"),
    "price en": ("costs $4.14", "The bolt costs $4.14.", "April 14", "It costs nerves."),
    "fraction": ("3/4 杯面粉", "放 3/4 杯面粉。", "3月4日", "买面粉。"),
    "fraction en": ("3/4 cup flour", "Add 3/4 cup flour.", "4 March 2026", "Out of flour."),
    "address": ("10.4.14.26 网关", "网关 10.4.14.26 已停用。", "2026-04-14", "换网关。"),
    "pages": ("第4-14页讲什么", "第4-14页讲阀门。", "2026年4月14号", "讲座。"),
    "pages en": ("pages 4-14 on valves", "See pages 4-14 on valves.", "Apr 14, 2026", "Bought valves."),
    "order": ("订单 8820260414", "订单 8820260414 已发货。", "20260414", "下订单。"),
    "standard": ("GB/T 7714-2015", "格式按 GB/T 7714-2015。", "2015年", "调整格式。"),
    "band": ("五月天的演唱会", "五月天的演唱会改期。", "2026年5月", "看演唱会。"),
    "festival name": ("三月三的歌会", "三月三的歌会在河边。", "2026-03-03", "歌会取消。"),
    "history": ("十月革命的影响", "十月革命影响深远。", "2025年10月", "影响睡眠。"),
    "flower": ("六月雪怎么养", "六月雪喜半阴，这样养。", "2026年6月", "养猫。"),
    "immunity": ("后天免疫是什么", "后天免疫靠疫苗获得。", "2026-04-22", "免疫科体检。"),
    "weather": ("说明天气的影响", "本节说明天气的影响。", "2026-04-21", "影响通行。"),
    "count": ("4月14人报名", "名单：4月14人报名。", "2026.4.14", "报名缴费。"),
    "line": ("4月3号线停运", "3号线停运通知。", "4月3日", "停运检修。"),
    "scale": ("比例 1:25", "图纸比例 1:25。", "2026-01-25", "比例尺丢了。"),
    "model": ("May the force be with you", "May the force be with you.", "May 2026", "The force of habit."),
}  # fmt: skip

# A day that is a part of another's name: the question, and the titles of the right diary and of the wrong one.
PARTS = {
    "十一月八日": ("十一月八日", "一月八日"),
    "11月8日的日记": ("11月8日", "1月8日"),
    "十二月二十一日": ("十二月二十一日", "二月一日"),
    "12月21日发生了什么": ("12月21日", "2月1日"),
    "3月21号": ("3月21号", "3月1号"),
    "三月二十一號": ("三月二十一號", "三月一號"),
    "April 11": ("April 11", "April 1"),
    "what happened on 21 June 2026": ("21 June 2026", "1 June 2026"),
    "2026-10-11": ("2026-10-11", "2026-10-1"),
    "2026/1/12": ("2026/1/12", "2026/1/1"),
    "二〇二六年十月三十一日": ("二〇二六年十月三十一日", "二〇二六年十月三日"),
    "民国115年10月12日": ("民國115年10月12日", "民國15年10月12日"),
}


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    files = {}
    for name, (_, answer, title, words) in TRAPS.items():
        files[f"{name}.txt"] = answer
        files[f"diary {name}.md"] = f"# {title}\n\n{words}\n"
    return fill("no dates", files)


@pytest.mark.parametrize("name", TRAPS)
def test_what_is_no_date_brings_up_no_diary(shelf: Shelf, name: str) -> None:
    question = TRAPS[name][0]
    result = shelf.search(question)
    assert result.plan.dates == ()
    assert_first(shelf, question, [f"{name}.txt"])
    diaries = {name_of(hit): hit.exactness for hit in result.hits if name_of(hit).startswith("diary ")}
    assert set(diaries.values()) <= {"none"}


@pytest.fixture(scope="module")
def parts(fill: Fill) -> Shelf:
    files = {}
    for number, (right, wrong) in enumerate(PARTS.values()):
        files[f"{number}.md"] = f"# {right}\n\n第{number}号井的水位记录。\n"
        files[f"{number} wrong.md"] = f"# {wrong}\n\n第{number}号井：日记两页，发生了什么都写在里面。\n"
    return fill("parts of dates", files)


@pytest.mark.parametrize("question", PARTS)
def test_a_day_is_not_found_within_another_ones_name(parts: Shelf, question: str) -> None:
    number = list(PARTS).index(question)
    exactness = {name_of(hit): hit.exactness for hit in parts.search(question).hits}
    assert exactness[f"{number}.md"] == "about"
    assert exactness.get(f"{number} wrong.md", "none") == "none"
    found = parts.names(question)
    assert f"{number} wrong.md" not in found[: found.index(f"{number}.md")]
