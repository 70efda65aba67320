"""Coverage: a passage holds a token exactly if the index would say so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.coverage import CoverageReader
from wenyuan.language.folding import fold
from wenyuan.language.words import index_tokens, query_tokens

TEXTS = [
    "本公司每年为员工安排健康体检一次，费用由公司承担。",
    "Runs with redis-cli 7.2; see https://example.org/a.b and os.path.join().",
    "The policies were running out, he studies classes; it's Müller's 中文 test",
    "升级redis-cli后3台機器",
    "１，２３４ items; Straße, naïve café",
]
fragments = st.sampled_from(
    [word for text in TEXTS for word in text.split()] + ["体检", "費用", "politics", "run", "cl"]
)


@given(st.lists(fragments, max_size=8).map(" ".join), st.lists(fragments, min_size=1, max_size=5).map(" ".join))
def test_it_agrees_with_the_index(text: str, question: str) -> None:
    wanted = query_tokens(question)
    matched = CoverageReader(dict.fromkeys(wanted, 1.0)).read("", fold(text)).matched
    # The index looks through thousands separators, which stand here between two parts.
    if "," not in fold(text):
        assert matched == set(wanted) & set(index_tokens(text))


@given(st.lists(fragments, max_size=8).map(" ".join), st.lists(fragments, min_size=1, max_size=5).map(" ".join))
def test_shares_lie_between_0_and_1_and_a_sentence_says_no_more_than_the_whole(text: str, question: str) -> None:
    read = CoverageReader(dict.fromkeys(query_tokens(question), 1.0)).read("", fold(text))
    assert 0.0 <= read.sentence <= read.whole + 1e-9 <= 1.0 + 2e-9


def test_weights_say_what_a_token_is_worth() -> None:
    reader = CoverageReader({"健康": 3.0, "体检": 1.0})
    assert reader.read("", "健康很重要").whole == 0.75
    assert reader.read("", "体检").whole == 0.25


def test_what_stands_together_says_more() -> None:
    reader = CoverageReader(dict.fromkeys(["pump", "seal"], 1.0))
    assert reader.read("", fold("The pump seal leaks.")).sentence == 1.0
    assert reader.read("", fold("The pump leaks. The seal holds.")).sentence == 0.5


def test_what_stands_above_counts_and_is_as_good_as_a_sentence() -> None:
    read = CoverageReader(dict.fromkeys(["pump", "seal", "leak"], 1.0)).read("pump seal", "it leaks.")
    assert read.whole == 1.0
    assert read.sentence == pytest.approx(2 / 3)


@pytest.mark.parametrize(("token", "text"), [("run", "brunch"), ("cat", "category"), ("redis－cli", "redis-client")])
def test_a_word_is_no_part_of_another(token: str, text: str) -> None:
    assert not CoverageReader({token: 1.0}).read("", fold(text)).matched


@pytest.mark.parametrize("text", ["running", "Runs", "ran over, then run."])
def test_every_form_of_a_word_counts(text: str) -> None:
    assert CoverageReader({"run": 1.0}).read("", fold(text)).matched == {"run"}


def test_aliases_and_an_empty_question_are_worth_nothing() -> None:
    assert CoverageReader({"§d20260414": 5.0}).read("", "2026-04-14").whole == 0.0
    assert CoverageReader({}).read("a", "b").sentence == 0.0


def test_what_is_held_under_another_writing_counts_and_a_longer_version_is_not_held() -> None:
    weights = {"kb": 1.0, "5034441": 1.0, "5．36．0－5": 1.0}
    reader = CoverageReader(weights, named={"code": 2.0}, values=["kb5034441", "5.36.0"])
    held = reader.read("", fold("KB5034441"), held=("code",))
    assert held.matched == {"kb", "5034441"}
    assert held.whole == pytest.approx(4 / 5)
    assert reader.read("", fold("KB5034441")).whole == 0.0


def test_a_name_in_one_word_holds_its_parts() -> None:
    reader = CoverageReader({"access": 1.0, "token": 1.0}, joined=["accesstoken"])
    assert reader.read("", fold("accessToken")).whole == 1.0
