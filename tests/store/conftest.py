"""An empty library for every test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.library_builder import LibraryBuilder, build_library
from wenyuan.store.sqlite import SqliteDatabase


@pytest.fixture
def library(tmp_path: Path) -> Iterator[LibraryBuilder]:
    built = build_library(tmp_path)
    yield built
    built.database.close()


@pytest.fixture
def database(library: LibraryBuilder) -> SqliteDatabase:
    return library.database
