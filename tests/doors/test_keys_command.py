"""`wenyuan keys`: a key is shown once, and what it opens is seen in the list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.program import run_here


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "library"
    assert run_here("init", path).returncode == 0
    assert run_here("--library", path, "kb", "create", "手册").returncode == 0
    return path


def test_a_key_is_shown_once_and_listed_without_itself(library: Path) -> None:
    made = run_here("--library", library, "keys", "create", "agent", "--scope", "read", "--kb", "手册", "--days", "30")
    assert made.returncode == 0, made.stderr
    secret = made.stdout.rpartition(" ")[2].strip()
    assert secret.startswith("wyk_")
    listed = run_here("--library", library, "keys", "list")
    assert secret not in listed.stdout
    assert all(word in listed.stdout for word in ("agent", "read", "手册", "usable"))
    files = [path for path in library.iterdir() if path.is_file()]
    assert files
    assert all(secret.encode() not in path.read_bytes() for path in files)


def test_a_key_is_revoked_by_its_name_which_is_free_again(library: Path) -> None:
    assert run_here("--library", library, "keys", "create", "temporary").returncode == 0
    taken = run_here("--library", library, "keys", "create", "temporary")
    assert (taken.returncode, "error[access-key-exists]" in taken.stderr) == (2, True)
    revoked = run_here("--library", library, "keys", "revoke", "temporary", "--json")
    assert json.loads(revoked.stdout)["revoked_at"] is not None
    assert run_here("--library", library, "keys", "create", "temporary", WENYUAN_LANG="zh").stdout.startswith("密钥")
    gone = run_here("--library", library, "keys", "revoke", "nobody")
    assert (gone.returncode, "error[access-key-not-found]" in gone.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("",), "invalid-value"),
        (("late", "--days", "0"), "invalid-value"),
        (("lost", "--kb", "none"), "kb-not-found"),
        (("odd", "--scope", "everything"), "usage"),
    ],
)
def test_a_key_that_cannot_be_is_refused(library: Path, arguments: tuple[str, ...], code: str) -> None:
    before = run_here("--library", library, "keys", "list", "--json").stdout
    refused = run_here("--library", library, "keys", "create", *arguments)
    assert (refused.returncode, f"error[{code}]" in refused.stderr) == (2, True)
    assert run_here("--library", library, "keys", "list", "--json").stdout == before
