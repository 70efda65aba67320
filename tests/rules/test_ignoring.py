"""A `.gitignore` means here what it means to git."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wenyuan.rules.ignoring import IgnoreRules, ignore_rules


@pytest.mark.parametrize(
    ("text", "path", "is_folder", "ignored"),
    [
        ("*.log", "a/b.log", False, True),
        ("/x", "a/x", False, None),
        ("/x", "x", False, True),
        ("a/b", "c/a/b", False, None),
        ("a/**", "a", True, None),
        ("a/**", "a/b/c", False, True),
        ("a/**/b", "a/b", False, True),
        ("a/**/b", "a/x/y/b", False, True),
        ("**/b", "a/x/b", False, True),
        ("x\n!x", "x", False, False),
        ("!x\nx", "x", False, True),
        ("d/", "d", False, None),
        ("d/", "q/d", True, True),
        ("# x", "# x", False, None),
        (r"\#x", "#x", False, True),
        (r"\!x", "!x", False, True),
        ("x   ", "x", False, True),
        ("x\\ ", "x ", False, True),
        ("[a-c]?", "bz", False, True),
        ("b[!a]", "bb", False, True),
        ("b[^a]", "ba", False, None),
        ("[[:digit:]]*", "7up", False, True),
        ("[ab", "[ab", False, None),
        ("文*", "文档", True, True),
        ("x\r\ny", "x", False, True),
    ],
)
def test_a_rule_means_what_it_says(text: str, path: str, is_folder: bool, ignored: bool | None) -> None:
    assert ignore_rules(text).ignores(path, is_folder=is_folder) is ignored


def test_a_hostile_pattern_does_not_hang() -> None:
    rules = ignore_rules("*a" * 200 + "b\n" + "**/a/" * 150 + "b")
    assert rules.ignores("a" * 250, is_folder=False) is None
    assert rules.ignores("/".join("a" * 500), is_folder=False) is None


_PATTERNS = st.lists(
    st.one_of(
        st.text(st.sampled_from("ab*?/!\\[]-^ #"), max_size=7),
        st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "[ab]", "?b"]), min_size=1, max_size=4).map("/".join),
    ),
    max_size=4,
).map("\n".join)
_PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "ab", "ba", "a b", "#", "!a", "c"]), min_size=1, max_size=3).map("/".join),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_PATTERNS, paths=_PATHS)
def test_git_says_the_same(repository: Path, text: str, paths: list[str]) -> None:
    (repository / ".gitignore").write_bytes(text.encode())
    asked = subprocess.run(
        ["git", "-c", "core.quotePath=false", "check-ignore", "--no-index", "-z", "--stdin", "--verbose", "-n"],
        cwd=repository,
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    fields = asked.stdout.decode().split("\0")
    theirs = {path: bool(line) and not pattern.startswith("!") for _, line, pattern, path in _fours(fields)}
    rules = ignore_rules(text)
    ours = {path: _ignored(rules, path) for path in paths}
    assert ours == theirs


def _fours(fields: list[str]) -> list[tuple[str, str, str, str]]:
    return [tuple(fields[at : at + 4]) for at in range(0, len(fields) - 3, 4)]  # type: ignore[misc]


def _ignored(rules: IgnoreRules, path: str) -> bool:
    """What lies in an ignored folder is ignored, whatever is said of it."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        if rules.ignores("/".join(parts[:depth]), is_folder=True):
            return True
    return bool(rules.ignores(path, is_folder=False))
