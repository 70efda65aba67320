"""The documentation holds together: made pages are current, links lead somewhere, lists are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.reference_pages import FOLDER, PAGES

ROOT = Path(__file__).resolve().parents[2]
TEXTS = sorted(path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")))


@pytest.mark.parametrize("name", PAGES)
def test_a_made_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](), "run: python -m tests.docs.reference_pages"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8"))
    missing = [target for target in targets if not (path.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda path: path.stem)
def test_a_decision_is_short_and_says_what_would_change_it(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 40
    assert "What would change our mind" in text
