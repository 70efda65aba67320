"""What kind of value a question asks for, and whether a sentence states one that the question does not.

"When was it first seen" is answered by a sentence with a date, "how many" by one with a number. Who and
where are answered by names, which no rule tells from other words in Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Literal

from wenyuan.language.assertions import UnitKind, read_assertions
from wenyuan.language.folding import fold

AskedValue = Literal["date", "number"]

_COUNTED = "个位次名人岁家座所项部种条座册集届层章节卷首只支张块批组级颗枚台辆架艘件份篇段句步轮场局分本"
_date_asked = re.compile(
    "哪一?[天日年月]|几[月号]|什么时[候间]|何[时年月日]|哪个[月年]|哪个?星期|星期几|周几|(?:日期|时间)是"
    r"|\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century|decade)\b"
)
_number_asked = re.compile(
    f"多少|几[{_COUNTED}年天月]|第几|多[大高长远重宽深快久]|百分之几"
    r"|\bhow (?:many|much|long|far|tall|old|high|deep|big|large|often|fast|wide|heavy)\b"
    r"|\b(?:what|which) (?:number|percent|percentage|share|age|size|amount|price|population)\b"
)
_STATED: Mapping[AskedValue, Set[UnitKind]] = {"date": {"date", "time"}, "number": {"number", "date"}}
"""A number of days may be told by a date, and what looks like a year may be a number."""


def asked_value(question: str) -> AskedValue | None:
    folded = fold(question)
    if _date_asked.search(folded):
        return "date"
    return "number" if _number_asked.search(folded) else None


def values_stated(text: str, asked: AskedValue) -> set[str]:
    """The values of a text that could be meant, each in one writing."""
    return {unit.key for unit in read_assertions(text).units if unit.kind in _STATED[asked]}
