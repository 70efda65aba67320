"""The words with which people ask for figures of a table, and what its columns may be called, in two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

WordKind = Literal[
    "count",
    "sum",
    "average",
    "min",
    "max",
    "earliest",
    "latest",
    "distinct",
    "total",
    "much",
    "rows",
    "classifier",
    "group",
    "not",
    "outside",
    "or",
    "filler",
    "compare",
    "compare-behind",
    "compare-days",
    "compare-days-behind",
]


class Word(NamedTuple):
    """What a word is for; a word that compares says how in `detail`."""

    kind: WordKind
    detail: str = ""


# fmt: off
_WORDS: Mapping[WordKind, str] = {
    "count":
        "how many|number of|the number of|total number of|the total number of|total count of|total count"
        "|count of|count|counts|有多少|多少|有几|几|数|总数|个数|条数|行数|记录数|数目"
        "|数量|总数量|人数|件数|笔数|次数|计数",
    "sum": "sum of|sum|total of|the total of|total|totals|总和|总额|总|求和|加起来|累计",
    "total": "in total|altogether|overall|in all|一共|总共|共|共有|共计|合计|总计",
    "much": "how much|是多少|为多少|多少",
    "average": "average of|average|mean of|the mean|avg|on average|平均|平均值|均值|平均数",
    "max": "highest|maximum|max|largest|greatest|biggest|最高|最大|最大值|最高值",
    "latest": "latest|newest|most recent|最晚|最新",
    "min": "lowest|minimum|min|smallest|最低|最小|最小值|最低值",
    "earliest": "earliest|oldest|最早",
    "distinct": "different|distinct|unique|不同|不重复|多少种|几种|有多少种|有几种|种",
    "rows":
        "rows|row|records|record|entries|entry|lines|line|条|行|条记录|行记录|行数据|条数据|记录|数据|数据行",
    "classifier":
        "items|item|ones|cases|people|persons|个|笔|项|名|位|人|份|家|次|张|件|台|辆|套|单",
    "group": "per|by|for each|for every|each|every|in each|grouped by|group by|broken down by"
        "|各|各个|每|每个|每一个|每种|每位|按|按照|分",
    "not":
        "not|!=|≠|<>|isn't|aren't|is not|are not|not in|except|except for|excluding|without|other than|besides|non|"
        "不是|不为|不等于|不在|非|未|没|没有|除|除了|除去|不包括|不含|不",
    "outside": "以外|之外|外",
    "or": "or|或|或者|或是",
    "filler":
        "a|an|the|of|in|on|at|for|to|with|is|are|was|were|be|there|do|does|did|have|has|had|having|that|whose|where|"
        "from|all|table|tables|file|spreadsheet|csv|sheet|please|what|what is|what's|what are|tell me|give me|show me|"
        "show|list|calculate|compute|find|me|we|our|you|your|i|my|can|could|value|values|equal to|equals|being|and|"
        "this|these|those|it|its|s|data|dataset|right now|currently|now|exist|exists|exactly|document|"
        "的|地|得|在|于|里|中|内|上|表|表格|文件|文档|表里|表中|是|为|等于|有|了|吗|呢|啊|请|请问|帮我|一下|算|算一下|计算|统计|查|查一下|"
        "告诉我|给我|我|我们|这|这个|这张|这份|那|那个|那张|该|其中|里面|所有|全部|一共有|和|与|以及|及|且|并且|同时|还|"
        "属于|来自|对应|相应|各自|分别|下|方面|情况|目前|现在|当前|具体|到底|究竟|汇总|分组|分布|都|也|就|用|把|将|从|共有多少|"
        "它|它们|他们|之|其|说",
}
_COMPARING: Mapping[WordKind, Mapping[str, str]] = {
    "compare": {
        ">": "over|above|more than|greater than|larger than|higher than|bigger than|exceeding|exceeds|exceed|>"
             "|大于|超过|高于|多于|超出",
        ">=": "at least|no less than|not less than|>=|≥|≧|不少于|不低于|至少|大于等于|大于或等于|不小于|达到",
        "<": "under|below|less than|lower than|smaller than|fewer than|<|小于|低于|少于|不到|不足",
        "<=": "at most|no more than|not more than|<=|≤|≦|不超过|不高于|至多|最多|小于等于|小于或等于|不大于|不多于",
        "=": "=|==",
    },
    "compare-behind": {
        ">=": "以上|及以上|或以上|or more|and above|or above", "<=": "以下|及以下|或以下|or less|and below|or below",
    },
    "compare-days": {
        "<": "before|earlier than|prior to|早于|在此之前", ">": "after|later than|晚于",
        ">=": "since|starting|自|自从|从", "<=": "until|till|through|by the end of|截至|截止|截止到",
    },
    "compare-days-behind": {"<": "之前|以前", ">": "之后|以后", ">=": "以来|起|开始", "<=": "为止"},
}
_HEADS = (
    "status:状态|state:状态|city:城市|amount:金额|total amount:总金额|quantity:数量|qty:数量|price:价格|"
    "unit price:单价|date:日期|name:名称|name:姓名|department:部门|region:地区|region:区域|country:国家|"
    "category:类别|category:分类|type:类型|customer:客户|client:客户|product:产品|product:商品|"
    "order:订单|salary:工资|salary:薪资|age:年龄|sales:销售额|revenue:收入|cost:成本|score:分数|"
    "score:成绩|owner:负责人|priority:优先级|year:年份|month:月份|title:标题|level:级别|gender:性别|"
    "supplier:供应商|vendor:供应商|warehouse:仓库|stock:库存|project:项目|team:团队|store:门店|"
    "province:省份|address:地址|number:编号|profit:利润|budget:预算|fee:费用|tax:税额|weight:重量|"
    "height:高度|area:面积|population:人口|hours:工时|duration:时长|brand:品牌|model:型号|color:颜色|"
    "size:尺寸|rating:评分|discount:折扣|payment:付款|balance:余额|employee:员工|student:学生|class:班级|"
    "school:学校|subject:科目"
)
# fmt: on

_BRACKETED = re.compile(r"\s*[(\[（【].*$")
_NUMBERING = re.compile(r"(?:[\s_-]*(?:id|no\.?|number|code|key|编号|号码|序号|号|代码|编码))+$")
_ID_LIKE = re.compile(
    r"(?:.*[\s_-])?(?:id|no\.?|number|code|key|year|month|day|index|rank|phone|tel|zip|row|#)"
    r"|.*(?:编号|号码|序号|编码|代码|年份|年度|月份|电话|手机号?|邮编|排名|学号|工号)|年|月|日|号"
)


def _table_of_words() -> Mapping[str, tuple[Word, ...]]:
    found: dict[str, list[Word]] = {}
    for kind, written in _WORDS.items():
        for word in written.split("|"):
            if word:
                found.setdefault(word, []).append(Word(kind))
    for kind, by_operator in _COMPARING.items():
        for operator, written in by_operator.items():
            for word in written.split("|"):
                found.setdefault(word, []).append(Word(kind, operator))
    return {word: tuple(words) for word, words in found.items()}


WORDS = _table_of_words()
"""By a folded word what it may be for."""

_translated: dict[str, list[str]] = {}
for _pair in _HEADS.split("|"):
    _english, _chinese = _pair.split(":")
    _translated.setdefault(_english, []).append(_chinese)
    _translated.setdefault(_chinese, []).append(_english)


def column_names(folded: str) -> Iterator[str]:
    """How people may call a column: as it is, without what is in brackets, in the other language, or as several."""
    plain = " ".join(folded.replace("_", " ").split())
    bare = _BRACKETED.sub("", plain) or plain
    for name in dict.fromkeys((folded, plain, bare)):
        yield from _numbers_of(name)
    for name in _translated.get(bare, ()):
        yield from _numbers_of(name)


def what_rows_are(folded: str) -> Iterator[str]:
    """Of a column that numbers rows what these are: `ticket` of `ticket id`, 订单 of 订单编号; else nothing."""
    plain = " ".join(folded.replace("_", " ").split())
    noun = _NUMBERING.sub("", plain)
    if noun and noun != plain:
        yield from _numbers_of(noun)
        for name in _translated.get(noun, ()):
            yield from _numbers_of(name)


def is_id_like(folded: str) -> bool:
    """Whether the numbers of a column with that name name or count something, so that nobody adds them up."""
    return bool(_ID_LIKE.fullmatch(" ".join(folded.replace("_", " ").split())))


def _numbers_of(name: str) -> Iterator[str]:
    """A name, and if it is an English word its plural or singular."""
    yield name
    if name and name.isascii() and name[-1].isalpha():
        if name.endswith("y") and name[-2:-1] not in "aeiou":
            yield f"{name[:-1]}ies"
        elif name.endswith(("s", "x", "ch", "sh")):
            yield f"{name}es"
            if name.endswith("s") and len(name) > 3:
                yield name[:-1]
        else:
            yield f"{name}s"
