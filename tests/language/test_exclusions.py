"""Exclusions: which terms at a question's end are excluded, and by which token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.aliases import aliases
from wenyuan.language.questions.exclusions import excluded_token, without_exclusions
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.language.words import decode_token, index_tokens


@pytest.mark.parametrize(
    ("question", "rest", "terms"),
    [
        ("pump -valve", "pump", ["valve"]),
        ("pump  -valve\t-hose ", "pump", ["valve", "hose"]),
        ("泵 －密封 -轴承", "泵", ["密封", "轴承"]),
        ("pump -PPR-1044", "pump", ["PPR-1044"]),
        ("pump -ppr-1044 -seal", "pump", ["ppr-1044", "seal"]),
        ("错误码 -E1001", "错误码", ["E1001"]),
        ("flu -covid-19", "flu", ["covid-19"]),
        ("更新 -v1.2.3", "更新", ["v1.2.3"]),
        ("升级 -redis-cli", "升级", ["redis-cli"]),
        ("chains -MessageHistory", "chains", ["MessageHistory"]),
        ("settings -MAX_RETRY_COUNT", "settings", ["MAX_RETRY_COUNT"]),
        ("泵 -PPR-1044型号", "泵", ["PPR-1044型号"]),
        ('pump -"valve"', "pump", ["valve"]),
        ("泵 -“密封” -「轴承」", "泵", ["密封", "轴承"]),
    ],
)
def test_words_codes_versions_and_names_can_be_excluded(question: str, rest: str, terms: list[str]) -> None:
    assert without_exclusions(question) == (rest, terms)


@pytest.mark.parametrize(
    "question",
    [
        "tar -xzf", "curl -fsSL", "rsync -aHAXSv", "dmesg -n3", "head -n100", "ssh -p2222", "gcc -O2", "gcc -m64",
        "java -Xmx512m", "openssl dgst -sha256", "git commit --no-verify", "gcc -std=c++17", "curl -v2",
        "mysql -h127.0.0.1",
        "python -3.11", "气温 -5", "气温 -5度", "气温 -5.5", "营业时间 9 -18点", "3 -2", "-pump", "pump -", "pump --",
        "pump -valve -x", "redis-cli", "9-18", "pump -" + "valve" * 20, "",
    ],
)  # fmt: skip
def test_options_numbers_and_hyphens_exclude_nothing(question: str) -> None:
    assert without_exclusions(question) == (question, [])


@pytest.mark.parametrize(
    ("term", "token"),
    [
        ("密封", "密封"),
        ("健康体检", "康体"),
        ("seals", "seal"),
        ("redis集群", "redis"),
        ("集群redis", "redis"),
        ("Kubernetes和helm", "kubernet"),
        ("OpenAI接口", "openai"),
        ("A股", "股"),
        ("PPR-1044", "§cppr1044"),
        ("ppr1044", "§cppr1044"),
        ("ＰＰＲ－１０４４", "§cppr1044"),
        ("PPR-1044型号", "§cppr1044"),
        ("v1.2.3", "§v1.2.3"),
        ("1.2.3-rc1", "§v1.2.3rc1"),
        ("redis-cli", "rediscli"),
    ],
)
def test_one_token_stands_for_a_term(term: str, token: str) -> None:
    assert decode_token(excluded_token(term, EMPTY)) == token


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("PPR-1044", "the ppr1044 is spare"),
        ("ppr1044", "备件PPR 1044"),
        ("message-history", "class MessageHistory"),
        ("v1.2.3", "版本1.2.3"),
        ("redis-cli", "升级redis_cli后"),
        ("redis集群", "缓存用Redis"),
    ],
)
def test_the_token_is_that_of_every_writing(term: str, text: str) -> None:
    assert excluded_token(term, EMPTY) in {*index_tokens(text), *aliases(text).tokens}


def test_a_term_of_the_vocabulary_is_excluded_whole() -> None:
    assert excluded_token("健康体检", Vocabulary(("健康体检",))) == "§t健康体检"


@given(st.text(st.sampled_from("ab泵 -－P1."), max_size=40))
def test_the_rest_and_the_terms_make_up_the_question(question: str) -> None:
    rest, terms = without_exclusions(question)
    assert question.startswith(rest)
    assert question[len(rest) :].replace("－", "-").split() == [f"-{term}".replace("－", "-") for term in terms]
    assert not terms or rest
