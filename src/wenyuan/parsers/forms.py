"""Forms, whose rows name a value each, told from tables, whose first row names the columns.

Both are grids of words. A form's first row, taken for a header, would stand with every other row as what it is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LABELS: Final = frozenset(
    (
        "姓名 名称 名字 性别 年龄 民族 籍贯 学历 专业 职务 职位 职称 岗位 部门 单位 公司 编号 工号 学号 代码 型号 规格 "
        "品牌 版本 版本号 日期 时间 地点 地址 住址 邮编 电话 手机 传真 邮箱 电子邮箱 网址 联系人 联系电话 联系方式 "
        "负责人 经办人 申请人 审批人 作者 出版社 主题 标题 状态 类型 类别 数量 单价 金额 总额 合计 备注 说明 用途 "
        "身份证号 出生日期 出生年月 入职日期 签订日期 生效日期 有效期 开户行 账号 税号 甲方 乙方 项目名称 项目编号 "
        "合同编号 文件编号 创建时间 更新时间 语言 国家 城市 "
        "name title author owner date time version status type category subject address city country phone telephone "
        "tel fax email e-mail website url contact department company organization organisation position employee "
        "manager location number id code model serial quantity price amount total language license licence created "
        "updated modified published publisher isbn priority reporter assignee project client customer supplier"
    ).split()
)
"""What fields of forms are called; a column's items rarely are."""

_LABEL_PAIRS: Final = re.compile(
    r"(?:first|last|full|user|file|project|product|company|contact|document|serial|model|order|invoice|phone|start|end|"
    r"due|birth|release|issue|created|effective) (?:name|number|no\.?|id|date|code|version|person)|date of birth"
)
_ENDS_AS_LABEL: Final = re.compile(r".[:：]$")
_MOST_COLUMNS: Final = 6
_LONGEST_LABEL: Final = 30


def is_form(first: Sequence[str], second: Sequence[str] = ()) -> bool:
    """Whether a grid's first row, of which the second is below, is a label and its value, or several such pairs.

    Only what plainly is one: where every label ends with a colon, where four cells and more are in turn names of fields
    and other words, or where both rows begin with the name of a field and the first does not go on with one.
    """
    if not 2 <= len(first) <= _MOST_COLUMNS or len(first) % 2:
        return False
    labels, values = first[0::2], first[1::2]
    if not all(label.strip() for label in labels) or any(map(is_label, values)):
        return False
    if all(_ENDS_AS_LABEL.search(label.strip()) for label in labels):
        return True
    if not all(map(is_label, labels)):
        return False
    return len(labels) > 1 or (len(second) == len(first) and is_label(second[0]) and not is_label(second[1]))


def is_label(text: str) -> bool:
    """Whether it is what a field of a form is called."""
    plain = "".join(text.split()) if not text.isascii() else " ".join(text.split()).casefold()
    plain = plain.rstrip(":： ")
    if len(plain) > _LONGEST_LABEL:
        return False
    return plain in _LABELS or _LABEL_PAIRS.fullmatch(plain) is not None
