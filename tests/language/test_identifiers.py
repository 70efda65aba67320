"""Identifiers: versions, codes and compound names, whichever way they are written."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wenyuan.language.identifiers import Identifier, identifiers, located_identifiers, most_specific


def values(text: str, kind: str) -> set[str]:
    kinds = ("version", "decimal") if kind == "version" else (kind,)
    return {identifier.value for identifier in identifiers(text) if identifier.kind in kinds}


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


def test_a_code_in_two_words_needs_capitals_unless_asked_for() -> None:
    assert values("ppr 9087", "code") == set()
    assert {identifier.value for identifier in identifiers("ppr 9087", any_case=True)} == {"ppr9087"}
    assert values("MAY 2026 and SEPT 12, IN 1998 AND 1999", "code") == set()


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
    for _, start, end in located:
        assert 0 <= start < end <= len(text)
