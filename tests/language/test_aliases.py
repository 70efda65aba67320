"""Aliases: canonical tokens in which any two writings of one thing meet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.aliases import aliases
from wenyuan.language.words import decode_token


def indexed(text: str) -> set[str]:
    return {decode_token(token) for token in aliases(text).tokens}


def asked(text: str) -> set[str]:
    return {decode_token(token) for token in aliases(text, asked=True).tokens}


DAY = ["2026-4-14", "20260414", "二零二六年四月十四号", "April 14, 2026", "民國115年4月14日", "令和8年4月14日"]
OPEN = ["四月十四号", "4月14日", "April 14", "14th of April"]


@pytest.mark.parametrize("document", [*DAY, *OPEN])
@pytest.mark.parametrize("question", [*DAY, *OPEN])
def test_a_day_is_found_with_and_without_its_year(question: str, document: str) -> None:
    assert asked(question) & indexed(document)


@pytest.mark.parametrize("question", DAY)
@pytest.mark.parametrize("document", ["2025-04-14", "2026-04-15", "四月十五号", "2026年4月"])
def test_a_day_is_not_found_in_another_year_or_on_another_day(question: str, document: str) -> None:
    assert not asked(question) & indexed(document)


@pytest.mark.parametrize("question", ["2026年4月", "April 2026", "二〇二六年四月", "2026年", "in 2026."])
def test_a_month_or_a_year_finds_its_days(question: str) -> None:
    assert all(asked(question) & indexed(document) for document in DAY)
    assert not asked(question) & indexed("2025-05-14")


def test_a_range_is_found_by_each_of_its_days() -> None:
    document = indexed("2026年4月3日到5日")
    assert {"§d20260403", "§d20260404", "§d20260405", "§m202604", "§y2026"} <= document
    assert "§d20260406" not in document
    assert asked("2026年4月4日") & document


def test_a_long_range_gives_its_ends_and_what_it_covers() -> None:
    document = indexed("2026年4月3日至2026年7月8日")
    days = {token for token in document if token.startswith("§d")}
    assert days == {"§d20260403", "§d20260708"}
    assert {"§m202604", "§m202605", "§m202606", "§m202607"} <= document
    assert asked("from 1990 to 2015") == {"§y1990", "§y2015"}


def test_an_ambiguous_date_is_found_both_ways() -> None:
    assert asked("4 March 2026") & indexed("03/04/2026")
    assert asked("3 April 2026") & indexed("03/04/2026")


@pytest.mark.parametrize("one", ["v1.2.3", "1.2.3", "1_2_3", "1-2-3", "V1.2.3-rc.1", "version 1.2.3", "版本1.2.3"])
def test_versions_meet(one: str) -> None:
    assert "§v1.2.3" in indexed(one) & asked(one)


@pytest.mark.parametrize("one", ["PPR-9087", "ppr9087", "PPR 9087", "PPR_9087", "ＰＰＲ－９０８７"])
def test_codes_meet(one: str) -> None:
    assert "§cppr9087" in indexed(one) & asked(one)
    assert "§cppr9087" in asked("ppr 9087")


def test_a_version_that_could_be_a_date_is_both() -> None:
    assert {"§d20260410", "§v2026.4.10"} <= indexed("release 2026.4.10 notes")
    assert not asked("2026.4.10") & indexed("release 2026.4.1 notes")


@pytest.mark.parametrize("one", ["MessageHistory", "message_history", "message-history", "MESSAGE_HISTORY"])
def test_compound_names_meet_as_a_plain_word(one: str) -> None:
    assert "messagehistori" in indexed(one) & asked(one)


def test_parts_that_the_writing_hides_are_plain_words() -> None:
    assert {"messag", "histori"} <= indexed("MessageHistory")
    assert {"ppr", "9087"} <= indexed("ppr9087")


def test_what_goes_beyond_the_limit_is_counted_and_the_surest_kinds_stay() -> None:
    text = " ".join(f"{n}.5" for n in range(300)) + " PPR-9087 v1.2.3 2026-04-14"
    found = aliases(text, limit=10)
    assert len(found.tokens) == 10
    assert found.overflow == len(aliases(text, limit=10_000).tokens) - 10
    assert {"§d20260414", "§v1.2.3", "§cppr9087"} <= {decode_token(token) for token in found.tokens}


@given(st.text(st.one_of(st.characters(), st.sampled_from("0123456789-./年月日 aAbBvPR_#")), max_size=80))
def test_aliases_are_tokens_each_once(text: str) -> None:
    tokens = aliases(text).tokens
    assert len(set(tokens)) == len(tokens)
    for token in tokens:
        assert token
        assert all(not character.isascii() or character.isalnum() for character in token)
