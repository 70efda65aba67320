"""Postings: what was indexed is found again, through the tokenizer and ranking of a real index."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

import apsw
import pytest

from wenyuan.language.postings import read_chunk
from wenyuan.language.questions.reading import read_question
from wenyuan.types import Anchor, Chunk, Posting

NOW = datetime.date(2026, 4, 20)


def posting(name: str, heading_path: tuple[str, ...], text: str, context: str) -> Posting:
    return read_chunk(name, Chunk(0, text, 0, len(text), Anchor("lines", 1, 1), heading_path, context))[0]


def search(texts: Mapping[str, str], question: str) -> list[str]:
    """The names of the texts that hold any token of the question, best first."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(name, heading, body, alias, tokenize='ascii')")
    for text in texts.values():
        made = posting("", (), text, "")
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?)", (made.name, made.heading, made.body, made.alias))
    plan = read_question(question, NOW)
    match = " OR ".join(f'"{token}"' for token in (*plan.tokens, *plan.aliases))
    rows = connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank, rowid", (match,))
    names = list(texts)
    return [names[int(row[0]) - 1] for row in rows]


UNSPACED = {"a": "中文合約轉換體驗課問題", "b": "英文合約範本", "c": "體驗課報名表"}


@pytest.mark.parametrize("question", ["中文合約", "中文合约", "轉換體驗", "转换体验"])
def test_a_part_of_an_unspaced_phrase_is_found_first(question: str) -> None:
    assert search(UNSPACED, question)[0] == "a"


@pytest.mark.parametrize("question", ["體驗課", "体验课"])
def test_every_text_that_holds_a_phrase_is_found(question: str) -> None:
    assert set(search(UNSPACED, question)) == {"a", "c"}


CHECKUP = {
    "h": "本公司每年为员工安排健康体检一次，费用由公司承担。",
    "i": "会议室需要提前一天预订。",
    "j": "出差报销请在月底前提交。",
    "k": "新员工入职当天领取工牌。",
    "l": "年假按工龄计算。",
    "m": "公司地址在人民路一号。",
}


@pytest.mark.parametrize("question", ["健康", "检", "體檢"])
def test_words_of_two_and_one_characters_are_found(question: str) -> None:
    assert search(CHECKUP, question) == ["h"]


NEIGHBOURS = {
    text: text
    for text in (
        "PPR-1044 pump seal",
        "PPR-1777 pump seal",
        "PPR-580 pump seal",
        "PPR-9087 pump seal",
        "release 2026.4.10 notes",
        "release 2026.4.1 notes",
        "release 2026.10.4 notes",
        "v1.0.21 hotfix",
        "v1.02.1 hotfix",
    )
}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("PPR-9087", "PPR-9087 pump seal"),
        ("ppr9087", "PPR-9087 pump seal"),
        ("PPR 9087", "PPR-9087 pump seal"),
        ("ppr_9087", "PPR-9087 pump seal"),
        ("2026.4.10", "release 2026.4.10 notes"),
        ("2026.4.1", "release 2026.4.1 notes"),
        ("1.0.21", "v1.0.21 hotfix"),
        ("1.02.1", "v1.02.1 hotfix"),
    ],
)
def test_codes_and_versions_are_found_first_among_near_neighbours(question: str, first: str) -> None:
    assert search(NEIGHBOURS, question)[0] == first


NOTES = ["2026-03-08", "三月八日", "3月8号", "二〇二六年三月八日"]


@pytest.mark.parametrize("question", NOTES)
def test_every_writing_of_a_day_finds_every_other(question: str) -> None:
    texts = {note: f"{note} 备忘" for note in NOTES} | {"other": "2026-03-09 备忘", "last year": "2025年3月9日"}
    found = search(texts, f"{question}记了什么")
    assert set(found[:4]) == set(NOTES)


def test_fields_are_kept_apart_and_aliases_come_from_all() -> None:
    made = posting("2026-04 日记.md", ("鲁迅日记", "五月"), "五日 晴。", "天气")
    assert "日记" in made.name.split()
    assert "鲁迅" in made.heading.split()
    assert {"天气", "晴"} <= set(made.body.split())
    assert "鲁迅" not in made.body.split()
    assert {"§m202604", "§d20260505"} <= set(made.alias.split())


def test_an_empty_chunk_has_an_empty_posting() -> None:
    made = posting("", (), "", "")
    assert (made.name, made.heading, made.body, made.alias) == ("", "", "", "")
