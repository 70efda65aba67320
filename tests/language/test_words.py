"""Words: what a text is indexed under, and what a question asks for."""

from __future__ import annotations

import re

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wenyuan.language.folding import fold
from wenyuan.language.scripts import HAN, HANGUL, KANA, language_of
from wenyuan.language.stemming import stem
from wenyuan.language.words import (
    _any_word,
    _joined_tokens_of,
    decode_token,
    encode_token,
    index_tokens,
    located_words,
    lonely_characters,
    query_tokens,
    tokens_of_folded,
)

MIXED = st.text(
    st.one_of(
        st.characters(), st.sampled_from("健康体检，。的了什么升级redis-cli3台 os.path_v1'\"#+/@:,한국カナé０９")
    ),
    max_size=80,
)


UNSPACED = re.compile(f"[{HAN}{KANA}{HANGUL}]")


def readable(tokens: list[str]) -> list[str]:
    return [decode_token(token) for token in tokens]


def test_han_glued_to_latin_and_digits_splits() -> None:
    tokens = readable(index_tokens("升级redis-cli后3台"))
    assert set(tokens) >= {"升级", "redis-cli", "redis", "cli", "后", "3", "台"}
    assert readable(query_tokens("升级redis-cli后3台")) == ["升级", "redis-cli", "redis", "cli", "后", "3", "台"]


def test_han_runs_give_pairs_and_each_character_once() -> None:
    assert index_tokens("体检体检") == ["体检", "检体", "体检", "体", "检"]
    assert query_tokens("体检体检") == ["体检", "检体"]


def test_a_question_of_one_character_finds_it_inside_a_sentence() -> None:
    assert query_tokens("检") == ["检"]
    assert "检" in index_tokens("本公司每年为员工安排健康体检一次，费用由公司承担。")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("os.path.join", ["os.path.join", "path.join", "os", "path", "join"]),
        ("std::vec::Vec", ["std::vec::vec", "vec::vec", "std", "vec", "vec"]),
        ("field__in", ["field__in", "field", "in"]),
        ("3.0.19.7", ["3.0.19.7"]),
        (r"C:\Users\foo", ["c", "users/foo", "user", "foo"]),
        ("C:/Users/foo", ["c", "users/foo", "user", "foo"]),
        ("~/.ssh/config", ["ssh/config", "ssh", "config"]),
        ("a@mail.example.org", ["a@mail.example.org", *"mail.example.org example.org a mail exampl org".split()]),
        ("mailto:a@b.cn", ["mailto:a@b.cn", "a@b.cn", "b.cn", "mailto", "a", "b", "cn"]),
        ("--no-install-recommends", ["no-install-recommends", "no", "install", "recommend"]),
        ("1,234,567 12,34 1,2345", ["1234567", "12", "34", "1", "2345"]),
        ("1:2.36-9+deb12u10", ["1:2.36-9+deb12u10", "2.36-9+deb12u10", "1", "2", "36", "9", "deb12u10"]),
        ("v2.36-2", ["v2.36-2", "2.36-2", "v2", "36", "2"]),
        ("1.2.3", ["1.2.3"]),
        ("2026-04-14", ["2026-04-14", "2026"]),
        ("1,234.50", ["1234.50", "1234"]),
        ("C++ C# F#", ["c++", "c#", "f#"]),
        ("don't the dog's", ["don", "the", "dog"]),
        ("https://example.com/a_b", ["http", "example.com/a_b", "example.com", "a_b", "exampl", "com", "a", "b"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("한국어", ["한국", "국어"]),
        ("words—apart", ["word", "apart"]),
        ("ﬁne Café", ["fine", "cafe"]),
    ],
)
def test_words_and_compounds(text: str, tokens: list[str]) -> None:
    assert readable(index_tokens(text)) == tokens


def test_questions_lose_their_question_words_unless_nothing_else_remains() -> None:
    assert query_tokens("健康体检怎么报销？") == ["健康", "康体", "体检", "报销"]
    assert query_tokens("什么") == ["什么"]
    assert query_tokens("What is the pump seal?") == ["pump", "seal"]
    assert query_tokens("what is the") == ["what", "is", "the"]
    assert query_tokens("") == []


def test_traditional_and_simplified_questions_are_the_same_question() -> None:
    assert query_tokens("中文合約轉換體驗課問題") == query_tokens("中文合约转换体验课问题")


@given(MIXED)
def test_a_question_asks_only_for_what_its_own_text_is_indexed_under(text: str) -> None:
    assert set(query_tokens(text)) <= set(index_tokens(text))
    assert len(set(query_tokens(text))) == len(query_tokens(text))


@given(MIXED)
def test_words_are_found_between_white_space_as_in_the_whole_text(text: str) -> None:
    for folded in (fold(text), fold(text.encode("ascii", "replace").decode("ascii"))):
        plain = folded.replace("\\", "/")
        tokens = [token for word in _any_word().findall(plain) for token in _joined_tokens_of(word).split()]
        whole = tokens_of_folded(folded).split()
        assert [token for token in whole if not UNSPACED.search(token)] == tokens


@given(MIXED)
@example("Ꭰ")
def test_every_token_is_located_where_it_stands(text: str) -> None:
    folded = fold(text)
    for token in set(tokens_of_folded(folded).split()):
        located = list(located_words(folded, {token}))
        assert located
        for start, end in located:
            assert 0 <= start < end <= len(folded)
            assert decode_token(token)[:1] == folded[start : start + 1].replace("\\", "/").lower()


@given(MIXED)
def test_nothing_is_located_that_a_text_does_not_hold(text: str) -> None:
    folded = fold(text)
    tokens = set(tokens_of_folded(folded).split())
    others = {"健康", "体", "检", "redi", "cli", "os.path", "カ", "カナ", "한"} - tokens
    assert list(located_words(folded, others)) == []


@given(MIXED)
def test_tokens_pass_the_tokenizer_of_the_database_whole(text: str) -> None:
    tokens = index_tokens(text)
    assert all(token and " " not in token for token in tokens)
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='ascii')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
    connection.execute("INSERT INTO t VALUES (?)", (" ".join(tokens),))
    assert {row[0] for row in connection.execute("SELECT term FROM v")} == set(tokens)


@given(st.text("abc01", min_size=65, max_size=80), st.text("abc01", min_size=65, max_size=80))
def test_long_words_that_differ_only_at_their_ends_differ(one: str, other: str) -> None:
    beginning = "x" * 64
    same = index_tokens(f"{beginning}{one}") == index_tokens(f"{beginning}{other}")
    assert same == (one == other)
    assert all(len(token) <= 64 for token in index_tokens(f"{beginning}-{one}"))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("example.com", "见 https://www.example.com/a 与"),
        ("example.com", "write to li.si@mail.example.com"),
        ("www.example.com/a", "https://www.example.com/a"),
        ("path.join", "call os.path.join(a, b)"),
        ("words.py", "src/language/words.py:12"),
        (r"D:\data\报告\a.txt", "D:/data/报告/a.txt"),
        ("2.36-9+deb12u10", "glibc (1:2.36-9+deb12u10)"),
    ],
)
def test_the_whole_of_a_question_is_found_inside_a_longer_compound(question: str, text: str) -> None:
    whole = [token for token in query_tokens(question) if not token.isalnum()]
    assert whole
    assert set(whole) <= set(index_tokens(text))


@given(st.text(st.sampled_from("abc019-._+~:@/#§检")))
def test_encoding_a_token_can_be_undone(token: str) -> None:
    encoded = encode_token(token)
    assert decode_token(encoded) == token
    assert all(not character.isascii() or character.isalnum() for character in encoded)


@pytest.mark.parametrize(
    "forms",
    [
        ["pump", "pumps"],
        ["reply", "replies"],
        ["index", "indexes", "indexing", "indexed"],
        ["class", "classes"],
        ["map", "maps", "mapping", "mapped"],
        ["upgrade", "upgrades", "upgraded", "upgrading"],
        ["quick", "quickly"],
    ],
)
def test_the_forms_of_an_english_word_meet(forms: list[str]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["redis", "class", "status", "string", "bus", "os", "need", "log4j", "naïve", "健康"])
def test_names_and_short_words_are_left_alone(word: str) -> None:
    assert stem(word) == word


@given(st.text(st.characters(codec="ascii", categories=["Ll"])))
def test_stems_are_never_empty(word: str) -> None:
    assert (stem(word) == "") == (word == "")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("健康体检", "zh"),
        ("配置 PostgreSQL 的备份", "zh"),
        ("How are you?", "en"),
        ("Déjà vu encore", "en"),
        ("これはペンです", "ja"),
        ("東京都の天気", "ja"),
        ("안녕하세요", "ko"),
        ("Привет, как дела", "other"),
        ("123 !?", "other"),
        ("", "other"),
        ("A report titled 健康 was published", "en"),
    ],
)
def test_languages_are_told_by_their_scripts(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("tokens", "frequency", "lonely"),
    [
        (["修泵"], {}, ["修", "泵"]),
        (["泵的", "的维", "维护", "泵"], {"泵": 3}, []),
        (["会议", "议讨", "讨论"], {"会议": 2, "讨论": 1}, []),
        (["买的", "的药"], {}, ["买", "药"]),
        (["pump", "泵"], {}, []),
    ],
)
def test_characters_stand_alone_where_nothing_else_of_a_question_stands_anywhere(
    tokens: list[str], frequency: dict[str, int], lonely: list[str]
) -> None:
    assert lonely_characters(tokens, frequency) == lonely
