"""One library for all cases, with a knowledge base for each module that only asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import wenyuan as wy
from tests.cases.shelves import SETTINGS, TODAY, Shelf, filled
from wenyuan.runtime.library import Library

Fill = Callable[[str, Mapping[str, str | bytes]], Shelf]


@pytest.fixture(scope="session")
def shared_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("cases")
    with wy.open(folder / "library", environment=SETTINGS, today=lambda: TODAY) as library:
        yield library


@pytest.fixture(scope="session")
def fill(shared_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Fill:
    """Makes a shelf of files under a name."""
    folder: Path = tmp_path_factory.mktemp("shelves")
    return lambda name, files: filled(shared_library, folder / name, files)


@pytest.fixture
def own_library(tmp_path: Path) -> Iterator[Library]:
    """A library of one test, which may change it."""
    with wy.open(tmp_path / "library", environment=SETTINGS, today=lambda: TODAY) as library:
        yield library
