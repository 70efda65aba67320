"""Vocabularies: terms that are one word, and synonyms that are asked for together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import InvalidValue
from wenyuan.language.folding import fold
from wenyuan.language.postings import read_chunk
from wenyuan.language.questions.expansion import expanded_tokens
from wenyuan.language.vocabulary import EMPTY, LONGEST_TERM, MOST_SYNONYMS, MOST_TERMS, Vocabulary, folded_term
from wenyuan.language.words import index_tokens, query_tokens, term_of_token, term_token
from wenyuan.types import Anchor, Chunk

COURSES = Vocabulary(("转换体验课", "体验课", "Large Language Model", "C++"))
PEOPLE = Vocabulary(synonyms=(("人工智能", "AI", "artificial intelligence"), ("沪", "上海")))


def terms(tokens: list[str]) -> list[str]:
    return [term for token in tokens if (term := term_of_token(token)) is not None]


def test_a_question_asks_for_a_term_as_one_word_and_the_longest_first() -> None:
    assert query_tokens("轉換體驗課的報名", COURSES) == [term_token("转换体验课"), "的报", "报名"]
    assert query_tokens("转换体验课", COURSES) == [term_token("转换体验课")]
    assert terms(query_tokens("体验课和转换体验课", COURSES)) == ["体验课", "转换体验课"]


def test_a_text_holds_a_term_its_parts_and_the_terms_within() -> None:
    tokens = index_tokens("中文合約轉換體驗課問題", COURSES)
    assert terms(tokens) == ["转换体验课", "体验课"]
    assert {"转换", "体验", "课问"} <= set(tokens)


def test_a_term_finds_what_holds_it_and_not_what_holds_a_part() -> None:
    question = set(query_tokens("体验课", COURSES))
    assert question & set(index_tokens("转换体验课开始报名", COURSES))
    assert not question & set(index_tokens("体验很好，课很多", COURSES))


@pytest.mark.parametrize(
    "text",
    ["A large  language\nmodel", "LARGE LANGUAGE MODELS", "用ｌａｒｇｅ language model训练", "large language model."],
)
def test_latin_terms_are_found_in_every_spacing_case_and_in_the_plural(text: str) -> None:
    assert terms(index_tokens(text, COURSES)) == ["large language model"]
    assert terms(query_tokens(text, COURSES)) == ["large language model"]
    assert "s" not in query_tokens(text, COURSES)


@pytest.mark.parametrize("text", ["enlarge language model", "large language modeling", "large language modelss"])
def test_a_latin_term_is_no_part_of_another_word(text: str) -> None:
    assert terms(index_tokens(text, COURSES)) == []


def test_a_term_may_end_in_signs() -> None:
    assert terms(index_tokens("C++入门", COURSES)) == ["c++"]


def test_terms_are_counted_field_by_field() -> None:
    text = "体验课一，体验课二"
    chunk = Chunk(0, text, 0, len(text), Anchor("lines", 1, 1), ("转换体验课",))
    posting, _ = read_chunk("体验课.md", chunk, COURSES)
    assert posting.body.split().count(term_token("体验课")) == 2
    assert term_token("转换体验课") in posting.heading.split()
    assert term_token("体验课") in posting.name.split()
    assert term_token("体验课") not in read_chunk("体验课.md", chunk)[0].name.split()


def test_without_a_vocabulary_nothing_changes() -> None:
    text = "转换体验课 large language model"
    assert index_tokens(text, EMPTY) == index_tokens(text)
    assert set(index_tokens(text)) == {token for token in index_tokens(text, COURSES) if term_of_token(token) is None}
    assert expanded_tokens(text, EMPTY) == ()
    assert not EMPTY
    assert (EMPTY.fingerprint, EMPTY.index_fingerprint) == ("", "")


def test_a_synonym_asks_for_the_others() -> None:
    assert expanded_tokens("人工智慧與人工智能", PEOPLE) == ("ai", "artificial", "intelligenc")
    assert expanded_tokens("What is AI?", PEOPLE) == ("人工", "工智", "智能", "artificial", "intelligenc")
    assert expanded_tokens("沪市", PEOPLE) == ("上海",)
    assert expanded_tokens("maintain the said", PEOPLE) == ()
    assert expanded_tokens("AI, artificial intelligence, 人工智能", PEOPLE) == ()


def test_a_synonym_that_is_a_term_is_asked_for_whole() -> None:
    vocabulary = Vocabulary(("人工智能",), PEOPLE.synonyms)
    assert expanded_tokens("AI", vocabulary)[0] == term_token("人工智能")


def test_the_fingerprint_is_that_of_what_is_matched() -> None:
    one = Vocabulary(("体验课", "Redis"), (("a", "b"), ("c", "d")))
    same = Vocabulary(("redis", "體驗課", "ＲＥＤＩＳ"), (("d", "C"), ("b", "a")))
    assert one.fingerprint == same.fingerprint
    assert one.index_fingerprint == same.index_fingerprint
    assert len(one.fingerprint) == 64
    other = Vocabulary(one.terms, (("a", "b"), ("c", "e")))
    assert other.fingerprint != one.fingerprint
    assert other.index_fingerprint == one.index_fingerprint
    assert Vocabulary(("体验课",)).index_fingerprint != one.index_fingerprint
    assert Vocabulary(("ab", "cd")).fingerprint != Vocabulary(synonyms=(("ab", "cd"),)).fingerprint


def test_equal_vocabularies_are_interchangeable_keys() -> None:
    one, other = Vocabulary(("体验课",)), Vocabulary(("体验课",))
    assert one == other
    assert len({one, other, EMPTY}) == 2


@pytest.mark.parametrize(
    ("terms", "synonyms"),
    [
        (("课",), ()),
        ((" a ",), ()),
        (("……",), ()),
        (("x" * (LONGEST_TERM + 1),), ()),
        (("\ufdfa" * 10,), ()),
        (("",), ()),
        (tuple(f"term{n}" for n in range(MOST_TERMS + 1)), ()),
        ((), (("a",),)),
        ((), (("AI", "ai"),)),
        ((), (("a", ""),)),
        ((), (tuple("abcdefghijklmnopq"[: MOST_SYNONYMS + 1]),)),
        ((), (("a", "b"),) * 5001),
    ],
)
def test_what_makes_no_sense_is_refused(terms: tuple[str, ...], synonyms: tuple[tuple[str, ...], ...]) -> None:
    with pytest.raises(InvalidValue):
        Vocabulary(terms, synonyms)


TERMS = st.lists(st.text("体验课ab 12-", min_size=2, max_size=6), max_size=6).map(
    lambda terms: tuple(term for term in terms if len(folded_term(term)) > 1 and any(map(str.isalnum, term)))
)


@given(TERMS, st.text("体验課 abs12-，", max_size=40))
def test_every_term_in_a_text_is_found_and_no_other(terms_: tuple[str, ...], text: str) -> None:
    vocabulary = Vocabulary(terms_)
    plain = " ".join(fold(text).split())
    found = vocabulary.term_matches(fold(text))
    for term in map(folded_term, terms_):
        is_han = all(character in "体验课" for character in term)
        at_least = sum(plain.startswith(term, start) for start in range(len(plain)))
        assert found.count(term) == at_least if is_han else found.count(term) <= at_least
    assert set(found) <= set(map(folded_term, terms_))


@given(TERMS, st.text("体验課 abs12-，", max_size=40))
def test_a_question_asks_only_for_what_its_own_text_is_indexed_under(terms_: tuple[str, ...], text: str) -> None:
    vocabulary = Vocabulary(terms_)
    asked = query_tokens(text, vocabulary)
    assert set(asked) <= set(index_tokens(text, vocabulary))
    assert len(set(asked)) == len(asked)


def test_a_large_vocabulary_is_matched_in_a_long_text() -> None:
    many = Vocabulary(tuple(f"中国{n}号" for n in range(MOST_TERMS)))
    found = many.term_matches("中国12345号," * 10_000 + "中" * 100_000)
    assert found == ["中国12345号"] * 10_000
