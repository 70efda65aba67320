"""Words of two characters, of one, and short names in Latin letters are found."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, assert_first
from wenyuan.language.folding import fold

FILES = {
    "h.md": "本公司每年为员工安排健康体检一次，费用由公司承担。",
    "年假.md": "工作满一年可休年假五天。",
    "报销.md": "差旅报销须在三十日内提交。",
    "门禁.md": "夜间进出请刷门禁卡。",
    "水泵.md": "二号水泵运行平稳。",
    "薪资.md": "薪资于每月十日发放。",
    "保險.md": "員工享有團體保險與意外險。",
    "權限.md": "帳號權限須由主管核准。",
    "備份.md": "資料庫每晚自動備份。",
    "茶艺.md": "茶艺课在周五下午举行。",
    "go.md": "The service is written in Go.",
    "c.md": "The driver is plain C.",
    "cpp.md": "The engine needs a C++ compiler.",
    "csharp.md": "The desktop client is C# code.",
    "r.md": "Statistics are computed in R.",
    "ai.md": "An AI model labels the pictures.",
    "qa.md": "Send it to QA before Friday.",
    "5g.md": "The lab has 5G reception.",
    "ux.md": "Our UX studio sits upstairs.",
    "x1.md": "X1 级防护用于洁净室。",
}

WORDS = {
    "健康": "h.md",
    "體檢": "h.md",
    "年假": "年假.md",
    "报销": "报销.md",
    "報銷": "报销.md",
    "门禁": "门禁.md",
    "水泵": "水泵.md",
    "薪资": "薪资.md",
    "薪資": "薪资.md",
    "保险": "保險.md",
    "保險": "保險.md",
    "权限": "權限.md",
    "备份": "備份.md",
    "茶藝": "茶艺.md",
    "Go": "go.md",
    "golang 还是 Go": "go.md",
    "AI": "ai.md",
    "ai": "ai.md",
    "ＡＩ": "ai.md",
    "QA": "qa.md",
    "5G": "5g.md",
    "5g 信号": "5g.md",
    "UX": "ux.md",
    "X1": "x1.md",
    "C": "c.md",
    "R": "r.md",
    "C++": "cpp.md",
    "c++": "cpp.md",
    "C#": "csharp.md",
    "c#": "csharp.md",
}


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill("short", FILES)


@pytest.mark.parametrize(("question", "expected"), WORDS.items())
def test_a_short_word_finds_its_document_first(shelf: Shelf, question: str, expected: str) -> None:
    assert_first(shelf, question, [expected], arms=("keyword",))


def test_one_character_is_enough(shelf: Shelf) -> None:
    texts = {name: f"{name}\n{text}" for name, text in FILES.items()}
    characters = sorted({c for text in texts.values() for c in text if "\u4e00" <= c <= "\u9fff"})
    assert len(characters) > 100
    wrong = {}
    for character in characters[::4]:
        expected = sorted(name for name, text in texts.items() if fold(character) in fold(text))
        found = shelf.names(character, arms=("keyword",))
        if sorted(found) != expected:
            wrong[character] = (expected, found)
    assert wrong == {}


@pytest.mark.parametrize("character", ["检", "檢", "假", "銷", "销", "禁", "泵", "薪", "險", "险", "權", "備", "茶"])
def test_one_character_in_either_script_finds_its_document_first(shelf: Shelf, character: str) -> None:
    expected = [name for name, text in FILES.items() if fold(character) in fold(name + text)]
    assert_first(shelf, character, expected, arms=("keyword",))


@pytest.mark.parametrize("question", ["鲸", "Zz", "火星", "quasar", "量子 纠缠"])
def test_a_word_that_stands_nowhere_finds_nothing(shelf: Shelf, question: str) -> None:
    result = shelf.search(question)
    assert (result.hits, result.why_empty) == ((), "no-match")


SINGLE = {
    "泵.txt": "一号泵运行平稳。",
    "茶.txt": "待客用茶在柜里。",
    "猫.txt": "仓库养猫防鼠。",
    "锁.txt": "北门锁坏已换。",
    "灯.txt": "走廊灯夜里常亮。",
    "船.txt": "渡口船每日两班。",
    "藥.txt": "急救藥放前臺。",
    "票.txt": "入园票当日有效。",
    "盐.txt": "软水机加盐再生。",
    "鎖.txt": "保險櫃鎖每年檢修。",
}
SINGLE_ASKED = {
    "泵": "泵.txt",
    "泵怎么维护": "泵.txt",
    "泵的维护": "泵.txt",
    "修泵": "泵.txt",
    "茶在哪里": "茶.txt",
    "茶和点心": "茶.txt",
    "为什么养猫": "猫.txt",
    "猫的品种": "猫.txt",
    "关灯": "灯.txt",
    "灯是什么颜色": "灯.txt",
    "坐船": "船.txt",
    "船有几班": "船.txt",
    "藥在哪": "藥.txt",
    "买药": "藥.txt",
    "票多少钱": "票.txt",
    "退票": "票.txt",
    "加多少盐": "盐.txt",
    "盐的用量": "盐.txt",
}


@pytest.fixture(scope="module")
def single(fill: Fill) -> Shelf:
    return fill("single", {f"{n}.txt": text for n, text in enumerate(SINGLE.values())})


@pytest.mark.parametrize(("question", "expected"), SINGLE_ASKED.items())
def test_a_word_of_one_character_is_found_whatever_stands_beside_it(
    single: Shelf, question: str, expected: str
) -> None:
    assert_first(single, question, [f"{list(SINGLE).index(expected)}.txt"], arms=("keyword",))
