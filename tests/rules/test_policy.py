"""Which files a policy keeps out, by their name, type and size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import InvalidValue
from wenyuan.rules.policy import checked_policy, forbidden
from wenyuan.types import DocumentPolicy


@pytest.mark.parametrize(
    ("types", "forbidden_types", "name", "media_type", "expected"),
    [
        ((), (), "a.exe", "", None),
        (("md",), (), "a.md", "text/markdown", None),
        (("md",), (), "A.MD", "text/markdown", None),
        (("md",), (), "a.txt", "text/plain", "type"),
        (("md",), (), "cmd", "text/plain", "type"),
        (("md",), (), "a.md.txt", "text/plain", "type"),
        (("tar.gz",), (), "a.tar.gz", "", None),
        (("text/*",), (), "a.md", "text/markdown", None),
        (("text/*",), (), "a.json", "application/json", "type"),
        (("text/markdown",), (), "说明.markdown", "text/markdown; charset=utf-8", None),
        (("text/markdown",), (), "unknown", "", None),
        (("md",), (), "unknown", "", "type"),
        (("md", "text/html"), (), "page", "text/html", None),
        ((), ("html",), "page.html", "text/html", "type"),
        ((), ("text/html",), "page", "text/html", "type"),
        ((), ("text/html",), "page", "", None),
        (("html",), ("text/html",), "page.html", "text/html", "type"),
    ],
)
def test_a_type_is_taken_or_not(
    types: tuple[str, ...], forbidden_types: tuple[str, ...], name: str, media_type: str, expected: str | None
) -> None:
    policy = checked_policy(DocumentPolicy(types, forbidden_types))
    assert forbidden(policy, name, media_type, 1) == expected


def test_sizes_are_taken_up_to_the_limit() -> None:
    policy = DocumentPolicy(max_file_bytes=10)
    assert [forbidden(policy, "a", "", size) for size in (0, 10, 11)] == [None, None, "size"]
    assert forbidden(DocumentPolicy(forbidden_types=("md",), max_file_bytes=10), "a.md", "", 11) == "type"


@pytest.mark.parametrize(
    "entry", ["", " ", ".", "/", "text/", "/html", "*/*", "t*/html", "a/b/c", "two words", "x" * 101]
)
def test_what_is_no_type_is_refused(entry: str) -> None:
    with pytest.raises(InvalidValue):
        checked_policy(DocumentPolicy(types=(entry,)))


@pytest.mark.parametrize(
    "policy",
    [
        DocumentPolicy(max_file_bytes=0),
        DocumentPolicy(max_documents=-1),
        DocumentPolicy(types=tuple(f"t{number}" for number in range(201))),
        DocumentPolicy(duplicates="both"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused(policy: DocumentPolicy) -> None:
    with pytest.raises(InvalidValue):
        checked_policy(policy)


@given(st.lists(st.from_regex(r"\A\s*\.?[A-Za-z]{1,5}(/([a-z]{1,5}|\*))?\s*\Z")))
def test_checking_again_changes_nothing(entries: list[str]) -> None:
    try:
        once = checked_policy(DocumentPolicy(types=tuple(entries)))
    except InvalidValue:
        return
    assert checked_policy(once) == once
