"""The lock files pin what pyproject.toml asks for, by hash, and say nothing about where to fetch it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.lock_files import DEVELOPMENT_LOCK, RUNTIME_LOCK, pinned
from tests.source_code import REPOSITORY

# Everything a lock may hold. An index, a mirror or a file address belongs to the machine that installs.
LOCK_LINE = re.compile(r"[a-z0-9-]+==[\w.+!]+(?: ; [^#/]+)? \\|    --hash=sha256:[0-9a-f]{64}(?: \\)?|\s*#[^/]*|")


def _unanswered(wanted: list[str], pins: Mapping[str, Requirement]) -> Iterator[str]:
    for requirement in map(Requirement, wanted):
        pin = pins.get(canonicalize_name(requirement.name))
        version = next(iter(pin.specifier)).version if pin else None
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            yield f"{requirement}: the lock has {version}; run `make lock`"


def _strange_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if not LOCK_LINE.fullmatch(line)]


def test_the_locks_answer_the_project() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    groups = project["dependency-groups"]
    runtime = [*project["project"]["dependencies"], *groups["build"]]
    assert list(_unanswered(runtime, pinned(RUNTIME_LOCK))) == []
    assert list(_unanswered([*runtime, *groups["dev"]], pinned(DEVELOPMENT_LOCK))) == []


def test_developers_run_what_users_run() -> None:
    runtime, development = pinned(RUNTIME_LOCK), pinned(DEVELOPMENT_LOCK)
    assert {name: str(development.get(name)) for name in runtime} == {name: str(pin) for name, pin in runtime.items()}


@pytest.mark.parametrize("lock", [RUNTIME_LOCK, DEVELOPMENT_LOCK], ids=lambda lock: lock.name)
def test_a_lock_holds_pins_and_hashes_alone(lock: Path) -> None:
    assert _strange_lines(lock.read_text("utf-8")) == []


def test_a_stale_or_talkative_lock_is_found(tmp_path: Path) -> None:
    lock = tmp_path / "stale.lock"
    lock.write_text("numpy==1.26.4 \\\n    --hash=sha256:00\n", encoding="utf-8")
    assert len(list(_unanswered(["numpy>=2.0", "apsw>=3.50"], pinned(lock)))) == 2
    address = "example.org/simple"
    lines = [f"--index-url https://{address}", f"a @ https://{address}/a.whl", f"# from https://{address}", "a>=1 \\"]
    assert _strange_lines("\n".join(lines)) == lines
