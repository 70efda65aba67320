"""What is served is what the sources say, small, in both languages, and asks nothing of anyone else."""

from __future__ import annotations

import filecmp
import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.page.client_types import SCHEMA, WEB, generated
from tests.test_licences import PERMISSIVE

BUILT = WEB.parent / "src" / "wenyuan" / "doors" / "web"
SOURCES = WEB / "src"
MOST_BYTES_AT_FIRST = 150_000
_PLACE = re.compile(r"\{(\w+)")
_KEY = re.compile(r"""\bt\(\s*"([^"]+)"|title="(shell\.[^"]+)""")


@pytest.fixture(scope="module")
def tools() -> Path:
    """Where the page's tools are installed. Skips the test where they are not, but for a run that must be complete."""
    found = WEB / "node_modules" / ".bin"
    if not found.is_dir() and "CI" not in os.environ:
        pytest.skip("the page's tools are not installed, which this needs: npm ci in web/")
    return found


def run(*command: str | Path) -> None:
    done = subprocess.run(list(map(str, command)), cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_is_served_was_built_from_these_sources(tools: Path, tmp_path: Path) -> None:
    run(tools / "vite", "build", "--outDir", tmp_path / "web", "--logLevel", "error")
    files = files_of(tmp_path / "web")
    assert files_of(BUILT) == files, "the page must be built anew: npm run build in web/"
    _, differing, unreadable = filecmp.cmpfiles(tmp_path / "web", BUILT, files, shallow=False)
    assert (differing, unreadable) == ([], []), "the page must be built anew: npm run build in web/"


def test_the_types_of_answers_are_those_of_the_interface(tools: Path) -> None:
    del tools
    assert SCHEMA.read_text(encoding="utf-8") == generated(), "run: python -m tests.page.client_types"


def needed_at_first(folder: Path) -> set[Path]:
    """The files that the index names, and those that these import before anything is shown."""
    index = folder / "index.html"
    found, todo = {index}, [folder / name for name in re.findall(r'(?:src|href)="\./([^"]+)"', index.read_text())]
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            if file.suffix == ".js":
                todo += [file.parent / name for name in re.findall(r'from"\./([^"]+)"', file.read_text("utf-8"))]
    return found


def test_the_first_load_is_small() -> None:
    needed = needed_at_first(BUILT)
    assert {path.suffix for path in needed} >= {".html", ".js", ".css"}
    size = sum(len(gzip.compress(path.read_bytes())) for path in needed)
    assert size <= MOST_BYTES_AT_FIRST, f"{size} bytes"


def test_nothing_in_the_index_needs_a_wider_policy() -> None:
    index = BUILT.joinpath("index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?://", index)


def faults_of(source: str) -> list[str]:
    """What a source may not have: markup from text, styles in markup, other servers."""
    forbidden = {
        "{@html": r"\{@html",
        "a style in markup": r"<[a-zA-Z][^>]*\sstyle=",
        "another server": r"""(?:src|href|fetch\()\s*=?\s*["'`]https?://""",
        "innerHTML": r"\binnerHTML\b|insertAdjacentHTML|document\.write\(",
    }
    return [name for name, pattern in forbidden.items() if re.search(pattern, source)]


@pytest.mark.parametrize(
    "source",
    ["{@html text}", '<p style="color: red">', '<img src="https://example.org/x">', "element.innerHTML = text"],
)
def test_what_sources_may_not_have_is_found(source: str) -> None:
    assert len(faults_of(source)) == 1


def test_sources_hold_nothing_that_lets_others_in() -> None:
    paths = [path for path in SOURCES.rglob("*") if path.suffix in (".svelte", ".ts")]
    assert len(paths) > 30
    assert {path.name: found for path in paths if (found := faults_of(path.read_text(encoding="utf-8")))} == {}


# --- Words ---------------------------------------------------------------------------------------


def messages(language: str) -> dict[str, dict[str, str]]:
    folder = SOURCES / "messages" / language
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.iterdir())}


def test_both_languages_say_the_same() -> None:
    english, chinese = messages("en"), messages("zh")
    assert {name: list(words) for name, words in english.items()} == {
        name: list(words) for name, words in chinese.items()
    }
    for name, words in english.items():
        for key, message in words.items():
            other = chinese[name][key]
            assert message, f"{key} says nothing"
            assert other, f"{key} says nothing"
            # The number a plural depends on may go unsaid in one of them, but no other place may.
            assert set(_PLACE.findall(other)) - set(_PLACE.findall(message)) == set(), key
            assert set(_PLACE.findall(message)) - set(_PLACE.findall(other)) <= {"n"}, key


def test_every_message_that_is_asked_for_is_there() -> None:
    known = {key for words in messages("en").values() for key in words}
    asked = set()
    for path in SOURCES.rglob("*"):
        if path.suffix in (".svelte", ".ts"):
            asked |= {one for pair in _KEY.findall(path.read_text(encoding="utf-8")) for one in pair if one}
    assert len(asked) > 100
    assert asked - known == set()


# --- What it is made with ------------------------------------------------------------------------


def packages() -> dict[str, dict[str, str]]:
    lock = json.loads(WEB.joinpath("package-lock.json").read_text(encoding="utf-8"))
    return {name: about for name, about in lock["packages"].items() if name}


def test_the_lock_names_no_registry_and_pins_every_package() -> None:
    assert len(packages()) > 20
    assert [name for name, about in packages().items() if "resolved" in about] == []
    assert [
        name for name, about in packages().items() if not about.get("integrity") and not about.get("inBundle")
    ] == []


def test_its_packages_are_permissive() -> None:
    allowed = re.compile(rf"({PERMISSIVE.pattern}|BlueOak-1\.0\.0|Python-2\.0)")
    terms = {name: about.get("license", "none stated") for name, about in packages().items()}
    choices = {name: one.strip("()").split(" OR ") for name, one in terms.items()}
    assert {name: one for name, one in choices.items() if not any(map(allowed.fullmatch, one))} == {}
