"""Of several versions of one thing, the newest that was valid on the day asked for comes first."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, name_of

TRAVEL = "出差住宿每晚上限{}元，超出部分自理。"
LEAVE = "Employees may carry over {} days of leave."

FILES = {
    # By the name of the file.
    "差旅政策 2023-01-01.md": TRAVEL.format(300),
    "差旅政策 2024-03-15.md": TRAVEL.format(350),
    "差旅政策 2024-09-01.md": TRAVEL.format(400),
    "差旅政策 2026-01-01.md": TRAVEL.format(450),
    # By the title.
    "leave one.md": f"# Leave policy, 1 January 2023\n\n{LEAVE.format(3)}\n",
    "leave two.md": f"# Leave policy, 1 April 2024\n\n{LEAVE.format(5)}\n",
    "leave three.md": f"# Leave policy, 1 October 2025\n\n{LEAVE.format(7)}\n",
    # By the metadata.
    "物价甲.md": "---\ntitle: 食堂价目\ndate: 2023-05-01\n---\n\n食堂一份红烧肉八元。\n",
    "物价乙.md": "---\ntitle: 食堂价目\ndate: 2024-05-01\n---\n\n食堂一份红烧肉十元。\n",
    "物价丙.md": "---\ntitle: 食堂价目\ndate: 2025-05-01\n---\n\n食堂一份红烧肉十二元。\n",
    # In Traditional Chinese, years of the Republic.
    "租约一.md": "# 租賃規章 民國112年1月1日\n\n押金為兩個月租金。\n",
    "租约二.md": "# 租賃規章 民國113年7月1日\n\n押金為一個月租金。\n",
    "租约三.md": "# 租賃規章 民國115年2月1日\n\n押金為半個月租金。\n",
    # Without any date.
    "门禁.md": "夜间进出须刷门禁卡。",
    "parking.md": "Parking is free on Sundays.",
}

ASKED = {
    "差旅政策 2024 年 6 月有效的版本": "差旅政策 2024-03-15.md",
    "差旅政策2024年6月有效的版本": "差旅政策 2024-03-15.md",
    "差旅政策 2023年12月31日 有效的版本": "差旅政策 2023-01-01.md",
    "截至2024年10月，出差住宿上限是多少": "差旅政策 2024-09-01.md",
    "二〇二四年六月有效的出差住宿上限": "差旅政策 2024-03-15.md",
    "2024年3月15日生效的差旅政策": "差旅政策 2024-03-15.md",
    "2024年3月14日有效的差旅政策": "差旅政策 2023-01-01.md",
    "出差住宿上限 截止2025-12-31": "差旅政策 2024-09-01.md",
    "去年六月有效的差旅政策": "差旅政策 2024-09-01.md",
    "2024年6月當時的差旅政策": "差旅政策 2024-03-15.md",
    "leave policy as of June 2024": "leave two.md",
    "how many days of leave could be carried over as of 31 March 2024": "leave one.md",
    "leave policy valid on 2025-12-01": "leave three.md",
    "leave policy in force on October 1, 2025": "leave three.md",
    "the leave policy effective in May 2024": "leave two.md",
    "leave policy as of last year": "leave three.md",
    "2024年12月有效的食堂价目": "物价乙.md",
    "截至 2023 年底食堂红烧肉多少钱": "物价甲.md",
    "食堂价目 as of 2025-06-01": "物价丙.md",
    "民國113年12月有效的租賃規章": "租约二.md",
    "截至民國112年底，押金是幾個月租金": "租约一.md",
    "2024年8月有效的租赁规章": "租约二.md",
    "租赁押金 as of March 2026": "租约三.md",
}


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill("as of", FILES)


@pytest.mark.parametrize(("question", "expected"), ASKED.items())
def test_the_newest_that_was_valid_then_comes_first(shelf: Shelf, question: str, expected: str) -> None:
    result = shelf.search(question)
    assert result.plan.as_of is not None
    found = [name_of(hit) for hit in result.hits]
    assert found[0] == expected, f"{question!r} found {found[:4]}"


@pytest.mark.parametrize(
    ("question", "valid", "later"),
    [
        ("leave policy as of June 2024", ["leave two.md", "leave one.md"], ["leave three.md"]),
        ("leave policy as of 31 March 2024", ["leave one.md"], ["leave two.md", "leave three.md"]),
        ("租赁规章 2024年12月有效的版本", ["租约二.md", "租约一.md"], ["租约三.md"]),
        ("差旅政策 2024 年 6 月有效的版本", ["差旅政策 2024-03-15.md", "差旅政策 2023-01-01.md"],
         ["差旅政策 2024-09-01.md", "差旅政策 2026-01-01.md"]),
        ("截至 2024 年底食堂红烧肉多少钱", ["物价乙.md", "物价甲.md"], ["物价丙.md"]),
    ],
)  # fmt: skip
def test_the_other_versions_are_shown_too_the_later_ones_last(
    shelf: Shelf, question: str, valid: list[str], later: list[str]
) -> None:
    found = shelf.names(question)
    assert found[: len(valid)] == valid
    assert {*later} <= {*found}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("今天有效的差旅政策", "差旅政策 2026-01-01.md"),
        ("截至今天的差旅政策", "差旅政策 2026-01-01.md"),
        ("目前有效的差旅政策", "差旅政策 2026-01-01.md"),
        ("现行有效的差旅政策", "差旅政策 2026-01-01.md"),
        ("leave policy as of today", "leave three.md"),
        ("the leave policy currently in force", "leave three.md"),
        ("昨天有效的食堂价目", "物价丙.md"),
    ],
)
def test_what_is_valid_today_is_the_newest(shelf: Shelf, question: str, expected: str) -> None:
    assert shelf.names(question)[0] == expected


@pytest.mark.parametrize(
    "question",
    [
        "差旅政策",
        "出差住宿上限",
        "leave policy",
        "食堂价目表 红烧肉",
        "租賃規章 押金",
        "2024年3月15日的差旅政策",
        "政策 2024-03-15",
    ],
)
def test_what_asks_for_no_moment_has_none(shelf: Shelf, question: str) -> None:
    assert shelf.search(question).plan.as_of is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("截至2024年6月的门禁规定", "门禁.md"),
        ("2024年6月有效的夜间门禁", "门禁.md"),
        ("parking as of June 2024", "parking.md"),
    ],
)
def test_what_has_no_date_at_all_is_found_all_the_same(shelf: Shelf, question: str, expected: str) -> None:
    assert shelf.names(question)[0] == expected
