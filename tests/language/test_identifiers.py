"""Identifiers: versions, codes and compound names, whichever way they are written."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wenyuan.language.compounds import ASCII_WORD
from wenyuan.language.identifiers import (
    Identifier,
    _readings_of,
    _with_usual_forms,
    identifiers,
    located_identifiers,
    most_specific,
    stands_in,
)


def values(text: str, kind: str) -> set[str]:
    kinds = ("version", "decimal") if kind == "version" else (kind,)
    return {identifier.value for identifier in identifiers(text) if identifier.kind in kinds}


PIECES = st.sampled_from(
    [*"vV1234.-_ /#,，。中版本号ＡＢ１２－．é\n", "PPR", "rc1", "MessageHistory", "it's", "--all", "c++"]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_words_are_read_between_white_space_as_in_the_whole_text(text: str) -> None:
    words = dict.fromkeys(ASCII_WORD.findall(_with_usual_forms(text)))
    expected = [reading for word in words for reading in _readings_of(word)]
    assert identifiers(text)[: len(expected)] == expected


VERSIONS = st.lists(st.integers(0, 999).map(str), min_size=3, max_size=4)
VERSION_WRITINGS = [
    lambda parts: "v" + ".".join(parts),
    lambda parts: "V" + ".".join(parts),
    lambda parts: ".".join(parts),
    lambda parts: "_".join(parts),
    lambda parts: "-".join(parts),
    lambda parts: "version " + ".".join(parts),
    lambda parts: "升级到" + ".".join(parts) + "版本",
    lambda parts: "版本" + ".".join(parts),
    lambda parts: "app-" + ".".join(parts) + "-linux.tar.gz",
    lambda parts: ".".join(parts).translate({ord("."): "．"}),
]


@given(VERSIONS, st.sampled_from(VERSION_WRITINGS))
def test_every_writing_of_a_version_is_that_version(parts: list[str], write) -> None:  # type: ignore[no-untyped-def]
    assert values(write(parts), "version") == {".".join(parts)}


@given(VERSIONS, VERSIONS, st.sampled_from(VERSION_WRITINGS), st.sampled_from(VERSION_WRITINGS))
def test_different_versions_never_meet(one, other, first, second) -> None:  # type: ignore[no-untyped-def]
    assume(one != other)
    assert values(first(one), "version").isdisjoint(values(second(other), "version"))


@pytest.mark.parametrize(
    ("one", "other"), [("2026.4.1", "2026.4.10"), ("1.0.21", "1.02.1"), ("1.0.2", "1.0.20"), ("1.2.3", "1.2.3.0")]
)
def test_near_neighbours_stay_apart(one: str, other: str) -> None:
    assert values(one, "version").isdisjoint(values(other, "version"))


@pytest.mark.parametrize("text", ["1.2.3-rc.1", "1.2.3rc1", "V1.2.3-RC1", "1.2.3_rc1", "v1.2.3c1", "1.2.3-preview1"])
def test_a_pre_release_is_itself_and_its_version(text: str) -> None:
    assert values(text, "version") == {"1.2.3", "1.2.3rc1"}
    assert [identifier.value for identifier in most_specific(identifiers(text))] == ["1.2.3rc1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v3.11", Identifier("version", "3.11")),
        ("3.11", Identifier("decimal", "3.11")),
        ("python3.11", Identifier("decimal", "3.11", ("python",))),
        ("v12", Identifier("version", "12")),
        ("version 12", Identifier("version", "12")),
        ("版本12", Identifier("version", "12")),
        ("3.0.19-1~deb12u2", Identifier("version", "3.0.19")),
    ],
)
def test_short_and_decorated_versions(text: str, expected: Identifier) -> None:
    assert expected in identifiers(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-04-14",
        "138-1234-5678",
        "ISBN 978-7-02-000220-1",
        "3-2",
        "10:30",
        "12345",
        "server2",
        "over 9",
        "HTTPServer2",
    ],
)
def test_what_is_no_version_is_none(text: str) -> None:
    assert values(text, "version") == set()


CODES = st.tuples(
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=2, max_size=6), st.text("0123456789", min_size=2, max_size=6)
).filter(
    lambda code: (
        code[0].lower() not in ("jan feb mar apr may jun june jul july aug august sep sept oct nov dec".split())
        # Words of which a number that follows is no part.
        and code[0].lower() not in "about after and at before bug by during for from in is issue of on or page".split()
        and code[0].lower() not in "since than the ticket to until with year".split()
    )
)
CODE_WRITINGS = ["{}-{}", "{}{}", "{}_{}", "{} {}", "见{}-{}号", "{}－{}"]


@given(CODES, st.sampled_from(CODE_WRITINGS), st.booleans())
def test_every_writing_of_a_code_is_that_code(code: tuple[str, str], writing: str, lower: bool) -> None:
    text = writing.format(*code)
    if lower and writing != "{} {}":
        text = text.lower()
    assert "".join(code).lower() in values(text, "code")


@given(CODES, CODES, st.sampled_from(CODE_WRITINGS[:4]), st.sampled_from(CODE_WRITINGS[:4]))
def test_different_codes_never_meet(one, other, first, second) -> None:  # type: ignore[no-untyped-def]
    assume(one != other)
    assert values(first.format(*one), "code").isdisjoint(values(second.format(*other), "code"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CVE-2023-0464", "cve2023-0464"),
        ("cve_2023_0464", "cve2023-0464"),
        ("UTF-8", "utf8"),
        ("GB/T 7714-2015", "gbt7714-2015"),
        ("GB/T7714-2015", "gbt7714-2015"),
        ("x86_64", "x86-64"),
        ("#783", "#783"),
        ("issue 783", "#783"),
        ("Issue #783", "#783"),
        ("工单783", "#783"),
    ],
)
def test_codes_of_several_numbers(text: str, code: str) -> None:
    assert code in values(text, "code")


def test_the_border_between_two_numbers_stays() -> None:
    assert values("PPR-10-44", "code").isdisjoint(values("PPR-1044", "code"))
    assert values("CVE-2023-0464", "code").isdisjoint(values("CVE-20230-464", "code"))


def test_a_code_in_two_words_whose_letters_may_be_a_word_needs_capitals_unless_asked_for() -> None:
    assert values("seal 9087", "code") == set()
    assert values("SEAL 9087", "code") == {"seal9087"}
    assert {identifier.value for identifier in identifiers("seal 9087", any_case=True)} == {"seal9087"}
    assert values("MAY 2026 and SEPT 12, IN 1998 AND 1999", "code") == set()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ppr 1045 pump seal", "ppr1045"),
        ("泵ppr 1045的密封", "ppr1045"),
        ("Ppr 1045", "ppr1045"),
        ("kb 5034441", "kb5034441"),
        ("iso 27001", "iso27001"),
        ("rfc 2045", "rfc2045"),
        ("cve 2023-0464", "cve2023-0464"),
        ("gb/t 7714-2015", "gbt7714-2015"),
    ],
)
def test_letters_that_are_no_word_need_no_capitals(text: str, code: str) -> None:
    assert values(text, "code") == {code}


@pytest.mark.parametrize(
    "text",
    [
        "top 100", "page 120", "chapter 300", "may 2026", "python 311", "windows 110", "iphone 150", "room 101",
        "my 500 files", "why 1000", "mr 100", "http 404", "px 1200", "rmb 500", "gdp 2024", "nfl 2023-24", "ppr 12",
        "redis-clk 300", "a.ppr 300", "ppr1 300", "ppr, 300", "pqrstv 300", "up to 500 hrs 100",
        "compress pdf 100 pages", "rm 302", "thx 1000", "bc 221", "dvd 100", "jpg 3000", "add tbsp 100",
    ],
)  # fmt: skip
def test_small_letters_before_a_number_are_mostly_a_word(text: str) -> None:
    assert values(text, "code") <= {"ppr1"}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("rm -rf --no-preserve-root /tmp", {"--no-preserve-root": (), "-rf": ("-r", "-f")}),
        ("用tar -xzf解压", {"-xzf": ("-x", "-z", "-f")}),
        ("`-v`", {"-v": ()}),
        ("{{[-d|--decompress]}}", {"-d": (), "--decompress": ()}),
        ("find . -name x -maxdepth 2", {"-name": ("-n", "-a", "-m", "-e"), "-maxdepth": ()}),
        ("gcc -O2 --std=c11", {"-o2": (), "--std": ()}),
        ("redis-cli, well -known-, a--b, 3 - 2, -5, x/-y, ---a", {}),
    ],
)
def test_options_of_commands(text: str, options: dict[str, tuple[str, ...]]) -> None:
    assert {found.value: found.parts for found in identifiers(text) if found.kind == "option"} == options


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234.50", {Identifier("decimal", "1234.50")}),
        ("1.2e5 2.0E-3 1e5", set()),
        ("issue 783", {Identifier("code", "#783")}),
        ("page 12 of chapter 34, version 5", {Identifier("version", "5")}),
        ("GB/T7714-2015", {Identifier("code", "gbt7714-2015")}),
    ],
)
def test_what_stands_before_a_number_says_what_it_is(text: str, expected: set[Identifier]) -> None:
    assert expected == {found for found in identifiers(text, any_case=True) if found.value not in ("t7714-2015",)}


def test_one_digit_makes_no_telling_code() -> None:
    assert [i.is_telling for i in identifiers("mp3")] == [False]
    assert [i.is_telling for i in identifiers("PPR-12")] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "RunnableWithMessageHistory",
        "runnableWithMessageHistory",
        "runnable_with_message_history",
        "RUNNABLE_WITH_MESSAGE_HISTORY",
        "runnable-with-message-history",
        "Runnable-With-Message-History",
        "langchain.RunnableWithMessageHistory()",
    ],
)
def test_every_writing_of_a_compound_name_is_that_name(text: str) -> None:
    assert "runnablewithmessagehistory" in values(text, "name")


NAMES = st.lists(st.text("abcdefgh", min_size=2, max_size=5), min_size=2, max_size=6)
NAME_WRITINGS = [
    "_".join,
    "-".join,
    lambda words: "_".join(words).upper(),
    lambda words: "".join(word.title() for word in words),
    lambda words: words[0] + "".join(word.title() for word in words[1:]),
    lambda words: f"见{'__'.join(words)}()",
    lambda words: "ns." + "-".join(word.title() for word in words),
]


@given(NAMES, st.sampled_from(NAME_WRITINGS))
def test_every_writing_of_a_name_is_that_name(words, write) -> None:  # type: ignore[no-untyped-def]
    assert "".join(words) in values(write(words), "name")


@given(NAMES, NAMES, st.sampled_from(NAME_WRITINGS), st.sampled_from(NAME_WRITINGS))
def test_different_names_never_meet(one, other, first, second) -> None:  # type: ignore[no-untyped-def]
    assume("".join(one) != "".join(other))
    assert values(first(one), "name").isdisjoint(values(second(other), "name"))


PRE_RELEASES = st.tuples(
    st.sampled_from(["a", "b", "rc", "dev"]), st.integers(0, 99), st.sampled_from(["", "-", ".", "_", "~"])
)


@given(VERSIONS, PRE_RELEASES, PRE_RELEASES)
def test_pre_releases_meet_if_they_are_the_same(parts, one, other) -> None:  # type: ignore[no-untyped-def]
    version = ".".join(parts)
    (found,), (second,) = (
        most_specific(identifiers(f"v{version}{mark}{name}{number}")) for name, number, mark in (one, other)
    )
    assert (found.value == second.value) == (one[:2] == other[:2])
    assert found.value.startswith(version)


def test_hidden_parts_are_told() -> None:
    (name,) = [identifier for identifier in identifiers("HTTPServerError") if identifier.kind == "name"]
    assert name.parts == ("http", "server", "error")
    assert identifiers("ppr9087")[0].parts == ("ppr", "9087")
    assert identifiers("message_history")[0].parts == ()


@pytest.mark.parametrize(
    "text", ["", "Hello world", "健康体检", "HTTP", "don't", "550e8400-e29b-41d4-a716-446655440000", "a" * 5000]
)
def test_plain_words_are_no_identifiers(text: str) -> None:
    assert identifiers(text) == []


@given(st.text(st.one_of(st.characters(), st.sampled_from("aAbB01-._ /#vV版本ＰＰＲ－９")), max_size=80))
def test_identifiers_are_located_where_they_stand(text: str) -> None:
    located = list(located_identifiers(text))
    assert {identifier for identifier, _, _ in located} == set(identifiers(text))
    assert all(identifier.tokens and all(identifier.tokens) for identifier, _, _ in located)
    for _, start, end in located:
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize("text", [":issue:`1422`", "see /a/b/issues/1422", "bug:1422", "(#1422)", "Issue #1422"])
def test_an_issue_number_is_one_however_a_markup_writes_it(text: str) -> None:
    assert ("code", "#1422") in [(found.kind, found.value) for found in identifiers(text)]


@pytest.mark.parametrize("text", ["the issue: 3 people", "a/1422", "tissue:`1422`", "time: 1422"])
def test_another_number_is_none(text: str) -> None:
    assert not [found for found in identifiers(text) if found.value.startswith("#")]


@pytest.mark.parametrize(
    ("value", "text", "stands"),
    [
        ("2.30", "needs glib 2.30, or later", True),
        ("2.30", "between 2.28 and 2.30.", True),
        ("2.30", "需要 glib 2.30 以上", True),
        ("2.30", "2.30.1 is newer", False),
        ("2.30", "12.30 and 2.300", False),
        ("2.30", "1.2.30", False),
        ("E-1042", "error e-1042: no paper", True),
        ("E-1042", "error e-10421", False),
    ],
)
def test_a_value_stands_where_it_is_written_whole(value: str, text: str, stands: bool) -> None:
    assert stands_in(value, text) is stands
