"""A small library to evaluate, found by words alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.runtime.library import Library

DOCUMENTS = {
    "会议/周会.md": "# 周会\n\n## 2026年4月14日\n\n决定：屏幕改用 PPR-9087，五月起供货。\n",
    "releases/1.0.10.md": "# Release 1.0.10\n\nThe gateway keeps readings when its clock goes back.\n",
    "releases/1.0.1.md": "# Release 1.0.1\n\nLogs are readable by their owner alone.\n",
    "faq.md": "# Questions\n\nThe warranty covers three years.\n\n# Delivery\n\nDelivery takes five days by bicycle.\n",
}


def keyword_only(folder: Path) -> Library:
    return wy.open(folder, environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""})


def filled(folder: Path) -> Iterator[Library]:
    for name, text in DOCUMENTS.items():
        path = folder / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    with keyword_only(folder / "library") as opened:
        opened.add(folder / "notes")
        yield opened


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """One for everybody who only asks it."""
    yield from filled(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def own_library(tmp_path: Path) -> Iterator[Library]:
    """One that may be changed; its notes lie in `tmp_path / "notes"`."""
    yield from filled(tmp_path)
